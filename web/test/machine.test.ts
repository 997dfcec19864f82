import assert from "node:assert/strict";
import { test } from "node:test";
import { viewsOf } from "../src/app";
import { chargeColumn } from "../src/bands";
import type { Band, Machine, Ps, Timeline, Trace } from "../src/data";
import { machineLayers, machineRows, residueSentence, unreadGaps } from "../src/history";
import { clusters, named, stalls, stallSteps } from "../src/lanes";
import { momentsDiff } from "../src/moments";
import { steps } from "../src/compare";
import { treeRows } from "../src/processes";

const machine: Machine = {
  schema: "tidemark.machine/1", recording: "", start: "", total_source: "MemTotal in meminfo",
  ticks: {
    id: [0, 1, 2], elapsed_ns: [0, 1e9, 3e9],
    total_bytes: [100, null, 100], available_bytes: [50, null, 50], swap_used_bytes: [0, null, 0],
    other_bytes: [10, null, -5],
    stalled_some_ns: [null, null, 1e9], stalled_full_ns: [null, null, 0.5e9],
  },
  classes: [
    { class: "free", name: "free", category: "free", bytes: [40, null, 45] },
    { class: "free_per_cpu", name: "free, on lists", category: "free", bytes: [10, null, 10] },
    { class: "anon", name: "anonymous", category: "anon", bytes: [40, null, 50] },
    { class: "sockets", name: "sockets", category: "kern", bytes: null, unknown: { bytes: "not in the recording" } },
  ],
};

test("the rows of the machine and the residue close to RAM where it was read", () => {
  for (const index of [0, 2]) {
    const rows = machineRows(machine, index, 0);
    assert.equal(rows.reduce((sum, row) => sum + (row.bytes ?? 0), 0), 100);
  }
  assert.ok(machineRows(machine, 1, 0).every((row) => row.bytes === null));
  assert.equal(machineRows(machine, 0, 0).find((row) => row.token === "sockets")!.why, "not in the recording");
});

test("classes of one kind are one layer, programs below and free on top", () => {
  const layers = machineLayers(machine);
  assert.deepEqual(layers.map((layer) => layer.band!.category), ["anon", "unnamed", "free"]);
  assert.deepEqual([...layers[2]!.values], [50, 0, 55]);
  assert.deepEqual([...layers[1]!.values], [10, 0, 0], "below nothing has no height");
});

test("where the machine was not read is a gap", () => {
  assert.deepEqual(unreadGaps(machine).map(({ from, to }) => [from, to]), [[0, 3]]);
});

test("a stall of unknown length is left out", () => {
  assert.deepEqual(stalls(machine), [{ from: 1, to: 3, some: 1e9, full: 0.5e9 }]);
});

test("the bars of pressure are shares of the time they cover", () => {
  const bars = stallSteps(stalls(machine), { left: 0, width: 12, from: 0, to: 3 });
  assert.equal(bars.length, 2);
  for (const bar of bars) {
    assert.ok(Math.abs(bar.some - 0.5) < 1e-9, String(bar.some));
    assert.ok(Math.abs(bar.full - 0.25) < 1e-9);
  }
});

test("a rare mark is named where there is room beside it", () => {
  const area = { left: 0, width: 1000, from: 0, to: 10 };
  const marks = (...events: [number, "oom" | "exit"][]) =>
    clusters(events.map(([second, kind]) => ({ kind, elapsed_ns: second * 1e9, text: "" })), area);
  const places = (...events: [number, "oom" | "exit"][]) => named(marks(...events), area).map(({ x, anchor }) => [x, anchor]);
  assert.deepEqual(places([5, "oom"]), [[508, "start"]]);
  assert.deepEqual(places([5, "oom"], [5.2, "exit"]), [[492, "end"]]);
  assert.deepEqual(places([4.8, "exit"], [5, "oom"], [5.2, "exit"]), []);
  assert.deepEqual(places([9.9, "oom"]), [[982, "end"]]);
});

test("the residue is a sentence with its trend", () => {
  const words = residueSentence({ first_bytes: 1024, last_bytes: 3072, least_bytes: 512, most_bytes: 4096, span_ns: 600e9, trend: "rises" }, 2048, 1024 * 1024);
  assert.equal(words.replaceAll("\u00a0", " "), "2.00 KiB, 0.2 % of RAM, rising over 10 min: +2.00 KiB from first to last, between 512 B and 4.00 KiB.");
});

const band = (label: string, ticks: number[], pss: number[], more: Partial<Band> = {}): Band => ({ label, ticks, pss_bytes: pss, ...more });

function timeline(): Timeline {
  return {
    schema: "tidemark.timeline/1", recording: "", targets: "", host: "", kernel: "", start: "",
    period_ns: 1, elapsed_ns: 3, tick_count: 3, missed_count: 0, peak_index: 1,
    ticks: { id: [0, 1, 2], elapsed_ns: [0, 1, 2], resident_bytes: [0, 0, 0], pss_bytes: [10, 60, 30], process_count: [1, 3, 2], undetailed_count: [0, 0, 0] },
    kinds: [band("heap", [0, 1, 2], [10, 40, 20], { category: "heap" }), band("files", [1, 2], [20, 10], { category: "file" })],
    processes: [
      band("web", [0, 1], [10, 30], { process: 1, pid: 7 }),
      band("web", [1, 2], [20, 0], { process: 2, pid: 8 }),
      band("others", [1, 2], [10, 0], { others_count: 3 }),
    ],
    objects: [band("[heap]", [0, 1, 2], [10, 40, 20], { category: "heap" }), band("/a", [1, 2], [20, 10], { category: "file" })],
    groups: [], parts: [], events: [], untold_event_count: 0,
  };
}

test("two moments of one recording: each list adds up to the change", () => {
  for (const [from, to] of [[0, 1], [1, 2], [2, 0], [1, 1]] as const) {
    const diff = momentsDiff(timeline(), from, to);
    for (const rows of [diff.categories, diff.mappings, diff.processes]) {
      assert.equal(rows.reduce((sum, row) => sum + row.change_bytes, 0), diff.change_bytes, `${from} ${to}`);
    }
    for (const by of ["kind", "process", "mapping"] as const) {
      assert.ok(steps(diff, by).every((step) => step.label !== "not explained"));
    }
  }
});

test("processes of one name are one row that counts them", () => {
  const { processes } = momentsDiff(timeline(), 0, 1);
  const web = processes.find((row) => row.name === "web")!;
  assert.deepEqual([web.change_bytes, web.before_count, web.after_count], [40, 1, 2]);
  assert.equal(processes.length, 2);
});

test("a charge holds until it is told anew, and is unknown before", () => {
  const charge = { cgroup: "/a", ticks: [1, 3], charged_bytes: [5, null], peak_bytes: [6, 7], limit_bytes: [null, null] };
  assert.deepEqual([...chargeColumn(charge, "charged_bytes", 4)], [NaN, 5, 5, NaN]);
  assert.deepEqual([...chargeColumn(charge, "peak_bytes", 4)], [NaN, 6, 6, 7]);
  assert.ok(chargeColumn(charge, "limit_bytes", 4).every(Number.isNaN));
});

test("groups stand before their members, the largest first, and hide them when closed", () => {
  const use = (pss: number | null) => ({ pss_bytes: pss, uss_bytes: pss, shared_bytes: 0, swap_pss_bytes: 0 });
  const process = (pid: number, group: number | null, pss: number | null) => ({ pid, parent_pid: 1, group_id: group, name: `p${pid}`, cmdline: "", ...use(pss) });
  const ps: Ps = {
    schema: "tidemark.ps/1", time: "", process_count: 4, unknown_process_count: 1, total: use(60),
    groups: [
      { id: 1, parent_id: null, name: "small", key: "/small", process_count: 1, ...use(10) },
      { id: 2, parent_id: null, name: "large", key: "/large", process_count: 2, ...use(50) },
      { id: 3, parent_id: 2, name: "inner", key: "/large/inner", process_count: 1, ...use(30) },
    ],
    processes: [process(10, 1, 10), process(20, 2, 20), process(30, 3, 30), process(40, null, null)],
  };
  const names = (closed: number[]): string[] => treeRows(ps, new Set(closed)).map((row) => row.group?.name ?? row.process!.name);
  assert.deepEqual(names([]), ["large", "inner", "p30", "p20", "small", "p10", "p40"]);
  assert.deepEqual(names([2]), ["large", "small", "p10", "p40"]);
});

test("a recording of a trace alone shows its stacks and no memory of nobody", () => {
  const empty = timeline();
  empty.ticks.process_count = [0, 0, 0];
  const trace = {} as Trace;
  assert.deepEqual(viewsOf({ timeline: empty, trace }), ["stacks"]);
  assert.deepEqual(viewsOf({ timeline: empty }), ["timeline", "compare"]);
  assert.deepEqual(viewsOf({ timeline: timeline(), trace, machine }), ["timeline", "treemap", "stacks", "machine", "compare"]);
  assert.deepEqual(viewsOf({ machine }), [], "it has no moment without a timeline");
});
