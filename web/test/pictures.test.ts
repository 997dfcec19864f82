import assert from "node:assert/strict";
import { test } from "node:test";
import { boxAt, neighbour, type Box } from "../src/boxes";
import { steps } from "../src/compare";
import type { Diff, Ledger, Trace, TreeNode } from "../src/data";
import { bottomUp, heldBy, heldThrough, keyOf, largestFunctions, moduleOrder, moduleSums, sandwich, topDown, type Frame } from "../src/frames";
import { layout as layStacks, layoutSandwich } from "../src/stacks";
import { changeOf, inside, ledgerTreemap, pairs, place, rootBy, type Placed } from "../src/boxtree";
import { asMarkdown, layout as layMap } from "../src/treemap";

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
  const boxes = layMap(place(machine), "pss", 1000, 1000);
  const free = boxes.find((one) => one.item.name === "free")!;
  assert.ok(Math.abs((free.width * free.height) / 1e6 - 0.6) < 1e-6);
  for (const one of boxes) {
    assert.ok(one.x >= -1e-6 && one.y >= -1e-6 && one.x + one.width <= 1000.001 && one.y + one.height <= 1000.001);
  }
});

test("a group that has but one group in it is drawn once, with both names", () => {
  const names: string[] = [];
  const walk = (one: ReturnType<typeof place>): void => {
    names.push(one.name);
    one.children.forEach(walk);
  };
  walk(place(machine));
  assert.ok(names.includes("root › inner"), names.join());
  assert.ok(!names.includes("root"));
});

test("groups, page cache, what is free and the kernel stand side by side", () => {
  const part = (name: string, bytes: number): TreeNode => ({ name, id: `kernel/${name}`, kind: "kernel", bytes });
  const programs: TreeNode = { ...part("vmo", 60), children: [{ name: "root", kind: "group", bytes: 50 }, { name: "in no process", kind: "rest", bytes: 10 }] };
  const placed = place({ ...part("physmem", 100), children: [programs, part("free", 20), part("heap", 15), part("mmu", 5)] });
  assert.deepEqual(placed.children.map((one) => [one.name, one.sizes.pss, one.parent === placed]), [
    ["root", 50, true], ["page cache, not mapped", 10, true], ["free", 20, true], ["kernel", 20, true],
  ]);
  assert.deepEqual(placed.children[3]!.children.map((one) => one.name), ["slab", "page tables"]);
});

const object = (name: string, category: string, bytes: number, alone = true): TreeNode => ({
  name, category, kind: "object", bytes, pss_bytes: bytes, ...(alone ? { private_bytes: bytes } : {}),
});

const processOf = (name: string, pid: number, ...objects: TreeNode[]): TreeNode => {
  const bytes = objects.reduce((sum, one) => sum + one.bytes, 0);
  return { name, pid, kind: "process", bytes, pss_bytes: bytes, private_bytes: objects.reduce((sum, one) => sum + (one.private_bytes ?? 0), 0), children: objects };
};

const groupOf = (name: string, ...processes: TreeNode[]): TreeNode => {
  const sum = (size: (one: TreeNode) => number): number => processes.reduce((total, one) => total + size(one), 0);
  return { name, id: `j/${name.length}`, kind: "group", bytes: sum((one) => one.bytes), pss_bytes: sum((one) => one.bytes), private_bytes: sum((one) => one.private_bytes ?? 0), children: processes };
};

const everyBox = (one: Placed): Placed[] => [one, ...one.children.flatMap(everyBox)];
const boxNamed = (root: Placed, name: string): Placed => everyBox(root).find((one) => one.name === name)!;

test("objects of a process stand in boxes of their kinds, which add up", () => {
  const placed = place(processOf("a", 1, object("[heap]", "heap", 30), object("libc", "code", 5, false), object("libm", "code", 2)));
  assert.deepEqual(placed.children.map((one) => [one.is, one.name, one.sizes.pss, one.sizes.private]), [
    ["kind", "heap", 30, 30], ["kind", "program and libraries", 7, 2],
  ]);
  assert.deepEqual(inside(placed.children[1]!, "private").map((one) => one.name), ["libm"]);
  assert.equal(boxNamed(placed, "libc").sizes.private, null, "unknown is not 0");
});

test("a size that RAM has no part in begins at the outermost box that tells it", () => {
  const group: TreeNode = { ...groupOf("root", processOf("a", 1, object("x", "anon", 5))), swap_bytes: 3, charged_bytes: 9 };
  const tree: TreeNode = { name: "physmem", id: "kernel/physmem", kind: "kernel", bytes: 5, pss_bytes: 5, private_bytes: 5, children: [group] };
  const whole = place(tree);
  assert.equal(rootBy(whole, "pss")?.name, "machine");
  assert.equal(rootBy(whole, "swap")?.name, "root");
  assert.deepEqual(inside(rootBy(whole, "charged")!, "charged"), []);
});

test("boxes of two captures are paired by what they are, then processes by name", () => {
  const [a, b, restarted] = [processOf("a", 1), processOf("b", 2), processOf("worker", 30)];
  const [oldA, oldWorker, gone] = [processOf("a", 1), processOf("worker", 7), processOf("gone", 9)];
  assert.deepEqual(pairs([a, b, restarted], [gone, oldWorker, oldA]), [[a, oldA], [b, null], [restarted, oldWorker], [null, gone]]);
});

test("changes of the parts are the change of the whole, gone ones too", () => {
  const now = groupOf("jobs", processOf("a", 1, object("[heap]", "heap", 50), object("new", "anon", 4)), processOf("b", 2, object("x", "file", 8)));
  const then = groupOf("jobs", processOf("a", 1, object("[heap]", "heap", 20)), processOf("gone", 9, object("y", "shm", 100)));
  const root = place(now, then);
  const expectChanges = (one: Placed): void => {
    if (one.children.length === 0) return;
    assert.equal(one.children.reduce((sum, child) => sum + changeOf(child, "pss")!, 0), changeOf(one, "pss"), one.name);
    one.children.forEach(expectChanges);
  };
  expectChanges(root);
  assert.equal(changeOf(root, "pss"), 62 - 120);
  assert.equal(changeOf(boxNamed(root, "heap"), "pss"), 30);
  assert.equal(changeOf(boxNamed(root, "gone"), "pss"), -100);
  assert.equal(changeOf(boxNamed(root, "b"), "pss"), 8);
  assert.equal(changeOf(place(now), "pss"), null, "without a base there is no change");
});

test("boxes are copied with their sum, and names cannot break the table", () => {
  const now = groupOf("jobs", processOf("a|b", 1, object("[heap]", "heap", 3 << 20)), processOf("c", 2, object("x", "file", 1 << 20)));
  assert.equal(asMarkdown(place(now), "pss").replaceAll("\u00a0", " "), "| whose | PSS |\n|---|---:|\n| a\\|b (1) | 3.00 MiB |\n| c (2) | 1.00 MiB |\n| **jobs** | **4.00 MiB** |\n");
});

test("the rows of a ledger are boxes that close to RAM", () => {
  const row = (name: string, owner: string, bytes: number, parent: string | null): Ledger["rows"][number] => ({ class: name, owner, bytes, parent });
  const map = ledgerTreemap({
    schema: "tidemark.ledger/1", tier: "pages", total_bytes: 100, elapsed_ns: 1, own_bytes: 1, mapped_pages: 1, changed_pages: 0, notes: [],
    rows: [row("free", "", 40, null), row("file", "", 60, null), row("file", "/a", 30, "file"), row("file", "/b", 20, "file")],
  });
  const root = place(map.tree, undefined, map.by);
  assert.equal(root.sizes.pss, 100);
  assert.equal(root.children.reduce((sum, one) => sum + one.sizes.pss!, 0), 100);
  assert.deepEqual(boxNamed(root, "files").children.map((one) => [one.name, one.sizes.pss, one.kind]), [["/a", 30, "file"], ["/b", 20, "file"], ["others", 10, "file"]]);
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
  assert.equal(one.pages.now, one.own.now + one.calls.reduce((sum, call) => sum + call.pages.now, 0), one.name);
  one.calls.forEach(expectSums);
}

const largestFirst = (frames: Frame[]): [string, number][] =>
  frames.map((one): [string, number] => [one.name, one.pages.now]).sort(([x, a], [y, b]) => b - a || x.localeCompare(y));

test("stacks of all tasks are one tree in which parents are own and calls", () => {
  const down = topDown(trace);
  const up = bottomUp(down);
  for (const root of [down, up]) {
    assert.equal(root.pages.now, 30);
    assert.equal(root.pages.peak, 60);
    expectSums(root);
  }
  assert.deepEqual(largestFirst(up.calls), [["alloc", 15], ["read", 15]]);
  const alloc = up.calls.find((one) => one.name === "alloc")!;
  assert.deepEqual([...alloc.tasks()].map(([name, pages]) => [name, pages.now]), [["one (1)", 5], ["two (2)", 10]]);
});

test("frames are as wide as what they hold, below their callers", () => {
  const boxes = layStacks(topDown(trace), "now", 300);
  const alloc = boxes.find((one) => one.item.name === "alloc")!;
  assert.equal(alloc.width, 150);
  assert.equal(alloc.depth, 2);
});

// `lock` is called by two, calls itself in one place, and calls `alloc`.
const nested: Trace = {
  ...trace,
  pages: 60,
  tasks: [
    { pid: 1, name: "one", pages: 40, stacks: [stack("read", 40, stack("lock", 30, stack("lock", 12, stack("alloc", 12)), stack("alloc", 10)))] },
    { pid: 2, name: "two", pages: 20, stacks: [stack("write", 20, stack("lock", 15, stack("alloc", 15)), stack("alloc", 5))] },
  ],
};

test("a module that is only on the way to pages has a colour, after those that took them", () => {
  const taken = { symbol: "malloc", module: "libc", pages: 9, error_pages: 4, stacks: [{ symbol: "fault", pages: 9, error_pages: 4 }] };
  const tree = topDown({ ...trace, tasks: [
    { pid: 1, name: "one", pages: 9, error_pages: 4, stacks: [{ symbol: "main", module: "one", pages: 9, error_pages: 4, stacks: [taken] }] },
    { pid: 2, name: "two", pages: 9, error_pages: 3, stacks: [{ ...taken, error_pages: 3 }] },
  ] });
  assert.deepEqual(moduleOrder(tree, "now", moduleSums(tree, "now")), ["libc", "one"]);
});

test("samples of two tasks are off by less than both together", () => {
  const stack = { symbol: "fault", pages: 9, error_pages: 3 };
  const tree = topDown({ ...trace, tasks: [
    { pid: 1, name: "one", pages: 9, error_pages: 3, stacks: [stack] },
    { pid: 2, name: "two", pages: 9, error_pages: 4, stacks: [{ ...stack, error_pages: 4 }] },
  ] });
  assert.equal(tree.errorPages("now"), 5);
  assert.equal(tree.calls[0]!.errorPages("now"), 5);
  assert.equal(tree.errorPages("growth"), 0, "nothing is known of it");
});

test("a sandwich has all calls of a function, and none of its pages twice", () => {
  const { callers, callees } = sandwich(topDown(nested), keyOf({ name: "lock", module: "" }))!;
  assert.equal(callers.pages.now, 45);
  assert.equal(callees.pages.now, 45);
  assert.deepEqual(largestFirst(callers.calls), [["read", 30], ["write", 15]]);
  assert.deepEqual(largestFirst(callees.calls), [["alloc", 25], ["lock", 12]]);
  expectSums(callees);
  expectSums(callers);
  assert.deepEqual([...callees.tasks()].map(([name, pages]) => [name, pages.now]).sort(), [["one (1)", 30], ["two (2)", 15]]);
  assert.equal(sandwich(topDown(nested), keyOf({ name: "nobody", module: "" })), null);
});

test("in a sandwich callers stand above the function and what it calls below", () => {
  const boxes = layoutSandwich(sandwich(topDown(nested), keyOf({ name: "lock", module: "" }))!, "now", 450);
  const rows = boxes.map(({ item, depth, width }) => [item.name, depth, Math.round(width)]);
  assert.deepEqual(rows, [["read", 0, 300], ["write", 0, 150], ["lock", 1, 450], ["alloc", 2, 250], ["lock", 2, 120], ["alloc", 3, 120]]);
});

test("functions are told with what was taken through them, recursion once", () => {
  const tree = topDown(nested);
  const rows = largestFunctions(tree, heldThrough(tree, "now"), 3, (one) => one.name !== "alloc");
  assert.deepEqual(rows.map((row) => [row.name, row.held]), [["lock", 45], ["read", 40], ["write", 20]]);
  assert.equal(heldBy(topDown(nested), "now", (one) => one.name === "lock"), 45);
});

test("a base is matched frame by frame, and what is gone is there", () => {
  const base: Trace = { ...trace, tasks: [{ pid: 9, name: "old", pages: 50, machine_peak_pages: 70, stacks: [stack("entry", 20, stack("alloc", 20)), stack("exit", 30)] }] };
  const tree = topDown(trace, base);
  const at = (name: string): Frame => tree.calls.find((one) => one.name === name)!;
  assert.deepEqual([at("entry").pages.base, at("entry").pages.now], [20, 30]);
  assert.deepEqual([at("exit").pages.base, at("exit").pages.now], [30, 0]);
  const changes = tree.calls.reduce((sum, one) => sum + one.pages.now - one.pages.base, 0);
  assert.equal(changes, tree.pages.now - tree.pages.base);
  assert.equal(bottomUp(tree).pages.base, 50);
});

test("functions too small to be seen are one, and nothing is lost", () => {
  const tiny = Array.from({ length: 5000 }, (_, i) => stack(`f${i}`, 1));
  const tree = topDown({ ...trace, tasks: [{ pid: 1, name: "one", pages: 95_000, stacks: [stack("large", 90_000), ...tiny] }] });
  const up = bottomUp(tree);
  assert.deepEqual(largestFirst(up.calls), [["large", 90_000], ["5,000 functions, each less than 0.01 %", 5000]]);
  expectSums(up);
});

test("pages are of the module nearest to them", () => {
  const inModule: Trace = { ...trace, tasks: [{ pid: 1, name: "one", pages: 9, stacks: [{ ...stack("probe", 9, stack("alloc", 9)), module: "nvme" }] }] };
  assert.deepEqual([...moduleSums(topDown(inModule), "now")], [["nvme", 9]]);
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
