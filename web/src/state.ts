// What is chosen: one moment, one selection, everywhere. All of it is in the
// URL's fragment, so that it can be sent and Back works.
import { effect, signal } from "@preact/signals";
import type { Theme } from "./colours";

export const VIEWS = ["timeline", "treemap", "stacks", "machine", "compare", "vms"] as const;
export type View = (typeof VIEWS)[number];
export const GROUPINGS = ["kind", "process", "mapping", "cgroup"] as const;
export type Grouping = (typeof GROUPINGS)[number];
export const METRICS = ["pss", "private", "rss", "swap"] as const;
export type Metric = (typeof METRICS)[number];

export const view = signal<View>("timeline");
export const grouping = signal<Grouping>("kind");
export const metric = signal<Metric>("pss");
export const STACK_MOMENTS = ["peak", "now", "growth", "base"] as const;
export type StackMoment = (typeof STACK_MOMENTS)[number];
export const stackMoment = signal<StackMoment>("peak");
export const COMPARE_BY = ["kind", "kind and process", "process", "mapping"] as const;
export type CompareBy = (typeof COMPARE_BY)[number];
export const compareBy = signal<CompareBy>("kind");
export const COMPARE_OF = ["peak to peak", "same time", "two moments"] as const;
export const compareOf = signal<(typeof COMPARE_OF)[number]>("peak to peak");
export const STACK_ORDERS = ["top down", "bottom up", "sandwich"] as const;
export type StackOrder = (typeof STACK_ORDERS)[number];
export const stackOrder = signal<StackOrder>("top down");
// The function in the middle of a sandwich, as frames.ts names it.
export const stackMiddle = signal<string | null>(null);
export const STACK_COLOURS = ["module", "change"] as const;
export const stackColour = signal<(typeof STACK_COLOURS)[number]>("module");
export const MAP_SIZES = ["pss", "private", "charged", "swap"] as const;
export type MapSize = (typeof MAP_SIZES)[number];
// null: as the page was made.
export const mapSize = signal<MapSize | null>(null);
// The box that one is in, as boxtree.ts names it; null: the outermost.
export const mapBox = signal<string | null>(null);
export const MAP_COLOURS = ["kind", "growth"] as const;
export const mapColour = signal<(typeof MAP_COLOURS)[number]>("kind");
// Of a recording: what it holds at the moment, or the machine as it is now;
// null: the moment, and of what is live the machine.
export const MAP_OF = ["moment", "machine"] as const;
export type MapOf = (typeof MAP_OF)[number];
export const mapOf = signal<MapOf | null>(null);
// What the keys of the view that is shown do, beside those of all views.
export const viewKeys = signal<Record<string, (event: KeyboardEvent) => void>>({});
// Index into the drawn ticks; null: the peak.
export const moment = signal<number | null>(null);
// Of the machine: its counters over time, or all its pages at one moment.
export const MACHINE_OF = ["over time", "every page"] as const;
export const machineOf = signal<(typeof MACHINE_OF)[number]>("over time");
// Of VMs: which one, as vms.ts names it (null: the most costly), and by whose
// arithmetic it is drawn.
export const vmName = signal<string | null>(null);
export const VM_OF = ["host and guest", "five sections"] as const;
export const vmOf = signal<(typeof VM_OF)[number]>("host and guest");
// VMs have moments of their own: this one, in ns since the start, as long as
// `moment` is what it was then.
export const vmAt = signal<{ ns: number; with: number | null } | null>(null);
// What the moment is compared with, of the same ticks; null: none was chosen.
export const base = signal<number | null>(null);
// In seconds since the start; null: all.
export const zoom = signal<[number, number] | null>(null);
export const filter = signal("");
export const selected = signal<string | null>(null);
export const sort = signal<{ column: string; falls: boolean }>({ column: "value", falls: true });
// Of a page that is served: the recording that is shown, whether it may be
// read again when it grows, and what Compare compares ("NAME@MOMENT").
export const recordingName = signal<string | null>(null);
export const isPaused = signal(false);
export const diffSides = signal<[string, string] | null>(null);
export const theme = signal<Theme>("light");
export const dense = signal(false);
export const showsKeys = signal(false);

export const next = <T>(all: readonly T[], one: T): T => all[(all.indexOf(one) + 1) % all.length]!;

const oneOf = <T extends string>(all: readonly T[], word: string | null, otherwise: T): T =>
  all.find((one) => one === word) ?? otherwise;

function readFragment(): void {
  const words = new URLSearchParams(location.hash.slice(1));
  view.value = oneOf(VIEWS, words.get("view"), "timeline");
  grouping.value = oneOf(GROUPINGS, words.get("by"), "kind");
  metric.value = oneOf(METRICS, words.get("metric"), "pss");
  const at = Number(words.get("at") ?? NaN);
  moment.value = Number.isInteger(at) && at >= 0 ? at : null;
  const from = Number(words.get("base") ?? NaN);
  base.value = Number.isInteger(from) && from >= 0 ? from : null;
  const span = (words.get("zoom") ?? "").split("-").map(Number);
  zoom.value = span.length === 2 && span[0]! < span[1]! ? [span[0]!, span[1]!] : null;
  filter.value = words.get("find") ?? "";
  recordingName.value = words.get("rec");
  stackMoment.value = oneOf(STACK_MOMENTS, words.get("stacks"), "peak");
  stackOrder.value = oneOf(STACK_ORDERS, words.get("order"), "top down");
  stackMiddle.value = words.get("middle");
  stackColour.value = oneOf(STACK_COLOURS, words.get("frames"), "module");
  mapSize.value = MAP_SIZES.find((one) => one === words.get("size")) ?? null;
  mapBox.value = words.get("box");
  mapOf.value = MAP_OF.find((one) => one === words.get("of")) ?? null;
  mapColour.value = oneOf(MAP_COLOURS, words.get("boxes"), "kind");
  vmName.value = words.get("vm");
  vmOf.value = oneOf(VM_OF, words.get("sections"), "host and guest");
  const ns = Number(words.get("t") ?? NaN) * 1e9;
  vmAt.value = ns >= 0 ? { ns, with: moment.value } : null;
}

function fragment(): string {
  const words = new URLSearchParams();
  if (recordingName.value !== null) words.set("rec", recordingName.value);
  if (view.value !== "timeline") words.set("view", view.value);
  if (grouping.value !== "kind") words.set("by", grouping.value);
  if (metric.value !== "pss") words.set("metric", metric.value);
  if (moment.value !== null) words.set("at", String(moment.value));
  if (base.value !== null) words.set("base", String(base.value));
  if (zoom.value) words.set("zoom", zoom.value.map((s) => s.toFixed(3)).join("-"));
  if (filter.value) words.set("find", filter.value);
  if (stackMoment.value !== "peak") words.set("stacks", stackMoment.value);
  if (stackOrder.value !== "top down") words.set("order", stackOrder.value);
  if (stackOrder.value === "sandwich" && stackMiddle.value) words.set("middle", stackMiddle.value);
  if (stackColour.value !== "module") words.set("frames", stackColour.value);
  if (mapSize.value) words.set("size", mapSize.value);
  if (mapBox.value) words.set("box", mapBox.value);
  if (mapOf.value) words.set("of", mapOf.value);
  if (mapColour.value !== "kind") words.set("boxes", mapColour.value);
  if (vmName.value !== null) words.set("vm", vmName.value);
  if (vmOf.value !== "host and guest") words.set("sections", vmOf.value);
  if (vmAt.value && vmAt.value.with === moment.value) words.set("t", String(vmAt.value.ns / 1e9));
  return words.toString();
}

let shownPlace = "";
let isQuiet = false;

// What nobody asked for is no step to go back from.
export function quietly(change: () => void): void {
  isQuiet = true;
  change();
  isQuiet = false;
}

export function followFragment(): void {
  const follow = (): void => {
    readFragment();
    shownPlace = `${view.value} ${recordingName.value}`;
  };
  follow();
  addEventListener("popstate", follow);
  effect(() => {
    const words = fragment();
    if (words === location.hash.slice(1)) return;
    // Back returns to another view or recording; smaller steps are not kept.
    const place = `${view.value} ${recordingName.value}`;
    const url = words ? `#${words}` : location.pathname + location.search;
    if (place === shownPlace || isQuiet) history.replaceState(null, "", url);
    else history.pushState(null, "", url);
    shownPlace = place;
  });
}

export function followTheme(): void {
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  const asked = (): Theme => (prefers.matches ? "dark" : "light");
  theme.value = asked();
  prefers.addEventListener("change", () => (theme.value = asked()));
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
    document.documentElement.dataset["density"] = dense.value ? "dense" : "plain";
  });
}
