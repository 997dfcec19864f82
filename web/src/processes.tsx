// Groups and processes as a tree, as `ps` prints them: at the peak of the
// recording.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ProcessGroup, ProcessUse, Ps, PsProcess } from "./data";
import { count, counted, visible } from "./format";
import { RowTable } from "./rows";
import { filter } from "./state";
import { Number } from "./table";

export interface TreeRow {
  depth: number;
  group?: ProcessGroup;
  process?: PsProcess;
}

const bySize = (a: ProcessUse, b: ProcessUse): number => (b.pss_bytes ?? -1) - (a.pss_bytes ?? -1);

// What is in each group, the largest first.
function sortedBy<T extends ProcessUse>(list: T[], parent: (one: T) => number | null): Map<number | null, T[]> {
  const found = new Map<number | null, T[]>();
  for (const one of [...list].sort(bySize)) {
    const below = found.get(parent(one));
    if (below) below.push(one);
    else found.set(parent(one), [one]);
  }
  return found;
}

// Groups before their members, the largest first; those that are closed hide
// what is below.
export function treeRows(ps: Ps, closed: ReadonlySet<number>): TreeRow[] {
  const groups = sortedBy(ps.groups, (group) => group.parent_id);
  const processes = sortedBy(ps.processes, (process) => process.group_id);
  const rows: TreeRow[] = [];
  const walk = (parent: number | null, depth: number): void => {
    for (const group of groups.get(parent) ?? []) {
      rows.push({ depth, group });
      if (!closed.has(group.id)) walk(group.id, depth + 1);
    }
    for (const process of processes.get(parent) ?? []) rows.push({ depth, process });
  };
  walk(null, 0);
  return rows;
}

function Cell({ of, name }: { of: ProcessUse; name: "pss_bytes" | "uss_bytes" | "shared_bytes" | "swap_pss_bytes" }): ComponentChildren {
  const bytes = of[name];
  if (bytes === null || bytes === undefined) return <span class="unknown" title={visible(of.unknown?.[name] ?? "not known")}>?</span>;
  return <>{of.lower_bounds?.includes(name) ? "≥ " : ""}<Number bytes={bytes} /></>;
}

const Cells = ({ of }: { of: ProcessUse }): ComponentChildren => (
  <>
    <td class="n"><Cell of={of} name="pss_bytes" /></td>
    {(["uss_bytes", "shared_bytes", "swap_pss_bytes"] as const).map((name) => <td class="n wide"><Cell of={of} name={name} /></td>)}
  </>
);

const ROW_LIMIT = 200;

export function ProcessTree({ ps }: { ps: Ps }): ComponentChildren {
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const toggle = (id: number): void => {
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    setClosed(next);
  };
  const words = filter.value.toLowerCase();
  const all = useMemo(() => treeRows(ps, closed), [ps, closed]);
  const left = words ? all.filter(({ process }) => process && `${process.name} ${process.cmdline} ${process.pid}`.toLowerCase().includes(words)) : all;
  const shown = left.slice(0, ROW_LIMIT);
  const indent = (depth: number): { paddingLeft: string } => ({ paddingLeft: `${6 + 16 * depth}px` });
  return (
    <section aria-label="processes at the peak">
      <div class="bar spaced">
        <h2>Processes at the peak</h2>
        <span class="note">
          {counted(ps.process_count, "process", "processes")} of the recording, by control group
          {ps.unknown_process_count > 0 && <span class="unknown"> · {count(ps.unknown_process_count)} of them not read</span>}
        </span>
        <span class="push" />
        <input id="find" class="control" type="search" placeholder="process  /" aria-label="filter processes" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
      </div>
      <RowTable id="processes">
        <thead><tr><th>group, process</th><th class="n wide">pid</th><th class="n">PSS ↓</th><th class="n wide">private</th><th class="n wide">shared</th><th class="n wide">swap</th><th class="n wide">charged</th></tr></thead>
        <tbody>
          {shown.map(({ depth, group, process }) =>
            group ? (
              <tr>
                <td class="name" style={indent(depth)} title={visible(group.key)}>
                  <button class="bare" aria-expanded={!closed.has(group.id)} onClick={() => toggle(group.id)}>
                    {closed.has(group.id) ? "▸" : "▾"} <b>{visible(group.name)}</b>
                  </button>
                  <span class="note"> {counted(group.process_count, "process", "processes")}</span>
                </td>
                <td class="wide" />
                <Cells of={group} />
                <td class="n wide">{group.charged_bytes != null ? <Number bytes={group.charged_bytes} /> : "–"}</td>
              </tr>
            ) : (
              <tr>
                <td class="name" style={indent(depth)} title={visible(process!.cmdline)}>{visible(process!.name)}</td>
                <td class="n wide">{process!.pid}</td>
                <Cells of={process!} />
                <td class="n wide">–</td>
              </tr>
            ),
          )}
          {left.length > shown.length && <tr><td class="name" colSpan={7}>{count(left.length - shown.length)} more; filter to see them</td></tr>}
        </tbody>
        <tfoot>
          <tr>
            <td class="name">sum</td><td class="wide" />
            <Cells of={ps.total} />
            <td class="wide" />
          </tr>
        </tfoot>
      </RowTable>
    </section>
  );
}
