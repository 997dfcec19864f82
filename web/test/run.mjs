// Bundles the unit tests and runs them with Node's own runner, which 18 has too.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(tmpdir(), "tidemark-web-"));
try {
  await build({
    entryPoints: readdirSync(here).filter((name) => name.endsWith(".test.ts")).map((name) => join(here, name)),
    bundle: true,
    platform: "node",
    format: "esm",
    outExtension: { ".js": ".mjs" },
    outdir: out,
    logLevel: "warning",
  });
  const tests = readdirSync(out).map((name) => join(out, name));
  process.exitCode = spawnSync(process.execPath, ["--test", "--test-reporter=tap", ...tests], { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(out, { recursive: true });
}
