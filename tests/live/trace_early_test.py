#!/usr/bin/env python3
"""`trace --early` on the running kernel: events first, then BPF, and no page twice.
Called memstrack it is so in an initramfs alone."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import TIDEMARK, is_root, workload
from tracing import KEPT, Taker, Tracer, pages_of, sums_are_right, task_of


def read(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def wait_for(question, what, seconds=60):
    """Its answer once it is true; what is asked for takes as long as it takes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come within {seconds} s")


@unittest.skipUnless(is_root(), "tracing needs root")
class Early(unittest.TestCase):
    def tracer(self):
        return Tracer("--early", "--json", "--refresh", "1s")

    def wait_for_bpf(self, tracer):
        wait_for(lambda: '"backend": "bpf"' in read(tracer.file.name), "BPF")

    def unless_events_were_lost(self, attempt):
        """Events come first, and a machine that is too busy loses some."""
        for _ in range(4):
            report, check = attempt()
            if report["lost"] == 0:
                return check()
        return self.skipTest(f"{report['lost']} events lost: too busy a machine")

    def test_pages_of_both_times_count_once(self):
        self.unless_events_were_lost(self.keep_drop_and_keep)

    def test_what_is_held_from_before_bpf_stays(self):
        self.unless_events_were_lost(self.keep)

    def keep_drop_and_keep(self):
        with Taker() as taker, self.tracer() as tracer:
            # By events.
            before = taker.page_table_pages()
            taker.tell("keep", KEPT)
            self.wait_for_bpf(tracer)
            # Given back while BPF counts, and as many taken anew.
            taker.tell("drop")
            taker.tell("churn", 4)
            taker.tell("keep", KEPT)
            report = tracer.json()
            truth = KEPT + taker.page_table_pages() - before

        def check():
            task = task_of(report, taker.pid)
            self.assertLess(abs(task["pages"] - truth), KEPT * 0.005,
                            (task["pages"], truth, report["notes"]))
            self.assertTrue(sums_are_right(task))
            # It took as many pages in either time, so its peak is a bound.
            self.assertLess(task["least_peak_pages"], KEPT * 1.02)
            self.assertGreater(task["peak_pages"], KEPT * 1.9)
            self.assertEqual(report["pages"],
                             sum(task["pages"] for task in report["tasks"]))
            print({key: report[key] for key in ("untracked_frees", "overwritten")},
                  file=sys.stderr)
        return report, check

    def keep(self):
        with Taker() as taker, self.tracer() as tracer:
            taker.tell("keep", KEPT)
            self.wait_for_bpf(tracer)
            report = tracer.json()

        def check():
            held = pages_of(report, taker.pid)
            self.assertGreaterEqual(held, KEPT)
            self.assertLess(held, KEPT * 1.02)
        return report, check


def memstrack(folder):
    """The program by that name."""
    name = f"{folder}/memstrack"
    os.symlink(pathlib.Path(TIDEMARK).resolve(), name)
    return name


@contextlib.contextmanager
def ended(*command, **options):
    """A process that is ended by its pid when nobody needs it any more."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@unittest.skipUnless(is_root(), "tracing needs root")
class BesideOthers(unittest.TestCase):
    """Two processes fault all the time, and two shells start programs."""
    CHURN = "churn 1000000\n"
    HELD = 25_600  # pages: 100 MiB
    STARTS = "while :; do for i in 1 2 3 4 5 6 7 8; do /bin/true & done; wait; done"

    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        for _ in range(2):
            loop = stack.enter_context(ended(
                workload("taker"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                text=True))
            loop.stdin.write(self.CHURN)
            loop.stdin.flush()
            stack.enter_context(ended("sh", "-c", self.STARTS))

    def test_called_memstrack_no_page_is_lost(self):
        self.check(memstrack(self.folder))

    def test_as_trace_no_page_is_lost(self):
        self.check(TIDEMARK, "trace")

    def check(self, *command):
        report = f"{self.folder}/report"
        with ended(*command, "--notui", "--report", "task_summary", "-o", report,
                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                   text=True) as tracer:
            self.assertIn("tracing", tracer.stderr.readline())
            with Taker() as one, Taker() as two, Taker() as three:
                takers = (one, two, three)
                for taker in takers:
                    taker.tell("keep", self.HELD)
                truth = {taker.pid: taker.own_pages() for taker in takers}
                tracer.send_signal(signal.SIGINT)
                self.assertEqual(tracer.wait(60), 0)
        text = read(report)
        print("\n".join(re.findall(r"^\d.* too high or too low$", text, re.M)),
              file=sys.stderr)
        for pid, own in truth.items():
            line = re.search(
                rf"^Task .* \({pid}\) using (\d+) pages, peak usage (\d+) pages$",
                text, re.M)
            self.assertTrue(line, (pid, own))
            print(own, *line.groups(), file=sys.stderr)
            for pages in map(int, line.groups()):
                self.assertAlmostEqual(pages, own, delta=own * 0.01)


@unittest.skipUnless(is_root(), "tracing needs root")
class AsMemstrack(unittest.TestCase):
    """As dracut starts it: by name, under nohup, with an output file."""

    def begins_by_events(self, *command):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [*command, memstrack(folder), "--notui", "--json", "--duration", "1s",
                 "--quiet", "-o", f"{folder}/report"],
                stdin=subprocess.DEVNULL, timeout=60, check=True)
            report = json.loads(read(f"{folder}/report"))
        return report["backend"] != "bpf" or any(
            "were followed by events" in note for note in report["notes"])

    def test_on_a_machine_that_is_up_it_begins_by_bpf(self):
        self.assertFalse(pathlib.Path("/etc/initrd-release").exists())
        self.assertFalse(self.begins_by_events())

    def test_in_an_initramfs_it_begins_by_events(self):
        # What marks one, in a mount namespace alone.
        marked = """
            mount -t tmpfs none /mnt && mkdir /mnt/upper /mnt/work &&
            mount -t overlay none -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work \\
              /etc && : >/etc/initrd-release && exec "$@"
        """
        self.assertTrue(self.begins_by_events("unshare", "-m", "sh", "-c", marked, "sh"))

    def start(self, folder, *arguments):
        return subprocess.Popen(
            ["nohup", memstrack(folder), "--report", "module_summary,task_summary", "--notui",
             "--throttle", "80", "-o", f"{folder}/report", *arguments],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def test_it_outlives_a_hang_up_and_ends_with_a_whole_report(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.start(folder) as started:
                while "tracing" not in started.stderr.readline():
                    self.assertIsNone(started.poll())
                self.assertEqual(read(f"/proc/{started.pid}/comm"), "memstrack\n")
                started.send_signal(signal.SIGHUP)
                wait_for(lambda: "task_summary END" in read(f"{folder}/report"),
                         "a report while it runs")
                self.assertIsNone(started.poll())
                os.unlink(f"{folder}/report")
                started.send_signal(signal.SIGTERM)
                self.assertEqual(started.wait(60), 0)
            report = read(f"{folder}/report")
            self.assertIn("= Report format module_summary END =", report)
            self.assertIn("= Report format task_summary END =", report)

    def test_a_kill_leaves_the_last_report(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.start(folder) as started:
                wait_for(lambda: "task_summary END" in read(f"{folder}/report"),
                         "a report while it runs")
                started.kill()
            self.assertIn("task_summary END", read(f"{folder}/report"))

    def test_a_pipe_stays_one_and_gets_the_report_at_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(f"{folder}/report")
            # Both ends, so that nobody waits for the other.
            pipe = os.open(f"{folder}/report", os.O_RDWR | os.O_NONBLOCK)
            with self.start(folder) as started:
                while "tracing" not in started.stderr.readline():
                    self.assertIsNone(started.poll())
                time.sleep(1.5)  # a file would have been replaced by now
                started.terminate()
                self.assertEqual(started.wait(60), 0)
            self.assertTrue(pathlib.Path(f"{folder}/report").is_fifo())
            self.assertIn(b"task_summary END", os.read(pipe, 1 << 16))
            os.close(pipe)

    def test_it_says_when_it_is_ready(self):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.monotonic()
            with self.start(folder, "--ready", f"{folder}/ready") as started:
                wait_for(lambda: read(f"{folder}/ready"), "the ready file")
                print(f"ready after {time.monotonic() - begun:.2f} s",
                      file=sys.stderr)
                self.assertEqual(int(read(f"{folder}/ready")), started.pid)
                started.terminate()


@unittest.skipUnless(is_root(), "tracing needs root")
class Refusals(unittest.TestCase):
    def refused(self, *arguments):
        ran = subprocess.run([TIDEMARK, "trace", *arguments], capture_output=True,
                             text=True, check=False)
        self.assertEqual(ran.returncode, 2, ran.stderr)
        return ran.stderr

    def test_what_cannot_be_kept_up_to_date(self):
        self.assertIn("needs a file", self.refused("--refresh", "1s"))
        for path in ("-", "/dev/null"):
            self.assertIn("needs a file", self.refused("--refresh", "1s", "-o", path))
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        self.assertIn("--sample", self.refused("--early", "--sample", "16"))


if __name__ == "__main__":
    unittest.main()
