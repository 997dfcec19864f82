// Bundles the page: one HTML file with its script and its style inside, which
// loads nothing. `node build.mjs OUT.html
// [OUT.h]`: the header holds the same as a constant of C++.
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const MOST_BYTES = 250_000;

// Ways to draw a line that no chart of ours has: named by nothing, esbuild
// leaves them out (5 KB).
const UNUSED = /^\t\(paths\.(stepped|bars|spline) .*\n|^\tuPlot\.join = .*\n/gm;
// Dates on axes and in legends: our axes are of seconds since a start (3 KB).
const DATES = /^function genTimeStuffs\(ms\) \{\n[^]*?^\}\n|^const subs = \{\n[^]*?^\};\n/gm;
const NO_DATES = "const subs = {};\nfunction genTimeStuffs() { return [[], [], () => null]; }\n";
const leaner = {
  name: "leaner uPlot",
  setup: (builder) => builder.onLoad({ filter: /uPlot\.esm\.js$/ }, async ({ path }) => {
    const contents = await readFile(path, "utf8");
    if (contents.match(UNUSED)?.length !== 4 || contents.match(DATES)?.length !== 2) throw new Error("this uPlot names its parts otherwise: see UNUSED");
    return { contents: contents.replace(UNUSED, "").replace(DATES, "") + NO_DATES };
  }),
};

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2021"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    plugins: [leaner],
    charset: "utf8", // the page says so; escapes would be longer
    logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const out = process.argv[2] ?? join(here, "..", "build", "web", "page.html");
const [script, style, template] = await Promise.all([
  bundle("main.tsx"),
  bundle("style.css"),
  readFile(join(here, "src", "page.html"), "utf8"),
]);
// A script that named its own end would be cut there.
const safe = script.replaceAll("</script", "<\\/script");
// Nothing is loaded, and nothing runs but this script: a name that looks like
// HTML stays a name. Only a page that is served asks its own server.
const policy = [
  "default-src 'none'",
  `script-src ${hash(safe)}`,
  `style-src ${hash(style)}`,
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const fill = { policy, style, script: safe };
const page = template.replace(/\{\{(policy|style|script)\}\}/g, (_, key) => fill[key]);
const bytes = Buffer.byteLength(page);
if (bytes > MOST_BYTES) {
  console.error(`the page has ${bytes} bytes, more than ${MOST_BYTES}`);
  process.exit(1);
}
await mkdir(dirname(out), { recursive: true });
await writeFile(out, page);
if (process.argv[3]) {
  // In parts: compilers need not take a literal longer than 65,536 bytes.
  const parts = page.match(/[^]{1,16000}/gu).map((part) => `    R"tidemark(${part})tidemark"sv,`);
  await mkdir(dirname(process.argv[3]), { recursive: true });
  await writeFile(
    process.argv[3],
    `// Made of web/.
#pragma once

#include <array>
#include <string_view>

namespace tidemark::view {

using namespace std::string_view_literals;

inline constexpr std::array<std::string_view, ${parts.length}> kPageParts = {
${parts.join("\n")}
};

}  // namespace tidemark::view
`,
  );
}
