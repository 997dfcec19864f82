import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { embeddedReports, unpacked, unpackedLists } from "../src/data";

test("lists of differences become what they were", () => {
  assert.deepEqual(unpackedLists({ a: [true, 4096, 1, 1, -1, -1], b: [{ c: [true, 1, 0, 0] }], d: [1, 2], e: null, f: "x" }), {
    a: [4096, 8192, 4096, 0],
    b: [{ c: [0, 0] }],
    d: [1, 2],
    e: null,
    f: "x",
  });
});

test("packed data is opened", async () => {
  const packed = gzipSync(JSON.stringify({ names: ["…"], ticks: [true, 1, 5, 1, 1, 1] })).toString("base64");
  assert.deepEqual(await unpacked(packed), { names: ["…"], ticks: [5, 6, 7, 8] });
});

test("data that was cut is refused", async () => {
  const packed = gzipSync(JSON.stringify({ ticks: Array.from({ length: 999 }, (_, i) => i) })).toString("base64");
  await assert.rejects(unpacked(packed.slice(0, 200)));
});

test("a page holds plain and packed reports side by side", async () => {
  const elements: Record<string, { type: string; text: string }> = {
    "data-info": { type: "application/json", text: '{"schema":"tidemark.info/1"}' },
    "data-timeline": { type: "application/gzip", text: gzipSync('{"peak_index":3}').toString("base64") },
  };
  const page = {
    getElementById: (id: string) => {
      const element = elements[id];
      return element ? { textContent: element.text, getAttribute: () => element.type } : null;
    },
  } as unknown as Document;
  assert.deepEqual(await embeddedReports(page), { info: { schema: "tidemark.info/1" }, timeline: { peak_index: 3 } });
});
