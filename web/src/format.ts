// Numbers as people read them: see the rules in docs/looks.md.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const NBSP = "\u00a0";

export interface Amount {
  number: string;
  unit: string;
}

// Three significant digits, the next unit at 999.5: 6.11 GiB, 0.98 GiB, 804 MiB.
export function amount(bytes: number): Amount {
  const size = Math.abs(bytes);
  if (size === 0) return { number: "0", unit: "" };
  let value = size;
  let unit = 0;
  while (value >= 999.5 && unit + 1 < UNITS.length) {
    value /= 1024;
    ++unit;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  const sign = bytes < 0 ? "\u2212" : "";
  return { number: sign + value.toFixed(digits), unit: UNITS[unit]! };
}

export function size(bytes: number): string {
  const { number, unit } = amount(bytes);
  return unit ? `${number}${NBSP}${unit}` : number;
}

export function change(bytes: number): string {
  if (bytes === 0) return "0";
  return (bytes > 0 ? "+" : "") + size(bytes);
}

// One decimal below 10, none above; never 0 for something, never 100 while a
// part is missing.
export function percent(part: number, whole: number): string {
  if (whole <= 0) return "\u2013";
  const share = (100 * part) / whole;
  if (share <= 0) return "0";
  if (share < 0.1) return "<0.1";
  // Never all while something is missing.
  if (share >= 99.5 && part < whole) return (Math.floor(share * 10) / 10).toFixed(1);
  return share < 9.95 ? share.toFixed(1) : count(Math.round(share));
}

export const count = (number: number): string => number.toLocaleString("en-US");

// "1 other", "31 others".
export const counted = (number: number, one: string, many = `${one}s`): string =>
  `${count(number)} ${number === 1 ? one : many}`;

const two = (number: number): string => String(number).padStart(2, "0");

// 00:41:12 since the start; tenths when asked for.
export function clock(ns: number, tenths = false): string {
  const ms = Math.round(ns / 1e6);
  const seconds = Math.floor(ms / 1000);
  const text = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return tenths ? `${text}.${Math.floor((ms % 1000) / 100)}` : text;
}

// A moment of something that long: tenths where they tell moments apart.
export const momentClock = (ns: number, wholeNs: number): string => clock(ns, wholeNs < 120e9);

// The time of day then: "09:55:12 UTC". Nothing for a start that is no time.
export function wallClock(start: string, ns: number): string {
  const at = new Date(Date.parse(start) + ns / 1e6);
  return Number.isNaN(at.getTime()) ? "" : `${at.toISOString().slice(11, 19)} UTC`;
}

export function duration(ns: number): string {
  const seconds = ns / 1e9;
  if (seconds < 1e-3) return `${(ns / 1e3).toFixed(0)}${NBSP}µs`;
  if (seconds < 1) return `${(ns / 1e6).toFixed(seconds < 0.01 ? 1 : 0)}${NBSP}ms`;
  if (seconds < 10) return `${seconds.toFixed(1)}${NBSP}s`;
  if (seconds < 120) return `${seconds.toFixed(0)}${NBSP}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes}${NBSP}min`;
  return `${Math.floor(minutes / 60)}${NBSP}h${NBSP}${minutes % 60}${NBSP}min`;
}

// Names from the system are hostile: what cannot be seen is shown as \x1b, and
// marks that turn the direction of text are too.
export function visible(name: string): string {
  return name.replace(
    // eslint-disable-next-line no-control-regex
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => {
      const code = character.codePointAt(0)!;
      return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
    },
  );
}

export const baseName = (path: string): string =>
  path.startsWith("/") ? path.slice(path.lastIndexOf("/") + 1) || path : path;
