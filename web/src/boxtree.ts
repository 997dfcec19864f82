// What the treemap draws: the boxes of a capture, joined with those of an
// earlier one where there is one, and the kinds of memory of each process.
import { kindOf } from "./colours";
import type { Ledger, Treemap, TreeNode } from "./data";
import { visible } from "./format";
import { classes } from "./machine";
import { MAP_SIZES, type MapSize } from "./state";

// null: not known of this box.
export type Sizes = Record<MapSize, number | null>;

export interface Placed {
  name: string;
  is: TreeNode["kind"] | "kind";
  pid?: number | undefined;
  kind: string; // of memory; empty: of several, or not known
  key: string; // the way down to it
  parent: Placed | null;
  children: Placed[];
  sizes: Sizes;
  before: Sizes | null; // null: there is nothing to compare with
}

const PROGRAMS = "kernel/vmo";

// How the parts of RAM are called in memgraph's records, and what they are here.
const PARTS: Record<string, { name: string; kind: string }> = {
  "kernel/physmem": { name: "machine", kind: "" },
  "kernel/free": { name: "free", kind: "free" },
  [PROGRAMS]: { name: "programs and page cache", kind: "" },
  "kernel/heap": { name: "slab", kind: "slab" },
  "kernel/heap/allocated": { name: "slab, in use", kind: "slab" },
  "kernel/heap/free": { name: "slab, slack", kind: "slab" },
  "kernel/wired": { name: "boot-reserved", kind: "wired" },
  "kernel/mmu": { name: "page tables", kind: "ptab" },
  "kernel/ipc": { name: "sockets and pipes", kind: "kern" },
  "kernel/other": { name: "other kernel", kind: "kern" },
};

// What of the memory of programs and files is in none of the boxes beside it.
const RESTS: Record<string, { name: string; kind: string }> = {
  "in no process": { name: "page cache, not mapped", kind: "file" },
  "in no process that was read": { name: "page cache, mapped by none that was read", kind: "file" },
  "not readable": { name: "not readable", kind: "unnamed" },
};
const restOf = (node: TreeNode): { name: string; kind: string } | undefined => (node.kind === "rest" ? RESTS[node.name] : undefined);

function nameOf(node: TreeNode): string {
  const part = PARTS[node.id ?? ""];
  if (part) return part.name;
  return restOf(node)?.name ?? visible(node.name);
}

// Its own kind, or that of the part of the kernel it is in.
function kindToken(node: TreeNode, above: string): string {
  if (node.category !== undefined) return node.category;
  const part = PARTS[node.id ?? ""];
  if (part) return part.kind;
  return restOf(node)?.kind ?? above;
}

function sizesOf(node: TreeNode, by: string): Sizes {
  const told: Sizes = {
    pss: node.pss_bytes ?? null, private: node.private_bytes ?? null,
    charged: node.charged_bytes ?? null, swap: node.swap_bytes ?? null,
  };
  // A tree that tells one size of each box tells it as its bytes.
  const isTold = MAP_SIZES.some((size) => told[size] !== null);
  const main = MAP_SIZES.find((size) => size === by) ?? "pss";
  return isTold ? told : { ...told, [main]: node.bytes };
}

// Of what is not on this side: nothing, where the other side knows how much.
const nothing = (other: Sizes): Sizes => ({
  pss: other.pss === null ? null : 0, private: other.private === null ? null : 0,
  charged: other.charged === null ? null : 0, swap: other.swap === null ? null : 0,
});

// A sum over what is known; null when nothing is.
function sumOf(list: Sizes[]): Sizes {
  const sum = (size: MapSize): number | null =>
    list.reduce<number | null>((total, one) => (one[size] === null ? total : (total ?? 0) + one[size]), null);
  return { pss: sum("pss"), private: sum("private"), charged: sum("charged"), swap: sum("swap") };
}

// What makes two boxes of one parent the same. The ids of groups and processes
// are numbers of one capture and mean nothing in another.
function identity(node: TreeNode): string {
  if (node.kind === "kernel") return `kernel ${node.id ?? node.name}`;
  if (node.kind === "process") return `process ${node.pid ?? ""} ${node.name}`;
  return `${node.kind} ${node.category ?? ""} ${node.name}`;
}

type Pair = [TreeNode | null, TreeNode | null];

function taken<T>(map: Map<string, T[]>, key: string): T | null {
  return map.get(key)?.shift() ?? null;
}

function listed(nodes: TreeNode[], key: (node: TreeNode) => string): Map<string, TreeNode[]> {
  const map = new Map<string, TreeNode[]>();
  for (const node of nodes) {
    const same = map.get(key(node));
    if (same) same.push(node);
    else map.set(key(node), [node]);
  }
  return map;
}

// Boxes of two moments: the same ones, then processes of one name under other
// pids (they were started again), then what is new or gone.
export function pairs(now: TreeNode[], base: TreeNode[]): Pair[] {
  if (base.length === 0) return now.map((node): Pair => [node, null]);
  const same = listed(base, identity);
  const first = now.map((node): Pair => [node, taken(same, identity(node))]);
  const left = [...same.values()].flat();
  const byName = listed(left.filter((node) => node.kind === "process"), (node) => node.name);
  const joined = first.map(([node, before]): Pair =>
    before || node!.kind !== "process" ? [node, before] : [node, taken(byName, node!.name)]);
  const met = new Set(joined.map(([, before]) => before));
  return [...joined, ...left.filter((node) => !met.has(node)).map((node): Pair => [null, node])];
}

class Placer {
  constructor(private readonly by: string, private readonly compares: boolean) {}

  place([now, base]: Pair, parent: Placed | null, above: string): Placed {
    const node = (now ?? base)!;
    const kind = kindToken(node, above);
    const sizes = now ? sizesOf(now, this.by) : nothing(sizesOf(base!, this.by));
    const before = base ? sizesOf(base, this.by) : nothing(sizes);
    const placed: Placed = {
      name: nameOf(node), is: node.kind, pid: node.pid, kind, key: `${parent?.key ?? ""}/${identity(node)}`,
      parent, children: [], sizes, before: this.compares ? before : null,
    };
    const children = pairs(now?.children ?? [], base?.children ?? []).map((pair) => this.place(pair, placed, kind));
    placed.children = node.kind === "process" ? byKind(placed, children) : children;
    return unwrapped(placed);
  }
}

const hasAny = (one: Placed): boolean =>
  MAP_SIZES.some((size) => (one.sizes[size] ?? 0) > 0 || (one.before?.[size] ?? 0) > 0);

// A group that has nothing but one other group is that group, under both names.
function unwrapped(placed: Placed): Placed {
  if (placed.is !== "group") return placed;
  const inside = placed.children.filter(hasAny);
  const only = inside[0];
  if (!only || inside.length !== 1 || only.is !== "group") return placed;
  only.name = `${placed.name} › ${only.name}`;
  only.parent = placed.parent;
  // What the outer one has by a size that the inner does not tell stays told.
  for (const size of MAP_SIZES) only.sizes[size] ??= placed.sizes[size];
  return only;
}

// Objects of one kind in one box; what is of no kind stays beside them.
function byKind(process: Placed, children: Placed[]): Placed[] {
  const kinds = new Map<string, Placed>();
  const made: Placed[] = [];
  for (const child of children) {
    if (child.is !== "object" || child.kind === "") {
      made.push({ ...child, kind: child.is === "rest" ? "unnamed" : child.kind });
      continue;
    }
    let box = kinds.get(child.kind);
    if (!box) {
      box = {
        name: kindOf(child.kind).name, is: "kind", kind: child.kind, key: `${process.key}/kind ${child.kind}`,
        parent: process, children: [], sizes: child.sizes, before: null,
      };
      kinds.set(child.kind, box);
      made.push(box);
    }
    child.parent = box;
    box.children.push(child);
  }
  for (const box of kinds.values()) {
    box.sizes = sumOf(box.children.map((one) => one.sizes));
    box.before = process.before && sumOf(box.children.map((one) => one.before!));
  }
  return made;
}

// The parts that the kernel has itself in one box.
function kernelBox(machine: Placed, parts: Placed[]): Placed {
  const box: Placed = {
    name: "kernel", is: "kernel", kind: "", key: `${machine.key}/kernel`, parent: machine, children: parts,
    sizes: sumOf(parts.map((one) => one.sizes)), before: machine.before && sumOf(parts.map((one) => one.before!)),
  };
  for (const part of parts) part.parent = box;
  return box;
}

// A capture puts groups below a part of RAM, beside half a dozen small parts of
// the kernel. One looks for whose memory it is: groups, page cache, what is free
// and the kernel stand side by side.
function arranged(machine: Placed): Placed {
  const programs = machine.children.find((one) => one.key.endsWith(` ${PROGRAMS}`));
  if (!programs || programs.children.length === 0) return machine;
  const isOfKernel = (one: Placed): boolean => one.is === "kernel" && one !== programs && one.kind !== "free";
  const parts = machine.children.filter(isOfKernel);
  for (const child of programs.children) child.parent = machine;
  machine.children = [
    ...programs.children,
    ...machine.children.filter((one) => one !== programs && !isOfKernel(one)),
    ...(parts.length > 1 ? [kernelBox(machine, parts)] : parts),
  ];
  return machine;
}

export function place(now: TreeNode, base?: TreeNode, by = "pss"): Placed {
  return arranged(new Placer(by, base !== undefined).place([now, base ?? null], null, ""));
}

// What is in a box by that size: nothing where it is not parted by it.
export const inside = (one: Placed, size: MapSize): Placed[] => one.children.filter((child) => child.sizes[size] !== null);

export const changeOf = (one: Placed, size: MapSize): number | null =>
  one.before === null || one.sizes[size] === null ? null : one.sizes[size] - (one.before[size] ?? 0);

// The outermost box of which that size is known.
export function rootBy(whole: Placed, size: MapSize): Placed | null {
  let level = [whole];
  while (level.length > 0) {
    const found = level.find((one) => one.sizes[size] !== null);
    if (found) return found;
    level = level.flatMap((one) => one.children);
  }
  return null;
}

export function findBox(whole: Placed, key: string): Placed | null {
  const waiting = [whole];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    if (one.key === key) return one;
    waiting.push(...one.children);
  }
  return null;
}

export function path(placed: Placed): Placed[] {
  return placed.parent ? [...path(placed.parent), placed] : [placed];
}

// The rows of a ledger as boxes: classes of pages, in them their owners.
export function ledgerTreemap(ledger: Ledger): Treemap {
  const tree: TreeNode = {
    name: "machine", id: "kernel/physmem", kind: "kernel", bytes: ledger.total_bytes,
    children: classes(ledger).map(({ row, kind, name, owners }): TreeNode => {
      const rest = row.bytes - owners.reduce((sum, owner) => sum + owner.bytes, 0);
      const children = owners.map((owner): TreeNode => ({ name: owner.owner, kind: "object", bytes: owner.bytes, category: kind }));
      if (children.length > 0 && rest > 0) children.push({ name: "others", kind: "rest", bytes: rest, category: kind });
      return { name, kind: "group", bytes: row.bytes, category: kind, children };
    }),
  };
  return {
    schema: "tidemark.treemap/1", time: null, by: "pages", total_bytes: ledger.total_bytes, process_count: 0,
    unknown_process_count: 0, tree, notes: ledger.notes,
  };
}
