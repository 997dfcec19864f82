import assert from "node:assert/strict";
import { test } from "node:test";
import { textOrder } from "../src/text_order";

// What it has to agree with, as slow as it may be.
const compared = (texts: string[]): number[] =>
  texts.map((_, place) => place).sort((a, b) => (texts[a]! < texts[b]! ? -1 : texts[a]! > texts[b]! ? 1 : a - b));

const SETS: Record<string, string[]> = {
  "paths that begin alike": Array.from({ length: 3000 }, (_, i) => `/usr/share/x/${String((i * 7919) % 3000).padStart(6, "0")}.dat`),
  "many equal ones": Array.from({ length: 500 }, (_, i) => ["file", "files", "", "anonymous"][(i * 7) % 4]!),
  "one that is the start of another": Array.from({ length: 60 }, (_, i) => "a".repeat((i * 37) % 30)),
  "letters of every script": Array.from({ length: 400 }, (_, i) => `${String.fromCodePoint(0x21 + ((i * 7919) % 0xd000))}\u{1f600}${i % 13}`),
  "the lowest and the highest unit": Array.from({ length: 64 }, (_, i) => `x${["\u0000", "\uffff", "\u0000\u0000", ""][i % 4]}`),
  "few": ["b", "a", "c", "a"],
  "none": [],
};

for (const [name, texts] of Object.entries(SETS)) {
  test(`names are ordered as < has it: ${name}`, () => assert.deepEqual([...textOrder(texts)], compared(texts)));
}
