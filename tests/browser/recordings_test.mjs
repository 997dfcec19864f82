// The list of recordings of a server, and recordings that change while one
// looks at them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser, scratch, seriousIssues, serve, TIDEMARK, tidemark } from "./browser.mjs";

const folder = scratch();
const runs = join(folder, "runs");
const small = join(folder, "small.tdm");
let browser;

function record(file, mib) {
  tidemark("record", "-f", "50ms", "--budget", "none", "-q", "-o", file, "--",
    "python3", "-S", "-c", `import time\nx = bytearray(${mib} << 20)\ntime.sleep(0.5)`);
}

before(async () => {
  mkdirSync(runs);
  record(small, 20);
  copyFileSync(small, join(runs, "a.tdm"));
  record(join(runs, "large.tdm"), 60);
  writeFileSync(join(runs, "junk.tdm"), "no recording");
  browser = await Browser.open();
});
after(() => browser?.close());

async function with_server(places, look) {
  const server = await serve(...places);
  const page = await browser.visit(server.url, { own: server.origin });
  try {
    await look(page, server);
    assert.deepEqual(page.requested, []);
    // A recording that cannot be read is said with a status of its own.
    assert.deepEqual(page.complaints.filter((one) => !/status of 4\d\d/.test(one)), []);
  } finally {
    await page.close();
    await server.stop();
  }
}

test("each is told by what is in it; what cannot be read says why and is not opened", () =>
  with_server([runs], async (page) => {
    await page.getByRole("heading", { name: "3 recordings" }).waitFor();
    const row = (name) => page.locator("table.recordings tbody tr", { hasText: name });
    await row("large.tdm").getByText(/^6\d\.\d/).waitFor();
    assert.match(await row("large.tdm").innerText(), /python3/);
    assert.equal(await row("large.tdm").locator("svg").count(), 1);
    await row("junk.tdm").getByText("not a recording").waitFor();
    assert.equal(await row("junk.tdm").getByRole("button").count(), 0);
    const names = async () => (await page.locator("table.recordings tbody td.name").allInnerTexts()).map((name) => name.trim());
    assert.deepEqual(await names(), ["a.tdm", "junk.tdm", "large.tdm"]);
    await page.getByRole("button", { name: "peak", exact: true }).click();
    assert.deepEqual(await names(), ["large.tdm", "a.tdm", "junk.tdm"]);
    assert.deepEqual(await seriousIssues(page), []);
    await page.locator("#find").fill("lar");
    assert.deepEqual(await names(), ["large.tdm"]);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.locator("canvas").first().waitFor();
    assert.match(page.url(), /rec=large.tdm/);
  }));

test("junk is not tried again, and the list is one step away", () =>
  with_server([runs], async (page, { url }) => {
    await page.goto(`${url}#rec=junk.tdm`);
    await page.getByText("junk.tdm cannot be shown").waitFor();
    assert.equal(await page.getByRole("button", { name: "try again" }).count(), 0);
    await page.getByRole("main").getByRole("button", { name: "all recordings" }).click();
    await page.getByRole("heading", { name: "3 recordings" }).waitFor();
  }));

test("the treemap of a recording is that of the moment, the machine's one click away", () =>
  with_server([join(runs, "large.tdm")], async (page) => {
    await page.locator("canvas").first().waitFor();
    await page.getByRole("button", { name: /^Treemap/ }).click();
    await page.locator(".boxes canvas").waitFor();
    assert.match(await page.locator(".momentstrip h2").innerText(), /^At the peak/);
    const [peak] = await page.locator(".side tfoot .n span").allInnerTexts();
    assert.match(peak, /^6\d\.\d/);
    await page.getByRole("button", { name: "the whole machine, now" }).click();
    await page.getByText("this machine, now").waitFor();
    await page.locator(".boxes canvas").waitFor({ timeout: 20_000 });
    assert.equal(await page.locator(".momentstrip").count(), 0);
  }));

test("a recording that is deleted while it is shown stays, and says so", async () => {
  const own = join(folder, "going");
  mkdirSync(own);
  for (const name of ["goes.tdm", "stays.tdm"]) copyFileSync(small, join(own, name));
  await with_server([own], async (page, { url }) => {
    await page.goto(`${url}#rec=goes.tdm`);
    await page.locator("canvas").first().waitFor();
    rmSync(join(own, "goes.tdm"));
    await page.getByText("its file is gone").waitFor({ timeout: 10_000 });
    assert.equal(await page.locator(".u-over").count(), 1);
    await page.reload();
    // Nothing is asked for that is not in the list.
    await page.locator("canvas").or(page.getByRole("heading", { name: "1 recording" })).or(page.getByText("is not here")).first().waitFor();
  });
});

test("a recording that another writes is shown, and goes on", async () => {
  const own = join(folder, "growing");
  mkdirSync(own);
  const file = join(own, "now.tdm");
  const writer = spawn(TIDEMARK, ["record", "-f", "100ms", "--budget", "none", "-q", "-o", file, "--", "python3", "-S", "-c",
    "import time\nx = []\nfor _ in range(200):\n  x.append(bytearray(1 << 20)); time.sleep(0.1)"], { stdio: "ignore" });
  const ended = new Promise((resolve) => writer.on("exit", resolve));
  try {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await with_server([own], async (page) => {
      await page.locator("canvas").first().waitFor({ timeout: 20_000 });
      const peak = () => page.evaluate(() => parseFloat(document.querySelector(".strip .number").textContent));
      const first = await peak();
      await page.waitForFunction((was) => parseFloat(document.querySelector(".strip .number").textContent) > was + 5, first, { timeout: 20_000 });
    });
  } finally {
    writer.kill("SIGINT");
    await ended;
  }
});

test("a folder of a hundred recordings opens quickly", async () => {
  const many = join(folder, "many");
  mkdirSync(many);
  for (let i = 0; i < 100; ++i) copyFileSync(small, join(many, `${String(i).padStart(3, "0")}.tdm`));
  const server = await serve(many);
  try {
    const began = performance.now();
    const page = await browser.visit(server.url, { own: server.origin });
    await page.getByRole("heading", { name: "100 recordings" }).waitFor();
    const listed = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
    await page.locator("#find").fill("042");
    await page.locator("table.recordings tbody tr").first().getByText("042.tdm").waitFor();
    await page.locator("#find").fill("");
    await page.waitForFunction(() => !document.querySelector(".bar [role=status]").textContent.includes("looked into"), null, { timeout: 60_000 });
    console.log(`100 recordings: listed after ${listed.toFixed(0)} ms, looked into after ${(performance.now() - began).toFixed(0)} ms`);
    assert.ok(listed < 2000, `${listed}`);
    assert.equal(await page.locator("table.recordings tbody svg").count(), 100);
    await page.close();
  } finally {
    await server.stop();
  }
});
