// One number of the strip below the header, and how it is known.
export interface Headline {
  label: string;
  number: string;
  unit: string;
  how: string;
  isUnknown?: boolean;
}

// By which formula, and out of which file; what a label has to itself in a view
// stands with the name of the view.
const FORMULAS: Record<string, string> = {
  peak: "The highest sum of PSS over all processes: each page divided by the number of processes that map it. From /proc/PID/smaps.",
  explained: "PSS of the sample divided by the kernel’s high-water mark: memory.peak of the control group, or VmHWM in /proc/PID/status.",
  "of the limit": "Charge divided by limit, when they were nearest: memory.current and memory.max of the control group.",
  mostly: "PSS of the kind divided by that of all, at the peak; then that of the process divided by the kind’s.",
  measured: "Ticks that were read, and those that were due.",
  cost: "CPU time of the recorder, divided by the span. How long reading took stands below.",
  "held at the peak": "Pages given out and not given back when their sum was highest: kmem:mm_page_alloc less kmem:mm_page_free.",
  "held at the end": "Pages given out and not given back: kmem:mm_page_alloc less kmem:mm_page_free.",
  lost: "Events that did not reach the tool; each would be a wrong number.",
  RAM: "All pages of the machine: MemTotal in /proc/meminfo, and what the kernel kept at boot.",
  named: "RAM less what no source explains, divided by RAM.",
  available: "MemAvailable in /proc/meminfo.",
  "stalled for memory": "Growth of total= in /proc/pressure/memory, divided by the time.",
  "machine cost": "How long looking at every page took.",
  "all VMs cost the host": "PSS of guest RAM, of monitors and of their helpers, from /proc/PID/smaps.",
  "could come back": "Free memory that the guest reports, as far as the host still holds it.",
};
export const formulaOf = (view: string, label: string): string | undefined => FORMULAS[`${view} ${label}`] ?? FORMULAS[label];
