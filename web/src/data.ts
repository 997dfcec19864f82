// What the page is given: the same reports that the commands print with --json.
// Files that are mailed carry them inside; a served page asks for them.

export interface Points {
  ticks: number[];
  pss_bytes?: number[];
  private_bytes?: number[];
  rss_bytes?: number[];
  swap_bytes?: number[];
  // Of PSS: what has no more than this bound, and what was scaled since it was read.
  bounded_bytes?: number[];
  estimated_bytes?: number[];
}

export interface Band extends Points {
  label: string;
  category?: string;
  process?: number;
  pid?: number;
  cgroup?: string; // of a process
  others_count?: number;
}

export interface TimelineEvent {
  kind: "appeared" | "fork" | "exec" | "exit" | "swap" | "oom" | "missed";
  elapsed_ns: number;
  duration_ns?: number;
  count?: number;
  text: string;
}

// From those of the drawn ticks on; null: not known, or no limit.
export interface Charge {
  cgroup: string;
  ticks: number[];
  charged_bytes: (number | null)[];
  peak_bytes: (number | null)[];
  limit_bytes: (number | null)[];
}

export interface Timeline {
  schema: "tidemark.timeline/1";
  recording: string;
  targets: string;
  host: string;
  kernel: string;
  start: string;
  period_ns: number;
  elapsed_ns: number;
  tick_count: number;
  missed_count: number;
  peak_index: number;
  ticks: {
    id: number[];
    elapsed_ns: number[];
    resident_bytes: number[];
    pss_bytes: number[];
    process_count: number[];
    undetailed_count: number[];
    scanned_count?: number[];
    bounded_bytes?: number[];
    estimated_bytes?: number[];
    traced_bytes?: (number | null)[]; // held, as a trace of pages knows
  };
  kinds: Band[];
  processes: Band[];
  objects: Band[];
  groups: Band[];
  parts: Band[];
  events: TimelineEvent[];
  untold_event_count: number;
  charge?: Charge;
}

export interface MachineClass {
  class: string;
  name: string;
  category: string;
  bytes: (number | null)[] | null;
  unknown?: { bytes: string };
  remark?: string;
}

export interface Residue {
  first_bytes: number;
  last_bytes: number;
  least_bytes: number;
  most_bytes: number;
  span_ns: number;
  trend: "unknown" | "steady" | "rises" | "falls";
}

// At the ticks of the timeline; null where the machine was not read.
export interface Machine {
  schema: "tidemark.machine/1";
  recording: string;
  start: string;
  total_source: string;
  ticks: {
    id: number[];
    elapsed_ns: number[];
    total_bytes: (number | null)[];
    available_bytes: (number | null)[];
    swap_used_bytes: (number | null)[];
    other_bytes: (number | null)[];
    stalled_some_ns: (number | null)[];
    stalled_full_ns: (number | null)[];
  };
  classes: MachineClass[];
  residue?: Residue;
}

export interface ProcessUse {
  pss_bytes: number | null;
  uss_bytes: number | null;
  shared_bytes: number | null;
  swap_pss_bytes: number | null;
  unknown?: Record<string, string>;
  lower_bounds?: string[];
}

export interface ProcessGroup extends ProcessUse {
  id: number;
  parent_id: number | null;
  name: string;
  key: string;
  process_count: number;
  charged_bytes?: number | null;
  limit_bytes?: number;
}

export interface PsProcess extends ProcessUse {
  pid: number;
  parent_pid: number;
  group_id: number | null;
  name: string;
  cmdline: string;
}

export interface Ps {
  schema: "tidemark.ps/1";
  time: string;
  process_count: number;
  unknown_process_count: number;
  total: ProcessUse;
  groups: ProcessGroup[];
  processes: PsProcess[];
}

export interface Mark {
  label: string;
  bytes: number;
  sampled_bytes: number;
  is_group: boolean;
  is_older: boolean;
}

export interface Peak {
  schema: "tidemark.peak/1";
  elapsed_ns: number;
  moment: { tick: number; time: string; read_ns: number };
  total: { pss_bytes: number | null; undetailed_count: number; undetailed_bytes: number };
  marks: Mark[];
}

export interface Info {
  schema: "tidemark.info/1";
  recording: string;
  file_bytes: number;
  is_open: boolean; // it has a log: being written, or cut off
  tool: string;
  targets: string;
  budget: string;
  first: { time: string };
  span_ns: number;
  sample_count: number;
  // Not there in the page of one recording; null: no memory was seen.
  peak?: { elapsed_ns: number; bytes: number; is_bound: boolean; is_estimated?: boolean } | null;
  shape_bytes?: number[];
  trace: object | null;
  missed_count: number;
  read_ns: number;
  longest_read_ns: number;
  cpu_ns?: number | null; // of the recorder; null: it was not measured
  notes: { first_elapsed_ns: number; process: string; text: string; count: number }[];
}

export interface TreeNode {
  name: string;
  kind: "kernel" | "rest" | "group" | "process" | "object" | "portion" | "other";
  bytes: number;
  // One that is not there is not known of this box.
  pss_bytes?: number;
  private_bytes?: number;
  charged_bytes?: number;
  swap_bytes?: number;
  id?: string;
  pid?: number;
  category?: string;
  children?: TreeNode[];
}

export interface Treemap {
  schema: "tidemark.treemap/1";
  time: string | null; // captures of others do not tell
  by: string;
  total_bytes: number;
  process_count: number;
  unknown_process_count: number;
  tree: TreeNode;
  unknown?: Record<string, string>; // sizes of which the capture tells nothing
  notes: string[];
}

export interface TraceStack {
  symbol: string;
  module?: string;
  pages: number;
  // Not there where the past is not known.
  machine_peak_pages?: number;
  // Not there where nobody looked at what only rises.
  grown_pages?: number;
  // Of a sample: how far the numbers may be off, in 19 of 20 cases.
  error_pages?: number;
  machine_peak_error_pages?: number;
  allocations?: number;
  oldest_ns?: number;
  stacks?: TraceStack[];
}

export interface TraceTask {
  pid: number;
  name: string;
  pages: number;
  // Not there where the past is not known.
  machine_peak_pages?: number;
  error_pages?: number;
  machine_peak_error_pages?: number;
  oldest_ns?: number;
  stacks?: TraceStack[];
}

export interface Trace {
  schema: "tidemark.trace/1";
  backend: string;
  started: string;
  elapsed_ns: number;
  page_size_bytes: number;
  sample_period: number;
  // Stacks of programs stand above those of the kernel.
  user?: { samples: number };
  pages: number;
  peak_pages?: number | null;
  grown_pages?: number | null;
  exact: boolean;
  lost: number;
  untracked_frees: number;
  tasks: TraceTask[];
}

export interface DiffSide {
  label: string;
  pss_bytes: number | null; // null: sharing was not read of any of it
  bounds?: { pss_bytes?: number[] };
  estimated_bytes?: number;
  process_count: number;
  undetailed_count: number;
  // The recording that it is a moment of.
  span_ns?: number;
  moment_ns?: number;
  shape_bytes?: number[];
}

export interface DiffRow {
  category?: string;
  name?: string;
  change_bytes: number;
  before_count?: number | undefined;
  after_count?: number | undefined;
}

export interface Diff {
  schema: "tidemark.diff/1";
  before: DiffSide;
  after: DiffSide;
  change_bytes: number;
  by_counters?: string[]; // compared by resident memory
  categories: DiffRow[];
  mappings: DiffRow[];
  processes: DiffRow[];
  holdings?: DiffRow[]; // kinds of processes
}

export interface LedgerRow {
  class: string;
  owner: string;
  bytes: number;
  parent: string | null;
}

export interface Ledger {
  schema: "tidemark.ledger/1";
  tier: string;
  total_bytes: number;
  elapsed_ns: number;
  own_bytes: number;
  mapped_pages: number;
  changed_pages: number;
  rows: LedgerRow[];
  notes: string[];
}

// As `serve` lists them.
export interface ServedRecording {
  name: string;
  link: string; // the name as a part of a path
  file_bytes: number;
  changed: string;
  is_live: boolean;
}

// Columns have a value for each tick; null: not known, or the VM was not there.
type Column = (number | null)[];

export interface VmBand {
  band: "guest_used" | "guest_caches" | "guest_reserved" | "guest_held" | "guest_ram" | "monitor" | "helper" | "untold";
  name: string;
  known_by: string;
  bytes: Column;
}

// For how long something was not known of a VM, and why. At `to_ns` it was known
// again, unless it lasts.
export interface VmSpan {
  unknown: "absent" | "unread" | "unsettled" | "stale" | "untold";
  from_ns: number;
  to_ns: number;
  because: string;
  lasts: boolean;
}

export interface VmFinding {
  finding: string;
  title: string;
  details: string;
}

export interface VmCourse {
  pid: number;
  start_ticks: number;
  name: string;
  kind: string;
  backing: string;
  deflates_on_oom: boolean | null;
  free_page_reporting: boolean | null;
  peak_index: number;
  ticks: {
    elapsed_ns: number[];
    bands_bytes: Column;
    cost_bytes: Column;
    could_come_back_bytes: Column;
    limit_bytes: Column;
    rss_bytes: Column;
    balloon_bytes: Column;
    configured_bytes: Column;
    swapped_bytes: Column;
    lower_bounds: number[];
  };
  bands: VmBand[];
  spans: VmSpan[];
  // From that tick on.
  findings: { tick_index: number; findings: VmFinding[] }[];
}

export interface Vms {
  schema: "tidemark.vms/1";
  recording: string; // empty: of now
  start: string;
  elapsed_ns: number;
  scan_count: number;
  unseen_process_count: number;
  total: {
    elapsed_ns: number[];
    cost_bytes: Column;
    could_come_back_bytes: Column;
    configured_bytes: Column;
    vm_count: number[];
    answering_count: number[];
  };
  vms: VmCourse[];
}

// What memstats_chart draws.
export interface Sections {
  schema: "tidemark.memstats_sections/1";
  sections: { name: string; stacked: boolean; seconds: number[]; bytes: number[] }[];
}

// `vm` at one moment, of which a served page makes VMs of one tick.
export interface VmNow {
  schema: "tidemark.vm/1";
  time: string;
  unseen_process_count: number;
  total: { cost_bytes: number | null; could_come_back_bytes: number | null; configured_bytes: number | null; vm_count: number; answering_count: number };
  vms: {
    pid: number;
    start_ticks: number;
    name: string;
    kind: string;
    cost_bytes: number | null;
    bands_bytes: number | null;
    could_come_back_bytes: number | null;
    monitor_rss_bytes: number | null;
    lower_bounds?: string[];
    unknown?: Record<string, string>;
    bands: { band: VmBand["band"]; name: string; known_by: string; bytes: number }[];
    ram: { backing: string; configured_bytes: number | null; swapped_bytes: number | null };
    balloon: { size_bytes: number | null; deflates_on_oom: boolean | null; free_page_reporting: boolean | null };
    guest: { stale: boolean; unsettled: boolean; view: { limit_bytes: number } | null; unknown?: { view: string } };
    findings: VmFinding[];
  }[];
}

export interface Reports {
  timeline?: Timeline;
  peak?: Peak;
  info?: Info;
  treemap?: Treemap;
  trace?: Trace;
  tracebase?: Trace; // what the trace is compared with
  treemapbase?: Treemap;
  diff?: Diff;
  ledger?: Ledger;
  machine?: Machine;
  ps?: Ps;
  vms?: Vms;
  sections?: Sections;
}

const NAMES = ["timeline", "peak", "info", "treemap", "treemapbase", "trace", "tracebase", "ledger", "diff", "machine", "ps", "vms", "sections", "served"] as const;

// What a page has inside: reports, or where to ask for them.
export interface Embedded extends Reports {
  served?: { recordings: ServedRecording[] };
}

// In packed data a list of numbers is written as [true, unit, first, differences…].
type Differences = [true, number, ...number[]];

function summedUp([, unit, ...differences]: Differences): number[] {
  let units = 0;
  return differences.map((difference) => (units += difference) * unit);
}

export function unpackedLists(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value[0] === true ? summedUp(value as Differences) : value.map(unpackedLists);
  }
  if (value === null || typeof value !== "object") return value;
  const entries = value as Record<string, unknown>;
  for (const key of Object.keys(entries)) entries[key] = unpackedLists(entries[key]);
  return entries;
}

// The data is fine, the browser is too old for it.
export class Unsupported extends Error {}

// Long reports come as gzip in base64.
export async function unpacked(base64: string): Promise<unknown> {
  if (typeof DecompressionStream === "undefined") {
    throw new Unsupported("This browser unpacks no gzip: Firefox does since 113, Safari since 16.4, Chrome since 80.");
  }
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return unpackedLists(JSON.parse(await new Response(json).text()));
}

// A report that is not there is left out; one that cannot be read is an error
// that the page shows.
export async function embeddedReports(from: Document): Promise<Embedded> {
  const reports: Record<string, unknown> = {};
  for (const name of NAMES) {
    const element = from.getElementById(`data-${name}`);
    if (!element?.textContent) continue;
    const isPacked = element.getAttribute("type") === "application/gzip";
    reports[name] = isPacked ? await unpacked(element.textContent) : JSON.parse(element.textContent);
  }
  return reports as Embedded;
}
