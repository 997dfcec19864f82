#!/usr/bin/env python3
"""`system` against the running kernel and memory of known size."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import NOBODY, PAGE, Python, run, run_json

# What no column names, of MemTotal, at the quietest of some moments.
RESIDUE = 0.003
PAGES = 20011  # a prime


def needs_root(test):
    return unittest.skipUnless(os.geteuid() == 0, "only root may read slabinfo, iomem")(test)


def readings(*arguments, **options):
    text = run("system", "--json", *arguments, **options).stdout
    return [json.loads(line) for line in text.splitlines()]


def summed(reading):
    return sum(v for k, v in reading["columns"].items()
               if k != "unknown" and v is not None) + reading["other_bytes"]


class System(unittest.TestCase):
    def test_columns_sum_to_the_total(self):
        for reading in readings("-n", 5, "-d", "100ms"):
            self.assertEqual(summed(reading), reading["total_bytes"])

    def test_little_is_left_without_a_name(self):
        rest = min((r["other_bytes"] for r in readings("-n", 10, "-d", "200ms")), key=abs)
        whole = run_json("system", "-n", 1)["mem_total_bytes"]
        print(f"other: {rest / 2**20:.1f} MiB, {100 * rest / whole:.3f} % of MemTotal")
        self.assertLess(abs(rest), RESIDUE * whole)

    @needs_root
    def test_root_knows_every_column(self):
        reading = run_json("system", "-n", 1)
        self.assertNotIn("unknown", reading["columns"])
        self.assertEqual(reading["total_source"], "System RAM in iomem")
        self.assertGreater(reading["columns"]["wired"], 0)

    def test_anonymous_memory_comes_and_goes(self):
        before = run_json("system", "-n", 1)
        target = Python(f"""
            import mmap
            hold = mmap.mmap(-1, {PAGES * PAGE},
                             flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            hold[:] = b"x" * len(hold)
        """)
        during = run_json("system", "-n", 1)
        target.end()
        grown = during["columns"]["anon"] - before["columns"]["anon"]
        # The interpreter itself takes some MiB, and others live here too.
        self.assertGreater(grown, 0.8 * PAGES * PAGE)
        self.assertLess(abs(during["other_bytes"] - before["other_bytes"]),
                        0.3 * PAGES * PAGE)

    @needs_root
    def test_nobody_loses_columns_and_is_told(self):
        done = run("system", "-n", 1, "--json", user=NOBODY)
        reading = json.loads(done.stdout)
        unknown = reading["columns"]["unknown"]
        self.assertIsNone(reading["columns"]["wired"])
        self.assertIn("denied", unknown["wired"])
        self.assertIn("denied", unknown["slab_slack"])
        self.assertEqual(reading["total_bytes"], reading["mem_total_bytes"])
        self.assertEqual(summed(reading), reading["total_bytes"])
        text = run("system", "-n", 1, user=NOBODY)
        self.assertIn("wired is unknown: denied", text.stderr)
        self.assertIn("?", text.stdout)


if __name__ == "__main__":
    unittest.main()
