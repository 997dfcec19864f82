// Virtual machines: what each costs its host, what its guest does with that, and
// what could come back, over time and at the chosen moment.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Layer } from "./bands";
import type { ChartData, Curve } from "./chart";
import { ChartTip } from "./chart_tip";
import { Choices } from "./choices";
import { kindOf, type Kind } from "./colours";
import { copyText } from "./copy";
import type { Reports, Sections, VmCourse, VmFinding, Vms } from "./data";
import { amount, count, counted, duration, momentClock, percent, size, visible } from "./format";
import { zoomed } from "./gestures";
import type { Headline } from "./headline";
import { bandColour } from "./paint";
import { RowTable } from "./rows";
import { again, isLive, reports as shownReports, served } from "./served";
import { moment, next, theme, VM_OF, vmAt, vmName, vmOf, zoom } from "./state";
import { State } from "./states";
import { Number, Spark } from "./table";
import { useChart } from "./use_chart";
import { useKeys } from "./viewkeys";
import { drawBalloon, drawRemarks } from "./vm_marks";
import { balloonPlace, findingsAt, isBound, monitorName, said, sectionLayers, spansAt, tickAt, vmCurves, vmGaps, vmKey, vmLayers, vmMarkdown, vmParts, vmRemarks, vmRows, type VmRow } from "./vm_series";
import { useWidth } from "./width";

// The chosen moment in ns; null: none was chosen. That of a timeline is that of
// its VMs too.
function chosenNs({ timeline }: Reports): number | null {
  if (vmAt.value && vmAt.value.with === moment.value) return vmAt.value.ns;
  if (!timeline || moment.value === null) return null;
  return timeline.ticks.elapsed_ns[Math.min(moment.value, timeline.ticks.id.length - 1)] ?? null;
}

function chooseNs(ns: number): void {
  const { timeline } = shownReports.value;
  if (timeline) moment.value = tickAt(timeline.ticks.elapsed_ns, ns);
  vmAt.value = { ns, with: moment.value };
}

function indexOf(course: VmCourse, reports: Reports): number {
  const ns = chosenNs(reports);
  if (ns !== null) return tickAt(course.ticks.elapsed_ns, ns);
  return isLive() ? course.ticks.elapsed_ns.length - 1 : course.peak_index;
}

const shownVm = ({ vms }: Vms): VmCourse | undefined => vms.find((vm) => vmKey(vm) === vmName.value) ?? vms[0];

const unknownHeadline = (label: string, how: string): Headline => ({ label, number: "?", unit: "", how, isUnknown: true });

export function vmHeadlines(reports: Reports): Headline[] {
  const { vms } = reports;
  const course = vms && shownVm(vms);
  if (!vms || !course) return [];
  const { total } = vms;
  const at = tickAt(total.elapsed_ns, course.ticks.elapsed_ns[indexOf(course, reports)]!);
  const all = total.vm_count[at]!;
  const told = total.answering_count[at]!;
  const bytes = (label: string, value: number | null | undefined, how: string, why: string): Headline =>
    value === null || value === undefined ? unknownHeadline(label, why) : { label, ...amount(value), how };
  return [
    bytes("all VMs cost the host", total.cost_bytes[at], "guest RAM in memory, monitors and helpers", "no process of them could be read"),
    bytes("could come back", total.could_come_back_bytes[at], told < all ? `free in ${counted(told, "guest")}, still held here; ${count(all - told)} unknown` : "free in the guests, still held here", told > 0 ? "what the guests told is of another moment, or not enough" : "no guest tells"),
    bytes("given", total.configured_bytes[at], "RAM of all guests together", "nobody tells what the guests were given"),
    { label: "answering", number: count(told), unit: `of ${counted(all, "guest")}`, how: told < all ? "the others are drawn as the host sees them" : "each tells what it does with its memory" },
  ];
}

// As the chart hatches it, so many pixels apart.
const lines = (kind: Kind, colour: string, step: number): string =>
  `repeating-linear-gradient(${kind.falls ? 45 : -45}deg, ${colour} 0 1.5px, ${kind.ground?.[theme.value] ?? "var(--bg)"} 1.5px ${step}px)`;

const Swatch = ({ look }: { look: VmRow["look"] }): ComponentChildren => {
  const kind = look.category === undefined ? null : kindOf(look.category);
  const colour = bandColour(look.category, look.place ?? null, theme.value);
  return <span class="swatch" style={{ background: kind?.hatched ? lines(kind, colour, 4) : colour }} />;
};

const Bytes = ({ bytes, why, isLeast = false }: { bytes: number | null; why: string; isLeast?: boolean }): ComponentChildren =>
  bytes === null ? <span class="unknown" title={why}>?</span> : <>{isLeast ? "≥ " : ""}<Number bytes={bytes} /></>;

const sizeOr = (bytes: number | null | undefined, otherwise: string): string => (bytes === null || bytes === undefined ? otherwise : size(bytes));

function Entry({ course, index, isChosen }: { course: VmCourse; index: number; isChosen: boolean }): ComponentChildren {
  const { ticks } = course;
  const heights = useMemo(() => Float64Array.from(ticks.bands_bytes, (bytes) => bytes ?? 0), [course]);
  const used = course.bands.find(({ band }) => band === "guest_used")?.bytes[index];
  const cost = ticks.cost_bytes[index];
  const isThere = !spansAt(course, ticks.elapsed_ns[index]!).some(({ unknown }) => unknown === "absent") || cost !== null;
  const held = ticks.could_come_back_bytes[index];
  const host = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) host.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  return (
    <li ref={host}>
      <button aria-pressed={isChosen} onClick={() => (vmName.value = vmKey(course))}>
        <span class="vmhead"><b>{visible(course.name)}</b><b>{!isThere ? "not there" : cost == null ? <span class="unknown">?</span> : `${isBound(course, index) ? "≥ " : ""}${size(cost)}`}</b></span>
        <span class="vmbody">
          <span>{monitorName(course.kind)}{ticks.configured_bytes[index] != null ? ` · ${size(ticks.configured_bytes[index]!)}` : ""}</span>
          {heights.length > 1 && <Spark values={heights} colour={kindOf("wired").ink[theme.value]} />}
        </span>
        <span class="vmbody">guest used {sizeOr(used, "?")} · balloon {sizeOr(ticks.balloon_bytes[index], "?")}</span>
        <span class="vmbody"><span>could come back: {held == null ? <span class="unknown">unknown</span> : size(held)}</span></span>
      </button>
    </li>
  );
}

function Tip({ layers, rows, time, index, x, y }: { layers: Layer[]; rows: { name: string; look: VmRow["look"]; bytes: number | null }[]; time: string; index: number; x: number; y: number }): ComponentChildren {
  const sum = layers.reduce((all, { values }) => all + values[index]!, 0);
  return (
    <ChartTip x={x} y={y} time={time}>
      {[...rows].reverse().map(({ name, look, bytes }) => <tr><td><Swatch look={look} />{visible(name)}</td><td class="n">{bytes === null ? "?" : size(bytes)}</td></tr>)}
      <tr><td><b>sum</b></td><td class="n"><b>{size(sum)}</b></td></tr>
    </ChartTip>
  );
}

const chartHeight = (isWide: boolean): number => (innerWidth >= 2200 ? Math.max(350, innerHeight * 0.5) : isWide ? 350 : 260);

function CourseChart({ course, vms, index }: { course: VmCourse; vms: Vms; index: number }): ComponentChildren {
  const [host, width] = useWidth();
  const { ticks } = course;
  const layers = useMemo(() => vmLayers(course), [course]);
  const made = useMemo(() => ({
    seconds: Float64Array.from(ticks.elapsed_ns, (ns) => ns / 1e9),
    gaps: vmGaps(course), parts: vmParts(course), remarks: vmRemarks(course), balloon: balloonPlace(course),
    swapped: ticks.swapped_bytes.some((bytes) => (bytes ?? 0) > 0) ? Float64Array.from(ticks.swapped_bytes, (bytes) => bytes ?? 0) : null,
  }), [course]);
  const isWide = width >= 600;
  const peak = ticks.bands_bytes[course.peak_index] ?? 0;
  const clockOf = (at: number): string => momentClock(ticks.elapsed_ns[at]!, vms.elapsed_ns);
  const { balloon } = made;
  const data: ChartData = {
    seconds: made.seconds, layers, below: made.swapped, resident: null, gaps: made.gaps, lines: [], curves: vmCurves(course, isWide), parts: made.parts,
    flag: { at: ticks.elapsed_ns[course.peak_index]! / 1e9, bytes: peak, text: `peak ${isBound(course, course.peak_index) ? "≥ " : ""}${size(peak)} · ${clockOf(course.peak_index)}` },
    moment: index, theme: theme.value, labelRoom: isWide ? 190 : 24,
    draw: (plot) => {
      if (balloon) drawBalloon(plot, { at: made.seconds[balloon.index]!, from: balloon.limit, to: balloon.limit + balloon.bytes, text: `balloon ${size(balloon.bytes)}` });
      if (isWide) drawRemarks(plot, made.remarks, (at) => ticks.bands_bytes[tickAt(ticks.elapsed_ns, at * 1e9)] ?? 0);
    },
  };
  const { hover } = useChart(host, width, chartHeight(isWide), data, (at) => chooseNs(ticks.elapsed_ns[at]!));
  return (
    <div class="chart" tabIndex={0} role="img" aria-label={`${visible(course.name)} over ${duration(vms.elapsed_ns)}, highest ${size(peak)} at ${clockOf(course.peak_index)}; at the moment ${visible(said(vmRows(course, index)))}`}>
      <div ref={host} />
      {hover && <Tip layers={layers} rows={vmRows(course, hover.index)} time={clockOf(hover.index)} index={hover.index} x={hover.x} y={hover.y} />}
    </div>
  );
}

// Of one moment there is no chart: the same bands side by side.
function OneBar({ rows, whole }: { rows: VmRow[]; whole: number }): ComponentChildren {
  return (
    <div class="vmbar" role="img" aria-label={visible(said(rows))}>
      {rows.filter((row) => (row.bytes ?? 0) > 0).map((row) => {
        const kind = row.look.category === undefined ? null : kindOf(row.look.category);
        const colour = bandColour(row.look.category, row.look.place ?? null, theme.value);
        return <div title={`${visible(row.name)} ${size(row.bytes!)}`} style={{ width: `${(100 * row.bytes!) / whole}%`, background: kind?.hatched ? lines(kind, colour, 6) : colour }} />;
      })}
    </div>
  );
}

function MomentTable({ course, index, head }: { course: VmCourse; index: number; head: string }): ComponentChildren {
  const { ticks } = course;
  const [copied, tell] = useState("");
  const rows = vmRows(course, index);
  const copy = (): void => copyText(vmMarkdown(course, index, head), tell);
  const sum = ticks.bands_bytes[index] ?? null;
  const cost = ticks.cost_bytes[index] ?? null;
  const isLeast = isBound(course, index);
  const why = spansAt(course, ticks.elapsed_ns[index]!)[0]?.because ?? "it is not told";
  const beside: [string, string, number | null][] = [
    ["guest limit", "guest total − balloon", ticks.limit_bytes[index] ?? null],
    ["balloon", "the monitor", ticks.balloon_bytes[index] ?? null],
    ["RAM it was given", "the monitor, or the size of its RAM", ticks.configured_bytes[index] ?? null],
    ["RSS of the monitor", "what other tools show", ticks.rss_bytes[index] ?? null],
    ["swapped out by the host", "guest RAM in swap; not in the cost", ticks.swapped_bytes[index] ?? null],
  ];
  return (
    <RowTable id="moment">
      <thead><tr>
        <th>{head} <button id="copy" class="control" title="the rows as Markdown" onClick={copy}>copy <kbd>y</kbd></button> <span role="status">{copied}</span></th>
        <th class="wide">how it is known</th><th class="n">bytes</th><th class="n">%</th>
      </tr></thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            <td class="name" title={visible(row.name)}><Swatch look={row.look} />{visible(row.name)}</td>
            <td class="wide mostly" title={row.known}>{row.bytes === null ? visible(row.why) : visible(row.known)}</td>
            <td class="n"><Bytes bytes={row.bytes} why={row.why} /></td>
            <td class="n">{row.bytes === null || sum === null ? "" : percent(row.bytes, sum)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td class="name">cost to the host</td>
          <td class="wide mostly">{isLeast ? `at least: ${visible(why)}` : cost !== null && sum !== null && cost < sum ? `the bands, less ${size(sum - cost)} saved by merging` : "what the bands add up to"}</td>
          <td class="n"><Bytes bytes={cost} why={why} isLeast={isLeast} /></td>
          <td class="n">{cost === null || sum === null ? "" : percent(cost, sum)}</td>
        </tr>
        {beside.map(([what, known, bytes]) => (
          <tr class="beside-row">
            <td class="name">{what}</td><td class="wide mostly">{known}</td><td class="n"><Bytes bytes={bytes} why={visible(why)} /></td><td />
          </tr>
        ))}
      </tfoot>
    </RowTable>
  );
}

const Findings = ({ findings, whys }: { findings: VmFinding[]; whys: string[] }): ComponentChildren => (
  <div class="findings">
    {findings.map(({ title, details }) => <div class="finding"><b>{visible(title)}</b><p>{visible(details)}</p></div>)}
    {whys.map((why) => <div class="aside">Not known at this moment: {visible(why)}.</div>)}
    {findings.length + whys.length === 0 && <p class="note">Nothing of note at this moment.</p>}
  </div>
);

function Course({ course, vms, reports }: { course: VmCourse; vms: Vms; reports: Reports }): ComponentChildren {
  const index = indexOf(course, reports);
  const ns = course.ticks.elapsed_ns[index]!;
  const head = course.ticks.elapsed_ns.length === 1 ? "at this moment" : index === course.peak_index ? `at the peak, ${momentClock(ns, vms.elapsed_ns)}` : `at ${momentClock(ns, vms.elapsed_ns)}`;
  const findings = findingsAt(course, index);
  // A finding says it better than the reason does.
  const isSaid = findings.some(({ finding }) => ["statistics_off", "statistics_stale", "guest_silent", "monitor_busy", "unsettled"].includes(finding));
  const whys = spansAt(course, ns).filter(({ unknown }) => unknown === "unread" || !isSaid).map(({ because }) => because);
  const drawn = course.ticks.elapsed_ns.length;
  const rows = vmRows(course, index);
  if (course.ticks.bands_bytes.every((bytes) => bytes === null)) {
    return <State title="What this VM costs is not known">{visible(course.spans.find(({ unknown }) => unknown === "unread")?.because ?? "none of its processes could be read")}</State>;
  }
  return (
    <>
      {drawn > 1 ? <CourseChart course={course} vms={vms} index={index} /> : <OneBar rows={rows} whole={course.ticks.bands_bytes[index] ?? 1} />}
      {drawn < vms.scan_count && <p class="note">{count(vms.scan_count)} readings, of which {count(drawn)} are drawn: the lowest and the highest of each column.</p>}
      <div class="halves spaced">
        <MomentTable course={course} index={index} head={head} />
        <Findings findings={findings} whys={[...new Set(whys)]} />
      </div>
    </>
  );
}

function SectionsChart({ sections }: { sections: Sections }): ComponentChildren {
  const [host, width] = useWidth();
  const made = useMemo(() => sectionLayers(sections), [sections]);
  const { seconds, layers, limit, below } = made;
  const chosen = vmAt.value ? tickAt([...seconds], vmAt.value.ns / 1e9) : seconds.length - 1;
  const isWide = width >= 600;
  const curves: Curve[] = limit ? [{ values: limit, text: "(total memory) − (balloon size)", names: [], dash: [], isBold: true }] : [];
  const data: ChartData = { seconds, layers, below: null, resident: null, gaps: [], flag: null, lines: [], curves, moment: chosen, theme: theme.value, labelRoom: isWide ? 210 : 10 };
  const { hover } = useChart(host, width, chartHeight(isWide), data, (at) => chooseNs(seconds[at]! * 1e9));
  const lookOf = (one: Layer): VmRow["look"] => ({ ...(one.band?.category !== undefined ? { category: one.band.category } : {}), ...(one.place !== undefined ? { place: one.place } : {}) });
  const rowsAt = (at: number): { name: string; look: VmRow["look"]; bytes: number | null }[] => layers.map((one) => ({ name: one.label, look: lookOf(one), bytes: made.bytes.get(one.label)?.[at] ?? null }));
  const clockOf = (at: number): string => momentClock((seconds[at] ?? 0) * 1e9, (seconds[seconds.length - 1] ?? 0) * 1e9);
  return (
    <>
      <div class="chart" tabIndex={0} role="img" aria-label={`sections of memstats_chart; at ${clockOf(chosen)} ${visible(said(rowsAt(chosen)))}`}>
        <div ref={host} />
        {hover && <Tip layers={layers} rows={rowsAt(hover.index)} time={clockOf(hover.index)} index={hover.index} x={hover.x} y={hover.y} />}
      </div>
      <p class="note">
        By the arithmetic of memstats_chart: shared memory and unevictable pages are taken off though they are in the caches and in use, and “host” is all
        that is left of the monitor’s RSS.{below > 0 && ` ${counted(below, "value")} came out below nothing and have no height here.`}
      </p>
      <RowTable id="moment">
        <thead><tr><th>at {clockOf(chosen)}</th><th class="n">bytes</th></tr></thead>
        <tbody>{rowsAt(chosen).map(({ name, look, bytes }) => <tr><td class="name"><Swatch look={look} />{visible(name)}</td><td class="n"><Bytes bytes={bytes} why="the process was not there" /></td></tr>)}</tbody>
        <tfoot>{limit && <tr class="beside-row"><td class="name">(total memory) − (balloon size)</td><td class="n"><Bytes bytes={isNaN(limit[chosen]!) ? null : limit[chosen]!} why="the guest never told" /></td></tr>}</tfoot>
      </RowTable>
    </>
  );
}

function useVmKeys(course: VmCourse | undefined, list: VmCourse[], index: number, vms: Vms | undefined): void {
  const move = (by: number): void => {
    if (course) chooseNs(course.ticks.elapsed_ns[Math.min(course.ticks.elapsed_ns.length - 1, Math.max(0, index + by))]!);
  };
  const step = (by: number): void => {
    const at = list.findIndex((one) => one === course) + by;
    if (list[at]) vmName.value = vmKey(list[at]!);
  };
  const turn = (factor: number): void => {
    const last = (vms?.elapsed_ns ?? 0) / 1e9;
    if (course && last > 0) zoom.value = zoomed(zoom.value ?? [0, last], course.ticks.elapsed_ns[index]! / 1e9, factor, last);
  };
  useKeys({
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    ArrowLeft: (event) => move(event.ctrlKey ? -10 : -1),
    ArrowRight: (event) => move(event.ctrlKey ? 10 : 1),
    p: () => course && chooseNs(course.ticks.elapsed_ns[course.peak_index]!),
    "+": () => turn(0.5),
    "=": () => turn(0.5),
    "-": () => turn(2),
    c: () => shownReports.value.sections && (vmOf.value = next(VM_OF, vmOf.value)),
  });
}

const NoVms = ({ vms }: { vms: Vms }): ComponentChildren => (
  <State title={vms.recording ? "No VM in this recording" : "No VM runs here"}>
    A VM is who holds a kvm-vm descriptor, or runs a program known to run guests.{" "}
    {vms.unseen_process_count > 0 && `${counted(vms.unseen_process_count, "process", "processes")} may not be looked into by this user; root may. `}
    {served.value !== null && !vms.recording && <button class="control" onClick={() => again("vms")}>look again</button>}
  </State>
);

// What is known of it as a whole, beside its name.
function facts(course: VmCourse, index: number): string {
  const given = course.ticks.configured_bytes[index];
  const backing = [given == null ? "" : size(given), course.backing].filter(Boolean).join(" ");
  const deflates = course.deflates_on_oom === null ? "" : `deflate-on-oom ${course.deflates_on_oom ? "on" : "off"}`;
  const reports = course.free_page_reporting === null ? "" : `free page reporting ${course.free_page_reporting ? "on" : "off"}`;
  return [monitorName(course.kind), `pid ${course.pid}`, backing, deflates, reports].filter(Boolean).join(" · ");
}

export function VmsView({ reports }: { reports: Reports }): ComponentChildren {
  const { vms, sections } = reports;
  const [refusal, say] = useState("");
  const course = vms && shownVm(vms);
  const index = course ? indexOf(course, reports) : 0;
  const ns = course?.ticks.elapsed_ns[index] ?? 0;
  const costAt = (one: VmCourse): number => one.ticks.cost_bytes[tickAt(one.ticks.elapsed_ns, ns)] ?? -1;
  const list = vms ? [...vms.vms].sort((a, b) => costAt(b) - costAt(a)) : [];
  useVmKeys(course, list, index, vms);
  if (!vms) return <SectionsChart sections={sections!} />;
  if (!course) return <NoVms vms={vms} />;
  const drawsSections = sections !== undefined && vmOf.value === "five sections";
  return (
    <div class="vms">
      <div>
        <div class="bar"><h2>VMs</h2><span class="push note">by host cost ↓</span></div>
        <ul class="vmlist">{list.map((one) => <Entry key={vmKey(one)} course={one} index={tickAt(one.ticks.elapsed_ns, ns)} isChosen={one === course} />)}</ul>
      </div>
      <div class="picture">
        <div class="bar">
          <h2>{visible(course.name)}</h2>
          <span class="note">{visible(facts(course, index))}</span>
          <span class="push" />
          {refusal && <span class="note" role="status">{refusal}</span>}
          {served.value !== null && !vms.recording && <button class="control" onClick={() => again("vms")}>read again</button>}
          <Choices label="by whose arithmetic" now={drawsSections ? "five sections" : "host and guest"} say={say} choose={(one) => (vmOf.value = one)}
            choices={VM_OF.map((one) => ({ value: one, name: one, refused: one === "five sections" && !sections ? "the sections of memstats_chart are drawn of its files" : undefined }))} />
        </div>
        {drawsSections ? <SectionsChart sections={sections} /> : <Course key={vmKey(course)} course={course} vms={vms} reports={reports} />}
      </div>
    </div>
  );
}
