#!/usr/bin/env python3
"""`trace` of pages that are moved, on Debian's 6.1 and 6.12 kernels in QEMU: by
compaction, which can be had for certain only where there is little memory, and
of huge pages as a whole, which takes two NUMA nodes.
"""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest
import tracing

BACKENDS = ("bpf", "perf", "ftrace")
KEPT_PAGES = 12_000
HUGE_PAGES = 12
SAMPLED = 4
OWN_PAGES = 128  # of the program: code, stack, data
# How many compaction moves is chance. Were the owners of so many lost, an exact
# trace would be off by five times its tolerance; a sample needs more to show it.
ENOUGH_MOVED = KEPT_PAGES // 40
ENOUGH_FOR_A_SAMPLE = KEPT_PAGES // 10

NUMA = ("-object", "memory-backend-ram,id=a,size=160M", "-object",
        "memory-backend-ram,id=b,size=128M", "-numa",
        "node,nodeid=0,memdev=a,cpus=0", "-numa", "node,nodeid=1,memdev=b")

SCRIPT = tracing.SHELL + f"""
# With so little memory there are none unless asked for.
echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
# moved NAME WORDS…: what is moved under a trace, and what that tells.
moved() {{
  name=$1
  options=$2
  shift 2
  rm -f /run/ready
  begin_trace --json -o /run/$name.json $options
  /bin/move /run/ready "$@" >/run/$name.told 2>/run/$name.failed 3>&- &
  mover=$!
  tries=0
  until [ -e /run/ready ]; do
    tries=$((tries + 1))
    [ $tries -lt 1500 ] || fail "not moved: $(cat /run/$name.failed)"
    usleep 20000
  done
  end_trace
  kill -9 $mover
  echo $mover >/run/$name.pid
  send $name /run/$name.json
  send $name.told /run/$name.told
  send $name.pid /run/$name.pid
}}
# First: later there may be no room for huge pages.
moved huge "" node 1 {HUGE_PAGES}
for backend in {' '.join(BACKENDS)}; do
  moved $backend "-b $backend" compact {KEPT_PAGES}
done
moved sampled "--sample {SAMPLED}" compact {KEPT_PAGES}
# What a sample keeps of moved pages must go with them.
begin_trace --json --sample {SAMPLED} -o /run/ended.json
rm -f /run/ready
/bin/move /run/ready compact {KEPT_PAGES} >/run/ended.told 2>&1 3>&- &
mover=$!
wait_for /run/ready
kill -9 $mover
wait $mover
echo $mover >/run/ended.pid
end_trace
send ended /run/ended.json
send ended.told /run/ended.told
send ended.pid /run/ended.pid
"""


class Checks:
    @classmethod
    def setUpClass(cls):
        here = pathlib.Path(__file__)
        files = {"bin/tidemark": pathlib.Path(tracing.TIDEMARK),
                 "bin/move": guest.compiled(here.with_name("move.c"))}
        try:
            cls.ran = guest.boot(cls.series, SCRIPT, files, seconds=200,
                                 memory_mib=288, qemu_arguments=NUMA)
        except guest.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None

    def told(self, name):
        """Moved, held, page tables, huge."""
        return [int(word) for word in self.ran.text(f"{name}.told").split()]

    def task(self, name, backend="bpf"):
        report = json.loads(self.ran.text(name))
        self.assertEqual(report["backend"], backend, report["notes"])
        self.assertEqual(report["lost"], 0)
        self.assertEqual(report["notes"], [])
        pid = int(self.ran.text(f"{name}.pid"))
        tasks = [task for task in report["tasks"] if task["pid"] == pid]
        self.assertEqual(len(tasks), 1)
        print(name, "moved, held, page tables, huge:", self.told(name), "traced:",
              tasks[0]["pages"], "unmatched:", report["unmatched_migrations"],
              file=sys.stderr)
        return tasks[0]

    def test_compacted_pages_keep_their_owner(self):
        for backend in BACKENDS:
            with self.subTest(backend):
                task = self.task(backend, backend)
                moved, held, tables, _ = self.told(backend)
                self.assertEqual(held, KEPT_PAGES)
                self.assertGreater(moved, ENOUGH_MOVED, "too few to say anything")
                truth = held + tables
                self.assertGreaterEqual(task["pages"], truth * 0.995)
                self.assertLessEqual(task["pages"], truth * 1.005 + OWN_PAGES)

    def test_a_sample_follows_them_too(self):
        task = self.task("sampled")
        moved, held, _, _ = self.told("sampled")
        self.assertGreater(moved, ENOUGH_FOR_A_SAMPLE, "too few to say anything")
        self.assertLess(abs(task["pages"] - held), held * 0.15)

    def test_what_was_moved_out_of_a_sample_is_given_back(self):
        task = self.task("ended")
        self.assertGreater(self.told("ended")[0], ENOUGH_FOR_A_SAMPLE)
        self.assertLess(task["pages"], KEPT_PAGES // 50)

    def test_huge_pages_are_moved_as_a_whole_and_keep_their_owner(self):
        task = self.task("huge")
        moved, held, tables, huge = self.told("huge")
        self.assertEqual((moved, held, huge), (HUGE_PAGES * 512,) * 3)
        self.assertGreaterEqual(task["pages"], held)
        self.assertLessEqual(task["pages"], held + tables + OWN_PAGES)
        report = json.loads(self.ran.text("huge"))
        # Parent and child have them at one address, which is told twice.
        self.assertEqual(report["unmatched_migrations"], 0)
        self.assertLess(
            sum(other["pages"] for other in report["tasks"]) - task["pages"],
            HUGE_PAGES * 512 // 4)


class Debian6_1(Checks, unittest.TestCase):
    series = "6.1"


class Debian6_12(Checks, unittest.TestCase):
    series = "6.12"


if __name__ == "__main__":
    guest.main("6.1")
