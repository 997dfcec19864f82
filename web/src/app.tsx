// The frame that every view stands in: header, the strip of numbers, footer.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { kindOf } from "./colours";
import type { Peak, Reports, Timeline, Trace } from "./data";
import { amount, baseName, clock, count, counted, duration, momentClock, percent, size, visible } from "./format";
import { base, diffSides, machineOf, moment, showsKeys, view, VIEWS, type View } from "./state";
import { chargeColumn, column, hasProcesses, heightAt, isBound, isPartial, markAt } from "./bands";
import { CompareMoments } from "./compare";
import { formulaOf, type Headline } from "./headline";
import { HistoryView, historyHeadlines } from "./history";
import { MachineView, machineHeadlines } from "./machine";
import { StacksView } from "./stacks";
import { momentIndex } from "./moment";
import { CompareChoice, LiveBadge, MachineChoice, RecordingChoice, TreemapChoice, Waiting } from "./recordings";
import { canAsk, chosen, isMadeFor, isThere, loads, mapsMoment, need, reports as shownReports, served, showsPages, traceTick } from "./served";
import { ledgerTreemap } from "./boxtree";
import { State } from "./states";
import { allKeys, footerKeys } from "./keylist";
import { MomentTreemap } from "./moment_strip";
import { TimelineView } from "./timeline";
import { TreemapView } from "./treemap";
import { vmHeadlines, VmsView } from "./vms";

const TITLES: Record<View, string> = { timeline: "Timeline", treemap: "Treemap", stacks: "Stacks", machine: "Machine", compare: "Compare", vms: "VMs" };

// Those of what this page was given, or can ask for.
export function viewsOf(reports: Reports): View[] {
  const all = VIEWS.filter((one) => isThere(one, reports) || canAsk(one));
  if (!reports.timeline || hasProcesses(reports.timeline)) return all;
  const left = all.filter((one) => one !== "timeline" && (one !== "compare" || reports.diff !== undefined));
  return left.length > 0 ? left : all;
}

interface About {
  name: string;
  what: string;
  from: string;
}

// Some views of a served page are of the machine as it is, whatever is chosen.
const isOfNow = (shown: View, { timeline, info, machine, vms }: Reports): boolean =>
  served.value !== null && timeline !== undefined && info !== undefined &&
  ((shown === "treemap" && !mapsMoment(shownReports.value)) || (shown === "vms" && !vms?.recording) || (shown === "machine" && (machine === undefined || machineOf.value === "every page")));

function about({ timeline, treemap, trace, diff, ledger, info, vms, sections }: Reports): About {
  const day = (time: string): string => `${time.slice(0, 16).replace("T", " ")} UTC`;
  if (timeline) {
    const most = hasProcesses(timeline) ? `${counted(Math.max(0, ...timeline.ticks.process_count), "process", "processes")} at most · ` : "";
    return {
      name: visible(timeline.targets || timeline.recording),
      what: `${most}${day(timeline.start)} · ${duration(timeline.elapsed_ns)}`,
      from: `${visible(baseName(timeline.recording))}${info ? ` · ${size(info.file_bytes)} · ${visible(info.tool)}` : ""}`,
    };
  }
  if (treemap) {
    return {
      name: "machine",
      what: `${size(treemap.total_bytes)} · ${counted(treemap.process_count, "process", "processes")} ${treemap.time ? ` · ${day(treemap.time)}` : ""}`,
      from: treemap.unknown_process_count > 0 ? `${counted(treemap.unknown_process_count, "process", "processes")} could not be read` : "",
    };
  }
  if (trace) return { name: trace.user ? "resident pages" : "kernel pages", what: `trace of ${duration(trace.elapsed_ns)} · ${day(trace.started)}`, from: `by ${trace.backend}` };
  if (ledger) return { name: "machine", what: size(ledger.total_bytes), from: "" };
  if (diff) return { name: "two moments", what: "", from: "" };
  if (vms) {
    const length = vms.elapsed_ns > 0 ? ` · ${duration(vms.elapsed_ns)}` : "";
    return { name: visible(baseName(vms.recording)) || "this machine", what: `${counted(vms.vms.length, "VM")} · ${day(vms.start)}${length}`, from: visible(vms.recording) };
  }
  if (sections) return { name: "memstats", what: "the sections of memstats_chart", from: "" };
  return { name: "", what: "", from: "" };
}

function traceHeadlines(trace: Trace): Headline[] {
  const peakPages = trace.peak_pages ?? null;
  const [highest, last] = traceTick.value === null ? ["held at the peak", "held at the end"] : ["highest until then", "held then"];
  // Of a sample; tasks are sampled apart.
  const off = (of: "error_pages" | "machine_peak_error_pages"): string => {
    const pages = Math.hypot(...trace.tasks.map((task) => task[of] ?? 0));
    return pages > 0 ? `± ${size(pages * trace.page_size_bytes)} · ` : "";
  };
  const held: Headline =
    peakPages === null
      ? { label: highest, number: "?", unit: "", how: "the past is not known", isUnknown: true }
      : { label: highest, ...amount(peakPages * trace.page_size_bytes), how: `${off("machine_peak_error_pages")}${count(peakPages)} pages` };
  return [
    held,
    { label: last, ...amount(trace.pages * trace.page_size_bytes), how: `${off("error_pages")}${count(trace.pages)} pages` },
    { label: "lost", number: count(trace.lost), unit: "events", how: trace.exact ? "every number is exact" : trace.sample_period > 1 ? "numbers are estimates: ± holds in 19 of 20 cases" : "numbers can be too high or too low" },
    { label: "untracked frees", number: count(trace.untracked_frees), unit: "pages", how: "from before the trace, or of bulk allocations" },
    { label: "followed", number: trace.sample_period === 1 ? "all" : `1/${count(trace.sample_period)}`, unit: "of the page frames", how: `by ${trace.backend}` },
  ];
}

function mostlyAtPeak(timeline: Timeline): Headline {
  const tickCount = timeline.ticks.id.length;
  const at = timeline.peak_index;
  const whole = heightAt(timeline, at);
  const kinds = timeline.kinds
    .map((band) => ({ band, bytes: column(band, "pss", tickCount)[at] ?? 0 }))
    .sort((a, b) => b.bytes - a.bytes);
  const first = kinds[0];
  if (!first || first.bytes === 0) return { label: "mostly", number: "?", unit: "", how: "nothing was read", isUnknown: true };
  const holders = timeline.parts
    .filter((part) => part.category === first.band.category && !part.others_count)
    .map((part) => ({ part, bytes: column(part, "pss", tickCount)[at] ?? 0 }))
    .sort((a, b) => b.bytes - a.bytes);
  const holder = holders[0]?.part;
  return {
    label: "mostly",
    number: kindOf(first.band.category).name,
    unit: `${percent(first.bytes, whole)} %`,
    how: holder ? `${visible(holder.label)} ${percent(holders[0]!.bytes, first.bytes)} % of it` : isPartial(timeline) ? "whose is being read" : "",
  };
}

// How near the control group came to its limit, where it has one.
function ofTheLimit({ charge, ticks }: Timeline): Headline[] {
  if (!charge) return [];
  const limits = chargeColumn(charge, "limit_bytes", ticks.id.length);
  const peaks = chargeColumn(charge, "charged_bytes", ticks.id.length);
  let at = -1;
  for (let i = 0; i < limits.length; ++i) {
    if (limits[i]! > 0 && peaks[i]! >= 0 && (at < 0 || peaks[i]! * limits[at]! > peaks[at]! * limits[i]!)) at = i;
  }
  if (at < 0) return [];
  return [{ label: "of the limit", number: percent(peaks[at]!, limits[at]!), unit: `% of ${size(limits[at]!)}`, how: `${size(limits[at]! - peaks[at]!)} was left, of all charged to the cgroup` }];
}

function headlines({ timeline, peak, info }: Reports): Headline[] {
  if (!timeline) return [];
  const at = timeline.peak_index;
  const height = amount(heightAt(timeline, at));
  const isOnlyBound = isBound(timeline, at);
  const sign = markAt(timeline, at);
  const what = isOnlyBound ? "sharing was not read of all" : sign ? "estimated" : "highest sample of PSS";
  const list: Headline[] = [
    {
      label: "peak",
      number: `${sign}${height.number}`,
      unit: height.unit,
      how: `${momentClock(timeline.ticks.elapsed_ns[at] ?? 0, timeline.elapsed_ns)} · ${what}`,
    },
  ];
  // That of the whole group, or of the only process: those of several need not
  // have been at their highest together.
  const mark = peak?.marks
    .filter((one) => !one.is_older && (one.is_group || timeline.ticks.process_count[at]! < 2))
    .sort((a, b) => Number(b.is_group) - Number(a.is_group) || b.bytes - a.bytes)[0];
  // Of what is served the timeline comes first.
  const coming = served.value !== null && !info && { number: "…", unit: "", how: loads.value.timeline?.failure?.what ?? "being read" };
  list.push(
    coming
      ? { label: "explained", ...coming }
      : isOnlyBound || !mark
      ? { label: "explained", number: "?", unit: "", how: isOnlyBound ? "sharing was not read of all" : "the kernel keeps no mark of all", isUnknown: true }
      : {
          label: "explained",
          number: percent(Math.min(mark.sampled_bytes, mark.bytes), mark.bytes),
          unit: "%",
          how: `of ${size(mark.bytes)}, ${visible(mark.label)}`,
        },
  );
  list.push(...ofTheLimit(timeline), mostlyAtPeak(timeline));
  const wanted = timeline.tick_count + timeline.missed_count;
  list.push({
    label: "measured",
    number: count(timeline.tick_count),
    unit: timeline.missed_count > 0 ? `of ${count(wanted)} ticks` : "ticks",
    how: timeline.missed_count > 0 ? `${count(timeline.missed_count)} missed` : `${timeline.tick_count > 1.5 * timeline.elapsed_ns / timeline.period_ns + 2 ? "at least " : ""}every ${duration(timeline.period_ns)}, none missed`,
  });
  if (coming) list.push({ label: "cost", ...coming });
  else if (info && info.span_ns > 0 && info.cpu_ns) {
    list.push({
      label: "cost",
      number: percent(info.cpu_ns, info.span_ns),
      unit: "% of a core",
      how: `reading ${percent(info.read_ns, info.span_ns)} % of the time, longest ${duration(info.longest_read_ns)}`,
    });
  } else {
    list.push({ label: "cost", number: "?", unit: "", how: "it was not measured", isUnknown: true });
  }
  return list;
}

// A number tells its formula when it is clicked, and of samples when it was read.
function Strip({ view, list, read }: { view: View; list: Headline[]; read: Peak["moment"] | undefined }): ComponentChildren {
  const [asked, ask] = useState("");
  const formula = list.some((one) => one.label === asked) && formulaOf(view, asked);
  return (
    <>
      <div class="strip">
        {list.map(({ label, number, unit, how, isUnknown }) => {
          const value = <>{number}<small>{unit}</small></>;
          return (
            <dl>
              <dt>{label}</dt>
              <dd class={`number ${isUnknown ? "unknown" : ""}`}>
                {formulaOf(view, label) ? <button class="bare" aria-expanded={asked === label} onClick={() => ask(asked === label ? "" : label)}>{value}</button> : value}
              </dd>
              <dd class="how">{how}</dd>
            </dl>
          );
        })}
      </div>
      {formula && (
        <div class="aside formula" role="status">
          <b>{asked}</b> {formula}
          {view === "timeline" && read && ` The peak was read at ${read.time.slice(0, 19).replace("T", " ")} UTC, in ${duration(read.read_ns)}.`}
        </div>
      )}
    </>
  );
}

const Mark = (): ComponentChildren => (
  <svg width="22" height="16" viewBox="0 0 22 16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6">
    <path d="M0 3h11" stroke-dasharray="2 2.2" />
    <path d="M12 0l7 3-7 3z" fill="currentColor" stroke="none" />
    <path d="M0 9c3-2.4 5-2.4 7.5 0s5 2.4 7.5 0 4.5-2.4 7 0M0 14c3-2.4 5-2.4 7.5 0s5 2.4 7.5 0 4.5-2.4 7 0" stroke-width="1.400" />
  </svg>
);

export function App({ failure }: { failure: string | null }): ComponentChildren {
  const reports = shownReports.value;
  const { timeline, info, treemap, trace, ledger } = reports;
  const views = viewsOf(reports);
  const boxes = useMemo(() => treemap ?? (ledger && ledgerTreemap(ledger)), [treemap, ledger]);
  const shown = views.includes(view.value) ? view.value : views.find((one) => isMadeFor(one, reports)) ?? views[0] ?? "timeline";
  useEffect(() => need(shown));
  const { name, what, from } = isOfNow(shown, reports) ? { name: "this machine, now", what: "", from: "taken when the view was opened" } : about(reports);
  const strip = shown === "timeline" ? headlines(reports) : shown === "stacks" && trace ? traceHeadlines(trace) : shown === "machine" ? (showsPages(reports) ? machineHeadlines(ledger!) : historyHeadlines(reports)) : shown === "vms" ? vmHeadlines(reports) : [];
  return (
    <>
      <header class="top">
        <span class="brand"><Mark /> tidemark</span>
        {name && (
          <span class="target">
            <b title={name}>{name.length > 60 ? `${name.slice(0, 59)}…` : name}</b>
            {what}
          </span>
        )}
        <RecordingChoice />
        <LiveBadge />
        <nav class="views" aria-label="views">
          {views.map((one, place) => (
            <button aria-current={shown === one ? "page" : undefined} onClick={() => (view.value = one)}>
              {TITLES[one]} <kbd>{place + 1}</kbd>
            </button>
          ))}
        </nav>
      </header>
      {strip.length > 0 && <Strip view={shown} list={strip} read={reports.peak?.moment} />}
      <main>
        {shown === "compare" && <CompareChoice key={`${base.value} ${moment.value} ${diffSides.value}`} />}
        {shown === "treemap" && <TreemapChoice />}
        {shown === "machine" && <MachineChoice />}
        {failure !== null ? (
          <State title="The data of this page cannot be read">{failure}</State>
        ) : served.value !== null && !isThere(shown, reports) ? (
          <Waiting view={shown} />
        ) : shown === "treemap" ? (
          mapsMoment(reports) ? <MomentTreemap timeline={timeline!} /> : <TreemapView data={boxes!} base={reports.treemapbase} />
        ) : shown === "stacks" ? (
          <StacksView trace={trace!} base={reports.tracebase} timeline={timeline} />
        ) : shown === "machine" ? (
          showsPages(reports) ? <MachineView ledger={ledger!} /> : <HistoryView reports={reports} />
        ) : shown === "compare" ? (
          <CompareMoments reports={reports} />
        ) : shown === "vms" ? (
          <VmsView reports={reports} />
        ) : timeline && timeline.ticks.id.length > 0 ? (
          <TimelineView reports={reports} />
        ) : (
          <State title="No samples yet">There is no recording in this page. `tidemark report FILE -o out.html` makes one of a recording.</State>
        )}
        {shown === "timeline" && info && info.notes.length > 0 && (
          <div class="aside">
            {info.notes.slice(0, 6).map((note) => (
              <div>{clock(note.first_elapsed_ns)} {visible(note.text)}{note.count > 1 ? ` (${count(note.count)} times)` : ""}</div>
            ))}
          </div>
        )}
      </main>
      <footer class="keys">
        {footerKeys(shown, reports).map(([key, does]) => <span class="key"><kbd>{key}</kbd>{does}</span>)}
        <button class="control" aria-expanded={showsKeys.value} onClick={() => (showsKeys.value = !showsKeys.value)}>all keys <kbd>?</kbd></button>
        {chosen() && timeline && !isOfNow(shown, reports) && <a class="control" href={`api/recordings/${chosen()!.link}/page`} download={`${chosen()!.name.replace(/.*\//, "")}.html`}>save as one file</a>}
        <span class="from">{from}</span>
      </footer>
      {showsKeys.value && (
        <div class="allkeys" role="dialog" aria-label="all keys">
          <table><tbody>{allKeys(shown, reports).map(([key, does]) => <tr><td><kbd>{key}</kbd></td><td>{does}</td></tr>)}</tbody></table>
        </div>
      )}
      <div class="hidden" aria-live="polite">
        {timeline && timeline.ticks.id.length > 0 ? `moment ${momentClock(timeline.ticks.elapsed_ns[momentIndex(timeline)]!, timeline.elapsed_ns)}` : ""}
      </div>
    </>
  );
}
