// The chosen moment.
import type { Timeline } from "./data";
import { isLive, reports } from "./served";
import { base, moment } from "./state";

// Unless one was chosen: the peak, and of what is live the newest.
export function momentIndex(timeline: Timeline): number {
  const last = timeline.ticks.id.length - 1;
  return Math.min(moment.value ?? (isLive() ? last : timeline.peak_index), last);
}

export function choosePeak(): void {
  moment.value = reports.value.timeline?.peak_index ?? null;
}

// Index of the tick that is compared with; null where none was chosen.
export const baseIndex = (timeline: Timeline): number | null =>
  base.value === null ? null : Math.min(base.value, timeline.ticks.id.length - 1);
