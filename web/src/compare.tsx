// What added what between two moments: a waterfall that closes.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { markOf } from "./bands";
import { roundSteps } from "./chart";
import { kindOf } from "./colours";
import { copyText } from "./copy";
import type { Diff, DiffRow, DiffSide, Reports } from "./data";
import { baseName, change, count, counted, momentClock, percent, size, visible } from "./format";
import { MomentStrip } from "./moment_strip";
import { momentsDiff } from "./moments";
import { RowTable } from "./rows";
import { compareAgain, served } from "./served";
import { base, compareBy, COMPARE_BY, compareOf, COMPARE_OF, diffSides, next, theme, type CompareBy } from "./state";
import { baseIndex, momentIndex } from "./moment";
import { useKeys } from "./viewkeys";

export interface Step {
  label: string;
  full: string;
  note: string;
  kind: string | undefined;
  from: number; // bytes before it
  change: number;
}

const rowsOf = (diff: Diff, by: CompareBy): DiffRow[] =>
  (by === "kind" ? diff.categories : by === "mapping" ? diff.mappings : by === "process" ? diff.processes : diff.holdings) ?? [];

function named(row: DiffRow, by: CompareBy): string {
  if (by === "kind") return kindOf(row.category).name;
  if (by === "kind and process" && row.category) return `${visible(row.name ?? "")} ${kindOf(row.category).name}`;
  return visible(row.name ?? "") || kindOf(row.category).name;
}

function noteOf(row: DiffRow, by: CompareBy): string {
  const isProcess = by === "process" || by === "kind and process";
  const what = isProcess ? "process" : "mapping";
  const [before, after] = [row.before_count, row.after_count];
  if (before === undefined || after === undefined) return "";
  if (before === after) return isProcess ? "" : counted(after, what);
  return `${count(before)} → ${counted(after, what, isProcess ? "processes" : "mappings")}`;
}

// The best value: the bound where sharing was not read.
const bestOf = ({ pss_bytes, bounds }: DiffSide): number => pss_bytes ?? bounds?.pss_bytes?.[1] ?? 0;
const sideMark = ({ bounds, estimated_bytes }: DiffSide): string => markOf(bounds ? 1 : 0, estimated_bytes ?? 0);

const MOST_STEPS = 24;

// The largest changes, growth first, then falls; the rest is one step, and the
// sum is the whole change.
export function steps(diff: Diff, by: CompareBy): Step[] {
  const changed = rowsOf(diff, by).filter((row) => row.change_bytes !== 0);
  const order = [...changed].sort((a, b) => Math.abs(b.change_bytes) - Math.abs(a.change_bytes));
  const kept = new Set(order.slice(0, MOST_STEPS));
  const shown = changed.filter((row) => kept.has(row)).sort((a, b) => b.change_bytes - a.change_bytes);
  const list: Step[] = [];
  let at = bestOf(diff.before);
  const add = (label: string, full: string, note: string, kind: string | undefined, bytes: number): void => {
    list.push({ label, full, note, kind, from: at, change: bytes });
    at += bytes;
  };
  for (const row of shown) {
    const name = named(row, by);
    add(by === "mapping" ? baseName(name) : name, name, noteOf(row, by), row.category, row.change_bytes);
  }
  const folded = order.slice(MOST_STEPS);
  if (folded.length > 0) {
    add(`${count(folded.length)} smaller changes`, "", "", undefined, folded.reduce((sum, row) => sum + row.change_bytes, 0));
  }
  const left = bestOf(diff.after) - at;
  const isMixed = diff.change_bytes !== bestOf(diff.after) - bestOf(diff.before);
  // Each process has what it shares, where it was not read how much of it.
  const rest = by.endsWith("process") ? "shared, counted more than once" : "not explained";
  if (left !== 0) add(isMixed ? "sharing read at one moment" : rest, "", "", "unnamed", left);
  return list;
}

const ROW = 42;

// Which recording, and when: to the second, as people read it.
const sideName = ({ label }: DiffSide): string => visible(label).replace(/^.*\//, "").replace(/T(\d\d:\d\d:\d\d)(\.\d+)?Z/, " $1 UTC");

const [OVER_WIDTH, OVER_HEIGHT] = [300, 56];

// The two recordings over each other, each from its start, and their moments.
function Overlay({ before, after }: { before: DiffSide; after: DiffSide }): ComponentChildren {
  const sides = [before, after];
  if (sides.some((one) => !one.shape_bytes)) return null;
  const span = Math.max(1, ...sides.map((one) => one.span_ns!));
  const most = Math.max(1, ...sides.flatMap((one) => one.shape_bytes!));
  const x = (ns: number): number => (ns / span) * OVER_WIDTH;
  const y = (bytes: number): number => OVER_HEIGHT - (bytes / most) * (OVER_HEIGHT - 4);
  return (
    <figure class="over">
      <figcaption class="note">— this ┄ base</figcaption>
      <svg width={OVER_WIDTH} height={OVER_HEIGHT} role="img" aria-label="both recordings, each from its start">
        {sides.map(({ shape_bytes, span_ns, moment_ns }, i) => {
          const last = shape_bytes!.length - 1;
          const points = shape_bytes!.map((bytes, at) => `${x((span_ns! * at) / Math.max(last, 1)).toFixed(1)} ${y(bytes).toFixed(1)}`);
          const chosen = x(moment_ns!);
          const height = shape_bytes![Math.round((moment_ns! / Math.max(span_ns!, 1)) * last)] ?? 0;
          return (
            <g fill="none" stroke={i ? "var(--ink)" : "var(--t3)"} stroke-dasharray={i ? undefined : "3 2"}>
              <path d={`M${points.join("L")}`} />
              <circle cx={Math.min(chosen, OVER_WIDTH - 3)} cy={y(height)} r="2.500" stroke-dasharray="none" />
            </g>
          );
        })}
      </svg>
      <div class="note"><span>00:00</span><span>{momentClock(span, span)}</span></div>
    </figure>
  );
}

// What did most of it, and what was taken back.
function mainly(list: Step[]): string {
  const top = list.reduce<Step | undefined>((most, one) => (one.change > (most?.change ?? 0) ? one : most), undefined);
  const falls = list.filter((one) => one.change < 0);
  const lost = size(-falls.reduce((sum, one) => sum + one.change, 0));
  const took = `${counted(falls.length, "fall")} took back ${lost}`;
  return `${top ? `${top.label} alone added ${size(top.change)}${falls.length > 0 ? `; ${took}` : ""}. ` : falls.length > 0 ? `${took}. ` : ""}`;
}

// Which of the choices two recordings are compared by; none of them where each
// has a moment of its own.
function ofRecordings(): string {
  const [before, after] = (diffSides.value ?? ["@peak", "@peak"]).map((side) => side.slice(side.lastIndexOf("@")));
  return before !== after ? "" : before === "@peak" ? "peak to peak" : "same time";
}

// Of what the page was given: two recordings, two moments of one, or either.
export function CompareMoments({ reports: { diff, timeline } }: { reports: Reports }): ComponentChildren {
  if (!timeline) return <CompareView diff={diff!} />;
  const isMoments = !diff || compareOf.value === "two moments" || base.value !== null;
  const [index, compared] = [momentIndex(timeline), baseIndex(timeline) ?? 0];
  const choose = (one: (typeof COMPARE_OF)[number]): void => {
    if (one !== "two moments" && served.value !== null) compareAgain(one === "peak to peak" ? "peak" : `${(timeline.ticks.elapsed_ns[index]! / 1e9).toFixed(1)}s`);
    compareOf.value = one;
    base.value = null;
  };
  // A page that was mailed has their peaks alone.
  const choices = COMPARE_OF.filter((one) => one !== "same time" || diffSides.value !== null);
  const moments = (): Diff => momentsDiff(timeline, compared, index);
  return (
    <>
      {isMoments && <MomentStrip timeline={timeline} index={index} compared={compared} />}
      <CompareView diff={isMoments ? moments() : diff}>
        {diff && (
          <span class="choices" role="group" aria-label="compare">
            {choices.map((one) => <button aria-pressed={one === (isMoments ? "two moments" : ofRecordings())} onClick={() => choose(one)}>{one}</button>)}
          </span>
        )}
      </CompareView>
    </>
  );
}

interface CompareProps {
  diff: Diff;
  children?: ComponentChildren;
}

export function CompareView({ diff, children }: CompareProps): ComponentChildren {
  const [isSwapped, setSwapped] = useState(false);
  const [said, setSaid] = useState("");
  const shown = isSwapped ? turned(diff) : diff;
  const list = steps(shown, compareBy.value);
  const [before, after] = [bestOf(shown.before), bestOf(shown.after)];
  const points = [before, after, ...list.flatMap((step) => [step.from, step.from + step.change])];
  const [low, high] = [Math.min(...points), Math.max(...points)];
  // Cut where the whole would hide the change, and then it is torn and said.
  const isCut = low > (high - low) * 2;
  const start = isCut ? Math.max(0, low - (high - low) * 0.6) : 0;
  const width = 760;
  const x = (bytes: number): number => ((bytes - start) / Math.max(high - start, 1)) * width;
  // A few round heights, none so near to the cut or the end that it is cut off.
  const ticks = roundSteps(high, start).filter((bytes) => bytes >= start + (high - start) * 0.04 && bytes <= high - (high - start) * 0.02);
  const at = (bytes: number): string => `${(100 * x(bytes)) / width}%`;
  const grid = ticks.map((bytes) => <i style={{ left: at(bytes) }} />);
  const whole = shown.change_bytes;
  const isAbout = [shown.before, shown.after].some(({ bounds }) => bounds) || (shown.by_counters ?? []).length > 0;
  const word = whole === 0 ? "as much as the base" : `${isAbout ? "about " : ""}${size(Math.abs(whole))} ${whole > 0 ? "more" : "less"} than the base`;
  const copy = (): void => {
    const lines = ["| what | change |", "|---|---:|", ...list.map((step) => `| ${step.full || step.label} | ${change(step.change)} |`), `| **sum** | ${change(whole)} |`];
    copyText(`${lines.join("\n")}\n`, setSaid);
  };
  useKeys({ g: () => (compareBy.value = next(COMPARE_BY, compareBy.value)) });
  const total = (label: string, side: DiffSide, bytes: number): ComponentChildren => (
    <tr>
      <td class="name" title={sideName(side)}><b>{label}</b><div class="note">{sideName(side)}</div></td>
      <td class="fall">
        {grid}
        <svg width="100%" height={ROW - 12} viewBox={`0 0 ${width} ${ROW - 12}`} preserveAspectRatio="none" aria-hidden="true">
          <rect x="0" y="0" width={x(bytes)} height={ROW - 12} fill="var(--total)" />
          {isCut && <path d={`M8 0l6 ${(ROW - 12) / 4} -6 ${(ROW - 12) / 4} 6 ${(ROW - 12) / 4} -6 ${(ROW - 12) / 4}`} fill="none" stroke="var(--bg)" stroke-width="3" />}
        </svg>
      </td>
      <td class="n"><b>{sideMark(side)}{size(bytes)}</b></td>
      <td class="n wide" />
    </tr>
  );
  return (
    <>
      <div class="told">
        <div>
          <h1 class="sentence">
            {word} {whole !== 0 && before > 0 && <span class={whole > 0 ? "grew" : "fell"}>{whole > 0 ? "▲ +" : "▼ −"}{percent(Math.abs(whole), before)} %</span>}
          </h1>
          <p class="note">{mainly(list)}Solid bars grew, hollow ones shrank. Memory is matched by what it is, not by address or pid.</p>
        </div>
        <Overlay before={shown.before} after={shown.after} />
      </div>
      <div class="bar">
        <h2>What added what</h2>
        <span class="choices" role="group" aria-label="by">
          {COMPARE_BY.map((one) => <button aria-pressed={compareBy.value === one} onClick={() => (compareBy.value = one)}>{one}</button>)}
        </span>
        {children}
        <span class="push" />
        <span class="note" role="status">{said}</span>
        <button class="control" id="swap" onClick={() => setSwapped(!isSwapped)}>swap sides <kbd>x</kbd></button>
        <button class="control" id="copy" onClick={copy}>copy as Markdown <kbd>y</kbd></button>
      </div>
      <RowTable class="waterfall">
        <colgroup><col class="what" /><col /><col class="changes" /><col class="parts" /></colgroup>
        <thead>
          <tr>
            <th><span class="hidden">what</span></th>
            <th class="fall"><span class="hidden">picture</span>{ticks.map((bytes) => <span style={{ left: at(bytes) }} aria-hidden="true">{bytes === 0 ? "0" : size(bytes)}</span>)}</th>
            <th><span class="hidden">change</span></th>
            <th class="n wide">{before > 0 && "of base"}</th>
          </tr>
        </thead>
        <tbody>
          {total("base", shown.before, before)}
          {list.map((step) => {
            const kind = kindOf(step.kind);
            const fill = step.kind ? kind.fill[theme.value] : "var(--line2)";
            const [left, right] = [x(Math.min(step.from, step.from + step.change)), x(Math.max(step.from, step.from + step.change))];
            const grew = step.change > 0;
            return (
              <tr>
                <td class="name" title={step.full}>
                  <span class={`swatch ${step.kind && kind.hatched ? "hatched" : ""}`} style={{ backgroundColor: fill }} />{step.label}
                  <div class="note indent">{step.note}</div>
                </td>
                <td class="fall">
                  {grid}
                  <i class="join" style={{ left: at(step.from) }} />
                  <svg width="100%" height={ROW - 18} viewBox={`0 0 ${width} ${ROW - 18}`} preserveAspectRatio="none" aria-hidden="true">
                    <rect x={left} y="1" width={Math.max(right - left, 1)} height={ROW - 20} fill={fill} fill-opacity={grew ? 1 : 0.15} stroke={fill} stroke-width={grew ? 0 : 2} vector-effect="non-scaling-stroke" />
                  </svg>
                </td>
                <td class="n"><span class={grew ? "grew" : "fell"} title={`${count(step.change)} bytes`}>{grew ? "▲ " : "▼ "}{change(step.change)}</span></td>
                <td class="n note wide">{before > 0 ? `${grew ? "+" : "−"}${percent(Math.abs(step.change), before)} %`.replace(/.</, "<") : ""}</td>
              </tr>
            );
          })}
          {total("this", shown.after, after)}
        </tbody>
      </RowTable>
      <div class="aside">
        Every line adds up: {count(before)} {after < before ? "−" : "+"} {count(Math.abs(after - before))} = {count(after)} bytes.
        {isCut && ` The axis is cut at ${size(start)}: do not compare the two grey bars by length.`}
        {isAbout && " Where sharing was not read, resident memory counts."}
      </div>
    </>
  );
}

function turned(diff: Diff): Diff {
  const flip = (rows: DiffRow[]): DiffRow[] =>
    rows.map((row) => ({ ...row, before_count: row.after_count, after_count: row.before_count, change_bytes: -row.change_bytes }));
  return {
    ...diff,
    before: diff.after,
    after: diff.before,
    change_bytes: -diff.change_bytes,
    categories: flip(diff.categories),
    mappings: flip(diff.mappings),
    processes: flip(diff.processes),
    holdings: flip(diff.holdings ?? []),
  };
}
