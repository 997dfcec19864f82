#!/usr/bin/env python3
"""Every JSON that is printed is as the published schemas say, of this machine,
of captured ones, with the rights of root and with none."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import jsonschema

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engines import Daemon, fetch
from live import NOBODY, TIDEMARK, is_root, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/fixtures"
SCHEMAS = ROOT / "share/tidemark/schemas"
# memgraph's array has its own, graph_schema.json; a baseline is a file of ours.
OWNED_BY_OTHERS = {"tidemark.graph/1", "tidemark.gate-baseline/1"}


def published():
    """By the name that a document carries."""
    found = {}
    for path in sorted(SCHEMAS.glob("*.json")):
        schema = json.loads(path.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        found[schema["properties"]["schema"]["const"]] = \
            jsonschema.Draft202012Validator(schema)
    return found


def documents(text):
    """One, or one in each line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def parts_of(value):
    """All documents in one, itself first."""
    if isinstance(value, dict):
        if str(value.get("schema", "")).startswith("tidemark."):
            yield value
        for each in value.values():
            yield from parts_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from parts_of(each)


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schemas = published()
        cls.met = set()
        folder = tempfile.TemporaryDirectory(prefix="tidemark-schema-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.folder.chmod(0o755)
        cls.recording = cls.folder / "a.tdm"
        run("record", "-q", "-f", "100ms", "-o", cls.recording, "--", "sh", "-c",
            "python3 -S -c 'import time; x=bytearray(20<<20); time.sleep(0.5)'; sleep 0.1")
        cls.imported = cls.folder / "w.tdm"
        run("import", "-q", FIXTURES / "memory-watcher/v0.1.db", "-o", cls.imported,
            "--time-zone", "UTC")
        cls.vms = cls.folder / "m.tdm"
        run("import", "-q", FIXTURES / "memstats/sample.json", "-o", cls.vms,
            "--at", "2026-11-15T10:00:00Z")

    def check(self, text, what):
        for document in documents(text):
            found = list(parts_of(document))
            self.assertTrue(found, f"{what}: without a schema")
            for part in found:
                name = part["schema"]
                if name in OWNED_BY_OTHERS:
                    continue
                self.assertTrue(name in self.schemas, f"{what}: no schema of {name}")
                wrong = [f"{'/'.join(map(str, error.path))}: {error.message[:200]}"
                         for error in self.schemas[name].iter_errors(part)]
                self.assertEqual(wrong[:3], [], f"{what}: {name}")
                self.met.add(name)

    def expect(self, *words, **options):
        done = run(*words, check=False, **options)
        # 10 and 11 are verdicts.
        self.assertIn(done.returncode, (0, 10, 11), (words, done.stderr))
        self.check(done.stdout, " ".join(map(str, words)))

    def test_1_of_this_machine(self):
        pid = os.getpid()
        for words in (["ps"], ["ps", "--by", "cgroup"], ["system", "--count", "1"],
                      ["get", pid], ["maps", pid], ["doctor"], ["buckets"],
                      ["objects"], ["vm", "list"], ["run", "-o", "-", "--", "true"],
                      ["gate", "--runs", "2", "--budget", "1G", "--", "true"]):
            where = words.index("--") if "--" in words else len(words)
            self.expect(*words[:where], "--json", *words[where:])
        self.expect("get", pid, "-w", "--count", "2", "-f", "50ms", "--format", "jsonl")

    @unittest.skipUnless(is_root(), "is root's affair")
    def test_2_with_and_without_rights(self):
        self.expect("ledger", "--json")
        self.expect("kmap", "--json")
        for options in ([], ["--user"]):
            if run("trace", *options, "-q", "--", "true", check=False).returncode == 0:
                self.expect("trace", *options, "-q", "--json", "--", "true")
                self.expect("run", *options, "--json", "-o", "-", "--", "true")
        for words in (["ps"], ["get", "1"], ["doctor"], ["objects"], ["buckets"],
                      ["system", "--count", "1"]):
            done = run(*words, "--json", user=NOBODY, check=False)
            self.check(done.stdout, f"{words} as nobody")

    def test_3_of_captured_machines(self):
        for tree in ("debian-6.1", "debian-6.12", "host-6.18", "kernel-6.18", "hostile"):
            proc = FIXTURES / tree / "proc"
            for words in (["ps"], ["system"], ["treemap"], ["buckets"], ["kmap"]):
                done = run(*words, "--json", "-q", "--proc", proc, check=False)
                if done.returncode == 0:
                    self.check(done.stdout, f"{words} of {tree}")
        self.expect("vm", "list", "--json", "--proc", FIXTURES / "vm-6.18/proc")
        self.expect("treemap", "--json", FIXTURES / "graph/memgraph.json")
        self.expect("trace", FIXTURES / "traces/v1.db", "--json")
        dump = FIXTURES / "page_owner/linux-6.12.txt"
        self.expect("trace", "--pageowner-file", dump, "--json")
        self.expect("trace", "--pageowner-file", dump, "--group", "stacktrace", "--json")
        proc = self.folder / "proc"
        proc.mkdir()
        shutil.copy(FIXTURES / "debian-6.12/proc/meminfo", proc / "meminfo")
        shutil.copy(FIXTURES / "allocinfo/linux-6.12.txt", proc / "allocinfo")
        for by in ("line", "module"):
            self.expect("trace", "--backend", "allocinfo", "--group", by, "--json",
                        "--proc", proc)

    def test_4_of_recordings(self):
        for path in (self.recording, self.imported, self.vms, FIXTURES / "traces/v1.db"):
            for words in (["info", path, "--json"], ["peak", path, "--json"],
                          ["export", path, "--to", "jsonl"],
                          *(["report", path, "--part", part] for part in
                            ("timeline", "machine", "peak", "info", "vms", "trace", "all"))):
                done = run(*words, check=False)
                if done.returncode == 0:
                    self.check(done.stdout, " ".join(map(str, words)))
        self.expect("diff", f"{self.recording}@start", f"{self.recording}@end", "--json")
        self.expect("gate", "--metric", "rss", "--budget", "1k", "--json", self.imported)
        self.expect("report", FIXTURES / "memstats/chart.json", "--compat",
                    "--format", "jsonl")

    def test_5_of_a_server(self):
        server = Daemon([TIDEMARK, "serve", "--no-browser", self.folder],
                        stdout=subprocess.PIPE)
        self.addCleanup(server.end)
        url, token = server.process.stdout.readline().strip().split("?token=")
        self.check(fetch(url + "api/recordings")[2], "a refusal")
        self.check(fetch(url + "api/recordings",
                         {"Authorization": f"Bearer {token}"})[2], "the list")

    def test_6_no_schema_is_published_in_vain(self):
        if not is_root():
            self.skipTest("some are of what root alone may read")
        self.assertEqual(set(self.schemas) - self.met, set())


if __name__ == "__main__":
    unittest.main()
