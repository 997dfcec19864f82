// VMs as what is drawn of them; no element of the page is needed for it.
import type { Layer } from "./bands";
import type { Curve, Gap } from "./chart";
import type { Sections, VmBand, VmCourse, VmFinding, VmNow, Vms, VmSpan } from "./data";
import { duration, size, visible } from "./format";

const MONITORS: Record<string, string> = { qemu: "QEMU", crosvm: "crosvm", firecracker: "Firecracker", cloud_hypervisor: "Cloud Hypervisor", other: "KVM" };
export const monitorName = (kind: string): string => MONITORS[kind] ?? kind;

// A pid may come again: with when it began it is one.
export const vmKey = ({ pid, start_ticks }: { pid: number; start_ticks: number }): string => `${pid}.${start_ticks}`;

// The kind of memory whose colour a band has everywhere. What cannot be told
// apart is hatched; processes have colours of their own.
const CATEGORIES: Partial<Record<VmBand["band"], string>> = {
  guest_used: "anon", guest_caches: "file", guest_reserved: "wired", guest_held: "held", guest_ram: "unnamed", untold: "unnamed",
};
const MONITOR_PLACE = 3;
const HELPER_PLACES = [5, 6, 7, 0, 1, 2, 4];

interface Look {
  category?: string;
  place?: number;
}

// Of each band in its order.
export function looksOf(bands: { band: VmBand["band"] }[]): Look[] {
  let helpers = 0;
  return bands.map(({ band }) => {
    const category = CATEGORIES[band];
    if (category !== undefined) return { category };
    return { place: band === "monitor" ? MONITOR_PLACE : HELPER_PLACES[helpers++ % HELPER_PLACES.length]! };
  });
}

const layer = (label: string, look: Look, values: Float64Array): Layer => ({
  label,
  band: { label, ticks: [], ...(look.category !== undefined ? { category: look.category } : {}) },
  ...(look.place !== undefined ? { place: look.place } : {}),
  values,
});

export function vmLayers({ bands }: VmCourse): Layer[] {
  const looks = looksOf(bands);
  return bands.map((band, i) => layer(band.name, looks[i]!, Float64Array.from(band.bytes, (bytes) => bytes ?? 0)));
}

// 0: parted into what the guest does with it, 1: not, 2: the VM was not there.
export function vmParts({ ticks, bands }: VmCourse): Uint8Array {
  const split = bands.find(({ band }) => band === "guest_used");
  return Uint8Array.from(ticks.bands_bytes, (bytes, i) => (bytes === null ? 2 : split && split.bytes[i] !== null ? 0 : 1));
}

// The last tick that is not later; the first where all are.
export function tickAt(elapsed: number[], ns: number): number {
  let found = 0;
  for (let i = 0; i < elapsed.length && elapsed[i]! <= ns; ++i) found = i;
  return found;
}

const SPAN_WORDS: Record<VmSpan["unknown"], string> = {
  absent: "not there", unread: "not all of it read", unsettled: "balloon moved", stale: "guest silent", untold: "guest silent",
};

export interface Remark {
  from: number; // seconds
  to: number;
  words: string[]; // lines
}

// What is said in the picture where a split is unknown for a part of it; of one
// that never is known it is said beside the picture.
export function vmRemarks(course: VmCourse): Remark[] {
  const parts = vmParts(course);
  if (!parts.includes(0)) return [];
  return course.spans
    .filter(({ unknown }) => unknown !== "absent" && unknown !== "unread")
    .filter(({ from_ns, to_ns }) => parts[tickAt(course.ticks.elapsed_ns, (from_ns + to_ns) / 2)] !== 0)
    .map(({ unknown, from_ns, to_ns }) => ({
      from: from_ns / 1e9,
      to: to_ns / 1e9,
      words: [`${SPAN_WORDS[unknown]}${to_ns > from_ns && unknown !== "unsettled" ? ` for ${duration(to_ns - from_ns)}` : ""}:`, "split unknown"],
    }));
}

// Where there is nothing to draw: the VM was not there, or none of it was read.
export function vmGaps({ spans, ticks }: VmCourse): Gap[] {
  const isUndrawn = ({ from_ns, to_ns }: VmSpan): boolean => ticks.bands_bytes[tickAt(ticks.elapsed_ns, (from_ns + to_ns) / 2)] === null;
  return spans
    .filter((span) => span.unknown === "absent" || (span.unknown === "unread" && isUndrawn(span)))
    .map(({ unknown, from_ns, to_ns }) => ({ from: from_ns / 1e9, to: to_ns / 1e9, label: `${duration(to_ns - from_ns)} not ${unknown === "absent" ? "there" : "read"}` }));
}

const numbers = (column: (number | null)[]): Float64Array => Float64Array.from(column, (bytes) => bytes ?? NaN);
const most = (values: Float64Array): number => values.reduce((high, value) => (value > high ? value : high), 0);

export function vmCurves({ ticks }: VmCourse, isWide = true): Curve[] {
  const curves: Curve[] = [];
  const rss = numbers(ticks.rss_bytes);
  const limit = numbers(ticks.limit_bytes);
  if (most(rss) > 0) curves.push({ values: rss, text: "", names: ["RSS of the monitor", "host RSS", "RSS"], dash: [3, 2] });
  if (most(limit) > 0) curves.push({ values: limit, text: isWide ? "guest limit = total − balloon" : "guest limit", names: [], dash: [], isBold: true });
  return curves;
}

// Where the balloon is shown: in the middle of when it was largest.
export function balloonPlace({ ticks }: VmCourse): { index: number; bytes: number; limit: number } | null {
  const sizes = ticks.balloon_bytes;
  const largest = Math.max(0, ...sizes.map((bytes, i) => (ticks.limit_bytes[i] === null ? 0 : bytes ?? 0)));
  if (largest === 0) return null;
  const isLarge = (i: number): boolean => ticks.limit_bytes[i] != null && (sizes[i] ?? 0) >= 0.98 * largest;
  let first = sizes.findIndex((_, i) => isLarge(i));
  let last = first;
  while (isLarge(last + 1)) ++last;
  const index = Math.floor((first + last) / 2);
  return { index, bytes: sizes[index]!, limit: ticks.limit_bytes[index]! };
}

export function findingsAt({ findings }: VmCourse, index: number): VmFinding[] {
  let found: VmFinding[] = [];
  for (const one of findings) if (one.tick_index <= index) found = one.findings;
  return found;
}

export const spansAt = ({ spans }: VmCourse, ns: number): VmSpan[] =>
  spans.filter(({ from_ns, to_ns, lasts }) => from_ns <= ns && (ns < to_ns || lasts));

// Why a band has no number at a tick.
export function whyUnknown(course: VmCourse, index: number, band: VmBand["band"]): string {
  const spans = spansAt(course, course.ticks.elapsed_ns[index]!);
  const isOfGuest = band.startsWith("guest");
  const found = spans.find(({ unknown }) => unknown === "absent" || (unknown === "unread") === !isOfGuest) ?? spans[0];
  return found?.because ?? "it is not told";
}

export interface VmRow {
  name: string;
  known: string;
  look: Look;
  bytes: number | null;
  why: string;
}

export function vmRows(course: VmCourse, index: number): VmRow[] {
  const looks = looksOf(course.bands);
  return course.bands
    .map((band, i) => {
      const bytes = band.bytes[index] ?? null;
      return { name: band.name, known: band.known_by.replaceAll(" - ", " − "), look: looks[i]!, bytes, why: bytes === null ? whyUnknown(course, index, band.band) : "", kind: band.band };
    })
    // All of it is in the others, or nobody knows whether there is any.
    .filter(({ kind, bytes }) => !(kind === "guest_ram" || kind === "untold") || (bytes ?? 0) > 0);
}

export const isBound = ({ ticks }: VmCourse, index: number): boolean => ticks.lower_bounds.includes(index);

// The rows and what they add up to, to be put elsewhere.
export function vmMarkdown(course: VmCourse, index: number, head: string): string {
  const cell = (text: string): string => visible(text).replaceAll("|", "\\|").replaceAll("`", "'");
  const lines = vmRows(course, index).map(({ name, known, bytes, why }) => `| ${cell(name)} | ${cell(bytes === null ? why : known)} | ${bytes === null ? "?" : size(bytes)} |`);
  const cost = course.ticks.cost_bytes[index] ?? null;
  lines.push(`| cost to the host | | ${cost === null ? "?" : `${isBound(course, index) ? "≥ " : ""}${size(cost)}`} |`);
  return [`| ${cell(course.name)}, ${head} | how it is known | bytes |`, "|---|---|---:|", ...lines].join("\n") + "\n";
}

// What memstats_chart draws, as layers over one list of seconds. It has numbers
// below nothing, which have no height; `below` counts them.
export interface SectionLayers {
  seconds: Float64Array;
  layers: Layer[];
  bytes: Map<string, (number | null)[]>;
  limit: Float64Array | null;
  below: number;
}

const SECTION_LOOKS: [string, Look][] = [
  ["(guest disk caches)", { category: "file" }],
  ["(guest shared memory)", { category: "shm" }],
  ["(guest unevictable)", { place: 0 }],
  ["(guest used)", { category: "anon" }],
  ["(host)", { place: MONITOR_PLACE }],
];

export function sectionLayers({ sections }: Sections): SectionLayers {
  const all = [...new Set(sections.flatMap((one) => one.seconds))].sort((a, b) => a - b);
  const place = new Map(all.map((second, i) => [second, i]));
  const made: SectionLayers = { seconds: Float64Array.from(all, (second) => second - (all[0] ?? 0)), layers: [], bytes: new Map(), limit: null, below: 0 };
  let helpers = 0;
  for (const section of sections) {
    const column: (number | null)[] = new Array(all.length).fill(null);
    section.seconds.forEach((second, i) => (column[place.get(second)!] = section.bytes[i]!));
    if (!section.stacked) {
      if (section.seconds.length > 0) made.limit = numbers(column);
      continue;
    }
    made.below += section.bytes.filter((bytes) => bytes < 0).length;
    const look = SECTION_LOOKS.find(([end]) => section.name.endsWith(end))?.[1] ?? { place: HELPER_PLACES[helpers++ % HELPER_PLACES.length]! };
    made.bytes.set(section.name, column);
    made.layers.push(layer(section.name, look, Float64Array.from(column, (bytes) => Math.max(0, bytes ?? 0))));
  }
  return made;
}

// `vm` of one moment, as VMs of one tick.
export function vmsOfNow(now: VmNow): Vms {
  const { total } = now;
  return {
    schema: "tidemark.vms/1", recording: "", start: now.time, elapsed_ns: 0, scan_count: 1, unseen_process_count: now.unseen_process_count,
    total: {
      elapsed_ns: [0], cost_bytes: [total.cost_bytes], could_come_back_bytes: [total.could_come_back_bytes],
      configured_bytes: [total.configured_bytes], vm_count: [total.vm_count], answering_count: [total.answering_count],
    },
    vms: now.vms.map((vm) => {
      const spans: VmSpan[] = [];
      const add = (unknown: VmSpan["unknown"], because: string | undefined): void => {
        if (because) spans.push({ unknown, from_ns: 0, to_ns: 0, because, lasts: true });
      };
      const { guest } = vm;
      add(guest.unsettled ? "unsettled" : guest.stale ? "stale" : "untold", guest.unknown?.view ?? vm.unknown?.["could_come_back_bytes"]);
      const isBelow = vm.lower_bounds?.includes("cost_bytes") ?? false;
      if (vm.cost_bytes === null || isBelow) add("unread", vm.unknown?.["helpers_bytes"] ?? vm.unknown?.["overhead_bytes"] ?? vm.unknown?.["cost_bytes"]);
      return {
        pid: vm.pid, start_ticks: vm.start_ticks, name: vm.name, kind: vm.kind, backing: vm.ram.backing,
        deflates_on_oom: vm.balloon.deflates_on_oom, free_page_reporting: vm.balloon.free_page_reporting, peak_index: 0,
        ticks: {
          elapsed_ns: [0], bands_bytes: [vm.bands_bytes], cost_bytes: [vm.cost_bytes], could_come_back_bytes: [vm.could_come_back_bytes],
          limit_bytes: [guest.view?.limit_bytes ?? null], rss_bytes: [vm.monitor_rss_bytes], balloon_bytes: [vm.balloon.size_bytes],
          configured_bytes: [vm.ram.configured_bytes], swapped_bytes: [vm.ram.swapped_bytes], lower_bounds: isBelow ? [0] : [],
        },
        bands: vm.bands.map(({ band, name, known_by, bytes }) => ({ band, name, known_by, bytes: [bytes] })),
        spans,
        findings: [{ tick_index: 0, findings: vm.findings }],
      };
    }),
  };
}

// "guest used 790 MiB, …": the moment in words.
export const said = (rows: { name: string; bytes: number | null }[]): string =>
  rows.map(({ name, bytes }) => `${name} ${bytes === null ? "unknown" : size(bytes)}`).join(", ");
