// open_served.mjs TIDEMARK FILE.tdm: serves it anew and opens it in Chromium, once
// to warm up and three times to be measured; prints medians from the start of the
// server on: "opened_us N" to the first frame behind the chart, "whole_us N" to the
// one that tells also whose it is.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const require = createRequire(new URL("../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [program, file] = process.argv.slice(2);

async function opened(browser) {
  const began = performance.now();
  const server = spawn(program, ["serve", "-q", "--no-browser", file], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const url = await new Promise((resolve, reject) => {
      server.stdout.once("data", (bytes) => resolve(String(bytes).trim()));
      server.once("exit", () => reject(new Error("serve has ended")));
    });
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(url, { waitUntil: "commit" });
    await page.locator("canvas").first().waitFor();
    const frame = () => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    await frame();
    const opened = performance.now() - began;
    await page.waitForFunction(() => !document.querySelector(".strip").textContent.includes("whose is being read"));
    await frame();
    const whole = performance.now() - began;
    await page.close();
    return { opened, whole };
  } finally {
    // What it still reads shall not be in the next measure.
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill();
    await ended;
  }
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const times = [];
for (let round = 0; round < 4; round++) times.push(await opened(browser));
await browser.close();
for (const what of ["opened", "whole"]) {
  const [, middle] = times.slice(1).map((one) => one[what]).sort((a, b) => a - b);
  console.log(`${what}_us ${Math.round(middle * 1000)}`);
}
