import assert from "node:assert/strict";
import { test } from "node:test";
import { baseName, change, clock, counted, duration, percent, size, visible } from "../src/format";

const plain = (text: string): string => text.replaceAll("\u00a0", " ");

test("sizes have three digits and change unit at 999.5", () => {
  const cases: [number, string][] = [
    [0, "0"],
    [1, "1 B"],
    [999, "999 B"],
    [1000, "0.98 KiB"],
    [512 * 1024, "512 KiB"],
    [23 * 2 ** 20, "23.0 MiB"],
    [804 * 2 ** 20, "804 MiB"],
    [1000 * 2 ** 20, "0.98 GiB"],
    [6.11 * 2 ** 30, "6.11 GiB"],
    [9.996 * 2 ** 30, "10.0 GiB"],
    [2 ** 60, "1024 PiB"],
  ];
  for (const [bytes, text] of cases) assert.equal(plain(size(bytes)), text);
});

test("changes carry their sign, and zero has none", () => {
  assert.equal(plain(change(482 * 2 ** 20)), "+482 MiB");
  assert.equal(plain(change(-151 * 2 ** 20)), "\u2212151 MiB");
  assert.equal(change(0), "0");
});

test("a percentage is never 0 for something nor 100 for less than all", () => {
  assert.equal(percent(0, 100), "0");
  assert.equal(percent(1, 100_000), "<0.1");
  assert.equal(percent(31, 1000), "3.1");
  assert.equal(percent(44, 100), "44");
  assert.equal(percent(17_351, 100), "17,351");
  assert.equal(percent(99_999, 100_000), "99.9");
  assert.equal(percent(996, 1000), "99.6");
  assert.equal(percent(100, 100), "100");
  assert.equal(percent(1, 0), "\u2013");
});

test("times", () => {
  assert.equal(clock(2472e9), "00:41:12");
  assert.equal(clock(3.65e9, true), "00:00:03.6");
  assert.equal(plain(duration(385_000)), "385 µs");
  assert.equal(plain(duration(3_100_000)), "3.1 ms");
  assert.equal(plain(duration(40e9)), "40 s");
  assert.equal(plain(duration(4320e9)), "72 min");
  assert.equal(plain(duration(20_000e9)), "5 h 33 min");
});

test("counted words", () => {
  assert.equal(counted(1, "other"), "1 other");
  assert.equal(counted(1204, "process", "processes"), "1,204 processes");
});

test("what cannot be seen is shown", () => {
  assert.equal(visible("a\u001b[31mb\nc"), "a\\x1b[31mb\\x0ac");
  assert.equal(visible("\u202eexe.txt"), "\\u202eexe.txt");
  assert.equal(visible("<img src=x>"), "<img src=x>");
});

test("the last part of a path, of what is one", () => {
  assert.equal(baseName("/usr/lib/libc.so.6"), "libc.so.6");
  assert.equal(baseName("[heap]"), "[heap]");
  assert.equal(baseName("/"), "/");
});
