// The keyboard does everything that the pointer does.
import { viewsOf } from "./app";
import type { Timeline } from "./data";
import { panned } from "./gestures";
import { choosePeak, momentIndex } from "./moment";
import { stepRow, sortByNext } from "./rows";
import { reports, togglePause } from "./served";
import { base, dense, grouping, GROUPINGS, metric, METRICS, moment, next, selected, showsKeys, theme, view, viewKeys, zoom } from "./state";

function zoomBy(timeline: Timeline, factor: number): void {
  const times = timeline.ticks.elapsed_ns;
  const last = (times[times.length - 1] ?? 0) / 1e9;
  const [from, to] = zoom.value ?? [0, last];
  const at = (times[momentIndex(timeline)] ?? 0) / 1e9;
  const half = Math.max(((to - from) / 2) * factor, 0.05);
  const span: [number, number] = [Math.max(0, at - half), Math.min(last, at + half)];
  zoom.value = span[0] <= 0 && span[1] >= last ? null : span;
}

// A moment that leaves what is shown takes it along.
function follow(timeline: Timeline, index: number): void {
  const span = zoom.value;
  if (!span) return;
  const times = timeline.ticks.elapsed_ns;
  const at = times[index]! / 1e9;
  const beyond = at < span[0] ? at - span[0] : at > span[1] ? at - span[1] : 0;
  if (beyond !== 0) zoom.value = panned(span, beyond, (times[times.length - 1] ?? 0) / 1e9);
}

export function followKeys(): void {
  const withTimeline = (work: (timeline: Timeline) => void): void => {
    if (reports.value.timeline) work(reports.value.timeline);
  };
  // With Shift held the base stays where the way began.
  const move = (by: number, spans: boolean): void =>
    withTimeline((timeline) => {
      const last = timeline.ticks.id.length - 1;
      const now = momentIndex(timeline);
      if (spans && base.value === null) base.value = now;
      moment.value = Math.min(last, Math.max(0, now + by));
      follow(timeline, moment.value);
    });
  const actions: Record<string, (event: KeyboardEvent) => void> = {
    ArrowLeft: (event) => move(event.ctrlKey ? -10 : -1, event.shiftKey),
    ArrowRight: (event) => move(event.ctrlKey ? 10 : 1, event.shiftKey),
    p: () => choosePeak(1),
    P: () => choosePeak(-1),
    ArrowUp: () => stepRow(-1),
    ArrowDown: () => stepRow(1),
    n: () => stepRow(1),
    N: () => stepRow(-1),
    s: sortByNext,
    End: () => (moment.value = null),
    b: () =>
      withTimeline((timeline) => {
        const now = momentIndex(timeline);
        base.value = base.value === now ? null : now;
      }),
    " ": (event) => {
      event.preventDefault();
      togglePause();
    },
    "0": () => (zoom.value = null),
    "+": () => withTimeline((timeline) => zoomBy(timeline, 0.5)),
    "=": () => withTimeline((timeline) => zoomBy(timeline, 0.5)),
    "-": () => withTimeline((timeline) => zoomBy(timeline, 2)),
    g: () => (grouping.value = next(GROUPINGS, grouping.value)),
    m: () => (metric.value = next(METRICS, metric.value)),
    t: () => (theme.value = theme.value === "dark" ? "light" : "dark"),
    d: () => (dense.value = !dense.value),
    x: () => document.getElementById("swap")?.click(),
    y: () => document.getElementById("copy")?.click(),
    "/": (event) => {
      event.preventDefault();
      document.getElementById("find")?.focus();
    },
    "?": () => (showsKeys.value = !showsKeys.value),
    Escape: () => {
      showsKeys.value = false;
      selected.value = null;
    },
  };
  addEventListener("keydown", (event) => {
    const element = event.target as HTMLElement;
    if (element.matches("input, select, textarea")) {
      if (event.key === "Escape") element.blur();
      if (event.key === "Enter" && element.id === "find") {
        element.blur();
        (viewKeys.value["n"] ?? (() => stepRow(1)))(event);
      }
      return;
    }
    if (event.altKey || event.metaKey) return;
    // Space presses the button that has the focus.
    if (event.key === " " && element.matches("button, a")) return;
    const asked = viewsOf(reports.value)[parseInt(event.key, 10) - 1];
    if (asked && !event.ctrlKey) view.value = asked;
    const action = viewKeys.value[event.key] ?? actions[event.key];
    if (!action || (event.ctrlKey && !event.key.startsWith("Arrow"))) return;
    if (event.key.startsWith("Arrow")) event.preventDefault();
    action(event);
  });
}
