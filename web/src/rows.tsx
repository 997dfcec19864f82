// A table whose rows take the focus: one of them is in the order of Tab, arrows
// go on from it, Enter opens it and Space marks it. What is in a row is reached
// by the row, so that a long table is one stop and not a hundred.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type Row = HTMLTableRowElement;

const rowsOf = (table: ParentNode): Row[] => [...table.querySelectorAll<Row>("tbody > tr:not([aria-hidden])")];

// What a key does to a place among so many; null: nothing.
export function steppedTo(key: string, at: number, count: number, page: number): number | null {
  const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: count - 1, PageUp: at - page, PageDown: at + page }[key];
  return to === undefined || count === 0 ? null : Math.max(0, Math.min(count - 1, to));
}

function focusOn(row: Row, rows: Row[]): void {
  for (const one of rows) one.tabIndex = one === row ? 0 : -1;
  row.focus();
  row.scrollIntoView({ block: "nearest" });
}

// What the rows that are new lack, and a first one where none is left.
function arrange(table: HTMLTableElement): void {
  const rows = rowsOf(table);
  const first = rows.find((row) => row.tabIndex === 0) ?? rows[0];
  for (const row of rows) {
    row.tabIndex = row === first ? 0 : -1;
    for (const inside of row.querySelectorAll<HTMLElement>("button, [tabindex]")) inside.tabIndex = -1;
  }
}

// The head of a column that can be sorted by; `falls` is null while it is not.
export function SortHead({ class: more = "", falls, sort, children }: { class?: string; falls: boolean | null; sort(): void; children: ComponentChildren }): ComponentChildren {
  return (
    <th class={more} aria-sort={falls === null ? "none" : falls ? "descending" : "ascending"}>
      <button onClick={sort}>{children}{falls === null ? "" : falls ? " ↓" : " ↑"}</button>
    </th>
  );
}

const PAGE = 12;

interface Props {
  class?: string;
  id?: string;
  open?(place: number): void; // where no button in the row does
  children: ComponentChildren;
}

export function RowTable({ class: more = "", id, open, children }: Props): ComponentChildren {
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => arrange(table.current!));
  const press = (event: KeyboardEvent): void => {
    const rows = rowsOf(table.current!);
    const at = rows.indexOf(event.target as Row);
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const row = rows[at]!;
    const to = steppedTo(event.key, at, rows.length, PAGE);
    if (to !== null) focusOn(rows[to]!, rows);
    else if (event.key === "Enter") openRow(row, at);
    else if (event.key === " " && row.hasAttribute("aria-selected")) row.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const openRow = (row: Row, at: number): void => {
    const button = row.querySelector("button");
    if (button) button.click();
    else open?.(at);
  };
  return (
    <table
      ref={table}
      class={`rows ${more}`}
      {...(id ? { id } : {})}
      onKeyDown={press}
      onDblClick={(event) => {
        const rows = rowsOf(table.current!);
        const at = rows.findIndex((row) => row.contains(event.target as Node));
        if (at >= 0 && !(event.target as HTMLElement).closest("button")) openRow(rows[at]!, at);
      }}
    >
      {children}
    </table>
  );
}

// The table that has the focus, or the first of the view.
function activeTable(): HTMLTableElement | null {
  return document.activeElement?.closest<HTMLTableElement>("table.rows") ?? document.querySelector<HTMLTableElement>("main table.rows");
}

// From wherever the focus is to a row, and on from there.
export function stepRow(by: 1 | -1): void {
  const table = activeTable();
  if (!table) return;
  const rows = rowsOf(table);
  const at = rows.indexOf(document.activeElement as Row);
  const to = at >= 0 ? rows[at + by] : (rows.find((row) => row.tabIndex === 0) ?? rows[0]);
  if (to) focusOn(to, rows);
}

// By the next of the columns that it can be sorted by.
export function sortByNext(): void {
  const table = activeTable()?.querySelector("th button") ? activeTable() : document.querySelector("main table.rows:has(th button)");
  const heads = [...(table?.querySelectorAll<HTMLElement>("th") ?? [])].filter((head) => head.querySelector("button") && head.offsetParent !== null);
  const at = heads.findIndex((head) => !["none", null].includes(head.getAttribute("aria-sort")));
  heads[(at + 1) % heads.length]?.querySelector("button")!.click();
}
