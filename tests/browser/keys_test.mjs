// Everything by keyboard: rows, sorting, peaks, matches; and the treemap of a
// moment, whose boxes add up to the timeline.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, madePage, scratch, seriousIssues } from "./browser.mjs";
import * as made from "./made_reports.mjs";

const folder = scratch();
const timeline = made.timeline();
let browser;
let html;

before(async () => {
  browser = await Browser.open();
  html = madePage(folder, { timeline, machine: made.machine(timeline) });
});
after(() => browser?.close());

const focused = (page) => page.evaluate(() => document.activeElement.closest("tr")?.querySelector("td")?.innerText.trim() ?? "");
const hash = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));

test("arrows walk over the rows, Space marks, Enter opens", async () => {
  const page = await browser.page(html);
  await page.locator("table.rows").first().waitFor();
  const names = (await page.locator("table.rows tbody td.name").allInnerTexts()).map((name) => name.trim());
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(page), names[0]);
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(page), names[1]);
  await page.keyboard.press("End");
  assert.equal(await focused(page), names.at(-1));
  await page.keyboard.press("Home");
  assert.equal(await focused(page), names[0]);
  await page.keyboard.press("PageDown");
  assert.equal(await focused(page), names.at(-1));
  await page.keyboard.press("PageUp");
  await page.keyboard.press(" ");
  assert.equal(await page.locator("tr[aria-selected='true'] td.name").innerText().then((name) => name.trim()), names[0]);
  // One row is in the order of Tab, and what is in rows is not.
  assert.equal(await page.locator("table.rows tbody [tabindex='0']").count(), 1);
  await page.keyboard.press("Enter");
  assert.equal((await hash(page)).by, "mapping");
  assert.equal((await hash(page)).find, names[0]);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("s sorts by one column after the other, n goes over what matches", async () => {
  const page = await browser.page(html, { fragment: "#by=mapping" });
  const sorted = () => page.locator("th:not([aria-sort='none'])[aria-sort]").first().innerText();
  const first = await sorted();
  await page.keyboard.press("s");
  assert.notEqual(await sorted(), first);
  await page.keyboard.press("/");
  await page.keyboard.type("/usr/bin");
  await page.keyboard.press("Enter");
  const one = await focused(page);
  await page.keyboard.press("n");
  const other = await focused(page);
  assert.deepEqual([one, other].sort(), ["server", "worker"]);
  await page.keyboard.press("N");
  assert.equal(await focused(page), one);
  await page.close();
});

test("p and P go over the peaks", async () => {
  const page = await browser.page(html);
  await page.locator("canvas").first().waitFor();
  await page.keyboard.press("p");
  assert.equal(Number((await hash(page)).at), timeline.peak_index);
  await page.keyboard.press("P");
  const before = Number((await hash(page)).at);
  const { pss_bytes: pss } = timeline.ticks;
  assert.ok(before < timeline.peak_index && pss[before] > pss[before + 1], `${before}`);
  await page.keyboard.press("p");
  assert.equal(Number((await hash(page)).at), timeline.peak_index);
  await page.close();
});

test("a long table is walked to its end and back", async () => {
  const page = await browser.page(madePage(folder, { ledger: made.ledger({ ownerCount: 5000 }) }));
  await page.locator(".long tbody tr[aria-rowindex='1']").focus();
  await page.keyboard.press("End");
  const at = () => page.evaluate(() => document.activeElement.getAttribute("aria-rowindex"));
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-rowindex") === "5000");
  await page.keyboard.press("ArrowUp");
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-rowindex") === "4999");
  await page.keyboard.press("PageUp");
  assert.ok(Number(await at()) < 4990, await at());
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-rowindex") === "1");
  await page.close();
});

test("the footer has the keys of what is shown, in one line", async () => {
  const pages = {
    timeline: [html, "", ["← →", "p P"]],
    treemap: [html, "#view=treemap", ["↑↓←→", "s"]],
    compare: [madePage(folder, { diff: made.diff() }), "", ["x", "g"]],
    stacks: [madePage(folder, { trace: made.trace() }), "", ["m", "b"]],
  };
  for (const [name, [file, fragment, wanted]] of Object.entries(pages)) {
    const page = await browser.page(file, { fragment });
    await page.locator("footer.keys").waitFor();
    const keys = await page.locator("footer.keys .key kbd").allInnerTexts();
    for (const key of wanted) assert.ok(keys.includes(key), `${name}: ${keys.join(", ")}`);
    const { height } = await page.locator("footer.keys").boundingBox();
    assert.ok(height < 34, `${name}: ${height} px`);
    await page.close();
  }
  const page = await browser.page(madePage(folder, {}));
  await page.locator("footer.keys").waitFor();
  assert.equal(await page.locator("footer.keys .key").count(), 0);
  await page.close();
});

// What the table beside the boxes says they are in all.
const whole = (page) => page.locator(".side tfoot .n span").first().getAttribute("title").then((title) => Number(title.replace(/\D/g, "")));

test("the treemap of a moment is as large as the timeline is high, at every moment", async () => {
  const page = await browser.page(html, { fragment: "#view=treemap&at=60" });
  await page.locator(".boxes canvas").waitFor();
  assert.match(await page.locator(".momentstrip h2").innerText(), /^At 00:01:00/);
  assert.equal(await whole(page), timeline.ticks.pss_bytes[60]);
  await page.locator(".momentstrip input").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal((await hash(page)).at, "61");
  assert.equal(await whole(page), timeline.ticks.pss_bytes[61]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("p");
  assert.match(await page.locator(".momentstrip h2").innerText(), /^At the peak/);
  assert.equal(await whole(page), timeline.ticks.pss_bytes[timeline.peak_index]);
  assert.deepEqual(await seriousIssues(page), []);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("its growth is against the base, and adds up", async () => {
  const page = await browser.page(html, { fragment: `#view=treemap&at=200&base=20` });
  await page.locator(".boxes canvas").waitFor();
  await page.keyboard.press("c");
  assert.equal((await hash(page)).boxes, "growth");
  await page.getByText("against 00:00:20", { exact: false }).waitFor();
  const changes = await page.locator(".side table").first().locator("td.change span").evaluateAll((cells) =>
    cells.map((cell) => Number(cell.title.replace(/[^\d-]/g, ""))));
  const sum = changes.pop();
  assert.equal(sum, timeline.ticks.pss_bytes[200] - timeline.ticks.pss_bytes[20]);
  assert.equal(changes.reduce((a, b) => a + b, 0), sum);
  // A process of the table is found again among the boxes.
  await page.keyboard.press("1");
  await page.keyboard.press("g");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal((await hash(page)).view, "treemap");
  await page.getByText(/boxes, /).waitFor();
  await page.close();
});

test("nothing is wider than a phone, and labels of a comparison do not lie on each other", async () => {
  for (const [reports, fragment] of [[{ timeline }, ""], [{ timeline }, "#view=treemap"], [{ diff: made.diff() }, ""], [{ ledger: made.ledger() }, ""]]) {
    const page = await browser.page(madePage(folder, reports), { fragment, viewport: { width: 400, height: 800 } });
    await page.waitForTimeout(200);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${Object.keys(reports)} ${fragment}`);
    if (reports.diff) {
      const bars = await page.locator("table.waterfall td.fall rect").evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
      assert.ok(bars.length >= 6 && bars.every((width) => width > 0) && Math.max(...bars) > 60, bars.join());
    }
    await page.close();
  }
});
