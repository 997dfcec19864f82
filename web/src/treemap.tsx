// All RAM as boxes in boxes: parts, groups, processes, kinds, objects.
import { hierarchy, treemap, treemapSquarify, type HierarchyRectangularNode } from "d3-hierarchy";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { ARROW_KEYS, BoxCanvas, hasTitleRoom, titleHeight, type Box, type Look } from "./boxes";
import { changeOf, findBox, inside, path, place, rootBy, type Placed } from "./boxtree";
import { ChangeLegend, Choices, nextChoice, type Choice } from "./choices";
import { changeFill, changeStep, contrast, kindOf, KINDS, NEUTRAL, textOn } from "./colours";
import { copyText } from "./copy";
import type { Treemap } from "./data";
import { baseName, change, count, percent, size as sized, visible } from "./format";
import { hatch, token } from "./paint";
import { RowTable } from "./rows";
import { filter, mapBox, mapColour, mapSize, MAP_COLOURS, MAP_SIZES, theme, type MapSize } from "./state";
import { Number } from "./table";
import { useKeys } from "./viewkeys";
import { useWidth } from "./width";

const MOST_BOXES = 20_000;
const EDGE = 2; // of a group with a title, around what is in it

// Objects are drawn of the process that one has entered: of a whole machine
// they are too many to be read.
function drawn(one: Placed, root: Placed, size: MapSize): Placed[] {
  const isClose = ["process", "kind", "object"].includes(root.is);
  return (one.is === "kind" && !isClose) || one.children.length === 0 ? [] : inside(one, size);
}

// Boxes of what is below `root`, those they are in first. Areas are never
// padded to be visible: what is thinner than half a pixel is left out.
export function layout(root: Placed, size: MapSize, width: number, height: number): Box<Placed>[] {
  const tree = hierarchy<Placed>(root, (one) => drawn(one, root, size));
  tree.eachAfter((one) => {
    let value = one.children ? 0 : (one.data.sizes[size] ?? 0);
    for (const child of one.children ?? []) value += child.value!;
    (one as { value: number }).value = value;
  });
  tree.sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  // A group without room for its name leaves all of it to what is in it; one
  // that has a name has an edge too.
  const isTitled = (one: HierarchyRectangularNode<Placed>): boolean =>
    one.children !== undefined && one.depth > 0 && hasTitleRoom(one.depth, one.x1 - one.x0, one.y1 - one.y0);
  const edge = (one: HierarchyRectangularNode<Placed>): number => (isTitled(one) ? EDGE : 0);
  const laid = treemap<Placed>()
    .tile(treemapSquarify.ratio(1.3))
    .size([width, height])
    .paddingTop((one) => (isTitled(one) ? titleHeight(one.depth) : 0))
    .paddingLeft(edge)
    .paddingRight(edge)
    .paddingBottom(edge)
    .paddingInner(0)
    .round(false)(tree);
  const boxes: Box<Placed>[] = [];
  laid.eachBefore((one: HierarchyRectangularNode<Placed>) => {
    if (one.depth === 0 && one.children) return;
    const box = { x: one.x0, y: one.y0, width: one.x1 - one.x0, height: one.y1 - one.y0, depth: one.depth, item: one.data, isGroup: one.children !== undefined };
    if (box.width >= 0.5 && box.height >= 0.5 && boxes.length < MOST_BOXES) boxes.push(box);
  });
  return boxes;
}

// A name, and what it is shortened to: never cut.
function forms(placed: Placed): string[] {
  if (placed.is === "kind" || placed.is === "portion" || placed.is === "kernel") return [placed.name, ...(placed.kind ? [kindOf(placed.kind).short] : [])];
  const last = baseName(placed.name.slice(placed.name.lastIndexOf("› ") + 1).trim());
  return [placed.name, last, last.slice(last.lastIndexOf(": ") + 1).trim()];
}

const words = (placed: Placed): string => `${placed.name}${placed.pid !== undefined ? ` (${placed.pid})` : ""}`;

// What a box is as large as, in words.
const SIZE_NAMES: Record<MapSize, string> = { pss: "PSS", private: "private", charged: "charged", swap: "swap" };

// The size that the page was made by, or the first that it has.
const mainSize = (data: Treemap): MapSize => MAP_SIZES.find((one) => one === data.by) ?? "pss";

const isOfPages = (data: Treemap): boolean => data.by === "pages";

function sizeChoices(data: Treemap, whole: Placed): Choice<MapSize>[] {
  return MAP_SIZES.map((value) => {
    const why = data.unknown?.[`${value}_bytes`] ?? "this capture does not tell it";
    return { value, name: SIZE_NAMES[value], refused: rootBy(whole, value) ? undefined : visible(why) };
  });
}

const NO_BASE = "there is no base: `tidemark treemap now.json --base then.json -o x.html`";

function useLook(size: MapSize, byGrowth: boolean, searched: string, isFound: (one: Placed) => boolean): Look<Placed> {
  return useMemo(() => {
    const context = document.createElement("canvas").getContext("2d")!;
    const unnamed = hatch(context, token("t3"), token("bg2"), 1);
    const [bg, bg2, bg3, t1] = [token("bg"), token("bg2"), token("bg3"), token("t1")];
    const leafFill = (one: Placed): string | CanvasPattern => {
      if (byGrowth) return changeFill(changeStep(one.before?.[size] ?? 0, one.sizes[size] ?? 0), theme.value);
      if (one.kind === "") return NEUTRAL[theme.value];
      return kindOf(one.kind).token === "unnamed" ? unnamed : kindOf(one.kind).fill[theme.value];
    };
    const isTitle = (box: Box<Placed>): boolean => box.isGroup === true && hasTitleRoom(box.depth, box.width, box.height);
    // What is in a group without a title covers all of it.
    const fill = (box: Box<Placed>): string | CanvasPattern | null =>
      !box.isGroup ? leafFill(box.item) : !isTitle(box) ? null : box.item.is === "process" ? bg : box.depth <= 1 ? bg3 : bg2;
    return {
      fill,
      ink: (box) => {
        const on = fill(box);
        if (typeof on !== "string") return t1;
        return contrast(on, t1) >= 4.5 ? t1 : textOn(on);
      },
      names: (box) => forms(box.item),
      amount: (box) => {
        const grown = byGrowth ? changeOf(box.item, size) : null;
        return grown !== null ? change(grown) : sized(box.item.sizes[size] ?? 0);
      },
      isTitle,
      isStrong: (box) => box.item.is !== "process",
      fades: (box) => searched !== "" && !box.isGroup && !isFound(box.item),
    };
  }, [theme.value, searched, size, byGrowth]);
}

interface ViewProps {
  data: Treemap;
  base?: Treemap | undefined;
  against?: string; // what the base is, in words
}

export function TreemapView({ data, base, against }: ViewProps): ComponentChildren {
  const whole = useMemo(() => place(data.tree, base?.tree, data.by), [data, base]);
  const sizes = useMemo(() => sizeChoices(data, whole), [data, whole]);
  const size = sizes.find((one) => one.value === mapSize.value && one.refused === undefined)?.value ?? mainSize(data);
  const entered = useMemo(() => (mapBox.value ? findBox(whole, mapBox.value) : null) ?? whole, [whole, mapBox.value]);
  const setRoot = (one: Placed): void => {
    mapBox.value = one === whole ? null : one.key;
  };
  const top = rootBy(whole, size) ?? whole;
  const root = entered.sizes[size] !== null ? entered : top;
  const [picked, setChosen] = useState<Placed | null>(null);
  const chosen = picked && picked.sizes[size] !== null ? picked : null;
  const [said, say] = useState("");
  const byGrowth = mapColour.value === "growth" && base !== undefined;
  const [host, width] = useWidth();
  // As high as what is left of the screen, so that all of it is seen at once.
  const above = (host.current?.getBoundingClientRect().top ?? 0) + scrollY;
  const height = width < 640 ? 420 : Math.max(420, Math.min(innerHeight - above - 64, Math.round(width * 0.8)));
  const boxes = useMemo(() => (width > 0 ? layout(root, size, width, height) : []), [root, size, width, height]);
  const searched = filter.value.toLowerCase();
  const isFound = (placed: Placed): boolean =>
    words(placed).toLowerCase().includes(searched) || (placed.parent !== null && isFound(placed.parent));
  const look = useLook(size, byGrowth, searched, isFound);
  const leaves = searched ? boxes.filter((box) => !box.isGroup && isFound(box.item)) : [];
  const enter = (placed: Placed): void => {
    const into = inside(placed, size).length > 0 ? placed : placed.parent;
    if (into && into !== root) setRoot(into);
    setChosen(null);
  };
  const leave = (): void => {
    if (root.parent && root !== top) setRoot(root.parent);
  };
  const hop = (by: number): void => {
    if (leaves.length === 0) return say("no box that is drawn matches");
    const at = leaves.findIndex((box) => box.item === chosen);
    setChosen(leaves[(at + by + leaves.length + (at < 0 && by < 0 ? 1 : 0)) % leaves.length]!.item);
  };
  const copy = (text: string): void => copyText(text, say);
  const colours: Choice<(typeof MAP_COLOURS)[number]>[] = [
    { value: "kind", name: "kind" },
    { value: "growth", name: "growth", refused: base ? undefined : NO_BASE },
  ];
  const hasChoices = !isOfPages(data);
  useKeys({
    ...ARROW_KEYS,
    ...(hasChoices ? {
      s: () => (mapSize.value = nextChoice(sizes, size)),
      c: () => {
        say(base ? "" : NO_BASE);
        mapColour.value = nextChoice(colours, byGrowth ? "growth" : "kind");
      },
    } : {}),
    y: () => copy(asMarkdown(root, size)),
    n: () => hop(1),
    N: () => hop(-1),
    Escape: leave,
  });
  const found = leaves.reduce((sum, box) => sum + (box.item.sizes[size] ?? 0), 0);
  return (
    <>
      <div class="bar">
        <nav class="crumbs" aria-label="where">
          {path(root).slice(path(top).length - 1).map((one, index) => (
            <>
              {index > 0 && <span class="note"> › </span>}
              <button class="plain" disabled={one === root} onClick={() => setRoot(one)}>{one.name}</button>
            </>
          ))}
        </nav>
        <span class="note hint">click a box to choose it, again to enter it</span>
        <span class="push" />
        <span class="note" role="status">{said || (searched !== "" ? `${count(leaves.length)} boxes, ${sized(found)}` : "")}</span>
        {hasChoices && (
          <>
            <Choices label="size" isLabelled choices={sizes} now={size} choose={(value) => (mapSize.value = value)} say={say} />
            <Choices label="colour" isLabelled choices={colours} now={byGrowth ? "growth" : "kind"} choose={(value) => (mapColour.value = value)} say={say} />
          </>
        )}
        <input id="find" class="control" type="search" placeholder="search  /" aria-label="search boxes" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
      </div>
      {byGrowth ? <ChangeLegend than={against ? `against ${against}` : base?.time ? `against ${base.time.slice(0, 19).replace("T", " ")} UTC` : "against the base"} /> : <KindLegend root={top} size={size} />}
      <div class="beside">
        <div ref={host} class="picture">
          {width > 0 && boxes.length === 0 && <div class="state" role="status"><h2>Nothing to draw</h2><p>{root.name} has nothing by {SIZE_NAMES[size]}: it is 0, not unknown. Another size may tell more.</p></div>}
          {width > 0 && boxes.length > 0 && (
            <BoxCanvas
              boxes={boxes}
              look={look}
              width={width}
              height={height}
              chosen={chosen}
              summary={`${root.name}, ${sized(root.sizes[size] ?? 0)}: ${inside(root, size).slice(0, 6).map((one) => `${words(one)} ${sized(one.sizes[size] ?? 0)}`).join(", ")}`}
              says={(one) => `${words(one)} ${sized(one.sizes[size] ?? 0)}, ${percent(one.sizes[size] ?? 0, top.sizes[size] ?? 0)} percent`}
              choose={(one: Placed) => setChosen(one)}
              enter={enter}
              leave={leave}
              tooltip={({ item }) => (
                <>
                  <b>{words(item)}</b>
                  <div>{sized(item.sizes[size] ?? 0)}, {percent(item.sizes[size] ?? 0, top.sizes[size] ?? 0)} % of {top.name}</div>
                  {item.before && <div>{change(changeOf(item, size) ?? 0)} against the base</div>}
                  <div class="note">{path(item).slice(0, -1).map(words).join(" › ")}</div>
                </>
              )}
            />
          )}
        </div>
        <aside class={`side ${base ? "compared" : ""}`}>
          <Whose data={data} root={root} top={top} size={size} byGrowth={byGrowth} chosen={chosen} choose={(one) => (one === chosen ? enter(one) : setChosen(one))} />
          <About data={data} one={chosen ?? root} size={size} />
        </aside>
      </div>
      {data.notes.map((note) => <div class="aside">{visible(note)}</div>)}
    </>
  );
}

// Of the kinds that are there.
function KindLegend({ root, size }: { root: Placed; size: MapSize }): ComponentChildren {
  const there = useMemo(() => kindsOf(root, size), [root, size]);
  return (
    <div class="legend">
      {KINDS.filter((kind) => there.has(kind.token)).map((kind) => (
        <span><span class={`swatch ${kind.hatched ? "hatched" : ""}`} style={{ backgroundColor: kind.fill[theme.value] }} />{kind.name}</span>
      ))}
      {there.has("") && <span><span class="swatch" style={{ backgroundColor: NEUTRAL[theme.value] }} />of several kinds, not told apart by {SIZE_NAMES[size]}</span>}
    </div>
  );
}

function Change({ bytes }: { bytes: number }): ComponentChildren {
  return <span class={bytes > 0 ? "grew" : bytes < 0 ? "fell" : "same"} title={`${count(bytes)} bytes`}>{change(bytes)}</span>;
}

const sumBy = (list: Placed[], size: MapSize): number => list.reduce((sum, one) => sum + (one.sizes[size] ?? 0), 0);
const changeBy = (list: Placed[], size: MapSize): number => list.reduce((sum, one) => sum + (changeOf(one, size) ?? 0), 0);

// What is in a box, the largest first, with all that is too small for the table.
export function asMarkdown(root: Placed, size: MapSize): string {
  const compares = root.before !== null;
  const row = (name: string, one: Placed, strong = ""): string => {
    const cells = [sized(one.sizes[size] ?? 0), ...(compares ? [change(changeOf(one, size) ?? 0)] : [])];
    return `| ${[name.replaceAll("|", "\\|"), ...cells].map((cell) => `${strong}${cell}${strong}`).join(" | ")} |`;
  };
  const rows = [...inside(root, size)].sort((a, b) => (b.sizes[size] ?? 0) - (a.sizes[size] ?? 0));
  return [
    `| whose | ${SIZE_NAMES[size]} |${compares ? " change |" : ""}`, `|---|---:|${compares ? "---:|" : ""}`,
    ...rows.map((one) => row(words(one), one)), row(words(root), root, "**"), "",
  ].join("\n");
}

// Now, or before.
const isThere = (one: Placed, size: MapSize): boolean => (one.sizes[size] ?? 0) > 0 || (one.before?.[size] ?? 0) > 0;

interface WhoseProps {
  data: Treemap;
  root: Placed;
  top: Placed;
  size: MapSize;
  byGrowth: boolean;
  chosen: Placed | null;
  choose(one: Placed): void;
}

const MOST_ROWS = 14;

// One row would tell nothing: of a group that is alone in its box, what is in it.
function crowded(one: Placed, size: MapSize): Placed {
  const only = inside(one, size);
  return only.length === 1 && only[0]!.is === "group" ? crowded(only[0]!, size) : one;
}

function Whose({ data, root, top, size, byGrowth, chosen, choose }: WhoseProps): ComponentChildren {
  const all = inside(crowded(root, size), size).filter((one) => isThere(one, size));
  const weight = (one: Placed): number => (byGrowth ? Math.abs(changeOf(one, size) ?? 0) : (one.sizes[size] ?? 0));
  const ordered = [...all].sort((a, b) => weight(b) - weight(a));
  const [shown, rest] = [ordered.slice(0, MOST_ROWS), ordered.slice(MOST_ROWS)];
  const compares = root.before !== null;
  const total = top.sizes[size] ?? 0;
  const cells = (bytes: number, grown: number): ComponentChildren => (
    <>
      <td class="n"><Number bytes={bytes} /></td>
      {compares && <td class="n change"><Change bytes={grown} /></td>}
      <td class="n">{percent(bytes, total)} %</td>
    </>
  );
  const name = isOfPages(data) ? "in RAM" : SIZE_NAMES[size];
  return (
    <RowTable>
      <thead>
        <tr>
          <th>whose</th><th class="n">{name}{byGrowth ? "" : " ↓"}</th>
          {compares && <th class="n">change{byGrowth ? " ↓" : ""}</th>}
          <th class="n">of {top.name === "machine" ? "RAM" : "all"}</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((one) => (
          <tr aria-selected={one === chosen}>
            <td class="name" title={words(one)}><button class="bare" onClick={() => choose(one)}>{inside(one, size).length > 0 ? "▸ " : ""}{words(one)}</button></td>
            {cells(one.sizes[size] ?? 0, changeOf(one, size) ?? 0)}
          </tr>
        ))}
        {rest.length > 0 && <tr><td class="name">{count(rest.length)} smaller</td>{cells(sumBy(rest, size), changeBy(rest, size))}</tr>}
      </tbody>
      <tfoot><tr><td class="name">{words(root)}</td>{cells(root.sizes[size] ?? 0, changeOf(root, size) ?? 0)}</tr></tfoot>
    </RowTable>
  );
}

// The kinds of memory below a box, by what is drawn of it.
function kindsOf(one: Placed, size: MapSize): Map<string, { bytes: number; grown: number }> {
  const kinds = new Map<string, { bytes: number; grown: number }>();
  const walk = (at: Placed): void => {
    const parts = inside(at, size);
    if (parts.length > 0) return parts.forEach(walk);
    if (!isThere(at, size)) return;
    const row = kinds.get(at.kind) ?? { bytes: 0, grown: 0 };
    kinds.set(at.kind, { bytes: row.bytes + (at.sizes[size] ?? 0), grown: row.grown + (changeOf(at, size) ?? 0) });
  };
  walk(one);
  return kinds;
}

// What would come back of a process: what is its alone.
function WouldGive({ one }: { one: Placed }): ComponentChildren {
  if (one.is !== "process" || one.sizes.private === null || one.sizes.pss === null) return null;
  const others = one.sizes.pss - one.sizes.private;
  return (
    <p>
      Would give back <b>{sized(one.sizes.private)}</b> if it ended{others > 0 ? `; the other ${sized(others)} is also mapped by others.` : "."}
    </p>
  );
}

function Told({ one, size, why }: { one: Placed; size: MapSize; why: string }): ComponentChildren {
  const bytes = one.sizes[size];
  if (bytes !== null) return <b>{sized(bytes)}</b>;
  // RAM and its parts are neither charged to a group nor swapped out.
  if (one.is === "kernel") return <span title="a part of RAM has none">–</span>;
  return <span class="unknown" tabIndex={0} title={why}>?<span class="hidden"> {why}</span></span>;
}

function About({ data, one, size }: { data: Treemap; one: Placed; size: MapSize }): ComponentChildren {
  const rows = [...kindsOf(one, size)].filter(([, row]) => row.bytes > 0 || row.grown !== 0).sort(([, a], [, b]) => b.bytes - a.bytes);
  const whole = one.sizes[size] ?? 0;
  const compares = one.before !== null;
  const why = (other: MapSize): string => visible(data.unknown?.[`${other}_bytes`] ?? "not known of this box alone");
  return (
    <>
      <h2>{words(one)}</h2>
      <p class="note">{path(one).map(words).join(" › ")}</p>
      <WouldGive one={one} />
      {!isOfPages(data) && (
        <p class="note">
          {MAP_SIZES.map((other, at) => <>{at > 0 && " · "}{SIZE_NAMES[other]} <Told one={one} size={other} why={why(other)} /></>)}
        </p>
      )}
      <RowTable>
        <thead><tr><th>kind</th><th class="n">{isOfPages(data) ? "in RAM" : SIZE_NAMES[size]} ↓</th>{compares && <th class="n">change</th>}<th class="n">of it</th></tr></thead>
        <tbody>
          {rows.map(([kind, { bytes, grown }]) => (
            <tr>
              <td class="name">
                <span class={`swatch ${kind && kindOf(kind).hatched ? "hatched" : ""}`} style={{ backgroundColor: kind ? kindOf(kind).fill[theme.value] : NEUTRAL[theme.value] }} />
                {kind ? kindOf(kind).name : "of several kinds"}
              </td>
              <td class="n"><Number bytes={bytes} /></td>
              {compares && <td class="n change"><Change bytes={grown} /></td>}
              <td class="n">{percent(bytes, whole)} %</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td class="name">sum</td><td class="n"><Number bytes={whole} /></td>
            {compares && <td class="n change"><Change bytes={changeOf(one, size) ?? 0} /></td>}
            <td class="n">100 %</td>
          </tr>
        </tfoot>
      </RowTable>
    </>
  );
}
