// Stacks of a trace as trees of frames. A tree from the allocation up has a
// branch for each way to each page, more than anybody looks at: what is below
// a frame is made when it is asked for.
import type { Trace, TraceStack } from "./data";
import type { StackMoment } from "./state";

// Pages at each moment, and how often any were taken. `basePeak` is the peak
// of the trace that this one is compared with.
export interface Pages extends Record<StackMoment, number> {
  basePeak: number;
  allocations: number;
}

const none = (): Pages => ({ peak: 0, now: 0, growth: 0, base: 0, basePeak: 0, allocations: 0 });

function add(into: Pages, more: Pages): void {
  into.peak += more.peak;
  into.now += more.now;
  into.growth += more.growth;
  into.base += more.base;
  into.basePeak += more.basePeak;
  into.allocations += more.allocations;
}

// What is not in the calls. Numbers of a foreign file need not add up.
function without(whole: Pages, calls: Pages): Pages {
  const left = (key: keyof Pages): number => Math.max(0, whole[key] - calls[key]);
  return {
    peak: left("peak"), now: left("now"), growth: left("growth"),
    base: left("base"), basePeak: left("basePeak"), allocations: left("allocations"),
  };
}

function pagesOf(stack: TraceStack, isBase: boolean): Pages {
  const peak = stack.machine_peak_pages ?? stack.pages;
  if (isBase) return { ...none(), base: stack.pages, basePeak: peak };
  return { ...none(), peak, now: stack.pages, growth: stack.grown_pages ?? 0, allocations: stack.allocations ?? 0 };
}

// One task's frame, of which a frame of the tree is made.
interface Source {
  task: string;
  pages: Pages;
  own: Pages;
  oldestNs: number;
  errorSquares: Errors;
}

// Of a sample: how far numbers may be off, squared. Samples of two stacks are
// apart, so the squares add up.
type Errors = { [at in "peak" | "now"]: number };

function errorsOf(stack: { error_pages?: number; machine_peak_error_pages?: number }): Errors {
  const now = stack.error_pages ?? 0;
  return { now: now ** 2, peak: (stack.machine_peak_error_pages ?? now) ** 2 };
}

type Tasks = Map<string, Pages>;

function book(tasks: Tasks, name: string, pages: Pages): void {
  let into = tasks.get(name);
  if (!into) tasks.set(name, (into = none()));
  add(into, pages);
}

export interface Frame {
  readonly name: string;
  readonly module: string;
  readonly parent: Frame | null;
  readonly pages: Pages; // with all that it called
  readonly own: Pages;
  readonly calls: Frame[];
  readonly isTurned: boolean; // `calls` are its callers
  tasks(): Tasks;
  // How long the oldest of its pages have been held; null: not known.
  oldestNs(): number | null;
  // 0: its pages are counted, or it is not known how far they may be off.
  errorPages(at: StackMoment): number;
}

// What of a frame is made when it is asked for.
interface Below {
  isTurned?: boolean;
  calls(): Frame[];
  tasks(): Tasks;
  oldestNs(): number | null;
  errorPages?(at: StackMoment): number;
}

class LazyFrame implements Frame {
  readonly pages = none();
  readonly own = none();
  private made: Frame[] | null = null;

  constructor(readonly name: string, readonly module: string, readonly parent: Frame | null, private readonly below: Below) {}

  get isTurned(): boolean {
    return this.below.isTurned ?? false;
  }
  get calls(): Frame[] {
    return (this.made ??= this.below.calls());
  }
  tasks(): Tasks {
    return this.below.tasks();
  }
  oldestNs(): number | null {
    return this.below.oldestNs();
  }
  errorPages(at: StackMoment): number {
    return this.below.errorPages?.(at) ?? 0;
  }
}

export const keyOf = (one: { name: string; module: string }): string => `${one.module}\n${one.name}`;

// A function, known by its place in a list: names are compared once.
export interface FunctionName {
  name: string;
  module: string;
}

// What is of one function together, in the order in which it came.
function grouped<T>(items: T[], functionOf: (item: T) => number): T[][] {
  const groups = new Map<number, T[]>();
  for (const item of items) {
    const group = groups.get(functionOf(item));
    if (group) group.push(item);
    else groups.set(functionOf(item), [item]);
  }
  return [...groups.values()];
}

// Thousands of functions that share a pixel are one: nobody can see them, and
// to make a frame of each takes longer than anybody waits.
const MANY = 2000;
const LEAST_SHARE = 1e-4;

const most = (pages: Pages): number => Math.max(pages.peak, pages.now, pages.growth, pages.base, pages.basePeak);

// Frames of the groups; `whole` is what they are parts of.
function framesOf<T>(groups: T[][], whole: Pages, parent: () => Frame, pages: (item: T) => Pages, make: (group: T[]) => Frame): Frame[] {
  if (groups.length <= MANY) return groups.map(make);
  const least = LEAST_SHARE * most(whole);
  const rest = none();
  let count = 0;
  const made: Frame[] = [];
  for (const group of groups) {
    const sum = group.length === 1 ? pages(group[0]!) : none();
    if (group.length > 1) for (const item of group) add(sum, pages(item));
    if (most(sum) >= least) {
      made.push(make(group));
      continue;
    }
    add(rest, sum);
    ++count;
  }
  if (count === 0) return made;
  const small = new LazyFrame(`${count.toLocaleString("en-US")} functions, each less than 0.01 %`, "", parent(), {
    calls: () => [], tasks: () => new Map(), oldestNs: () => null,
  });
  add(small.pages, rest);
  add(small.own, rest);
  return [...made, small];
}

class Functions {
  readonly list: FunctionName[] = [];
  private readonly places = new Map<string, number>();

  placeOf(key: string, name: string, module: string): number {
    const known = this.places.get(key);
    if (known !== undefined) return known;
    this.places.set(key, this.list.length);
    return this.list.push({ name, module }) - 1;
  }
  find(key: string): number | undefined {
    return this.places.get(key);
  }
}

// A frame from the entry down: the same function below the same callers.
export class DownFrame implements Frame {
  readonly pages = none();
  readonly own = none();
  readonly calls: DownFrame[] = [];
  readonly isTurned = false;
  readonly sources: Source[] = [];
  private known: Map<number, DownFrame> | null = null;

  constructor(readonly place: number, readonly name: string, readonly module: string, readonly parent: DownFrame | null, readonly functions: Functions) {}

  tasks(): Tasks {
    const tasks: Tasks = new Map();
    for (const source of this.sources) book(tasks, source.task, source.pages);
    return tasks;
  }

  oldestNs(): number | null {
    return this.sources.reduce((most, source) => Math.max(most, source.oldestNs), 0) || null;
  }

  errorPages(at: StackMoment): number {
    if (at !== "peak" && at !== "now") return 0;
    return Math.round(Math.sqrt(this.sources.reduce((sum, source) => sum + source.errorSquares[at], 0)));
  }

  child(stack: TraceStack): DownFrame {
    const module = stack.module ?? "";
    const place = this.functions.placeOf(keyOf({ name: stack.symbol, module }), stack.symbol, module);
    this.known ??= new Map();
    let found = this.known.get(place);
    if (!found) {
      found = new DownFrame(place, stack.symbol, module, this, this.functions);
      this.known.set(place, found);
      this.calls.push(found);
    }
    return found;
  }

  take(source: Source): void {
    this.sources.push(source);
    add(this.pages, source.pages);
    add(this.own, source.own);
  }
}

// Returns what the stacks hold together.
function mergeStacks(into: DownFrame, stacks: TraceStack[], task: string, isBase: boolean): Pages {
  const sum = none();
  for (const stack of stacks) {
    const frame = into.child(stack);
    const pages = pagesOf(stack, isBase);
    const calls = mergeStacks(frame, stack.stacks ?? [], task, isBase);
    frame.take({ task, pages, own: without(pages, calls), oldestNs: isBase ? 0 : (stack.oldest_ns ?? 0), errorSquares: errorsOf(isBase ? {} : stack) });
    add(sum, pages);
  }
  return sum;
}

export const ROOT_NAME = "all stacks";

// Stacks of all tasks as one tree, callers on top.
export function topDown(trace: Trace, base?: Trace): DownFrame {
  const root = new DownFrame(-1, ROOT_NAME, "", null, new Functions());
  const take = (from: Trace, isBase: boolean): void => {
    for (const task of from.tasks) {
      const name = `${task.name}${task.pid ? ` (${task.pid})` : ""}`;
      const pages = mergeStacks(root, task.stacks ?? [], name, isBase);
      root.take({ task: name, pages, own: none(), oldestNs: isBase ? 0 : (task.oldest_ns ?? 0), errorSquares: errorsOf(isBase ? {} : task) });
    }
  };
  take(trace, false);
  if (base) take(base, true);
  return root;
}

// The way of some pages: whose they are, and how far up we have gone.
interface Way {
  at: DownFrame;
  from: DownFrame;
}

// What is turned round: the pages that a function took itself, or all that
// were taken through it.
type Measure = "own" | "pages";

// A function and its callers, as if those were what it called.
function upwards(ways: Way[], measure: Measure, parent: Frame | null, name: string, module: string): Frame {
  const frame: Frame = new LazyFrame(name, module, parent, {
    isTurned: true,
    calls: () =>
      framesOf(
        grouped(ways.filter((way) => way.at.parent?.parent), (way) => way.at.parent!.place), frame.pages, () => frame,
        ({ from }) => from[measure],
        (group) => {
          const caller = group[0]!.at.parent!;
          return upwards(group.map(({ at, from }) => ({ at: at.parent!, from })), measure, frame, caller.name, caller.module);
        }),
    tasks: () => {
      const tasks: Tasks = new Map();
      for (const { from } of ways) for (const source of from.sources) book(tasks, source.task, source[measure]);
      return tasks;
    },
    // Of a frame that called others it is not known which of the two is older.
    oldestNs: () => (measure === "own" && ways.some(({ from }) => from.calls.length > 0) ? null : oldestOf(ways.map((way) => way.from))),
  });
  for (const { at, from } of ways) {
    add(frame.pages, from[measure]);
    if (!at.parent?.parent) add(frame.own, from[measure]);
  }
  return frame;
}

const oldestOf = (frames: Frame[]): number | null => frames.reduce((most, frame) => Math.max(most, frame.oldestNs() ?? 0), 0) || null;

function visit(root: DownFrame, see: (one: DownFrame) => void): void {
  const waiting = [...root.calls];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    see(one);
    for (const call of one.calls) waiting.push(call);
  }
}

const hasAny = (pages: Pages): boolean => pages.now + pages.peak + pages.growth + pages.base + pages.basePeak > 0;

// From the allocation up: whoever took pages itself first, then its callers.
export function bottomUp(tree: DownFrame): Frame {
  const takers: DownFrame[] = [];
  visit(tree, (frame) => {
    if (hasAny(frame.own)) takers.push(frame);
  });
  const root: Frame = new LazyFrame(tree.name, "", null, {
    isTurned: true,
    calls: () =>
      framesOf(
        grouped(takers, (from) => from.place), root.pages, () => root, (from) => from.own,
        (group) => upwards(group.map((from) => ({ at: from, from })), "own", root, group[0]!.name, group[0]!.module)),
    tasks: () => tree.tasks(),
    oldestNs: () => tree.oldestNs(),
  });
  add(root.pages, tree.pages);
  return root;
}

// Frames as one, and what they called together.
function downwards(frames: DownFrame[], parent: Frame | null): Frame {
  const { name, module } = frames[0]!;
  const merged: Frame = new LazyFrame(name, module, parent, {
    calls: () =>
      framesOf(
        grouped(frames.flatMap((one) => one.calls), (one) => one.place), merged.pages, () => merged, (one) => one.pages,
        (group) => downwards(group, merged)),
    tasks: () => {
      const tasks: Tasks = new Map();
      for (const one of frames) for (const [task, pages] of one.tasks()) book(tasks, task, pages);
      return tasks;
    },
    oldestNs: () => oldestOf(frames),
    errorPages: (at) => Math.round(Math.hypot(...frames.map((one) => one.errorPages(at)))),
  });
  for (const one of frames) {
    add(merged.pages, one.pages);
    add(merged.own, one.own);
  }
  return merged;
}

export interface Sandwich {
  callers: Frame; // the function, its callers as its calls
  callees: Frame; // the same function, with what it calls
}

// A function wherever it was called. Where it called itself the outermost call
// counts alone, since what it holds has the others in it.
export function sandwich(tree: DownFrame, key: string): Sandwich | null {
  const place = tree.functions.find(key);
  const outermost: DownFrame[] = [];
  const waiting = place === undefined ? [] : [...tree.calls];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    if (one.place === place) outermost.push(one);
    else for (const call of one.calls) waiting.push(call);
  }
  const first = outermost[0];
  if (!first) return null;
  return {
    callers: upwards(outermost.map((from) => ({ at: from, from })), "pages", null, first.name, first.module),
    callees: downwards(outermost, null),
  };
}

export interface FunctionRow extends FunctionName {
  held: number;
}

// What was taken through each function, by its place in the list of them.
export function heldThrough(tree: DownFrame, at: StackMoment): Float64Array {
  const held = new Float64Array(tree.functions.list.length);
  const isAbove = new Uint8Array(held.length);
  const walk = (frame: DownFrame): void => {
    const isOutermost = isAbove[frame.place] === 0;
    if (isOutermost) {
      isAbove[frame.place] = 1;
      held[frame.place]! += frame.pages[at];
    }
    for (const call of frame.calls) walk(call);
    if (isOutermost) isAbove[frame.place] = 0;
  };
  for (const call of tree.calls) walk(call);
  return held;
}

// The `count` largest of the functions that match.
export function largestFunctions(tree: DownFrame, held: Float64Array, count: number, matches: (one: FunctionName) => boolean): FunctionRow[] {
  const rows: FunctionRow[] = [];
  tree.functions.list.forEach((one, place) => {
    const pages = held[place]!;
    const isLarge = rows.length < count || pages > rows[rows.length - 1]!.held;
    if (pages === 0 || !isLarge || !matches(one)) return;
    const before = rows.findIndex((row) => row.held < pages);
    rows.splice(before < 0 ? rows.length : before, 0, { ...one, held: pages });
    if (rows.length > count) rows.pop();
  });
  return rows;
}

// What each module took: of the frames above a page the nearest that is of one.
export function moduleSums(tree: Frame, at: StackMoment): Map<string, number> {
  const sums = new Map<string, number>();
  const walk = (one: Frame, nearest: string): void => {
    const module = one.module || nearest;
    if (one.own[at] > 0) sums.set(module, (sums.get(module) ?? 0) + one.own[at]);
    for (const call of one.calls) walk(call, module);
  };
  walk(tree, "");
  return sums;
}

// Modules in the order of their colours: those nearest to the pages first, then
// those that are only on the way to them, by what is held through them.
export function moduleOrder(tree: Frame, at: StackMoment, nearest: Map<string, number>): string[] {
  const through = new Map<string, number>();
  const walk = (one: Frame, above: string): void => {
    if (one.module !== above && !nearest.has(one.module)) through.set(one.module, (through.get(one.module) ?? 0) + one.pages[at]);
    for (const call of one.calls) walk(call, one.module);
  };
  walk(tree, "");
  const sorted = (sums: Map<string, number>): string[] => [...sums].sort(([, a], [, b]) => b - a).map(([name]) => name);
  return [...sorted(nearest), ...sorted(through)].filter((name) => name !== "");
}

// Pages below the topmost frames that match: none is counted twice.
export function heldBy(tree: Frame, at: StackMoment, matches: (one: Frame) => boolean): number {
  let sum = 0;
  const waiting = [tree];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    if (matches(one)) sum += one.pages[at];
    else waiting.push(...one.calls);
  }
  return sum;
}
