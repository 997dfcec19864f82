import assert from "node:assert/strict";
import { test } from "node:test";
import { bandsOf, column, layersOf } from "../src/bands";
import type { Band, Timeline } from "../src/data";

const band = (label: string, ticks: number[], pss: number[], more: Partial<Band> = {}): Band => ({
  label,
  ticks,
  pss_bytes: pss,
  ...more,
});

function timeline(bands: Band[]): Timeline {
  return {
    schema: "tidemark.timeline/1",
    recording: "", targets: "", host: "", kernel: "", start: "",
    period_ns: 1, elapsed_ns: 4, tick_count: 4, missed_count: 0, peak_index: 0,
    ticks: {
      id: [0, 1, 2, 3], elapsed_ns: [0, 1, 2, 3], resident_bytes: [0, 0, 0, 0],
      pss_bytes: [0, 0, 0, 0], process_count: [1, 1, 1, 1], undetailed_count: [0, 0, 0, 0],
    },
    kinds: [], processes: bands, objects: [], groups: [], parts: [], events: [], untold_event_count: 0,
  };
}

test("a band holds until it changes and is nothing before it begins", () => {
  assert.deepEqual([...column(band("a", [1, 3], [5, 7]), "pss", 4)], [0, 5, 5, 7]);
});

test("a column that was left out is zeros", () => {
  assert.deepEqual([...column(band("a", [0], [5]), "swap", 3)], [0, 0, 0]);
});

test("the largest eight are drawn, and the rest of the whole above them", () => {
  const bands = Array.from({ length: 12 }, (_, i) => band(`p${i}`, [0], [100 - i]));
  bands.push(band("others", [0], [40], { others_count: 9 }));
  const layers = layersOf(timeline(bands), "process", "pss");
  assert.equal(layers.length, 9);
  assert.equal(layers[8]!.band, null);
  const whole = bands.reduce((sum, one) => sum + one.pss_bytes![0]!, 0);
  assert.equal(layers.reduce((sum, layer) => sum + layer.values[0]!, 0), whole);
});

test("processes of one name are told apart by their pids", () => {
  const bands = [band("worker", [0], [3], { pid: 7 }), band("worker", [0], [2], { pid: 8 }), band("cat", [0], [1], { pid: 9 })];
  assert.deepEqual(layersOf(timeline(bands), "process", "pss").map(({ label }) => label), ["worker (7)", "worker (8)", "cat"]);
});

test("each grouping has its bands", () => {
  const one = timeline([band("a", [0], [1])]);
  assert.equal(bandsOf(one, "process"), one.processes);
  assert.equal(bandsOf(one, "cgroup"), one.groups);
  assert.equal(bandsOf(one, "mapping"), one.objects);
  assert.equal(bandsOf(one, "kind"), one.kinds);
});
