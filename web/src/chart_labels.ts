// Names at the right end of the bands of a chart.
import type uPlot from "uplot";
import type { ChartData } from "./chart";
import { kindOf } from "./colours";
import { bandColour, fitting, FONT, layerFill, token } from "./paint";
import { textScale } from "./width";

interface Label {
  text: string[]; // the longest form first
  colour: string;
  category: string | undefined;
  dash?: number[]; // of a line
  from: number | null; // null: there is nothing to point at
  at: number;
}

// Pushes apart what stands from the bottom up (so each `at` is wanted to be less
// than the one before): none nearer than a step to another, none below `bottom`.
// What came out above `top` pushes down only what stands in its way.
export function spread(labels: { at: number }[], top: number, bottom: number, step: number): void {
  let limit = bottom;
  for (const label of labels) {
    label.at = Math.min(label.at, limit);
    limit = label.at - step;
  }
  let least = top;
  for (const label of [...labels].reverse()) {
    label.at = Math.max(label.at, least);
    least = label.at + step;
  }
}

// What is named, where it stands at the tick `last`.
function labelsAt(data: ChartData, tops: Float64Array[], last: number, y: (bytes: number) => number, step: number): Label[] {
  const { layers, below, theme, curves, resident } = data;
  const labels: Label[] = [];
  let place = 0;
  layers.forEach((layer, index) => {
    const low = index > 0 ? tops[index - 1]![last]! : 0;
    const middle = y((low + tops[index]![last]!) / 2);
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
  for (const curve of curves ?? []) if (!curve.text) line(curve.names, curve.dash, curve.values);
  if (resident) line(["resident, by the kernel", "resident", "RSS"], [], resident);
  if (below?.some((value) => value > 0)) {
    labels.unshift({
      text: ["swapped out", "swap"],
      colour: kindOf("swap").fill[theme],
      category: "swap",
      from: below[last]! > 0 ? y(-below[last]! / 2) : null,
      at: y(-below[last]! / 2) + step / 2,
    });
  }
  return labels;
}

// `tops` are the upper edges of the layers, `last` the last tick that is seen.
export function drawLabels(plot: uPlot, data: ChartData, tops: Float64Array[], last: number): void {
  const { theme, labelRoom } = data;
  if (labelRoom < 80) return;
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio * textScale();
  // Where all have ended there is nothing to point at.
  const whole = tops[tops.length - 1];
  while (last > 0 && whole?.[last] === 0) --last;
  const step = 16 * ratio;
  const right = bbox.left + bbox.width;
  const labels = labelsAt(data, tops, last, (bytes) => plot.valToPos(bytes, "y", true), step);
  spread(labels, bbox.top + step / 2, bbox.top + bbox.height, step);
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
