// A chart in a component: made when there is room for it, drawn again when what
// it shows changes, and what is chosen in it is the moment of everything.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Chart, LEFT, type ChartData } from "./chart";
import { base, moment, zoom } from "./state";
import { textScale } from "./width";

export interface Hover {
  index: number;
  x: number;
  y: number;
}

// Where the lanes below it lie, and what they span in seconds.
export interface ChartArea {
  left: number;
  width: number;
  from: number;
  to: number;
}

export function useChart(
  host: RefObject<HTMLDivElement | null>,
  width: number,
  height: number,
  data: ChartData,
  choose: (index: number) => void = (at) => (moment.value = at),
): { hover: Hover | null; area: ChartArea } {
  const chart = useRef<Chart | null>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const chooses = useRef(choose);
  chooses.current = choose;
  useLayoutEffect(() => {
    if (width === 0) return;
    const made = new Chart(
      host.current!,
      data,
      {
        choose: (at) => chooses.current(at),
        zoom: (span) => (zoom.value = span),
        compare: (from, to) => {
          base.value = from;
          moment.value = to;
        },
        hover: (at, x, y) => setHover(at === null ? null : { index: at, x, y }),
      },
      width,
      height,
    );
    chart.current = made;
    return () => {
      made.destroy();
      chart.current = null;
    };
  }, [data.labelRoom, width > 0]);
  useEffect(() => chart.current?.resize(width, height), [width, height]);
  useEffect(
    () => chart.current?.update(data, zoom.value),
    [data.seconds, data.layers, data.moment, data.base, data.theme, zoom.value, width],
  );
  const [from, to] = zoom.value ?? [0, data.seconds[data.seconds.length - 1] ?? 1];
  const left = LEFT * textScale();
  return { hover, area: { left, width: Math.max(width - left - data.labelRoom * textScale(), 1), from, to } };
}
