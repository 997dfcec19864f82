#!/usr/bin/env python3
"""`trace --slab` on the running kernel: objects that are known to be held."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import TIDEMARK, is_root
from trace_test import Tracer

PIPES = 401
FILES = 3001
# What else the test itself takes meanwhile: a program, its output.
OTHERS = 40


def cache_of(slab, name):
    found = [cache for cache in slab["caches"] if cache["cache"] == name]
    assert len(found) == 1, [cache["cache"] for cache in slab["caches"]]
    return found[0]


def callers_of(slab, symbol):
    return [(cache, caller) for cache in slab["caches"]
            for caller in cache["callers"] if caller["symbol"] == symbol]


@unittest.skipUnless(is_root(), "slab objects are followed by root alone")
class Slab(unittest.TestCase):
    def setUp(self):
        self.descriptors = []
        self.addCleanup(self.drop)

    def drop(self):
        while self.descriptors:
            os.close(self.descriptors.pop())

    def hold_pipes(self):
        for _ in range(PIPES):
            self.descriptors += os.pipe()

    def test_what_is_held_is_shown_by_cache_and_caller(self):
        with Tracer("--slab", "--json", "--pid", os.getpid()) as tracer:
            self.hold_pipes()
            slab = tracer.json()["slab"]
        # The pipe itself, and room for what is in it.
        pipes = callers_of(slab, "alloc_pipe_info")
        self.assertEqual(len(pipes), 2, pipes)
        for cache, caller in pipes:
            self.assertIn(caller["objects"], range(PIPES, PIPES + 3), caller)
            size = caller["bytes"] // caller["objects"]
            self.assertIn(cache["cache"],
                          (f"kmalloc-{size}", f"kmalloc-{size // 1024}k"))
        # struct pipe_inode_info has some 170 bytes.
        self.assertIn("kmalloc-192", [cache["cache"] for cache, _ in pipes])
        files = cache_of(slab, "filp")
        self.assertIn(files["objects"],
                      range(2 * PIPES, 2 * PIPES + OTHERS), files)
        self.assertEqual(slab["table_full"], 0)

    def test_what_was_given_back_is_only_a_peak(self):
        with Tracer("--slab", "--json", "--pid", os.getpid()) as tracer:
            self.hold_pipes()
            self.drop()
            slab = tracer.json()["slab"]
        for _, pipes in callers_of(slab, "alloc_pipe_info"):
            self.assertLess(pipes["objects"], 3)
            self.assertGreaterEqual(pipes["allocations"], PIPES)
            self.assertGreaterEqual(pipes["peak_bytes"], PIPES * 192)

    def test_names_of_files_are_dentries(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, \
                Tracer("--slab", "--json", "--pid", os.getpid()) as tracer:
            for i in range(FILES):
                pathlib.Path(folder, f"n{i}").touch()
            slab = tracer.json()["slab"]
        names = cache_of(slab, "dentry")
        # Each name is looked for before it is made; what that took is held
        # until all CPUs have been seen to be elsewhere.
        self.assertIn(names["objects"], range(FILES, 2 * FILES), names)
        # struct dentry has 192 bytes on most kernels.
        self.assertIn(names["bytes"] // names["objects"], range(128, 385))

    def test_sums_are_right(self):
        with Tracer("--slab", "--json") as tracer:
            self.hold_pipes()
            slab = tracer.json()["slab"]
        for cache in slab["caches"]:
            for what in ("bytes", "objects", "allocations"):
                self.assertEqual(cache[what],
                                 sum(caller[what] for caller in cache["callers"]),
                                 cache["cache"])
        self.assertAlmostEqual(slab["bytes"],
                               sum(cache["bytes"] for cache in slab["caches"]),
                               delta=slab["bytes"] * 0.01)
        named = [caller for cache in slab["caches"] for caller in cache["callers"]
                 if caller["symbol"]]
        self.assertGreater(len(named), 5)

    def test_of_others_nothing_is_seen(self):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL) as other:
            with Tracer("--slab", "--json", "--pid", other.pid) as tracer:
                self.hold_pipes()
                slab = tracer.json()["slab"]
        self.assertEqual(callers_of(slab, "alloc_pipe_info"), [])

    def test_the_report_is_a_table(self):
        with Tracer("--report", "slab:top=3", "--pid", os.getpid()) as tracer:
            self.hold_pipes()
            text = tracer.report()
        self.assertIn("======== Report format slab: ========", text)
        self.assertRegex(text, r"\n +NOW +PEAK +OBJECTS +TAKEN +CACHE AND CALLER\n")
        self.assertRegex(text, r"\n *[0-9.]+K +[^\n]* filp\n")
        self.assertRegex(text, r"alloc_empty_file")

    def test_without_asking_nothing_is_followed(self):
        with Tracer("--json") as tracer:
            self.assertNotIn("slab", tracer.json())

    def test_without_bpf_it_says_why(self):
        if not shutil.which("setpriv"):
            self.skipTest("no setpriv to give rights up with")
        # perf needs neither right once tracefs is there; BPF needs one of them.
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c",
             "mountpoint -q /sys/kernel/tracing ||"
             " mount -t tracefs nodev /sys/kernel/tracing && exec \"$@\"", "sh",
             "setpriv", "--bounding-set", "-bpf,-sys_admin", "--inh-caps",
             "-bpf,-sys_admin", TIDEMARK, "trace", "--backend", "perf", "--slab",
             "--json", "--duration", "100ms"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertIsNone(report["slab"])
        self.assertIn("BPF", report["slab_unknown"])


if __name__ == "__main__":
    unittest.main()
