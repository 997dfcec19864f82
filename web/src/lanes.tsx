// Events under the chart, on the same time axis.
import type { ComponentChildren } from "preact";
import type { TimelineEvent } from "./data";
import { clock, count, duration, visible } from "./format";

const GLYPHS: Record<TimelineEvent["kind"], string> = {
  appeared: "",
  fork: "❘",
  exec: "▸",
  exit: "○",
  missed: "▨",
};

export interface Area {
  left: number;
  width: number;
  from: number;
  to: number; // seconds
}

interface Cluster {
  x: number;
  kind: TimelineEvent["kind"];
  events: TimelineEvent[];
}

// What would lie on each other is one mark that tells them all.
export function clusters(events: TimelineEvent[], area: Area): Cluster[] {
  const found: Cluster[] = [];
  const last: Partial<Record<TimelineEvent["kind"], Cluster>> = {};
  for (const event of events) {
    if (event.kind === "appeared") continue;
    const seconds = event.elapsed_ns / 1e9;
    if (seconds < area.from || seconds > area.to) continue;
    const x = area.left + ((seconds - area.from) / Math.max(area.to - area.from, 1e-9)) * area.width;
    const near = last[event.kind];
    if (near && x - near.x < 6) {
      near.events.push(event);
      continue;
    }
    const cluster = { x, kind: event.kind, events: [event] };
    last[event.kind] = cluster;
    found.push(cluster);
  }
  return found;
}

function words(cluster: Cluster): string {
  const first = cluster.events[0]!;
  const when = clock(first.elapsed_ns, true);
  if (cluster.kind === "missed") {
    const missed = cluster.events.reduce((sum, event) => sum + (event.count ?? 1), 0);
    return `${when} ${count(missed)} ticks missed, ${duration(first.duration_ns ?? 0)}: ${visible(first.text)}`;
  }
  const names = cluster.events.slice(0, 4).map((event) => visible(event.text)).join(", ");
  const more = cluster.events.length - 4;
  return `${when} ${cluster.kind} ${names}${more > 0 ? ` and ${count(more)} more` : ""}`;
}

export function EventLane({ events, area, untold }: { events: TimelineEvent[]; area: Area; untold: number }): ComponentChildren {
  const marks = clusters(events, area);
  return (
    <svg class="lane" width="100%" height="22" role="img" aria-label={`${count(events.length + untold)} events: processes forked, executed, ended, ticks missed`}>
      <text x={area.left - 8} y="15" text-anchor="end" font-size="11" fill="var(--t2)">events</text>
      <line x1={area.left} x2={area.left + area.width} y1="11" y2="11" stroke="var(--line)" />
      {marks.map((mark) => (
        <text x={mark.x} y="15" text-anchor="middle" font-size="12" fill="var(--t1)">
          {GLYPHS[mark.kind]}
          <title>{words(mark)}</title>
        </text>
      ))}
      {area.width > 700 && (
        <text x={area.left + area.width + 14} y="15" font-size="11" fill="var(--t2)">▸ exec  ❘ fork  ○ exit</text>
      )}
    </svg>
  );
}
