// What stands at the pointer over a chart: the time, and rows of a table.
import type { ComponentChildren } from "preact";

// On the side of the pointer that has more room.
export function ChartTip({ x, y, time, children }: { x: number; y: number; time: string; children: ComponentChildren }): ComponentChildren {
  return (
    <div class="tooltip" style={{ top: `${Math.max(0, y - 10)}px`, ...(x > innerWidth / 2 ? { right: `calc(100% - ${x - 14}px)` } : { left: `${x + 14}px` }) }}>
      <b>{time}</b>
      <table><tbody>{children}</tbody></table>
    </div>
  );
}
