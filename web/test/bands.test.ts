import assert from "node:assert/strict";
import { test } from "node:test";
import { bandsOf, changeBetween, column, layersOf, markAt } from "../src/bands";
import type { Band, Timeline } from "../src/data";
import { asText, rowsAt } from "../src/table";

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

test("what was read at one of two moments alone is compared by resident memory, or not at all", () => {
  const grown = (category: string): Band => band("a", [0, 2], [90, 60], { category, rss_bytes: [90, 150], bounded_bytes: [90, 0] });
  assert.equal(changeBetween(grown("anon"), 0, 2, "pss", 4), 60, "it grew, though its PSS seems to fall");
  assert.equal(changeBetween(grown("shm"), 0, 2, "pss", 4), null);
  assert.equal(changeBetween(grown("shm"), 2, 3, "pss", 4), 0);
  assert.equal(changeBetween(grown("shm"), 0, 2, "rss", 4), 60);
});

test("a height has the mark of what it was made of", () => {
  const one = timeline([band("a", [0], [1])]);
  one.ticks.bounded_bytes = [0, 1, 0, 0];
  one.ticks.estimated_bytes = [0, 1, 1, 0];
  assert.deepEqual([0, 1, 2, 3].map((at) => markAt(one, at)), ["", "≤\u00a0", "~", ""]);
});

test("what is copied has its moment, its sum and its marks, and no zero for what was not read", () => {
  const unread = timeline([]);
  unread.kinds = [band("", [0], [400 << 20], { category: "anon", rss_bytes: [400 << 20], bounded_bytes: [400 << 20] })];
  const rows = rowsAt(unread, 1, "kind");
  const text = asText(rows, "markdown", { metric: "pss", caption: "a.tdm, the peak", whole: 400 << 20, mark: "≤\u00a0" });
  assert.match(text, /^a\.tdm, the peak\n/);
  assert.match(text, /\| anonymous \| ≤.400.MiB \| \? \| 0 \|/);
  assert.match(text, /\| \*\*sum\*\* \| ≤.400.MiB \|/);
  assert.match(asText(rows, "csv", { metric: "pss", caption: "", whole: 0, mark: "" }), /"anonymous",419430400,,0,0,true/);
});
