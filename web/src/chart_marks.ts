// What is marked on a chart: its peak, what the moment is compared with, words.
import type uPlot from "uplot";
import type { ChartData, Flag } from "./chart";
import { FONT, token } from "./paint";
import { textScale } from "./width";

// Words on the picture have a halo of ground: they lie on areas and lines.
export function write(ctx: CanvasRenderingContext2D, text: string, x: number, y: number, isBold = false): void {
  ctx.lineWidth = 3 * devicePixelRatio * textScale();
  ctx.lineJoin = "round";
  ctx.strokeStyle = token("bg");
  ctx.strokeText(text, x, y);
  ctx.fillStyle = token(isBold ? "t1" : "t2");
  ctx.fillText(text, x, y);
}

// Where the comparison begins, and the span up to the moment.
export function drawBase(plot: uPlot, { base, seconds }: ChartData, chosen: number): void {
  if (base === null || base === undefined) return;
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio * textScale();
  const at = plot.valToPos(seconds[base] ?? 0, "x", true);
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
  write(ctx, "base", isLeft ? at - width + 4 * ratio : at + 4 * ratio, bbox.top + bbox.height - 6 * ratio);
}

// The tide mark: a dotted line at the height, a ring at the moment and a
// swallow-tailed flag.
export function drawFlag(plot: uPlot, flag: Flag, labelRoom: number): void {
  const { ctx, bbox } = plot;
  const ink = token("ink");
  const ratio = devicePixelRatio * textScale();
  const x = plot.valToPos(flag.at, "x", true);
  const y = plot.valToPos(flag.bytes, "y", true);
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
  const isLeft = x + width > bbox.left + bbox.width + labelRoom * ratio;
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
