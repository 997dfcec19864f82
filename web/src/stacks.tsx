// Which code took the pages: an icicle of the stacks of the kernel, or of programs.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ARROW_KEYS, BoxCanvas, type Box, type Look } from "./boxes";
import { ChangeLegend, Choices, nextChoice, type Choice } from "./choices";
import { changeFill, changeStep, contrast, NEUTRAL, PEBBLES, textOn } from "./colours";
import type { Timeline, Trace } from "./data";
import { change, count, counted, duration, momentClock, percent, size, visible } from "./format";
import { bottomUp, heldBy, heldThrough, keyOf, largestFunctions, moduleOrder, moduleSums, sandwich, topDown, type Frame, type FunctionName, type Sandwich } from "./frames";
import { Outline } from "./moment_strip";
import { token } from "./paint";
import { RowTable } from "./rows";
import { served, traceTick } from "./served";
import { filter, moment, next, stackColour, stackMiddle, stackMoment, stackOrder, STACK_COLOURS, STACK_ORDERS, theme, type StackMoment } from "./state";
import { Number } from "./table";
import { useKeys } from "./viewkeys";
import { textScale, useWidth } from "./width";

const rowHeight = (): number => 25 * textScale();

// Callers above what they call, the largest first. What is thinner than half a
// pixel is left out, and so is what is below it.
export function layout(root: Frame, at: StackMoment, width: number): Box<Frame>[] {
  const boxes: Box<Frame>[] = [];
  const scale = width / Math.max(root.pages[at], 1);
  const walk = (one: Frame, x: number, depth: number): void => {
    boxes.push({ x, y: depth * rowHeight(), width: one.pages[at] * scale, height: rowHeight(), depth, item: one });
    let left = x;
    const wide = one.calls.filter((call) => call.pages[at] * scale >= 0.5);
    for (const call of wide.sort((a, b) => b.pages[at] - a.pages[at])) {
      walk(call, left, depth + 1);
      left += call.pages[at] * scale;
    }
  };
  if (root.pages[at] > 0) walk(root, 0, 0);
  return boxes;
}

// The function in the middle, its callers growing upwards from it.
export function layoutSandwich({ callers, callees }: Sandwich, at: StackMoment, width: number): Box<Frame>[] {
  const above = layout(callers, at, width).filter((box) => box.depth > 0);
  const middle = Math.max(0, ...above.map((box) => box.depth));
  const moved = (box: Box<Frame>, depth: number): Box<Frame> => ({ ...box, depth, y: depth * rowHeight() });
  return [
    ...above.map((box) => moved(box, middle - box.depth)),
    ...layout(callees, at, width).map((box) => moved(box, middle + box.depth)),
  ];
}

export const knowsPeak = (trace: Trace): boolean => trace.tasks.some((task) => task.machine_peak_pages !== undefined);

// `chosen` names the moment that the trace is of, where it is not its end.
function moments(trace: Trace, base: Trace | undefined, chosen: string | null): Choice<StackMoment>[] {
  const knowsGrowth = trace.grown_pages !== undefined && trace.grown_pages !== null;
  return [
    { value: "peak", name: "at the peak", refused: knowsPeak(trace) ? undefined : "the past of these pages is not known" },
    { value: "now", name: chosen ?? "now" },
    { value: "growth", name: "growth", refused: knowsGrowth ? undefined : "this trace did not look at what only rises: it needs some seconds and `--report growth`, or a page made by `trace -o x.html`" },
    ...(base ? [{ value: "base" as const, name: "base" }] : []),
  ];
}

const EMPTY: Record<StackMoment, string> = {
  peak: "Nothing was held at the peak.",
  now: "Every page that was taken has been given back.",
  growth: "No stack only rose: none held as much in every stretch of the trace as in the one before.",
  base: "The trace it is compared with held nothing.",
};

// What a frame held on the two sides that are compared.
function sides(one: Frame, at: StackMoment, hasBase: boolean): [number, number] {
  const { peak, now, base, basePeak } = one.pages;
  if (!hasBase) return [peak, now];
  return at === "peak" ? [basePeak, peak] : [base, now];
}

const verbOf = (at: StackMoment): string => (at === "growth" ? "grown" : "held");

interface Relative {
  frame: Frame;
  pages: number;
}

// Callers and calls of a frame, whichever way its tree grows.
function relatives(one: Frame, at: StackMoment, middle: Sandwich | null): { callers: Relative[]; calls: Relative[] } {
  const listed = (frames: Frame[]): Relative[] =>
    frames.map((frame) => ({ frame, pages: frame.pages[at] })).filter(({ pages }) => pages > 0).sort((a, b) => b.pages - a.pages);
  if (middle && (one === middle.callees || one === middle.callers)) return { callers: listed(middle.callers.calls), calls: listed(middle.callees.calls) };
  const above = one.parent ? [{ frame: one.parent, pages: one.pages[at] }] : [];
  return one.isTurned ? { callers: listed(one.calls), calls: above } : { callers: above, calls: listed(one.calls) };
}

const MOST_ROWS = 8;

// What was held over the trace, and where in it the stacks are from. A page that
// was mailed has them of the peak and of the end alone.
function TraceStrip({ timeline, at }: { timeline: Timeline; at: StackMoment }): ComponentChildren {
  const held = timeline.ticks.traced_bytes!;
  const highest = held.reduce((most: number, one, i) => ((one ?? 0) > (held[most] ?? 0) ? i : most), 0);
  const isChosen = traceTick.value !== null;
  const index = isChosen ? moment.value : at === "peak" ? highest : at === "now" ? held.length - 1 : null;
  return (
    <div class="momentstrip">
      <Outline timeline={timeline} heightOf={(i) => held[i] ?? 0} index={index} isFixed={served.value === null} />
    </div>
  );
}

export function StacksView({ trace, base, timeline }: { trace: Trace; base?: Trace | undefined; timeline?: Timeline | undefined }): ComponentChildren {
  const down = useMemo(() => topDown(trace, base), [trace, base]);
  // Made when it is first looked at, and kept.
  const turned = useMemo(() => ({ tree: null as Frame | null }), [down]);
  useEffect(() => {
    // While nobody waits for it; where a browser cannot tell, when it is asked for.
    const idle = window.requestIdleCallback?.(() => (turned.tree ??= bottomUp(down)).calls);
    return () => idle !== undefined && window.cancelIdleCallback(idle);
  }, [turned]);
  const up = stackOrder.value === "bottom up" ? (turned.tree ??= bottomUp(down)) : null;
  const ticks = timeline?.ticks;
  const place = traceTick.value === null || !ticks ? -1 : ticks.id.indexOf(traceTick.value);
  const choices = moments(trace, base, place < 0 ? null : `at ${momentClock(ticks!.elapsed_ns[place]!, timeline!.elapsed_ns)}`);
  const at = place >= 0 ? "now" : choices.find((one) => one.value === stackMoment.value && one.refused === undefined)?.value ?? "now";
  const isSandwich = stackOrder.value === "sandwich";
  const held = useMemo(() => (isSandwich ? heldThrough(down, at) : null), [down, at, isSandwich]);
  const largest = useMemo(() => (held ? largestFunctions(down, held, 1, () => true)[0] : undefined), [down, held]);
  const middleKey = stackMiddle.value ?? (largest ? keyOf(largest) : "");
  const middle = useMemo(() => (isSandwich ? sandwich(down, middleKey) : null), [down, isSandwich, middleKey]);
  const tree = up ?? down;
  const [into, setInto] = useState<Frame | null>(null);
  const root = middle ? middle.callees : into && isBelow(into, tree) ? into : tree;
  const [picked, setChosen] = useState<Frame | null>(null);
  const chosen = picked && (middle ? isBelow(picked, middle.callees) || isBelow(picked, middle.callers) : isBelow(picked, tree)) ? picked : null;
  const [said, say] = useState("");
  const [host, width] = useWidth();
  const boxes = useMemo(
    () => (width === 0 ? [] : middle ? layoutSandwich(middle, at, width) : layout(root, at, width)),
    [root, middle, at, width],
  );
  const height = boxes.reduce((most, box) => Math.max(most, box.y + rowHeight()), rowHeight());
  const bytes = (pages: number): number => pages * trace.page_size_bytes;
  const nearest = useMemo(() => moduleSums(down, at), [down, at]);
  const byModule = useMemo(() => [...nearest].sort(([, a], [, b]) => b - a), [nearest]);
  const places = useMemo(() => new Map(moduleOrder(down, at, nearest).map((name, place) => [name, place])), [nearest]);
  const colourOf = (module: string): string => {
    if (module === "") return NEUTRAL[theme.value];
    return PEBBLES[theme.value][places.get(module) ?? PEBBLES.light.length] ?? token("bg3");
  };
  const canTellChange = base !== undefined || knowsPeak(trace);
  const isByChange = stackColour.value === "change" && canTellChange && at !== "growth";
  const searched = filter.value.toLowerCase();
  const matches = (one: FunctionName): boolean => searched !== "" && `${one.name} ${one.module}`.toLowerCase().includes(searched);
  const look: Look<Frame> = useMemo(() => {
    const [ground, text] = [token("bg3"), token("t1")];
    const fill = (box: Box<Frame>): string => {
      if (isByChange) return changeFill(changeStep(...sides(box.item, at, base !== undefined)), theme.value);
      return box.item.parent === null && !middle ? ground : colourOf(box.item.module);
    };
    const amount = (box: Box<Frame>): string => {
      if (!isByChange) return size(bytes(box.item.pages[at]));
      const [before, after] = sides(box.item, at, base !== undefined);
      return change(bytes(after - before));
    };
    return {
      fill,
      ink: (box) => {
        const on = fill(box);
        return contrast(on, text) >= 4.5 ? text : textOn(on);
      },
      names: (box) => [visible(box.item.name)],
      amount,
      isTitle: () => false,
      fades: (box) => searched !== "" && !matches(box.item),
    };
  }, [theme.value, searched, places, isByChange, at, middle]);
  const found = useMemo(() => (searched ? heldBy(down, at, matches) : 0), [down, at, searched]);
  const hop = (by: number): void => {
    const hits = boxes.filter((box) => matches(box.item));
    if (hits.length === 0) return say("no frame that is drawn matches");
    const place = hits.findIndex((box) => box.item === chosen);
    setChosen(hits[(place + by + hits.length + (place < 0 && by < 0 ? 1 : 0)) % hits.length]!.item);
  };
  const turn = (order: (typeof STACK_ORDERS)[number]): void => {
    // Also one that was chosen in another order.
    if (order === "sandwich" && picked && picked.parent) stackMiddle.value = keyOf(picked);
    stackOrder.value = order;
  };
  // What is known from the end: the moment that was chosen is left.
  const chooseMoment = (value: StackMoment): void => {
    stackMoment.value = value;
    if (place >= 0 && value !== "now") moment.value = null;
  };
  const enter = (one: Frame): void => {
    if (isSandwich) stackMiddle.value = keyOf(one);
    else setInto(one);
    setChosen(null);
  };
  const colours: Choice<(typeof STACK_COLOURS)[number]>[] = [
    { value: "module", name: "module" },
    {
      value: "change", name: "change",
      refused: !canTellChange ? "there is nothing to compare with: `trace A.tdm --base B.tdm -o x.html`" : at === "growth" ? "growth is the change already" : undefined,
    },
  ];
  useKeys({
    ...ARROW_KEYS,
    m: () => chooseMoment(nextChoice(choices, at)),
    b: () => turn(next(STACK_ORDERS, stackOrder.value)),
    c: () => (stackColour.value = nextChoice(colours, isByChange ? "change" : "module")),
    n: () => hop(1),
    N: () => hop(-1),
    Escape: () => (isSandwich ? (stackOrder.value = "top down") : setInto(null)),
  });
  const about = chosen ?? root;
  const verb = verbOf(at);
  const { callers, calls } = relatives(about, at, middle);
  const shownFunctions = useMemo(() => (held ? largestFunctions(down, held, 10, (one) => searched === "" || matches(one)) : []), [down, held, searched]);
  return (
    <>
      <div class="bar">
        <h2>Where the pages came from</h2>
        <Choices label="moment" choices={choices} now={at} choose={chooseMoment} say={say} />
        <Choices label="order" choices={STACK_ORDERS.map((value) => ({ value, name: value }))} now={stackOrder.value} choose={turn} say={say} />
        <Choices label="colour" isLabelled choices={colours} now={isByChange ? "change" : "module"} choose={(value) => (stackColour.value = value)} say={say} />
        {root !== tree && !middle && <button class="control" onClick={() => setInto(null)}>all <kbd>Esc</kbd></button>}
        <span class="push" />
        <span class="note" role="status">{said || (searched !== "" ? `${percent(found, down.pages[at])} % of all, ${size(bytes(found))}` : "")}</span>
        <input id="find" class="control" type="search" placeholder="search frames  /" aria-label="search frames" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
      </div>
      {ticks?.traced_bytes && ticks.id.length > 1 && <TraceStrip timeline={timeline!} at={at} />}
      {isByChange && <ChangeLegend than={base ? `this against the base of ${base.started.slice(0, 16).replace("T", " ")}` : "now against the peak"} />}
      {down.pages[at] === 0 && <div class="state" role="status"><h2>No stacks to draw</h2><p>{EMPTY[at]}</p></div>}
      <div ref={host} class="picture flame">
        {width > 0 && boxes.length > 0 && (
          <BoxCanvas
            boxes={boxes}
            look={look}
            width={width}
            height={height}
            chosen={chosen ?? (middle ? middle.callees : null)}
            summary={`stacks of ${trace.user ? "programs" : "the kernel"} that hold ${size(bytes(down.pages[at]))}; ${boxes.slice(1, 6).map(({ item }) => `${visible(item.name)} ${size(bytes(item.pages[at]))}`).join(", ")}`}
            says={(one) => `${visible(one.name)} ${size(bytes(one.pages[at]))}, ${percent(one.pages[at], down.pages[at])} percent`}
            choose={(one: Frame) => setChosen(one)}
            enter={enter}
            leave={() => (isSandwich ? (stackOrder.value = "top down") : setInto(root.parent))}
            tooltip={(box) => <Tip one={box.item} at={at} trace={trace} whole={down.pages[at]} hasBase={base !== undefined} compares={canTellChange} />}
          />
        )}
      </div>
      <div class="three">
        {isSandwich ? (
          <RowTable>
            <thead><tr><th>functions{searched && " that match"}</th><th class="n">through it ↓</th></tr></thead>
            <tbody>
              {shownFunctions.map((one) => (
                <tr aria-selected={keyOf(one) === middleKey}>
                  <td class="name mono"><button class="bare" onClick={() => (stackMiddle.value = keyOf(one))}>{visible(one.name)}</button></td>
                  <td class="n"><Number bytes={bytes(one.held)} /></td>
                </tr>
              ))}
            </tbody>
          </RowTable>
        ) : (
          <Modules verb={verb} rows={byModule} ways={[...places.keys()].slice(0, PEBBLES.light.length).filter((name) => !nearest.has(name))} whole={down.pages[at]} bytes={bytes} colourOf={colourOf} />
        )}
        <div>
          <p class="facts">
            <b class="mono">{visible(about.name)}</b> <span class="note">{visible(about.module)}</span>
            <span class="push" />
            <span><b>{size(bytes(about.pages[at]))}</b>{within(about, at, bytes)} {verb}, {percent(about.pages[at], down.pages[at])} % of all</span>
            <Facts one={about} at={at} bytes={bytes} hasBase={base !== undefined} compares={canTellChange} />
          </p>
          <Relatives title="called by" verb={verb} list={callers} bytes={bytes} choose={setChosen} none="nobody: here the stack begins" />
          <Relatives title="calls" verb={verb} list={calls} bytes={bytes} choose={setChosen} none="nothing: here pages are taken" />
        </div>
        <TaskTable one={about} at={at} bytes={bytes} />
      </div>
    </>
  );
}

// How far a number of a sample may be off.
function within(one: Frame, at: StackMoment, bytes: (pages: number) => number): string {
  const pages = one.errorPages(at);
  return pages > 0 ? ` ±\u00a0${size(bytes(pages))}` : "";
}

interface Compared {
  one: Frame;
  at: StackMoment;
  hasBase: boolean;
  compares: boolean;
}

function Tip({ one, at, trace, whole, hasBase, compares }: Compared & { trace: Trace; whole: number }): ComponentChildren {
  const bytes = (pages: number): number => pages * trace.page_size_bytes;
  const [before, after] = sides(one, at, hasBase);
  return (
    <>
      <b class="mono">{visible(one.name)}</b> {one.module && visible(one.module)}
      <div>{size(bytes(one.pages[at]))}{within(one, at, bytes)}, {count(one.pages[at])} pages, {percent(one.pages[at], whole)} % of all</div>
      {compares && <div>{change(bytes(after - before))} {hasBase ? "against the base" : "since the peak"}</div>}
    </>
  );
}

function Facts({ one, at, bytes, hasBase, compares }: Compared & { bytes(pages: number): number }): ComponentChildren {
  const [before, after] = sides(one, at, hasBase);
  const oldest = one.oldestNs();
  return (
    <>
      {one.pages.allocations > 0 && <span><b>{count(one.pages.allocations)}</b> {one.pages.allocations === 1 ? "allocation" : "allocations"} in all</span>}
      {oldest !== null && <span>oldest <b>{duration(oldest)}</b></span>}
      {compares && after !== before && <span class={after > before ? "grew" : "fell"}>{change(bytes(after - before))} {hasBase ? "against the base" : "since the peak"}</span>}
    </>
  );
}

interface ModuleProps {
  verb: string;
  rows: [string, number][];
  ways: string[]; // modules that others are called through, and that have a colour
  whole: number;
  bytes(pages: number): number;
  colourOf(module: string): string;
}

function Modules({ verb, rows, ways, whole, bytes, colourOf }: ModuleProps): ComponentChildren {
  const shown = rows.slice(0, 10);
  const rest = rows.slice(10);
  const most = Math.max(1, ...rows.map(([, pages]) => pages));
  return (
    <RowTable>
      <thead><tr><th>module nearest the page</th><th /><th class="n">{verb} ↓</th><th class="n">%</th></tr></thead>
      <tbody>
        {shown.map(([name, pages]) => (
          <tr>
            <td class="name"><span class="swatch" style={{ backgroundColor: colourOf(name) }} />{name === "" ? "kernel itself" : visible(name)}</td>
            <td><span class="share"><i style={{ width: `${(100 * pages) / most}%`, backgroundColor: colourOf(name) }} /></span></td>
            <td class="n"><Number bytes={bytes(pages)} /></td>
            <td class="n">{percent(pages, whole)}</td>
          </tr>
        ))}
        {rest.length > 0 && <tr><td class="name">{counted(rest.length, "other")}</td><td /><td class="n"><Number bytes={bytes(rest.reduce((sum, [, pages]) => sum + pages, 0))} /></td><td /></tr>}
      </tbody>
      <tfoot>
        <tr><td class="name">sum</td><td /><td class="n"><Number bytes={bytes(whole)} /></td><td class="n">100</td></tr>
        {ways.map((name) => (
          <tr class="beside-row"><td class="name"><span class="swatch" style={{ backgroundColor: colourOf(name) }} />{visible(name)}</td><td colSpan={3}>called them</td></tr>
        ))}
      </tfoot>
    </RowTable>
  );
}

interface RelativesProps {
  title: string;
  verb: string;
  list: Relative[];
  none: string;
  bytes(pages: number): number;
  choose(one: Frame): void;
}

function Relatives({ title, verb, list, none, bytes, choose }: RelativesProps): ComponentChildren {
  return (
    <RowTable>
      <thead><tr><th>{title}</th><th class="n">{verb}</th></tr></thead>
      <tbody>
        {list.slice(0, MOST_ROWS).map(({ frame, pages }) => (
          <tr>
            <td class="name mono" title={visible(frame.name)}><button class="bare" onClick={() => choose(frame)}>{visible(frame.name)}</button></td>
            <td class="n"><Number bytes={bytes(pages)} /></td>
          </tr>
        ))}
        {list.length > MOST_ROWS && <tr><td class="name">{counted(list.length - MOST_ROWS, "other")}</td><td class="n"><Number bytes={bytes(list.slice(MOST_ROWS).reduce((sum, one) => sum + one.pages, 0))} /></td></tr>}
        {list.length === 0 && <tr><td class="note" colSpan={2}>{none}</td></tr>}
      </tbody>
    </RowTable>
  );
}

function TaskTable({ one, at, bytes }: { one: Frame; at: StackMoment; bytes(pages: number): number }): ComponentChildren {
  const tasks = useMemo(
    () => [...one.tasks()].map(([name, pages]): [string, number] => [name, pages[at]]).filter(([, pages]) => pages > 0).sort(([, a], [, b]) => b - a),
    [one, at],
  );
  return (
    <RowTable>
      <thead><tr><th>tasks</th><th class="n">{verbOf(at)}</th></tr></thead>
      <tbody>
        {tasks.slice(0, MOST_ROWS).map(([name, pages]) => <tr><td class="name" title={visible(name)}>{visible(name)}</td><td class="n"><Number bytes={bytes(pages)} /></td></tr>)}
        {tasks.length > MOST_ROWS && <tr><td class="name">{counted(tasks.length - MOST_ROWS, "other")}</td><td class="n"><Number bytes={bytes(tasks.slice(MOST_ROWS).reduce((sum, [, pages]) => sum + pages, 0))} /></td></tr>}
      </tbody>
      <tfoot><tr><td class="name">sum</td><td class="n"><Number bytes={bytes(one.pages[at])} /></td></tr></tfoot>
    </RowTable>
  );
}

function isBelow(one: Frame, root: Frame): boolean {
  for (let at: Frame | null = one; at; at = at.parent) if (at === root) return true;
  return false;
}
