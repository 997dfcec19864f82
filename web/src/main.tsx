import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./app";
import { embeddedReports, Unsupported, type ServedRecording } from "./data";
import { visible } from "./format";
import { followKeys } from "./keys";
import { reports, startServed } from "./served";
import { followFragment, followTheme } from "./state";

async function start(): Promise<void> {
  let failure: string | null = null;
  let recordings: ServedRecording[] | null = null;
  try {
    const { served, ...embedded } = await embeddedReports(document);
    reports.value = embedded;
    recordings = served?.recordings ?? null;
  } catch (error) {
    failure = error instanceof Unsupported ? error.message : `It was damaged on its way here: ${String(error)}`;
  }
  followTheme();
  followFragment();
  if (recordings) startServed(recordings);
  effect(() => {
    const { timeline } = reports.value;
    if (timeline) document.title = `${visible(timeline.targets).slice(0, 60)} · tidemark`;
  });
  followKeys();
  // What nobody foresaw is said too: an empty page says nothing.
  try {
    render(<App failure={failure} />, document.getElementById("app")!);
  } catch (error) {
    document.getElementById("app")!.textContent = `This page could not be drawn: ${String(error)}`;
    throw error;
  }
}

void start();
