#!/usr/bin/env python3
"""What a recording did not read in full is neither nothing nor an old value:
programs that know what they hold, and PostgreSQL beside a reader of its own."""

import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import unittest

from live import (NOBODY, TIDEMARK, Python, RecordingFolder, is_root, public_tidemark, run,
                  run_json, wait_for, workload)

MIB = 1 << 20


def best(side, name="pss_bytes"):
    """The number, or its upper bound where sharing was not read."""
    value = side[name]
    return side["bounds"][name][1] if value is None else value


def band_at(band, index):
    """Its bytes at a drawn tick: the last of those that are told."""
    told = [bytes_ for at, bytes_ in zip(band["ticks"], band.get("pss_bytes", [])) if at <= index]
    return told[-1] if told else 0


def false_zeros(report, path=""):
    """Members that say nothing is where something is resident."""
    found = []
    if isinstance(report, dict):
        for prefix in ("", "before_", "after_"):
            resident = report.get(f"{prefix}rss_bytes") or 0
            if resident >= MIB and report.get(f"{prefix}pss_bytes") == 0:
                found.append(path)
        for key, value in report.items():
            found += false_zeros(value, f"{path}/{key}")
    elif isinstance(report, list):
        for index, value in enumerate(report):
            found += false_zeros(value, f"{path}/{index}")
    return found


class Folder(RecordingFolder):
    def assert_faces_agree(self):
        """The peak as JSON, as text, in the page and by SQL."""
        peak = run_json("peak", self.file)
        height = best(peak["total"])
        page = json.loads(run("report", self.file, "--json").stdout)
        index = page["peak_index"]
        self.assertEqual(page["ticks"]["id"][index], peak["moment"]["tick"])
        self.assertAlmostEqual(page["ticks"]["pss_bytes"][index], height, delta=height / 100)
        kinds = sum(band_at(band, index) for band in page["kinds"])
        self.assertAlmostEqual(kinds, page["ticks"]["pss_bytes"][index], delta=4096)
        info = run_json("info", self.file)
        self.assertAlmostEqual(info["peak"]["bytes"], height, delta=height / 100)
        text = run("peak", self.file, "--units", "B").stdout
        words = next(line for line in text.splitlines() if line.startswith("sum "))
        number = int(re.search(r"([\d,]+) B", words)[1].replace(",", ""))
        self.assertAlmostEqual(number, height, delta=height / 100)
        self.assertEqual(false_zeros(peak), [])
        return peak, height

    def assert_grown(self, least_mib, most_mib, before="@1s", after="@peak"):
        sides = [f"{self.file}{before}", f"{self.file}{after}"]
        report = run_json("diff", *sides)
        self.assertGreaterEqual(report["change_bytes"], least_mib * MIB)
        self.assertLessEqual(report["change_bytes"], most_mib * MIB)
        self.assertEqual(false_zeros(report), [])
        for row in report["processes"]:
            self.assertEqual(row["before_count"] == 0, (row["before_rss_bytes"] or 0) == 0)
        return report, run("diff", *sides).stdout


class Climb(Folder):
    """400 MiB of its own, 16 MiB each 60 ms, then 2.5 s more."""

    def record(self, *options, **kept):
        binary = public_tidemark() if "user" in kept else TIDEMARK
        return subprocess.run(
            [binary, "record", "-o", self.file, *options, "--", workload("climb"), "400", "16",
             "60", "2500"], capture_output=True, text=True, timeout=60, check=True, **kept)

    def test_what_was_read_once_is_scaled(self):
        self.record("-f", "10Hz", "--budget", "100%,1us")
        peak, height = self.assert_faces_agree()
        self.assertAlmostEqual(height / MIB, 401, delta=8)
        report, _ = self.assert_grown(60, 340)
        self.assertNotIn("by_counters", report)
        self.assertGreater(max(row["rss_bytes"] for row in peak["rows"]), 390 * MIB)

    @unittest.skipUnless(is_root(), "needs root: denies another user")
    def test_what_was_never_read_is_bounded(self):
        with Python(f"import ctypes, mmap, threading, time\n"
                    f"held = mmap.mmap(-1, {400 * MIB}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
                    f"def grow():\n"
                    f"    for at in range(0, {400 * MIB}, {16 * MIB}):\n"
                    f"        held[at:at + {16 * MIB}] = bytes(b'x') * {16 * MIB}\n"
                    f"        time.sleep(0.1)\n"
                    f"threading.Thread(target=grow, daemon=True).start()") as target:
            os.chmod(self.folder, 0o777)
            done = subprocess.run(
                [public_tidemark(), "record", "-o", self.file, "-f", "5Hz", "--duration", "4s",
                 "--allow-denied", str(target.pid)], user=NOBODY, group=NOBODY, extra_groups=[],
                capture_output=True, text=True, timeout=60, check=True)
        self.assertIn("Permission denied", done.stderr)
        peak, height = self.assert_faces_agree()
        self.assertGreaterEqual(height, 400 * MIB)
        self.assertLess(height, 440 * MIB)
        self.assertIsNone(peak["total"]["pss_bytes"])
        self.assertIn("denied", peak["total"]["unknown"]["pss_bytes"])
        self.assertEqual(peak["processes"][0]["bounds"]["pss_bytes"], [0, height])
        report, text = self.assert_grown(200, 420)
        self.assertEqual(len(report["by_counters"]), 1)
        self.assertRegex(text, r"PSS ≤ .* → ≤ .*, about \+.*resident")
        self.assertRegex(run("peak", self.file).stdout, r"≤ \d+ MiB +\d")

    def test_the_layout_of_memory_watcher_lists_no_zeros(self):
        # Expensive from its first moment: its pages are only scanned.
        with subprocess.Popen([workload("climb"), "200", "200", "20", "6000"]) as target:
            self.addCleanup(target.kill)
            wait_for(lambda: resident_bytes(target.pid) > 199 * MIB)
            run("record", "-o", self.file, "-f", "10Hz", "--budget", "100%,1us", "--count", 5,
                target.pid)
            target.kill()
        listing = run("peak", self.file, "--layout", "memory-watcher").stdout
        total = re.search(r"^sum: +([\d ]+) Ki", listing, re.MULTILINE)[1].replace(" ", "")
        self.assertAlmostEqual(int(total) / 1024, 201, delta=4, msg=listing)


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class Machine(Folder):
    RATE = 30  # MiB a second

    def test_what_grows_is_named_first_and_nobody_else_grows(self):
        stop = threading.Event()

        def passers_by():
            while not stop.wait(0.1):
                subprocess.run([sys.executable, "-S", "-E", "-c", "x = bytearray(3 << 20)"],
                               check=False)

        crowd = threading.Thread(target=passers_by)
        with subprocess.Popen([workload("climb"), "600", str(self.RATE // 5), "200", "1"]) as target:
            self.addCleanup(target.kill)
            crowd.start()
            try:
                run("record", "--all", "-o", self.file, "--duration", "12s", "-q")
            finally:
                stop.set()
                crowd.join()
            target.kill()
        found = run_json("peak", self.file)["growing"]
        self.assertTrue(found)
        self.assertIn(f"({target.pid})", found[0]["process"])
        self.assertAlmostEqual(found[0]["bytes_per_second"] / MIB, self.RATE,
                               delta=0.2 * self.RATE)
        for other in found[1:]:
            self.assertLess(other["bytes_per_second"], 5 * MIB, other)
        report = run_json("diff", f"{self.file}@start", f"{self.file}@end")
        climbing = next(row for row in report["processes"] if row["name"].startswith("climb"))
        self.assertEqual((climbing["before_count"], climbing["after_count"]), (1, 1))
        self.assertGreater(climbing["change_bytes"], 200 * MIB)


POSTGRES = sorted(glob.glob("/usr/lib/postgresql/*/bin"))


@unittest.skipUnless(is_root(), "needs root: becomes another user")
@unittest.skipUnless(POSTGRES, "needs the package postgresql")
class PostgreSql(Folder):
    """16 clients fill 512 MiB of shared buffers, a part of which each has mapped."""
    CLIENTS = 16
    SECONDS = 8

    def as_nobody(self, program, *arguments, **options):
        return subprocess.run(
            [f"{POSTGRES[-1]}/{program}", *map(str, arguments)], user=NOBODY, group=NOBODY,
            extra_groups=[], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=120, cwd=self.server, **options)

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.server = self.folder / "server"
        self.server.mkdir()
        shutil.chown(self.server, NOBODY, NOBODY)
        data = self.server / "data"
        self.as_nobody("initdb", "-D", data, "--no-sync")
        with open(data / "postgresql.conf", "a", encoding="ascii") as file:
            file.write(f"shared_buffers = 512MB\nlisten_addresses = ''\nfsync = off\n"
                       f"unix_socket_directories = '{self.server}'\n")
        # Twice: what pgbench writes first is in the buffers, and they begin empty.
        for begins in (True, False):
            self.as_nobody("pg_ctl", "-D", data, "-w", "-l", self.server / "log", "start")
            if begins:
                self.as_nobody("createdb", "-h", self.server, "bench")
                self.as_nobody("pgbench", "-h", self.server, "-i", "-s", 20, "-q", "bench")
                self.as_nobody("pg_ctl", "-D", data, "-w", "-m", "fast", "stop")
        self.addCleanup(self.as_nobody, "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
        self.pid = int(pathlib.Path(data, "postmaster.pid").read_text("ascii").split()[0])

    def tree(self):
        pids = [self.pid]
        for pid in pids:
            for name in glob.glob(f"/proc/{pid}/task/*/children"):
                try:
                    pids += map(int, pathlib.Path(name).read_text("ascii").split())
                except OSError:
                    pass
        return pids

    def shares(self):
        total = 0
        for pid in self.tree():
            try:
                text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
                total += int(re.search(r"^Pss: +(\d+)", text, re.MULTILINE)[1]) << 10
            except (OSError, TypeError):
                pass
        return total

    def test_its_sum_has_shared_memory_once(self):
        recorder = subprocess.Popen(
            [TIDEMARK, "record", "-q", "-o", self.file, str(self.pid)], stderr=subprocess.DEVNULL)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        time.sleep(2.5)  # two samples
        before, highest = self.shares(), 0
        clients = subprocess.Popen(
            [f"{POSTGRES[-1]}/pgbench", "-h", self.server, "-c", str(self.CLIENTS), "-j", "2",
             "-T", str(self.SECONDS), "-S", "bench"], user=NOBODY, group=NOBODY, extra_groups=[],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.server)
        self.addCleanup(clients.kill)
        while clients.poll() is None:
            highest = max(highest, self.shares())
            time.sleep(0.4)
        self.assertEqual(clients.returncode, 0)
        recorder.terminate()
        recorder.wait(20)
        _, height = self.assert_faces_agree()
        self.assertAlmostEqual(height / highest, 1, delta=0.12)
        grown = (highest - before) / MIB
        self.assertGreater(grown, 50, "the buffers were not filled")
        self.assert_grown(grown * 0.7, grown * 1.3, before="@start")


if __name__ == "__main__":
    unittest.main()
