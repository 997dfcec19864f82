// Bands as columns of numbers, one for each drawn tick, made when first asked
// for: the data tells only where something changed.
import type { Band, Charge, Points, Timeline } from "./data";
import type { Grouping, Metric } from "./state";

const COLUMN = {
  pss: "pss_bytes",
  private: "private_bytes",
  rss: "rss_bytes",
  swap: "swap_bytes",
} as const satisfies Record<Metric, keyof Points>;

const made = new WeakMap<Band, Map<Metric, Float64Array>>();

const spread = (band: Band, told: number[], values: Float64Array): void => {
  for (let i = 0; i < band.ticks.length; ++i) {
    const end = band.ticks[i + 1] ?? values.length;
    for (let at = band.ticks[i]!; at < end; ++at) values[at]! += told[i]!;
  }
};

// PSS is the best value: where sharing was never read, RSS, which it cannot exceed.
export function column(band: Band, metric: Metric, tickCount: number): Float64Array {
  let of = made.get(band);
  if (!of) made.set(band, (of = new Map()));
  const known = of.get(metric);
  if (known && known.length === tickCount) return known;
  const values = new Float64Array(tickCount);
  const told = band[COLUMN[metric]];
  if (told) spread(band, told, values);
  of.set(metric, values);
  return values;
}

// Of its bytes at the tick those that have no more than a bound, or that were
// scaled since they were read.
export function partAt(band: Band, index: number, of: "bounded_bytes" | "estimated_bytes"): number {
  const told = band[of];
  if (!told) return 0;
  let found = 0;
  for (let i = 0; i < band.ticks.length && band.ticks[i]! <= index; ++i) found = told[i]!;
  return found;
}

// What stands before a number that was not read in full.
export const markOf = (bounded: number, estimated: number): string => (bounded > 0 ? "≤\u00a0" : estimated > 0 ? "~" : "");

// A recording of a trace alone has no processes: their memory is not nothing,
// it was not read.
export const hasProcesses = ({ ticks }: Timeline): boolean => ticks.process_count.some((number) => number > 0);

// Its kinds are there, all else of it is still being read.
export const isPartial = ({ kinds, processes }: Timeline): boolean => kinds.length > 0 && processes.length === 0;

// As high as the areas are at the tick.
export const heightAt = ({ ticks }: Timeline, index: number): number => ticks.pss_bytes[index] ?? 0;

export const isBound = ({ ticks }: Timeline, index: number): boolean => (ticks.bounded_bytes?.[index] ?? 0) > 0;

export const markAt = ({ ticks }: Timeline, index: number): string =>
  markOf(ticks.bounded_bytes?.[index] ?? 0, ticks.estimated_bytes?.[index] ?? 0);

// By how much a band changed between two ticks; null where nobody knows. What
// was read at one of them alone is compared by RSS, which says it of memory that
// is hardly shared.
export function changeBetween(band: Band, from: number, to: number, metric: Metric, tickCount: number): number | null {
  const difference = (one: Metric): number => column(band, one, tickCount)[to]! - column(band, one, tickCount)[from]!;
  const isUnread = (at: number): boolean => partAt(band, at, "bounded_bytes") > 0;
  const knows = metric === "rss" || metric === "swap" || isUnread(from) === isUnread(to);
  if (knows && !(metric === "private" && isUnread(to))) return difference(metric);
  return ["heap", "anon", "stack"].includes(band.category ?? "") ? difference("rss") : null;
}

// The same of what a control group was charged with; NaN: not known.
export function chargeColumn(charge: Charge, of: "charged_bytes" | "peak_bytes" | "limit_bytes", tickCount: number): Float64Array {
  const values = new Float64Array(tickCount).fill(NaN);
  charge.ticks.forEach((from, i) => values.fill(charge[of][i] ?? NaN, from, charge.ticks[i + 1] ?? tickCount));
  return values;
}

export function bandsOf(timeline: Timeline, grouping: Grouping): Band[] {
  switch (grouping) {
    case "process":
      return timeline.processes;
    case "mapping":
      return timeline.objects;
    case "cgroup":
      return timeline.groups;
    default:
      return timeline.kinds;
  }
}

export interface Layer {
  label: string;
  band: Band | null; // null: the rest
  place?: number; // among the colours of those without a kind; none: by order
  values: Float64Array;
}

const MOST_LAYERS = 8;

// What is stacked, from the bottom up: all kinds, or the largest of the others
// and the rest of the whole.
export function layersOf(timeline: Timeline, grouping: Grouping, metric: Metric): Layer[] {
  const tickCount = timeline.ticks.id.length;
  const bands = bandsOf(timeline, grouping);
  // Processes of one name are told apart by their pids.
  const alike = (band: Band): boolean => band.pid !== undefined && bands.some((one) => one !== band && one.label === band.label);
  const layer = (band: Band): Layer => ({
    label: alike(band) ? `${band.label} (${band.pid})` : band.label,
    band,
    values: column(band, metric, tickCount),
  });
  const some = (one: Layer): boolean => one.values.some((value) => value > 0);
  if (grouping === "kind") return bands.map(layer).filter(some);
  const layers = bands.filter((band) => !band.others_count).slice(0, MOST_LAYERS).map(layer).filter(some);
  const shown = new Set(layers.map((one) => one.band));
  const rest = new Float64Array(tickCount);
  for (const band of bands) {
    if (shown.has(band)) continue;
    const values = column(band, metric, tickCount);
    for (let i = 0; i < tickCount; ++i) rest[i]! += values[i]!;
  }
  if (rest.some((value) => value > 0)) layers.push({ label: "others", band: null, values: rest });
  return layers;
}
