#!/usr/bin/env python3
"""What `trace` is asked to follow and to leave out, by each of its means."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import is_root, run
from tracing import KEPT, Taker, Tracer, pages_of, task_of


def memory_group():
    """A control group of our own, or the reason why there is none."""
    for root in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
        if os.path.isdir(root):
            break
    group = pathlib.Path(root, f"tidemark-trace-test-{os.getpid()}")
    group.mkdir()
    return group


class AnyBackend:
    backend = None

    def tracer(self, *arguments):
        return Tracer("--backend", self.backend, "--json", *arguments)

    def expect_one_of_two(self, one, other, *filters):
        with self.tracer(*filters) as tracer:
            one.tell("keep", KEPT)
            other.tell("keep", KEPT)
            report = tracer.json()
        self.assertGreaterEqual(pages_of(report, one.pid), KEPT)
        self.assertEqual(pages_of(report, other.pid), 0)

    def test_a_process_alone(self):
        with Taker() as one, Taker() as other:
            self.expect_one_of_two(one, other, "--pid", one.pid)

    def test_a_process_and_those_it_starts_later(self):
        size = KEPT * 4096
        script = (f"read go; head -c {size} /dev/zero | tail -c {size} | wc -c; "
                  "read end")
        with subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as shell:
            with Taker() as other, self.tracer("--pid", shell.pid) as tracer:
                other.tell("keep", KEPT)
                shell.stdin.write("go\n")
                shell.stdin.flush()
                self.assertEqual(shell.stdout.readline(), f"{size}\n")
                report = tracer.json()
            shell.stdin.close()
        tails = [task for task in report["tasks"] if task["name"] == "tail"]
        self.assertEqual(len(tails), 1)
        self.assertGreater(tails[0]["peak_pages"], KEPT)
        self.assertEqual(pages_of(report, other.pid), 0)

    def test_processes_of_a_name(self):
        with Taker() as one, Taker() as other:
            other.tell("exec", "other", answer="ready")
            # Run through /proc/self/exe, which names it.
            self.expect_one_of_two(one, other, "--comm", "taker")

    def test_a_name_that_comes_with_an_exec(self):
        size = KEPT * 4096
        script = f"read go; head -c {size} /dev/zero | tail -c {size} | wc -c; read end"
        with subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as shell:
            with self.tracer("--comm", "tail") as tracer:
                shell.stdin.write("go\n")
                shell.stdin.flush()
                self.assertEqual(shell.stdout.readline(), f"{size}\n")
                report = tracer.json()
            shell.stdin.close()
        names = {task["name"] for task in report["tasks"] if task["peak_pages"]}
        self.assertEqual(names, {"tail"})
        self.assertGreater(report["peak_pages"], KEPT)

    def test_processes_of_a_control_group(self):
        try:
            group = memory_group()
        except OSError as error:
            self.skipTest(f"no control group can be made: {error}")
        try:
            with Taker() as one, Taker() as other:
                (group / "cgroup.procs").write_text(str(one.pid))
                self.expect_one_of_two(one, other, "--cgroup", "/" + group.name)
        finally:
            group.rmdir()

    def test_orders(self):
        with Taker() as taker, self.tracer("--order", 9) as tracer:
            taker.tell("keep", KEPT)
            self.assertEqual(pages_of(tracer.json(), taker.pid), 0)
        with Taker() as taker, self.tracer("--order", "0-1") as tracer:
            taker.tell("keep", KEPT)
            self.assertGreaterEqual(pages_of(tracer.json(), taker.pid), KEPT)

    def test_what_can_be_moved_and_what_cannot(self):
        """A process's own pages can be moved, those of its page tables not."""
        with Taker() as taker, self.tracer("--gfp", "movable") as tracer:
            taker.tell("keep", KEPT)
            movable = pages_of(tracer.json(), taker.pid)
        self.assertGreaterEqual(movable, KEPT)
        self.assertLess(movable, KEPT * 1.001)
        for words in ("unmovable", "kernel"):
            with Taker() as taker, self.tracer("--gfp", words) as tracer:
                before = taker.page_table_pages()
                taker.tell("keep", KEPT)
                pages = pages_of(tracer.json(), taker.pid)
                grown = taker.page_table_pages() - before
                self.assertGreaterEqual(pages, grown)
                self.assertLess(pages, grown + 40, words)

    def test_flags_by_the_names_the_kernel_gives_them(self):
        with Taker() as taker, self.tracer(
                "--gfp", "highuser,__GFP_MOVABLE") as tracer:
            taker.tell("keep", KEPT)
            self.assertGreaterEqual(pages_of(tracer.json(), taker.pid), KEPT)
        with Taker() as taker, self.tracer("--gfp", "dma") as tracer:
            taker.tell("keep", KEPT)
            self.assertEqual(pages_of(tracer.json(), taker.pid), 0)

    def test_a_module_that_is_not_there_is_refused(self):
        done = run("trace", "--backend", self.backend, "--module", "no_such",
                   "--duration", "1s", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("module", done.stderr)


@unittest.skipUnless(is_root(), "tracing needs root")
class Bpf(AnyBackend, unittest.TestCase):
    backend = "bpf"


@unittest.skipUnless(is_root(), "tracing needs root")
class Perf(AnyBackend, unittest.TestCase):
    backend = "perf"


@unittest.skipUnless(is_root(), "tracing needs root")
class Ftrace(AnyBackend, unittest.TestCase):
    backend = "ftrace"


class Refusals(unittest.TestCase):
    @unittest.skipUnless(is_root(), "tracing needs root")
    def test_words_that_are_no_kind_of_allocation(self):
        for words in ("movabel", "movable,unmovable", "__GFP_NOTHING"):
            done = run("trace", "--gfp", words, "--duration", "1s", check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("--gfp: ", done.stderr)

    def test_notes_of_the_kernel_are_not_filtered_so(self):
        for words in (("--gfp", "movable"), ("--order", "3"),
                      ("--module", "zram"), ("--cgroup", "/")):
            for backend in ("pageowner", "allocinfo"):
                done = run("trace", "--backend", backend, *words, check=False)
                self.assertEqual(done.returncode, 2, (backend, words))
                self.assertIn(words[0], done.stderr)


if __name__ == "__main__":
    unittest.main()
