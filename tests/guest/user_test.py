#!/usr/bin/env python3
"""`trace --user` on Debian's 6.1 and 6.12 kernels in QEMU: processes of a few
milliseconds, one after the other, and nothing of ours in their stacks.
"""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest
from tracing import TIDEMARK

WORKLOADS = pathlib.Path(__file__).parents[1] / "workloads"
PROGRAMS = 30
READ_PAGES = 16384  # into one buffer

SCRIPT = f"""
echo 'for i in $(seq {PROGRAMS}); do /bin/brief; done' >/run/many
show many /bin/tidemark trace --user --sample 8 --json -- /bin/sh /run/many
show held /bin/tidemark trace --user --sample 8 --json -- \
  /bin/busybox dd if=/dev/zero of=/dev/null bs={READ_PAGES * 4}k count=1
"""


def paths(node, above=()):
    """(symbols from the outside in, node) of each stack below."""
    for child in node.get("stacks", []):
        path = (*above, child["symbol"])
        yield path, child
        yield from paths(child, path)


class Checks:
    series = None

    @classmethod
    def setUpClass(cls):
        try:
            cls.ran = guest.boot(
                cls.series, SCRIPT,
                {"bin/tidemark": pathlib.Path(TIDEMARK),
                 "bin/brief": guest.compiled(WORKLOADS / "brief.c", "-O2")},
                seconds=150)
        except guest.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        cls.many = json.loads(cls.ran.output("many"))

    def test_stacks_go_from_the_beginning_of_a_program_into_the_kernel(self):
        """But those of busybox, which has no tables for its own code."""
        self.assertEqual(self.many["user"]["ended_too_soon"], 0)
        touched = [(path, node["peak_pages"]) for task in self.many["tasks"]
                   for path, node in paths(task)
                   if "touch_briefly" in path and "stacks" not in node]
        whole = [(path, pages) for path, pages in touched
                 if "_start" in path and "main" in path]
        for path, _ in whole:
            order = [path.index(symbol) for symbol in
                     ("_start", "main", "touch_briefly", "[kernel]")]
            self.assertEqual(order, sorted(order), path)
        self.assertGreater(sum(pages for _, pages in whole),
                           0.9 * sum(pages for _, pages in touched))

    def test_nothing_of_ours_is_in_them(self):
        symbols = {symbol for task in self.many["tasks"] for path, _ in paths(task)
                   for symbol in path}
        self.assertEqual({symbol for symbol in symbols if "bpf" in symbol
                          or symbol.startswith("0x")}, set())
        self.assertEqual(self.many["wrong_stacks"], 0)

    def test_a_buffer_has_its_size(self):
        report = json.loads(self.ran.output("held"))
        task = next(task for task in report["tasks"] if "dd if=" in task["cmdline"])
        error = 2 * (READ_PAGES * (report["sample_period"] - 1)) ** 0.5
        print(f"{task['peak_pages']} of {READ_PAGES} pages ± {error:.0f}", file=sys.stderr)
        self.assertLess(abs(task["peak_pages"] - READ_PAGES), 2 * error + 256)


class On61(Checks, unittest.TestCase):
    series = "6.1"


class On612(Checks, unittest.TestCase):
    series = "6.12"


if __name__ == "__main__":
    guest.main("6.1")
