// Two moments of one recording compared, out of the bands of its timeline: what
// `diff FILE@ONE @OTHER` tells, as far as there are bands.
import { changeBetween, column, heightAt } from "./bands";
import { kindOf } from "./colours";
import type { Band, Diff, DiffRow, DiffSide, Timeline } from "./data";
import { momentName } from "./momentmap";

// Bands of one name are one row: processes are compared by what they are.
function rows(bands: Band[], name: (band: Band) => string | undefined, timeline: Timeline, from: number, to: number): DiffRow[] {
  const tickCount = timeline.ticks.id.length;
  const found = new Map<string, DiffRow>();
  for (const band of bands) {
    const values = column(band, "pss", tickCount);
    const [before, after] = [values[from]!, values[to]!];
    const called = name(band);
    const key = `${band.category ?? ""}\0${called ?? ""}`;
    const row = found.get(key) ?? { change_bytes: 0 };
    if (band.category !== undefined) row.category = band.category;
    if (called !== undefined) row.name = called;
    row.change_bytes += changeBetween(band, from, to, "pss", tickCount) ?? 0;
    if (band.process !== undefined) {
      row.before_count = (row.before_count ?? 0) + Number(before > 0);
      row.after_count = (row.after_count ?? 0) + Number(after > 0);
    }
    found.set(key, row);
  }
  return [...found.values()];
}

const called = (band: Band): string =>
  band.others_count ? "others" : band.label || kindOf(band.category).name;

function side(timeline: Timeline, index: number): DiffSide {
  const height = heightAt(timeline, index);
  const bounded = timeline.ticks.bounded_bytes?.[index] ?? 0;
  return {
    label: momentName(timeline, index),
    pss_bytes: height,
    process_count: timeline.ticks.process_count[index]!,
    undetailed_count: timeline.ticks.undetailed_count[index]!,
    estimated_bytes: timeline.ticks.estimated_bytes?.[index] ?? 0,
    ...(bounded > 0 ? { bounds: { pss_bytes: [height - bounded, height] } } : {}),
  };
}

export function momentsDiff(timeline: Timeline, from: number, to: number): Diff {
  const [before, after] = [side(timeline, from), side(timeline, to)];
  const categories = rows(timeline.kinds, () => undefined, timeline, from, to);
  return {
    schema: "tidemark.diff/1",
    before,
    after,
    change_bytes: categories.reduce((sum, row) => sum + row.change_bytes, 0),
    categories,
    mappings: rows(timeline.objects, called, timeline, from, to),
    processes: rows(timeline.processes, called, timeline, from, to),
    holdings: rows(timeline.parts, called, timeline, from, to),
  };
}
