#!/usr/bin/env python3
"""`kmap` against the running kernel."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import NOBODY, run, run_json


def needs_root(test):
    return unittest.skipUnless(os.geteuid() == 0, "only root may read vmallocinfo")(test)


class Kmap(unittest.TestCase):
    @needs_root
    def test_areas_close_to_what_meminfo_counts(self):
        report = run_json("kmap")
        regions = {r["region"]: r for r in report["regions"]}
        used = regions["vmalloc"]["memory_bytes"]
        # Tasks begin and end between the two readings, 16 KiB each.
        self.assertLess(abs(report["vmalloc"]["not_explained_bytes"]), 0.2 * used)
        self.assertGreater(sum(c["area_count"] for c in report["vmalloc"]["callers"]), 10)
        self.assertEqual(report["physical"]["addresses"], "real")

    @needs_root
    def test_all_lists_as_many_areas_as_the_callers_have(self):
        report = run_json("kmap", "--all")["vmalloc"]
        self.assertEqual(sum(c["area_count"] for c in report["callers"]),
                         len(report["areas"]))

    @needs_root
    def test_nobody_sees_that_addresses_are_hidden(self):
        report = run_json("kmap", user=NOBODY)
        self.assertEqual(report["physical"]["addresses"], "hidden")
        self.assertIsNone(report["physical"]["ram_bytes"])
        self.assertTrue(any("vmalloc are unknown: denied" in n for n in report["notes"]))
        self.assertIn("????", run("kmap", user=NOBODY).stdout)


if __name__ == "__main__":
    unittest.main()
