// Reports whose numbers are invented, but add up, and are the same each time:
// what pictures are compared with, and how far tables and charts go.
const MIB = 2 ** 20;
const SECOND = 1e9;

// How much of each kind process `p` has at tick `i` of `count`, in MiB.
const SHAPES = [
  { process: 0, category: "heap", label: "[heap]", at: (x) => 40 + 180 * x ** 2 },
  { process: 0, category: "anon", label: "[anon]", at: (x) => (x > 0.3 && x < 0.7 ? 220 : 90) },
  { process: 0, category: "code", label: "/usr/bin/server", at: () => 28 },
  { process: 1, category: "heap", label: "[heap]", at: (x) => 30 + 20 * Math.sin(9 * x) },
  { process: 1, category: "file", label: "/var/lib/data.db", at: (x) => 30 + 130 * x },
  { process: 1, category: "code", label: "/usr/bin/worker", at: () => 18 },
  { process: 2, category: "shm", label: "memfd:pixels", at: (x) => (x > 0.45 ? 75 : 6) },
  { process: 2, category: "stack", label: "[stack]", at: () => 3 },
];
const KINDS = { heap: "heap", anon: "anonymous", stack: "thread stacks", shm: "shared memory", file: "files", code: "program and libraries" };
const PROCESSES = ["server", "worker", "painter"];

export function timeline({ count = 240, bandCount = 0 } = {}) {
  const extra = Array.from({ length: bandCount }, (_, i) => ({
    process: 3 + i, category: ["heap", "anon", "file", "code"][i % 4], label: `/opt/part-${i}`, at: (x) => 4 + 3 * Math.sin(i + 20 * x),
  }));
  const shapes = [...SHAPES, ...extra];
  const names = [...PROCESSES, ...extra.map((_, i) => `part-${i}`)];
  const columns = shapes.map((shape) => Array.from({ length: count }, (_, i) => Math.round(shape.at(i / count) * 256) * 4096));
  const every = Array.from({ length: count }, (_, i) => i);
  const sum = (which) => every.map((i) => shapes.reduce((total, shape, s) => total + (which(shape) ? columns[s][i] : 0), 0));
  const band = (label, which, more = {}) => {
    const pss = sum(which);
    return { label, ...more, ticks: every, pss_bytes: pss, private_bytes: pss.map((n) => n * 0.75), rss_bytes: pss.map((n) => n * 1.25) };
  };
  const distinct = (key) => [...new Set(shapes.map(key))];
  const pss = sum(() => true);
  return {
    schema: "tidemark.timeline/1", recording: "server.tdm", targets: "server --port 8080", host: "host", kernel: "6.12.0",
    start: "2026-01-02T03:04:05.000000000Z", period_ns: SECOND, elapsed_ns: (count - 1) * SECOND, tick_count: count, missed_count: 6,
    peak_index: pss.indexOf(Math.max(...pss)),
    ticks: {
      id: every.map((i) => i + 1), elapsed_ns: every.map((i) => i * SECOND), pss_bytes: pss, resident_bytes: pss.map((n) => n * 1.25),
      process_count: every.map(() => names.length), undetailed_count: every.map(() => 0),
    },
    kinds: distinct((one) => one.category).map((category) => band(KINDS[category], (one) => one.category === category, { category })),
    processes: names.map((name, p) => band(name, (one) => one.process === p, { process: p, pid: 100 + p })),
    objects: distinct((one) => one.label).map((label) =>
      band(label, (one) => one.label === label, { category: shapes.find((one) => one.label === label).category })),
    groups: [band("/system.slice/server.service", () => true)],
    parts: shapes.map((shape) => band(names[shape.process], (one) => one === shape, { category: shape.category, process: shape.process, pid: 100 + shape.process })),
    events: [
      { kind: "fork", elapsed_ns: 20 * SECOND, text: "server started worker" },
      { kind: "exec", elapsed_ns: 21 * SECOND, text: "worker" },
      { kind: "missed", elapsed_ns: 60 * SECOND, duration_ns: 6 * SECOND, count: 6, text: "the machine was suspended" },
      { kind: "exit", elapsed_ns: 200 * SECOND, text: "helper" },
    ],
    untold_event_count: 0,
  };
}

export function machine(of) {
  const count = of.ticks.id.length;
  const total = 4096 * MIB;
  const classes = [
    ["anon", "anonymous: heaps, stacks, …", "anon", (i) => 600 * MIB + i * MIB],
    ["file", "page cache of files and devices", "file", (i) => 1200 * MIB + 2 * i * MIB],
    ["slab-used", "kernel objects in use", "slab", () => 220 * MIB],
    ["page-tables", "page tables", "ptab", () => 24 * MIB],
    ["kernel-stacks", "kernel stacks of tasks", "kern", () => 12 * MIB],
  ].map(([name, words, category, at]) => ({ class: name, name: words, category, bytes: of.ticks.id.map((_, i) => at(i)) }));
  const used = of.ticks.id.map((_, i) => classes.reduce((sum, one) => sum + one.bytes[i], 16 * MIB));
  classes.push({ class: "free", name: "free, in the page allocator", category: "free", bytes: used.map((n) => total - n) });
  const all = (value) => Array.from({ length: count }, () => value);
  return {
    schema: "tidemark.machine/1", recording: of.recording, start: of.start, total_source: "MemTotal",
    ticks: {
      id: of.ticks.id, elapsed_ns: of.ticks.elapsed_ns, total_bytes: all(total), available_bytes: all(2048 * MIB), swap_used_bytes: all(0),
      other_bytes: all(16 * MIB), stalled_some_ns: of.ticks.id.map((_, i) => (i > 150 && i < 170 ? 0.2 * SECOND : 0)), stalled_full_ns: all(0),
    },
    classes,
    residue: { first_bytes: 16 * MIB, last_bytes: 16 * MIB, least_bytes: 16 * MIB, most_bytes: 16 * MIB, span_ns: of.elapsed_ns, trend: "steady" },
  };
}

export function treemap() {
  const object = (name, category, mib) => ({ name, kind: "object", category, bytes: mib * MIB });
  const process = (name, pid, children) => ({ name, kind: "process", pid, bytes: children.reduce((sum, one) => sum + one.bytes, 0), children });
  const group = (name, children) => ({ name, kind: "group", bytes: children.reduce((sum, one) => sum + one.bytes, 0), children });
  const programs = group("programs", [
    group("system.slice", [
      process("database", 7, [object("[heap]", "heap", 640), object("/var/lib/data.db", "file", 380), object("memfd:cache", "shm", 200)]),
      process("web", 9, [object("[heap]", "heap", 210), object("[anon]", "anon", 150), object("/usr/bin/web", "code", 48)]),
    ]),
    group("user.slice", [process("editor", 20, [object("[anon]", "anon", 310), object("/usr/lib/editor", "code", 90)])]),
  ]);
  const kernel = [["slab", "slab", 260], ["page tables", "ptab", 60], ["taken at boot", "wired", 120], ["free", "free", 900], ["unnamed", "unnamed", 12]]
    .map(([name, category, mib]) => ({ name, kind: category === "unnamed" ? "rest" : "kernel", category, bytes: mib * MIB }));
  const root = group("RAM", [programs, ...kernel]);
  return { schema: "tidemark.treemap/1", time: "2026-01-02T03:04:05Z", by: "pss", total_bytes: root.bytes, process_count: 3, unknown_process_count: 0, tree: root, notes: [] };
}

export function trace() {
  const frame = (symbol, pages, stacks = [], module) => ({ symbol, ...(module ? { module } : {}), pages, machine_peak_pages: Math.round(pages * 1.5), stacks });
  const read = frame("do_syscall_64", 9000, [
    frame("ksys_read", 6400, [frame("filemap_read", 6400, [frame("page_cache_ra_unbounded", 6400, [frame("alloc_pages", 6400)])])]),
    frame("__x64_sys_mmap", 2600, [frame("gpu_alloc", 2600, [frame("alloc_pages", 2600)], "gpu")]),
  ]);
  const fault = frame("asm_exc_page_fault", 5200, [frame("do_anonymous_page", 5200, [frame("alloc_pages", 5200)])]);
  return {
    schema: "tidemark.trace/1", backend: "bpf", started: "2026-01-02T03:04:05Z", elapsed_ns: 60 * SECOND, page_size_bytes: 4096, sample_period: 1,
    pages: 14200, peak_pages: 21300, exact: true, lost: 0, untracked_frees: 12,
    tasks: [{ pid: 7, name: "database", pages: 9000, machine_peak_pages: 13500, stacks: [read] }, { pid: 9, name: "web", pages: 5200, machine_peak_pages: 7800, stacks: [fault] }],
  };
}

export function ledger({ ownerCount = 40 } = {}) {
  const owners = Array.from({ length: ownerCount }, (_, i) => ({
    class: "file", owner: `/usr/share/x/${String((i * 7919) % ownerCount).padStart(6, "0")}.dat`, bytes: (1 + ((i * 104729) % 997)) * 4096, parent: "file",
  }));
  const files = owners.reduce((sum, one) => sum + one.bytes, 0);
  const row = (name, bytes) => ({ class: name, owner: "", bytes, parent: null });
  const rows = [row("anon-private", 900 * MIB), row("file", files), ...owners, row("slab", 250 * MIB), row("page-tables", 20 * MIB), row("boot", 110 * MIB), row("unnamed", 2 * MIB), row("free", 1500 * MIB)];
  return {
    schema: "tidemark.ledger/1", tier: "structs", total_bytes: rows.reduce((sum, one) => sum + (one.parent === null ? one.bytes : 0), 0),
    elapsed_ns: 1.1 * SECOND, own_bytes: 17 * MIB, mapped_pages: 200_000, changed_pages: 12, rows, notes: [],
  };
}

export function diff() {
  const categories = [["heap", 120], ["anon", 44], ["file", -30], ["code", 2]].map(([category, mib]) => ({ category, change_bytes: mib * MIB }));
  const course = (mib, seconds) => ({
    span_ns: seconds * SECOND, moment_ns: (seconds * SECOND * 2) / 3,
    shape_bytes: Array.from({ length: 120 }, (_, i) => Math.round(mib * MIB * (i <= 80 ? i / 80 : 0.7))),
  });
  return {
    schema: "tidemark.diff/1",
    before: { label: "before.tdm at peak", pss_bytes: 500 * MIB, process_count: 3, undetailed_count: 0, ...course(500, 2600) },
    after: { label: "after.tdm at peak", pss_bytes: 636 * MIB, process_count: 4, undetailed_count: 0, ...course(636, 3000) },
    change_bytes: 136 * MIB, categories,
    mappings: categories.map((one, i) => ({ ...one, name: `/opt/part-${i}`, before_count: 1, after_count: 1 })),
    processes: [{ name: "server", change_bytes: 166 * MIB, before_count: 1, after_count: 2 }, { name: "worker", change_bytes: -30 * MIB, before_count: 1, after_count: 1 }],
    holdings: categories.map((one) => ({ ...one, name: one.category === "file" ? "worker" : "server", before_count: 1, after_count: 1 })),
  };
}
