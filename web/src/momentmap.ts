// The treemap of a moment of a recording: groups, processes and kinds of memory
// as its bands have them, so that it is as large as the timeline is high there.
import { column, heightAt, isBound } from "./bands";
import { kindOf } from "./colours";
import type { Band, Timeline, Treemap, TreeNode } from "./data";
import { momentClock } from "./format";
import type { Metric } from "./state";

interface Held {
  pss_bytes: number;
  private_bytes?: number;
  swap_bytes: number;
}

const plus = (one: Held, other: Held, sign: number): Held => ({
  pss_bytes: one.pss_bytes + sign * other.pss_bytes,
  ...(one.private_bytes === undefined || other.private_bytes === undefined
    ? {} : { private_bytes: one.private_bytes + sign * other.private_bytes }),
  swap_bytes: one.swap_bytes + sign * other.swap_bytes,
});

const isAny = (held: Held): boolean => held.pss_bytes > 0 || held.swap_bytes > 0;

class Maker {
  private readonly tickCount: number;
  private readonly knowsPrivate: boolean;

  constructor(private readonly timeline: Timeline, private readonly index: number) {
    this.tickCount = timeline.ticks.id.length;
    this.knowsPrivate = !isBound(timeline, index);
  }

  root(name: string): TreeNode {
    const top: TreeNode = { name, kind: "other", ...this.box(this.none()), children: [] };
    for (const band of this.timeline.processes) {
      const held = this.held(band);
      if (isAny(held)) this.put(top, band, held);
    }
    return top;
  }

  private none(): Held {
    return { pss_bytes: 0, ...(this.knowsPrivate ? { private_bytes: 0 } : {}), swap_bytes: 0 };
  }

  private held(band: Band): Held {
    const at = (metric: Metric): number => column(band, metric, this.tickCount)[this.index]!;
    return { pss_bytes: at("pss"), ...(this.knowsPrivate ? { private_bytes: at("private") } : {}), swap_bytes: at("swap") };
  }

  private box(held: Held): Held & { bytes: number } {
    return { ...held, bytes: held.pss_bytes };
  }

  // Below the groups of its path, each of which grows by it.
  private put(top: TreeNode, band: Band, held: Held): void {
    let at = top;
    this.add(at, held);
    for (const name of band.others_count ? [] : (band.cgroup ?? "").split("/").filter(Boolean)) {
      let group: TreeNode | undefined = at.children!.find((one) => one.kind === "group" && one.name === name);
      if (!group) at.children!.push((group = { name, kind: "group", ...this.box(this.none()), children: [] }));
      this.add((at = group), held);
    }
    at.children!.push(this.process(band, held));
  }

  private add(node: TreeNode, held: Held): void {
    Object.assign(node, this.box(plus(node as Held & TreeNode, held, 1)));
  }

  // Kinds that have no band of their own are one box with the rest.
  private process(band: Band, held: Held): TreeNode {
    if (band.others_count) return { name: `${band.others_count} smaller processes`, kind: "rest", ...this.box(held) };
    let rest = held;
    const children: TreeNode[] = [];
    for (const part of this.timeline.parts) {
      if (part.process !== band.process || part.others_count || part.category === undefined) continue;
      const own = this.held(part);
      if (!isAny(own)) continue;
      rest = plus(rest, own, -1);
      children.push({ name: kindOf(part.category).name, kind: "portion", category: part.category, ...this.box(own) });
    }
    if (isAny(rest)) children.push({ name: "smaller kinds", kind: "rest", ...this.box(rest) });
    return { name: band.label, kind: "process", ...(band.pid === undefined ? {} : { pid: band.pid }), ...this.box(held), children };
  }
}

// "the peak, 00:41:12"
export function momentName(timeline: Timeline, index: number): string {
  const at = momentClock(timeline.ticks.elapsed_ns[index]!, timeline.elapsed_ns);
  return index === timeline.peak_index ? `the peak, ${at}` : index === 0 ? `the start, ${at}` : at;
}

export function momentTreemap(timeline: Timeline, index: number): Treemap {
  const tree = new Maker(timeline, index).root("recorded processes");
  const notes: string[] = [];
  if (isBound(timeline, index)) notes.push("≤: where sharing was not read, resident memory stands for it.");
  return {
    schema: "tidemark.treemap/1", time: null, by: "pss", total_bytes: heightAt(timeline, index),
    process_count: timeline.ticks.process_count[index]!, unknown_process_count: 0, tree, notes,
    unknown: {
      private_bytes: "sharing of some was not read",
      charged_bytes: "a recording does not part what groups are charged for by process; the timeline draws it for a single group",
    },
  };
}

