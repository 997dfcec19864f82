import assert from "node:assert/strict";
import { test } from "node:test";
import { boxAt, neighbour, type Box } from "../src/boxes";
import { steps } from "../src/compare";
import type { Diff, Trace, TreeNode } from "../src/data";
import { layout as layStacks, makeTree, type Frame } from "../src/stacks";
import { layout as layMap, place } from "../src/treemap";

const box = (x: number, y: number, width: number, height: number, depth: number, item: string): Box<string> => ({
  x, y, width, height, depth, item,
});

test("the deepest box is the one that is hit", () => {
  const boxes = [box(0, 0, 100, 100, 0, "outer"), box(10, 10, 20, 20, 1, "inner")];
  assert.equal(boxAt(boxes, 15, 15)?.item, "inner");
  assert.equal(boxAt(boxes, 50, 50)?.item, "outer");
  assert.equal(boxAt(boxes, 100, 50), null);
});

test("arrows go to the next box of the same depth", () => {
  const boxes = [box(0, 0, 10, 10, 1, "a"), box(10, 0, 10, 10, 1, "b"), box(10, 10, 10, 10, 1, "c"), box(10, 0, 5, 5, 2, "deep")];
  assert.equal(neighbour(boxes, boxes[0]!, "ArrowRight")?.item, "b");
  assert.equal(neighbour(boxes, boxes[1]!, "ArrowDown")?.item, "c");
  assert.equal(neighbour(boxes, boxes[0]!, "ArrowLeft"), null);
});

const machine: TreeNode = {
  name: "physmem", id: "kernel/physmem", kind: "kernel", bytes: 100,
  children: [
    { name: "free", id: "kernel/free", kind: "kernel", bytes: 60 },
    {
      name: "vmo", id: "kernel/vmo", kind: "kernel", bytes: 40,
      children: [
        {
          name: "root", kind: "group", bytes: 40,
          children: [
            {
              name: "inner", kind: "group", bytes: 40,
              children: [
                { name: "a", kind: "process", bytes: 30, pid: 1, children: [{ name: "heap", kind: "object", category: "heap", bytes: 30 }] },
                { name: "b", kind: "process", bytes: 10, pid: 2, children: [{ name: "anonymous", kind: "object", category: "anon", bytes: 10 }] },
              ],
            },
          ],
        },
      ],
    },
  ],
};

test("areas of a treemap are as large as the memory", () => {
  const boxes = layMap(place(machine), 1000, 1000);
  const free = boxes.find((one) => one.item.node.name === "free")!;
  assert.ok(Math.abs((free.width * free.height) / 1e6 - 0.6) < 1e-6);
  for (const one of boxes) {
    assert.ok(one.x >= -1e-6 && one.y >= -1e-6 && one.x + one.width <= 1000.001 && one.y + one.height <= 1000.001);
  }
});

test("a group that has but one group in it is drawn once, with both names", () => {
  const names: string[] = [];
  const walk = (one: ReturnType<typeof place>): void => {
    names.push(one.node.name);
    one.children.forEach(walk);
  };
  walk(place(machine));
  assert.ok(names.includes("root › inner"), names.join());
  assert.ok(!names.includes("root"));
});

const stack = (symbol: string, pages: number, ...calls: Trace["tasks"][number]["stacks"] & object): NonNullable<Trace["tasks"][number]["stacks"]>[number] => ({
  symbol, pages, machine_peak_pages: pages * 2, ...(calls.length > 0 ? { stacks: calls } : {}),
});

const trace: Trace = {
  schema: "tidemark.trace/1", backend: "bpf", started: "", elapsed_ns: 1, page_size_bytes: 4096, sample_period: 1,
  pages: 30, peak_pages: 60, exact: true, lost: 0, untracked_frees: 0,
  tasks: [
    { pid: 1, name: "one", pages: 20, machine_peak_pages: 40, stacks: [stack("entry", 20, stack("read", 15), stack("alloc", 5))] },
    { pid: 2, name: "two", pages: 10, machine_peak_pages: 20, stacks: [stack("entry", 10, stack("alloc", 10))] },
  ],
};

function expectSums(one: Frame): void {
  assert.equal(one.held, one.own + one.calls.reduce((sum, call) => sum + call.held, 0), one.name);
  one.calls.forEach(expectSums);
}

test("stacks of all tasks are one tree in which parents are own and calls", () => {
  for (const isBottomUp of [false, true]) {
    const root = makeTree(trace, "now", isBottomUp);
    assert.equal(root.held, 30);
    expectSums(root);
  }
  assert.equal(makeTree(trace, "peak", false).held, 60);
  const up = makeTree(trace, "now", true);
  assert.deepEqual(up.calls.map((one) => [one.name, one.held]), [["read", 15], ["alloc", 15]]);
  assert.deepEqual([...up.calls[1]!.tasks], [["one (1)", 5], ["two (2)", 10]]);
});

test("frames are as wide as what they hold, below their callers", () => {
  const boxes = layStacks(makeTree(trace, "now", false), 300);
  const alloc = boxes.find((one) => one.item.name === "alloc")!;
  assert.equal(alloc.width, 150);
  assert.equal(alloc.depth, 2);
});

const side = (pss: number): Diff["before"] => ({ label: "", pss_bytes: pss, process_count: 1, undetailed_count: 0 });

test("steps of a waterfall lead from one sum to the other", () => {
  const mappings = Array.from({ length: 60 }, (_, i) => ({ category: "anon", name: `m${i}`, change_bytes: (i % 2 ? -1 : 1) * (i + 1) }));
  const sum = mappings.reduce((total, row) => total + row.change_bytes, 0);
  const diff: Diff = {
    schema: "tidemark.diff/1", before: side(1000), after: side(1000 + sum + 7), change_bytes: sum + 7,
    categories: [], mappings, processes: [],
  };
  const list = steps(diff, "mapping");
  let at = 1000;
  for (const step of list) {
    assert.equal(step.from, at);
    at += step.change;
  }
  assert.equal(at, 1000 + sum + 7);
  assert.equal(list[list.length - 1]!.label, "not explained");
  assert.equal(list[list.length - 1]!.change, 7);
  assert.ok(list.some((step) => step.label === "36 smaller changes"));
});
