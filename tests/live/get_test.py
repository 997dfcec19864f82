#!/usr/bin/env python3
"""`get` against processes whose memory is known to the page."""

import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import NOBODY, PAGE, TIDEMARK, Python, is_root, memstat, run, run_json

PRIME = 7919  # pages
PRIVATE = f"""
    import mmap
    area = mmap.mmap(-1, {PRIME} * {PAGE}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range({PRIME}):
        area[page * {PAGE}] = 1
"""


def anonymous_growth(script):
    """Private anonymous bytes that `script` adds to a bare interpreter."""
    with Python("") as bare, Python(script) as full:
        before = run_json("get", bare.pid)["total"]
        after = run_json("get", full.pid)["total"]
        return after["pss_anon_bytes"] - before["pss_anon_bytes"]


class Get(unittest.TestCase):
    def test_a_prime_number_of_touched_pages_comes_back(self):
        # Two interpreters differ by some pages of their own heaps.
        self.assertAlmostEqual(
            anonymous_growth(PRIVATE), PRIME * PAGE, delta=64 * PAGE)

    def test_bytes_are_kib_times_1024(self):
        with Python(PRIVATE) as target:
            text = run("get", "--bytes", target.pid).stdout.strip()
            self.assertGreater(int(text), PRIME * PAGE)
            self.assertEqual(int(text) % 1024, 0)

    def test_pages_shared_by_a_tree_count_once(self):
        script = f"""
            import mmap, os, signal
            size = 4001 * {PAGE}
            area = mmap.mmap(-1, size)
            for page in range(4001):
                area[page * {PAGE}] = 1
            children = []
            for _ in range(3):
                child = os.fork()
                if child == 0:
                    for page in range(4001):
                        area[page * {PAGE}]
                    # Ends with its parent, whatever ends that.
                    import ctypes
                    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
                    signal.pause()
                children.append(child)
            import time
            time.sleep(0.5)
        """
        with Python(script) as target:
            report = run_json("get", "-r", target.pid)
            self.assertEqual(len(report["processes"]), 4)
            shmem = report["total"]["pss_shmem_bytes"]
            self.assertAlmostEqual(shmem, 4001 * PAGE, delta=4 * 1024)
            # RSS counts them four times.
            self.assertGreater(report["total"]["rss_bytes"], 4 * 4001 * PAGE)

    def test_total_is_the_sum_of_its_processes(self):
        script = """
            import ctypes, os, signal
            for _ in range(5):
                if os.fork() == 0:
                    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
                    signal.pause()
        """
        with Python(script) as target:
            report = run_json("get", "-r", target.pid)
        self.assertEqual(len(report["processes"]), 6)
        for field in ("pss_bytes", "uss_bytes", "rss_bytes", "kernel_bytes"):
            self.assertEqual(
                report["total"][field],
                sum(process[field] for process in report["processes"]))

    def test_categories_explain_the_total(self):
        with Python(PRIVATE) as target:
            total = run_json("get", "-v", target.pid)["total"]
        parts = {c["category"]: c["pss_bytes"] for c in total["categories"]}
        self.assertGreaterEqual(parts["anon"], PRIME * PAGE)
        # smaps cuts each mapping to whole KiB, the rollup cuts once.
        self.assertAlmostEqual(
            sum(parts.values()), total["in_ram_bytes"], delta=512 * 1024)


class Watch(unittest.TestCase):
    def start(self, *arguments):
        return subprocess.Popen(
            [TIDEMARK, "get", *map(str, arguments)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def test_target_that_ends_gives_status_3_and_a_sentence(self):
        with Python("") as target:
            watch = self.start("-w", "--interval", "20ms", target.pid)
            watch.stdout.readline()
            target.end()
            out, err = watch.communicate(timeout=20)
        self.assertEqual(watch.returncode, 3)
        self.assertIn(f"process {target.pid} has ended", err)
        self.assertIn("peak of", out)

    def test_interrupt_ends_in_order_with_the_peak(self):
        with Python("") as target:
            watch = self.start("-w", "--interval", "20ms", target.pid)
            watch.stdout.readline()
            time.sleep(0.2)
            watch.send_signal(signal.SIGINT)
            out, _ = watch.communicate(timeout=20)
        self.assertEqual(watch.returncode, 0)
        self.assertIn("peak of", out)

    def test_ticks_do_not_drift(self):
        with Python("") as target:
            out = run("get", "--count", 40, "--interval", "25ms", "--json",
                      "--no-peak", target.pid).stdout.splitlines()
        self.assertEqual(len(out), 40)
        stamps = [line.split('"time":"')[1][17:26] for line in out]
        first, last = (float(stamps[0]), float(stamps[-1]))
        # 39 periods; a sleep after each reading would add its cost 39 times.
        self.assertAlmostEqual((last - first) % 60, 39 * 0.025, delta=0.02)

    def test_peak_is_the_highest_reading(self):
        script = """
            import mmap, threading, time
            def breathe():
                while True:
                    area = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
                    for at in range(0, 64 << 20, 4096):
                        area[at] = 1
                    time.sleep(0.2)
                    area.close()
                    time.sleep(0.2)
            threading.Thread(target=breathe, daemon=True).start()
        """
        with Python(script) as target:
            lines = run("get", "--duration", "1500ms", "--interval", "30ms", "--json",
                        target.pid).stdout.splitlines()
        import json
        readings = [json.loads(line) for line in lines]
        self.assertTrue(readings[-1]["is_peak"])
        self.assertEqual(
            readings[-1]["total"]["in_ram_bytes"],
            max(r["total"]["in_ram_bytes"] for r in readings[:-1]))
        self.assertEqual(readings[-1]["sample_count"], len(readings) - 1)


class Denied(unittest.TestCase):
    @unittest.skipUnless(is_root(), "needs root to become another user")
    def test_foreign_process_shows_unknown_and_its_rss(self):
        with Python(PRIVATE) as target:
            report = run_json("get", target.pid, user=NOBODY, group=NOBODY, extra_groups=[])
            text = run("get", target.pid, user=NOBODY, group=NOBODY, extra_groups=[]).stdout
        process = report["processes"][0]
        self.assertIsNone(process["pss_bytes"])
        self.assertEqual(process["state"], "denied")
        self.assertTrue(process["unknown"]["pss_bytes"].startswith("denied: "))
        self.assertGreater(process["rss_bytes"], PRIME * PAGE)
        self.assertIn("setcap cap_sys_ptrace", text)


class Memstat(unittest.TestCase):
    def test_its_own_examples(self):
        with Python("") as target:
            plain = memstat("get", target.pid)
            self.assertRegex(plain.stdout, r"\ATotal: \d+ kB\n\Z")
            detail = memstat("get", target.pid, "-rv")
            self.assertRegex(
                detail.stdout, rf"\A\[{target.pid}\] \d+ kB \(.+\)\nTotal: \d+ kB\n\Z")

    def test_watch_until_interrupted(self):
        with Python("") as target:
            watch = subprocess.Popen(
                ["memstat", "get", str(target.pid), "-rvw"], executable=TIDEMARK,
                stdout=subprocess.PIPE, text=True)
            first = watch.stdout.readline()
            time.sleep(0.35)
            watch.send_signal(signal.SIGINT)
            out, _ = watch.communicate(timeout=20)
        self.assertTrue(first.startswith(f"[{target.pid}] "))
        self.assertGreaterEqual(out.count("Total: "), 2)
        self.assertEqual(watch.returncode, 0)


if __name__ == "__main__":
    unittest.main()
