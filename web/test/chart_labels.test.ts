import assert from "node:assert/strict";
import { test } from "node:test";
import { spread } from "../src/chart_labels";

const spreadOut = (...wanted: number[]): number[] => {
  const labels = wanted.map((at) => ({ at }));
  spread(labels, 10, 100, 16);
  return labels.map(({ at }) => at);
};

test("names with room stand where they point", () => {
  assert.deepEqual(spreadOut(90, 60, 20), [90, 60, 20]);
});

test("names of thin bands are pushed up, none below the axis", () => {
  assert.deepEqual(spreadOut(104, 99, 98), [100, 84, 68]);
});

test("names that came out above the chart push down those in their way, and no others", () => {
  assert.deepEqual(spreadOut(98, 12, 11, 10), [98, 42, 26, 10]);
});
