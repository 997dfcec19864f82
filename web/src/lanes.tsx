// Events under the chart, on the same time axis.
import type { ComponentChildren } from "preact";
import { kindOf } from "./colours";
import type { Machine, TimelineEvent } from "./data";
import { clock, count, duration, percent, visible } from "./format";
import { theme } from "./state";
import { textScale } from "./width";

// In data colours only where the mark is of that kind of memory.
const INKS: Partial<Record<TimelineEvent["kind"], string>> = { swap: "swap", oom: "bad" };

const GLYPHS: Record<TimelineEvent["kind"], string> = {
  appeared: "",
  fork: "❘",
  exec: "▸",
  exit: "○",
  swap: "▾",
  oom: "✕",
  missed: "▨",
};

export interface Area {
  left: number;
  width: number;
  from: number;
  to: number; // seconds
}

interface Cluster {
  x: number;
  kind: TimelineEvent["kind"];
  events: TimelineEvent[];
}

// As wide as a mark with a count; what is rare stands for itself.
const NEAR = 22;
const RARE: readonly TimelineEvent["kind"][] = ["oom", "swap", "missed"];

// What would lie on each other is one mark that tells them all.
export function clusters(events: TimelineEvent[], area: Area): Cluster[] {
  const found: Cluster[] = [];
  const last = new Map<string, Cluster>();
  for (const event of events) {
    if (event.kind === "appeared") continue;
    const seconds = event.elapsed_ns / 1e9;
    if (seconds < area.from || seconds > area.to) continue;
    const x = area.left + ((seconds - area.from) / Math.max(area.to - area.from, 1e-9)) * area.width;
    const kept = RARE.includes(event.kind) ? event.kind : "life";
    const near = last.get(kept);
    if (near && x - near.x < NEAR * textScale()) {
      near.events.push(event);
      continue;
    }
    const cluster = { x, kind: event.kind, events: [event] };
    last.set(kept, cluster);
    found.push(cluster);
  }
  return found;
}

function words(cluster: Cluster): string {
  const first = cluster.events[0]!;
  const when = clock(first.elapsed_ns, true);
  if (cluster.kind === "missed") {
    const missed = cluster.events.reduce((sum, event) => sum + (event.count ?? 1), 0);
    return `${when} ${count(missed)} ticks missed, ${duration(first.duration_ns ?? 0)}: ${visible(first.text)}`;
  }
  if (cluster.kind === "swap" || cluster.kind === "oom") return `${when} ${visible(first.text)}`;
  const lines = (["exec", "fork", "exit"] as const).flatMap((kind) => {
    const some = cluster.events.filter((event) => event.kind === kind);
    const names = some.slice(0, 4).map((event) => visible(event.text)).join(", ");
    return some.length === 0 ? [] : [`${kind} ${names}${some.length > 4 ? ` and ${count(some.length - 4)} more` : ""}`];
  });
  return `${when} ${lines.join("; ")}`;
}

function inkOf(kind: TimelineEvent["kind"]): string {
  const ink = INKS[kind];
  return ink === undefined ? "var(--t1)" : ink === "bad" ? "var(--bad)" : kindOf(ink).ink[theme.value];
}

// What is rare is named beside its mark, where there is room.
const WORDS: Partial<Record<TimelineEvent["kind"], string>> = { swap: "swapping begins", oom: "OOM kill" };
const WORD_ROOM = 100;

export interface NamedMark {
  x: number;
  word: string;
  anchor: "start" | "end";
}

// At the right of the mark, else at its left, else not at all.
export function named(marks: Cluster[], area: Area): NamedMark[] {
  const list: NamedMark[] = [];
  for (const { kind, x } of marks) {
    const word = WORDS[kind];
    if (word === undefined) continue;
    const isFree = (from: number, to: number): boolean =>
      from >= area.left && to <= area.left + area.width && !marks.some((other) => other.x !== x && other.x > from && other.x < to);
    if (isFree(x, x + WORD_ROOM)) list.push({ x: x + 8, word, anchor: "start" });
    else if (isFree(x - WORD_ROOM, x)) list.push({ x: x - 8, word, anchor: "end" });
  }
  return list;
}

// Of several the mark of the first, and how many they are.
const glyphOf = ({ kind, events }: Cluster): string =>
  `${GLYPHS[kind]}${events.length > 1 && kind !== "missed" ? count(events.length) : ""}`;

export function EventLane({ events, area, untold }: { events: TimelineEvent[]; area: Area; untold: number }): ComponentChildren {
  const marks = clusters(events, area);
  return (
    <svg class="lane" width="100%" height="22" role="img" aria-label={`${count(events.length + untold)} events: processes forked, executed, ended; swapping, out-of-memory kills, ticks missed`}>
      <text x={area.left - 8} y="15" text-anchor="end" font-size={11 * textScale()} fill="var(--t2)">events</text>
      <line x1={area.left} x2={area.left + area.width} y1="11" y2="11" stroke="var(--line)" />
      {named(marks, area).map(({ x, word, anchor }) => (
        <text x={x} y="15" text-anchor={anchor} font-size={11 * textScale()} fill="var(--t2)">{word}</text>
      ))}
      {marks.map((mark) => (
        <text x={mark.x - 4 * textScale()} y="15" font-size={12 * textScale()} fill={inkOf(mark.kind)}>
          {glyphOf(mark)}
          <title>{words(mark)}</title>
        </text>
      ))}
      {area.width > 700 && (
        <text x={area.left + area.width + 14} y="15" font-size={11 * textScale()} fill="var(--t2)">▸ exec  ❘ fork  ○ exit</text>
      )}
    </svg>
  );
}

export interface Stall {
  from: number; // seconds
  to: number;
  some: number; // nanoseconds
  full: number;
}

// The time tasks waited for memory, from one drawn tick to the next; what is
// not known is left out.
export function stalls(machine: Machine): Stall[] {
  const { elapsed_ns: times, stalled_some_ns: some, stalled_full_ns: full } = machine.ticks;
  const found: Stall[] = [];
  for (let i = 1; i < times.length; ++i) {
    const waited = some[i];
    if (waited === null || waited === undefined) continue;
    found.push({ from: times[i - 1]! / 1e9, to: times[i]! / 1e9, some: waited, full: full[i] ?? 0 });
  }
  return found;
}

interface Step {
  x: number;
  width: number;
  some: number; // shares of the time
  full: number;
}

// A bar of a few pixels for the stalls in it: time lost in time passed.
export function stallSteps(list: Stall[], area: Area): Step[] {
  const width = 4;
  const count = Math.max(1, Math.floor(area.width / width));
  const scale = Math.max(area.to - area.from, 1e-9) / count;
  const sums = Array.from({ length: count }, () => ({ time: 0, some: 0, full: 0 }));
  for (const stall of list) {
    const length = Math.max(stall.to - stall.from, 1e-9);
    const first = Math.max(0, Math.floor((stall.from - area.from) / scale));
    const last = Math.min(count - 1, Math.floor((stall.to - area.from) / scale));
    for (let i = first; i <= last; ++i) {
      const begin = area.from + i * scale;
      const part = Math.min(stall.to, begin + scale) - Math.max(stall.from, begin);
      if (part <= 0) continue;
      const sum = sums[i]!;
      sum.time += part;
      sum.some += (stall.some / 1e9) * (part / length);
      sum.full += (stall.full / 1e9) * (part / length);
    }
  }
  return sums.flatMap(({ time, some, full }, i) =>
    time > 0 ? [{ x: area.left + i * width, width: width - 1, some: Math.min(1, some / time), full: Math.min(1, full / time) }] : []);
}

const LANE = 20;

export function PressureLane({ machine, area }: { machine: Machine; area: Area }): ComponentChildren {
  const list = stalls(machine);
  const steps = stallSteps(list, area);
  const most = Math.max(0, ...steps.map((step) => step.some));
  // Small stalls are seen and large ones stay what they are.
  const top = Math.max(most, 0.02);
  const height = (share: number): number => (share > 0 ? Math.max(1, (share / top) * (LANE - 4)) : 0);
  const words = list.length === 0 ? "not known" : most === 0 ? "no time stalled" : `up to ${percent(most, 1)} % stalled`;
  return (
    <svg class="lane" width="100%" height={LANE + 2} role="img" aria-label={`pressure: share of the time in which tasks waited for memory, ${words}`}>
      <text x={area.left - 8} y={LANE - 4} text-anchor="end" font-size={11 * textScale()} fill="var(--t2)">pressure</text>
      <line x1={area.left} x2={area.left + area.width} y1={LANE} y2={LANE} stroke="var(--line)" />
      {steps.filter((step) => step.some > 0).map((step) => (
        <g>
          <rect x={step.x} y={LANE - height(step.some)} width={step.width} height={height(step.some)} fill="var(--line2)" />
          <rect x={step.x} y={LANE - height(step.full)} width={step.width} height={height(step.full)} fill="var(--total)" />
          <title>{`some task waited ${percent(step.some, 1)} % of the time, all ${percent(step.full, 1)} %`}</title>
        </g>
      ))}
      {area.width > 400 && <text x={area.left + area.width + 14} y={LANE - 4} font-size={11 * textScale()} fill="var(--t2)">{words}</text>}
    </svg>
  );
}
