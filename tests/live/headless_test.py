#!/usr/bin/env python3
"""A process whose first thread has ended while another holds 200 MiB: every command
that looks at processes finds them, since /proc shows them through the living one."""

import contextlib
import json
import pathlib
import subprocess
import tempfile
import unittest

from live import TIDEMARK, is_root, run, run_json, workload
from top_test import Terminal
from tracing import Tracer, pages_of

MIB = 1 << 20
HELD = 200 * MIB
NEEDS_ROOT = unittest.skipUnless(is_root(), "needs root")


@contextlib.contextmanager
def headless(kind="anon"):
    """Its pid; it ends when its input is closed."""
    with subprocess.Popen([workload("headless"), kind, "200"], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        if process.stdout.readline() != "ready\n":
            raise AssertionError("the workload did not start")
        stat = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2]
        if not stat.startswith("Z"):
            raise AssertionError("its first thread lives: nothing would be tried")
        yield process.pid


class FirstThreadEnded(unittest.TestCase):
    def assert_held(self, found_bytes):
        self.assertAlmostEqual(found_bytes, HELD, delta=0.02 * HELD)

    def test_get(self):
        with headless() as pid:
            found = run_json("get", pid)["processes"][0]
        self.assertEqual(found["state"], "ok")
        self.assert_held(found["in_ram_bytes"])
        self.assert_held(found["rss_bytes"])
        self.assertIn("headless", found["cmdline"])

    def test_ps(self):
        with headless() as pid:
            report = run_json("ps")
        found = next(row for row in report["processes"] if row["pid"] == pid)
        self.assertEqual((found["state"], found["run_state"]), ("ok", "S"))
        self.assert_held(found["in_ram_bytes"])

    def test_maps(self):
        with headless() as pid:
            report = run_json("maps", pid)
        self.assert_held(report["total"]["pss_bytes"])
        anon = next(row for row in report["categories"] if row["category"] == "anon")
        self.assert_held(anon["pss_bytes"])

    def test_objects(self):
        with headless("memfd") as pid:
            objects = run_json("objects", pid)["objects"]
        found = next(one for one in objects if one["name"] == "memfd:headless")
        self.assert_held(found["alloc_bytes"])

    def test_record(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/a.tdm"
            with headless() as pid:
                run("record", "-q", "-o", file, "--interval", "100ms", "--duration", "500ms", pid)
            self.assert_held(run_json("peak", file)["total"]["pss_bytes"])

    def test_run(self):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            run("run", "--json", "-o", file.name, "--", workload("headless"), "anon", "200",
                stdin=subprocess.DEVNULL)
            report = json.load(file)
        self.assert_held(report["peak"]["bytes"])
        # It ends as soon as it holds all: what was caught may be less, not none.
        found = next(row for row in report["composition"]["categories"]
                     if row["category"] == "anon")
        self.assertGreater(found["bytes"], HELD / 2)

    def test_top(self):
        with headless() as pid, Terminal(f"{TIDEMARK} top {pid}") as terminal:
            screen = terminal.wait_for("200M")
            row = next(line for line in screen.splitlines() if f"p:{pid}" in line)
            self.assertRegex(row, r"20[0-4]M")
            terminal.keys("q")
            terminal.wait_for("left 0")

    @NEEDS_ROOT
    def test_ledger(self):
        with headless() as pid:
            owners = run_json("ledger", "--by", "process")["rows"]
            what_if = run_json("ledger", "--what-if", pid)["what_if"]
        self.assert_held(sum(row["bytes"] for row in owners if row["parent"] is None
                             and row["owner"] == f"headless ({pid})"))
        self.assert_held(what_if["freed_bytes"])

    @NEEDS_ROOT
    def test_trace(self):
        backends = ["bpf", "perf", "ftrace"]
        for backend in backends:
            with self.subTest(backend), \
                    Tracer("--backend", backend, "--json", "--report", "task_summary") as tracer, \
                    headless() as pid:
                report = tracer.json()
                task = next(task for task in report["tasks"] if task["pid"] == pid)
                self.assertFalse(task["has_exited"])
                self.assertIn("headless", task["cmdline"])
                self.assert_held(pages_of(report, pid) * 4096)


if __name__ == "__main__":
    unittest.main()
