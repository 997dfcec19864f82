#!/usr/bin/env python3
"""The trace view in a real terminal (tmux): a known workload, every key, every
way out, and nothing left behind."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import live
from top_test import SECONDS, Terminal
from tracing import KEPT, Taker

FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures"


def wait_until(is_so, words):
    end = time.monotonic() + SECONDS
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError(words)
        time.sleep(0.05)


@contextlib.contextmanager
def tracefs():
    """Mounted for us alone, wherever else it is."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tracefs", "none", folder], check=True)
        try:
            yield pathlib.Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def row(screen, text):
    """The numbers of the row with this text."""
    line = next(line for line in screen.splitlines() if text in line)
    return re.findall(r"[\d,.]+[KMG]?", line.split(text)[1])


@unittest.skipUnless(os.geteuid() == 0, "tracing needs root")
class TraceScreen(unittest.TestCase):
    def trace(self, *words, **options):
        line = " ".join([live.TIDEMARK, "trace", *map(str, words)])
        return Terminal(line, **options)

    def assert_clean(self, screen):
        self.assertNotIn("[4 Trace]", screen)
        self.assertNotIn("-echo", screen)

    def test_shows_what_a_task_takes_and_reports_it_on_leaving(self):
        with Taker() as taker, \
                self.trace("--pid", taker.pid, "--report",
                           "task_summary") as terminal:
            terminal.wait_for("bpf, exact")
            taker.tell("keep", KEPT)
            terminal.keys("m")
            terminal.wait_for("TASK AND STACK")
            name = f"{taker.pid} taker"
            wait_until(
                lambda: name in terminal.screen() and int(row(
                    terminal.screen(), name)[0].replace(",", "")) >= KEPT,
                "what was kept did not come")
            pages = int(row(terminal.screen(), name)[0].replace(",", ""))
            self.assertLess(pages, KEPT * 1.1)
            terminal.keys("Space")
            terminal.wait_for("page_fault")
            terminal.keys("q")
            screen = terminal.wait_for("left 0")
            self.assert_clean(screen)
            self.assertIn("task_summary", screen)
            self.assertIn(f"({taker.pid})", screen)

    def test_every_key_is_answered(self):
        with Taker() as taker, self.trace("--pid", taker.pid) as terminal:
            # Whether it holds a page or none by then is the kernel's affair.
            terminal.wait_for("bpf, exact")
            taker.tell("keep", KEPT)
            terminal.wait_for("kernel itself")
            for key in ("Down", "Up", "PgDn", "PgUp", "Home", "End", "Right",
                        "Left", "Enter", "Enter", "Space", "s", "s", "s", "s",
                        "S", "S", "n", "N", "r", "R", "x", "F5", "Tab", "1"):
                terminal.keys(key)
            for key, text in (("m", "TASK AND STACK"),
                              ("M", "CONTROL GROUP AND STACK"),
                              ("m", "MODULE AND STACK"), ("v", "AT PEAK"),
                              ("v", "GROWN"), ("v", "HELD"), ("p", "frozen"),
                              ("P", "tracing"), ("?", "Trace: keys"),
                              ("Escape", "by module"), ("/", "find:")):
                terminal.keys(key)
                terminal.wait_for(text)
            # Into stacks that are closed.
            terminal.keys(*"page_fault", "Enter")
            terminal.wait_for("page_fault")
            terminal.keys("w")
            terminal.wait_for("written to trace-")
            terminal.keys("t")
            terminal.wait_for("trace ended")
            terminal.keys("t")
            terminal.wait_for("q leaves")
            terminal.keys("q")
            terminal.wait_for("left 0")
            written = list(pathlib.Path(terminal.folder.name).glob("trace-*"))
            self.assertEqual(len(written), 1)
            self.assertIn("taker", written[0].read_text())

    def test_survives_a_storm_of_sizes(self):
        with self.trace() as terminal:
            terminal.wait_for("kernel itself")
            for columns, rows in ((40, 10), (300, 100), (41, 11), (132, 40),
                                  (60, 14), (299, 99), (80, 24)) * 4:
                terminal.resize(columns, rows)
            terminal.wait_for("[4 Trace]")
            terminal.resize(40, 10)
            terminal.wait_for("q quit")
            wait_until(lambda: all(len(line) <= 40 for line in
                                   terminal.screen().splitlines()),
                       "lines are too long")
            terminal.keys("q")
            terminal.wait_for("left 0")

    def test_signals_leave_a_clean_terminal_and_the_report(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number), \
                    self.trace("--report", "task_summary") as terminal:
                terminal.wait_for("kernel itself")
                os.kill(terminal.pid(), number)
                screen = terminal.wait_for("left 0")
                self.assert_clean(screen)
                self.assertIn("task_summary", screen)

    def test_a_report_goes_to_the_file_that_was_named(self):
        with self.trace("-o", "out.json", "--json") as terminal:
            terminal.wait_for("kernel itself")
            terminal.keys("C-c")
            self.assert_clean(terminal.wait_for("left 0"))
            text = (pathlib.Path(terminal.folder.name) /
                    "out.json").read_text()
            self.assertIn('"schema"', text)

    def test_its_time_ends_it(self):
        with self.trace("--duration", "1s", "--report",
                        "task_summary") as terminal:
            screen = terminal.wait_for("left 0")
            self.assert_clean(screen)
            self.assertIn("task_summary", screen)

    def test_notui_opens_no_screen(self):
        with self.trace("--notui", "--duration", "1s", "--report",
                        "task_summary") as terminal:
            screen = terminal.wait_for("left 0")
            self.assertNotIn("\x1b[?1049h", screen)
            self.assertIn("task_summary", screen)

    def test_leaves_nothing_behind_when_its_terminal_is_closed(self):
        for backend in ("bpf", "perf", "ftrace"):
            with self.subTest(backend), tracefs() as folder, \
                    self.trace("--backend", backend) as terminal:
                terminal.wait_for(backend + ",")
                pid = terminal.pid()
                terminal.tmux("kill-server")
                wait_until(lambda: not os.path.exists(f"/proc/{pid}"),
                           "it goes on")
                wait_until(lambda: not [
                    name for name in os.listdir(folder / "instances")
                    if str(pid) in name], "an instance is left")
                programs = subprocess.run(
                    ["bpftool", "prog", "show"], capture_output=True,
                    text=True, check=False).stdout
                self.assertNotIn(f"tidemark({pid})", programs)

    def test_refuses_before_the_screen_is_opened(self):
        with Terminal(f"setpriv --reuid 65534 --clear-groups "
                      f"{live.public_tidemark()} trace") as terminal:
            screen = terminal.wait_for("left 1")
            self.assert_clean(screen)
            self.assertIn("needs root", screen)

    def test_opens_a_dump_of_page_owner(self):
        dump = FIXTURES / "page_owner" / "show_stacks-6.12.txt"
        with self.trace("--pageowner-file", dump) as terminal:
            screen = terminal.wait_for("pageowner")
            self.assertIn("kernel itself", screen)
            terminal.keys("v")
            terminal.wait_for("only what is held now is known")
            terminal.keys("t")
            terminal.wait_for("read from a file")
            terminal.keys("q")
            screen = terminal.wait_for("left 0")
            self.assert_clean(screen)

    def test_opens_a_recording(self):
        with Taker() as taker, tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "taken.tdm")
            tracer = subprocess.Popen(
                [live.TIDEMARK, "trace", "--pid", str(taker.pid), "-o", file,
                 "-f", "200ms", "--duration", "3s", "-q"],
                stdin=subprocess.DEVNULL)
            wait_until(lambda: os.path.exists(file), "no recording")
            time.sleep(1)
            taker.tell("keep", KEPT)
            self.assertEqual(tracer.wait(30), 0)
            with self.trace(file, "--report", "task_summary") as terminal:
                terminal.wait_for("[4 Trace]")
                terminal.keys("m")
                screen = terminal.wait_for(f"{taker.pid} taker")
                pages = int(row(screen, "taker")[0].replace(",", ""))
                self.assertGreaterEqual(pages, KEPT)
                terminal.keys("q")
                screen = terminal.wait_for("left 0")
                self.assert_clean(screen)
                self.assertIn("task_summary", screen)
            with self.trace(file, "--at", "peak") as terminal:
                terminal.wait_for("kernel itself")
                terminal.keys("v")
                terminal.wait_for("AT PEAK")
                terminal.keys("q")
                self.assertEqual(terminal.wait_for("left 0").splitlines()[0],
                                 "left 0", "nothing was asked for")
            with Terminal(f"{live.TIDEMARK} top {file}") as terminal:
                terminal.wait_for("replay, paused")
                terminal.keys("4", "t", "e", "n", "d", "Enter", "m")
                terminal.wait_for(f"{taker.pid} taker")
                terminal.keys("q")
                terminal.wait_for("left 0")

    def test_follows_code_of_programs(self):
        with Taker() as taker, \
                self.trace("--user", taker.pid) as terminal:
            # One in how many is said once a page of it was in the sample.
            terminal.wait_for("bpf, ")
            taker.tell("keep", KEPT)
            terminal.wait_for(f"{taker.pid} taker")
            self.assertRegex(terminal.screen(), "bpf, 1 page in [0-9]+")
            terminal.keys("Space")
            terminal.wait_for("main [taker]")
            terminal.keys("m", "m")
            terminal.wait_for("IMAGE AND STACK")
            terminal.keys("q")
            terminal.wait_for("left 0")

    def test_starts_and_stops_from_within_top(self):
        with Terminal(f"{live.TIDEMARK} top") as terminal:
            terminal.wait_for(" task")
            terminal.keys("4")
            terminal.wait_for("nothing is traced")
            terminal.keys("t")
            terminal.wait_for("kernel itself")
            terminal.wait_for("tracing ")
            terminal.keys("1")
            terminal.wait_for("[1 Processes]")
            terminal.keys("4", "t")
            terminal.wait_for("trace ended")
            terminal.keys("t")
            terminal.wait_for("tracing ")
            terminal.keys("q")
            self.assert_clean(terminal.wait_for("left 0"))


@unittest.skipUnless(os.geteuid() == 0, "tracing needs root")
class Memstrack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.folder.name, "memstrack")
        os.symlink(os.path.realpath(live.TIDEMARK), cls.program)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_opens_the_screen_and_prints_nothing_unasked(self):
        with Terminal(self.program) as terminal:
            terminal.wait_for("kernel itself")
            self.assertGreater(terminal.pid("memstrack"), 0)
            for key in ("m", "r", "Space", "Down", "Up", "PgDn", "PgUp"):
                terminal.keys(key)
            terminal.keys("p")
            terminal.wait_for("frozen")
            terminal.keys("p", "q")
            screen = terminal.wait_for("left 0")
            self.assertNotIn("[4 Trace]", screen)
            self.assertEqual(screen.splitlines()[0], "left 0", screen)

    def test_writes_reports_also_when_it_is_left_by_q(self):
        with Terminal(f"{self.program} --report module_summary,task_summary "
                      "--throttle 80 -o report.txt") as terminal:
            terminal.wait_for("kernel itself")
            terminal.keys("q")
            terminal.wait_for("left 0")
            text = (pathlib.Path(terminal.folder.name) /
                    "report.txt").read_text()
            self.assertIn("module_summary", text)
            self.assertIn("task_summary", text)

    def test_without_the_screen_it_prints_what_was_asked_for_alone(self):
        for words, is_printed in (([], False),
                                  (["--report", "task_summary"], True)):
            with self.subTest(words):
                tracer = subprocess.Popen(
                    [self.program, "--notui", *words], text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertIn("tracing", tracer.stderr.readline())
                time.sleep(0.5)
                tracer.terminate()
                out, _ = tracer.communicate(timeout=30)
                self.assertEqual(tracer.returncode, 0)
                self.assertEqual("task_summary" in out, is_printed)
                self.assertTrue(is_printed or out == "", out)


if __name__ == "__main__":
    unittest.main()
