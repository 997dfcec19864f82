// All RAM as boxes in boxes: parts, groups, processes, objects.
import { hierarchy, treemap, treemapSquarify, type HierarchyRectangularNode } from "d3-hierarchy";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { BoxCanvas, TITLE_HEIGHTS, type Box, type Look } from "./boxes";
import { kindOf, KINDS, textOn } from "./colours";
import type { Treemap, TreeNode } from "./data";
import { baseName, count, percent, size, visible } from "./format";
import { hatch, token } from "./paint";
import { filter, theme } from "./state";
import { Number } from "./table";
import { useWidth } from "./width";

// How the parts of RAM are called in memgraph's records, and what they are here.
const PARTS: Record<string, { name: string; kind: string }> = {
  "kernel/physmem": { name: "machine", kind: "" },
  "kernel/free": { name: "free", kind: "free" },
  "kernel/vmo": { name: "programs and page cache", kind: "" },
  "kernel/heap": { name: "slab", kind: "slab" },
  "kernel/heap/allocated": { name: "slab, in use", kind: "slab" },
  "kernel/heap/free": { name: "slab, slack", kind: "slab" },
  "kernel/wired": { name: "boot-reserved", kind: "wired" },
  "kernel/mmu": { name: "page tables", kind: "ptab" },
  "kernel/ipc": { name: "sockets and pipes", kind: "kern" },
  "kernel/other": { name: "other kernel", kind: "kern" },
};

export function nameOf(node: TreeNode): string {
  const part = PARTS[node.id ?? ""];
  if (part) return part.name;
  if (node.kind === "rest") return node.name === "in no process" ? "page cache, not mapped" : visible(node.name);
  return visible(node.name);
}

// Its own kind, or that of the part of the kernel it is in.
function kindToken(node: TreeNode, above: string): string {
  return node.category ?? PARTS[node.id ?? ""]?.kind ?? (node.kind === "rest" ? "file" : above);
}

export interface Placed {
  node: TreeNode;
  kind: string;
  key: string; // the names on the way down
  parent: Placed | null;
  children: Placed[];
}

// A group that has nothing but one other group is that group, under both names.
function unwrapped(node: TreeNode): TreeNode {
  const inside = (node.children ?? []).filter((child) => child.bytes > 0);
  const only = inside[0];
  if (node.kind !== "group" || !only || inside.length !== 1 || only.kind !== "group") return node;
  return unwrapped({ ...only, name: `${node.name} › ${only.name}` });
}

export function place(wrapped: TreeNode, parent: Placed | null = null, above = "", at = 0): Placed {
  const node = unwrapped(wrapped);
  const kind = kindToken(node, above);
  const placed: Placed = { node, kind, key: `${parent?.key ?? ""}/${node.id ?? `${node.name}.${at}`}`, parent, children: [] };
  placed.children = (node.children ?? []).map((child, index) => place(child, placed, kind, index));
  return placed;
}

const MOST_BOXES = 20_000;

// Boxes of what is below `root`, those they are in first. Areas are never
// padded to be visible: what is thinner than half a pixel is left out.
export function layout(root: Placed, width: number, height: number): Box<Placed>[] {
  // A level or two is read at a glance: deeper ones when one goes into them.
  const tree = hierarchy<Placed>(root, (one) => one.children)
    .sum((one) => (one.children.length === 0 ? one.node.bytes : 0))
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const laid = treemap<Placed>()
    .tile(treemapSquarify.ratio(1.3))
    .size([width, height])
    .paddingTop((one) => (one.children && one.depth > 0 ? (TITLE_HEIGHTS[one.depth] ?? 17) : 0))
    .paddingInner(0)
    .round(false)(tree);
  const boxes: Box<Placed>[] = [];
  laid.each((one: HierarchyRectangularNode<Placed>) => {
    if (one.depth === 0 && one.children) return;
    const box = { x: one.x0, y: one.y0, width: one.x1 - one.x0, height: one.y1 - one.y0, depth: one.depth, item: one.data };
    if (box.width >= 0.5 && box.height >= 0.5 && boxes.length < MOST_BOXES) boxes.push(box);
  });
  return boxes;
}

function forms(placed: Placed): string[] {
  const name = nameOf(placed.node);
  const isKind = placed.node.category !== undefined && name === kindOf(placed.node.category).name;
  if (isKind) return [name, kindOf(placed.kind).short];
  const last = baseName(name.slice(name.lastIndexOf("› ") + 1).trim());
  return [name, last, `${last.slice(0, 12)}…`];
}

const words = (placed: Placed): string =>
  `${nameOf(placed.node)}${placed.node.pid !== undefined ? ` (${placed.node.pid})` : ""}`;

function path(placed: Placed): Placed[] {
  return placed.parent ? [...path(placed.parent), placed] : [placed];
}

// What a process is as large as, in words.
const BY: Record<string, string> = { pss: "PSS", private: "private", swap: "swapped out" };

function Side({ data, root, chosen, choose }: { data: Treemap; root: Placed; chosen: Placed | null; choose(one: Placed): void }): ComponentChildren {
  const total = data.total_bytes;
  const shown = [...root.children].sort((a, b) => b.node.bytes - a.node.bytes).slice(0, 14);
  const rest = root.node.bytes - shown.reduce((sum, one) => sum + one.node.bytes, 0);
  const kinds = new Map<string, number>();
  const add = (one: Placed): void => {
    if (one.children.length === 0) kinds.set(one.kind, (kinds.get(one.kind) ?? 0) + one.node.bytes);
    else one.children.forEach(add);
  };
  const about = chosen ?? root;
  add(about);
  return (
    <aside class="side">
      <table class="rows">
        <thead><tr><th>whose</th><th class="n">{`${BY[data.by] ?? data.by} ↓`}</th><th class="n">of RAM</th></tr></thead>
        <tbody>
          {shown.map((one) => (
            <tr aria-selected={one === chosen} onClick={() => choose(one)}>
              <td class="name" title={words(one)}>{one.children.length > 0 ? "▸ " : ""}{words(one)}</td>
              <td class="n"><Number bytes={one.node.bytes} /></td>
              <td class="n">{percent(one.node.bytes, total)} %</td>
            </tr>
          ))}
          {rest > 0 && <tr><td class="name">{count(root.children.length - shown.length)} smaller</td><td class="n"><Number bytes={rest} /></td><td class="n">{percent(rest, total)} %</td></tr>}
        </tbody>
        <tfoot><tr><td class="name">{words(root)}</td><td class="n"><Number bytes={root.node.bytes} /></td><td class="n">{percent(root.node.bytes, total)} %</td></tr></tfoot>
      </table>
      <h2>{words(about)}</h2>
      <p class="note">{path(about).map(words).join(" › ")}</p>
      <table class="rows">
        <thead><tr><th>kind</th><th class="n">{`${BY[data.by] ?? data.by} ↓`}</th><th class="n">of it</th></tr></thead>
        <tbody>
          {[...kinds].sort(([, a], [, b]) => b - a).filter(([, bytes]) => bytes > 0).map(([kind, bytes]) => (
            <tr>
              <td class="name"><span class={`swatch ${kindOf(kind).hatched ? "hatched" : ""}`} style={{ backgroundColor: kindOf(kind).fill[theme.value] }} />{kindOf(kind).name}</td>
              <td class="n"><Number bytes={bytes} /></td>
              <td class="n">{percent(bytes, about.node.bytes)} %</td>
            </tr>
          ))}
        </tbody>
        <tfoot><tr><td class="name">sum</td><td class="n"><Number bytes={about.node.bytes} /></td><td class="n">100 %</td></tr></tfoot>
      </table>
    </aside>
  );
}

export function TreemapView({ data }: { data: Treemap }): ComponentChildren {
  const whole = useMemo(() => place(data.tree), [data]);
  const [root, setRoot] = useState(whole);
  const [chosen, setChosen] = useState<Placed | null>(null);
  const [host, width] = useWidth();
  const height = width < 640 ? 420 : Math.max(420, Math.min(704, Math.round(width * 0.72)));
  const boxes = useMemo(() => (width > 0 ? layout(root, width, height) : []), [root, width, height]);
  const searched = filter.value.toLowerCase();
  const isFound = (placed: Placed): boolean =>
    words(placed).toLowerCase().includes(searched) || (placed.parent !== null && isFound(placed.parent));
  const look: Look<Placed> = useMemo(() => {
    const context = document.createElement("canvas").getContext("2d")!;
    const unnamed = hatch(context, token("t3"), token("bg2"), 1);
    const isGroup = (box: Box<Placed>): boolean => box.item.children.length > 0;
    const fill = (box: Box<Placed>): string | CanvasPattern => {
      if (isGroup(box)) return box.depth <= 1 ? token("bg3") : token("bg2");
      return kindOf(box.item.kind).token === "unnamed" ? unnamed : kindOf(box.item.kind).fill[theme.value];
    };
    return {
      fill,
      ink: (box) => {
        const found = fill(box);
        return isGroup(box) || typeof found !== "string" ? token("t1") : textOn(found);
      },
      names: (box) => forms(box.item),
      amount: (box) => size(box.item.node.bytes),
      isTitle: isGroup,
      fades: (box) => searched !== "" && !isGroup(box) && !isFound(box.item),
    };
  }, [theme.value, searched]);
  const enter = (placed: Placed): void => {
    const into = placed.children.length > 0 ? placed : placed.parent;
    if (into && into !== root) setRoot(into);
    setChosen(null);
  };
  const found = searched ? boxes.filter((box) => box.item.children.length === 0 && isFound(box.item)) : [];
  return (
    <>
      <div class="bar">
        <nav class="crumbs" aria-label="where">
          {path(root).map((one, index) => (
            <>
              {index > 0 && <span class="note"> › </span>}
              <button class="plain" disabled={one === root} onClick={() => setRoot(one)}>{nameOf(one.node)}</button>
            </>
          ))}
        </nav>
        <span class="note hint">click a box to choose it, again to enter it</span>
        <span class="push" />
        {searched !== "" && <span class="note" role="status">{count(found.length)} boxes, {size(found.reduce((sum, box) => sum + box.item.node.bytes, 0))}</span>}
        <input id="find" class="control" type="search" placeholder="search  /" aria-label="search boxes" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
      </div>
      <div class="legend">
        {KINDS.filter((kind) => kind.token !== "swap" && kind.token !== "huge").map((kind) => (
          <span><span class={`swatch ${kind.hatched ? "hatched" : ""}`} style={{ backgroundColor: kind.fill[theme.value] }} />{kind.name}</span>
        ))}
      </div>
      <div class="beside">
        <div ref={host} class="picture">
          {width > 0 && (
            <BoxCanvas
              boxes={boxes}
              look={look}
              width={width}
              height={height}
              chosen={chosen}
              summary={`${nameOf(root.node)}, ${size(root.node.bytes)}: ${root.children.slice(0, 6).map((one) => `${words(one)} ${size(one.node.bytes)}`).join(", ")}`}
              choose={(one: Placed) => setChosen(one)}
              enter={enter}
              leave={() => {
                if (root.parent) setRoot(root.parent);
              }}
              tooltip={(box) => (
                <>
                  <b>{words(box.item)}</b>
                  <div>{size(box.item.node.bytes)}, {percent(box.item.node.bytes, data.total_bytes)} % of RAM</div>
                  <div class="note">{path(box.item).slice(0, -1).map(words).join(" › ")}</div>
                </>
              )}
            />
          )}
        </div>
        <Side data={data} root={root} chosen={chosen} choose={(one) => (one === chosen ? enter(one) : setChosen(one))} />
      </div>
      {data.notes.map((note) => <div class="aside">{visible(note)}</div>)}
    </>
  );
}
