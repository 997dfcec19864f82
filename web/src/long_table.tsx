// A table of any length: of its rows only those in sight are in the document.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { SortHead, steppedTo } from "./rows";
import { dense } from "./state";
import { textOrder } from "./text_order";
import { textScale } from "./width";

export interface LongColumn<T> {
  name: string;
  value: (row: T) => number | string; // what it is sorted by
  cell: (row: T) => ComponentChildren;
  isNumber?: boolean;
}

const LEAST_ROWS = 20; // in sight
const SPARE_ROWS = 8; // above and below, so that scrolling shows no gap

// Places of the rows in rising order. Equal ones keep theirs.
export function sorted<T>(rows: readonly T[], value: (row: T) => number | string): Uint32Array {
  const values = rows.map(value);
  if (typeof values[0] === "string") return textOrder(values as string[]);
  const numbers = values as number[];
  return Uint32Array.from(rows, (_, place) => place).sort((a, b) => numbers[a]! - numbers[b]! || a - b);
}

export function LongTable<T>({ label, columns, rows, foot }: {
  label: string;
  columns: LongColumn<T>[];
  rows: readonly T[];
  foot: ComponentChildren;
}): ComponentChildren {
  const first = columns.findIndex((column) => column.isNumber);
  const [by, setBy] = useState({ column: Math.max(first, 0), falls: first >= 0 });
  const [top, setTop] = useState(0);
  const host = useRef<HTMLDivElement>(null);
  const height = Math.round((dense.value ? 21 : 25) * textScale());
  const shownRows = Math.max(LEAST_ROWS, Math.floor((innerHeight * 0.5) / height));
  // Falling is the same read from its end.
  const rising = useMemo(() => sorted(rows, columns[by.column]!.value), [rows, by.column]);
  const placeOf = (shown: number): number => rising[by.falls ? rows.length - 1 - shown : shown]!;
  const from = Math.max(0, Math.min(Math.floor(top / height) - SPARE_ROWS, rows.length - shownRows));
  const to = Math.min(rows.length, from + shownRows + 2 * SPARE_ROWS);
  // The row that has the focus, of all; it is scrolled into sight before it
  // is there to take it.
  const [focused, setFocused] = useState(-1);
  useLayoutEffect(() => {
    const isOurs = host.current!.contains(document.activeElement);
    if (focused >= 0 && isOurs) host.current!.querySelector<HTMLElement>(`[aria-rowindex="${focused + 1}"]`)?.focus({ preventScroll: true });
  }, [focused, from]);
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.altKey || event.metaKey || (event.target as HTMLElement).matches("button")) return;
    const to = steppedTo(event.key, focused, rows.length, shownRows - 2);
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    const element = host.current!;
    const sight = element.clientHeight - 3 * height; // beside the head and the foot
    if (to * height < element.scrollTop) element.scrollTop = to * height;
    else if (to * height > element.scrollTop + sight) element.scrollTop = to * height - sight;
    setTop(element.scrollTop);
    setFocused(to);
  };
  const sortBy = (column: number): void => {
    setBy({ column, falls: by.column === column ? !by.falls : columns[column]!.isNumber === true });
    host.current!.scrollTop = 0;
  };
  return (
    <div
      class="long"
      ref={host}
      tabIndex={0}
      role="region"
      aria-label={label}
      style={{ maxHeight: `${(shownRows + 2) * height}px` }}
      onKeyDown={press}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <table class="rows" aria-rowcount={rows.length}>
        <thead>
          <tr>
            {columns.map((column, place) => (
              <SortHead class={column.isNumber ? "n" : ""} falls={by.column === place ? by.falls : null} sort={() => sortBy(place)}>{column.name}</SortHead>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr aria-hidden="true" style={{ height: `${from * height}px` }} />
          {Array.from({ length: to - from }, (_, shown) => (
            <tr
              aria-rowindex={from + shown + 1}
              tabIndex={from + shown === Math.max(focused, 0) ? 0 : -1}
              onFocus={() => setFocused(from + shown)}
              style={{ height: `${height}px` }}
            >
              {columns.map((column) => <td class={column.isNumber ? "n" : "name"}>{column.cell(rows[placeOf(from + shown)]!)}</td>)}
            </tr>
          ))}
          <tr aria-hidden="true" style={{ height: `${(rows.length - to) * height}px` }} />
        </tbody>
        <tfoot>{foot}</tfoot>
      </table>
    </div>
  );
}
