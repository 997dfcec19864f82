#!/usr/bin/env python3
"""`metrics --push`: to a real VictoriaMetrics, also while it is down; to a
receiver that refuses; with a full disk; killed."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engines import Daemon, Receiver, Victoria, free_port, scratch
from live import TIDEMARK, is_root, run, wait_for

# `./dev soak` sets it: a receiver that is away for a minute.
DOWN_S = float(os.environ.get("TIDEMARK_DOWN_S", "8"))
FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures"
needs_victoria = unittest.skipUnless(
    shutil.which("victoria-metrics"), "victoria-metrics is not installed")


def pushing(url, queue, *arguments, **options):
    return Daemon([TIDEMARK, "metrics", "--push", url, "--queue", queue,
                   "--interval", "500ms", "--pss-interval", "never",
                   *arguments], **options)


def times_of(engine, selector="tidemark_ram_bytes"):
    found = engine.points(selector)
    return found[0][1] if found else []


def longest_gap_s(times):
    ordered = sorted(times)
    return max(b - a for a, b in zip(ordered, ordered[1:])) / 1000


class ToVictoria(unittest.TestCase):
    @needs_victoria
    def test_nothing_is_lost_while_it_is_down(self):
        folder = scratch(self)
        port = free_port()
        with Victoria(folder, port) as engine:
            url = engine.write_url
            sender = pushing(url, folder / "q")
            self.addCleanup(sender.end)
            self.assertTrue(wait_for(lambda: len(times_of(engine)) > 2, 30))
        time.sleep(DOWN_S)
        with Victoria(folder, port) as engine:
            began = time.time() * 1000
            self.assertTrue(wait_for(
                lambda: max(times_of(engine), default=0) > began, 90))
            sender.end()
            run("metrics", "--push", url, "--queue", folder / "q", "--once",
                "--pss-interval", "never")
            times = times_of(engine)
            self.assertEqual(len(set(times)), len(times))
            self.assertGreater((max(times) - min(times)) / 1000, DOWN_S)
            # Each tick is there, those of the time it was away too.
            self.assertLess(longest_gap_s(times[:-1]), 1.6)
            for result in ("unstored", "refused"):
                for _, _, counts in engine.points(
                        f'tidemark_push_batches_total{{result="{result}"}}'):
                    self.assertEqual(max(counts), 0, result)
            # What was told of the tries arrived as well.
            self.assertTrue(engine.points(
                'tidemark_push_batches_total{result="failed_try"}'))

    @needs_victoria
    def test_a_killed_sender_goes_on_where_it_was(self):
        folder = scratch(self)
        port = free_port()
        url = f"http://127.0.0.1:{port}/api/v1/write"
        for _ in range(3):
            sender = pushing(url, folder / "q")
            time.sleep(2.2)
            sender.end(signal.SIGKILL)
        with Victoria(folder, port) as engine:
            run("metrics", "--push", url, "--queue", folder / "q", "--once",
                "--pss-interval", "never")
            self.assertTrue(wait_for(lambda: len(times_of(engine)) >= 10, 20))

    @needs_victoria
    def test_a_clock_that_jumps_costs_nothing(self):
        folder = scratch(self)
        now = int(time.time())
        with Victoria(folder) as engine:
            for offset in (-600, -1800, -60):
                run("metrics", "--push", engine.write_url, "--queue",
                    folder / "q", "--once", "--pss-interval", "never",
                    env=os.environ
                    | {"TIDEMARK_TEST_TIME": str((now + offset) * 10**9)})
            self.assertEqual(sorted(times_of(engine)),
                             [(now + o) * 1000 for o in (-1800, -600, -60)])

    @needs_victoria
    def test_an_hour_of_twenty_hosts(self):
        folder = scratch(self)
        hosts, minutes = 20, 60
        start = (int(time.time()) - 3600) * 10**9
        with Victoria(folder) as engine:
            def push(host):
                for minute in range(minutes):
                    at = start + minute * 60 * 10**9
                    run("metrics", "--push", engine.write_url, "--queue",
                        folder / f"q{host}", "--once", "--label",
                        f"instance=host{host:02}", "--proc",
                        FIXTURES / "host-6.18/proc", "--no-vms",
                        env=os.environ | {"TIDEMARK_TEST_TIME": str(at)})

            with ThreadPoolExecutor(2) as pool:
                list(pool.map(push, range(hosts)))
            found = engine.points("tidemark_ram_bytes")
            self.assertEqual(len(found), hosts)
            for labels, times, _ in found:
                self.assertEqual(len(times), minutes, labels)
            now = str(start / 1e9 + 3599)
            total = engine.number(
                'sum(max_over_time(tidemark_machine_bytes{measure="total"}[1h]))',
                time=now)
            meminfo = (FIXTURES / "host-6.18/proc/meminfo").read_text()
            kib = int(meminfo.split()[1])
            self.assertEqual(total, hosts * kib * 1024)


class ToOthers(unittest.TestCase):
    def test_refused_is_dropped_and_later_is_kept(self):
        folder = scratch(self)
        arguments = ("metrics", "--queue", folder / "q", "--once",
                     "--pss-interval", "never", "--push")
        with Receiver() as receiver:
            receiver.status = 503
            later = run(*arguments, receiver.url, check=False)
            self.assertEqual(later.returncode, 1)
            self.assertIn("503", later.stderr)
            receiver.status = 204
            run(*arguments, receiver.url)
            self.assertEqual(len(receiver.bodies), 2, "the one before came too")
            receiver.status = 400
            refused = run(*arguments, receiver.url, check=False)
            self.assertEqual(refused.returncode, 1)
            receiver.status = 204
            run(*arguments, receiver.url)
            self.assertEqual(len(receiver.bodies), 3, "what was refused is gone")
            self.assertEqual(receiver.headers["Content-Encoding"], "snappy")
            self.assertEqual(
                receiver.headers["X-Prometheus-Remote-Write-Version"], "0.1.0")

    def test_it_is_snappy_to_the_library(self):
        # Debian's own interpreter has Debian's modules.
        read = [shutil.which("python3", path="/usr/bin") or "python3", "-c",
                "import snappy, sys; sys.stdout.buffer.write("
                "snappy.decompress(sys.stdin.buffer.read()))"]
        if subprocess.run(read, input=b"\0", capture_output=True,
                          check=False).returncode != 0:
            self.skipTest("python3-snappy is not installed")
        folder = scratch(self)
        with Receiver() as receiver:
            run("metrics", "--queue", folder / "q", "--once", "--push",
                receiver.url)
            packed = receiver.bodies[0]
        plain = subprocess.run(read, input=packed, capture_output=True,
                               check=True).stdout
        self.assertIn(b"tidemark_ledger_bytes", plain)
        self.assertLess(4 * len(packed), len(plain))

    @unittest.skipUnless(is_root(), "only root may mount a small disk")
    def test_a_full_disk_costs_what_is_new_and_nothing_else(self):
        folder = scratch(self)
        disk = folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "none", disk],
                       check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        with Receiver() as receiver:
            receiver.status = 503
            with open(folder / "log", "w", encoding="utf-8") as log:
                sender = pushing(receiver.url, disk / "q", "--interval", "100ms",
                                 stderr=log)
                self.addCleanup(sender.end)
                self.assertTrue(wait_for(
                    lambda: "full" in (folder / "log").read_text(), 40))
            self.assertIsNone(sender.process.poll())
            receiver.status = 204
            self.assertTrue(wait_for(lambda: len(receiver.bodies) > 20, 60))
            self.assertIsNone(sender.process.poll())

    def test_misuse_is_told(self):
        for arguments, word in (
                (("--push", "http://a/"), "--queue"),
                (("--push", "https://a/", "--queue", "q"), "https"),
                (("--once", "--listen", "127.0.0.1:0"), "--once"),
                (("--label", "9=x"), "label")):
            refused = run("metrics", *arguments, check=False)
            self.assertEqual(refused.returncode, 2, arguments)
            self.assertIn(word, refused.stderr)


if __name__ == "__main__":
    unittest.main()
