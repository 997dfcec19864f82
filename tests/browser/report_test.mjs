// `report` of a real recording, opened from disk in a real browser.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser, scratch, seriousIssues, tidemark } from "./browser.mjs";

const MIB = 2 ** 20;
// It grows, forks, and maps a file whose name is hostile.
const WORKLOAD = `
import mmap, os, sys, time
name = sys.argv[1]
with open(name, "wb") as file:
    file.write(b"x" * (8 << 20))
held = []
for _ in range(10):
    held.append(bytearray(8 << 20)); time.sleep(0.05)
with open(name, "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
sum(mapped[i] for i in range(0, len(mapped), 4096))
child = os.fork()
if child == 0:
    more = bytearray(24 << 20); time.sleep(0.6); os._exit(0)
os.waitpid(child, 0)
del held[:]
time.sleep(0.4)
`;
const HOSTILE = `<img src=x onerror=alert(1)><!--\u202e\u001b[31m.bin`;

const folder = scratch();
const recording = join(folder, "a.tdm");
const html = join(folder, "a.html");
let browser;

before(async () => {
  const program = join(folder, "workload.py");
  writeFileSync(program, WORKLOAD);
  tidemark("record", "--period", "50ms", "--budget", "none", "-q", "-o", recording,
    "--", "python3", "-S", "-E", program, join(folder, HOSTILE));
  tidemark("report", recording, "-o", html);
  browser = await Browser.open();
});
after(() => browser?.close());

const text = (page, selector) => page.locator(selector).first().innerText();
const sizeOf = (words) => {
  const [, number, unit] = words.replaceAll("\u00a0", " ").match(/([\d.]+)\s*(KiB|MiB|GiB)/);
  return Number(number) * { KiB: 1024, MiB: MIB, GiB: 1024 * MIB }[unit];
};

test("the first screen has the peak that `peak` tells, and nothing is loaded", async () => {
  const page = await browser.page(html);
  await page.locator("canvas").waitFor();
  const peak = JSON.parse(tidemark("peak", recording, "--json"));
  const shown = sizeOf(await text(page, ".strip .number"));
  assert.ok(Math.abs(shown / peak.total.pss_bytes - 1) < 0.01, `${shown} ${peak.total.pss_bytes}`);
  assert.match(await text(page, "h2 >> nth=1"), /At the peak/);
  const kinds = await page.locator("table.rows tbody td.name").allInnerTexts();
  assert.ok(kinds.some((name) => name.includes("anonymous")), kinds.join());
  assert.deepEqual(page.requested, []);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("the table closes to its sum in every grouping", async () => {
  const page = await browser.page(html);
  for (const grouping of ["by kind", "process", "mapping", "cgroup"]) {
    await page.getByRole("button", { name: grouping, exact: true }).click();
    const more = page.locator("button.plain");
    if (await more.count()) await more.click();
    const bytes = await page.locator("table.rows tbody tr").evaluateAll((rows) =>
      rows.map((row) => Number(row.querySelector("td.n span[title]").title.replace(/\D/g, ""))));
    const sum = await page.locator("table.rows tfoot tr:last-child td.n span[title]").first()
      .evaluate((cell) => Number(cell.title.replace(/\D/g, "")));
    assert.equal(bytes.reduce((a, b) => a + b, 0), sum, grouping);
    assert.ok(sum > 80 * MIB, `${grouping} ${sum}`);
  }
  await page.close();
});

test("a click on the chart chooses the moment, keys move it, p goes back", async () => {
  const page = await browser.page(html);
  const over = page.locator(".u-over");
  const box = await over.boundingBox();
  await page.mouse.click(box.x + box.width * 0.1, box.y + box.height / 2);
  assert.match(await text(page, "section h2"), /^At 00:00:0\d/);
  const chosen = Number(page.url().match(/#at=(\d+)/)[1]);
  await page.locator(".chart").focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((wanted) => location.hash === `#at=${wanted}`, chosen + 1);
  await page.keyboard.press("p");
  assert.equal(await text(page, "section h2"), "At the peak");
  await page.close();
});

test("a drag zooms, Shift and the wheel pan, and 0 shows all again", async () => {
  const page = await browser.page(html);
  const box = await page.locator(".u-over").boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 50, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes("zoom="));
  const span = async () => new URLSearchParams(new URL(page.url()).hash.slice(1)).get("zoom").split("-").map(Number);
  const [from, to] = await span();
  await page.keyboard.down("Shift");
  await page.mouse.wheel(0, box.width / 10);
  await page.keyboard.up("Shift");
  await page.waitForFunction((was) => !location.hash.includes(`zoom=${was.toFixed(3)}-`), from);
  const [later, end] = await span();
  assert.ok(later > from && Math.abs(end - later - (to - from)) < 0.01, `${from}-${to} ${later}-${end}`);
  await page.locator(".chart").focus();
  await page.keyboard.press("0");
  await page.waitForFunction(() => !location.hash.includes("zoom="));
  await page.close();
});

test("filter and sort", async () => {
  const page = await browser.page(html, { fragment: "#by=mapping" });
  const all = await page.locator("table.rows tbody tr").count();
  await page.keyboard.press("/");
  await page.keyboard.type("libpython");
  const left = await page.locator("table.rows tbody td.name").allInnerTexts();
  assert.ok(left.length > 0 && left.length < all && left.every((name) => name.includes("libpython")), left.join());
  await page.keyboard.press("Escape");
  await page.locator("#find").fill("");
  await page.getByRole("button", { name: "mapping", exact: true }).nth(1).click();
  const names = await page.locator("table.rows tbody td.name").allInnerTexts();
  const named = names.filter((name) => !/ more$/.test(name));
  assert.deepEqual(named, [...named].sort((a, b) => a.trim().localeCompare(b.trim())));
  assert.equal(await page.locator("th[aria-sort=ascending]").count(), 1);
  await page.close();
});

test("a hostile name shows itself and does nothing else", async () => {
  const page = await browser.page(html, { fragment: "#by=mapping" });
  const hostile = page.locator("table.rows td.name", { hasText: "onerror" });
  await hostile.first().waitFor();
  assert.equal((await hostile.first().innerText()).trim(), "<img src=x onerror=alert(1)><!--\\u202e\\x1b[31m.bin");
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("both themes, and nobody is kept out", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.page(html, { colorScheme });
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
    assert.deepEqual(await seriousIssues(page), []);
    await page.locator(".chart").focus();
    await page.keyboard.press("t");
    assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
    await page.close();
  }
});

test("400 pixels need no sideways scrolling", async () => {
  const page = await browser.page(html, { viewport: { width: 400, height: 800 } });
  await page.locator("canvas").waitFor();
  const [inner, content] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
  assert.ok(content <= inner, `${content} in ${inner}`);
  await page.close();
});

const titled = (cell) => Number(cell.title.replaceAll("\u2212", "-").replace(/[^\d-]/g, ""));

test("each part that is printed is what the page has", () => {
  const page = readFileSync(html, "utf8");
  for (const name of ["timeline", "peak", "info", "machine", "ps"]) {
    const [, text] = page.match(new RegExp(`id="data-${name}">(.*?)</script>`, "s"));
    assert.deepEqual(JSON.parse(text), JSON.parse(tidemark("report", recording, "--part", name)), name);
  }
  const whole = JSON.parse(tidemark("report", recording, "--part", "timeline"));
  const first = JSON.parse(tidemark("report", recording, "--part", "kinds"));
  assert.ok(whole.processes.length > 0 && first.processes.length === 0);
  for (const same of ["ticks", "kinds", "peak_index", "elapsed_ns", "missed_count"]) assert.deepEqual(first[same], whole[same], same);
  assert.throws(() => tidemark("report", recording, "--part", "trace"), /there is no trace in it/);
  const { timeline, ...rest } = JSON.parse(tidemark("report", recording, "--part", "all"));
  assert.ok(timeline);
  assert.deepEqual(JSON.parse(tidemark("report", recording, "--part", "rest")), rest);
});

test("the machine closes to RAM at every sample, and to the byte in its table", async () => {
  const machine = JSON.parse(tidemark("report", recording, "--part", "machine"));
  const { ticks } = machine;
  ticks.id.forEach((_, i) => {
    const sum = machine.classes.reduce((all, one) => all + (one.bytes?.[i] ?? 0), ticks.other_bytes[i]);
    assert.equal(sum, ticks.total_bytes[i]);
  });
  const page = await browser.page(html, { fragment: "#view=machine&at=3" });
  await page.locator("canvas").waitFor();
  const rows = await page.locator("#ledger tbody td.n:nth-child(2) span[title]").evaluateAll((cells) =>
    cells.filter((cell) => / bytes$/.test(cell.title)).map((cell) => Number(cell.title.replace(/[^\d-]/g, ""))));
  assert.equal(rows.reduce((a, b) => a + b, 0), ticks.total_bytes[3]);
  assert.match(await text(page, "#ledger tfoot td.name"), /0 bytes left over/);
  assert.match(await text(page, ".residue"), /Not named: .* of RAM/);
  await page.locator("svg.lane", { hasText: "pressure" }).waitFor();
  assert.deepEqual(page.requested, []);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("the processes at the peak are a tree that ends in their sum", async () => {
  const page = await browser.page(html, { fragment: "#view=machine" });
  const tree = page.locator("#processes");
  const whole = await tree.locator("tfoot td:nth-child(3) span[title]").evaluate(titled);
  const peak = JSON.parse(tidemark("peak", recording, "--json"));
  assert.equal(whole, peak.total.pss_bytes);
  const count = await tree.locator("tbody tr").count();
  await tree.locator("button[aria-expanded=true]").first().click();
  assert.ok((await tree.locator("tbody tr").count()) < count);
  await page.close();
});

test("the timeline has lanes of events and of pressure", async () => {
  const page = await browser.page(html);
  assert.deepEqual(await page.locator("svg.lane").evaluateAll((lanes) => lanes.map((lane) => lane.querySelector("text").textContent)), ["events", "pressure"]);
  await page.close();
});

async function waterfall(page) {
  const changes = await page.locator("table.waterfall td.n span[title]").evaluateAll((cells) =>
    cells.map((cell) => Number(cell.title.replace(/[^\d-]/g, ""))));
  return changes.reduce((a, b) => a + b, 0);
}

test("two moments are compared: b chooses the base, and the steps add up", async () => {
  const timeline = JSON.parse(tidemark("report", recording, "--json"));
  const { pss_bytes: pss } = timeline.ticks;
  const page = await browser.page(html, { fragment: "#at=5" });
  await page.locator(".chart").focus();
  await page.keyboard.press("b");
  await page.keyboard.press("p");
  await page.locator("#compare").click();
  for (const by of ["kind", "kind and process", "process", "mapping"]) {
    await page.getByRole("button", { name: by, exact: true }).click();
    assert.equal(await waterfall(page), pss[timeline.peak_index] - pss[5], by);
    assert.equal(await page.getByText("not explained").count(), 0);
  }
  await page.keyboard.press("x");
  assert.equal(await waterfall(page), pss[5] - pss[timeline.peak_index]);
  assert.match(page.url(), /base=5/);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("the outline above Compare chooses the moment, and what is there the base", async () => {
  const timeline = JSON.parse(tidemark("report", recording, "--json"));
  const { pss_bytes: pss } = timeline.ticks;
  const page = await browser.page(html, { fragment: "#view=compare&at=5" });
  await page.getByRole("button", { name: /^base here/ }).click();
  await page.getByRole("slider", { name: "moment" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /at=6&base=5/.test(location.hash));
  assert.equal(await waterfall(page), pss[6] - pss[5]);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("Shift-drag chooses both moments", async () => {
  const page = await browser.page(html);
  const box = await page.locator(".u-over").boundingBox();
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + box.width * 0.3, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 50, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.waitForFunction(() => /at=\d+&base=\d+/.test(location.hash) && !location.hash.includes("zoom="));
  await page.locator("#compare").waitFor();
  await page.close();
});

test("another recording is the base that it was given", async () => {
  const both = join(folder, "both.html");
  tidemark("report", recording, "--base", recording, "-o", both);
  const page = await browser.page(both, { fragment: "#view=compare" });
  assert.match(await text(page, ".sentence"), /as much as the base/);
  await page.getByRole("button", { name: "two moments" }).click();
  assert.match(await text(page, ".sentence"), /more than the base/);
  await page.close();
});

test("a recording with a trace has its stacks, and the trace is the one that `trace` prints", async () => {
  const traced = new URL("../fixtures/traces/v1.db", import.meta.url).pathname;
  tidemark("report", traced, "-o", join(folder, "traced.html"));
  const page = await browser.page(join(folder, "traced.html"));
  await page.locator("canvas").waitFor();
  assert.deepEqual(await page.locator("nav.views button").allInnerTexts(), ["Stacks 1"]);
  const shown = await page.locator("#data-trace").evaluate((element) => JSON.parse(element.textContent));
  assert.deepEqual(shown, JSON.parse(tidemark("trace", traced, "--json")));
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("the other views keep nobody out, and fit on a telephone", async () => {
  for (const fragment of ["#view=machine", "#view=compare"]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await browser.page(html, { colorScheme, fragment, viewport: { width: 400, height: 800 } });
      const [inner, content] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
      assert.ok(content <= inner, `${fragment} ${content} in ${inner}`);
      assert.deepEqual(await seriousIssues(page), [], fragment);
      await page.close();
    }
  }
});

test("data that was cut says so", async () => {
  const cut = join(folder, "cut.html");
  const whole = readFileSync(html, "utf8");
  const at = whole.indexOf('id="data-timeline">') + 200;
  writeFileSync(cut, whole.slice(0, at) + whole.slice(whole.indexOf("</script>", at)));
  const page = await browser.page(cut);
  assert.match(await text(page, ".state h2"), /cannot be read/);
  await page.close();
});

test("a long recording is packed, and opens to the same numbers", async (t) => {
  const program = join(folder, "busy.py");
  // Something else at each sample: a heap that breathes, in eight pieces.
  writeFileSync(program, `
import mmap, time
pieces = [mmap.mmap(-1, (i + 1) << 20) for i in range(8)]
end = time.monotonic() + 6
turn = 0
while time.monotonic() < end:
    piece = pieces[turn % 8]
    for at in range(0, len(piece), 4096 * (1 + turn % 5)):
        piece[at] = 1
    if turn % 3 == 0:
        piece.madvise(mmap.MADV_DONTNEED)
    turn += 1
    time.sleep(0.0005)
`);
  const long = join(folder, "long.tdm");
  const file = join(folder, "long.html");
  tidemark("record", "--period", "2ms", "--budget", "none", "-q", "-o", long, "--", "python3", "-S", "-E", program);
  const started = performance.now();
  tidemark("report", long, "-o", file);
  const written = performance.now() - started;
  const whole = readFileSync(file, "utf8");
  const timeline = JSON.parse(tidemark("report", long, "--json"));
  const json = JSON.stringify(timeline).length;
  const page = await browser.page(file);
  await page.locator("canvas").waitFor();
  const opened = await page.evaluate(() => performance.now());
  t.diagnostic(`${timeline.tick_count} samples, ${json} bytes of JSON: written in ${written.toFixed(0)} ms, ` +
    `${whole.length} bytes, drawn after ${opened.toFixed(0)} ms`);
  assert.deepEqual(page.complaints, []);
  const peak = JSON.parse(tidemark("peak", long, "--json"));
  const shown = sizeOf(await text(page, ".strip .number"));
  assert.ok(Math.abs(shown / peak.total.pss_bytes - 1) < 0.01, `${shown} ${peak.total.pss_bytes}`);
  assert.equal(whole.includes('type="application/gzip" id="data-timeline"'), json > 256 * 1024, `${json}`);
  await page.close();
});

test("the page is small", () => {
  assert.ok(statSync(html).size < 1_000_000, `${statSync(html).size}`);
});
