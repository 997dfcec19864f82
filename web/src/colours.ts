// The colours of the kinds of memory, the only list of them here. A test works
// out their contrasts.

export interface Kind {
  token: string;
  name: string;
  short: string;
  fill: { light: string; dark: string };
  ink: { light: string; dark: string };
  hatched?: boolean;
  ground?: { light: string; dark: string }; // below its lines; none: the page's
  falls?: boolean; // its lines do, so that it is no other kind
}

const kind = (
  token: string,
  name: string,
  short: string,
  light: string,
  dark: string,
  lightInk = light,
  darkInk = dark,
  hatched = false,
): Kind => ({ token, name, short, fill: { light, dark }, ink: { light: lightInk, dark: darkInk }, hatched });

// In stack order.
export const KINDS: Kind[] = [
  kind("heap", "heap", "heap", "#43709f", "#5282d4"),
  kind("anon", "anonymous", "anon", "#6cc0f2", "#58bfe6", "#457b9b"),
  kind("stack", "thread stacks", "stacks", "#3b2971", "#625fb8", "#3b2971", "#7b79c3"),
  kind("shm", "shared memory", "shm", "#dcb432", "#dcbb4c", "#88701f"),
  kind("file", "files", "files", "#7aa87f", "#84b08b", "#5a7c5e"),
  kind("code", "program and libraries", "code", "#0d5f50", "#12786f", "#0d5f50", "#388e86"),
  kind("huge", "huge pages", "huge", "#7d7611", "#939a1c"),
  kind("swap", "swapped out", "swap", "#9a78d8", "#a47ead", "#8165b5", "#a47ead", true),
  kind("slab", "slab", "slab", "#a63a5b", "#c6558e", "#a63a5b", "#c85c93"),
  kind("ptab", "page tables", "ptab", "#dc8650", "#cc8265", "#a3633b"),
  kind("kern", "other kernel", "kern", "#641c12", "#a4552a", "#641c12", "#b3704c"),
  kind("wired", "boot-reserved", "wired", "#7d8691", "#98a2ad", "#6e7680"),
  kind("free", "free", "free", "#e6eaee", "#252e38", "#737577", "#7c8288"),
  kind("unnamed", "unnamed", "unnamed", "#66717e", "#8b96a3", "#66717e", "#8b96a3", true),
];

export const PEBBLES = {
  light: ["#c2b09a", "#94b5ad", "#c39cae", "#a3aed0", "#b7ba8c", "#a496c0", "#93b3c6", "#c8a597"],
  dark: ["#b39b7c", "#7fa99f", "#b98aa0", "#94a2cc", "#a9ac7a", "#9a8bbd", "#7fa5bb", "#bd9686"],
};

// Where colour says nothing of what it is: the kernel itself, groups.
export const NEUTRAL = { light: "#d3dae2", dark: "#4a5563" };

export type Theme = "light" | "dark";

// Free to who has it and held by another: lines the other way on what is free.
const HELD: Kind = {
  ...kind("held", "free in guest, held by host", "held", "#66717e", "#8b96a3", "#66717e", "#8b96a3", true),
  ground: { light: "#e6eaee", dark: "#252e38" },
  falls: true,
};

const BY_TOKEN = new Map([...KINDS, HELD].map((one) => [one.token, one]));
const UNKNOWN_KIND = KINDS[KINDS.length - 1]!;

export const kindOf = (token: string | undefined): Kind => BY_TOKEN.get(token ?? "") ?? UNKNOWN_KIND;

function channel(value: number): number {
  const share = value / 255;
  return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

export function luminance(colour: string): number {
  const parts = [1, 3, 5].map((at) => channel(parseInt(colour.slice(at, at + 2), 16)));
  return 0.2126 * parts[0]! + 0.7152 * parts[1]! + 0.0722 * parts[2]!;
}

export function contrast(one: string, other: string): number {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high! + 0.05) / (low! + 0.05);
}

// White or nearly black, whichever reads better on it.
export const textOn = (fill: string): string =>
  contrast(fill, "#ffffff") >= contrast(fill, "#0b0f14") ? "#ffffff" : "#0b0f14";

// Change as area: from what did not change to what is new, or gone.
const CHANGE = {
  light: { grew: "#e08a4e", same: "#eceff3", fell: "#6ea7d6" },
  dark: { grew: "#d9833f", same: "#1f2731", fell: "#4f8fc6" },
};
export const CHANGE_STEPS = 5;

// From -5 (gone) over 0 to 5 (new), by the share of the larger side. Nothing
// stands quite still: what moved by less than a hundredth did not change.
export function changeStep(before: number, after: number): number {
  const share = (after - before) / Math.max(before, after, 1);
  if (Math.abs(share) < 0.01) return 0;
  return Math.sign(share) * Math.ceil(Math.abs(share) * CHANGE_STEPS);
}

function mixed(one: string, other: string, share: number): string {
  const part = (colour: string, at: number): number => parseInt(colour.slice(at, at + 2), 16);
  const mix = (at: number): number => Math.round(part(one, at) * (1 - share) + part(other, at) * share);
  return `#${[1, 3, 5].map((at) => mix(at).toString(16).padStart(2, "0")).join("")}`;
}

export function changeFill(step: number, theme: Theme): string {
  const { grew, same, fell } = CHANGE[theme];
  return mixed(same, step > 0 ? grew : fell, Math.abs(step) / CHANGE_STEPS);
}
