#!/usr/bin/env python3
"""gate: real commands judged by budgets and baselines.

A program that holds a known amount is within a budget above it and over one below
it; the baseline is written once, never by a run that failed, and moved only when
that is asked for.
"""

import json
import os
import pathlib
import tempfile
import unittest

from live import run

MIB = 1 << 20


def holding(mib, then=""):
    """A command that touches that much and ends."""
    return ["python3", "-S", "-c", f"x = bytearray({mib} << 20)\n{then}"]


class Gate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tidemark-gate-")
        self.addCleanup(self.folder.cleanup)
        self.baseline = pathlib.Path(self.folder.name) / "mem.json"

    def gate(self, *options, command=(), code=0):
        # RSS is told everywhere, also where no group can be made.
        done = run("gate", "--json", "-q", "-n", "3", *options, "--", *command, check=False)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return json.loads(done.stdout) if done.stdout else None

    def test_a_budget_parts_good_from_bad(self):
        within = self.gate("--metric", "rss", "--budget", "100M", command=holding(30))
        self.assertEqual(within["verdict"], "within")
        self.assertGreater(within["now"]["median_bytes"], 30 * MIB)
        self.assertLess(within["now"]["median_bytes"], 50 * MIB)
        self.assertEqual(len(within["runs"]), 3)
        over = self.gate("--metric", "rss", "--budget", "20M", command=holding(30), code=10)
        self.assertEqual(over["verdict"], "worse")

    def test_the_largest_process_is_less_than_the_tree(self):
        child = "import subprocess as s; s.run(['python3', '-S', '-c', 'x=bytearray(20<<20)'])"
        tree = self.gate("--metric", "rss", "--budget", "1G", command=holding(30, child))
        largest = self.gate("--metric", "largest", "--budget", "1G", command=holding(30, child))
        self.assertGreater(tree["now"]["median_bytes"],
                           largest["now"]["median_bytes"] + 15 * MIB)

    def test_a_baseline_is_written_kept_and_moved_when_asked(self):
        options = ["--metric", "rss", "--baseline", str(self.baseline), "--name", "x"]
        missing = self.gate(*options, command=holding(30), code=11)
        self.assertIn("--bootstrap", missing["notes"][0])
        self.assertFalse(self.baseline.exists())
        self.gate(*options, "--bootstrap", "--drift", "8%", command=holding(30))
        kept = self.baseline.read_text()
        entry = json.loads(kept)["gates"][0]
        self.assertEqual((entry["name"], entry["metric"]), ("x", "rss"))
        self.assertEqual(entry["drift_percent"], 8)
        self.assertEqual(len(entry["runs_bytes"]), 3)
        # Bootstrapping again changes nothing, being worse changes nothing.
        same = self.gate(*options, "--bootstrap", command=holding(30))
        self.assertEqual(same["verdict"], "within")
        worse = self.gate(*options, "--bootstrap", command=holding(45), code=10)
        self.assertGreater(worse["change_percent"], 8)
        self.assertEqual(self.baseline.read_text(), kept)
        better = self.gate(*options, command=holding(15))
        self.assertEqual(better["verdict"], "better")
        self.gate(*options, "--accept", command=holding(45))
        moved = json.loads(self.baseline.read_text())["gates"][0]
        self.assertGreater(moved["median_bytes"], 45 * MIB)
        self.assertEqual(moved["drift_percent"], 8)
        self.assertEqual(os.listdir(self.folder.name), ["mem.json"])

    def test_two_gates_share_a_file(self):
        for name, mib in (("small", 10), ("large", 40)):
            self.gate("--metric", "rss", "--baseline", str(self.baseline), "--name", name,
                      "--bootstrap", command=holding(mib))
        small, large = json.loads(self.baseline.read_text())["gates"]
        self.assertGreater(large["median_bytes"], small["median_bytes"] + 25 * MIB)

    def test_a_command_that_fails_decides_nothing(self):
        report = self.gate("--metric", "rss", "--baseline", str(self.baseline), "--bootstrap",
                           command=holding(10, "raise SystemExit(3)"), code=11)
        self.assertIn("exit status 3", report["because"])
        self.assertEqual(len(report["runs"]), 1)
        self.assertFalse(self.baseline.exists())

    def test_a_budget_that_fails_writes_no_baseline(self):
        self.gate("--metric", "rss", "--baseline", str(self.baseline), "--bootstrap",
                  "--budget", "1M", command=holding(10), code=10)
        self.assertFalse(self.baseline.exists())

    def test_a_baseline_that_cannot_be_written_is_told_before_the_runs(self):
        mark = pathlib.Path(self.folder.name) / "ran"
        done = run("gate", "--metric", "rss", "--baseline", f"{self.folder.name}/no/mem.json",
                   "--bootstrap", "--", "touch", mark, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no/mem.json", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse(mark.exists())

    def test_what_the_command_prints_is_not_the_report(self):
        done = run("gate", "--metric", "rss", "-n", "2", "--budget", "1G", "--format", "md",
                   "--", "sh", "-c", "echo from the command")
        self.assertNotIn("from the command\n", done.stdout)
        self.assertEqual(done.stderr.count("from the command\n"), 2)
        self.assertIn("| budget | 1.00 GiB |", done.stdout)

    def test_a_summary_is_added_beside_the_report(self):
        summary = pathlib.Path(self.folder.name) / "summary.md"
        summary.write_text("what was there\n")
        for _ in range(2):
            report = self.gate("--metric", "rss", "--budget", "1G", "--summary", str(summary),
                               command=holding(10))
            self.assertEqual(report["verdict"], "within")
        text = summary.read_text()
        self.assertTrue(text.startswith("what was there\n### Memory of "), text)
        self.assertEqual(text.count("| budget | 1.00 GiB |"), 2)

    def test_recordings_are_runs(self):
        paths = []
        for i in range(3):
            paths.append(str(pathlib.Path(self.folder.name) / f"{i}.tdm"))
            run("record", "-q", "-f", "20ms", "--budget", "none", "-o", paths[-1], "--",
                *holding(30, "import time; time.sleep(0.3)"))
        for metric in ("pss", "rss", "largest"):
            done = run("gate", "--json", "--metric", metric, "--budget", "60M", *paths)
            report = json.loads(done.stdout)
            self.assertEqual(report["verdict"], "within", report)
            self.assertGreater(report["now"]["low_bytes"], 30 * MIB, report)
        over = run("gate", "--budget", "20M", *paths, check=False)
        self.assertEqual(over.returncode, 10, over.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
