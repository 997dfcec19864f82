import assert from "node:assert/strict";
import { test } from "node:test";
import { panned, zoomed } from "../src/gestures";

test("zooming keeps the place under the pointer and ends at all there is", () => {
  assert.deepEqual(zoomed([0, 100], 50, 0.5, 100), [25, 75]);
  assert.deepEqual(zoomed([20, 40], 20, 0.5, 100), [20, 30]);
  assert.equal(zoomed([25, 75], 50, 4, 100), null);
});

test("panning keeps the length and stays inside", () => {
  assert.deepEqual(panned([20, 40], 10, 100), [30, 50]);
  assert.deepEqual(panned([20, 40], -30, 100), [0, 20]);
  assert.deepEqual(panned([20, 40], 90, 100), [80, 100]);
  assert.equal(panned([0, 100], 10, 100), null);
});
