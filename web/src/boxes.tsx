// Boxes on a canvas with one layer that knows which one is where: what the
// treemap and the stacks are drawn with.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { theme } from "./state";
import { FONT, token } from "./paint";
import { textScale } from "./width";

export interface Box<T> {
  x: number;
  y: number;
  width: number;
  height: number;
  depth: number;
  item: T;
  isGroup?: boolean; // others are drawn inside of it
}

// The deepest box at the point. Boxes come with those they are in before them.
export function boxAt<T>(boxes: Box<T>[], x: number, y: number): Box<T> | null {
  for (let i = boxes.length - 1; i >= 0; --i) {
    const box = boxes[i]!;
    if (x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height) return box;
  }
  return null;
}

export type Direction = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

// The nearest box in that direction, of the same depth where there is one.
export function neighbour<T>(boxes: Box<T>[], from: Box<T>, direction: Direction): Box<T> | null {
  const middle = (box: Box<T>): [number, number] => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = middle(from);
  let best: Box<T> | null = null;
  let least = Infinity;
  for (const box of boxes) {
    if (box === from) continue;
    const [otherX, otherY] = middle(box);
    const [dx, dy] = [otherX - x, otherY - y];
    const isThere =
      direction === "ArrowLeft" ? dx < -0.5 && Math.abs(dy) < (from.height + box.height) / 2
      : direction === "ArrowRight" ? dx > 0.5 && Math.abs(dy) < (from.height + box.height) / 2
      : direction === "ArrowUp" ? dy < -0.5 && Math.abs(dx) < (from.width + box.width) / 2
      : dy > 0.5 && Math.abs(dx) < (from.width + box.width) / 2;
    if (!isThere) continue;
    const cost = Math.abs(dx) + Math.abs(dy) + 10_000 * Math.abs(box.depth - from.depth);
    if (cost < least) {
      least = cost;
      best = box;
    }
  }
  return best;
}

export interface Look<T> {
  fill(box: Box<T>): string | CanvasPattern | null; // null: nothing is seen of it
  ink(box: Box<T>): string;
  // Of a box's text the forms, longest first, and its size at the right or below.
  names(box: Box<T>): string[];
  amount(box: Box<T>): string;
  isTitle(box: Box<T>): boolean; // a group: its name in a bar at the top
  isStrong?(box: Box<T>): boolean; // of titles; they are unless it says no
  fades(box: Box<T>): boolean;
}

const PADDING = 6;
const TITLE_HEIGHTS = [22, 22, 17];
export const titleHeight = (depth: number): number => (TITLE_HEIGHTS[depth] ?? 17) * textScale();

// Below that a word is no help, and many of them are a blur.
const LEAST_ROOM = 22;
const LEAST_HEIGHT = 17;
// A title is clipped before it is left out: its bar is never bare.
const LEAST_TITLE = 46;
export const hasTitleRoom = (depth: number, width: number, height: number): boolean =>
  width >= (LEAST_TITLE + 2 * PADDING) * textScale() && height >= titleHeight(depth) + 12 * textScale();

// The longest form that fits; where none does, the shortest with its end cut
// off, as long as enough of it is left to know it by.
export function clipped(forms: string[], room: number, widthOf: (text: string) => number): string {
  const fits = forms.find((form) => widthOf(form) <= room);
  if (fits !== undefined) return fits;
  const last = forms.reduce((least, form) => (form.length < least.length ? form : least), forms[0] ?? "");
  for (let length = last.length - 1; length >= 4; --length) {
    const text = `${last.slice(0, length).trimEnd()}…`;
    if (widthOf(text) <= room) return text;
  }
  return "";
}

// Names stand on one line from the top of their boxes, so that those of
// neighbours do; what is too low for that has its own in the middle.
function lineOf<T>(box: Box<T>, isTitle: boolean): number {
  const scale = textScale();
  if (isTitle) return box.y + titleHeight(box.depth) / 2;
  return box.height < 24 * scale ? box.y + box.height / 2 : box.y + 13 * scale;
}

function drawText<T>(context: CanvasRenderingContext2D, box: Box<T>, look: Look<T>): void {
  const scale = textScale();
  const room = box.width - 2 * PADDING;
  const isTitle = look.isTitle(box);
  if (box.isGroup && !isTitle) return;
  if (room < LEAST_ROOM * scale || box.height < LEAST_HEIGHT * scale) return;
  context.fillStyle = look.ink(box);
  const font = `${12 * scale}px ${FONT}`;
  context.font = isTitle && look.isStrong?.(box) !== false ? `600 ${font}` : font;
  context.textBaseline = "middle";
  const widthOf = (text: string): number => context.measureText(text).width;
  const line = lineOf(box, isTitle);
  const amount = look.amount(box);
  const amountWidth = widthOf(amount);
  const isRow = isTitle || box.height < 40 * scale;
  const besides = isRow ? look.names(box).find((form) => widthOf(form) <= room - amountWidth - 8) : undefined;
  const name = besides ?? clipped(look.names(box), room, widthOf);
  if (!name) return;
  context.fillText(name, box.x + PADDING, line);
  context.font = font;
  if (besides !== undefined) {
    context.fillText(amount, box.x + box.width - PADDING - amountWidth, line);
  } else if (!isRow && amountWidth <= room) {
    context.fillText(amount, box.x + PADDING, line + 17 * scale);
  }
}

// Arrows walk over the boxes wherever the focus is: it goes to the picture.
export const ARROW_KEYS: Record<string, () => void> = Object.fromEntries(
  ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].map((key) => [
    key,
    () => {
      const canvas = document.querySelector<HTMLCanvasElement>(".boxes canvas");
      canvas?.focus();
      canvas?.dispatchEvent(new KeyboardEvent("keydown", { key }));
    },
  ]),
);

const MOST_TOLD = 60;

// The picture for who does not see it: its largest boxes, as they are drawn.
function Told<T>({ boxes, look, width, height }: Pick<Props<T>, "boxes" | "look" | "width" | "height">): ComponentChildren {
  const least = (width * height) / 400;
  const told = useMemo(() => boxes.filter((box) => box.width * box.height >= least).slice(0, MOST_TOLD), [boxes]);
  return (
    <div class="hidden">
      <table>
        <caption>the largest boxes of the picture</caption>
        <thead><tr><th>level</th><th>name</th><th>size</th></tr></thead>
        <tbody>{told.map((box) => <tr><td>{box.depth}</td><td>{look.names(box)[0]}</td><td>{look.amount(box)}</td></tr>)}</tbody>
      </table>
    </div>
  );
}

interface Props<T> {
  boxes: Box<T>[];
  look: Look<T>;
  width: number;
  height: number;
  chosen: T | null;
  summary: string;
  says(item: T): string; // what is read out of a box that is chosen
  choose(item: T): void;
  enter(item: T): void;
  leave(): void;
  tooltip(box: Box<T>): ComponentChildren;
}

export function BoxCanvas<T>(props: Props<T>): ComponentChildren {
  const { boxes, look, width, height, chosen } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [hover, setHover] = useState<{ box: Box<T>; x: number; y: number } | null>(null);
  useLayoutEffect(() => setHover(null), [boxes]);
  // Before the frame is shown: what is chosen and the picture change together.
  useLayoutEffect(() => {
    const element = canvas.current!;
    const ratio = devicePixelRatio;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    const context = element.getContext("2d")!;
    context.scale(ratio, ratio);
    context.fillStyle = token("bg");
    context.fillRect(0, 0, width, height);
    context.textAlign = "left";
    for (const box of boxes) {
      const fill = look.fill(box);
      if (fill === null) continue;
      context.globalAlpha = look.fades(box) ? 0.25 : 1;
      context.fillStyle = fill;
      // One pixel of ground parts neighbours; what is thinner is drawn as it is.
      context.fillRect(box.x, box.y, Math.max(box.width - 1, box.width / 2), Math.max(box.height - 1, box.height / 2));
      drawText(context, box, look);
    }
    context.globalAlpha = 1;
  }, [boxes, look, width, height, theme.value]);
  const marked = chosen === null ? undefined : boxes.find((box) => box.item === chosen);
  const at = (event: MouseEvent): Box<T> | null => {
    const area = canvas.current!.getBoundingClientRect();
    return boxAt(boxes, event.clientX - area.left, event.clientY - area.top);
  };
  const key = (event: KeyboardEvent): void => {
    const now = boxes.find((box) => box.item === chosen) ?? boxes[0];
    if (!now || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter") props.enter(now.item);
    else if (event.key === "Escape" || event.key === "Backspace") props.leave();
    else if (event.key.startsWith("Arrow")) {
      const next = neighbour(boxes, now, event.key as Direction);
      if (next) props.choose(next.item);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="boxes" style={{ width: `${width}px`, height: `${height}px` }}>
      <canvas
        ref={canvas}
        style={{ width: `${width}px`, height: `${height}px` }}
        tabIndex={0}
        role="img"
        aria-label={props.summary}
        onKeyDown={key}
        onMouseMove={(event) => {
          const box = at(event);
          const area = canvas.current!.getBoundingClientRect();
          setHover(box && { box, x: event.clientX - area.left, y: event.clientY - area.top });
        }}
        onMouseLeave={() => setHover(null)}
        onClick={(event) => {
          const box = at(event);
          if (!box) return;
          if (box.item === chosen) props.enter(box.item);
          else props.choose(box.item);
        }}
        onDblClick={(event) => {
          const box = at(event);
          if (box) props.enter(box.item);
        }}
      />
      {marked && <i class="chosen" style={{ left: `${marked.x}px`, top: `${marked.y}px`, width: `${Math.max(marked.width - 1, 3)}px`, height: `${Math.max(marked.height - 1, 3)}px` }} />}
      <Told boxes={boxes} look={look} width={width} height={height} />
      <span class="hidden" aria-live="polite">{chosen === null ? "" : props.says(chosen)}</span>
      {hover && (
        <div
          class="tooltip"
          style={{
            top: `${hover.y > height / 2 ? "auto" : `${hover.y + 14}px`}`,
            bottom: `${hover.y > height / 2 ? `${height - hover.y + 14}px` : "auto"}`,
            // On a phone it is as wide as the picture, and never wider.
            ...(width < 640 ? { left: "0", right: "0", whiteSpace: "normal" } : hover.x > width / 2 ? { right: `${width - hover.x + 10}px` } : { left: `${hover.x + 10}px` }),
          }}
        >
          {props.tooltip(hover.box)}
        </div>
      )}
    </div>
  );
}
