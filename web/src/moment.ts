// The chosen moment.
import { heightAt } from "./bands";
import type { Timeline } from "./data";
import { isLive, reports } from "./served";
import { base, moment } from "./state";

// Unless one was chosen: the peak, and of what is live the newest.
export function momentIndex(timeline: Timeline): number {
  const last = timeline.ticks.id.length - 1;
  return Math.min(moment.value ?? (isLive() ? last : timeline.peak_index), last);
}

const LEAST_FALL = 0.05; // of the highest

// Ticks from which it falls by a twentieth of the highest before it rises above
// them again, in order of time; the highest is always among them.
export function peaks(timeline: Timeline): number[] {
  const fall = LEAST_FALL * heightAt(timeline, timeline.peak_index);
  const found: number[] = [];
  let [high, low, rises] = [0, 0, true];
  for (let at = 0; at < timeline.ticks.id.length; ++at) {
    const height = heightAt(timeline, at);
    if (height > heightAt(timeline, high)) high = at;
    if (height < heightAt(timeline, low)) low = at;
    if (rises && height < heightAt(timeline, high) - fall) {
      found.push(high);
      [low, rises] = [at, false];
    } else if (!rises && height > heightAt(timeline, low) + fall) {
      [high, rises] = [at, true];
    }
  }
  if (rises) found.push(high);
  if (!found.includes(timeline.peak_index)) found.push(timeline.peak_index);
  return found.sort((a, b) => a - b);
}

// The highest; from a peak on the next one, or the one before.
export function choosePeak(by: 1 | -1 = 1): void {
  const { timeline } = reports.value;
  if (!timeline || timeline.ticks.id.length === 0) return;
  const all = peaks(timeline);
  const now = momentIndex(timeline);
  const at = all.indexOf(now);
  if (by > 0) {
    moment.value = at < 0 || moment.value === null ? timeline.peak_index : all[(at + 1) % all.length]!;
  } else {
    moment.value = all.filter((one) => one < now).pop() ?? all[all.length - 1]!;
  }
}

// Index of the tick that is compared with; null where none was chosen.
export const baseIndex = (timeline: Timeline): number | null =>
  base.value === null ? null : Math.min(base.value, timeline.ticks.id.length - 1);
