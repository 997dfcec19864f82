// The recording above a view that is of one of its moments: how high it was,
// where the moment and the base are, and another moment by pointer or arrows.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { heightAt, markAt } from "./bands";
import type { Timeline } from "./data";
import { counted, momentClock, size } from "./format";
import { baseIndex, choosePeak, momentIndex } from "./moment";
import { momentName, momentTreemap } from "./momentmap";
import { base, moment } from "./state";
import { TreemapView } from "./treemap";
import { useWidth } from "./width";

const HEIGHT = 44;

// Where in the span each tick is, and how high it stands.
function outline({ ticks, elapsed_ns: whole }: Timeline, heightOf: (at: number) => number, width: number): string {
  const heights = ticks.id.map((_, at) => heightOf(at));
  const most = heights.reduce((high, one) => Math.max(high, one), 1);
  const points = ticks.elapsed_ns.map((ns, at) =>
    `${((ns / Math.max(whole, 1)) * width).toFixed(1)} ${(HEIGHT - (heights[at]! / most) * (HEIGHT - 2)).toFixed(1)}`);
  return `M0 ${HEIGHT}L${points.join("L")}L${width} ${HEIGHT}Z`;
}

interface OutlineProps {
  timeline: Timeline;
  heightOf(at: number): number;
  index: number | null;
  compared?: number;
  isFixed?: boolean; // no other moment can be shown
}

export function Outline({ timeline, heightOf, index, compared, isFixed }: OutlineProps): ComponentChildren {
  const [host, width] = useWidth();
  const path = useMemo(() => (width > 0 ? outline(timeline, heightOf, width) : ""), [timeline, width]);
  const x = (at: number): number => (timeline.ticks.elapsed_ns[at]! / Math.max(timeline.elapsed_ns, 1)) * width;
  const at = index ?? timeline.ticks.id.length - 1;
  return (
    <div ref={host} class="outline">
      <svg width={width} height={HEIGHT} aria-hidden="true">
        <path d={path} fill="var(--bg3)" stroke="var(--t3)" />
        {compared !== undefined && <line x1={x(compared)} x2={x(compared)} y1="0" y2={HEIGHT} stroke="var(--ink)" stroke-dasharray="4 3" />}
        {index !== null && <line x1={x(index)} x2={x(index)} y1="0" y2={HEIGHT} stroke="var(--ink)" stroke-width="2" />}
      </svg>
      {!isFixed && (
        <input
          type="range"
          aria-label="moment"
          aria-valuetext={`${momentClock(timeline.ticks.elapsed_ns[at]!, timeline.elapsed_ns)}, ${size(heightOf(at))}`}
          min={0}
          max={timeline.elapsed_ns}
          step="any"
          value={timeline.ticks.elapsed_ns[at]}
          onInput={(event) => (moment.value = nearest(timeline, parseFloat(event.currentTarget.value)))}
          onKeyDown={(event) => {
            const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
            if (by === undefined) return;
            event.preventDefault();
            moment.value = Math.max(0, Math.min(timeline.ticks.id.length - 1, at + by));
          }}
        />
      )}
    </div>
  );
}

export function MomentStrip({ timeline, index, compared }: { timeline: Timeline; index: number; compared: number }): ComponentChildren {
  return (
    <div class="momentstrip">
      <div class="bar">
        <h2>At {momentName(timeline, index)}</h2>
        <span class="note">{markAt(timeline, index)}{size(heightAt(timeline, index))} in {counted(timeline.ticks.process_count[index]!, "process", "processes")}</span>
        <span class="push note">changes are since {momentName(timeline, compared)}</span>
        <button class="control" onClick={() => (base.value = index)}>base here <kbd>b</kbd></button>
        <button class="control" onClick={() => choosePeak()}>peak <kbd>p</kbd></button>
      </div>
      <Outline timeline={timeline} heightOf={(at) => heightAt(timeline, at)} index={index} compared={compared} />
    </div>
  );
}

// The drawn tick that is nearest to a time.
export function nearest(timeline: Timeline, elapsed: number): number {
  const times = timeline.ticks.elapsed_ns;
  let found = 0;
  times.forEach((at, index) => {
    if (Math.abs(at - elapsed) < Math.abs(times[found]! - elapsed)) found = index;
  });
  return found;
}

// Changes are since the base, or since the start.
export function MomentTreemap({ timeline }: { timeline: Timeline }): ComponentChildren {
  const index = momentIndex(timeline);
  const compared = baseIndex(timeline) ?? 0;
  const now = useMemo(() => momentTreemap(timeline, index), [timeline, index]);
  const before = useMemo(() => momentTreemap(timeline, compared), [timeline, compared]);
  return (
    <>
      <MomentStrip timeline={timeline} index={index} compared={compared} />
      <TreemapView data={now} base={before} against={momentName(timeline, compared)} />
    </>
  );
}
