// The composition at the moment: what stands at the chosen tick, by what the
// chart is grouped by, with the sum it closes to.
import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { bandsOf, changeBetween, column, isBound, isPartial, markAt, markOf, partAt } from "./bands";
import { kindOf } from "./colours";
import { copyText } from "./copy";
import type { Band, Mark, Timeline } from "./data";
import { amount, baseName, change, count, counted, momentClock, percent, size, visible, wallClock } from "./format";
import { bandColour } from "./paint";
import { RowTable, SortHead } from "./rows";
import { filter, grouping, metric, selected, sort, theme, view, type Grouping, type Metric } from "./state";

export interface Row {
  key: string;
  label: string;
  full: string;
  mostly: string;
  colour: string;
  hatched: boolean;
  value: number;
  own: number;
  swap: number;
  change: number | null; // null: not known
  isBound: boolean; // sharing of some of it was never read
  mark: string; // before the value
  band: Band;
}

const TEN_MINUTES_NS = 600e9;

const METRIC_NAMES: Record<Metric, string> = {
  pss: "PSS",
  private: "private",
  rss: "RSS",
  swap: "swapped out",
};
export const metricName = (one: Metric): string => METRIC_NAMES[one];

// The tick ten minutes before, or the first.
function earlierIndex(timeline: Timeline, index: number): number {
  const times = timeline.ticks.elapsed_ns;
  const wanted = times[index]! - TEN_MINUTES_NS;
  let found = 0;
  for (let i = 0; i <= index && times[i]! <= wanted; ++i) found = i;
  return found;
}

function nameOf(band: Band): string {
  const label = visible(band.label);
  if (band.others_count) return `${count(band.others_count)} smaller`;
  if (band.pid !== undefined) return `${label} (${band.pid})`;
  return label || (band.category ? kindOf(band.category).name : "/");
}

// Who holds most of it: of a kind its objects or processes, of a process its
// kinds.
function mostly(timeline: Timeline, band: Band, index: number, by: string, of: Metric): string {
  const tickCount = timeline.ticks.id.length;
  const at = (one: Band): number => column(one, of, tickCount)[index]!;
  const whole = at(band);
  if (whole === 0) return "";
  if (isPartial(timeline)) return "…";
  let holders: Band[] = [];
  if (by === "kind") {
    const isNamed = ["file", "code", "shm", "huge"].includes(band.category ?? "");
    holders = (isNamed ? timeline.objects : timeline.parts).filter(
      (one) => one.category === band.category && !one.others_count,
    );
  } else if (by === "process") {
    holders = timeline.parts.filter((one) => one.process === band.process && one.process !== undefined);
  } else {
    return band.category && by === "mapping" ? kindOf(band.category).name : "";
  }
  const word = (one: Band): string =>
    by === "process" ? kindOf(one.category).name : visible(baseName(one.label));
  const named = new Map<string, { bytes: number; times: number }>();
  for (const one of holders) {
    if (at(one) === 0) continue;
    const sum = named.get(word(one)) ?? { bytes: 0, times: 0 };
    named.set(word(one), { bytes: sum.bytes + at(one), times: sum.times + 1 });
  }
  const some = [...named].sort(([, a], [, b]) => b.bytes - a.bytes);
  const names = some.slice(0, 2).map(([name, { bytes, times }], place) => {
    const told = times > 1 ? `${name} ×${times}` : name;
    return place === 0 && bytes >= whole / 2 && some.length > 1 ? `${told} ${percent(bytes, whole)} %` : told;
  });
  const more = some.length - names.length;
  return names.join(", ") + (more > 0 ? `, ${counted(more, "other")}` : "");
}

export function rowsAt(timeline: Timeline, index: number, by: Grouping): Row[] {
  const of = metric.value;
  const tickCount = timeline.ticks.id.length;
  const earlier = earlierIndex(timeline, index);
  const rows: Row[] = [];
  let place = 0;
  bandsOf(timeline, by).forEach((band, at) => {
    const pebble = band.others_count ? null : place++;
    const value = column(band, of, tickCount)[index]!;
    const before = column(band, of, tickCount)[earlier]!;
    if (value === 0 && before === 0) return;
    const bounded = partAt(band, index, "bounded_bytes");
    rows.push({
      key: `${by}:${at}`,
      label: by === "mapping" ? baseName(nameOf(band)) : nameOf(band),
      full: nameOf(band),
      mostly: mostly(timeline, band, index, by, of),
      colour: bandColour(band.category, pebble !== null && pebble < 8 ? pebble : null, theme.value),
      hatched: band.category !== undefined && kindOf(band.category).hatched === true,
      value,
      own: column(band, "private", tickCount)[index]!,
      swap: column(band, "swap", tickCount)[index]!,
      change: changeBetween(band, earlier, index, of, tickCount),
      isBound: bounded > 0,
      mark: of === "pss" ? markOf(bounded, partAt(band, index, "estimated_bytes")) : "",
      band,
    });
  });
  return rows;
}

// What is private, then what is shared; hatched where nobody knows.
function ShareBar({ row: { value, own, isBound, colour }, widest }: { row: Row; widest: number }): ComponentChildren {
  const part = (bytes: number): string => `${(100 * bytes) / widest}%`;
  if (isBound) return <span class="share"><i class="hatched" style={{ width: part(value), backgroundColor: colour }} /></span>;
  const alone = Math.min(own, value);
  return (
    <span class="share">
      <i style={{ width: part(alone), backgroundColor: colour }} />
      <i class="other" style={{ left: part(alone), width: part(value - alone), backgroundColor: colour }} />
    </span>
  );
}

const Unread = (): ComponentChildren => <span class="unknown" title="not read">?</span>;

export function Number({ bytes }: { bytes: number }): ComponentChildren {
  const { number, unit } = amount(bytes);
  return (
    <span title={`${count(bytes)} bytes`}>
      {number}
      <span class="u">{unit}</span>
    </span>
  );
}

export function Change({ bytes }: { bytes: number }): ComponentChildren {
  const kind = bytes > 0 ? "grew" : bytes < 0 ? "fell" : "same";
  return (
    <span class={kind} title={`${count(bytes)} bytes`}>
      {change(bytes)}
    </span>
  );
}

export function Spark({ values, colour }: { values: Float64Array; colour: string }): ComponentChildren {
  const path = useMemo(() => {
    const width = 84;
    const height = 16;
    let most = 1;
    for (const value of values) if (value > most) most = value;
    const lows = new Float64Array(width).fill(Infinity);
    const highs = new Float64Array(width);
    values.forEach((value, i) => {
      const x = Math.min(width - 1, Math.floor((i * width) / values.length));
      lows[x] = Math.min(lows[x]!, value);
      highs[x] = Math.max(highs[x]!, value);
    });
    let line = "";
    let last = 0;
    for (let x = 0; x < width; ++x) {
      const high = lows[x] === Infinity ? last : highs[x]!;
      const low = lows[x] === Infinity ? last : lows[x]!;
      for (const value of high === low ? [high] : [low, high]) {
        line += `${line ? "L" : "M"}${x} ${(height - 1 - (value / most) * (height - 2)).toFixed(1)}`;
      }
      last = high;
    }
    return { line, area: `${line}L${width - 1} ${height}L0 ${height}Z` };
  }, [values]);
  return (
    <svg width="84" height="16" viewBox="0 0 84 16" aria-hidden="true">
      <path d={path.area} fill={colour} opacity="0.3" />
      <path d={path.line} fill="none" stroke={colour} />
    </svg>
  );
}

// Who is too small for a row of its own.
function foldedNames(rows: Row[]): string {
  const names = rows.slice(0, 3).map((row) => row.label).join(", ");
  return rows.length > 3 ? `${names}, …` : names;
}

const ROW_LIMIT = 40;
const LEAST_SHARE = 0.01;

const HEADS: { column: string; words: string; wide?: boolean; isNumber?: boolean }[] = [
  { column: "label", words: "" },
  { column: "mostly", words: "mostly", wide: true },
  { column: "bar", words: "private ▪ shared ▫" },
  { column: "value", words: "", isNumber: true },
  { column: "percent", words: "%", isNumber: true },
  { column: "own", words: "private", wide: true, isNumber: true },
  { column: "shared", words: "shared", wide: true, isNumber: true },
  { column: "change", words: "last 10 min", wide: true, isNumber: true },
  { column: "spark", words: "whole run", wide: true, isNumber: true },
];

function sorted(rows: Row[]): Row[] {
  const { column: by, falls } = sort.value;
  const sign = falls ? -1 : 1;
  const key = (row: Row): number | string =>
    by === "label" ? row.label : by === "mostly" ? row.mostly
    : by === "own" ? row.own : by === "shared" ? row.value - row.own
    : by === "change" ? row.change ?? 0 : row.value;
  return [...rows].sort((left, right) => {
    const [a, b] = [key(left), key(right)];
    return sign * (typeof a === "string" ? a.localeCompare(b as string) : a - (b as number));
  });
}

interface TextOf {
  metric: Metric;
  caption: string; // which recording, and when
  whole: number;
  mark: string;
}

export function asText(rows: Row[], kind: "markdown" | "csv", { metric: of, caption, whole, mark }: TextOf): string {
  if (kind === "csv") {
    const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    return ["name,bytes,private_bytes,swap_bytes,change_bytes,is_bound",
      ...rows.map((row) => [quoted(row.full), row.value, row.isBound ? "" : row.own, row.swap, row.change ?? "", row.isBound].join(","))].join("\n") + "\n";
  }
  const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("`", "'");
  const line = (name: string, value: string, own: string, by: string): string => `| ${name} | ${value} | ${own} | ${by} |`;
  return [`${cell(caption)}`, "", line("what", metricName(of), "private", "change"), "|---|---:|---:|---:|",
    ...rows.map((row) => line(cell(row.full), row.mark + size(row.value), row.isBound ? "?" : size(row.own), row.change === null ? "?" : change(row.change))),
    line("**sum**", mark + size(whole), "", "")].join("\n") + "\n";
}

// What a row is made of: of a kind its mappings, of a group its processes, of a
// process its box.
function openRow(row: Row | undefined, by: Grouping): void {
  if (!row || row.band.others_count) return;
  if (by === "mapping") {
    selected.value = row.key;
    return;
  }
  filter.value = row.full;
  if (by === "process") view.value = "treemap";
  else grouping.value = by === "kind" ? "mapping" : "process";
}

interface CompositionProps {
  timeline: Timeline;
  index: number;
  by: Grouping;
  mark?: Mark | undefined; // what the kernel remembers of the peak
  isBeside?: boolean; // below the one that is filtered and copied
}

export function Composition({ timeline, index, by, mark, isBeside = false }: CompositionProps): ComponentChildren {
  const [showsAll, setShowsAll] = useState(false);
  const [said, setSaid] = useState("");
  const search = useRef<HTMLInputElement>(null);
  const all = rowsAt(timeline, index, by);
  const words = isBeside ? "" : filter.value.toLowerCase();
  const left = words ? all.filter((row) => `${row.full} ${row.mostly} ${row.band.cgroup ?? ""}`.toLowerCase().includes(words)) : all;
  const rows = sorted(left);
  const whole = all.reduce((sum, row) => sum + row.value, 0);
  const leftSum = left.reduce((sum, row) => sum + row.value, 0);
  const shown = showsAll || words ? rows : rows.filter((row, place) => place < ROW_LIMIT && row.value >= whole * LEAST_SHARE);
  const folded = rows.length - shown.length;
  const foldedSum = rows.slice().filter((row) => !shown.includes(row)).reduce((sum, row) => sum + row.value, 0);
  const swapped = bandsOf(timeline, by).reduce((sum, band) => sum + column(band, "swap", timeline.ticks.id.length)[index]!, 0);
  const widest = Math.max(1, ...rows.map((row) => row.value));
  const tickCount = timeline.ticks.id.length;
  const of = metric.value;
  const hasParts = of === "pss";
  const time = timeline.ticks.elapsed_ns[index]!;
  const isPeak = index === timeline.peak_index;
  const caption = `${visible(timeline.recording)}, ${isPeak ? "the peak, " : ""}${momentClock(time, timeline.elapsed_ns)} ${wallClock(timeline.start, time)}`.trim();
  const copy = (kind: "markdown" | "csv"): void =>
    copyText(asText(rows, kind, { metric: of, caption, whole: leftSum, mark: of === "pss" ? markAt(timeline, index) : "" }), setSaid, `${rows.length} rows copied`);
  const head = (column: string, look: string, words: string): ComponentChildren => {
    if (column === "bar" || column === "spark" || column === "percent") return <th class={look}>{words}</th>;
    const falls = sort.value.column === column ? sort.value.falls : null;
    return <SortHead class={look} falls={falls} sort={() => (sort.value = { column, falls: falls === null ? column !== "label" : !falls })}>{words}</SortHead>;
  };
  const titles: Record<string, string> = {
    label: by,
    value: metricName(of),
    change: time < TEN_MINUTES_NS ? "since the start" : "last 10 min",
  };
  return (
    <section aria-label={`composition at the moment by ${by}`}>
      {isBeside ? (
        <div class="bar spaced"><h2>By {by}</h2></div>
      ) : (
        <div class="bar">
          <h2>{isPeak ? "At the peak" : `At ${momentClock(time, timeline.elapsed_ns)}`}</h2>
          <span class="note">
            {isPeak && <>{momentClock(time, timeline.elapsed_ns)} · </>}{wallClock(timeline.start, time)} · {counted(timeline.ticks.process_count[index]!, "process", "processes")}
          </span>
          <span class="push" />
          <span class="note" role="status">{said}</span>
          <input
            ref={search}
            id="find"
            class="control"
            type="search"
            placeholder="filter  /"
            aria-label="filter rows"
            value={filter.value}
            onInput={(event) => (filter.value = event.currentTarget.value)}
          />
          <button class="control" id="copy" onClick={() => copy("markdown")}>
            copy as Markdown <kbd>y</kbd>
          </button>
          <button class="control" onClick={() => copy("csv")}>CSV</button>
        </div>
      )}
      <RowTable open={(place) => openRow(shown[place], by)}>
        <thead>
          <tr>
            {HEADS.filter(({ column }) => hasParts || !["bar", "shared"].includes(column)).map(({ column, words, wide, isNumber }) => (
              head(column, `${wide ? "wide" : ""} ${isNumber ? "n" : ""}`, titles[column] ?? words)
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr
              key={row.key}
              aria-selected={selected.value === row.key}
              onClick={() => (selected.value = selected.value === row.key ? null : row.key)}
            >
              <td class="name" title={row.full}>
                <span class={`swatch ${row.hatched ? "hatched" : ""}`} style={{ backgroundColor: row.colour }} />
                {row.label}
              </td>
              <td class="mostly wide" title={row.mostly}>{row.mostly}</td>
              {hasParts && (
                <td>
                  <ShareBar row={row} widest={widest} />
                </td>
              )}
              <td class="n">{row.mark}<Number bytes={row.value} /></td>
              <td class="n">{percent(row.value, whole)}</td>
              <td class="n wide">{row.isBound ? <Unread /> : <Number bytes={row.own} />}</td>
              {hasParts && <td class="n wide">{row.isBound ? <Unread /> : <Number bytes={Math.max(0, row.value - row.own)} />}</td>}
              <td class="n wide">{row.change === null ? <Unread /> : <Change bytes={row.change} />}</td>
              <td class="n wide"><Spark values={column(row.band, of, tickCount)} colour={row.colour} /></td>
            </tr>
          ))}
          {folded > 0 && (
            <tr>
              <td class="name">
                <button class="plain" onClick={() => setShowsAll(true)}>{count(folded)} more</button>
              </td>
              <td class="mostly wide" title="each under 1 %">{foldedNames(rows.filter((row) => !shown.includes(row)))}</td>
              {hasParts && <td />}
              <td class="n"><Number bytes={foldedSum} /></td>
              <td class="n">{percent(foldedSum, whole)}</td>
              <td class="wide" colSpan={hasParts ? 4 : 3} />
            </tr>
          )}
        </tbody>
        <tfoot>
          {words && (
            <tr>
              <td class="name">{count(left.length)} of {count(all.length)}</td>
              <td class="mostly wide">that “{visible(filter.value)}” leaves</td>
              {hasParts && <td />}
              <td class="n"><Number bytes={leftSum} /></td>
              <td class="n">{percent(leftSum, whole)}</td>
              <td class="wide" colSpan={hasParts ? 4 : 3} />
            </tr>
          )}
          <tr>
            <td class="name">sum</td>
            <td class="mostly wide">
              {of === "pss" && isBound(timeline, index) ? "resident memory where sharing was not read"
                : of === "pss" && isPeak && mark && mark.bytes > whole
                ? `+ ${size(mark.bytes - whole)} not explained = ${size(mark.bytes)}, ${visible(mark.label)}`
                : of === "pss" ? "each page divided by the number of processes that map it" : ""}
            </td>
            {hasParts && <td />}
            <td class="n">{of === "pss" ? markAt(timeline, index) : ""}<Number bytes={whole} /></td>
            <td class="n">100</td>
            <td class="wide" colSpan={hasParts ? 4 : 3} />
          </tr>
          {of !== "swap" && swapped > 0 && (
            <tr class="beside-row">
              <td class="name"><span class="swatch hatched" style={{ backgroundColor: kindOf("swap").fill[theme.value] }} />swapped out</td>
              <td class="mostly wide">beside the sum, not in RAM</td>
              {hasParts && <td />}
              <td class="n"><Number bytes={swapped} /></td>
              <td />
              <td class="wide" colSpan={hasParts ? 4 : 3} />
            </tr>
          )}
        </tfoot>
      </RowTable>
    </section>
  );
}
