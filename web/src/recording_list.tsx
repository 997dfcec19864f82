// The recordings of a server: what is in each, filtered and sorted.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Info, ServedRecording } from "./data";
import { count, counted, duration, momentClock, visible } from "./format";
import { RowTable, SortHead } from "./rows";
import { choose, served, summaries, summariseAll, type Failure, type Summary } from "./served";
import { filter } from "./state";
import { State } from "./states";
import { Number, Spark } from "./table";

interface Row {
  one: ServedRecording;
  info: Info | null; // null: not known yet, or broken
  failure: Failure | null;
}

const isInfo = (summary: Summary): summary is Info => "schema" in summary;

function rowOf(one: ServedRecording): Row {
  const summary = summaries.value[one.name];
  if (!summary) return { one, info: null, failure: null };
  return isInfo(summary) ? { one, info: summary, failure: null } : { one, info: null, failure: summary };
}

const COLUMNS: { name: string; value: (row: Row) => number | string; isNumber?: boolean; isWide?: boolean }[] = [
  { name: "recording", value: ({ one }) => one.name },
  { name: "of", value: ({ info }) => info?.targets ?? "", isWide: true },
  { name: "begun", value: ({ info }) => info?.first.time ?? "", isWide: true },
  { name: "span", value: ({ info }) => info?.span_ns ?? -1, isNumber: true, isWide: true },
  { name: "samples", value: ({ info }) => info?.sample_count ?? -1, isNumber: true, isWide: true },
  { name: "peak", value: ({ info }) => info?.peak?.bytes ?? -1, isNumber: true },
  { name: "size", value: ({ one }) => one.file_bytes, isNumber: true, isWide: true },
  { name: "last written", value: ({ one }) => one.changed },
];

interface Sorting {
  column: number;
  falls: boolean;
}

function sorted(rows: Row[], { column, falls }: Sorting): Row[] {
  const { value } = COLUMNS[column]!;
  const sign = falls ? -1 : 1;
  return [...rows].sort((a, b) => {
    // What happens now stands first, by whatever it is sorted.
    if (a.one.is_live !== b.one.is_live) return a.one.is_live ? -1 : 1;
    const [left, right] = [value(a), value(b)];
    return sign * (typeof left === "string" ? left.localeCompare(right as string) : left - (right as number));
  });
}

const day = (time: string): string => time.slice(0, 19).replace("T", " ");

function Peak({ info }: { info: Info }): ComponentChildren {
  if (!info.peak) return info.trace ? <span title="it holds a trace of the kernel alone">–</span> : <span class="unknown" title="no memory was seen in it">?</span>;
  const { bytes, is_bound, is_estimated, elapsed_ns } = info.peak;
  return <span title={`at ${momentClock(elapsed_ns, info.span_ns)}`}>{is_bound ? "≤ " : is_estimated ? "~" : ""}<Number bytes={bytes} /></span>;
}

// Why, without the path that the name beside it is the end of.
export function reasonOf({ what, hint }: Failure, name: string): string {
  const at = what.indexOf(`${name}: `);
  const reason = at < 0 ? what : what.slice(at + name.length + 2);
  return visible(hint ? `${reason}; ${hint}` : reason);
}

// Nothing but its name and why; it cannot be opened.
function Broken({ one, failure }: { one: ServedRecording; failure: Failure }): ComponentChildren {
  return (
    <tr class="broken">
      <td class="name" title={visible(one.name)}>{visible(one.name)}</td>
      <td class="why" colSpan={6}>{reasonOf(failure, one.name)}</td>
      <td class="n wide"><Number bytes={one.file_bytes} /></td>
      <td class="wide">{day(one.changed)} UTC</td>
    </tr>
  );
}

function Known({ one, info }: Row): ComponentChildren {
  const waits = <span class="note" title="it is being read">…</span>;
  return (
    <tr>
      <td class="name" title={visible(one.name)}>
        <button class="link" onClick={() => choose(one.name)}>{visible(one.name)}</button>
        {one.is_live ? " now" : info?.is_open ? <span class="note" title="it has an open log: it is being written, or was cut off"> open</span> : ""}
      </td>
      <td class="mostly wide" title={info ? visible(info.targets) : ""}>{info ? visible(info.targets) : waits}</td>
      <td class="wide nowrap">{info ? day(info.first.time) : waits}</td>
      <td class="n wide">{info ? duration(info.span_ns) : waits}</td>
      <td class="n wide">{info ? count(info.sample_count) : waits}</td>
      <td class="n">{info ? <Peak info={info} /> : waits}</td>
      <td class="wide">{info?.shape_bytes && <Spark values={Float64Array.from(info.shape_bytes)} colour="var(--t2)" />}</td>
      <td class="n wide"><Number bytes={one.file_bytes} /></td>
      <td class="wide nowrap">{day(one.changed)} UTC</td>
    </tr>
  );
}

function title(all: ServedRecording[]): string {
  const recorded = all.filter((one) => !one.is_live).length;
  const hasLive = recorded < all.length;
  if (recorded === 0) return "What happens now";
  return `${counted(recorded, "recording")}${hasLive ? ", and what happens now" : ""}`;
}

export function RecordingList(): ComponentChildren {
  const all = served.value ?? [];
  const [by, setBy] = useState<Sorting>({ column: 0, falls: false });
  useEffect(() => void summariseAll());
  if (all.length === 0) {
    return (
      <State title="No recordings yet">
        There is none where this server looks. `tidemark record -o FILE.tdm PID` makes one; it is listed here as soon as it is there.
      </State>
    );
  }
  const words = filter.value.toLowerCase();
  const rows = all.map(rowOf);
  const left = words ? rows.filter(({ one, info, failure }) => `${one.name} ${info?.targets ?? ""} ${failure?.what ?? ""}`.toLowerCase().includes(words)) : rows;
  const known = rows.filter(({ info, failure }) => info || failure).length;
  const broken = rows.filter(({ failure }) => failure).length;
  const sortBy = (column: number): void => setBy({ column, falls: by.column === column ? !by.falls : COLUMNS[column]!.isNumber === true });
  return (
    <>
      <div class="bar">
        <h2>{title(all)}</h2>
        <span class="note" role="status">{words ? `${count(left.length)} match` : known < all.length ? `${count(known)} of ${count(all.length)} looked into` : broken > 0 ? `${count(broken)} cannot be read` : ""}</span>
        <span class="push" />
        <input id="find" class="control" type="search" placeholder="filter  /" aria-label="filter recordings" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
      </div>
      <RowTable class="recordings">
        <thead>
          <tr>
            {COLUMNS.flatMap(({ name, isNumber, isWide }, place) => [
              <SortHead class={`${isNumber ? "n" : ""} ${isWide || name === "last written" ? "wide" : ""}`} falls={by.column === place ? by.falls : null} sort={() => sortBy(place)}>{name}</SortHead>,
              ...(name === "peak" ? [<th class="wide">over its span</th>] : []),
            ])}
          </tr>
        </thead>
        <tbody>
          {sorted(left, by).map((row) => (row.failure ? <Broken key={row.one.name} one={row.one} failure={row.failure} /> : <Known key={row.one.name} {...row} />))}
        </tbody>
      </RowTable>
    </>
  );
}
