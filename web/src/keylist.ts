// What keys do, for the footer and the list of all: those of what is shown, and
// no others. A page that waits or has failed has only those of every page.
import type { Reports } from "./data";
import { isLive, isThere, mapsMoment, served, showsPages } from "./served";
import { recordingName, type View } from "./state";

type Key = [string, string];

const ROWS: Key[] = [
  ["↑ ↓", "next row; Home, End, Page too"],
  ["s", "next sorting"],
  ["/", "filter"],
  ["n N", "next, previous match"],
];
const OPENS: Key = ["Enter", "open the row"];
const COPIES: Key = ["y", "copy as Markdown"];
const BASE: Key = ["b", "compare with this moment"];
const PEAKS: Key = ["p P", "next, previous peak"];
const MOMENT: Key[] = [["← →", "moment; Ctrl ten, Shift a span"], ["+ − 0", "zoom, all"], PEAKS, BASE];
const LIVE: Key[] = [["End", "the newest"], ["Space", "pause"]];
const EVERYWHERE: Key[] = [["1 …", "views"], ["t", "light or dark"], ["d", "denser rows"], ["?", "all keys"]];
const BOXES: Key[] = [["↑↓←→", "next box"], ["Enter", "into it"], ["Esc", "out"]];
const SEARCH: Key[] = [["/", "search"], ["n N", "next, previous match"]];

function keysOf(shown: View, reports: Reports): Key[] {
  if (!isThere(shown, reports)) {
    return shown === "timeline" && recordingName.value === null && (served.value?.length ?? 0) > 0 ? [...ROWS, OPENS] : [];
  }
  const live = isLive() ? LIVE : [];
  switch (shown) {
    case "timeline":
      return [...MOMENT, ...live, ["g", "grouping"], ["m", "metric"], ...ROWS, OPENS, ["Space", "mark the row"], COPIES];
    case "machine":
      return showsPages(reports) || !reports.timeline ? [...ROWS, OPENS] : [...MOMENT, ...live, ...ROWS.filter(([key]) => key !== "s"), OPENS];
    case "treemap":
      return [...BOXES, ["s", "size"], ["c", "colour"], ...SEARCH, COPIES, ...(mapsMoment(reports) ? [PEAKS, BASE] : [])];
    case "stacks":
      return [...BOXES, ["m", "moment"], ["b", "order"], ["c", "colour"], ...SEARCH];
    case "vms":
      return [["↑ ↓", "next VM"], ["← →", "moment; Ctrl ten"], ["+ − 0", "zoom, all"], ["p", "the peak"], ["c", "host and guest, or five sections"], COPIES];
    case "compare":
      return [["↑ ↓", "next row"], ["g", "grouping"], ["x", "swap sides"], COPIES, ...(reports.timeline ? MOMENT.filter(([key]) => key !== "+ − 0") : [])];
  }
}

const MOST_SHOWN = 6;

// The footer is one line: what is used most.
export const footerKeys = (shown: View, reports: Reports): Key[] => keysOf(shown, reports).slice(0, MOST_SHOWN);

export const allKeys = (shown: View, reports: Reports): Key[] => [...keysOf(shown, reports), ...EVERYWHERE];
