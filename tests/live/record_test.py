#!/usr/bin/env python3
"""record: real processes into a file and out of it by its views.

What a recording must never do: take one object, process or program for another,
lose what it has said is stored, or leave anything behind.
"""

import contextlib
import ctypes
import errno
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
import unittest

from live import (NOBODY, PAGE, TIDEMARK, Python, RecordingFolder, is_root, public_tidemark,
                  run, run_json, wait_for, workload)

MIB = 1 << 20


class Folder(RecordingFolder):
    def value(self, sql, *values):
        return self.query(sql, *values)[0][0]

    def tick_count(self):
        try:
            return self.value("SELECT count(*) FROM tick")
        except sqlite3.Error:
            return 0

    def assert_whole(self):
        """One valid file and nothing beside it."""
        self.assertEqual([path.name for path in self.folder.iterdir()
                          if path.name.startswith("a.tdm")], ["a.tdm"])
        self.assertEqual(self.value("PRAGMA integrity_check"), "ok")
        self.assertEqual(run("peak", self.file).returncode, 0)

    def recorder(self, *arguments, **options):
        recorder = Recorder(self, *arguments, **options)
        self.addCleanup(recorder.end)
        return recorder


class Recorder:
    """A `tidemark record` under way, ended by its pid. Without a budget unless
    one is given: on a busy machine it would read less, as it should."""

    def __init__(self, test, *arguments, interval="50ms", budget="none"):
        self.test = test
        self.tool = subprocess.Popen(
            [TIDEMARK, "record", "-o", str(test.file), "-f", interval, "--budget", budget,
             *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def more(self, ticks=2):
        """Waits for so many ticks more than there are now to be committed."""
        wanted = self.test.tick_count() + ticks
        if not wait_for(lambda: self.test.tick_count() >= wanted):
            self.tool.kill()
            raise AssertionError(f"no ticks come: {self.tool.communicate()[1]}")
        return self

    def stop(self, number=signal.SIGINT):
        self.tool.send_signal(number)
        self.out, self.err = self.tool.communicate(timeout=20)
        return self.tool.returncode

    def wait(self):
        self.out, self.err = self.tool.communicate(timeout=20)
        return self.tool.returncode

    def end(self):
        if self.tool.poll() is None:
            self.tool.kill()
        if not self.tool.stdout.closed:
            self.tool.communicate()


class Puppet(Python):
    """A workload that does step after step as it is told."""

    TOOLS = """
        import ctypes, mmap, os, sys, time
        PAGE = mmap.PAGESIZE
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                              ctypes.c_int, ctypes.c_int, ctypes.c_long]
        libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

        def pages(count, touched, fd=-1, at=None, shared=False):
            "Private small pages, the first few of them written to."
            flags = (1 if shared else 2) | (0x20 if fd < 0 else 0) | (0x10 if at else 0)
            where = libc.mmap(at, count * PAGE, 3, flags, fd, 0)
            libc.madvise(where, count * PAGE, 15)
            for i in range(touched):
                ctypes.c_char.from_address(where + i * PAGE).value = b"x"
            return where

        def file(name, count):
            fd = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
            os.ftruncate(fd, count * PAGE)
            return fd

        def steps():
            yield
        """

    def __init__(self, script, **options):
        program = textwrap.dedent(self.TOOLS) + textwrap.dedent(script)
        super().__init__(program + textwrap.dedent("""
            steps = steps()
            next(steps)
            print("ready", flush=True)
            for line in sys.stdin:
                print(next(steps) or "done", flush=True)
            sys.exit()
            """), **options)

    def step(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


# ---- how much is read ---------------------------------------------------------

@contextlib.contextmanager
def spinning(count):
    """So many busy processes, ended by their pids."""
    busy = [subprocess.Popen([sys.executable, "-S", "-E", "-c", "while True: pass"])
            for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def refuse_page_scans():
    """In a child: the ioctl PAGEMAP_SCAN fails, as before Linux 6.7."""
    class Filter(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte),
                    ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(Filter))]

    load, equals, leave = 0x20, 0x15, 0x06
    scan = 3 << 30 | 96 << 16 | ord("f") << 8 | 16
    # By the second argument's low half; no other call has one like it.
    steps = (Filter * 4)(Filter(load, 0, 0, 24), Filter(equals, 0, 1, scan),
                         Filter(leave, 0, 0, 0x00050000 | errno.ENOTTY),
                         Filter(leave, 0, 0, 0x7fff0000))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, by_filter = 38, 22, 2
    libc.prctl(no_new_privileges, 1, 0, 0, 0)
    if libc.prctl(seccomp, by_filter, ctypes.byref(Program(4, steps)), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


class Climbs(Folder):
    MIB_HELD = 400

    def climb(self, **options):
        return subprocess.run(
            [TIDEMARK, "record", "-o", self.file, "--", workload("climb"),
             str(self.MIB_HELD), "16", "60", "2500"],
            capture_output=True, text=True, check=True, timeout=60, **options).stderr

    def assert_seen(self, said):
        self.assertIn("reading in full at every tick, up to 10 %", said.splitlines()[0])
        ticks, full = self.query("SELECT count(*), sum(oldest_detail_ticks = 0 AND "
                                 "scanned_processes = 0) FROM ticks")[0]
        self.assertGreaterEqual(full, ticks - 1)
        peak = self.value("SELECT max(pss) FROM (SELECT sum(pss_bytes) AS pss "
                          "FROM categories GROUP BY tick)")
        self.assertAlmostEqual(peak / MIB, self.MIB_HELD, delta=self.MIB_HELD / 50)

    def test_a_climb_is_read_to_its_top(self):
        self.assert_seen(self.climb())

    def test_a_climb_is_read_to_its_top_on_a_busy_machine(self):
        with spinning(20):
            said = self.climb()
        self.assert_seen(said)

    def test_a_climb_is_read_to_its_top_where_pages_cannot_be_scanned(self):
        self.assert_seen(self.climb(preexec_fn=refuse_page_scans))

    def test_what_is_read_seldom_is_read_again_when_it_has_grown(self):
        for prepare in (None, refuse_page_scans):
            self.file.unlink(missing_ok=True)
            said = subprocess.run(
                [TIDEMARK, "record", "-o", self.file, "-f", "10Hz", "--budget", "100%,1us",
                 "--", workload("climb"), "60", "4", "100", "1000"], preexec_fn=prepare,
                capture_output=True, text=True, check=True, timeout=60).stderr
            self.assertIn("smaps is read seldom", said)
            self.assertRegex(said.splitlines()[-1], "of . process.* not in full at every tick")
            peak = self.value("SELECT max(pss) FROM (SELECT sum(pss_bytes) AS pss "
                              "FROM categories GROUP BY tick)")
            self.assertGreaterEqual(peak / MIB, 60 / 1.1 - 4)


class Stalls(Folder):
    MIB_HELD = 4096

    def test_a_large_process_is_not_stalled(self):
        with open("/proc/meminfo", encoding="ascii") as file:
            available = int(re.search(r"MemAvailable: +(\d+)", file.read())[1]) << 10
        if available < 1.5 * self.MIB_HELD * MIB:
            self.skipTest("needs 6 GiB of free memory")
        with subprocess.Popen([workload("stall"), str(self.MIB_HELD), "3000"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as target:
            self.addCleanup(target.kill)
            self.assertEqual(target.stdout.readline(), "ready\n")

            def stalls():
                target.stdin.write("\n")
                target.stdin.flush()
                return [int(ns) for ns in target.stdout.readline().split()]

            # Others may have the CPU when it counts.
            for attempt in range(4):
                idle_p99, idle_most = stalls()
                recorder = self.recorder(target.pid, interval="100ms", budget="2%,5ms")
                recorder.more()
                p99, most = stalls()
                recorder.stop()
                self.file.unlink()
                if p99 <= 2 * idle_p99 and most <= idle_most + 5e6:
                    break
            else:
                self.fail(f"idle {idle_p99}, {idle_most} ns; recorded {p99}, {most}")
            target.kill()


@unittest.skipUnless(is_root(), "needs root: becomes another user")
class Denied(Folder):
    def record(self, *arguments):
        os.chmod(self.folder, 0o777)
        return subprocess.run(
            [public_tidemark(), "record", "-o", self.file, *map(str, arguments)],
            user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, text=True,
            timeout=60, check=False)

    def test_a_process_that_may_not_be_read_ends_it(self):
        with Python("pass") as work:
            done = self.record("-f", "5Hz", "--count", 5, work.pid)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"only counters of 1 of 1 processes.*Permission denied\n"
                                      r"  hint: .*setcap cap_sys_ptrace")
        self.assertRegex(done.stderr, "recorded 1 sample .* of 1 process only counters of 1\n")
        self.assertIn("--allow-denied", done.stderr.splitlines()[-1])
        self.assertEqual(self.value("SELECT count(*) FROM tick"), 1)

    def test_it_goes_on_when_told_to(self):
        with Python("pass") as work:
            done = self.record("-f", "20Hz", "--count", 4, "--allow-denied", work.pid)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("Permission denied"), 1)
        self.assertEqual(self.value("SELECT count(*) FROM tick"), 4)
        self.assertGreater(self.value("SELECT max(rss_bytes) FROM process_counters"), MIB)

    def test_the_whole_machine_goes_on(self):
        done = self.record("-f", "10Hz", "--count", 3, "--all")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.splitlines()[-1],
                         r"of \d+ processes only counters of \d+")


class Costs(Folder):
    def test_the_cost_is_cpu_time_and_not_that_of_waiting(self):
        with spinning(8), Python("pass") as work:
            said = run("record", "-o", self.file, "-f", "20Hz", "--count", 30, "--budget",
                       "none", work.pid).stderr
        cpu, reading, first, last = self.query(
            "SELECT max(recorder_cpu_ns), sum(read_ns), min(monotonic_ns), "
            "max(monotonic_ns) FROM ticks")[0]
        info = run_json("info", self.file)
        self.assertEqual(info["cpu_ns"], cpu)
        self.assertEqual(info["read_ns"], reading)
        self.assertEqual(info["span_ns"], last - first)
        share = float(re.search(r"([\d.]+) % cpu, reading [\d.]+ % of the time", said)[1])
        self.assertAlmostEqual(share, 100 * cpu / (last - first), delta=max(1, share / 3))
        text = run("info", self.file).stdout
        self.assertRegex(text, r"cost +[\d.]+ % of a core, .* of CPU time\n"
                               r"reading +.* a sample, .* % of the time\)")


# ---- numbers ----------------------------------------------------------------

class Numbers(Folder):
    def test_a_prime_number_of_pages_is_found_to_the_page(self):
        with Puppet("pages(4001, 1009)") as work:
            self.recorder(work.pid, "--count", 3).wait()
        self.assertEqual(self.query(
            "SELECT DISTINCT rss_bytes, pss_bytes, private_dirty_bytes, anonymous_bytes, "
            "category FROM mapping_changes WHERE size_bytes = ?", 4001 * PAGE),
            [(1009 * PAGE,) * 4 + ("anon",)])

    def test_growth_is_told_at_the_tick_it_happened(self):
        script = """
            where = pages(4001, 101)
            def steps():
                yield
                for i in range(1009):
                    ctypes.c_char.from_address(where + i * PAGE).value = b"x"
                yield
            """
        with Puppet(script) as work:
            recorder = self.recorder(work.pid).more()
            before = self.tick_count()
            work.step()
            recorder.more().stop()
        spans = self.query(
            "SELECT tick, rss_bytes FROM mapping_changes WHERE size_bytes = ? "
            "ORDER BY tick", 4001 * PAGE)
        self.assertEqual(spans[0], (0, 101 * PAGE))
        self.assertEqual(spans[-1][1], 1009 * PAGE)
        self.assertGreaterEqual(spans[-1][0], before)

    def test_the_high_water_mark_is_kept_when_the_peak_was_missed(self):
        script = f"""
            def steps():
                yield
                area = mmap.mmap(-1, {40 * MIB}, flags=mmap.MAP_PRIVATE)
                for i in range(0, {40 * MIB}, PAGE):
                    area[i] = 1
                area.close()
                yield
            """
        with Puppet(script) as work:
            recorder = self.recorder(work.pid, interval="1s")
            self.assertTrue(wait_for(self.tick_count))
            work.step()
            recorder.more().stop()
        self.assertGreaterEqual(
            self.value("SELECT max(peak_rss_bytes) FROM process_status"), 40 * MIB)

    def test_a_process_with_many_mappings(self):
        script = """
            base = libc.mmap(None, 20000 * PAGE, 0, 0x22, -1, 0)
            for i in range(0, 20000, 2):
                libc.mmap(base + i * PAGE, PAGE, 3, 0x32, -1, 0)
                ctypes.c_char.from_address(base + i * PAGE).value = b"x"
            """
        with Puppet(script) as work:
            self.recorder(work.pid, "--count", 3, interval="200ms").wait()
        at_first = "SELECT count(*), sum(rss_bytes) FROM mapping_changes c WHERE tick = 0"
        count, _ = self.query(at_first)[0]
        self.assertGreater(count, 20000)
        self.assertGreaterEqual(self.value(
            "SELECT sum(rss_bytes) FROM mapping_changes WHERE tick = 0 AND "
            "size_bytes = ? AND permissions = 'rw-p'", PAGE), 10000 * PAGE)
        self.assert_whole()

    def test_what_the_budget_left_out_is_told(self):
        with Puppet("pages(4001, 1009)") as work:
            self.recorder(work.pid, "--count", 60, interval="10ms", budget="0.1%,5ms").wait()
        self.assertEqual(self.value("SELECT value FROM recording WHERE name = 'budget'"),
                         "0.1 % of a core, stalls up to 5.0 ms")
        readings = self.value("SELECT count(*) FROM detail_readings")
        self.assertGreaterEqual(readings, 1)
        self.assertLess(readings, 40, "a thousandth of a core is not enough for all")
        self.assertGreaterEqual(self.value(
            "SELECT count(*) FROM notes WHERE text LIKE 'smaps of%less often%budget%'"), 1)

    def test_machine_and_groups_are_told(self):
        with Python("pass") as work:
            self.recorder(work.pid, "--count", 2).wait()
        total = os.sysconf("SC_PHYS_PAGES") * PAGE
        self.assertEqual(self.value("SELECT total_bytes FROM machine LIMIT 1"), total)
        self.assertGreater(self.value("SELECT faults FROM machine LIMIT 1"), 0)


# ---- one thing is not taken for another -------------------------------------

class Identity(Folder):
    def test_another_file_at_the_same_address(self):
        script = f"""
            first = file({str(self.folder / "first")!r}, 64)
            second = file({str(self.folder / "second")!r}, 64)
            where = pages(64, 7, first, shared=True)
            def steps():
                yield
                pages(64, 11, second, at=where, shared=True)
                yield
            """
        with Puppet(script) as work:
            recorder = self.recorder(work.pid).more()
            work.step()
            recorder.more().stop()
        rows = self.query(
            "SELECT name, start_address, max(rss_bytes) FROM mapping_spans "
            "WHERE size_bytes = ? AND name LIKE ? GROUP BY name ORDER BY name",
            64 * PAGE, f"{self.folder}%")
        self.assertEqual([(pathlib.Path(row[0]).name, row[2]) for row in rows],
                         [("first", 7 * PAGE), ("second", 11 * PAGE)])
        self.assertEqual(rows[0][1], rows[1][1], "the address should be the same")
        end, = self.query("SELECT until_tick FROM mapping_spans WHERE name LIKE '%first' "
                          "AND size_bytes > 0 ORDER BY tick DESC LIMIT 1")[0]
        begin, = self.query("SELECT min(tick) FROM mapping_spans WHERE name LIKE '%second'")[0]
        self.assertEqual(end, begin)

    def test_names_with_blanks_and_of_deleted_files(self):
        odd = os.fsdecode(b"odd \xff name.bin")
        script = f"""
            for name in ("a file with spaces.bin", {odd!r}, "line\\nbreak"):
                pages(16, 3, file(os.path.join({str(self.folder)!r}, name), 16), shared=True)
            gone = os.path.join({str(self.folder)!r}, "gone file")
            pages(16, 3, file(gone, 16), shared=True)
            os.unlink(gone)
            """
        with Puppet(script) as work:
            self.recorder(work.pid, "--count", 1).wait()
        names = {pathlib.Path(name).name for name, in self.query(
            "SELECT name FROM mappings WHERE name LIKE ?", f"{self.folder}%")}
        self.assertEqual(names, {"a file with spaces.bin", odd, "line\\012break",
                                 "gone file (deleted)"})

    def test_siblings_forked_in_one_clock_tick(self):
        script = """
            for i in range(8):
                if os.fork() == 0:
                    where = pages(3000 + i, 100 + i)
                    time.sleep(60)
                    os._exit(0)
            time.sleep(0.3)
            def steps():
                yield
            """
        with Puppet(script) as work:
            children = list(map(int, pathlib.Path(
                f"/proc/{work.pid}/task/{work.pid}/children").read_text().split()))
            try:
                self.recorder(work.pid, "--count", 4).wait()
            finally:
                for child in children:
                    os.kill(child, signal.SIGKILL)
        most, = self.query("SELECT max(n) FROM (SELECT count(*) AS n FROM processes "
                           "WHERE pid <> ? GROUP BY start_ticks)", work.pid)[0]
        if most < 2:
            self.skipTest("no two of eight children were started in one clock tick")
        for i in range(8):
            rows = self.query(
                "SELECT count(DISTINCT process), max(rss_bytes), min(rss_bytes) FROM "
                "mapping_changes WHERE size_bytes = ?", (3000 + i) * PAGE)
            self.assertEqual(rows, [(1, (100 + i) * PAGE, (100 + i) * PAGE)])

    def test_an_exec_begins_a_new_image_of_the_same_process(self):
        tool = self.recorder("--", "sh", "-c", "sleep 0.4; exec sleep 0.4")
        self.assertEqual(tool.wait(), 0)
        images = self.query(
            "SELECT process, comm, image FROM images WHERE pid = "
            "(SELECT pid FROM images WHERE comm = 'sh' LIMIT 1) ORDER BY from_tick")
        self.assertEqual(len({row[0] for row in images}), 1)
        names = [row[1] for row in images]
        self.assertEqual(names[-2:], ["sh", "sleep"])
        self.assertGreaterEqual(self.value(
            "SELECT count(*) FROM events WHERE event = 'exec' AND detail LIKE 'sleep 0.4'"), 1)
        self.assertEqual(self.value(
            "SELECT count(*) FROM mapping_spans WHERE name LIKE '%/sleep' AND pid = ? "
            "AND tick < (SELECT from_tick FROM images WHERE comm = 'sleep' AND pid = ?)",
            *[self.value("SELECT pid FROM images WHERE comm = 'sh' LIMIT 1")] * 2), 0)

    @unittest.skipUnless(os.access("/proc/sys/kernel/ns_last_pid", os.W_OK),
                         "needs to write /proc/sys/kernel/ns_last_pid")
    def test_a_pid_that_is_used_again_is_another_process(self):
        script = """
            def start(size, touched):
                pid = os.fork()
                if pid == 0:
                    pages(size, touched)
                    time.sleep(60)
                    os._exit(0)
                return pid
            first = start(1501, 31)
            def steps():
                yield
                os.kill(first, 9)
                os.waitpid(first, 0)
                time.sleep(0.05)  # another clock tick, or they cannot be told apart
                for attempt in range(50):
                    try:
                        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
                            last.write(str(first - 1))
                    except OSError:
                        yield "refused"
                    pid = start(1601, 37)
                    if pid == first:
                        time.sleep(0.2)
                        yield str(pid)
                    os.kill(pid, 9)
                    os.waitpid(pid, 0)
                yield "never"
            """
        with Puppet(script) as work:
            recorder = self.recorder(work.pid).more()
            said = work.step()
            if said in ("refused", "never"):
                self.skipTest(f"the kernel gave no pid twice: {said}")
            again = int(said)
            try:
                recorder.more().stop()
            finally:
                os.kill(again, signal.SIGKILL)
        rows = self.query("SELECT process, gone_at_tick, first_tick FROM processes "
                          "WHERE pid = ? ORDER BY process", again)
        self.assertEqual(len(rows), 2)
        self.assertLessEqual(rows[0][1], rows[1][2])
        for (process, *_), (size, touched) in zip(rows, ((1501, 31), (1601, 37))):
            self.assertEqual(self.query(
                "SELECT max(rss_bytes) FROM mapping_changes WHERE process = ? AND "
                "size_bytes IN (?, ?)", process, 1501 * PAGE, 1601 * PAGE),
                [(touched * PAGE,)])

    def test_a_zombie_has_no_memory(self):
        script = """
            child = os.fork()
            if child == 0:
                pages(1701, 41)
                time.sleep(60)
                os._exit(0)
            time.sleep(0.2)
            def steps():
                yield
                os.kill(child, 9)
                yield
                os.waitpid(child, 0)
                yield
            """
        with Puppet(script) as work:
            recorder = self.recorder(work.pid).more()
            work.step()
            recorder.more(6)
            last = self.tick_count() - 1
            work.step()
            recorder.stop()
        self.assertEqual(self.value(
            "SELECT count(*) FROM mapping_spans WHERE size_bytes = ? AND tick <= ? AND "
            "(until_tick IS NULL OR until_tick > ?)", 1701 * PAGE, last, last), 0)
        self.assertEqual(self.value(
            "SELECT count(*) FROM process_status WHERE state = 'zombie'"), 1)


# ---- beginnings and ends ----------------------------------------------------

class Ends(Folder):
    def test_each_signal_ends_it_in_order(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
            with self.subTest(signal=number.name), Python("pass") as work:
                recorder = self.recorder(work.pid).more()
                self.assertEqual(recorder.stop(number), 0, recorder.err)
                self.assert_whole()
                self.assertIn("recorded", recorder.err)
                self.file.unlink()

    def test_it_ends_with_its_target(self):
        with Python("pass") as work:
            recorder = self.recorder(work.pid).more()
        self.assertEqual(recorder.wait(), 0, recorder.err)
        self.assert_whole()

    def test_it_stays_when_told_to(self):
        with Python("pass") as work:
            recorder = self.recorder(work.pid, "--stay").more()
        recorder.more(5)
        self.assertEqual(recorder.stop(), 0)

    def test_count_and_duration_end_it(self):
        with Python("pass") as work:
            self.assertEqual(self.recorder(work.pid, "--count", 4).wait(), 0)
            self.assertGreaterEqual(self.tick_count(), 4)
            self.file.unlink()
            start = time.monotonic()
            self.assertEqual(self.recorder(work.pid, "--duration", "0.5s").wait(), 0)
            self.assertLess(time.monotonic() - start, 5)
            self.assertGreaterEqual(self.tick_count(), 3)

    def test_a_duration_lasts_and_ends_with_a_sample(self):
        with Python("pass") as work:
            self.assertEqual(
                self.recorder(work.pid, "--duration", "1s", interval="700ms").wait(), 0)
            first, last = self.query("SELECT min(monotonic_ns), max(monotonic_ns) FROM tick")[0]
            self.assertGreaterEqual(last - first, 0.99e9)
            for command in (["get", "-w", work.pid], ["system"]):
                start = time.monotonic()
                lines = run(*command, "--duration", "1s", "--csv").stdout.splitlines()
                self.assertGreaterEqual(time.monotonic() - start, 1, command)
                self.assertEqual(len(lines), 1 + 2, lines)

    def test_ticks_have_no_gap_and_missed_ones_are_told(self):
        with Python("pass") as work:
            self.recorder(work.pid, "--count", 40, interval="20ms").wait()
        ids = [row[0] for row in self.query("SELECT id FROM tick ORDER BY id")]
        self.assertEqual(ids, list(range(len(ids))))
        missed = self.value("SELECT coalesce(sum(count), 0) FROM missed_ticks")
        first, last = self.query("SELECT min(monotonic_ns), max(monotonic_ns) FROM tick")[0]
        clock = self.value("SELECT count(*) FROM ticks WHERE taken_by = 'clock'")
        self.assertAlmostEqual((last - first) / 20e6 + 1, clock + missed, delta=2)


class Commands(Folder):
    def groups(self):
        return [path for path in pathlib.Path("/sys/fs/cgroup").rglob("tidemark-*")
                if path.is_dir()]

    def test_the_status_is_the_commands(self):
        for command, status in (("sleep 0.2", 0), ("sleep 0.2; exit 42", 42),
                                ("sleep 0.2; kill -TERM $$", 128 + signal.SIGTERM)):
            with self.subTest(command):
                self.assertEqual(self.recorder("--", "sh", "-c", command).wait(), status)
                self.assert_whole()
                self.file.unlink()

    def test_no_group_stays_behind(self):
        before = self.groups()
        self.recorder("--", "sh", "-c", "sleep 0.3 & sleep 0.2; wait").wait()
        self.assertEqual(self.groups(), before)

    def test_everybody_it_starts_is_recorded(self):
        self.recorder("--", "sh", "-c", "(sleep 0.5 &) ; sleep 0.5").wait()
        self.assertGreaterEqual(
            self.value("SELECT count(*) FROM images WHERE comm = 'sleep'"), 2)

    def test_a_signal_reaches_the_command(self):
        recorder = self.recorder("--", "sleep", "30").more()
        self.assertEqual(recorder.stop(signal.SIGTERM), 128 + signal.SIGTERM)
        self.assert_whole()

    def test_a_program_that_is_not_there(self):
        self.assertEqual(self.recorder("--", "/nonexistent/program").wait(), 127)
        self.assertEqual(self.groups(), [])

    def test_the_command_does_not_run_when_the_file_cannot_be(self):
        witness = self.folder / "witness"
        self.file.write_text("precious")
        recorder = self.recorder("--", "touch", witness)
        self.assertNotEqual(recorder.wait(), 0)
        self.assertIn("exists", recorder.err)
        self.assertFalse(witness.exists())
        self.assertEqual(self.file.read_text(), "precious")


class Targets(Folder):
    def test_a_name_is_waited_for(self):
        program = shutil.copy("/bin/sleep", self.folder / "tdm-late-one")
        recorder = self.recorder("--name", "tdm-late-one")
        time.sleep(0.4)
        self.assertIsNone(recorder.tool.poll())
        with subprocess.Popen([program, "1"]) as work:
            self.assertEqual(recorder.wait(), 0, recorder.err)
            self.assertEqual(work.wait(), 0)
        self.assertEqual({row[0] for row in self.query("SELECT pid FROM processes")},
                         {work.pid})
        self.assertIn("waiting", recorder.err)

    def test_waiting_for_a_name_ends_with_a_signal(self):
        recorder = self.recorder("--name", "tdm-nobody-is-called-so")
        time.sleep(0.3)
        self.assertEqual(recorder.stop(), 0)

    def test_the_whole_machine(self):
        with Python("pass") as work:
            self.recorder("--all", "--count", 2, interval="500ms").wait()
        pids = {row[0] for row in self.query("SELECT pid FROM processes")}
        self.assertIn(1, pids)
        self.assertIn(work.pid, pids)
        self.assertIn(os.getpid(), pids)
        self.assert_whole()

    def test_the_recorder_among_them_keeps_its_locks(self):
        """On the index of its own file, which it maps too. A process that closes a
        file gives up all its locks on it, and a reader would then cut the index."""
        recorder = self.recorder("--all").more(4)
        inode = os.stat(f"{self.file}-shm").st_ino
        # The byte by which SQLite knows that somebody uses the index.
        held = re.findall(rf"ADVISORY +READ +(\d+) \S+:{inode} 128 128",
                          pathlib.Path("/proc/locks").read_text())
        self.assertIn(str(recorder.tool.pid), held)
        self.assertEqual(recorder.stop(), 0)

    def test_descendants_only_where_wanted(self):
        script = """
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            """
        with Puppet(script) as work:
            child = int(pathlib.Path(
                f"/proc/{work.pid}/task/{work.pid}/children").read_text())
            try:
                self.recorder(work.pid, "--count", 2).wait()
                both = self.value("SELECT count(*) FROM processes")
                self.file.unlink()
                self.recorder(work.pid, "--count", 2, "--no-children").wait()
                one = self.value("SELECT count(*) FROM processes")
            finally:
                os.kill(child, signal.SIGKILL)
        self.assertEqual((both, one), (2, 1))

    def test_a_control_group(self):
        group = None
        for root in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
            path = pathlib.Path(root, f"tdm-test-{os.getpid()}")
            try:
                path.mkdir()
                group = path
                break
            except OSError as error:
                reason = str(error)
        if group is None:
            self.skipTest(f"no control group can be made: {reason}")
        try:
            with Python("pass") as inside, Python("pass") as outside:
                (group / "cgroup.procs").write_text(str(inside.pid))
                recorder = self.recorder("--cgroup", group.name, "--count", 3)
                self.assertEqual(recorder.wait(), 0, recorder.err)
                self.assertNotEqual(inside.pid, outside.pid)
            self.assertEqual(self.query("SELECT pid, cgroup FROM processes"),
                             [(inside.pid, f"/{group.name}")])
        finally:
            wait_for(lambda: not (group / "cgroup.procs").read_text())
            group.rmdir()

    def test_the_old_form_with_a_period(self):
        with Python("pass") as work:
            tool = subprocess.Popen(
                [TIDEMARK, "record", "-o", str(self.file), str(work.pid), "200"],
                stderr=subprocess.PIPE, text=True)
            try:
                wait_for(lambda: self.tick_count() >= 2)
            finally:
                tool.send_signal(signal.SIGINT)
                _, err = tool.communicate(timeout=20)
        self.assertEqual(tool.returncode, 0, err)
        self.assertIn("interval", err)
        self.assertEqual(self.value(
            "SELECT value FROM recording WHERE name = 'period_ns'"), "200000000")

    def test_a_copied_proc_tree(self):
        fixture = pathlib.Path(__file__).parents[1] / "fixtures" / "debian-6.1" / "proc"
        pid = min(int(path.name) for path in fixture.iterdir() if path.name.isdigit())
        done = run("record", "-o", self.file, "--proc", fixture, pid, "--count", 2,
                   "-f", "20ms", check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.tick_count(), 2)
        self.assertEqual(self.value("SELECT min(pid) FROM processes"), pid)


class Misuse(Folder):
    def refused(self, *arguments, status):
        done = run("record", *arguments, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertTrue(done.stderr.startswith("tidemark: "), done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse(self.file.exists() and self.file.stat().st_size == 0)
        return done.stderr

    def test_no_targets(self):
        self.refused("-o", self.file, status=2)

    def test_no_file(self):
        self.refused(os.getpid(), status=2)

    def test_a_pid_that_does_not_exist(self):
        for pid in ("4194305", "99999999999"):
            self.assertIn(pid, self.refused("-o", self.file, pid, status=1))

    def test_a_file_that_exists(self):
        self.file.write_text("precious")
        err = self.refused("-o", self.file, os.getpid(), status=2)
        self.assertIn("exists", err)
        self.assertEqual(self.file.read_text(), "precious")

    def test_overwriting_when_told_to(self):
        self.file.write_text("worthless")
        self.assertEqual(
            run("record", "-o", self.file, "--overwrite", "--count", 1, os.getpid()).returncode, 0)
        self.assert_whole()

    def test_a_folder_that_is_not_there(self):
        self.assertIn("nowhere", self.refused(
            "-o", self.folder / "nowhere" / "a.tdm", os.getpid(), status=1))

    def test_a_folder_in_place_of_a_file(self):
        self.refused("-o", self.folder, os.getpid(), status=2)

    def test_a_wrong_proc(self):
        self.refused("-o", self.file, "--proc", "/nonexistent", 1, status=1)
        self.refused("-o", self.file, "--proc", self.folder, "--all", "--count", 1, status=1)

    def test_an_interval_of_nothing(self):
        self.refused("-o", self.file, "-f", "0", os.getpid(), status=2)


# ---- others who look --------------------------------------------------------

class Readers(Folder):
    def test_readers_look_on_while_it_records(self):
        with Python("pass") as work:
            recorder = self.recorder(work.pid, interval="20ms").more(5)
            for _ in range(10):
                self.assertGreaterEqual(self.tick_count(), 5)
                done = run("peak", self.file, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
            recorder.more()
            self.assertEqual(recorder.stop(), 0)
        self.assert_whole()

    def test_a_reader_that_stays_does_not_stop_the_end(self):
        with Python("pass") as work:
            recorder = self.recorder(work.pid).more()
            with contextlib.closing(sqlite3.connect(self.file)) as reader:
                reader.execute("BEGIN")
                self.assertGreater(reader.execute("SELECT count(*) FROM tick").fetchone()[0], 0)
                start = time.monotonic()
                self.assertEqual(recorder.stop(), 0, recorder.err)
                self.assertLess(time.monotonic() - start, 3)
        self.assertEqual(self.value("PRAGMA integrity_check"), "ok")

    def test_a_folder_that_may_not_be_written(self):
        with Python("pass") as work:
            self.recorder(work.pid, "--count", 2).wait()
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        os.chmod(self.file, 0o444)
        options = {"user": 65534} if is_root() else {}
        done = run("peak", self.file, check=False, **options)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_views_of_memory_watcher_agree_with_ours(self):
        with Puppet("pages(4001, 1009)") as work:
            self.recorder(work.pid, "--count", 5).wait()
        process, pid, name = self.query("SELECT id, pid, name FROM process")[0]
        self.assertEqual(pid, work.pid)
        self.assertTrue(name.startswith("python"), name)
        sums = self.query(
            "SELECT id, rss_sum, pss_sum, statm_resident, oom_score_adj FROM measurement "
            "WHERE process_id = ?", process)
        self.assertGreaterEqual(len(sums), 5)
        for identifier, rss, pss, resident, adjustment in sums:
            tick = identifier & 0xffffffff
            ours = self.query(
                "SELECT sum(rss_bytes) / 1024, sum(pss_bytes) / 1024 FROM mapping_spans "
                "WHERE tick <= ? AND (until_tick IS NULL OR until_tick > ?)", tick, tick)
            self.assertEqual(ours, [(rss, pss)])
            self.assertAlmostEqual(rss, resident, delta=256)
            self.assertEqual(adjustment, int(pathlib.Path(
                "/proc/self/oom_score_adj").read_text()))
        rows = self.query(
            "SELECT r.\"to\" - r.\"from\", r.permission, max(d.rss), min(d.pss) FROM data d "
            "JOIN memory_range r ON r.id = d.range_id WHERE r.\"to\" - r.\"from\" = ? GROUP BY r.id",
            4001 * PAGE)
        self.assertEqual(rows, [(4001 * PAGE, "rw-p", 1009 * PAGE // 1024, 1009 * PAGE // 1024)])
        total, = self.query("SELECT mem_total FROM system_memory LIMIT 1")[0]
        self.assertEqual(total, os.sysconf("SC_PHYS_PAGES") * PAGE // 1024)


# ---- a full disk ------------------------------------------------------------

class SmallDisk:
    """A file system of 2 MiB that nobody else sees and that is gone with us."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.holder = subprocess.Popen(
            ["unshare", "-m", "--propagation", "private", "sh", "-c",
             'mount -t tmpfs -o size=2m none "$1" && echo ready && exec sleep 300', "sh",
             str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.is_there = self.holder.stdout.readline() == "ready\n"

    def command(self, *arguments):
        return ["nsenter", "-t", str(self.holder.pid), "-m", *map(str, arguments)]

    def path(self, name):
        return pathlib.Path(f"/proc/{self.holder.pid}/root{self.folder}", name)

    def end(self):
        self.holder.kill()
        return self.holder.communicate()[1]


@unittest.skipUnless(is_root(), "needs root for a small file system of its own")
class FullDisk(Folder):
    # Memory that is never the same, or the file would hardly grow.
    RESTLESS = """
        import random, threading
        wheres = [pages(40, 1) for i in range(300)]
        for where in wheres:  # a wall between them, or they would be one
            libc.mmap(where + 39 * PAGE, PAGE, 0, 0x32, -1, 0)
        def churn():
            while True:
                for where in wheres:
                    libc.madvise(where, 39 * PAGE, 4)
                    for i in range(random.randrange(1, 12)):
                        ctypes.c_char.from_address(where + i * PAGE).value = b"x"
                time.sleep(0.01)
        threading.Thread(target=churn, daemon=True).start()
        """

    def setUp(self):
        super().setUp()
        self.disk = SmallDisk(self.folder / "small")
        self.addCleanup(self.disk.end)
        if not self.disk.is_there:
            self.skipTest(f"no file system of our own: {self.disk.end()}")
        self.file = self.folder / "small" / "a.tdm"

    def ask(self, sql):
        """One value, from inside."""
        done = subprocess.run(self.disk.command(
            sys.executable, "-c", "import sqlite3, sys\n"
            "base = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True, timeout=9)\n"
            "print(base.execute(sys.argv[2]).fetchone()[0])", self.file, sql),
            capture_output=True, text=True, timeout=30)
        return done.stdout.strip() or done.stderr

    def test_it_waits_for_room_and_goes_on(self):
        self.disk.path("ballast").write_bytes(bytes(400_000))
        log = self.folder / "log"
        with Puppet(self.RESTLESS) as work, open(log, "w") as stream:
            tool = subprocess.Popen(self.disk.command(
                TIDEMARK, "record", "-o", self.file, "-f", "20ms", "--budget", "none",
                work.pid), stderr=stream)
            try:
                self.assertTrue(wait_for(lambda: "disk full" in log.read_text(), 60),
                                log.read_text())
                self.assertIsNone(tool.poll(), log.read_text())
                acknowledged = int(self.ask("SELECT count(*) FROM tick"))
                self.assertGreater(acknowledged, 10)
                self.assertEqual(self.ask("PRAGMA integrity_check"), "ok")
                time.sleep(0.5)
                self.disk.path("ballast").unlink()
                self.assertTrue(wait_for(lambda: "goes on" in log.read_text(), 20),
                                log.read_text())
                self.assertTrue(wait_for(
                    lambda: int(self.ask("SELECT count(*) FROM tick")) > acknowledged, 20))
                tool.send_signal(signal.SIGINT)
                tool.wait(timeout=20)
            finally:
                if tool.poll() is None:
                    tool.kill()
                tool.wait()
        self.assertEqual(self.ask("PRAGMA integrity_check"), "ok")
        self.assertEqual(self.ask("SELECT count(*) - max(id) FROM tick"), "1")
        lost = int(self.ask("SELECT sum(count) FROM missed_ticks WHERE because = 'disk full'"))
        self.assertGreater(lost, 10, "half a second at 20 ms and the lost second before it")
        # Every tick that was due up to the last is stored or told as missed.
        due = self.ask("SELECT (max(monotonic_ns) - min(monotonic_ns)) / 20000000 + 1 FROM tick")
        known = self.ask("SELECT (SELECT count(*) FROM tick WHERE state = 0) + "
                         "(SELECT sum(count) FROM missed_tick "
                         "WHERE before_tick <= (SELECT max(id) FROM tick))")
        self.assertAlmostEqual(int(due), int(known), delta=int(due) // 20 + 3)
        self.assertEqual(subprocess.run(
            self.disk.command(TIDEMARK, "peak", self.file), capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main()
