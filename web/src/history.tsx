// The machine over the time of a recording: RAM at the moment as a bar that
// closes, the classes of the kernel's counters over time, the time stalled, what
// no counter names, and the processes as in `ps`.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Layer } from "./bands";
import type { ChartData, Gap } from "./chart";
import { kindOf } from "./colours";
import type { Machine, Reports, Residue, Timeline } from "./data";
import { amount, change, counted, duration, momentClock, percent, size, visible } from "./format";
import type { Headline } from "./headline";
import { PressureLane, stalls } from "./lanes";
import { Bars, byOrder } from "./machine";
import { ProcessTree } from "./processes";
import { RowTable } from "./rows";
import { theme } from "./state";
import { Change, Number, Spark } from "./table";
import { baseIndex, momentIndex } from "./moment";
import { gapsOf, Tooltip } from "./timeline";
import { useChart } from "./use_chart";
import { useWidth } from "./width";

export interface MachineRow {
  token: string;
  name: string;
  kind: string;
  bytes: number | null; // null: not known
  before: number | null;
  why: string; // it is not known, or what to know when reading it
}

const RESIDUE = { token: "other", name: "not named by any counter", kind: "unnamed" };

// The classes at a tick and at one before; those that are known and the residue
// sum to RAM.
export function machineRows(machine: Machine, index: number, earlier: number): MachineRow[] {
  const rows = machine.classes.map((one) => ({
    token: one.class,
    name: one.name,
    kind: one.category,
    bytes: one.bytes?.[index] ?? null,
    before: one.bytes?.[earlier] ?? null,
    why: one.unknown?.bytes ?? one.remark ?? "",
  }));
  const other = machine.ticks.other_bytes;
  rows.push({ ...RESIDUE, bytes: other[index] ?? null, before: other[earlier] ?? null, why: "RAM less all of the above" });
  return rows;
}

// One layer for each kind, programs at the bottom and free at the top; where the
// machine was not read there is nothing.
export function machineLayers(machine: Machine): Layer[] {
  const tickCount = machine.ticks.id.length;
  const sums = new Map<string, Float64Array>();
  const add = (kind: string, bytes: (number | null)[]): void => {
    const sum = sums.get(kind) ?? new Float64Array(tickCount);
    // What is counted twice makes a residue below nothing, which has no height.
    bytes.forEach((value, i) => (sum[i]! += Math.max(0, value ?? 0)));
    sums.set(kind, sum);
  };
  for (const one of machine.classes) if (one.bytes) add(one.category, one.bytes);
  add("unnamed", machine.ticks.other_bytes);
  return [...sums]
    .filter(([, values]) => values.some((value) => value > 0))
    .sort(([a], [b]) => byOrder(a, b))
    .map(([kind, values]) => ({ label: kindOf(kind).name, band: { label: kindOf(kind).name, category: kind, ticks: [] }, values }));
}

// Where the machine was not read there is nothing to draw, and it is said.
export function unreadGaps(machine: Machine): Gap[] {
  const { total_bytes: totals, elapsed_ns: times } = machine.ticks;
  const gaps: Gap[] = [];
  for (let i = 0; i < totals.length; ++i) {
    if (totals[i] !== null) continue;
    const from = times[Math.max(0, i - 1)]! / 1e9;
    while (totals[i + 1] === null) ++i;
    const to = times[Math.min(times.length - 1, i + 1)]! / 1e9;
    gaps.push({ from, to, label: `${duration((to - from) * 1e9)} not read` });
  }
  return gaps;
}

export function historyHeadlines({ machine, timeline }: Reports): Headline[] {
  if (!machine || !timeline) return [];
  const index = momentIndex(timeline);
  const at = (list: (number | null)[]): number | null => list[index] ?? null;
  const { ticks } = machine;
  const total = at(ticks.total_bytes);
  const other = at(ticks.other_bytes);
  const unknown = (label: string, how: string): Headline => ({ label, number: "?", unit: "", how, isUnknown: true });
  if (total === null || other === null) return [unknown("RAM", "the machine was not read at this moment")];
  const list: Headline[] = [
    { label: "RAM", ...amount(total), how: machine.total_source },
    { label: "named", number: percent(total - Math.abs(other), total), unit: "%", how: `by the kernel’s counters; ${size(other)} left` },
  ];
  const available = at(ticks.available_bytes);
  list.push(available === null ? unknown("available", "this kernel does not tell") : { label: "available", ...amount(available), how: "kernel’s estimate, MemAvailable" });
  const waits = stalls(machine);
  const whole = waits.reduce((sum, one) => sum + (one.to - one.from) * 1e9, 0);
  const some = waits.reduce((sum, one) => sum + one.some, 0);
  const full = waits.reduce((sum, one) => sum + one.full, 0);
  list.push(
    waits.length === 0
      ? unknown("stalled for memory", "this kernel does not tell of pressure")
      : { label: "stalled for memory", number: percent(some, whole), unit: "% of the time", how: `PSI some, whole recording; full ${percent(full, whole)} %` },
  );
  const swapped = at(ticks.swap_used_bytes);
  list.push(swapped === null ? unknown("swap in use", "this kernel does not tell") : { label: "swap in use", ...amount(swapped), how: "SwapTotal − SwapFree" });
  return list;
}

const TRENDS: Record<Residue["trend"], string> = { unknown: "too short to tell a trend", steady: "steady", rises: "rising", falls: "falling" };

export function residueSentence(residue: Residue, bytes: number, total: number): string {
  const share = `${percent(Math.abs(bytes), total)} % of RAM`;
  const trend = residue.trend === "unknown" ? TRENDS.unknown : `${TRENDS[residue.trend]} over ${duration(residue.span_ns)}`;
  return `${size(bytes)}, ${share}, ${trend}: ${change(residue.last_bytes - residue.first_bytes)} from first to last, between ${size(residue.least_bytes)} and ${size(residue.most_bytes)}.`;
}

function ResidueNote({ machine, index }: { machine: Machine; index: number }): ComponentChildren {
  const values = useMemo(
    () => Float64Array.from(machine.ticks.other_bytes.filter((value) => value !== null), (value) => Math.max(0, value)),
    [machine],
  );
  const bytes = machine.ticks.other_bytes[index];
  const total = machine.ticks.total_bytes[index];
  if (!machine.residue || bytes === null || bytes === undefined || !total) return null;
  return (
    <div class="aside residue">
      <div>
        <b>Not named:</b> {residueSentence(machine.residue, bytes, total)}{" "}
        {bytes < 0
          ? "Less than nothing: a page is counted twice, or moved while the counters were read."
          : <>Pages the kernel took and no counter tells of: drivers, page fragments, pipes. <code class="mono">tidemark ledger</code> names more of them, <code class="mono">tidemark trace</code> tells who takes them.</>}
      </div>
      <Spark values={values} colour={kindOf("unnamed").fill[theme.value]} />
    </div>
  );
}

function History({ reports, layers, index }: { reports: Reports; layers: Layer[]; index: number }): ComponentChildren {
  const machine = reports.machine!;
  const timeline = reports.timeline!;
  const [host, width] = useWidth();
  const seconds = useMemo(() => Float64Array.from(machine.ticks.elapsed_ns, (ns) => ns / 1e9), [machine]);
  const gaps = useMemo(() => [...gapsOf(timeline), ...unreadGaps(machine)].sort((a, b) => a.from - b.from), [timeline, machine]);
  const isWide = width >= 600;
  const height = innerWidth >= 2200 ? Math.max(300, innerHeight * 0.45) : isWide ? 300 : 240;
  const compared = baseIndex(timeline);
  const data: ChartData = {
    seconds, layers, below: null, resident: null, gaps, flag: null, lines: [],
    moment: index, base: compared, theme: theme.value, labelRoom: isWide ? 150 : 24, hasHeadroom: false,
  };
  const { hover, area } = useChart(host, width, height, data);
  const said = layers.map((layer) => `${layer.label} ${size(layer.values[index]!)}`).join(", ");
  return (
    <>
      <div class="chart" tabIndex={0} role="img" aria-label={`RAM of the machine over ${duration(timeline.elapsed_ns)}; at the moment ${said}`}>
        <div ref={host} />
        {hover && <Tooltip timeline={timeline} layers={layers} index={hover.index} x={hover.x} y={hover.y} />}
      </div>
      {width > 0 && <PressureLane machine={machine} area={area} />}
    </>
  );
}

// The sum closes to RAM; what is not known is in the residue and says so.
function Ledger({ rows, total, since }: { rows: MachineRow[]; total: number; since: string }): ComponentChildren {
  const known = rows.filter((row) => row.bytes !== null).sort((a, b) => b.bytes! - a.bytes!);
  const unknown = rows.filter((row) => row.bytes === null);
  const sum = known.reduce((all, row) => all + row.bytes!, 0);
  return (
    <RowTable id="ledger">
      <thead><tr><th>class</th><th class="n">bytes ↓</th><th class="n">%</th><th class="n wide">{since}</th></tr></thead>
      <tbody>
        {known.map((row) => (
          <tr>
            <td class="name" title={row.why || row.name}>
              <span class={`swatch ${kindOf(row.kind).hatched ? "hatched" : ""}`} style={{ backgroundColor: kindOf(row.kind).fill[theme.value] }} />
              {row.name}
            </td>
            <td class="n"><Number bytes={row.bytes!} /></td>
            <td class="n">{percent(row.bytes!, total)}</td>
            <td class="n wide">{row.before === null ? <span class="unknown" title="not read then">?</span> : <Change bytes={row.bytes! - row.before} />}</td>
          </tr>
        ))}
        {unknown.map((row) => (
          <tr>
            <td class="name" title={row.why}>
              <span class="swatch" style={{ backgroundColor: kindOf(row.kind).fill[theme.value] }} />{row.name} <span class="note">{visible(row.why)}</span>
            </td>
            <td class="n"><span class="unknown" title={row.why}>?</span></td>
            <td class="n" />
            <td class="n wide" />
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td class="name">{sum === total ? "all, 0 bytes left over" : `all, ${size(total - sum)} left over`}</td>
          <td class="n"><Number bytes={sum} /></td>
          <td class="n">{percent(sum, total)}</td>
          <td class="n wide" />
        </tr>
      </tfoot>
    </RowTable>
  );
}

function AtMoment({ machine, timeline, index }: { machine: Machine; timeline: Timeline; index: number }): ComponentChildren {
  const total = machine.ticks.total_bytes[index] ?? null;
  if (total === null) return <p class="note">The machine was not read at this moment.</p>;
  const rows = machineRows(machine, index, 0)
    .map(({ kind, bytes }) => ({ kind, bytes: Math.max(0, bytes ?? 0) }))
    .sort((a, b) => byOrder(a.kind, b.kind));
  const time = timeline.ticks.elapsed_ns[index]!;
  return (
    <>
      <div class="bar">
        <h2>RAM {index === timeline.peak_index ? "at the peak of the processes" : `at ${momentClock(time, timeline.elapsed_ns)}`}</h2>
        <span class="note">{size(total)}, by the kernel’s counters</span>
      </div>
      <Bars rows={rows} whole={total} />
    </>
  );
}

export function HistoryView({ reports }: { reports: Reports }): ComponentChildren {
  const machine = reports.machine!;
  const timeline = reports.timeline!;
  const index = momentIndex(timeline);
  const compared = baseIndex(timeline) ?? 0;
  const layers = useMemo(() => machineLayers(machine), [machine]);
  const rows = machineRows(machine, index, compared);
  const total = machine.ticks.total_bytes[index] ?? null;
  const since = compared === 0 ? "since the start" : `since ${momentClock(timeline.ticks.elapsed_ns[compared]!, timeline.elapsed_ns)}`;
  return (
    <>
      <AtMoment machine={machine} timeline={timeline} index={index} />
      <div class="halves spaced">
        <div class="picture">
          <div class="bar">
            <h2>Over time</h2>
            <span class="note">counters, closing to RAM at every sample; click to choose a moment</span>
          </div>
          <History reports={reports} layers={layers} index={index} />
          <ResidueNote machine={machine} index={index} />
        </div>
        <div class="picture">
          <div class="bar">
            <h2>The ledger</h2>
            <span class="note">{counted(rows.length, "class", "classes")}, closing to the byte</span>
          </div>
          {total !== null && <Ledger rows={rows} total={total} since={since} />}
        </div>
      </div>
      {reports.ps && <ProcessTree ps={reports.ps} />}
    </>
  );
}
