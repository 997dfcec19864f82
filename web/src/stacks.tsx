// Which code of the kernel took the pages: an icicle of its stacks.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { BoxCanvas, type Box, type Look } from "./boxes";
import { contrast, PEBBLES, textOn } from "./colours";
import type { Trace, TraceStack } from "./data";
import { count, percent, size, visible } from "./format";
import { token } from "./paint";
import { filter, stackMoment, stackOrder, STACK_MOMENTS, STACK_ORDERS, theme, type StackMoment } from "./state";
import { Number } from "./table";
import { useWidth } from "./width";

export interface Frame {
  name: string;
  module: string;
  held: number; // pages, of this frame and what it called
  own: number;
  calls: Frame[];
  parent: Frame | null;
  tasks: Map<string, number>;
}

const MOMENT_NAMES: Record<StackMoment, string> = { peak: "at the peak", now: "now" };

const pagesOf = (stack: TraceStack, at: StackMoment): number => (at === "peak" ? (stack.machine_peak_pages ?? stack.pages) : stack.pages);

export const knowsPeak = (trace: Trace): boolean => trace.tasks.some((task) => task.machine_peak_pages !== undefined);

const frame = (name: string, module: string, parent: Frame | null): Frame => ({
  name, module, held: 0, own: 0, calls: [], parent, tasks: new Map(),
});

function child(parent: Frame, name: string, module: string, index: Map<Frame, Map<string, Frame>>): Frame {
  let known = index.get(parent);
  if (!known) index.set(parent, (known = new Map()));
  const key = `${module}\n${name}`;
  let found = known.get(key);
  if (!found) {
    found = frame(name, module, parent);
    known.set(key, found);
    parent.calls.push(found);
  }
  return found;
}

// Stacks of all tasks as one tree: callers on top, or from the allocation up.
export function makeTree(trace: Trace, at: StackMoment, isBottomUp: boolean): Frame {
  const root = frame("all kernel stacks", "", null);
  const index = new Map<Frame, Map<string, Frame>>();
  const book = (into: Frame, pages: number, task: string): void => {
    into.held += pages;
    into.tasks.set(task, (into.tasks.get(task) ?? 0) + pages);
  };
  for (const task of trace.tasks) {
    const name = `${task.name}${task.pid ? ` (${task.pid})` : ""}`;
    // Own pages of each node are what is left when its calls are taken off.
    const walk = (stacks: TraceStack[], callers: TraceStack[]): void => {
      for (const stack of stacks) {
        const chain = [...callers, stack];
        const below = (stack.stacks ?? []).reduce((sum, one) => sum + pagesOf(one, at), 0);
        const own = Math.max(0, pagesOf(stack, at) - below);
        if (own > 0) {
          let into = root;
          book(root, own, name);
          for (const one of isBottomUp ? [...chain].reverse() : chain) {
            into = child(into, one.symbol, one.module ?? "", index);
            book(into, own, name);
          }
          into.own += own;
        }
        if (stack.stacks) walk(stack.stacks, chain);
      }
    };
    walk(task.stacks ?? [], []);
  }
  const sort = (one: Frame): void => {
    one.calls.sort((a, b) => b.held - a.held);
    one.calls.forEach(sort);
  };
  sort(root);
  return root;
}

const ROW = 25;

export function layout(root: Frame, width: number): Box<Frame>[] {
  const boxes: Box<Frame>[] = [];
  const walk = (one: Frame, x: number, depth: number): void => {
    const share = (width * one.held) / Math.max(root.held, 1);
    if (share < 0.5) return;
    boxes.push({ x, y: depth * ROW, width: share, height: ROW, depth, item: one });
    let next = x;
    for (const call of one.calls) {
      walk(call, next, depth + 1);
      next += (width * call.held) / Math.max(root.held, 1);
    }
  };
  walk(root, 0, 0);
  return boxes;
}

function modules(root: Frame): Map<string, number> {
  const sums = new Map<string, number>();
  const walk = (one: Frame, nearest: string): void => {
    const module = one.module || nearest;
    if (one.own > 0) sums.set(module, (sums.get(module) ?? 0) + one.own);
    for (const call of one.calls) walk(call, module);
  };
  walk(root, "");
  return sums;
}

const KERNEL = { light: "#d3dae2", dark: "#4a5563" };

export function StacksView({ trace }: { trace: Trace }): ComponentChildren {
  const tree = useMemo(
    () => makeTree(trace, stackMoment.value, stackOrder.value === "bottom up"),
    [trace, stackMoment.value, stackOrder.value],
  );
  const [into, setInto] = useState<Frame | null>(null);
  const root = into && isBelow(into, tree) ? into : tree;
  const [chosen, setChosen] = useState<Frame | null>(null);
  const [host, width] = useWidth();
  const boxes = useMemo(() => (width > 0 ? layout(root, width) : []), [root, width]);
  const height = Math.max(ROW, ...boxes.map((box) => box.y + ROW));
  const bytes = (pages: number): number => pages * trace.page_size_bytes;
  const byModule = useMemo(() => [...modules(tree)].sort(([, a], [, b]) => b - a), [tree]);
  const colourOf = (module: string): string => {
    if (module === "") return KERNEL[theme.value];
    const place = byModule.filter(([name]) => name !== "").findIndex(([name]) => name === module);
    return place >= 0 && place < 8 ? PEBBLES[theme.value][place]! : token("bg3");
  };
  const searched = filter.value.toLowerCase();
  const matches = (one: Frame): boolean => searched !== "" && `${one.name} ${one.module}`.toLowerCase().includes(searched);
  const look: Look<Frame> = useMemo(
    () => ({
      fill: (box) => (box.item.parent === null ? token("bg3") : colourOf(box.item.module)),
      ink: (box) => {
        const fill = box.item.parent === null ? token("bg3") : colourOf(box.item.module);
        return contrast(fill, token("t1")) >= 4.5 ? token("t1") : textOn(fill);
      },
      names: (box) => [visible(box.item.name)],
      amount: (box) => size(bytes(box.item.held)),
      isTitle: () => false,
      fades: (box) => searched !== "" && !matches(box.item),
    }),
    [theme.value, searched, byModule],
  );
  const about = chosen ?? root;
  const found = searched ? sumOf(tree, matches) : 0;
  const rows = (list: [string, number][], mono = false): ComponentChildren =>
    list.slice(0, 8).map(([name, pages]) => (
      <tr><td class={`name ${mono ? "mono" : ""}`} title={visible(name)}>{visible(name)}</td><td class="n"><Number bytes={bytes(pages)} /></td></tr>
    ));
  const tasks = [...about.tasks].sort(([, a], [, b]) => b - a);
  return (
    <>
      <div class="bar">
        <h2>Where the pages came from</h2>
        <span class="choices" role="group" aria-label="moment">
          {STACK_MOMENTS.filter((one) => one === "now" || knowsPeak(trace)).map((one) => (
            <button aria-pressed={stackMoment.value === one || !knowsPeak(trace)} onClick={() => (stackMoment.value = one)}>{MOMENT_NAMES[one]}</button>
          ))}
        </span>
        <span class="choices" role="group" aria-label="order">
          {STACK_ORDERS.map((one) => (
            <button aria-pressed={stackOrder.value === one} onClick={() => (stackOrder.value = one)}>{one}</button>
          ))}
        </span>
        {root !== tree && <button class="control" onClick={() => setInto(null)}>all <kbd>Esc</kbd></button>}
        <span class="push" />
        {searched !== "" && <span class="note" role="status">{percent(found, tree.held)} % of all, {size(bytes(found))}</span>}
        <input id="find" class="control" type="search" placeholder="search frames  /" aria-label="search frames" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
      </div>
      <div ref={host} class="picture flame">
        {width > 0 && (
          <BoxCanvas
            boxes={boxes}
            look={look}
            width={width}
            height={height}
            chosen={chosen}
            summary={`stacks of the kernel that hold ${size(bytes(tree.held))}; ${tree.calls.slice(0, 5).map((one) => `${visible(one.name)} ${size(bytes(one.held))}`).join(", ")}`}
            choose={(one: Frame) => setChosen(one)}
            enter={(one) => setInto(one)}
            leave={() => setInto(root.parent)}
            tooltip={(box) => (
              <>
                <b class="mono">{visible(box.item.name)}</b> {box.item.module && visible(box.item.module)}
                <div>{size(bytes(box.item.held))}, {count(box.item.held)} pages, {percent(box.item.held, tree.held)} % of all</div>
              </>
            )}
          />
        )}
      </div>
      <div class="three">
        <table class="rows">
          <thead><tr><th>module nearest the page</th><th class="n">held ↓</th><th class="n">%</th></tr></thead>
          <tbody>
            {byModule.slice(0, 10).map(([name, pages]) => (
              <tr>
                <td class="name"><span class="swatch" style={{ backgroundColor: colourOf(name) }} />{name === "" ? "kernel itself" : visible(name)}</td>
                <td class="n"><Number bytes={bytes(pages)} /></td>
                <td class="n">{percent(pages, tree.held)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <div>
          <p><b class="mono">{visible(about.name)}</b> <span class="note">{visible(about.module)}</span> {size(bytes(about.held))} held, {percent(about.held, tree.held)} % of all</p>
          <table class="rows">
            <thead><tr><th>calls</th><th class="n">held</th></tr></thead>
            <tbody>{rows(about.calls.map((one) => [one.name, one.held]), true)}</tbody>
          </table>
        </div>
        <table class="rows">
          <thead><tr><th>tasks</th><th class="n">held</th></tr></thead>
          <tbody>{rows(tasks)}</tbody>
          {tasks.length > 8 && <tfoot><tr><td class="name">{count(tasks.length - 8)} others</td><td class="n"><Number bytes={bytes(tasks.slice(8).reduce((sum, [, pages]) => sum + pages, 0))} /></td></tr></tfoot>}
        </table>
      </div>
    </>
  );
}

function isBelow(one: Frame, root: Frame): boolean {
  for (let at: Frame | null = one; at; at = at.parent) if (at === root) return true;
  return false;
}

// Pages below the topmost frames that match: none is counted twice.
function sumOf(one: Frame, matches: (one: Frame) => boolean): number {
  return matches(one) ? one.held : one.calls.reduce((sum, call) => sum + sumOf(call, matches), 0);
}
