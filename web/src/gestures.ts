// Wheel and fingers on a chart: Ctrl and the wheel zoom at the pointer, sideways
// or with Shift it pans; a finger moves the moment, two of them zoom. The plain
// wheel scrolls the page.
import type uPlot from "uplot";

export type Span = [number, number];

export interface Gestures {
  last(): number; // the end of all there is
  span(): Span;
  choose(index: number): void;
  zoom(span: Span | null): void;
}

// Around a place, which stays where it is; null: all there is.
export function zoomed([from, to]: Span, at: number, factor: number, last: number): Span | null {
  const next: Span = [Math.max(0, at - (at - from) * factor), Math.min(last, at + (to - at) * factor)];
  return next[0] <= 0 && next[1] >= last ? null : next;
}

// As long as before, and never beyond an end.
export function panned([from, to]: Span, by: number, last: number): Span | null {
  const length = to - from;
  if (length >= last) return null;
  const start = Math.min(Math.max(0, from + by), last - length);
  return [start, start + length];
}

function followWheel(plot: uPlot, { last, span, zoom }: Gestures): void {
  const turn = (event: WheelEvent): void => {
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !isSideways) return;
    const [from, to] = span();
    const moved = (event.deltaX || event.deltaY) / plot.over.clientWidth;
    // Nothing to pan: the wheel is the page's.
    if (!event.ctrlKey && from <= 0 && to >= last()) return;
    event.preventDefault();
    zoom(event.ctrlKey
      ? zoomed([from, to], plot.posToVal(event.offsetX, "x"), event.deltaY < 0 ? 0.8 : 1.25, last())
      : panned([from, to], moved * (to - from), last()));
  };
  plot.over.addEventListener("wheel", turn, { passive: false });
}

function followFingers(plot: uPlot, { last, span, choose, zoom }: Gestures): void {
  const place = (touch: Touch): number => touch.clientX - plot.over.getBoundingClientRect().left;
  let apart = 0;
  const move = (event: TouchEvent): void => {
    const [one, other] = [event.touches[0], event.touches[1]];
    if (!one) return;
    event.preventDefault();
    if (!other) {
      choose(plot.posToIdx(place(one)));
      return;
    }
    const now = Math.max(Math.abs(place(one) - place(other)), 1);
    if (apart > 0) zoom(zoomed(span(), plot.posToVal((place(one) + place(other)) / 2, "x"), apart / now, last()));
    apart = now;
  };
  plot.over.addEventListener("touchmove", move, { passive: false });
  plot.over.addEventListener("touchend", () => (apart = 0));
}

export function followGestures(plot: uPlot, gestures: Gestures): void {
  followWheel(plot, gestures);
  followFingers(plot, gestures);
}
