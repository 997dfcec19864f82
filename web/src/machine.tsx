// Every page of RAM, once: a bar that closes, the kernel's share of it enlarged,
// and the ledger row by row.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { kindOf, textOn } from "./colours";
import type { Ledger, LedgerRow } from "./data";
import { amount, count, counted, duration, percent, size, visible } from "./format";
import type { Headline } from "./headline";
import { LongTable, type LongColumn } from "./long_table";
import { RowTable } from "./rows";
import { filter, theme } from "./state";
import { Number } from "./table";
import { textScale, useWidth } from "./width";

// The classes of the ledger, what kind of memory each is, and its words.
const CLASSES: Record<string, { kind: string; name: string }> = {
  "anon-private": { kind: "anon", name: "anonymous, of one process" },
  "anon-shared": { kind: "anon", name: "anonymous, of several" },
  anon: { kind: "anon", name: "anonymous" },
  shmem: { kind: "shm", name: "shared memory" },
  file: { kind: "file", name: "files" },
  slab: { kind: "slab", name: "slab" },
  "page-tables": { kind: "ptab", name: "page tables" },
  "kernel-stacks": { kind: "kern", name: "kernel stacks" },
  vmalloc: { kind: "kern", name: "vmalloc" },
  percpu: { kind: "kern", name: "per-CPU data" },
  "kernel-mapped": { kind: "kern", name: "kernel, mapped by programs" },
  kernel: { kind: "kern", name: "kernel, untyped" },
  boot: { kind: "wired", name: "boot-reserved" },
  free: { kind: "free", name: "free" },
  unstable: { kind: "unnamed", name: "changed while it was read" },
  unnamed: { kind: "unnamed", name: "unnamed" },
};

const classOf = (name: string): { kind: string; name: string } =>
  CLASSES[name] ?? (name.startsWith("hugetlb") ? { kind: "huge", name: name.replaceAll("-", " ") } : { kind: "kern", name: name.replaceAll("-", " ") });

const ORDER = ["anon", "shm", "file", "huge", "swap", "slab", "ptab", "kern", "wired", "unnamed", "free"];
const CHARACTER = 7.5; // how wide one is, at most, of bold 12 px
const OF_KERNEL = new Set(["slab", "ptab", "kern", "wired", "unnamed", "swap"]);

export interface ClassRow {
  row: LedgerRow;
  kind: string;
  name: string;
  owners: LedgerRow[]; // the largest first
}

export function classes(ledger: Ledger): ClassRow[] {
  const below = new Map<string, LedgerRow[]>();
  for (const row of ledger.rows) {
    if (row.parent === null) continue;
    const list = below.get(row.parent);
    if (list) list.push(row);
    else below.set(row.parent, [row]);
  }
  return ledger.rows
    .filter((row) => row.parent === null)
    .map((row) => ({ row, ...classOf(row.class), owners: (below.get(row.class) ?? []).sort((a, b) => b.bytes - a.bytes) }))
    .sort((a, b) => byOrder(a.kind, b.kind) || b.row.bytes - a.row.bytes);
}

function mostly({ owners }: ClassRow): string {
  const names = owners.slice(0, 2).map((owner) => visible(owner.owner.slice(owner.owner.lastIndexOf("/") + 1) || owner.owner));
  const more = owners.length - names.length;
  return names.join(", ") + (more > 0 ? `, ${counted(more, "other")}` : "");
}

// Programs first, then what the kernel has itself, then what is free.
export const byOrder = (a: string, b: string): number => ORDER.indexOf(a) - ORDER.indexOf(b);
export const isOfKernel = (kind: string): boolean => OF_KERNEL.has(kind);

interface BarPart {
  kind: string;
  bytes: number;
}

function Bar({ rows, whole }: { rows: BarPart[]; whole: number }): ComponentChildren {
  const [host, width] = useWidth();
  // No label is cut: it takes a shorter form or none.
  const room = (share: number): number => (share * width - 16) / textScale();
  const label = (kind: string, share: number): string | undefined => {
    const { name, short } = kindOf(kind);
    return [name, short].find((word) => Math.max(word.length, 8) * CHARACTER <= room(share));
  };
  // Classes of one kind stand side by side as one.
  const kinds = new Map<string, number>();
  for (const { kind, bytes } of rows) kinds.set(kind, (kinds.get(kind) ?? 0) + bytes);
  return (
    <div class="allram" ref={host} role="img" aria-label={[...kinds].map(([kind, bytes]) => `${kindOf(kind).name} ${size(bytes)}, ${percent(bytes, whole)} percent`).join("; ")}>
      {[...kinds].filter(([, bytes]) => bytes > 0).map(([kind, bytes]) => {
        const fill = kindOf(kind).fill[theme.value];
        const share = bytes / whole;
        const word = label(kind, share);
        return (
          <div
            class={kindOf(kind).hatched ? "hatched" : ""}
            style={{ flexGrow: String(bytes), backgroundColor: fill, color: kindOf(kind).hatched ? "var(--t1)" : textOn(fill) }}
            title={`${kindOf(kind).name} ${size(bytes)}, ${percent(bytes, whole)} %`}
          >
            {word && <><b>{word}</b><span>{size(bytes)}{room(share) > 16 * CHARACTER && <em>{percent(bytes, whole)} %</em>}</span></>}
          </div>
        );
      })}
    </div>
  );
}

// All RAM, and below it the kernel's share at a scale of its own; lines lead
// from one to the other. The parts are in `byOrder`, so that the share is in one
// piece.
export function Bars({ rows, whole }: { rows: BarPart[]; whole: number }): ComponentChildren {
  const first = rows.findIndex(({ kind }) => isOfKernel(kind));
  const kernel = rows.filter(({ kind }) => isOfKernel(kind));
  const sumOf = (list: BarPart[]): number => list.reduce((sum, { bytes }) => sum + bytes, 0);
  const bytes = sumOf(kernel);
  const from = 100 * (sumOf(rows.slice(0, Math.max(0, first))) / whole);
  const to = from + 100 * (bytes / whole);
  return (
    <>
      <Bar rows={rows} whole={whole} />
      <div class="lens">
        <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          <path d={`M${from} 0L0 10H100L${to} 0Z`} fill="var(--bg2)" />
          <path d={`M${from} 0L0 10M${to} 0L100 10`} stroke="var(--line2)" vector-effect="non-scaling-stroke" />
        </svg>
        <span><b>The kernel’s own share, enlarged</b> <span class="note">{size(bytes)}, {percent(bytes, whole)} % of RAM</span></span>
      </div>
      <Bar rows={kernel} whole={bytes} />
    </>
  );
}

const part = ({ kind, row }: ClassRow): BarPart => ({ kind, bytes: row.bytes });

const TIERS: Record<string, string> = {
  counters: "the kernel’s counters",
  census: "page census",
  structs: "page census and names by BPF",
};

export function machineHeadlines(ledger: Ledger): Headline[] {
  const unnamed = ledger.rows.filter((row) => row.parent === null && row.class === "unnamed").reduce((sum, row) => sum + row.bytes, 0);
  const whole = ledger.total_bytes;
  const [time, unit] = duration(ledger.elapsed_ns).split("\u00a0");
  return [
    { label: "RAM", ...amount(whole), how: "each page in one row" },
    { label: "named", number: percent(whole - unnamed, whole), unit: "%", how: TIERS[ledger.tier] ?? ledger.tier },
    { label: "unnamed", ...amount(unnamed), how: "kernel pages that no source explains" },
    { label: "changed while read", number: count(ledger.changed_pages), unit: "pages", how: `of ${count(ledger.mapped_pages)} that programs map` },
    { label: "cost", number: time!, unit: unit ?? "", how: `and ${size(ledger.own_bytes)} of memory` },
  ];
}

const MOST_OPEN = 200; // owners of one class; the table of all has the rest

interface Owner {
  row: LedgerRow;
  name: string;
  kind: string;
}

const ownerName = (row: LedgerRow): string => visible(row.owner) || "others";

// Who has it, of all classes, by any column.
function Owners({ rows, whole }: { rows: ClassRow[]; whole: number }): ComponentChildren {
  const all = useMemo(() => rows.flatMap(({ owners, name, kind }) => owners.map((row): Owner => ({ row, name, kind }))), [rows]);
  const words = filter.value.toLowerCase();
  const left = useMemo(() => (words ? all.filter(({ row }) => row.owner.toLowerCase().includes(words)) : all), [all, words]);
  const columns = useMemo((): LongColumn<Owner>[] => [
    { name: "owner", value: ({ row }) => row.owner, cell: ({ row }) => <span title={ownerName(row)}>{ownerName(row)}</span> },
    {
      name: "class",
      value: ({ name }) => name,
      cell: ({ kind, name }) => <><span class="swatch" style={{ backgroundColor: kindOf(kind).fill[theme.value] }} />{name}</>,
    },
    { name: "bytes", value: ({ row }) => row.bytes, cell: ({ row }) => <Number bytes={row.bytes} />, isNumber: true },
    { name: "%", value: ({ row }) => row.bytes, cell: ({ row }) => percent(row.bytes, whole), isNumber: true },
  ], [whole]);
  const sum = left.reduce((total, { row }) => total + row.bytes, 0);
  return (
    <>
      <div class="bar spaced"><h2>Whose it is</h2><span class="note">{counted(all.length, "owner")} of all classes</span></div>
      <LongTable
        label="owners of memory"
        columns={columns}
        rows={left}
        foot={<tr><td class="name">{words ? `sum of ${counted(left.length, "row")} that match` : "sum"}</td><td /><td class="n"><Number bytes={sum} /></td><td class="n">{percent(sum, whole)}</td></tr>}
      />
    </>
  );
}

export function MachineView({ ledger }: { ledger: Ledger }): ComponentChildren {
  const [open, setOpen] = useState<string | null>(null);
  const rows = useMemo(() => classes(ledger), [ledger]);
  const whole = ledger.total_bytes;
  const sum = rows.reduce((total, { row }) => total + row.bytes, 0);
  const words = filter.value.toLowerCase();
  const left = (list: LedgerRow[]): LedgerRow[] => (words ? list.filter((row) => row.owner.toLowerCase().includes(words)) : list);
  const bySize = [...rows].sort((a, b) => b.row.bytes - a.row.bytes);
  return (
    <>
      <div class="bar">
        <h2>Every page of RAM, once</h2>
        <span class="note">{size(whole)}</span>
      </div>
      <Bars rows={rows.map(part)} whole={whole} />
      <div class="pair">
        <div class="picture">
          <div class="bar spaced">
            <h2>The ledger</h2>
            <span class="note">{counted(rows.length, "class", "classes")}, closing to the byte; open one to see whose it is</span>
            <span class="push" />
            <input id="find" class="control" type="search" placeholder="owner  /" aria-label="filter owners" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
          </div>
          <RowTable id="classes">
            <thead><tr><th>class</th><th class="wide">mostly</th><th class="n">bytes ↓</th><th class="n">%</th></tr></thead>
            <tbody>
              {bySize.map((one) => {
                const isOpen = open === one.row.class || (words !== "" && left(one.owners).length > 0);
                const owners = left(one.owners).slice(0, MOST_OPEN);
                return (
                  <>
                    <tr>
                      <td class="name">
                        <span class={`swatch ${kindOf(one.kind).hatched ? "hatched" : ""}`} style={{ backgroundColor: kindOf(one.kind).fill[theme.value] }} />
                        {one.owners.length > 0 ? (
                          <button class="bare" aria-expanded={isOpen} onClick={() => setOpen(open === one.row.class ? null : one.row.class)}>{isOpen ? "▾" : "▸"} {one.name}</button>
                        ) : one.name}
                      </td>
                      <td class="mostly wide">{mostly(one)}</td>
                      <td class="n"><Number bytes={one.row.bytes} /></td>
                      <td class="n">{percent(one.row.bytes, whole)}</td>
                    </tr>
                    {isOpen && owners.map((owner) => (
                      <tr class="below">
                        <td class="name" colSpan={2} title={visible(owner.owner)}>{visible(owner.owner) || "others"}</td>
                        <td class="n"><Number bytes={owner.bytes} /></td>
                        <td class="n">{percent(owner.bytes, one.row.bytes)} of it</td>
                      </tr>
                    ))}
                    {isOpen && left(one.owners).length > MOST_OPEN && (
                      <tr class="below"><td class="name" colSpan={4}>{count(left(one.owners).length - MOST_OPEN)} more, in the table below</td></tr>
                    )}
                  </>
                );
              })}
            </tbody>
            <tfoot>
              <tr><td class="name">all</td><td class="mostly wide">{sum === whole ? "0 pages left over" : `${size(whole - sum)} left over`}</td><td class="n"><Number bytes={sum} /></td><td class="n">100</td></tr>
            </tfoot>
          </RowTable>
        </div>
        <div class="picture"><Owners rows={rows} whole={whole} /></div>
      </div>
      {ledger.notes.map((note) => <div class="aside">{visible(note)}</div>)}
    </>
  );
}
