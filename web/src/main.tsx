import { render } from "preact";
import { App } from "./app";
import { embeddedReports, type Reports } from "./data";
import { visible } from "./format";
import { followKeys } from "./keys";
import { followFragment, followTheme } from "./state";

async function start(): Promise<void> {
  let reports: Reports = {};
  let failure: string | null = null;
  try {
    reports = await embeddedReports(document);
  } catch (error) {
    failure = `It was damaged on its way here: ${String(error)}`;
  }
  followTheme();
  followFragment();
  if (reports.timeline) {
    document.title = `${visible(reports.timeline.targets).slice(0, 60)} · tidemark`;
  }
  followKeys(reports);
  // What nobody foresaw is said too: an empty page says nothing.
  try {
    render(<App reports={reports} failure={failure} />, document.getElementById("app")!);
  } catch (error) {
    document.getElementById("app")!.textContent = `This page could not be drawn: ${String(error)}`;
    throw error;
  }
}

void start();
