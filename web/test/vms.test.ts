import assert from "node:assert/strict";
import { test } from "node:test";
import { viewsOf } from "../src/app";
import type { Sections, VmCourse, VmNow, Vms } from "../src/data";
import { reports } from "../src/served";
import { moment, vmAt, vmName } from "../src/state";
import { vmHeadlines } from "../src/vms";
import { balloonPlace, findingsAt, looksOf, sectionLayers, tickAt, vmCurves, vmGaps, vmLayers, vmMarkdown, vmParts, vmRemarks, vmRows, vmsOfNow, whyUnknown } from "../src/vm_series";

const S = 1e9;

// Split, not split, not there, split again.
const course: VmCourse = {
  pid: 10, start_ticks: 7, name: "debian", kind: "qemu", backing: "anonymous memory", deflates_on_oom: null, free_page_reporting: null, peak_index: 3,
  ticks: {
    elapsed_ns: [0, S, 2 * S, 3 * S], bands_bytes: [100, 100, null, 120], cost_bytes: [100, 100, null, 110],
    could_come_back_bytes: [20, null, null, 30], limit_bytes: [90, null, null, 70], rss_bytes: [95, 95, null, 99],
    balloon_bytes: [0, 5, null, 20], configured_bytes: [128, 128, null, 128], swapped_bytes: [0, 0, null, 0], lower_bounds: [1],
  },
  bands: [
    { band: "guest_used", name: "guest used", known_by: "total - balloon - free - caches", bytes: [60, null, null, 70] },
    { band: "guest_held", name: "free in guest, held by host", known_by: "rest", bytes: [20, null, null, 30] },
    { band: "guest_ram", name: "guest RAM", known_by: "smaps", bytes: [0, 80, null, 0] },
    { band: "monitor", name: "QEMU itself", known_by: "PSS", bytes: [20, 20, null, 20] },
    { band: "helper", name: "virtiofsd", known_by: "PSS", bytes: [0, null, null, 0] },
  ],
  spans: [
    { unknown: "unsettled", from_ns: S, to_ns: 2 * S, because: "unsettled: the balloon moved", lasts: false },
    { unknown: "unread", from_ns: S, to_ns: 2 * S, because: "denied: smaps", lasts: false },
    { unknown: "absent", from_ns: 2 * S, to_ns: 3 * S, because: "it was not there", lasts: false },
  ],
  findings: [{ tick_index: 1, findings: [{ finding: "unsettled", title: "The balloon is moving.", details: "" }] }, { tick_index: 3, findings: [] }],
};

test("layers add up to what is stacked, wherever the VM is there", () => {
  const layers = vmLayers(course);
  course.ticks.bands_bytes.forEach((bytes, i) => {
    assert.equal(layers.reduce((sum, { values }) => sum + values[i]!, 0), bytes ?? 0);
  });
});

test("areas are cut where a split begins or ends", () => {
  assert.deepEqual([...vmParts(course)], [0, 1, 2, 0]);
  assert.deepEqual(vmGaps(course), [{ from: 2, to: 3, label: "1.0\u00a0s not there" }]);
  const unread: VmCourse = { ...course, ticks: { ...course.ticks, bands_bytes: [100, null, null, 120] } };
  assert.deepEqual(vmGaps(unread)[0], { from: 1, to: 2, label: "1.0\u00a0s not read" });
  assert.deepEqual(vmRemarks(course).map(({ words }) => words[0]), ["balloon moved:"]);
});

test("the same thing has the same colour, whatever else a VM has", () => {
  const [used, monitor, first, second] = looksOf([{ band: "guest_used" }, { band: "monitor" }, { band: "helper" }, { band: "helper" }]);
  assert.equal(used!.category, "anon");
  assert.deepEqual(looksOf([{ band: "monitor" }])[0], monitor);
  assert.notDeepEqual(first, second);
});

test("what is not known says why, and is no zero", () => {
  const rows = vmRows(course, 1);
  const used = rows.find(({ name }) => name === "guest used")!;
  assert.equal(used.bytes, null);
  assert.equal(used.why, "unsettled: the balloon moved");
  assert.equal(rows.find(({ name }) => name === "virtiofsd")!.why, "denied: smaps");
  assert.equal(rows.find(({ name }) => name === "guest RAM")!.bytes, 80);
  assert.equal(whyUnknown(course, 2, "monitor"), "it was not there");
  assert.ok(!vmRows(course, 0).some(({ name }) => name === "guest RAM"), "all of it is in the others");
  assert.equal(vmRows(course, 0)[0]!.known, "total − balloon − free − caches");
});

test("lines have no value where there is none", () => {
  const [rss, limit] = vmCurves(course);
  assert.deepEqual([...rss!.values], [95, 95, NaN, 99]);
  assert.deepEqual([...limit!.values], [90, NaN, NaN, 70]);
  assert.deepEqual(balloonPlace(course), { index: 3, bytes: 20, limit: 70 });
});

test("findings are those of their moment", () => {
  assert.equal(findingsAt(course, 0).length, 0);
  assert.equal(findingsAt(course, 2)[0]!.title, "The balloon is moving.");
  assert.equal(findingsAt(course, 3).length, 0);
});

test("what is copied is a table, whatever the names are", () => {
  const text = vmMarkdown({ ...course, name: "a|b\n`c`" }, 1, "at 00:00:01");
  const lines = text.trimEnd().split("\n");
  assert.equal(lines[0], "| a\\|b\\x0a'c', at 00:00:01 | how it is known | bytes |");
  assert.equal(lines[2], "| guest used | unsettled: the balloon moved | ? |");
  assert.equal(lines.at(-1), "| cost to the host | | ≥ 100\u00a0B |");
});

test("a moment is that of the last tick before it", () => {
  assert.equal(tickAt([0, 10, 20], 19), 1);
  assert.equal(tickAt([0, 10, 20], 20), 2);
  assert.equal(tickAt([5], 0), 0);
});

const vms: Vms = {
  schema: "tidemark.vms/1", recording: "a.tdm", start: "", elapsed_ns: 3 * S, scan_count: 4, unseen_process_count: 0,
  total: { elapsed_ns: [0, S, 2 * S, 3 * S], cost_bytes: [100, 100, null, 110], could_come_back_bytes: [20, null, null, 30], configured_bytes: [128, 128, null, 128], vm_count: [1, 1, 0, 1], answering_count: [1, 0, 0, 1] },
  vms: [course],
};

test("the strip is of the chosen moment", () => {
  reports.value = { vms };
  assert.equal(vmHeadlines({ vms })[0]!.number, "110", "the peak, unless one is chosen");
  vmAt.value = { ns: S, with: moment.value };
  const [cost, back, , answering] = vmHeadlines({ vms });
  assert.equal(cost!.number, "100");
  assert.ok(back!.isUnknown);
  assert.equal(answering!.number, "0");
  vmAt.value = null;
  vmName.value = "1.1";
  assert.equal(vmHeadlines({ vms })[0]!.number, "110", "one that is gone is none");
  vmName.value = null;
  reports.value = {};
});

test("there is a view of VMs where there are some", () => {
  assert.deepEqual(viewsOf({ vms }), ["vms"]);
  assert.deepEqual(viewsOf({ sections: { schema: "tidemark.memstats_sections/1", sections: [] } }), ["vms"]);
  assert.deepEqual(viewsOf({}), []);
});

test("sections keep numbers below nothing, which have no height", () => {
  const sections: Sections = {
    schema: "tidemark.memstats_sections/1",
    sections: [
      { name: "crosvm (guest used)", stacked: true, seconds: [4, 5], bytes: [50, 60] },
      { name: "crosvm (host)", stacked: true, seconds: [4, 5], bytes: [-10, 20] },
      { name: "gpu", stacked: true, seconds: [5], bytes: [7] },
      { name: "(total memory) - (balloon size)", stacked: false, seconds: [4, 5], bytes: [100, 90] },
    ],
  };
  const { seconds, layers, bytes, limit, below } = sectionLayers(sections);
  assert.deepEqual([...seconds], [0, 1]);
  assert.deepEqual([...layers[1]!.values], [0, 20]);
  assert.deepEqual(bytes.get("crosvm (host)"), [-10, 20]);
  assert.deepEqual(bytes.get("gpu"), [null, 7]);
  assert.deepEqual([...limit!], [100, 90]);
  assert.equal(below, 1);
  assert.equal(layers[0]!.band!.category, "anon");
});

test("VMs of now are VMs of one moment", () => {
  const now: VmNow = {
    schema: "tidemark.vm/1", time: "2026-01-01T00:00:00Z", unseen_process_count: 2,
    total: { cost_bytes: 90, could_come_back_bytes: null, configured_bytes: 128, vm_count: 1, answering_count: 0 },
    vms: [{
      pid: 3, start_ticks: 4, name: "a", kind: "qemu", cost_bytes: 90, bands_bytes: 90, could_come_back_bytes: null, monitor_rss_bytes: 95,
      lower_bounds: ["cost_bytes"], unknown: { could_come_back_bytes: "busy", helpers_bytes: "denied" },
      bands: [{ band: "guest_ram", name: "guest RAM", known_by: "smaps", bytes: 70 }, { band: "monitor", name: "QEMU itself", known_by: "PSS", bytes: 20 }],
      ram: { backing: "anonymous memory", configured_bytes: 128, swapped_bytes: 0 },
      balloon: { size_bytes: null, deflates_on_oom: null, free_page_reporting: null },
      guest: { stale: false, unsettled: false, view: null, unknown: { view: "busy" } },
      findings: [{ finding: "monitor_busy", title: "The monitor is taken.", details: "" }],
    }],
  };
  const { vms: [vm] } = vmsOfNow(now);
  assert.deepEqual(vm!.spans.map(({ unknown, because }) => [unknown, because]), [["untold", "busy"], ["unread", "denied"]]);
  assert.deepEqual([...vmParts(vm!)], [1]);
  assert.deepEqual(vm!.ticks.lower_bounds, [0]);
  assert.equal(findingsAt(vm!, 0)[0]!.title, "The monitor is taken.");
});
