// What stands where there is nothing to draw: what, why, and what can be done.
import type { ComponentChildren } from "preact";

export function State({ title, children }: { title: string; children: ComponentChildren }): ComponentChildren {
  return (
    <div class="state" role="status">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}
