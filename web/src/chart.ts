// The stacked chart over time: scales, axes and the cursor are uPlot's, the
// areas are drawn here, because each must be parted from the next, swap hangs
// below zero and what was not measured is not joined.
import uPlot from "uplot";
import type { Layer } from "./bands";
import { drawLabels } from "./chart_labels";
import { drawBase, drawFlag, write } from "./chart_marks";
import { kindOf, type Theme } from "./colours";
import { clock, size } from "./format";
import { bandColour, FONT, hatch, layerFill, token } from "./paint";
import { followGestures } from "./gestures";
import { textScale } from "./width";

export interface Gap {
  from: number; // seconds since the start
  to: number;
  label: string;
}

export interface Flag {
  at: number; // seconds
  bytes: number;
  text: string;
}

export interface Line {
  bytes: number;
  text: string;
  dash: number[];
}

// One that may change over time; NaN where it is not known.
export interface Curve {
  values: Float64Array;
  text: string; // above its begin; empty: it is named beside the chart
  names: string[]; // beside it, the longest first
  dash: number[];
  isLimit?: boolean; // in ink, and in steps: it holds until it is set anew
  isBold?: boolean; // in ink, parted from the areas by ground
}

export interface ChartData {
  seconds: Float64Array;
  layers: Layer[];
  below: Float64Array | null; // swapped out
  resident: Float64Array | null; // drawn as a line
  gaps: Gap[];
  flag: Flag | null;
  lines: Line[];
  curves?: Curve[];
  moment: number; // index of the chosen tick
  base?: number | null; // what it is compared with
  // A number for each tick: where it changes other layers are known, so areas
  // are not joined. What is not 0 reaches to its neighbours: it is not known
  // since when.
  parts?: Uint8Array;
  draw?: (plot: uPlot) => void; // on top of all but the moment and the flag
  hasHeadroom?: boolean; // false: what is drawn is the whole of something
  theme: Theme;
  labelRoom: number; // at the right, in CSS pixels
}

export interface ChartEvents {
  choose(index: number): void;
  zoom(span: [number, number] | null): void;
  compare?(from: number, to: number): void; // two of the ticks
  hover(index: number | null, x: number, y: number): void;
}

export const LEFT = 52; // as wide as the labels at the left are

export function roundSteps(most: number, least = 0): number[] {
  // Steps that are round in powers of two: 2 GiB, 512 MiB.
  if (most <= least) return [least];
  const span = most - least;
  let step = 2 ** Math.ceil(Math.log2(span / 5));
  if (span / step < 2.5) step /= 2;
  const values = [];
  for (let value = Math.ceil(least / step) * step; value <= most; value += step) values.push(value);
  return values;
}

export class Chart {
  private readonly plot: uPlot;
  private data: ChartData;
  private tops: Float64Array[] = [];
  private selectsSpan = false; // with Shift held

  constructor(
    host: HTMLElement,
    data: ChartData,
    events: ChartEvents,
    width: number,
    height: number,
  ) {
    this.data = data;
    this.stack();
    const scale = textScale();
    this.plot = new uPlot(
      {
        width,
        height,
        padding: [28 * scale, data.labelRoom * scale, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
        scales: {
          x: { time: false },
          y: { range: () => this.range() },
        },
        axes: [
          {
            stroke: () => token("t2"),
            font: `${11 * scale}px ${FONT}`,
            grid: { show: false },
            space: 76 * scale,
            ticks: { stroke: () => token("line2"), size: 4, width: 1 },
            size: 26 * scale,
            values: (_, splits) => splits.map((s) => this.timeLabel(s)),
            incrs: [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 720, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400],
          },
          {
            stroke: () => token("t2"),
            font: `${11 * scale}px ${FONT}`,
            size: LEFT * scale,
            gap: 6,
            ticks: { show: false },
            grid: { stroke: () => token("line"), width: 1 },
            splits: () => roundSteps(this.range()[1]),
            values: (_, splits) => splits.map((bytes) => (bytes === 0 ? "0" : size(bytes).replace(/\.0+(?=\D)/, ""))),
          },
        ],
        series: [{}, { show: true, stroke: "transparent", width: 0, points: { show: false } }],
        hooks: {
          drawAxes: [() => this.drawAreas()],
          draw: [() => this.drawMarks()],
          setSelect: [
            (plot) => {
              if (plot.select.width < 4) return;
              const from = plot.posToVal(plot.select.left, "x");
              const to = plot.posToVal(plot.select.left + plot.select.width, "x");
              const [first, last] = [plot.posToIdx(plot.select.left), plot.posToIdx(plot.select.left + plot.select.width)];
              plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
              if (this.selectsSpan && events.compare) events.compare(first, last);
              else events.zoom([Math.max(from, 0), to]);
            },
          ],
          setCursor: [
            (plot) => {
              const { left, top, idx } = plot.cursor;
              const inside = left !== undefined && left >= 0 && idx !== null && idx !== undefined;
              events.hover(inside ? idx : null, (left ?? 0) + LEFT * scale, top ?? 0);
            },
          ],
        },
      },
      [data.seconds, this.tops[this.tops.length - 1] ?? new Float64Array(data.seconds.length)] as unknown as uPlot.AlignedData,
      host,
    );
    let pressedAt = 0;
    this.plot.over.addEventListener("mousedown", (event) => {
      pressedAt = event.clientX;
      this.selectsSpan = event.shiftKey;
    });
    this.plot.over.addEventListener("mouseup", (event) => {
      if (Math.abs(event.clientX - pressedAt) < 4 && this.plot.cursor.idx != null) {
        events.choose(this.plot.cursor.idx);
      }
    });
    this.plot.over.addEventListener("dblclick", () => events.zoom(null));
    followGestures(this.plot, {
      last: () => this.data.seconds[this.data.seconds.length - 1] ?? 0,
      span: () => this.span(),
      choose: events.choose,
      zoom: events.zoom,
    });
  }

  update(data: ChartData, zoom: [number, number] | null): void {
    this.data = data;
    this.stack();
    const last = data.seconds[data.seconds.length - 1] ?? 1;
    this.plot.batch(() => {
      this.plot.setData(
        [data.seconds, this.tops[this.tops.length - 1] ?? new Float64Array(data.seconds.length)] as unknown as uPlot.AlignedData,
        false,
      );
      this.plot.setScale("x", { min: zoom?.[0] ?? 0, max: Math.max(zoom?.[1] ?? last, 1e-3) });
    });
    this.plot.redraw(true, true);
  }

  resize(width: number, height: number): void {
    this.plot.setSize({ width, height });
  }

  span(): [number, number] {
    return [this.plot.scales["x"]!.min ?? 0, this.plot.scales["x"]!.max ?? 1];
  }

  // Of the plotting area, in CSS pixels.
  get area(): { left: number; width: number } {
    const ratio = devicePixelRatio;
    return { left: this.plot.bbox.left / ratio, width: this.plot.bbox.width / ratio };
  }

  destroy(): void {
    this.plot.destroy();
  }

  private timeLabel(seconds: number): string {
    const [from, to] = this.plot ? this.span() : [0, 1];
    if (to - from < 10) return clock(seconds * 1e9, true);
    return to < 3600 ? clock(seconds * 1e9).slice(3) : clock(seconds * 1e9);
  }

  private stack(): void {
    const { layers, seconds } = this.data;
    let below = new Float64Array(seconds.length);
    this.tops = layers.map((layer) => {
      const top = new Float64Array(seconds.length);
      for (let i = 0; i < top.length; ++i) top[i] = below[i]! + layer.values[i]!;
      below = top;
      return top;
    });
  }

  private range(): [number, number] {
    const most = (values: Float64Array | null | undefined): number => {
      let found = 0;
      for (const value of values ?? []) if (value > found) found = value;
      return found;
    };
    let top = Math.max(most(this.tops[this.tops.length - 1]), most(this.data.resident));
    for (const line of this.data.lines) {
      // A limit far above what was used would flatten the picture.
      if (line.bytes < top * 1.8) top = Math.max(top, line.bytes);
    }
    for (const { values } of this.data.curves ?? []) {
      const highest = most(values);
      if (highest < top * 1.8) top = Math.max(top, highest);
    }
    const bottom = most(this.data.below);
    return [-bottom, Math.max(this.data.hasHeadroom === false ? top : top * 1.04, 4096)];
  }

  private visibleSpan(): [number, number] {
    const { seconds } = this.data;
    const [from, to] = this.span();
    let first = 0;
    let last = seconds.length - 1;
    while (first < last && seconds[first + 1]! < from) ++first;
    while (last > first && seconds[last - 1]! > to) --last;
    return [first, last];
  }

  // Runs of ticks without a gap between them.
  private runs(byParts = true): [number, number][] {
    const { seconds, gaps, parts } = this.data;
    const [first, last] = this.visibleSpan();
    const runs: [number, number][] = [];
    let start = first;
    let gap = 0;
    for (let i = first + 1; i <= last; ++i) {
      while (gap < gaps.length && gaps[gap]!.to <= seconds[i - 1]!) ++gap;
      const isParted = gap < gaps.length && gaps[gap]!.from < seconds[i]!;
      if (isParted || (byParts && parts && parts[i] !== parts[i - 1])) {
        runs.push([start, i - 1]);
        start = i;
      }
    }
    runs.push([start, last]);
    return runs;
  }

  private drawAreas(): void {
    const { ctx, bbox } = this.plot;
    const { layers, seconds, below, theme, gaps, parts } = this.data;
    const ratio = devicePixelRatio;
    const reaches = (index: number): boolean => parts !== undefined && parts[index]! > 0;
    const x = (index: number): number => this.plot.valToPos(seconds[index]!, "x", true);
    const y = (bytes: number): number => this.plot.valToPos(bytes, "y", true);
    const ground = token("bg");
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const fillBetween = (upper: Float64Array, lower: Float64Array | null, sign: number, fill: string | CanvasPattern): void => {
      for (const [first, last] of this.runs()) {
        const [from, to] = [Math.max(0, first - 1), Math.min(seconds.length - 1, last + 1)];
        ctx.beginPath();
        ctx.moveTo(x(reaches(first) ? from : first), y(sign * upper[first]!));
        for (let i = first; i <= last; ++i) ctx.lineTo(x(i), y(sign * upper[i]!));
        if (reaches(first)) ctx.lineTo(x(to), y(sign * upper[last]!)), ctx.lineTo(x(to), y(lower ? lower[last]! : 0));
        else if (first === last) ctx.lineTo(x(first) + ratio, y(sign * upper[first]!));
        for (let i = last; i >= first; --i) ctx.lineTo(x(i), y(lower ? lower[i]! : 0));
        if (reaches(first)) ctx.lineTo(x(from), y(lower ? lower[first]! : 0));
        ctx.closePath();
        ctx.fillStyle = fill;
        ctx.fill();
      }
    };
    let place = 0;
    layers.forEach((layer, at) => {
      const colour = bandColour(
        layer.band?.category,
        layer.band ? layer.place ?? place++ : null,
        theme,
      );
      const fill = layerFill(ctx, layer.band?.category, colour, ground, theme, ratio);
      fillBetween(this.tops[at]!, at > 0 ? this.tops[at - 1]! : null, 1, fill);
    });
    // A hairline of ground between neighbours.
    ctx.strokeStyle = ground;
    ctx.lineWidth = Math.max(1, ratio * 0.75);
    for (let at = 0; at + 1 < this.tops.length; ++at) {
      for (const [first, last] of this.runs()) {
        ctx.beginPath();
        for (let i = first; i <= last; ++i) ctx.lineTo(x(i), y(this.tops[at]![i]!));
        ctx.stroke();
      }
    }
    if (below) fillBetween(below, null, -1, hatch(ctx, kindOf("swap").fill[theme], ground, ratio));
    const unmeasured = hatch(ctx, token("line2"), ground, ratio);
    for (const gap of gaps) {
      const from = this.plot.valToPos(gap.from, "x", true);
      const to = this.plot.valToPos(gap.to, "x", true);
      ctx.fillStyle = unmeasured;
      ctx.fillRect(from, bbox.top, Math.max(to - from, 2 * ratio), bbox.height);
    }
    ctx.strokeStyle = token("t3");
    ctx.lineWidth = ratio;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y(0));
    ctx.lineTo(bbox.left + bbox.width, y(0));
    ctx.stroke();
    this.drawResident(x, y);
    ctx.restore();
    drawLabels(this.plot, this.data, this.tops, this.visibleSpan()[1]);
  }

  private drawResident(x: (index: number) => number, y: (bytes: number) => number): void {
    const { resident } = this.data;
    if (!resident) return;
    const { ctx } = this.plot;
    ctx.strokeStyle = token("t2");
    ctx.lineWidth = devicePixelRatio;
    for (const [first, last] of this.runs()) {
      ctx.beginPath();
      for (let i = first; i <= last; ++i) ctx.lineTo(x(i), y(resident[i]!));
      ctx.stroke();
    }
  }

  // One label may not lie on another: the second stands at the other end.
  private drawCurves(taken: number[]): void {
    const { ctx, bbox } = this.plot;
    const { seconds, curves } = this.data;
    const ratio = devicePixelRatio;
    for (const { values, text, dash, isLimit, isBold } of curves ?? []) {
      ctx.strokeStyle = token(isLimit || isBold ? "ink" : "t2");
      ctx.lineWidth = (isBold ? 2 : 1) * ratio;
      ctx.setLineDash(dash.map((length) => length * ratio));
      let labelAt = NaN;
      let begin = bbox.left;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.beginPath();
      // A line goes on where only the areas below it are others.
      for (const [first, last] of this.runs(false)) {
        let before = NaN;
        for (let i = first; i <= last; ++i) {
          const value = values[i]!;
          if (!Number.isNaN(value)) {
            const [x, y] = [this.plot.valToPos(seconds[i]!, "x", true), this.plot.valToPos(value, "y", true)];
            if (isLimit && !Number.isNaN(before)) ctx.lineTo(x, this.plot.valToPos(before, "y", true));
            if (Number.isNaN(before)) ctx.moveTo(x, y);
            else ctx.lineTo(x, y);
            if (Number.isNaN(labelAt)) [labelAt, begin] = [y, Math.max(x, bbox.left)];
          }
          before = value;
        }
      }
      if (isBold) this.strokeGround(ratio);
      ctx.stroke();
      ctx.restore();
      ctx.setLineDash([]);
      const at = labelAt - 2 * ratio;
      if (!text || Number.isNaN(labelAt) || labelAt < bbox.top) continue;
      const isTaken = taken.some((one) => Math.abs(one - at) < 14 * ratio);
      taken.push(at);
      ctx.textBaseline = "bottom";
      const textWidth = ctx.measureText(text).width;
      const left = isTaken ? bbox.left + bbox.width - textWidth - 6 * ratio : begin + 6 * ratio;
      write(ctx, text, left, at, isBold);
    }
  }

  // Below what is stroked next, a little wider.
  private strokeGround(ratio: number): void {
    const { ctx } = this.plot;
    ctx.save();
    ctx.strokeStyle = token("bg");
    ctx.lineWidth = 5 * ratio;
    ctx.stroke();
    ctx.restore();
  }

  private drawMarks(): void {
    const { ctx, bbox } = this.plot;
    const { seconds, moment, flag, lines, gaps } = this.data;
    const ratio = devicePixelRatio * textScale();
    const ink = token("ink");
    ctx.save();
    ctx.font = `${11 * ratio}px ${FONT}`;
    ctx.textAlign = "left";
    const labelled: number[] = [];
    const written: number[] = [];
    for (const line of lines) {
      const at = this.plot.valToPos(line.bytes, "y", true);
      if (at < bbox.top) continue;
      ctx.strokeStyle = ink;
      ctx.lineWidth = ratio;
      ctx.setLineDash(line.dash.map((length) => length * ratio));
      ctx.beginPath();
      ctx.moveTo(bbox.left, at);
      ctx.lineTo(bbox.left + bbox.width, at);
      ctx.stroke();
      ctx.setLineDash([]);
      // Not where the line of the peak would strike it out, and not beyond the
      // top: then below both.
      const peak = flag ? this.plot.valToPos(flag.bytes, "y", true) : NaN;
      const isNear = Math.abs(at - peak) < 16 * ratio;
      const isBelow = isNear || at - bbox.top < 14 * ratio;
      ctx.textBaseline = isBelow ? "top" : "bottom";
      const lower = isNear ? Math.max(at, peak) : at;
      write(ctx, line.text, bbox.left + 6 * ratio, isBelow ? lower + 3 * ratio : at - 2 * ratio);
      written.push(isBelow ? lower + 9 * ratio : at - 8 * ratio);
      labelled.push(at - 2 * ratio);
    }
    ctx.setLineDash([]);
    this.drawCurves(labelled);
    this.data.draw?.(this.plot);
    ctx.textBaseline = "middle";
    let taken = bbox.left;
    // All on one height, where no line of a height has its words.
    let high = bbox.top + bbox.height * 0.3;
    while (written.some((at) => Math.abs(at - high) < 14 * ratio)) high += 14 * ratio;
    for (const gap of gaps) {
      const from = this.plot.valToPos(gap.from, "x", true);
      const width = ctx.measureText(gap.label).width;
      if (from - width - 8 * ratio < taken || from > bbox.left + bbox.width) continue;
      taken = from + 8 * ratio;
      write(ctx, gap.label, from - width - 6 * ratio, high);
    }
    const chosen = this.plot.valToPos(seconds[moment] ?? 0, "x", true);
    if (chosen >= bbox.left - 1 && chosen <= bbox.left + bbox.width + 1) {
      ctx.strokeStyle = ink;
      ctx.lineWidth = ratio;
      ctx.beginPath();
      ctx.moveTo(chosen, bbox.top - 4 * ratio);
      ctx.lineTo(chosen, bbox.top + bbox.height);
      ctx.stroke();
    }
    drawBase(this.plot, this.data, chosen);
    if (flag) drawFlag(this.plot, flag, this.data.labelRoom);
    ctx.restore();
  }
}
