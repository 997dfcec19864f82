// A row of buttons of which one is pressed. What cannot be chosen stays in it
// and says why when it is asked for, by the pointer or by the keyboard.
import type { ComponentChildren } from "preact";
import { CHANGE_STEPS, changeFill } from "./colours";
import { theme } from "./state";

export interface Choice<T> {
  value: T;
  name: string;
  refused?: string | undefined; // why it cannot be chosen
}

interface Props<T> {
  label: string;
  isLabelled?: boolean; // it stands before them, too
  choices: Choice<T>[];
  now: T;
  choose(value: T): void;
  say(why: string): void;
}

export function Choices<T extends string>({ label, isLabelled, choices, now, choose, say }: Props<T>): ComponentChildren {
  const buttons = (
    <span class="choices" role="group" aria-label={label}>
      {choices.map(({ value, name, refused }) => (
        <button
          aria-pressed={value === now}
          aria-disabled={refused !== undefined}
          title={refused}
          onClick={() => {
            say(refused ?? "");
            if (refused === undefined) choose(value);
          }}
        >
          {name}
        </button>
      ))}
    </span>
  );
  return isLabelled ? <span class="labelled"><span class="note">{label}</span>{buttons}</span> : buttons;
}

// The next one that can be chosen; the same where there is no other.
export function nextChoice<T>(choices: Choice<T>[], now: T): T {
  const open = choices.filter((one) => one.refused === undefined);
  const at = open.findIndex((one) => one.value === now);
  return open.length > 0 ? open[(at + 1) % open.length]!.value : now;
}

export function ChangeLegend({ than }: { than: string }): ComponentChildren {
  const steps = Array.from({ length: 2 * CHANGE_STEPS + 1 }, (_, i) => i - CHANGE_STEPS);
  return (
    <div class="legend">
      <span>− gone</span>
      <span class="steps">{steps.map((step) => <i style={{ backgroundColor: changeFill(step, theme.value) }} />)}</span>
      <span>+ new</span>
      <span class="note">each step is a fifth of the larger side, grey less than 1 %; {than}</span>
    </div>
  );
}
