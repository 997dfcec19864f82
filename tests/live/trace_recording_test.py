#!/usr/bin/env python3
"""`trace -o FILE.tdm`, `record --with trace`, and reports on such files: what the
file says is what was said live, at the end, at the peak and in between."""

import contextlib
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import TIDEMARK, RecordingFolder, is_root, run, run_json, wait_for, workload
from trace_test import KEPT, Taker, task_of

BACKENDS = ("bpf", "perf", "ftrace")


@unittest.skipUnless(is_root(), "only root may trace")
class Recorded(RecordingFolder):
    def told(self, sql):
        """Rows, none as long as there is no such table."""
        try:
            return self.query(sql)
        except sqlite3.Error:
            return []

    def readings(self):
        rows = self.told("SELECT count(*) FROM trace_tick")
        return rows[0][0] if rows else 0

    def wait_for_readings(self, count):
        self.assertTrue(wait_for(lambda: self.readings() >= count),
                        f"{self.readings()} readings")

    def start(self, command, *words):
        """tidemark in the background, once it has begun."""
        process = subprocess.Popen(
            [TIDEMARK, command, "-o", self.file, *map(str, words)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.wait_for_readings(1)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        return out

    def reported(self, *words, **options):
        return run("trace", self.file, *words, **options).stdout

    def test_the_file_says_at_the_end_what_was_said_live(self):
        for backend in BACKENDS:
            with self.subTest(backend), Taker() as taker:
                process = self.start("trace", "--json", "-f", "100ms", "-b",
                                     backend, "--overwrite")
                taker.tell("keep", KEPT)
                taker.tell("churn", 2)
                self.wait_for_readings(self.readings() + 2)
                live = json.loads(self.stop(process))
                self.assertGreater(task_of(live, taker.pid)["pages"], KEPT)
                self.assertEqual(json.loads(self.reported("--json")), live)
                self.file.unlink()

    def test_all_reports_and_formats_are_the_same(self):
        for words in (("--report", "module_top,task_summary:sort_by_peak,"
                       "task_top:top=3,cgroup_summary,peak,task_top_json"),
                      ("--report", "growth"), ("--format", "folded"),
                      ("--format", "folded", "--at-peak"), ("--json",),
                      ("--pages",)):
            with self.subTest(words), Taker() as taker:
                self.file = self.folder / f"{'_'.join(words)[:20]}.tdm"
                process = self.start("trace", "-f", "100ms", "--pid",
                                     taker.pid, *words)
                # What only rises is known after four stretches of time.
                for _ in range(6 if "growth" in words else 1):
                    taker.tell("keep", 500)
                    self.wait_for_readings(self.readings() + 3)
                live = self.stop(process)
                self.assertTrue(live.strip(), words)
                told = self.reported(*words)
                if "--json" in words:
                    live, told = json.loads(live), json.loads(told)
                if "folded" in words:  # whose lines have no order
                    live, told = sorted(live.split("\n")), sorted(
                        told.split("\n"))
                self.assertEqual(told, live)
                self.file.unlink()

    def test_slab_objects_are_in_the_file(self):
        with Taker() as taker:
            process = self.start("trace", "--json", "-f", "100ms", "--slab")
            taker.tell("keep", KEPT)
            self.assertTrue(wait_for(lambda: self.told("SELECT 1 FROM trace_slab_changes")))
            live = json.loads(self.stop(process))
        self.assertTrue(live["slab"]["caches"])
        self.assertEqual(json.loads(self.reported("--json")), live)
        self.assertRegex(self.reported("--report", "slab:top=1"), r"CACHE AND CALLER\n.* ")
        at_peak = self.reported("--report", "slab", "--at", "peak")
        self.assertIn("only readings tell of them, not the peak", " ".join(at_peak.split()))

    def test_what_there_was_before_is_in_the_file_of_a_kill(self):
        for command, words in (("trace", ()), ("record", ("--with", "trace:slab", "--all"))):
            with self.subTest(command):
                self.file = self.folder / f"{command}.tdm"
                process = self.start(command, "-f", "100ms", *words)
                self.assertTrue(wait_for(lambda: self.told(
                    "SELECT 1 FROM trace_before_caches")))
                process.kill()
                process.communicate(timeout=60)
                text = self.reported("--report", "modules")
                self.assertRegex(text, r"in slab caches\n +\S+ +\S+")

    def test_any_moment_can_be_told(self):
        with Taker() as taker:
            process = self.start("trace", "-f", "50ms", "--pid", taker.pid, "-q")
            heights = []
            for pages in (1000, 3000, 5000):
                taker.tell("keep", pages)
                self.wait_for_readings(self.readings() + 2)
                last = self.query("SELECT max(tick) FROM trace_tick")[0][0]
                heights.append((last, pages))
            taker.tell("drop")
            self.wait_for_readings(self.readings() + 2)
            self.assertEqual(self.stop(process), "", "it is quiet")
        held = 0
        for tick, pages in heights:
            held += pages
            told = json.loads(self.reported("--json", "--at", f"tick:{tick}"))
            self.assertLess(abs(told["pages"] - held), held * 0.02 + 100)
            self.assertLess(told["pages"], json.loads(
                self.reported("--json", "--at", "peak"))["pages"] + 1)
        end = json.loads(self.reported("--json"))
        self.assertLess(end["pages"], 1000, "it was given back")
        peak = json.loads(self.reported("--json", "--at", "peak"))
        self.assertLess(abs(peak["pages"] - end["peak_pages"]), 64)
        self.assertGreater(task_of(peak, taker.pid)["pages"], held * 0.98)
        self.assertGreaterEqual(end["peak_pages"], held)

    def test_a_kill_leaves_what_was_committed(self):
        for backend in ("bpf", "perf"):
            with self.subTest(backend), Taker() as taker:
                process = self.start("trace", "-f", "100ms", "--pid", taker.pid,
                                     "-b", backend)
                taker.tell("keep", KEPT)
                self.assertTrue(wait_for(lambda: self.told(
                    f"SELECT 1 FROM trace_tick WHERE pages >= {KEPT}")))
                process.kill()
                process.wait()
                told = json.loads(self.reported("--json"))
                self.assertGreaterEqual(task_of(told, taker.pid)["pages"], KEPT)
                names = self.reported("--format", "folded")
                self.assertRegex(names, r"fault", "functions have names")
                self.assertTrue(run_json("info", self.file)["is_open"])
                for left in self.folder.iterdir():
                    left.unlink()

    def test_readings_that_take_too_long_do_not_keep_it_from_ending(self):
        process = self.start("trace", "-f", "1us", "-q")
        self.wait_for_readings(3)
        self.stop(process)
        self.assertGreater(run_json("info", self.file)["missed_count"], 0)

    def test_a_command_is_recorded_to_its_end(self):
        done = run("trace", "-o", self.file, "--json", "--", workload("taker"),
                   input="keep 4000\nchurn 2\n")
        # What the command says comes first.
        live = json.loads(done.stdout[done.stdout.index("{"):])
        self.assertIn("recorded", done.stderr)
        self.assertEqual(json.loads(self.reported("--json")), live)

    def test_recorded_along_it_stands_on_the_same_clock(self):
        with Taker() as taker:
            process = self.start("record", "-f", "100ms", "--with", "trace",
                                 taker.pid)
            taker.tell("keep", KEPT)
            self.assertTrue(wait_for(lambda: self.told(
                f"SELECT 1 FROM trace_tick WHERE pages >= {KEPT}")))
            self.stop(process)
            told = json.loads(self.reported("--json"))
            self.assertGreaterEqual(task_of(told, taker.pid)["pages"], KEPT)
        # Both sources see the same pages come, in the same tick or the next.
        traced = self.query("SELECT min(tick) FROM trace_ticks WHERE bytes >= "
                            f"{KEPT * 4096}")[0][0]
        counted = self.query("SELECT min(tick) FROM process_counters WHERE "
                             f"rss_bytes >= {KEPT * 4096}")[0][0]
        self.assertLessEqual(abs(traced - counted), 1)
        report = run_json("info", self.file)
        self.assertEqual(report["trace"]["reading_count"],
                         report["sample_count"])
        self.assertEqual(len(report["processes"]), 1)
        self.assertIn("peak", run("peak", self.file).stdout.lower())

    def test_recorded_along_with_a_command_that_ends(self):
        for words in (("--with", "trace"), ("--with", "trace:backend=perf"),
                      ("--with", "trace:all:sample=2")):
            with self.subTest(words):
                run("record", "-o", self.file, "--overwrite", "-f", "50ms",
                    *words, "--", workload("taker"), input="keep 8000\n")
                told = json.loads(self.reported("--json"))
                task = [one for one in told["tasks"] if "taker" in one["name"]]
                self.assertEqual(len(task), 1)
                self.assertTrue(task[0]["has_exited"])
                self.assertGreater(task[0]["peak_pages"], 8000 * 0.8)

    def test_recorded_along_until_the_process_is_gone(self):
        with Taker() as taker:
            process = self.start("record", "-f", "50ms", "--with", "trace",
                                 taker.pid)
            taker.tell("keep", 5000)
            self.wait_for_readings(self.readings() + 2)
        self.assertEqual(process.wait(30), 0)
        told = json.loads(self.reported("--json"))
        self.assertTrue(task_of(told, taker.pid)["has_exited"])
        self.assertLess(told["pages"], 1000)
        self.assertGreater(told["peak_pages"], 5000)

    def test_a_full_disk_costs_readings_and_not_the_report(self):
        small = self.folder / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=800k", "none",
                        small], check=True)
        self.addCleanup(subprocess.run, ["umount", small], check=True)
        self.file = small / "a.tdm"
        with Taker() as taker:
            process = self.start("trace", "-f", "50ms", "--json")
            with contextlib.suppress(OSError), open(small / "filler", "wb", 0) as filler:
                while filler.write(bytes(1024)):  # to the last byte
                    pass
            taker.tell("keep", KEPT)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("disk", err)
        self.assertGreater(json.loads(out)["peak_pages"], 0)
        self.assertIn("tidemark.info/1", run("info", "--json",
                                             self.file).stdout)

    def test_info_tells_of_the_trace(self):
        run("trace", "-o", self.file, "-f", "100ms", "--duration", "500ms",
            "-q", "--sample", 4)
        text = run("info", self.file).stdout
        self.assertRegex(text, r"trace +by bpf, \d+ readings over")
        self.assertIn("one page in 4", text)
        self.assertNotIn("every mapping in every sample", text)
        trace = run_json("info", self.file)["trace"]
        self.assertGreater(trace["stack_count"], 0)
        self.assertGreater(trace["leaf_count"], 0)
        self.assertGreaterEqual(trace["reading_count"], 4)

    def test_what_makes_no_sense_is_refused(self):
        run("trace", "-o", self.file, "--duration", "300ms", "-q")
        plain = self.folder / "plain.tdm"
        run("record", "-o", plain, "--count", 1, os.getpid())
        for words, sentence in (
                ((self.file, "--at", "peak", "--report", "growth"),
                 "what only rises"),
                ((self.file, "--", "true"), "runs no command"),
                (("--at", "peak"), "--at is for recordings"),
                ((plain,), "there is no trace in it"),
                ((self.folder / "none.tdm",), "No such file"),
                (("-o", self.file, "--duration", "1s"), "exists"),
                ((self.file, "--at", "tick:99999"), "no tick:99999")):
            done = run("trace", *words, check=False)
            self.assertIn(done.returncode, (1, 2), words)
            self.assertIn(sentence, done.stderr)
        for words in ("ledgers", "trace:what", "trace:sample=3"):
            done = run("record", "-o", self.folder / "b.tdm", "--with", words,
                       os.getpid(), check=False)
            self.assertEqual(done.returncode, 2, words)

    def test_the_queries_of_the_manual_work(self):
        run("trace", "-o", self.file, "-f", "100ms", "--duration", "500ms",
            "-q")
        page = (pathlib.Path(__file__).parents[2] / "docs" /
                "recording-format.md").read_text()
        queries = [query for query in re.findall(r"```sql\n(.*?)```", page,
                                                 re.DOTALL)
                   if "trace_" in query]
        self.assertGreaterEqual(len(queries), 2)
        for query in queries:
            with contextlib.closing(sqlite3.connect(self.file)) as base:
                self.assertTrue(base.execute(query).fetchall(), query)


if __name__ == "__main__":
    unittest.main()
