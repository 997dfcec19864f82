#!/usr/bin/env python3
"""`top` in a real terminal (tmux): keys, sizes, and every way out."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import live
from stand_in import StandIn

SECONDS = 20


class Terminal:
    """A tmux server of its own with one window that runs a shell line."""

    def __init__(self, line, columns=80, rows=24, **environment):
        self.folder = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.folder.name, "tmux")
        settings = {"LC_ALL": "C.UTF-8", "NO_COLOR": "1", **environment}
        words = " ".join(f"{name}={value}" for name, value in settings.items())
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns),
                  "-y", str(rows), f"cd {self.folder.name}; {words} {line}; "
                  "echo left $?; stty -a | grep -o ' -\\?echo '; sleep 1000")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server", check=False)
        self.folder.cleanup()

    def tmux(self, *words, check=True):
        return subprocess.run(
            ["tmux", "-S", self.socket, *words], check=check, timeout=SECONDS,
            capture_output=True, text=True).stdout

    def keys(self, *names):
        for name in names:
            self.tmux("send-keys", name)

    def click(self, column, row):
        """Of a mouse, counted from 1, as the terminal would tell it."""
        place = chr(32 + column) + chr(32 + row)
        # Pressed and released at once, as touchpads do.
        self.tmux("send-keys", "-l",
                  "\x1b[M " + place + "\x1b[M#" + place)

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def pid(self, name="tidemark"):
        """Of the program in the window."""
        shell = self.tmux("list-panes", "-F", "#{pane_pid}").strip()
        open_pids = [int(shell)]
        while open_pids:
            pid = open_pids.pop()
            comm = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            if comm == name:
                return pid
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
            open_pids += map(int, children.read_text().split())
        raise AssertionError(f"no {name} in the window")

    def wait_for(self, text):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            screen = self.screen()
            if text in screen:
                return screen
            time.sleep(0.05)
        raise AssertionError(f"{text!r} did not come:\n{screen}")


class TopTest(unittest.TestCase):
    def top(self, *words, **options):
        line = " ".join([live.TIDEMARK, "top", *map(str, words)])
        return Terminal(line, **options)

    def test_shows_processes_and_leaves_the_terminal_as_it_was(self):
        with self.top() as terminal:
            screen = terminal.wait_for(" task")
            self.assertIn("[1 Processes]", screen)
            self.assertIn("live 1 s", screen)
            self.assertIn("q quit", screen.splitlines()[-1])
            terminal.keys("q")
            screen = terminal.wait_for("left 0")
            self.assertNotIn("Processes", screen)
            self.assertNotIn("-echo", screen)

    def test_every_key_is_answered(self):
        with self.top() as terminal:
            terminal.wait_for(" task")
            for key in ("Down", "Up", "PgDn", "PgUp", "Home", "End", "Right",
                        "Left", "s", "S", "g", "g", "g", "g", "n", "N", "f",
                        "Space", "u", "z", "z", "BTab", "Tab", "x", "F5"):
                terminal.keys(key)
            for key, text in (("2", "[2 Machine]"), ("3", "[3 Objects]"),
                              ("5", "[5 Timeline]"),
                              ("1", "[1 Processes]"), ("?", "Processes: keys"),
                              ("Escape", " tasks"), ("/", "find:")):
                terminal.keys(key)
                terminal.wait_for(text)
            terminal.keys("Escape", "q")
            terminal.wait_for("left 0")

    def test_counts_objects_and_shows_who_holds_them(self):
        name = f"held-by-{os.getpid()}"
        code = (f"import os; fd = os.memfd_create('{name}'); "
                "os.write(fd, b'x' * (32 << 20))")
        with live.Python(code) as target, self.top(columns=132) as terminal:
            terminal.wait_for(" task")
            terminal.keys("3")
            screen = terminal.wait_for(name)
            row = next(line for line in screen.splitlines() if name in line)
            self.assertIn("memfd", row)
            self.assertIn("32.0M", row)
            terminal.keys("/", name, "Enter", "Right")
            terminal.wait_for(f"p:{target.pid}")
            for key, text in (("h", "only hidden"), ("s", "sorted by SIZE"),
                              ("c", "counting again"), ("Space", "marked 1"),
                              ("u", "no marks"), ("h", "all objects")):
                terminal.keys(key)
                terminal.wait_for(text)
            terminal.keys("q")
            terminal.wait_for("left 0")

    @unittest.skipUnless(live.is_root(), "without root no page can be seen")
    def test_counts_every_page_and_says_who_owns_them(self):
        with self.top(columns=132, rows=40) as terminal:
            terminal.wait_for(" task")
            terminal.keys("2")
            terminal.wait_for("census")
            terminal.keys("Enter", "Right")
            screen = terminal.wait_for("Esc back")
            self.assertIn("files", screen)
            self.assertIn("all ", screen)
            terminal.keys("b")
            terminal.wait_for("CONTROL GROUP")
            terminal.keys("c")
            terminal.wait_for("counting every page")
            terminal.keys("Escape")
            terminal.wait_for("Growing")
            terminal.keys("q")
            terminal.wait_for("left 0")

    @unittest.skipUnless(live.is_root(), "without root no page can be seen")
    def test_chooses_a_class_explains_it_and_says_what_would_come_back(self):
        with self.top(columns=132, rows=40) as terminal:
            terminal.wait_for(" task")
            terminal.keys("2")
            screen = terminal.wait_for("Every page of RAM, once")
            self.assertIn(" pages left over", screen)
            for step in range(14):
                terminal.keys("Home" if step == 0 else "Down")
                time.sleep(0.1)
                if re.search("^>. files", terminal.screen(), re.MULTILINE):
                    break
            terminal.keys("w")
            terminal.wait_for("files: ≤")
            terminal.keys("e")
            screen = terminal.wait_for("the page cache")
            self.assertIn("(meminfo)", screen)
            terminal.keys("Escape")
            terminal.wait_for("MOSTLY")
            terminal.keys("c")
            terminal.wait_for("steady")
            terminal.keys("q")
            terminal.wait_for("left 0")

    @unittest.skipUnless(live.is_root(), "a group of its own needs root")
    def test_compares_a_peak_with_the_mark_of_its_group(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/run.tdm"
            subprocess.run(
                [live.TIDEMARK, "record", "-o", file, "--period", "200ms",
                 "--allow-stall", "--budget", "none", "--", "python3", "-c",
                 "import time; a = bytearray(64 << 20); time.sleep(1)\n"
                 f"open({file + '.x'!r}, 'wb').write(bytes(30 << 20))\n"
                 "time.sleep(1)"],
                check=True, capture_output=True, timeout=60)
            with self.top(file, columns=132, rows=40) as terminal:
                terminal.wait_for("replay, paused")
                terminal.keys("5", "t", "peak", "Enter")
                screen = terminal.wait_for("At the peak")
                self.assertRegex(screen, r"sum .* \+ .* not explained = .*"
                                         "high-water mark of the cgroup")
                terminal.keys("g")
                terminal.wait_for("PROGRAM")
                terminal.keys("/", "start", "Enter", "F", "pss>1M", "Enter")
                terminal.wait_for("PROGRAM of pss>1M")
                terminal.keys("q")
                terminal.wait_for("left 0")

    @unittest.skipUnless(live.is_root(), "without root no page can be seen")
    def test_says_by_pages_what_would_come_back(self):
        with live.Python("block = bytearray(64 << 20)") as target, \
                self.top(target.pid, columns=132) as terminal:
            terminal.wait_for(" task")
            terminal.keys("/", f"p:{target.pid}", "Enter", "Space")
            terminal.wait_for("… would come back if it ended")
            end = time.monotonic() + SECONDS
            while "… would" in terminal.screen():
                self.assertLess(time.monotonic(), end, "it was not counted")
                time.sleep(0.1)
            self.assertIn("would come back if it ended", terminal.screen())
            terminal.keys("u", "q")
            terminal.wait_for("left 0")

    def find_row(self, terminal, words):
        """Chooses a row that may be below the screen, or not be read yet."""
        end = time.monotonic() + SECONDS
        while not any(words in line for line in terminal.screen().splitlines()
                      if line.startswith(">")):
            self.assertLess(time.monotonic(), end, terminal.screen())
            terminal.keys("/", words, "Enter")
            time.sleep(0.3)

    def test_shows_vms_with_what_their_guests_use(self):
        with tempfile.TemporaryDirectory() as folder:
            vm = StandIn(folder, "qemu-system-x86_64", "ok", f"{folder}/socket")
            try:
                vm.wait_ready()
                with self.top(columns=132, rows=40) as terminal:
                    terminal.wait_for("6 VMs")
                    terminal.keys("6")
                    self.find_row(terminal, f"p:{vm.pid}")
                    terminal.keys("Right")
                    terminal.wait_for("guest used")
                    terminal.keys("s")
                    terminal.wait_for("sorted by HELD")
                    terminal.keys("Left", "S", "y")
                    terminal.wait_for("sent to the clipboard")
                    vm.end()
                    end = time.monotonic() + SECONDS
                    while f"p:{vm.pid}" in terminal.screen():
                        self.assertLess(time.monotonic(), end, "it stays")
                        time.sleep(0.2)
                    terminal.keys("q")
                    terminal.wait_for("left 0")
            finally:
                vm.end()

    def test_a_filter_that_means_nobody_leaves_nothing_to_find(self):
        with self.top() as terminal:
            terminal.wait_for(" task")
            terminal.keys("F", "no-such-name", "Enter")
            terminal.wait_for("no process is meant")
            terminal.keys("/", "a", "Enter")
            terminal.wait_for("is in no row")
            for view in "2345":
                terminal.keys(view, "/", "a", "Enter", "n", "N")
                terminal.wait_for("[" + view)
            terminal.keys("1", "F", "Enter")
            terminal.wait_for("all processes")
            terminal.keys("q")
            terminal.wait_for("left 0")

    def test_opens_a_process_down_to_its_mappings(self):
        with live.Python("block = bytearray(64 << 20)") as target, \
                self.top(target.pid) as terminal:
            terminal.wait_for(" task")
            terminal.keys("/", f"p:{target.pid}", "Enter", "Right")
            terminal.wait_for("program and lib")
            terminal.keys("/", "program and", "Enter", "Right")
            terminal.wait_for("python")
            terminal.wait_for(".so")
            terminal.keys("q")
            terminal.wait_for("left 0")

    def test_follows_a_process_in_the_timeline(self):
        with live.Python("block = bytearray(64 << 20)") as target, \
                self.top("-d", "200ms") as terminal:
            terminal.wait_for(" task")
            terminal.keys("/", f"p:{target.pid}", "Enter", "f", "5")
            terminal.wait_for(" alone")
            time.sleep(2)
            terminal.keys("+")
            target.end()
            terminal.keys("End")
            terminal.wait_for("○")
            terminal.keys("-", "1", "f")
            terminal.wait_for("no longer following")
            terminal.keys("q")
            terminal.wait_for("left 0")

    def test_copies_a_row_to_the_clipboard_of_the_terminal(self):
        with self.top() as terminal:
            terminal.tmux("set-option", "-g", "set-clipboard", "on")
            terminal.wait_for(" task")
            terminal.keys("y")
            terminal.wait_for("sent to the clipboard")
            self.assertIn("j:", terminal.tmux("show-buffer"))
            terminal.keys("q")
            terminal.wait_for("left 0")

    def test_opens_the_mappings_of_a_process(self):
        with live.Python("block = bytearray(64 << 20)") as target, \
                self.top(target.pid) as terminal:
            terminal.wait_for(" task")
            terminal.keys("/", "p", ":", str(target.pid), "Enter", "Enter")
            screen = terminal.wait_for("mappings in")
            self.assertIn(f"p:{target.pid}", screen)
            terminal.keys("Escape", "q")
            terminal.wait_for("left 0")

    def test_survives_a_storm_of_sizes(self):
        with self.top() as terminal:
            terminal.wait_for(" task")
            for columns, rows in ((40, 10), (300, 100), (41, 11), (132, 40),
                                  (60, 14), (299, 99), (80, 24)) * 4:
                terminal.keys("1235"[(columns + rows) % 4])
                terminal.resize(columns, rows)
            terminal.keys("1")
            terminal.wait_for("[1 Processes]")
            terminal.resize(40, 10)
            terminal.wait_for("q quit")
            self.assertTrue(all(len(line) <= 40
                                for line in terminal.screen().splitlines()))
            terminal.keys("q")
            terminal.wait_for("left 0")

    def test_signals_leave_a_clean_terminal(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number), self.top() as terminal:
                terminal.wait_for(" task")
                os.kill(terminal.pid(), number)
                screen = terminal.wait_for("left 0")
                self.assertNotIn("Processes", screen)
                self.assertNotIn("-echo", screen)

    def test_ends_when_its_terminal_is_closed(self):
        with self.top() as terminal:
            terminal.wait_for(" task")
            pid = terminal.pid()
            terminal.tmux("kill-server")
            end = time.monotonic() + SECONDS
            while os.path.exists(f"/proc/{pid}"):
                self.assertLess(time.monotonic(), end, "it goes on")
                time.sleep(0.05)

    def test_says_when_its_process_has_gone(self):
        with live.Python("") as target, self.top(target.pid) as terminal:
            terminal.wait_for(" task")
            target.end()
            terminal.wait_for("all chosen processes have ended")
            terminal.keys("q")
            terminal.wait_for("left 0")

    def test_records_what_it_shows_and_replays_it(self):
        with live.Python("block = bytearray(64 << 20)") as target, \
                self.top(target.pid, "-d", "100ms") as terminal:
            terminal.wait_for(" task")
            terminal.keys("r")
            terminal.wait_for("recording")
            time.sleep(1.5)
            terminal.keys("r")
            terminal.wait_for("recorded to top-")
            terminal.keys("q")
            terminal.wait_for("left 0")
            file = next(pathlib.Path(terminal.folder.name).glob("top-*.tdm"))
            self.assertGreater(
                live.run_json("info", file)["sample_count"], 5)
            with self.top(file) as replay:
                replay.wait_for("replay, paused")
                replay.keys("5", "End")
                replay.wait_for("[5 Timeline]")
                replay.keys("1")
                self.assertIn(f"p:{target.pid}", replay.wait_for("python3"))
                replay.keys("q")
                replay.wait_for("left 0")

    def test_goes_on_when_its_recording_is_replaced(self):
        with live.Python("") as target, \
                tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.tdm")
            live.run("record", "-q", "-o", path, "--interval", "100ms",
                     "--count", "8", target.pid)
            with self.top(path) as replay:
                replay.wait_for("replay, paused")
                os.rename(path, path + ".old")
                live.run("record", "-q", "-o", path, "--count", "1",
                         target.pid)
                replay.keys("5", "Right")
                replay.wait_for("was replaced")
                replay.keys("End")
                replay.wait_for("[5 Timeline]")
                os.truncate(path + ".old", 4096)
                replay.keys("Home", "1", "3")
                replay.wait_for("a recording holds what processes map")
                replay.keys("q")
                replay.wait_for("left 0")

    def test_steers_a_recording(self):
        with live.Python("") as target, \
                tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.tdm")
            live.run("record", "-q", "-o", path, "--interval", "100ms",
                     "--count", "20", target.pid)
            with self.top(path) as replay:
                replay.wait_for("replay, paused")
                replay.keys("5", "<", "<", "Space")
                replay.wait_for("replay 0.25x")
                replay.keys("Space")
                replay.wait_for("replay, paused")
                replay.keys("t", "e", "n", "d", "Enter")
                replay.wait_for("at 00:00:01 of 00:00:01")
                replay.keys("t", "x", "Enter")
                replay.wait_for("'x'")
                replay.keys("Home")
                replay.wait_for("at 00:00:00")
                replay.keys("q")
                replay.wait_for("left 0")

    def test_is_ascii_where_widths_are_ambiguous(self):
        # Its name decides: the locale need not be installed.
        with self.top(LC_ALL="ja_JP.UTF-8") as terminal:
            terminal.wait_for(" task")
            self.assertTrue(terminal.screen().isascii())

    def test_mouse_chooses_tabs_rows_and_heads(self):
        # One process below its group: on a busy machine rows change places.
        with live.Python("") as target, self.top(target.pid) as terminal:
            terminal.wait_for(f"p:{target.pid}")
            terminal.click(16, 2)
            terminal.wait_for("[2 Machine]")
            terminal.click(4, 2)
            terminal.wait_for("[1 Processes]")
            terminal.click(20, 6)
            terminal.wait_for(f"\n> p:{target.pid}")
            terminal.click(20, 5)
            terminal.wait_for("\n>▾j:")
            terminal.keys("q")
            terminal.wait_for("left 0")

    def test_refuses_what_is_no_terminal(self):
        done = live.run("top", check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a terminal", done.stderr)
        self.assertIn("hint:", done.stderr)

    def test_is_readable_in_ascii_and_colour(self):
        with self.top("--glyphs", "ascii") as terminal:
            terminal.wait_for(" task")
            self.assertTrue(terminal.screen().isascii())
        with self.top(NO_COLOR="", COLORTERM="truecolor") as terminal:
            terminal.wait_for(" task")
            self.assertIn("\x1b[38;2;", terminal.tmux("capture-pane", "-ep"))
        # Of eight colours bright cyan is the bold one: anonymous memory.
        with self.top(NO_COLOR="", COLORTERM="", TERM="linux") as terminal:
            terminal.wait_for(" task")
            terminal.keys("2")
            terminal.wait_for("anonymous")
            self.assertIn("\x1b[36m", terminal.tmux("capture-pane", "-ep"))


if __name__ == "__main__":
    unittest.main()
