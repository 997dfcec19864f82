import assert from "node:assert/strict";
import { test } from "node:test";
import { clipped } from "../src/boxes";
import { changeOf, inside, place, type Placed } from "../src/boxtree";
import type { Band, Timeline } from "../src/data";
import { momentTreemap } from "../src/momentmap";

const band = (label: string, pss: number[], more: Partial<Band> = {}): Band => ({
  label, ticks: pss.map((_, at) => at), pss_bytes: pss, private_bytes: pss.map((bytes) => bytes / 2), ...more,
});

const processes = [
  band("server", [10, 40], { process: 1, pid: 7, cgroup: "/system.slice/web.service" }),
  band("worker", [20, 30], { process: 2, pid: 8, cgroup: "/system.slice/web.service" }),
  band("editor", [5, 6], { process: 3, pid: 9, cgroup: "/user.slice" }),
  band("others", [1, 4], { others_count: 3 }),
];

function timeline(more: Partial<Timeline["ticks"]> = {}): Timeline {
  return {
    schema: "tidemark.timeline/1", recording: "a.tdm", targets: "server", host: "", kernel: "", start: "", period_ns: 1e9,
    elapsed_ns: 1e9, tick_count: 2, missed_count: 0, peak_index: 1,
    ticks: {
      id: [1, 2], elapsed_ns: [0, 1e9], resident_bytes: [36, 80], pss_bytes: [36, 80], process_count: [6, 6], undetailed_count: [0, 0], ...more,
    },
    kinds: [], processes, objects: [], groups: [],
    parts: [
      band("server", [10, 25], { process: 1, pid: 7, category: "heap" }),
      band("worker", [20, 30], { process: 2, pid: 8, category: "anon" }),
      band("editor", [5, 6], { process: 3, pid: 9, category: "code" }),
      band("others", [1, 19], { others_count: 9 }),
    ],
    events: [], untold_event_count: 0,
  };
}

const closes = (one: Placed): void => {
  for (const size of ["pss", "private"] as const) {
    const parts = inside(one, size);
    if (parts.length > 0) assert.equal(parts.reduce((sum, part) => sum + part.sizes[size]!, 0), one.sizes[size], `${one.name} ${size}`);
  }
  one.children.forEach(closes);
};

test("the treemap of a moment is as large as the timeline is high, and every box closes", () => {
  const data = momentTreemap(timeline(), 1);
  const root = place(data.tree);
  assert.equal(root.sizes.pss, 80);
  assert.equal(root.sizes.private, 40);
  closes(root);
  const group = root.children.find((one) => one.name === "system.slice › web.service")!;
  assert.equal(group.sizes.pss, 70);
  const server = group.children.find((one) => one.pid === 7)!;
  assert.deepEqual(server.children.map((one) => [one.name, one.sizes.pss]), [["heap", 25], ["smaller kinds", 15]]);
  assert.ok(root.children.some((one) => one.name === "3 smaller processes" && one.sizes.pss === 4));
});

test("growth is against the base, box by box", () => {
  const root = place(momentTreemap(timeline(), 1).tree, momentTreemap(timeline(), 0).tree);
  assert.equal(changeOf(root, "pss"), 44);
  const sum = root.children.reduce((total, one) => total + changeOf(one, "pss")!, 0);
  assert.equal(sum, 44);
});

test("where shares were not read, what is private is not known", () => {
  const data = momentTreemap(timeline({ bounded_bytes: [0, 12] }), 1);
  assert.equal(place(data.tree).sizes.private, null);
  assert.match(data.notes.join(), /resident memory stands for it/);
  assert.equal(place(momentTreemap(timeline({ bounded_bytes: [0, 12] }), 0).tree).sizes.private, 18);
});

test("a name is shortened, then clipped, then left out", () => {
  const width = (text: string): number => text.length;
  assert.equal(clipped(["shared memory", "shm"], 20, width), "shared memory");
  assert.equal(clipped(["shared memory", "shm"], 5, width), "shm");
  assert.equal(clipped(["rust-analyzer"], 8, width), "rust-an…");
  assert.equal(clipped(["rust-analyzer"], 4, width), "");
});
