// The view of VMs: of a file of memstats, of many VMs over time, of this machine.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Browser, madePage, scratch, seriousIssues, serve, tidemark } from "./browser.mjs";
import { vms } from "./made_vms.mjs";

const folder = scratch();
const fixtures = fileURLToPath(new URL("../fixtures", import.meta.url));
const sample = join(fixtures, "memstats/chart.json");
let browser;

before(async () => {
  browser = await Browser.open();
});
after(() => browser?.close());

const rowsOf = async (page) =>
  Object.fromEntries((await page.locator("#moment tbody tr, #moment tfoot tr").allInnerTexts()).map((text) => {
    const [name, ...rest] = text.replaceAll("\u00a0", " ").replace(/(\d)([KMG]iB)/g, "$1 $2").split("\t").map((cell) => cell.trim());
    return [name, rest];
  }));

test("a file of memstats is drawn, and its rows add up to its processes", async () => {
  const file = join(folder, "sample.html");
  tidemark("report", sample, "-o", file);
  const page = await browser.page(file);
  await page.locator(".vms canvas").waitFor();
  assert.equal(await page.locator(".vms h2").nth(1).innerText(), "crosvm");
  const rows = await rowsOf(page);
  assert.deepEqual(rows["guest used"], ["total − balloon − free − caches", "142 MiB", "43"]);
  assert.deepEqual(rows["guest caches"].slice(1), ["90.0 MiB", "27"]);
  assert.equal(rows["cost to the host"][1], "331 MiB");
  assert.equal(rows["guest limit"][1], "352 MiB");
  assert.equal(rows["RAM it was given"][1], "?");
  assert.match(await page.locator(".findings").innerText(), /what the guest was given is not known/);
  assert.deepEqual(page.requested, [], "it loads nothing");
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("its five sections are the numbers of memstats_chart", async () => {
  const file = join(folder, "compat.html");
  tidemark("report", sample, "--compat", "-o", file);
  const page = await browser.page(file);
  await page.locator("canvas").waitFor();
  const rows = await rowsOf(page);
  assert.deepEqual(rows["crosvm (guest used)"], ["124 MiB"]);
  assert.deepEqual(rows["crosvm (host)"], ["70.7 MiB"]);
  assert.deepEqual(rows["pcivirtio-fs"], ["5.07 MiB"]);
  assert.deepEqual(rows["(total memory) − (balloon size)"], ["352 MiB"]);
  assert.equal(Object.keys(rows).length, 9);
  assert.deepEqual(page.complaints, []);
  await page.close();
  const both = join(folder, "both.html");
  tidemark("report", sample, "-o", both);
  const other = await browser.page(both);
  await other.getByRole("button", { name: "five sections" }).click();
  assert.equal(Object.keys(await rowsOf(other)).length, 9);
  assert.match(other.url(), /sections=five/);
  await other.close();
});

test("a moment is chosen by the pointer and by keys, and is in the address", async () => {
  const page = await browser.page(madePage(folder, { vms: vms() }));
  const canvas = page.locator(".chart .u-over");
  await canvas.waitFor();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width * 0.42, box.y + 200);
  assert.match(await page.locator(".tooltip").innerText(), /free in guest, held by host/);
  await page.mouse.click(box.x + box.width * 0.42, box.y + 200);
  const head = () => page.locator("#moment th").first().innerText();
  assert.match(await head(), /at 00:06:20/);
  assert.match(page.url(), /t=380/);
  assert.match(await page.locator(".findings").innerText(), /is free in the guest but held by the host/);
  await page.keyboard.press("ArrowRight");
  const before = await head();
  await page.keyboard.press("Control+ArrowRight");
  assert.notEqual(await head(), before);
  await page.keyboard.press("p");
  assert.match(await head(), /at the peak/);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("where the guest was silent the split is unknown with its reason", async () => {
  const page = await browser.page(madePage(folder, { vms: vms() }), { fragment: "#t=600" });
  await page.locator("#moment").waitFor();
  const rows = await rowsOf(page);
  assert.deepEqual(rows["guest used"].slice(0, 2), ["the guest's statistics are 23 s old", "?"]);
  assert.match(rows["guest RAM"][1], /GiB/);
  assert.match(await page.locator(".findings").innerText(), /were told 23 s ago/);
  await page.close();
});

test("another VM is chosen by click and by arrow keys, at the same moment", async () => {
  const page = await browser.page(madePage(folder, { vms: vms() }), { fragment: "#t=400" });
  const name = () => page.locator(".picture h2").first().innerText();
  await page.locator(".vmlist button").nth(1).click();
  assert.equal(await name(), "win11-build");
  assert.match(await page.locator("#moment th").first().innerText(), /at 00:06:40/);
  await page.keyboard.press("ArrowDown");
  assert.equal(await name(), "chromeos-dev");
  await page.keyboard.press("ArrowDown");
  assert.equal(await name(), "chromeos-dev", "it is the last");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  assert.equal(await name(), "debian-ci");
  await page.reload();
  assert.equal(await name(), "debian-ci", "it is in the address");
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("a VM that is not there has no numbers, and it is said", async () => {
  const page = await browser.page(madePage(folder, { vms: vms() }), { fragment: "#vm=4100.28700&t=50" });
  await page.locator("#moment").waitFor();
  const rows = await rowsOf(page);
  for (const [name, cells] of Object.entries(rows)) assert.equal(cells[1], "?", name);
  assert.match(await page.locator(".findings").innerText(), /it was not there/);
  assert.match(await page.locator(".vmlist button[aria-pressed=true]").innerText(), /not there/);
  await page.close();
});

test("a name that would be a program is a name", async () => {
  const hostile = `<img src=x onerror="document.title='broken'">\u202e</script>`;
  const page = await browser.page(madePage(folder, { vms: vms({ name: hostile }) }));
  await page.locator(".vmlist").waitFor();
  assert.match(await page.locator(".vmlist").innerText(), /<img src=x onerror=.*\\u202e<\/script>/);
  assert.equal(await page.locator("main img").count(), 0);
  assert.notEqual(await page.title(), "broken");
  assert.deepEqual(page.requested, []);
  await page.close();
  const records = JSON.parse(readFileSync(sample, "utf8"));
  for (const record of records) record.stats[0].name = hostile;
  const file = join(folder, "hostile.json");
  writeFileSync(file, JSON.stringify(records));
  tidemark("report", file, "-o", join(folder, "hostile.html"));
  const other = await browser.page(join(folder, "hostile.html"));
  await other.locator(".vmlist").waitFor();
  assert.equal(await other.locator("main img").count(), 0);
  assert.deepEqual(other.complaints, []);
  await other.close();
});

test("this machine at one moment is a page too", async () => {
  const file = join(folder, "now.html");
  tidemark("vm", "--proc", join(fixtures, "vm-6.18/proc"), "-o", file);
  const page = await browser.page(file);
  await page.locator(".vmbar").waitFor();
  assert.equal(await page.locator(".vmlist button").count(), 2);
  assert.match(await page.locator(".findings").innerText(), /a copied tree has no guests/);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("a machine without VMs says so", async () => {
  const none = { ...vms(), vms: [], recording: "", unseen_process_count: 3 };
  const page = await browser.page(madePage(folder, { vms: none }));
  assert.match(await page.locator(".state").innerText(), /No VM runs here.*3 processes may not be looked into/s);
  await page.close();
});

test("a VM that may not be read says so instead of drawing nothing", async () => {
  const data = vms();
  const [, one] = data.vms;
  for (const key of ["cost_bytes", "bands_bytes", "rss_bytes"]) one.ticks[key] = one.ticks[key].map(() => null);
  one.bands = [];
  one.spans.push({ unknown: "unread", from_ns: 0, to_ns: data.elapsed_ns, because: "denied: /proc/2201/smaps", lasts: true });
  const page = await browser.page(madePage(folder, { vms: data }), { fragment: `#vm=${one.pid}.${one.start_ticks}` });
  assert.match(await page.locator(".state").innerText(), /is not known.*denied: \/proc\/2201\/smaps/s);
  assert.match(await page.locator(".vmlist button[aria-pressed=true]").innerText(), /win11-build\s*\?/);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

async function servedOn(proc, path, look) {
  process.env.PROCFS = join(fixtures, proc);
  const server = await serve(path);
  delete process.env.PROCFS;
  try {
    const page = await browser.visit(server.url, { own: server.origin });
    await look(page, page.getByRole("button", { name: /^VMs/ }));
    assert.deepEqual(page.requested, []);
    assert.deepEqual(page.complaints, []);
    await page.close();
  } finally {
    await server.stop();
  }
}

test("a server tells of the VMs of its machine when it is asked", async () => {
  await servedOn("vm-6.18/proc", scratch(), async (page, vmsView) => {
    await vmsView.click();
    await page.locator(".vmbar").waitFor();
    assert.equal(await page.locator(".vmlist button").count(), 2);
  });
});

test("a recording with VMs shows its own, not those of the machine", async () => {
  const recording = join(folder, "served.tdm");
  tidemark("import", "-q", sample, "-o", recording);
  await servedOn("vm-6.18/proc", recording, async (page, vmsView) => {
    await page.getByRole("button", { name: /^Timeline/ }).click();
    await page.locator("main canvas").first().waitFor();
    await vmsView.click();
    await page.locator(".vms canvas").waitFor();
    assert.equal(await page.locator(".vmlist button").count(), 1);
  });
});

test("a server of a machine without VMs does not offer their view", async () => {
  await servedOn("host-6.18/proc", scratch(), async (page, vmsView) => {
    await page.getByRole("button", { name: /^Machine/ }).waitFor();
    // The page has asked the same before.
    await page.evaluate(() => fetch("api/now/vm").then((response) => response.text()));
    assert.equal(await vmsView.count(), 0);
    await page.evaluate(() => (location.hash = "#view=vms"));
    await page.reload();
    await page.getByText("No VM runs here").waitFor();
  });
});

test("it keeps nobody out, and fits on a telephone", async () => {
  for (const options of [{ colorScheme: "light" }, { colorScheme: "dark" }, { viewport: { width: 400, height: 800 } }]) {
    const page = await browser.page(madePage(folder, { vms: vms() }), options);
    await page.locator(".vms canvas").waitFor();
    assert.deepEqual(await seriousIssues(page), []);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${over} pixels too wide`);
    await page.close();
  }
});
