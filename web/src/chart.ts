// The stacked chart over time: scales, axes and the cursor are uPlot's, the
// areas are drawn here, because each must be parted from the next, swap hangs
// below zero and what was not measured is not joined.
import uPlot from "uplot";
import type { Layer } from "./bands";
import { kindOf, type Theme } from "./colours";
import { clock, size } from "./format";
import { bandColour, fitting, FONT, hatch, layerFill, token } from "./paint";
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
    this.drawLabels(y);
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
      this.write(text, left, at, isBold);
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

  // Names at the right end of their bands, pushed apart, with leader lines.
  private drawLabels(y: (bytes: number) => number): void {
    const { layers, below, theme, labelRoom } = this.data;
    if (labelRoom < 80) return;
    const { ctx, bbox } = this.plot;
    const ratio = devicePixelRatio * textScale();
    // Where all have ended there is nothing to point at.
    let [, last] = this.visibleSpan();
    const whole = this.tops[this.tops.length - 1];
    while (last > 0 && whole?.[last] === 0) --last;
    const step = 16 * ratio;
    const right = bbox.left + bbox.width;
    interface Label {
      text: string[];
      colour: string;
      category: string | undefined;
      dash?: number[]; // of a line
      from: number | null; // null: there is nothing to point at
      at: number;
    }
    const labels: Label[] = [];
    let place = 0;
    layers.forEach((layer, index) => {
      const low = index > 0 ? this.tops[index - 1]![last]! : 0;
      const middle = y((low + this.tops[index]![last]!) / 2);
      const kind = layer.band?.category !== undefined ? kindOf(layer.band.category) : null;
      const colour = bandColour(layer.band?.category, layer.band ? layer.place ?? place++ : null, theme);
      const isKind = kind !== null && layer.label === kind.name;
      const name = layer.label.slice(layer.label.lastIndexOf("/") + 1) || layer.label;
      labels.push({
        text: isKind ? [kind.name, kind.short] : [layer.label, name, name.slice(0, 16)],
        colour,
        category: layer.band?.category,
        from: layer.values[last]! > 0 ? middle : null,
        at: middle,
      });
    });
    const line = (names: string[], dash: number[], values: Float64Array): void => {
      const isKnown = !Number.isNaN(values[last]!);
      const at = y(isKnown ? values[last]! : 0);
      labels.push({ text: names, colour: token("t2"), category: undefined, dash, from: isKnown ? at : null, at });
    };
    for (const curve of this.data.curves ?? []) if (!curve.text) line(curve.names, curve.dash, curve.values);
    if (this.data.resident) line(["resident, by the kernel", "resident", "RSS"], [], this.data.resident);
    if (below?.some((value) => value > 0)) {
      labels.unshift({
        text: ["swapped out", "swap"],
        colour: kindOf("swap").fill[theme],
        category: "swap",
        from: below[last]! > 0 ? y(-below[last]! / 2) : null,
        at: y(-below[last]! / 2) + step / 2,
      });
    }
    // From the bottom up: none nearer to the one below than a line.
    let limit = bbox.top + bbox.height;
    for (const label of labels) {
      label.at = Math.min(label.at, limit);
      limit = label.at - step;
    }
    const overflow = bbox.top + step / 2 - (labels[labels.length - 1]?.at ?? bbox.top + step);
    if (overflow > 0) for (const label of labels) label.at += overflow;
    ctx.save();
    ctx.font = `${11 * ratio}px ${FONT}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    for (const label of labels) {
      ctx.strokeStyle = label.colour;
      ctx.lineWidth = ratio;
      if (label.from !== null) {
        ctx.beginPath();
        ctx.moveTo(right + 1 * ratio, label.from);
        ctx.lineTo(right + 10 * ratio, label.at);
        ctx.lineTo(right + 16 * ratio, label.at);
        ctx.stroke();
      }
      ctx.fillStyle = layerFill(ctx, label.category, label.colour, token("bg"), theme, ratio);
      if (label.dash) {
        ctx.setLineDash(label.dash.map((length) => length * ratio));
        ctx.beginPath();
        ctx.moveTo(right + 17 * ratio, label.at);
        ctx.lineTo(right + 29 * ratio, label.at);
        ctx.stroke();
        ctx.setLineDash([]);
      } else {
        ctx.fillRect(right + 18 * ratio, label.at - 5 * ratio, 10 * ratio, 10 * ratio);
      }
      ctx.fillStyle = token("t1");
      ctx.fillText(fitting(ctx, label.text, (labelRoom - 36) * ratio), right + 34 * ratio, label.at);
    }
    ctx.restore();
  }

  // Words on the picture have a halo of ground: they lie on areas and lines.
  private write(text: string, x: number, y: number, isBold = false): void {
    const { ctx } = this.plot;
    ctx.lineWidth = 3 * devicePixelRatio * textScale();
    ctx.lineJoin = "round";
    ctx.strokeStyle = token("bg");
    ctx.strokeText(text, x, y);
    ctx.fillStyle = token(isBold ? "t1" : "t2");
    ctx.fillText(text, x, y);
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
      this.write(line.text, bbox.left + 6 * ratio, isBelow ? lower + 3 * ratio : at - 2 * ratio);
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
      this.write(gap.label, from - width - 6 * ratio, high);
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
    this.drawBase(chosen);
    if (flag) this.drawFlag(flag, ink);
    ctx.restore();
  }

  // Where the comparison begins, and the span up to the moment.
  private drawBase(chosen: number): void {
    const { base, seconds } = this.data;
    if (base === null || base === undefined) return;
    const { ctx, bbox } = this.plot;
    const ratio = devicePixelRatio * textScale();
    const at = this.plot.valToPos(seconds[base] ?? 0, "x", true);
    const inside = (x: number): number => Math.min(bbox.left + bbox.width, Math.max(bbox.left, x));
    ctx.fillStyle = token("ink");
    ctx.globalAlpha = 0.08;
    ctx.fillRect(inside(Math.min(at, chosen)), bbox.top, Math.abs(inside(chosen) - inside(at)), bbox.height);
    ctx.globalAlpha = 1;
    if (at < bbox.left - 1 || at > bbox.left + bbox.width + 1) return;
    ctx.strokeStyle = token("ink");
    ctx.lineWidth = ratio;
    ctx.setLineDash([4 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(at, bbox.top - 4 * ratio);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
    ctx.setLineDash([]);
    // On the side where neither the moment nor the flag's pole is near, down
    // where no line of a height is.
    const width = ctx.measureText("base").width + 8 * ratio;
    const isLeft = (chosen > at && chosen - at < width) || at + width > bbox.left + bbox.width;
    ctx.textBaseline = "bottom";
    this.write("base", isLeft ? at - width + 4 * ratio : at + 4 * ratio, bbox.top + bbox.height - 6 * ratio);
  }

  // The tide mark: a dotted line at the height, a ring at the moment and a
  // swallow-tailed flag.
  private drawFlag(flag: Flag, ink: string): void {
    const { ctx, bbox } = this.plot;
    const ratio = devicePixelRatio * textScale();
    const x = this.plot.valToPos(flag.at, "x", true);
    const y = this.plot.valToPos(flag.bytes, "y", true);
    ctx.strokeStyle = ink;
    ctx.lineWidth = 1.25 * ratio;
    ctx.setLineDash([1.5 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.setLineDash([]);
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top - 6 * ratio);
    ctx.lineTo(x, y);
    ctx.stroke();
    ctx.fillStyle = token("bg");
    ctx.beginPath();
    ctx.arc(x, y, 4 * ratio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
    ctx.font = `600 ${12 * ratio}px ${FONT}`;
    const width = ctx.measureText(flag.text).width + 18 * ratio;
    const height = 20 * ratio;
    const top = bbox.top - 6 * ratio - height;
    // It flies to the side where there is room.
    const isLeft = x + width > bbox.left + bbox.width + this.data.labelRoom * ratio;
    const tip = isLeft ? x - width : x + width;
    const notch = isLeft ? tip + 6 * ratio : tip - 6 * ratio;
    ctx.fillStyle = ink;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(tip, top);
    ctx.lineTo(notch, top + height / 2);
    ctx.lineTo(tip, top + height);
    ctx.lineTo(x, top + height);
    ctx.closePath();
    ctx.fill();
    ctx.fillStyle = token("on-ink");
    ctx.textBaseline = "middle";
    ctx.fillText(flag.text, isLeft ? tip + 10 * ratio : x + 8 * ratio, top + height / 2);
  }
}
