// What the browser tests share: the program under test, Debian's Chromium and
// recordings of known workloads.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// The packages of the front end have its tools too.
const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");

export const TIDEMARK = process.env.TIDEMARK ?? "tidemark";
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

export function tidemark(...words) {
  const done = spawnSync(TIDEMARK, words, { encoding: "utf8", timeout: 60_000 });
  if (done.status !== 0) throw new Error(`tidemark ${words.join(" ")}: ${done.status}\n${done.stderr}`);
  return done.stdout;
}

// `serve` with such arguments: its URL, and how to end it.
export async function serve(...words) {
  const child = spawn(TIDEMARK, ["serve", "--no-browser", ...words], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (bytes) => {
      text += bytes;
      if (text.includes("\n")) resolve(text.trim());
    });
    child.on("exit", (code) => reject(new Error(`serve ended with ${code}`)));
  });
  const { origin, searchParams } = new URL(url);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  return {
    url,
    origin,
    pid: child.pid,
    port: Number(new URL(url).port),
    token: searchParams.get("token"),
    stop: (signal = "SIGTERM") => (child.kill(signal), ended),
  };
}

// A folder of its own, gone with the process.
export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-browser-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// A page with such reports inside, whatever they say: one that the program made,
// with others in the place of its own.
export function madePage(folder, reports) {
  const file = join(folder, `${Object.keys(reports).join("-")}-${Math.random()}.html`);
  const capture = join(folder, "least.json");
  writeFileSync(capture, JSON.stringify([
    { id: "kernel/physmem", type: "kernel", parent: "", name: "physmem", size_bytes: 8192 },
    { id: "kernel/free", type: "kernel", parent: "kernel/physmem", name: "free", size_bytes: 4096 },
    { id: "kernel/vmo", type: "kernel", parent: "kernel/physmem", name: "vmo", size_bytes: 4096 },
    { id: "j/1", type: "j", parent: "kernel/vmo", name: "root", koid: 1 },
    { type: "__META", timestamp: "2026-01-01T00:00:00Z", schema: "tidemark.graph/1", notes: [] },
  ]));
  tidemark("treemap", capture, "-o", file);
  const elements = Object.entries(reports).map(([name, report]) =>
    `<script type="application/json" id="data-${name}">${JSON.stringify(report).replaceAll("<", "\\u003c")}</script>`);
  const page = readFileSync(file, "utf8");
  const own = /<script type="application\/json" id="data-treemap">.*?<\/script>/s;
  writeFileSync(file, page.replace(own, () => elements.join("\n")));
  return file;
}

export class Browser {
  static async open() {
    // Root may not use Chromium's sandbox; nothing is loaded but our own page.
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    return new Browser(browser);
  }

  constructor(browser) {
    this.browser = browser;
  }

  // A page of a file, with what it asked for and complained about.
  page(file, { fragment = "", ...options } = {}) {
    return this.visit(pathToFileURL(file).href, { fragment, ...options });
  }

  // The same of a server; what it asks of that one is no request to others.
  async visit(url, { fragment = "", own = url, ...options } = {}) {
    const page = await this.browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
    page.requested = [];
    page.complaints = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(own)) page.requested.push(request.url());
    });
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) page.complaints.push(message.text());
    });
    page.on("pageerror", (error) => page.complaints.push(error.message));
    page.on("dialog", (dialog) => {
      page.complaints.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    await page.goto(url + fragment);
    return page;
  }

  close() {
    return this.browser.close();
  }
}

// What would keep people out: nothing serious may be found.
export async function seriousIssues(page) {
  // The page's policy refuses foreign scripts; the check must get in all the same.
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setBypassCSP", { enabled: true });
  await page.reload();
  await page.addScriptTag({ path: axe });
  const { violations } = await page.evaluate(() => window.axe.run(document));
  return violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 100)).join(" | ")}`);
}
