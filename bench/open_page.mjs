// open_page.mjs FILE.html...: opens each in Chromium, once to warm up and five
// times to be measured, and prints "painted_us N" of the median: from the start of
// the navigation to the first frame behind the chart.
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

// Runs in the page, before anything of its own.
function watchForTheChart() {
  new MutationObserver((_, observer) => {
    if (!document.querySelector("canvas")) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => (window.paintedMs = performance.now())));
  }).observe(document, { childList: true, subtree: true });
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
for (const file of process.argv.slice(2)) {
  const times = [];
  for (let round = 0; round < 6; round++) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.addInitScript(watchForTheChart);
    await page.goto(pathToFileURL(resolve(file)).href, { waitUntil: "commit" });
    await page.waitForFunction(() => window.paintedMs);
    if (round > 0) times.push(await page.evaluate(() => window.paintedMs));
    await page.close();
  }
  times.sort((a, b) => a - b);
  console.log(`painted_us ${Math.round(times[2] * 1000)}`);
}
await browser.close();
