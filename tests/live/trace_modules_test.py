#!/usr/bin/env python3
"""`trace --report modules` on the running kernel: what was there before, and
that every page stands in one column. tests/guest/trace_test.py loads modules.
"""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import is_root, run, run_json
from trace_test import Taker, Tracer

PAGE = os.sysconf("SC_PAGESIZE")


def slab_bytes():
    """By cache, from /proc/slabinfo."""
    sizes = {}
    for line in pathlib.Path("/proc/slabinfo").read_text().splitlines()[2:]:
        words = line.split()
        sizes[words[0]] = int(words[14]) * int(words[5]) * PAGE
    return sizes


@unittest.skipUnless(is_root(), "only root may trace")
class Modules(unittest.TestCase):
    def test_what_was_there_before_is_what_the_kernel_tells(self):
        before = run_json("trace", "--duration", "100ms")["before"]
        now = slab_bytes()
        caches = {cache["name"]: cache["bytes"] for cache in before["slab_caches"]}
        # Two looks at a machine at work.
        for name in ("dentry", "task_struct", "kernfs_node_cache"):
            self.assertAlmostEqual(caches[name], now[name], delta=now[name] * 0.3 + 65536)
        self.assertEqual([cache["bytes"] for cache in before["slab_caches"]],
                         sorted(caches.values(), reverse=True))
        self.assertTrue(before["vmalloc_callers"])

    def test_columns_are_all_pages(self):
        with Taker() as taker, Tracer("--json") as tracer:
            taker.tell("keep", 1009)
            report = tracer.json()
        for module in report["modules"]:
            if module["name"]:
                self.assertEqual(
                    module["pages"],
                    sum(module[column + "_pages"] for column in
                        ("loading", "later", "page_cache", "slab")), module)
        # Counters of the machine and of stacks are read a moment apart.
        self.assertAlmostEqual(sum(module["pages"] for module in report["modules"]),
                               report["pages"], delta=report["pages"] * 0.01 + 16)

    def test_what_cannot_be_known_says_why(self):
        report = run_json("trace", "--duration", "100ms")
        if pathlib.Path("/proc/modules").exists():
            self.assertIsInstance(report["before"]["module_image_bytes"], int)
        else:
            self.assertIsNone(report["before"]["module_image_bytes"])
            self.assertIn("/proc/modules",
                          report["before"]["unknown"]["module_image_bytes"])
            text = run("trace", "--duration", "100ms", "--report", "modules").stdout
            self.assertIn("no code of a module took pages: /proc/modules", text)

    def test_a_dump_says_nothing_of_this_machine(self):
        dump = pathlib.Path(__file__).parents[1] / "fixtures/page_owner/linux-6.12.txt"
        text = run("trace", "--pageowner-file", dump, "--report", "modules").stdout
        self.assertIn("zram", text)
        self.assertNotIn("before the trace", text)


if __name__ == "__main__":
    unittest.main()
