// `serve` over real recordings and a live process, in a real browser and by
// hostile hands.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser, scratch, seriousIssues, serve, TIDEMARK, tidemark } from "./browser.mjs";

const GROWING = `
import time
held = []
print(flush=True)
for _ in range(600):
    held.append(bytearray(1 << 20)); time.sleep(0.1)
`;
const folder = scratch();
const runs = join(folder, "runs");
let browser;
let server;

before(async () => {
  mkdirSync(join(runs, "older"), { recursive: true });
  for (const [name, mib] of [["a.tdm", 20], ["older/b <b>.tdm", 60]]) {
    tidemark("record", "-f", "50ms", "--budget", "none", "-q", "-o", join(runs, name), "--",
      "python3", "-S", "-c", `import time\nx = bytearray(${mib} << 20)\ntime.sleep(0.5)`);
  }
  writeFileSync(join(runs, "broken.tdm"), "no recording");
  browser = await Browser.open();
  server = await serve(runs);
});
after(async () => {
  await server?.stop();
  await browser?.close();
});

// Of node's own client, because fetch() hides what it sends.
function get(path, { headers = {}, method = "GET", at = server } = {}) {
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ host: "127.0.0.1", port: at.port, path, method, headers, agent: false }, (answer) => {
      let body = "";
      answer.on("data", (bytes) => (body += bytes));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, body }));
    });
    asked.on("error", reject);
    asked.end();
  });
}
const withToken = (at = server) => ({ headers: { authorization: `Bearer ${at.token}` }, at });
const json = async (path) => JSON.parse((await get(path, withToken())).body);

test("the recordings of a folder are listed, opened, and left again", async () => {
  const page = await browser.visit(server.url, { own: server.origin });
  await page.getByRole("heading", { name: "3 recordings" }).waitFor();
  assert.ok(!page.url().includes("token"), page.url());
  await page.getByRole("button", { name: "older/b <b>.tdm" }).click();
  await page.locator("canvas").first().waitFor();
  const shown = await page.locator(".strip .number").first().innerText();
  assert.match(shown, /^6\d\.\d/, shown);
  await page.getByLabel("recording", { exact: true }).selectOption("a.tdm");
  await page.getByText("2", { exact: false }).first().waitFor();
  await page.waitForFunction(() => /^2\d\.\d/.test(document.querySelector(".strip .number")?.textContent ?? ""));
  await page.goBack();
  await page.waitForFunction(() => /^6\d\.\d/.test(document.querySelector(".strip .number")?.textContent ?? ""));
  await page.goBack();
  await page.getByRole("heading", { name: "3 recordings" }).waitFor();
  await page.getByRole("button", { name: "a.tdm" }).click();
  await page.getByLabel("recording", { exact: true }).selectOption("broken.tdm");
  await page.getByText("not a recording").or(page.getByText("no recording")).first().waitFor();
  assert.deepEqual(page.requested, []);
  assert.deepEqual(page.complaints.filter((one) => !one.includes("422")), []);
  await page.close();
});

test("kinds are drawn while the rest is read, and nothing is made up meanwhile", async () => {
  let goOn;
  const held = new Promise((resolve) => (goOn = resolve));
  const page = await browser.visit(server.url, { own: server.origin });
  await page.route("**/a.tdm/timeline", async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole("button", { name: "a.tdm", exact: true }).click();
  await page.locator("canvas").first().waitFor();
  const heap = page.locator("table.rows tbody tr").filter({ hasText: "anonymous" });
  assert.match(await heap.innerText(), /…/);
  assert.match(await page.locator(".strip").innerText(), /whose is being read/);
  const peak = await page.locator(".strip .number").first().innerText();
  await page.getByRole("button", { name: "process", exact: true }).click();
  await page.getByRole("heading", { name: "Reading a.tdm" }).waitFor();
  goOn();
  await page.locator("table.rows tbody tr").filter({ hasText: "python3" }).waitFor();
  assert.equal(await page.locator(".strip .number").first().innerText(), peak);
  await page.getByRole("button", { name: "by kind", exact: true }).click();
  assert.doesNotMatch(await heap.innerText(), /…/);
  await page.close();
});

test("stacks are those of the moment that is chosen", async () => {
  const traced = new URL("../fixtures/traces/v1.db", import.meta.url).pathname;
  const its = await serve(traced);
  const page = await browser.visit(`${its.url}#view=stacks`, { own: its.origin });
  const numbers = () => page.locator(".strip dl").evaluateAll((all) => Object.fromEntries(all.map((one) => [one.children[0].textContent, one.children[2].textContent])));
  await page.locator(".flame canvas").waitFor();
  const { peak_pages, pages } = JSON.parse(tidemark("trace", traced, "--json"));
  const told = (number) => `${number.toLocaleString("en-US")} pages`;
  let shown = await numbers();
  assert.deepEqual([shown["held at the peak"], shown["held at the end"]], [told(peak_pages), told(pages)]);
  // Arrows go to the moments beside it.
  const strip = page.getByRole("slider", { name: "moment" });
  await strip.focus();
  for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowLeft");
  await page.locator("dt", { hasText: "held then" }).waitFor();
  await page.waitForFunction(() => !document.querySelector("[aria-label=moment] [aria-pressed=true]").textContent.startsWith("now"));
  const { ticks } = JSON.parse(tidemark("report", traced, "--part", "timeline"));
  const at = Number(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("at"));
  const then = JSON.parse(tidemark("trace", traced, "--at", `tick:${ticks.id[at]}`, "--json"));
  assert.ok(then.pages !== pages && then.pages !== peak_pages, String(then.pages));
  await page.waitForFunction((words) => [...document.querySelectorAll(".strip .how")].some((one) => one.textContent === words), told(then.pages));
  await page.getByRole("button", { name: "at the peak" }).click();
  await page.locator("dt", { hasText: "held at the peak" }).waitFor();
  shown = await numbers();
  assert.equal(shown["held at the peak"], told(peak_pages));
  assert.deepEqual(await seriousIssues(page), []);
  await page.close();
  await its.stop();
});

test("an address brings its moment along", async () => {
  const page = await browser.visit(server.url, { own: server.origin, fragment: "#rec=a.tdm&at=1" });
  await page.locator("canvas").first().waitFor();
  await page.getByRole("button", { name: /^Machine/ }).click();
  await page.waitForURL(/view=machine/);
  assert.match(page.url(), /at=1\b/);
  await page.getByLabel("recording", { exact: true }).selectOption("older/b <b>.tdm");
  await page.waitForURL(/rec=older/);
  assert.doesNotMatch(page.url(), /at=/);
  await page.goBack();
  await page.waitForURL(/rec=a.tdm/);
  assert.match(page.url(), /at=1\b/);
  await page.close();
});

test("two recordings are compared, the machine is shown, nobody is kept out", async () => {
  const page = await browser.visit(server.url, { own: server.origin, fragment: "#rec=a.tdm" });
  await page.locator("canvas").first().waitFor();
  await page.getByRole("button", { name: /^Compare/ }).click();
  await page.getByLabel("before").selectOption("older/b <b>.tdm");
  await page.getByRole("button", { name: "compare", exact: true }).click();
  await page.getByText("less").or(page.getByText("fewer")).or(page.getByText("−")).first().waitFor();
  await page.getByRole("img", { name: "both recordings, each from its start" }).waitFor();
  const sentence = () => page.locator(".sentence").innerText();
  const atPeaks = await sentence();
  await page.getByRole("button", { name: "same time" }).click();
  const at = await page.locator("input.moment").evaluateAll((all) => all.map((one) => one.value));
  assert.ok(at[0] === at[1] && /^[\d.]+s$/.test(at[0]), String(at));
  await page.locator(".sentence").waitFor();
  const told = JSON.parse(tidemark("diff", `${join(runs, "older/b <b>.tdm")}@${at[0]}`, `${join(runs, "a.tdm")}@${at[0]}`, "--json"));
  assert.match(await page.locator(".aside").last().innerText(), new RegExp(`= ${told.after.pss_bytes.toLocaleString("en-US")} bytes`));
  await page.getByRole("button", { name: "peak to peak" }).click();
  await page.waitForFunction((words) => document.querySelector(".sentence")?.innerText === words, atPeaks);
  await page.getByRole("button", { name: /^Machine/ }).click();
  await page.getByText("Reading the machine").or(page.locator("main table")).first().waitFor();
  await page.locator("main table").first().waitFor({ timeout: 20_000 });
  assert.deepEqual(await seriousIssues(page), []);
  await page.close();
});

test("what happens now is drawn as it happens, and kept nowhere", async () => {
  const target = spawn("python3", ["-S", "-c", GROWING], { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve) => target.stdout.once("data", resolve));
  const live = await serve("--pid", String(target.pid), "-f", "200ms", "--budget", "none");
  try {
    const page = await browser.visit(live.url, { own: live.origin });
    await page.locator("canvas").first().waitFor({ timeout: 20_000 });
    const peak = async () => parseFloat(await page.locator(".strip .number").first().innerText());
    const first = await peak();
    await page.waitForFunction((was) => parseFloat(document.querySelector(".strip .number").textContent) > was + 5,
      first, { timeout: 20_000 });
    await page.keyboard.press(" ");
    await page.getByText("paused").waitFor();
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: /^live/ }).waitFor();
    // Asked before the first sample is there, the answer is that there is none.
    assert.deepEqual(page.complaints.filter((one) => !one.includes("422")), []);
    target.kill();
    await page.close();
  } finally {
    target.kill();
    await live.stop();
  }
  assert.deepEqual(readdirSync("/var/tmp").filter((name) => name.startsWith("tidemark-live-")), []);
});

test("every route is 403 without the token, or under a name of others", async () => {
  for (const path of ["/", "/api/recordings", "/api/now/ps", "/api/recordings/a.tdm/peak", "/api/events", "/metrics",
    "/nothing", "/?token=", "/?token=0", `/?token=${"0".repeat(40)}`, "/%zz"]) {
    for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
      assert.equal((await get(path, { method })).status, 403, `${method} ${path}`);
    }
  }
  const { headers } = withToken();
  assert.equal((await get("/", { headers: { ...headers, host: "evil.example" } })).status, 403);
  assert.equal((await get("/", { headers: { ...headers, host: `localhost:${server.port}` } })).status, 200);
  assert.equal((await get("/", { headers, method: "POST" })).status, 405);
  const page = await get("/", { headers });
  assert.equal(page.headers["access-control-allow-origin"], undefined);
  assert.match(page.headers["set-cookie"][0], /HttpOnly; SameSite=Strict/);
});

test("answers are what the commands print", async () => {
  const { peak, info } = { peak: await json("/api/recordings/a.tdm/peak"), info: await json("/api/recordings/a.tdm/info") };
  assert.deepEqual(peak, JSON.parse(tidemark("peak", join(runs, "a.tdm"), "--json")));
  assert.equal(info.sample_count, JSON.parse(tidemark("info", join(runs, "a.tdm"), "--json")).sample_count);
  for (const part of ["ps", "system", "objects", "doctor"]) {
    assert.match((await json(`/api/now/${part}`)).schema, /^tidemark\./);
  }
  const other = await get("/api/recordings/..%2F..%2Fetc%2Fpasswd/info", withToken());
  assert.equal(other.status, 404);
  const asOption = await get("/api/recordings/a.tdm/peak?at=--help", withToken());
  assert.equal(asOption.status, 422);
  assert.match(JSON.parse(asOption.body).error, /no moment/);
});

// Bytes that are no request, half requests, far too long ones, and some that
// close at once; each socket is given up after a while.
function molest(bytes, stayMs) {
  return new Promise((resolve) => {
    const socket = connect(server.port, "127.0.0.1", () => socket.write(bytes));
    const end = () => (socket.destroy(), resolve());
    socket.on("error", end);
    socket.on("close", end);
    setTimeout(end, stayMs).unref();
  });
}

test("1,000 hostile or slow requests leave the server answering", async () => {
  const authorized = `Authorization: Bearer ${server.token}\r\nHost: localhost\r\n`;
  const kinds = [
    () => "GET / HTTP/1.1\r\nHost: x",
    () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(20),
    () => `GET /${"a".repeat(100_000)} HTTP/1.1\r\n\r\n`,
    () => `GET / HTTP/1.1\r\n${"X: y\r\n".repeat(20_000)}\r\n`,
    () => `POST / HTTP/1.1\r\n${authorized}Content-Length: 99999999999\r\n\r\nxxxx`,
    () => `POST / HTTP/1.1\r\n${authorized}Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n`,
    () => `GET /api/recordings/%00 HTTP/1.1\r\n${authorized}\r\n`,
    () => "",
    () => `GET /api/events HTTP/1.1\r\n${authorized}\r\n`,
    () => `GET http://evil/ HTTP/1.1\r\n${authorized}\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
  ];
  let slowest = 0;
  for (let round = 0; round < 10; ++round) {
    const crowd = Array.from({ length: 100 }, (_, i) => molest(kinds[i % kinds.length](), 400));
    for (let i = 0; i < 3; ++i) {
      const began = performance.now();
      assert.equal((await get("/api/recordings", withToken())).status, 200);
      slowest = Math.max(slowest, performance.now() - began);
    }
    await Promise.all(crowd);
  }
  console.log(`slowest answer beside 1,000 hostile requests: ${slowest.toFixed(0)} ms`);
  assert.ok(slowest < 2000, `${slowest}`);
});

test("the browser is opened where there is one", async () => {
  const seen = join(folder, "seen");
  const script = join(folder, "browser.sh");
  writeFileSync(script, `#!/bin/sh\nprintf %s "$1" > "${seen}.part" && mv "${seen}.part" "${seen}"\n`, { mode: 0o755 });
  const env = { ...process.env, BROWSER: script };
  const child = spawn(TIDEMARK, ["serve", "-q", runs], { env, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve) => child.stdout.once("data", (bytes) => resolve(String(bytes).trim())));
  for (let i = 0; i < 100 && !existsSync(seen); ++i) await new Promise((resolve) => setTimeout(resolve, 50));
  child.kill();
  assert.equal(readFileSync(seen, "utf8"), url);
});

test("a process that is not there is said at once", () => {
  const done = spawnSync(TIDEMARK, ["serve", "--no-browser", "--pid", "4194300"], { encoding: "utf8", timeout: 10_000 });
  assert.equal(done.status, 1);
  assert.match(done.stderr, /4194300/);
  assert.equal(done.stdout, "");
});

test("it ends in order, and a killed one leaves nothing", async () => {
  const target = spawn("sleep", ["60"]);
  const one = await serve("--pid", String(target.pid), "-f", "100ms");
  assert.equal((await get("/api/recordings", withToken(one))).status, 200);
  const isThere = () => readdirSync("/var/tmp").some((name) => name.startsWith("tidemark-live-"));
  assert.ok(isThere());
  await one.stop("SIGKILL");
  for (let i = 0; i < 100 && isThere(); ++i) await new Promise((resolve) => setTimeout(resolve, 50));
  target.kill();
  assert.ok(!isThere());
});
