// What the chart of a VM has on top of its areas: the balloon as an arrow from
// the limit up to what it would be without it, and words where a split is
// unknown.
import type uPlot from "uplot";
import { FONT, token } from "./paint";
import type { Remark } from "./vm_series";
import { textScale } from "./width";

export interface BalloonMark {
  at: number; // seconds
  from: number; // bytes
  to: number;
  text: string;
}

export function drawBalloon(plot: uPlot, { at, from, to, text }: BalloonMark): void {
  const { ctx, bbox } = plot;
  // The chart goes on with its own.
  ctx.save();
  drawArrow(plot, { at, from, to, text }, ctx, bbox);
  ctx.restore();
}

function drawArrow(plot: uPlot, { at, from, to, text }: BalloonMark, ctx: CanvasRenderingContext2D, bbox: uPlot.BBox): void {
  const ratio = devicePixelRatio * textScale();
  const [x, low, high] = [plot.valToPos(at, "x", true), plot.valToPos(from, "y", true), plot.valToPos(to, "y", true)];
  // Too small for an arrow, or not in the picture.
  if (x < bbox.left || x > bbox.left + bbox.width || high < bbox.top - ratio || low - high < 14 * ratio) return;
  ctx.strokeStyle = ctx.fillStyle = token("t2");
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  ctx.beginPath();
  ctx.moveTo(x - 40 * ratio, high);
  ctx.lineTo(x + 24 * ratio, high);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.beginPath();
  ctx.moveTo(x, low - 3 * ratio);
  ctx.lineTo(x, high + 2 * ratio);
  for (const [tip, way] of [[high + 2 * ratio, 1], [low - 3 * ratio, -1]] as const) {
    ctx.moveTo(x - 3 * ratio, tip + 5 * way * ratio);
    ctx.lineTo(x, tip);
    ctx.lineTo(x + 3 * ratio, tip + 5 * way * ratio);
  }
  ctx.stroke();
  ctx.font = `${11 * ratio}px ${FONT}`;
  const width = ctx.measureText(text).width;
  const isLeft = x + width + 12 * ratio > bbox.left + bbox.width;
  const left = isLeft ? x - width - 8 * ratio : x + 8 * ratio;
  const middle = (low + high) / 2;
  ctx.fillStyle = token("bg");
  ctx.fillRect(left - 3 * ratio, middle - 8 * ratio, width + 6 * ratio, 16 * ratio);
  ctx.fillStyle = token("t1");
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillText(text, left, middle);
}

export function drawRemarks(plot: uPlot, remarks: Remark[], topAt: (seconds: number) => number): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio * textScale();
  const step = 14 * ratio;
  ctx.save();
  ctx.font = `${11 * ratio}px ${FONT}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "bottom";
  let taken = -Infinity;
  for (const { from, to, words } of remarks) {
    const x = plot.valToPos((from + to) / 2, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    const width = Math.max(...words.map((word) => ctx.measureText(word).width));
    const left = Math.min(x - 4 * ratio, bbox.left + bbox.width - width);
    // One would lie on another, and each is in the table below.
    if (left < taken + 8 * ratio) continue;
    taken = left + width;
    const top = Math.max(plot.valToPos(topAt((from + to) / 2), "y", true), bbox.top + (words.length + 1) * step);
    ctx.strokeStyle = token("t3");
    ctx.lineWidth = ratio;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top - 10 * ratio);
    ctx.stroke();
    ctx.fillStyle = token("bg");
    ctx.globalAlpha = 0.85;
    ctx.fillRect(left - 3 * ratio, top - 12 * ratio - words.length * step, width + 6 * ratio, words.length * step + 2 * ratio);
    ctx.globalAlpha = 1;
    ctx.fillStyle = token("t2");
    words.forEach((word, i) => ctx.fillText(word, left, top - 12 * ratio - (words.length - 1 - i) * step));
  }
  ctx.restore();
}
