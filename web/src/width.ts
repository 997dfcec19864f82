// How wide an element is, now and whenever that changes; 0 until it is known.
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = host.current!;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  return [host, width];
}

// How much larger text is than on a screen of usual width; what is drawn on a
// canvas has to follow by itself. Asked for every box, so it is kept.
let knownScale = 0;
export function textScale(): number {
  if (typeof document === "undefined") return 1;
  if (knownScale === 0) {
    knownScale = parseFloat(getComputedStyle(document.documentElement).fontSize) / 10;
    addEventListener("resize", () => (knownScale = 0), { once: true });
  }
  return knownScale;
}
