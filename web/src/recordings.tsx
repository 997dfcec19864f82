// What only a page that is served has: the choice of a recording, how far an
// answer has come, and whether the server still answers.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { hasProcesses } from "./bands";
import { duration, size, visible } from "./format";
import { again, choose, chooseMachine, chosen, compare, isConnected, isGone, isLive, loads, mapsMoment, newest, partOf, reports, served, togglePause } from "./served";
import { base, diffSides, isPaused, MACHINE_OF, machineOf, MAP_OF, mapOf, moment, recordingName, type MapOf, type View } from "./state";
import { reasonOf, RecordingList } from "./recording_list";
import { State } from "./states";

const MS = 1e6;

// Draws again now and then, for what tells an age.
function useSeconds(isOn: boolean): void {
  const [, draw] = useState(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => draw((number) => number + 1), 500);
    return () => clearInterval(timer);
  }, [isOn]);
}

export function RecordingChoice(): ComponentChildren {
  const all = served.value;
  if (all === null || (all.length < 2 && recordingName.value !== null)) return null;
  return (
    <select
      class="control"
      aria-label="recording"
      value={recordingName.value ?? ""}
      onChange={(event) => choose(event.currentTarget.value || null)}
    >
      <option value="">all recordings</option>
      {all.map((one) => <option value={one.name}>{visible(one.name)}{one.is_live ? " (now)" : ""}</option>)}
    </select>
  );
}

export function LiveBadge(): ComponentChildren {
  useSeconds(served.value !== null);
  if (served.value === null) return null;
  if (!isConnected.value) {
    return <span class="badge warn" role="status">the server does not answer; this is {duration((Date.now() - newest.value) * MS)} old</span>;
  }
  if (isGone()) return <span class="badge warn" role="status">its file is gone; this is what was read of it</span>;
  if (!isLive()) return null;
  return (
    <button class="control badge" aria-pressed={isPaused.value} onClick={togglePause}>
      {isPaused.value ? `paused, ${duration((Date.now() - newest.value) * MS)} old` : "live"} <kbd>Space</kbd>
    </button>
  );
}

function Side({ label, value, change }: { label: string; value: string; change: (value: string) => void }): ComponentChildren {
  const at = value.lastIndexOf("@");
  const [name, moment] = [value.slice(0, at), value.slice(at + 1)];
  return (
    <>
      <label>
        {label}{" "}
        <select class="control" value={name} onChange={(event) => change(`${event.currentTarget.value}@peak`)}>
          {(served.value ?? []).map((one) => <option value={one.name}>{visible(one.name)}</option>)}
        </select>
      </label>
      <label>
        at <input class="control moment" value={moment} onChange={(event) => change(`${name}@${event.currentTarget.value.trim() || "peak"}`)} />
      </label>
    </>
  );
}

// Which two moments Compare shows: those of the timeline, until others are
// chosen.
export function CompareChoice(): ComponentChildren {
  const all = served.value;
  const first = chosen()?.name ?? all?.[0]?.name;
  const tick = (index: number | null): string | undefined => {
    const id = index === null ? undefined : reports.value.timeline?.ticks.id[index];
    return id === undefined ? undefined : `tick:${id}`;
  };
  const [before, setBefore] = useState(diffSides.value?.[0] ?? `${first}@${tick(base.value) ?? "start"}`);
  const [after, setAfter] = useState(diffSides.value?.[1] ?? `${first}@${tick(moment.value) ?? (isLive() ? "end" : "peak")}`);
  if (all === null) return null;
  if (first === undefined) return <State title="Nothing to compare">There is no recording yet.</State>;
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault();
        compare(before, after);
      }}
    >
      <Side label="before" value={before} change={setBefore} />
      <Side label="after" value={after} change={setAfter} />
      <button class="control" type="submit">compare</button>
      <span class="note">a moment is peak, start, end, 00:41:12 or a time of day</span>
    </form>
  );
}

// Of the machine of a recording: what it knew over time, or all pages now.
export function MachineChoice(): ComponentChildren {
  const load = loads.value.ledger;
  const isWaiting = load !== undefined && load.failure === null;
  useSeconds(isWaiting);
  const { machine, ledger } = reports.value;
  if (machine === undefined || (served.value === null && ledger === undefined)) return null;
  return (
    <div class="bar">
      <span class="choices" role="group" aria-label="what is shown of the machine">
        {MACHINE_OF.map((one) => (
          <button aria-pressed={machineOf.value === one} onClick={() => chooseMachine(one)}>
            {one === "every page" && served.value !== null ? "every page, now" : one}
          </button>
        ))}
      </span>
      {isWaiting && <span class="note" role="status">looking at every page, {duration((performance.now() - load.began) * MS)}</span>}
      {load?.failure && <span class="note" role="status">{visible(load.failure.what)} {visible(load.failure.hint)}</span>}
    </div>
  );
}

// Of a recording: its treemap at the moment, or that of the machine now.
export function TreemapChoice(): ComponentChildren {
  const { timeline } = reports.value;
  if (served.value === null || timeline === undefined || !hasProcesses(timeline)) return null;
  const now: MapOf = mapsMoment(reports.value) ? "moment" : "machine";
  return (
    <div class="bar">
      <span class="choices" role="group" aria-label="what is shown as boxes">
        {MAP_OF.map((one) => (
          <button aria-pressed={now === one} onClick={() => (mapOf.value = one)}>
            {one === "moment" ? "the recording, at the moment" : "the whole machine, now"}
          </button>
        ))}
      </span>
    </div>
  );
}

// Of a view whose answer is not there: why, and what can be done.
export function Waiting({ view }: { view: View }): ComponentChildren {
  const load = loads.value[partOf(view)];
  useSeconds(load !== undefined && load.failure === null);
  if (view === "timeline" && recordingName.value === null) return <RecordingList />;
  if (view === "compare" && !load) return null;
  if (isGone() && partOf(view) === "timeline") {
    return (
      <State title={`${visible(recordingName.value!)} is not here`}>
        Its file was removed, or never was where this server looks. <button class="control" onClick={() => choose(null)}>all recordings</button>
      </State>
    );
  }
  if (load?.failure && view === "stacks" && !load.failure.mayPass && isLive()) {
    return <State title="No stacks are recorded">`tidemark serve --with trace`, as root, records which code of the kernel takes pages.</State>;
  }
  if (load?.failure) {
    return (
      <State title={recordingName.value === null ? visible(load.failure.what) : `${visible(recordingName.value)} cannot be shown`}>
        {recordingName.value === null ? visible(load.failure.hint) : reasonOf(load.failure, recordingName.value)}{" "}
        {load.failure.mayPass && <button class="control" onClick={() => again(view)}>try again</button>}
        {!load.failure.mayPass && recordingName.value !== null && <button class="control" onClick={() => choose(null)}>all recordings</button>}
      </State>
    );
  }
  const recording = chosen();
  const what = view === "timeline" || view === "stacks" ? visible(recording?.name ?? "") : "the machine";
  const waited = load ? duration((performance.now() - load.began) * MS) : "";
  return (
    <State title={`Reading ${what}`}>
      <progress {...(load?.total ? { value: load.received, max: load.total } : {})} aria-label="how far" />
      {load?.received ? ` ${size(load.received)}${load.total ? ` of ${size(load.total)}` : ""}` : ` ${waited}`}
      {view === "timeline" && recording ? `, a recording of ${size(recording.file_bytes)}` : ""}
    </State>
  );
}
