// Small things that several canvases need.
import { kindOf, PEBBLES, type Theme } from "./colours";

export const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export const FONT = '"Inter", "Segoe UI", "SF Pro Text", "Noto Sans", "DejaVu Sans Condensed", system-ui, sans-serif';

const HATCH_STEP = 6;

// Lines of 45 degrees, `rising` the other way, in device pixels.
export function hatch(
  context: CanvasRenderingContext2D,
  line: string,
  ground: string,
  scale: number,
  rises = true,
): CanvasPattern {
  const step = Math.round(HATCH_STEP * scale);
  const tile = document.createElement("canvas");
  tile.width = tile.height = step;
  const brush = tile.getContext("2d")!;
  brush.fillStyle = ground;
  brush.fillRect(0, 0, step, step);
  brush.strokeStyle = line;
  brush.lineWidth = 1.5 * scale;
  brush.beginPath();
  for (const shift of [-step, 0, step]) {
    brush.moveTo(shift, rises ? step : 0);
    brush.lineTo(shift + step, rises ? 0 : step);
  }
  brush.stroke();
  return context.createPattern(tile, "repeat")!;
}

// The colour of a band: its kind's, or a pebble by its place.
export function bandColour(category: string | undefined, place: number | null, theme: Theme): string {
  if (category !== undefined) return kindOf(category).fill[theme];
  if (place === null) return token("bg3");
  const pebbles = PEBBLES[theme];
  return pebbles[place % pebbles.length]!;
}

// Plain, or in the lines of a kind that is hatched.
export function layerFill(
  context: CanvasRenderingContext2D,
  category: string | undefined,
  colour: string,
  ground: string,
  theme: Theme,
  scale: number,
): string | CanvasPattern {
  const kind = category === undefined ? undefined : kindOf(category);
  return kind?.hatched ? hatch(context, colour, kind.ground?.[theme] ?? ground, scale, !kind.falls) : colour;
}

// The longest of the forms that fits; empty when none does.
export function fitting(context: CanvasRenderingContext2D, forms: string[], room: number): string {
  return forms.find((form) => context.measureText(form).width <= room) ?? "";
}
