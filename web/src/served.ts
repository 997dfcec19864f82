// A page that is served asks for its reports: those of a chosen recording, again
// when it grows, and those of the machine when their view is opened.
import { batch, effect, signal, untracked } from "@preact/signals";
import type { Info, Reports, ServedRecording, Timeline, VmNow } from "./data";
import { hasProcesses, isPartial } from "./bands";
import { base, compareOf, diffSides, grouping, isPaused, machineOf, mapOf, moment, quietly, recordingName, view, type View } from "./state";
import { vmsOfNow } from "./vm_series";

export type Part = keyof Reports;

export interface Load {
  began: number; // ms of performance.now()
  received: number;
  total: number | null;
  failure: Failure | null;
}

export interface Failure {
  what: string;
  hint: string;
  mayPass: boolean; // asking again may have another answer
}

export const reports = signal<Reports>({});
// null: the page was mailed and has all it will ever have.
export const served = signal<ServedRecording[] | null>(null);
export const loads = signal<Partial<Record<Part, Load>>>({});
export const isConnected = signal(true);
// When the newest of what is shown was told, ms since 1970.
export const newest = signal(0);

// The first set is what a view is made for; any of the others will do.
const NEEDS: Record<View, Part[][]> = {
  timeline: [["timeline"]],
  treemap: [["treemap"], ["ledger"]],
  stacks: [["trace"]],
  machine: [["ledger"], ["machine", "timeline"]],
  compare: [["diff"], ["timeline"]],
  vms: [["vms"], ["sections"]],
};
const holds = (from: Reports, parts: Part[]): boolean => parts.every((part) => from[part] !== undefined);
export function isThere(view: View, from: Reports): boolean {
  const { timeline } = from;
  const isDrawn = timeline !== undefined && (!isPartial(timeline) || (view === "timeline" && grouping.value === "kind"));
  if (view === "timeline" || (view === "treemap" && mapsMoment(from))) return isDrawn;
  if (view === "compare" && !from.diff) return isDrawn;
  return NEEDS[view].some((parts) => holds(from, parts));
}
export const isMadeFor = (view: View, from: Reports): boolean => holds(from, NEEDS[view][0]!);

// A recording that grows is read again so much later than reading it took, so
// that looking at a long one costs a fifth of a core at most.
const REST = 4;
const LEAST_REST_MS = 1000;

export const chosen = (): ServedRecording | undefined => served.value?.find((one) => one.name === recordingName.value);
// It was shown, and its file is not there any more.
export const isGone = (): boolean => served.value !== null && recordingName.value !== null && !chosen();
export const isLive = (): boolean => chosen()?.is_live ?? false;

// Whether the treemap is that of the recording at the moment.
export function mapsMoment({ timeline }: Reports): boolean {
  if (timeline && !hasProcesses(timeline)) return false;
  if (served.value === null) return timeline !== undefined;
  return recordingName.value !== null && (mapOf.value ?? (isLive() ? "machine" : "moment")) === "moment";
}

// What is asked for when nothing of a view is there.
export function partOf(view: View): Part {
  if (view === "treemap" && mapsMoment(reports.value)) return "timeline";
  if (view === "machine" && recordingName.value !== null) return "timeline";
  return NEEDS[view][0]![0]!;
}

function pathOf(part: Part): string | null {
  if (part === "diff") {
    const sides = diffSides.value;
    return sides ? `api/diff?before=${encodeURIComponent(sides[0])}&after=${encodeURIComponent(sides[1])}` : null;
  }
  if (part === "treemap" || part === "ledger") return `api/now/${part}`;
  if (part === "vms") return "api/now/vm";
  const recording = chosen();
  if (part === "trace" && recording) {
    const tick = tracedTick();
    return `api/recordings/${recording.link}/trace${tick === null ? "" : `?at=tick:${tick}`}`;
  }
  // With the timeline comes all that is told of the same moments; at first it
  // comes in steps, so that it is seen sooner. One that grows would not be the
  // same when the rest is asked for.
  const isAlone = part !== "timeline" || !(reports.value.timeline || recording?.is_live);
  return recording ? `api/recordings/${recording.link}/${isAlone ? part : "report"}` : null;
}

// Of an answer that is none: what it says. One about a file stays as it is until
// the file changes, and then it is asked for anyway.
function failureOf(response: Response, text: string): Failure {
  const { error, hint } = JSON.parse(text) as { error?: string; hint?: string };
  return { what: error ?? `the server answered ${response.status}`, hint: hint ?? "", mayPass: response.status >= 500 || response.status === 429 };
}

async function received(response: Response, tell: (bytes: number) => void): Promise<string> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  let told = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    bytes += value.length;
    // Nobody sees more of it, and each is drawn.
    if (performance.now() - told < 100) continue;
    told = performance.now();
    tell(bytes);
  }
}

function note(part: Part, load: Load | undefined): void {
  const all = { ...loads.value };
  if (load) all[part] = load;
  else delete all[part];
  loads.value = all;
}

async function ask(part: Part, path: string): Promise<unknown> {
  let load: Load = { began: performance.now(), received: 0, total: null, failure: null };
  note(part, load);
  const fail = (failure: Failure): null => {
    note(part, { ...load, failure });
    return null;
  };
  try {
    const response = await fetch(path);
    const total = Number(response.headers.get("content-length")) || null;
    const text = await received(response, (bytes) => note(part, (load = { ...load, received: bytes, total })));
    if (!response.ok) return fail(failureOf(response, text));
    note(part, undefined);
    return JSON.parse(text) as unknown;
  } catch (error) {
    return fail({ what: "the server does not answer", hint: String(error), mayPass: true });
  }
}

// What is drawn changes with a recording that grows; the moments stay.
function keepMoments(before: Timeline | undefined, after: Timeline): void {
  if (!before) return;
  for (const one of [moment, base]) {
    if (one.value === null) continue;
    const elapsed = before.ticks.elapsed_ns[Math.min(one.value, before.ticks.id.length - 1)] ?? 0;
    const index = after.ticks.elapsed_ns.findIndex((at) => at >= elapsed);
    one.value = index < 0 ? after.ticks.id.length - 1 : index;
  }
}

// Which tick the stacks are of; null: the end, from which the peak is known too.
export const traceTick = signal<number | null>(null);
export function tracedTick(): number | null {
  const ticks = reports.value.timeline?.ticks;
  const at = moment.value;
  return served.value !== null && at !== null && ticks?.traced_bytes?.[at] != null ? ticks.id[at]! : null;
}

// First what stands ready in the file, then what all its mappings have to be
// read for, then what nobody sees at first.
const stepsOf = (path: string): string[] =>
  path.endsWith("/timeline") ? ["kinds", "timeline", "rest"].map((step) => path.replace(/timeline$/, step)) : [path];

// An answer for a recording that was left meanwhile is dropped.
async function load(part: Part): Promise<void> {
  const path = pathOf(part);
  if (path === null) return;
  const name = recordingName.value;
  const tick = tracedTick();
  for (const step of stepsOf(path)) {
    const { timeline } = reports.value;
    // Of some recordings the first step tells all of it.
    if (step.endsWith("/timeline") && timeline && !isPartial(timeline)) continue;
    const answer = await ask(part, step);
    if (answer === null || name !== recordingName.value) return;
    const found = /\/(report|rest)$/.test(step) ? (answer as Reports) : { [part]: part === "vms" ? vmsOfNow(answer as VmNow) : answer };
    if (found.timeline) keepMoments(timeline, found.timeline as Timeline);
    reports.value = { ...reports.value, ...found };
    if (part === "trace") traceTick.value = tick;
    newest.value = Date.now();
  }
}

let isReading = false;
let isStale = false;
let restUntil = 0;

async function refresh(): Promise<void> {
  isStale = true;
  const wait = restUntil - performance.now();
  if (isReading || isPaused.value || document.hidden) return;
  if (wait > 0) {
    isReading = true;
    await new Promise((resolve) => setTimeout(resolve, wait));
    isReading = false;
  }
  isReading = true;
  isStale = false;
  const began = performance.now();
  await load("timeline");
  if (reports.value.trace) await load("trace");
  isReading = false;
  restUntil = performance.now() + Math.max(LEAST_REST_MS, REST * (performance.now() - began));
  void lookForVms();
  if (isStale) void refresh();
}

function resume(): void {
  if (isStale) void refresh();
}

export function togglePause(): void {
  isPaused.value = !isPaused.value;
  resume();
}

let loadedName: string | null = null;

export function choose(name: string | null): void {
  batch(() => {
    moment.value = null;
    base.value = null;
    open(name);
  });
}

// At the moment that the address names.
function open(name: string | null): void {
  loadedName = name;
  recordingName.value = name;
  const kept: Reports = {};
  for (const part of ["treemap", "ledger"] as const) {
    if (reports.value[part]) Object.assign(kept, { [part]: reports.value[part] });
  }
  if (reports.value.vms?.recording === "") kept.vms = reports.value.vms;
  reports.value = kept;
  traceTick.value = null;
  loads.value = {};
  restUntil = 0;
  if (name !== null) void refresh();
}

export const showsPages = ({ ledger, machine }: Reports): boolean =>
  ledger !== undefined && (machine === undefined || machineOf.value === "every page");

// Takes a second, so it is taken when it is asked for.
export function chooseMachine(what: (typeof machineOf)["value"]): void {
  machineOf.value = what;
  if (what === "every page" && served.value !== null) void load("ledger");
}

// When a view is opened that has nothing to show yet.
export function need(view: View): void {
  const part = partOf(view);
  const isOther = part === "trace" && traceTick.value !== tracedTick();
  if (served.value === null || (reports.value[part] && !isOther) || loads.value[part] || part === "timeline") return;
  if (part === "diff" && !diffSides.value) return;
  if (part === "ledger" && reports.value.machine) return;
  void load(part);
}

export function again(view: View): void {
  const part = partOf(view);
  note(part, undefined);
  void (part === "timeline" ? refresh() : load(part));
}

export function compare(before: string, after: string): void {
  diffSides.value = [before, after];
  compareOf.value = "peak to peak";
  base.value = null;
  reports.value = { ...reports.value };
  delete reports.value.diff;
  void load("diff");
}

// The same two recordings at another moment of each.
export function compareAgain(at: string): void {
  const [before, after] = diffSides.value!.map((side) => side.replace(/@[^@]*$/, `@${at}`)) as [string, string];
  compare(before, after);
}

// What a list tells of a recording, once it is known.
export type Summary = Info | Failure;
export const summaries = signal<Record<string, Summary>>({});
const summed = new Map<string, { state: string; at: number }>(); // by name: when it was asked for, and of what
const SUMMARY_REST_MS = 5000; // of one that grows
let isSumming = false;

const stateOf = (one: ServedRecording): string => `${one.file_bytes} ${one.changed}`;

function isUnsummed(one: ServedRecording): boolean {
  const known = summed.get(one.name);
  return !known || (known.state !== stateOf(one) && performance.now() - known.at > SUMMARY_REST_MS);
}

async function summaryOf({ link }: ServedRecording): Promise<Summary> {
  try {
    const response = await fetch(`api/recordings/${link}/info`);
    const text = await response.text();
    return response.ok ? (JSON.parse(text) as Info) : failureOf(response, text);
  } catch (error) {
    return { what: "the server does not answer", hint: String(error), mayPass: true };
  }
}

// One after another, and only while the list is looked at: each is a file that
// the server has to read.
export async function summariseAll(): Promise<void> {
  if (isSumming) return;
  isSumming = true;
  for (;;) {
    const next = recordingName.value === null && served.value?.find(isUnsummed);
    if (!next) break;
    summed.set(next.name, { state: stateOf(next), at: performance.now() });
    const summary = await summaryOf(next);
    summaries.value = { ...summaries.value, [next.name]: summary };
  }
  isSumming = false;
}

async function list(): Promise<void> {
  const response = await fetch("api/recordings");
  if (response.ok) served.value = ((await response.json()) as { recordings: ServedRecording[] }).recordings;
}

function follow(): void {
  const events = new EventSource("api/events");
  events.onopen = () => {
    // What changed before was told to others.
    void list().then(isConnected.value ? undefined : refresh);
    isConnected.value = true;
  };
  events.onerror = () => (isConnected.value = false);
  events.addEventListener("recordings", (event) => {
    const { changed } = JSON.parse((event as MessageEvent<string>).data) as { changed: string[] };
    void list().then(() => {
      if (recordingName.value === null) chooseFirst();
      else if (changed.includes(recordingName.value)) void refresh();
    });
  });
  document.addEventListener("visibilitychange", resume);
}

// The one that is written now, or the only one.
function chooseFirst(): void {
  const all = served.value ?? [];
  const first = all.find((one) => one.is_live) ?? (all.length === 1 ? all[0] : undefined);
  if (first) quietly(() => choose(first.name));
}

export function startServed(recordings: ServedRecording[]): void {
  served.value = recordings;
  hasVms.value = view.value === "vms";
  // The token has done its work: a copied address shall not carry it.
  if (location.search.includes("token=")) history.replaceState(null, "", location.pathname + location.hash);
  if (chosen()) open(recordingName.value);
  else {
    recordingName.value = null;
    chooseFirst();
  }
  // Back may return to another one.
  effect(() => {
    const name = recordingName.value;
    if (name !== loadedName) untracked(() => open(name));
  });
  follow();
  if (recordingName.value === null) void lookForVms();
}

// Most machines run none, and a view that is always empty is in the way: the
// machine is asked once, behind what the page was opened for. Whoever has the
// address of the view is told that there is none.
const hasVms = signal(false);
let hasLooked = false;
async function lookForVms(): Promise<void> {
  if (hasLooked) return;
  hasLooked = true;
  const response = await fetch("api/now/vm").catch(() => null);
  if (response?.ok) hasVms.value ||= ((await response.json()) as VmNow).vms.length > 0;
}

// Those that can be asked for, beside those that are there.
export function canAsk(view: View): boolean {
  if (served.value === null) return false;
  return view === "vms" ? hasVms.value : view !== "stacks" || recordingName.value !== null;
}
