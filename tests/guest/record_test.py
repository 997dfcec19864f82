#!/usr/bin/env python3
"""`record`, `peak` and `info` on Debian's 6.1 and 6.12 kernels: a command of
known size is recorded and read back, once with all detail and once with a budget
that no read of it fits into. 6.12 can scan its pages then; 6.1 cannot, and the
recording must say so. And one that climbs is recorded with the defaults, twice a
second too: these kernels run emulated, as slowly as anybody's.

One boot per kernel. The guest's script does everything once and sends all of it
here; the tests only look.
"""

import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest

TIDEMARK = os.environ.get("TIDEMARK_STATIC", guest.ROOT / "build/dev/tests/tidemark_static")
MIB = 1 << 20
# spike: MiB that stay, MiB that come and go, how long.
BASE, SPIKE, HOLD_MS = 10, 30, 2000
CLIMB = 400
# Its own image, a shell, and pages that come while it is read.
SLACK = 2 * MIB

SCRIPT = f"""
mount -t tmpfs tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
spike='/bin/spike {BASE} {SPIKE} {HOLD_MS}'

# recorded NAME OPTION…: records, reads back and sends the file itself.
recorded() {{
  name=$1
  shift
  show $name-record /bin/tidemark record -o /tmp/$name.tdm -f 5Hz "$@" -- $spike
  show $name-peak /bin/tidemark peak --json /tmp/$name.tdm
  show $name-peak-rss /bin/tidemark peak --by rss --json /tmp/$name.tdm
  show $name-info /bin/tidemark info --json /tmp/$name.tdm
  show $name-info-text /bin/tidemark info /tmp/$name.tdm
  show $name-left ls /tmp
  send $name.tdm /tmp/$name.tdm
}}

recorded full --budget none
recorded barred --budget 100%,1us
for rate in 1s 2Hz; do
  show climb-$rate-record /bin/tidemark record -o /tmp/climb-$rate.tdm -f $rate -- \
    /bin/climb {CLIMB} 8 100 3000
  send climb-$rate.tdm /tmp/climb-$rate.tdm
done
"""

FILES = {"bin/tidemark": pathlib.Path(TIDEMARK)}
PROGRAMS = guest.ROOT / "tests/workloads"


def compiled(source):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program")
        subprocess.run(
            ["cc", "-O1", "-static", "-s", "-Wall", "-Wextra", "-Werror", "-o", program,
             source], check=True)
        return program.read_bytes()


def boot(series):
    booted = guest.kernel(series)
    programs = {f"bin/{name}": compiled(PROGRAMS / f"{name}.c") for name in ("spike", "climb")}
    ran = guest.run(booted, SCRIPT, FILES | programs, memory_mib=256 + CLIMB, seconds=150)
    print(f"Linux {booted.version} booted, did all and ended in {ran.seconds:.1f} s",
          file=sys.stderr)
    return ran


class Checks:
    """What must hold in a guest of each kernel. Read-only: all of it was
    collected before the first test."""

    @classmethod
    def setUpClass(cls):
        try:
            cls.ran = boot(cls.series)
        except guest.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None

    def report(self, name):
        return json.loads(self.ran.output(name))

    def values(self, name, sql):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "a.tdm")
            file.write_bytes(self.ran.outputs[f"{name}.tdm"])
            base = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
            try:
                return base.execute(sql).fetchone()
            finally:
                base.close()

    def test_recording_ends_with_the_command_and_its_status(self):
        for name in ("full", "barred"):
            self.assertEqual(self.ran.status(f"{name}-record"), 0)
            self.assertRegex(self.ran.text(f"{name}-record.stderr"), r"recorded \d+ samples")
            self.assertNotIn(f"{name}.tdm-wal", self.ran.output(f"{name}-left"))

    def test_peak_is_what_was_touched(self):
        report = self.report("full-peak")
        self.assertEqual(report["schema"], "tidemark.peak/1")
        peak = sum(row["pss_bytes"] for row in report["rows"])
        self.assertGreaterEqual(peak, (BASE + SPIKE) * MIB)
        self.assertLess(peak, (BASE + SPIKE) * MIB + SLACK)
        anon = sum(row["pss_bytes"] for row in report["rows"] if row["category"] == "anon")
        self.assertGreaterEqual(anon, (BASE + SPIKE) * MIB)

    def test_mapping_is_there_to_the_page(self):
        rss, private = self.values(
            "full", "SELECT max(rss_bytes), max(private_dirty_bytes) FROM mapping_changes")
        # The kernel has made one mapping of both areas.
        self.assertEqual(rss, (BASE + SPIKE) * MIB)
        self.assertEqual(private, (BASE + SPIKE) * MIB)

    def test_info_knows_the_kernel_and_the_samples(self):
        report = self.report("full-info")
        self.assertEqual(report["schema"], "tidemark.info/1")
        self.assertTrue(report["kernel"].startswith(self.series + "."))
        self.assertGreaterEqual(report["sample_count"], HOLD_MS / 1000 * 5 / 2)
        self.assertEqual(report["stale_sample_count"], 0)
        self.assertIn("every mapping in every sample", self.ran.output("full-info-text"))
        self.assertIn("spike", [p["name"] for p in report["processes"]])

    def test_info_says_what_was_not_read_and_what_instead(self):
        said = self.ran.output("barred-info-text")
        self.assertRegex(said, r"spike \(\d+\): smaps is read seldom: one read would stall it")
        instead = "between it is estimated by its counters"
        self.assertIn(instead, re.sub(r"\s+", " ", said))
        notes = [note["text"] for note in self.report("barred-info")["notes"]]
        self.assertTrue(any(note.endswith(instead) for note in notes), notes)

    def test_what_is_too_expensive_is_estimated_and_nothing_is_made_up(self):
        scanned, = self.values("barred", "SELECT max(scanned_processes) FROM ticks")
        self.assertEqual(scanned, 1 if self.can_scan else 0)
        pss, = self.values("barred", "SELECT max(pss_bytes) FROM mapping_changes")
        self.assertGreaterEqual(pss, BASE * MIB, "it was read when it had grown")
        total = self.report("barred-peak")["total"]
        best = total["pss_bytes"] or total["bounds"]["pss_bytes"][1]
        self.assertGreaterEqual(best, (BASE + SPIKE) * MIB - SLACK)
        self.assertLess(best, (BASE + SPIKE) * MIB + SLACK)
        # The kernel's own counter is there in either case.
        resident, = self.values("barred", "SELECT max(rss_bytes) FROM process_counters")
        self.assertGreaterEqual(resident, (BASE + SPIKE) * MIB - SLACK)

    def assert_climb_seen(self, rate, peak_share, full_share):
        name = f"climb-{rate}"
        self.assertEqual(self.ran.status(f"{name}-record"), 0)
        ticks, full = self.values(
            name, "SELECT count(*), sum(oldest_detail_ticks = 0 AND scanned_processes = 0 "
            "AND undetailed_processes = 0) FROM ticks")
        peak, = self.values(
            name, "SELECT max(pss) FROM (SELECT sum(pss_bytes) AS pss FROM categories "
            "GROUP BY tick)")
        print(f"Linux {self.series} {rate}: {full} of {ticks} ticks in full, peak "
              f"{peak / MIB:.1f} MiB", file=sys.stderr)
        self.assertGreaterEqual(full, full_share * ticks)
        self.assertAlmostEqual(peak / MIB, CLIMB, delta=(1 - peak_share) * CLIMB)

    def test_a_climb_is_read_to_its_top_by_default(self):
        self.assert_climb_seen("1s", peak_share=0.98, full_share=0.9)

    def test_a_climb_within_the_budget_is_followed(self):
        self.assert_climb_seen("2Hz", peak_share=0.9, full_share=0)


class Linux61(Checks, unittest.TestCase):
    series = "6.1"
    can_scan = False


class Linux612(Checks, unittest.TestCase):
    series = "6.12"
    can_scan = True


if __name__ == "__main__":
    guest.main(Linux61.series)
