// Memory over time and what it was made of at the chosen moment.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { ChartData, Curve, Gap } from "./chart";
import { chargeColumn, column, heightAt, isBound, isPartial, layersOf, markAt, type Layer } from "./bands";
import { ChartTip } from "./chart_tip";
import type { Reports, Timeline } from "./data";
import { change, count, duration, momentClock, size, visible } from "./format";
import { EventLane, PressureLane } from "./lanes";
import { baseIndex, choosePeak, momentIndex } from "./moment";
import { bandColour } from "./paint";
import { isLive } from "./served";
import { grouping, GROUPINGS, metric, METRICS, moment, theme, view, zoom } from "./state";
import { Composition, metricName } from "./table";
import { useChart } from "./use_chart";
import { textScale, useWidth } from "./width";

export function gapsOf(timeline: Timeline): Gap[] {
  const gaps: Gap[] = [];
  const period = timeline.period_ns / 1e9;
  for (const event of timeline.events) {
    if (event.kind !== "missed") continue;
    const from = event.elapsed_ns / 1e9 - period;
    const to = from + (event.duration_ns ?? 0) / 1e9 + period;
    const before = gaps[gaps.length - 1];
    if (before && from <= before.to + period / 2) {
      before.to = Math.max(before.to, to);
    } else {
      gaps.push({ from, to, label: "" });
    }
  }
  for (const gap of gaps) gap.label = `${duration((gap.to - gap.from) * 1e9)} not measured`;
  return gaps;
}

function below(timeline: Timeline): Float64Array | null {
  const sum = new Float64Array(timeline.ticks.id.length);
  for (const band of timeline.kinds) {
    if (!band.swap_bytes) continue;
    const values = column(band, "swap", sum.length);
    for (let i = 0; i < sum.length; ++i) sum[i]! += values[i]!;
  }
  return sum.some((value) => value > 0) ? sum : null;
}

// The kernel's own counters. They count a shared page once for each process: a
// line far above the areas would only flatten them.
function residentLine(timeline: Timeline, layers: Layer[]): Float64Array | null {
  if (metric.value !== "pss" && metric.value !== "rss") return null;
  let highest = 0;
  for (let i = 0; i < timeline.ticks.id.length; ++i) {
    let sum = 0;
    for (const layer of layers) sum += layer.values[i]!;
    if (sum > highest) highest = sum;
  }
  const resident = Float64Array.from(timeline.ticks.resident_bytes);
  return resident.every((bytes) => bytes <= 1.5 * highest) ? resident : null;
}

// What the kernel charged the group with and how far it may go, where the
// processes are one group. The charge is of all in it, cache and kernel memory
// too, so it is left out where it would flatten the rest.
export function chargeCurves(timeline: Timeline, highest: number): Curve[] {
  const { charge } = timeline;
  if (!charge) return [];
  const tickCount = timeline.ticks.id.length;
  const most = (values: Float64Array): number => values.reduce((high, value) => (value > high ? value : high), 0);
  const curves: Curve[] = [];
  const limit = chargeColumn(charge, "limit_bytes", tickCount);
  const limitBytes = most(limit);
  if (limitBytes > 0) curves.push({ values: limit, text: `limit of the cgroup ${size(limitBytes)}`, names: [], dash: [6, 4], isLimit: true });
  const charged = chargeColumn(charge, "charged_bytes", tickCount);
  const chargedBytes = most(charged);
  if (chargedBytes > 0 && chargedBytes <= 1.8 * highest) {
    curves.push({ values: charged, text: "", names: ["charged to the cgroup", "charged"], dash: [3, 2] });
  }
  return curves;
}

function beside(timeline: Timeline, index: number): [string, number][] {
  const list: [string, number][] = [["resident, by the kernel’s counters", timeline.ticks.resident_bytes[index]!]];
  const { charge } = timeline;
  if (!charge) return list;
  const tickCount = timeline.ticks.id.length;
  for (const [what, of] of [["charged to the cgroup", "charged_bytes"], ["its limit", "limit_bytes"]] as const) {
    const bytes = chargeColumn(charge, of, tickCount)[index]!;
    if (!Number.isNaN(bytes)) list.push([what, bytes]);
  }
  return list;
}

interface TooltipProps {
  timeline: Timeline;
  layers: Layer[];
  index: number;
  x: number;
  y: number;
  more?: [string, number][]; // beside the sum
}

export function Tooltip({ timeline, layers, index, x, y, more = [] }: TooltipProps): ComponentChildren {
  let place = 0;
  const coloured = layers.map((layer) => ({
    layer,
    colour: bandColour(layer.band?.category, layer.band ? place++ : null, theme.value),
  }));
  const sum = layers.reduce((total, layer) => total + layer.values[index]!, 0);
  return (
    <ChartTip x={x} y={y} time={momentClock(timeline.ticks.elapsed_ns[index]!, timeline.elapsed_ns)}>
      {coloured.reverse().map(({ layer, colour }) => (
        <tr>
          <td><span class="swatch" style={{ backgroundColor: colour }} />{visible(layer.label).slice(-48)}</td>
          <td class="n">{size(layer.values[index]!)}</td>
        </tr>
      ))}
      <tr><td><b>sum</b></td><td class="n"><b>{size(sum)}</b></td></tr>
      {more.map(([what, bytes]) => <tr><td>{what}</td><td class="n">{size(bytes)}</td></tr>)}
    </ChartTip>
  );
}

// What stands around the chart on a wide screen: header, strip, lanes, footer.
const ABOVE_AND_BELOW = 330;

export function TimelineView({ reports }: { reports: Reports }): ComponentChildren {
  const timeline = reports.timeline!;
  const [host, width] = useWidth();
  const seconds = useMemo(() => Float64Array.from(timeline.ticks.elapsed_ns, (ns) => ns / 1e9), [timeline]);
  const gaps = useMemo(() => gapsOf(timeline), [timeline]);
  const swapped = useMemo(() => below(timeline), [timeline]);
  const layers = useMemo(
    () => layersOf(timeline, grouping.value, metric.value),
    [timeline, grouping.value, metric.value],
  );
  const index = momentIndex(timeline);
  const compared = baseIndex(timeline);
  const isWide = width >= 700;
  // On a wide screen the table stands beside it: it may be as high as the screen.
  const isDouble = innerWidth >= 2200;
  const height = isDouble ? Math.max(350, innerHeight - ABOVE_AND_BELOW * textScale()) : isWide ? 350 : 260;
  const peakBytes = heightAt(timeline, timeline.peak_index);
  const boundCount = timeline.ticks.id.filter((_, at) => isBound(timeline, at)).length;
  const peakTime = timeline.ticks.elapsed_ns[timeline.peak_index] ?? 0;
  const mark = reports.peak?.marks.filter((one) => one.is_group && !one.is_older).sort((a, b) => b.bytes - a.bytes)[0];
  const data: ChartData = {
    seconds,
    layers,
    below: metric.value === "swap" ? null : swapped,
    resident: residentLine(timeline, layers),
    gaps,
    flag: metric.value === "pss" ? { at: peakTime / 1e9, bytes: peakBytes, text: `peak ${markAt(timeline, timeline.peak_index)}${size(peakBytes)} · ${momentClock(peakTime, timeline.elapsed_ns)}` } : null,
    lines: mark ? [{ bytes: mark.bytes, text: `${visible(mark.label)} ${size(mark.bytes)}`, dash: [2, 3] }] : [],
    curves: metric.value === "pss" ? chargeCurves(timeline, peakBytes) : [],
    moment: index,
    base: compared,
    theme: theme.value,
    labelRoom: isWide ? 172 : 24,
  };
  const { hover, area } = useChart(host, width, height, data);
  const drawn = timeline.ticks.id.length;
  return (
    <div class="overtime">
      <div>
        <div class="bar">
          <h2>Memory over time</h2>
          <span class="choices" role="group" aria-label="group by">
            {GROUPINGS.map((one) => (
              <button aria-pressed={grouping.value === one} onClick={() => (grouping.value = one)}>
                {one === "kind" ? "by kind" : one}
              </button>
            ))}
          </span>
          <select
            class="control"
            aria-label="metric"
            value={metric.value}
            onChange={(event) => (metric.value = METRICS.find((one) => one === event.currentTarget.value) ?? "pss")}
          >
            {METRICS.map((one) => <option value={one}>{metricName(one)}</option>)}
          </select>
          {compared === null ? (
            <span class="push note hint">drag to zoom, Shift-wheel to pan, click to choose a moment, Shift-drag to compare two</span>
          ) : (
            <button class="control push" id="compare" onClick={() => (view.value = "compare")}>
              {change(heightAt(timeline, index) - heightAt(timeline, compared))} since {momentClock(timeline.ticks.elapsed_ns[compared]!, timeline.elapsed_ns)}: compare
            </button>
          )}
          {isLive() && <button class="control" aria-pressed={moment.value === null} onClick={() => (moment.value = null)}>now <kbd>End</kbd></button>}
          <button class="control" onClick={() => choosePeak()}>peak <kbd>p</kbd></button>
          <button class="control" onClick={() => (zoom.value = null)}>all <kbd>0</kbd></button>
        </div>
        <div
          class="chart"
          tabIndex={0}
          role="img"
          aria-label={`memory over ${duration(timeline.elapsed_ns)}, highest ${size(peakBytes)} at ${momentClock(peakTime, timeline.elapsed_ns)}; at the moment ${layers.map((layer) => `${visible(layer.label)} ${size(layer.values[index]!)}`).join(", ")}`}
        >
          <div ref={host} />
          {hover && <Tooltip timeline={timeline} layers={layers} index={hover.index} x={hover.x} y={hover.y} more={beside(timeline, hover.index)} />}
        </div>
        {width > 0 && <EventLane events={timeline.events} area={area} untold={timeline.untold_event_count} />}
        {width > 0 && reports.machine && <PressureLane machine={reports.machine} area={area} />}
        {boundCount > 0 && (
          <p class="note unknown">
            At {count(boundCount)} of {count(drawn)} moments sharing was not read of all. `record --budget none` reads it.
          </p>
        )}
        {drawn < timeline.tick_count && (
          <p class="note">
            {count(timeline.tick_count)} samples, of which {count(drawn)} are drawn: the lowest and the highest of each column.
          </p>
        )}
      </div>
      <div>
        <Composition timeline={timeline} index={index} mark={mark} by={grouping.value} />
        {isDouble && !isPartial(timeline) && GROUPINGS.filter((one) => one !== grouping.value && one !== "cgroup").slice(0, 2).map((one) => (
          <Composition key={one} timeline={timeline} index={index} by={one} isBeside />
        ))}
      </div>
    </div>
  );
}
