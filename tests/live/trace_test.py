#!/usr/bin/env python3
"""`trace` on the running kernel: known pages, names, faults, ways out."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import TIDEMARK, is_root, run
from pprof import Profile
from tracing import KEPT, Taker, Tracer, frames_of, sums_are_right, task_of


class AnyBackend:
    """What is asked of every means to follow pages."""

    backend = None
    has_rings = True  # events wait there to be read, and may be lost

    def tracer(self, *arguments, **options):
        return Tracer("--backend", self.backend, *arguments, **options)

    def expect_kept(self, report, taker, kept=KEPT, before=0):
        truth = kept + taker.page_table_pages() - before
        pages = task_of(report, taker.pid)["pages"]
        self.assertLess(abs(pages - truth), kept * 0.005, (pages, truth))

    def test_what_is_kept_after_churn_is_shown(self):
        with Taker() as taker, self.tracer("--json") as tracer:
            before = taker.page_table_pages()
            taker.tell("churn", 12)
            taker.tell("keep", KEPT)
            report = tracer.json()
            self.expect_kept(report, taker, before=before)
            task = task_of(report, taker.pid)
            self.assertTrue(sums_are_right(task))
            self.assertEqual(report["backend"], self.backend)
            self.assertEqual(report["lost"], 0)
            self.assertEqual(report["table_full"], 0)
            self.assertGreaterEqual(task["peak_pages"], task["pages"])
            self.assertGreaterEqual(report["peak_pages"], task["peak_pages"])

    def test_while_the_tool_stands_still_nothing_is_lost_unsaid(self):
        with Taker() as taker, self.tracer("--json") as tracer:
            before = taker.page_table_pages()
            taker.tell("keep", 1000)
            tracer.process.send_signal(signal.SIGSTOP)
            taker.tell("drop")
            taker.tell("churn", 4)
            taker.tell("keep", KEPT)
            time.sleep(0.2)
            tracer.process.send_signal(signal.SIGCONT)
            report = tracer.json()
            if report["lost"] > 0 and self.has_rings:
                print(f"  {report['lost']} events lost, and said so",
                      file=sys.stderr)
                return
            self.expect_kept(report, taker, before=before)

    def test_what_ended_holds_next_to_nothing(self):
        with self.tracer("--json") as tracer:
            with Taker() as taker:
                taker.tell("keep", KEPT)
            task = task_of(tracer.json(), taker.pid)
            self.assertLess(task["pages"], 256)
            self.assertGreater(task["peak_pages"], KEPT)
            self.assertTrue(task["has_exited"])

    def test_huge_pages_count_as_the_pages_they_are(self):
        mib = 32
        with Taker() as taker, self.tracer("--json") as tracer:
            taker.tell("huge", mib)
            rollup = pathlib.Path(
                f"/proc/{taker.pid}/smaps_rollup").read_text()
            huge_kib = int(rollup.split("AnonHugePages:")[1].split()[0])
            taker.tell("halve")
            report = tracer.json()
            if huge_kib < mib * 1024:
                self.skipTest(f"only {huge_kib} KiB came as huge pages")
            pages = task_of(report, taker.pid)["pages"]
            # Half of them are gone, or wait to be: a huge page that is not
            # split yet is held as a whole.
            self.assertGreater(pages, mib * 128 * 0.99)
            self.assertLess(pages, mib * 256 + 200)

    def test_pages_that_are_moved_keep_their_owner(self):
        compact = pathlib.Path("/proc/sys/vm/compact_memory")
        if not os.access(compact, os.W_OK):
            self.skipTest("this kernel does not compact")
        with Taker() as taker, self.tracer("--json") as tracer:
            before = taker.page_table_pages()
            taker.tell("low", KEPT)
            frames = frames_of(taker.pid)
            compact.write_text("1")
            moved = len(frames - frames_of(taker.pid))
            report = tracer.json()
            print(f"  {moved} of {len(frames)} pages were moved",
                  file=sys.stderr)
            # A guest with little memory is where many are moved for certain.
            self.expect_kept(report, taker, before=before)

    def test_pages_of_the_bulk_allocator_are_pages_or_untracked(self):
        spliced = 10_240
        with Taker() as taker, self.tracer("--json") as tracer:
            taker.tell("splice", spliced)
            report = tracer.json()
            peak = next((task["peak_pages"] for task in report["tasks"]
                         if task["pid"] == taker.pid), 0)
            self.assertGreaterEqual(
                report["untracked_frees"] + peak, spliced * 0.99)

    def test_what_stays_in_pipes_is_held_or_untracked_when_it_is_freed(self):
        piped = 2_560
        with self.tracer("--json") as tracer:
            with Taker() as taker:
                taker.tell("pipe", piped)
            report = tracer.json()
            task = task_of(report, taker.pid)
            if report["sees_bulk"]:
                self.assertGreaterEqual(task["peak_pages"], piped)
                self.assertLess(task["pages"], 256)
            else:
                self.assertLess(task["peak_pages"], piped)
                self.assertGreaterEqual(report["untracked_frees"], piped)

    def test_an_exec_brings_its_own_name_hostile_as_it_may_be(self):
        name = 'quo"te back\\slash \udcff\udcfe'
        with Taker() as taker, self.tracer("--json") as tracer:
            taker.tell("exec", name, answer="ready")
            taker.tell("keep", KEPT)
            task = task_of(tracer.json(), taker.pid)
            self.assertIn('quo"te back\\slash', task["cmdline"])
            self.assertIn("with arguments", task["cmdline"])

    def test_the_tree_at_the_peak_sums_to_the_peak(self):
        # Of others nothing: the machine's peak would be theirs.
        with Taker() as taker, self.tracer(
                "--json", "--pid", taker.pid) as tracer:
            taker.tell("keep", KEPT)
            taker.tell("drop")
            report = tracer.json()
            at_peak = sum(task["machine_peak_pages"]
                          for task in report["tasks"])
            self.assertLess(abs(at_peak - report["peak_pages"]), 64)
            self.assertGreater(
                task_of(report, taker.pid)["machine_peak_pages"], KEPT)

    def test_a_sample_tells_about_the_same(self):
        with Taker() as taker, self.tracer("--json", "--sample", 16) as tracer:
            taker.tell("keep", KEPT)
            pages = task_of(tracer.json(), taker.pid)["pages"]
            self.assertLess(abs(pages - KEPT), KEPT * 0.15)

    def test_a_command_is_traced_to_its_end(self):
        done = run("trace", "--backend", self.backend, "--report",
                   "task_summary", "--", "sh", "-c",
                   "head -c 20000000 /dev/zero | tail -c 1; exit 7", check=False)
        self.assertEqual(done.returncode, 7, done.stderr)
        # Told of it late, arguments of what has ended cannot be read.
        self.assertIn("tail -c 1" if self.backend == "bpf" else "tail",
                      done.stdout)
        self.assertNotIn("init", done.stdout)

    def test_a_signal_of_any_kind_brings_the_report(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.tracer("--json", stop=number) as tracer:
                self.assertIn("tasks", tracer.json())


@unittest.skipUnless(is_root(), "tracing needs root")
class Bpf(AnyBackend, unittest.TestCase):
    backend = "bpf"
    has_rings = False

    def test_many_short_processes_leave_room_for_those_that_follow(self):
        """More of them than the tables have entries for."""
        count = 20_000
        with Taker() as taker, self.tracer("--json", "--pid", taker.pid) as tracer:
            taker.tell("fork", count)
            taker.tell("keep", KEPT)
            report = tracer.json()
        tasks = report["tasks"]
        folded = sum(task.get("folded_count", 0) for task in tasks)
        print(f"  {len(tasks)} tasks and {folded} folded", file=sys.stderr)
        self.assertEqual(report["table_full"], 0)
        self.assertGreater(folded, 0)
        self.assertGreater(folded + len(tasks), count)
        # What forking leaves with the parent are slabs.
        self.assertGreaterEqual(task_of(report, taker.pid)["pages"], KEPT)
        self.assertLess(task_of(report, taker.pid)["pages"], KEPT * 1.05)
        self.assertEqual(report["pages"], sum(task["pages"] for task in tasks))
        at_peak = sum(task["machine_peak_pages"] for task in tasks)
        self.assertLess(abs(at_peak - report["peak_pages"]), 64)
        self.assertTrue(all(map(sums_are_right, tasks)))


    def test_what_the_ended_have_left_is_held_by_name_or_by_exited(self):
        """More of them than the tables have entries for, each with a page. Told
        without stacks: with them it would be half a gigabyte."""
        count = 20_000
        with Taker() as taker, self.tracer("--report", "task_summary", "--pid",
                                           taker.pid) as tracer:
            taker.tell("leave", count)
            text = tracer.report()
        rows = re.findall(r"^Task (.*) \((\d+)\) using (\d+) pages, peak usage "
                          r"(?:<=)?(\d+) pages$", text, re.M)
        pages = {(name, int(pid)): int(now) for name, pid, now, _ in rows}
        folded = [(int(now), int(peak)) for name, _, now, peak in rows
                  if name == "[exited]"]
        self.assertEqual(len(folded), 1, text[:1000])
        named = len(rows) - 1
        held = sum(pages.values()) - pages[next(
            key for key in pages if key[1] == taker.pid)]
        print(f"  {named} by name, folded ones with {folded[0][0]} pages, "
              f"{held} together", file=sys.stderr)
        self.assertNotIn("no entry", text)
        self.assertLess(named, count)
        self.assertGreaterEqual(held, count)
        self.assertLess(held, count * 1.1)
        self.assertGreater(folded[0][0], count // 20)
        self.assertGreaterEqual(folded[0][1], folded[0][0])


@unittest.skipUnless(is_root(), "tracing needs root")
class Perf(AnyBackend, unittest.TestCase):
    backend = "perf"


@unittest.skipUnless(is_root(), "tracing needs root")
class Ftrace(AnyBackend, unittest.TestCase):
    backend = "ftrace"


class Tracefs:
    """The kernel's tracing files, through a mount that nobody sees."""

    FILES = ("buffer_size_kb", "current_tracer", "events/enable", "set_event",
             "trace_clock", "trace_options", "tracing_on",
             "events/kmem/mm_page_alloc/trigger",
             "events/kmem/mm_page_alloc/filter")

    def __init__(self):
        fsopen, fsconfig, fsmount, create = 430, 431, 432, 6
        call = ctypes.CDLL(None, use_errno=True).syscall
        context = call(fsopen, b"tracefs", 1)
        assert call(fsconfig, context, create, None, None, 0) == 0
        self.fd = call(fsmount, context, 1, 0)
        os.close(context)
        assert self.fd >= 0, os.strerror(ctypes.get_errno())

    def path(self, name):
        return pathlib.Path(f"/proc/self/fd/{self.fd}/{name}")

    def instances(self):
        return sorted(os.listdir(self.path("instances")))

    def state(self, pid):
        """Of other tracers nothing: they come and go as they like."""
        return ([name for name in self.instances()
                 if not name.startswith("tidemark-")
                 or name == f"tidemark-{pid}"],
                [self.path(name).read_text() for name in self.FILES])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


@unittest.skipUnless(is_root(), "tracing needs root")
class TracefsState(unittest.TestCase):
    BACKENDS = ("bpf", "perf", "ftrace")

    def test_every_way_out_leaves_it_as_it_was(self):
        for backend in self.BACKENDS:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                with self.subTest(backend=backend, signal=number):
                    self.expect_same_after(backend, number)

    def expect_same_after(self, backend, number):
        with Tracefs() as tracefs, Tracer("--backend", backend) as tracer:
            pid = tracer.process.pid
            ours = [f"tidemark-{pid}"] if backend == "ftrace" else []
            self.assertEqual([name for name in tracefs.instances()
                              if name.endswith(f"-{pid}")], ours)
            while_tracing = tracefs.state(pid)
            tracer.process.send_signal(number)
            tracer.process.wait(30)
            # Whoever cleans up after a kill needs a moment.
            deadline = time.monotonic() + 5
            while (set(ours) & set(tracefs.instances())
                   and time.monotonic() < deadline):
                time.sleep(0.02)
            names, files = tracefs.state(pid)
            self.assertEqual(names, [name for name in while_tracing[0]
                                     if name not in ours])
            self.assertEqual(files, while_tracing[1])

    def test_it_is_mounted_nowhere_for_us(self):
        before = pathlib.Path("/proc/self/mountinfo").read_text()
        for backend in self.BACKENDS:
            with Tracer("--backend", backend) as tracer:
                self.assertEqual(
                    pathlib.Path(f"/proc/{tracer.process.pid}/mountinfo")
                    .read_text(), before)

    def test_where_it_is_mounted_that_one_is_used(self):
        for backend in ("perf", "ftrace"):
            done = subprocess.run(
                ["unshare", "-m", "sh", "-c",
                 "mountpoint -q /sys/kernel/tracing || "
                 "{ mount -t tracefs none /sys/kernel/tracing && "
                 "chmod 700 /sys/kernel/tracing; } && "
                 f"exec {TIDEMARK} trace -b {backend} --json -- "
                 "head -c 9000000 /dev/zero | tail -c 1"],
                capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)


@unittest.skipUnless(is_root(), "tracing needs root")
class Choice(unittest.TestCase):
    def test_the_best_is_taken_and_said(self):
        report = json.loads(run("trace", "--json", "--", "true").stdout)
        self.assertEqual(report["backend"], "bpf")
        self.assertEqual([note for note in report["notes"]
                          if note.startswith("not by")], [])

    def test_the_next_is_taken_and_it_is_said_why(self):
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c",
             "mount --bind /dev/null /proc/iomem && "
             f"exec {TIDEMARK} trace --json -- true"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["backend"], "perf")
        self.assertIn("not by bpf: ", report["notes"][0])

    def test_without_type_information_perf_is_taken_and_said(self):
        """Of the kernel's types BPF programs know where its fields are."""
        hidden = "mount -t tmpfs none /sys/kernel/btf && exec "
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c",
             hidden + f"{TIDEMARK} trace --json -- true"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["backend"], "perf")
        self.assertRegex(report["notes"][0], "^not by bpf: .*BTF")
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c",
             hidden + f"{TIDEMARK} trace -b bpf -- true"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, "tidemark: .*BTF")

    def test_small_buffers_lose_and_every_report_says_so(self):
        for backend in ("perf", "ftrace"):
            with Taker() as taker, Tracer(
                    "--backend", backend, "--buf-size", 0, "--report",
                    "task_summary,task_top_json,tree") as tracer:
                tracer.process.send_signal(signal.SIGSTOP)
                taker.tell("churn", 4)
                tracer.process.send_signal(signal.SIGCONT)
                text = tracer.report()
                self.assertEqual(text.count("events lost"), 3, text)
                tree = text.split("Report format tree: ========\n")[1]
                rows = [line for line in tree.splitlines()[1:]
                        if line.strip()[:1].isdigit()]
                self.assertEqual(rows, [], "numbers without a mark")
                self.assertIn("events lost",
                              tracer.process.stderr.read())


@unittest.skipUnless(is_root(), "tracing needs root")
class Reports(unittest.TestCase):
    def test_reports_of_memstrack_and_their_order(self):
        with Taker() as high, Taker() as steady, Tracer(
                "--report", "task_summary,task_summary:sort_by_peak,task_top:"
                "throttle=50,task_top_json,module_summary,proc_slab_static:"
                "top=3") as tracer:
            high.tell("keep", 2 * KEPT)
            high.tell("drop")
            steady.tell("keep", KEPT)
            text = tracer.report()
        names = [line for line in text.splitlines() if line.startswith("====")]
        self.assertEqual(len(names), 12)
        sections = text.split("========\n")
        by_now, by_peak = sections[1], sections[3]
        for section, first in ((by_now, steady.pid), (by_peak, high.pid)):
            order = [pid for line in section.splitlines()
                     for pid in (high.pid, steady.pid) if f"({pid})" in line]
            self.assertEqual(order[0], first, section)
        tasks = json.loads(sections[7].split("======== Report")[0])
        self.assertIn(steady.pid, [task["pid"] for task in tasks])
        self.assertEqual(sections[11].count(" MB\n"), 3)

    def test_a_duration_ends_it(self):
        started = time.monotonic()
        run("trace", "--duration", "500ms")
        self.assertLess(time.monotonic() - started, 10)

    def test_folded_stacks_have_frames_and_counts(self):
        with Taker() as taker, Tracer("--format", "folded") as tracer:
            taker.tell("keep", KEPT)
            text = tracer.report()
        lines = [line for line in text.splitlines() if f"({taker.pid});" in line]
        self.assertGreater(sum(int(line.rsplit(" ", 1)[1]) for line in lines),
                           KEPT)
        self.assertTrue(any("page_fault;" in line or "handle_mm_fault;" in line
                            for line in lines), lines)


    def test_a_profile_of_pprof_can_be_read_by_its_schema(self):
        with Taker() as taker, Tracer("--format", "pprof", "--pid", taker.pid) as tracer:
            taker.tell("keep", KEPT)
            tracer.report(is_text=False)
            profile = Profile(pathlib.Path(tracer.file.name).read_bytes())
        self.assertEqual(profile.strings[0], "")
        self.assertIn(("peak_space", "bytes"), profile.types)
        at = profile.types.index(("inuse_space", "bytes"))
        held = sum(values[at] for _, values in profile.samples)
        self.assertGreaterEqual(held, KEPT * 4096)
        self.assertLess(held, KEPT * 4096 * 1.05)
        self.assertTrue(any("handle_mm_fault" in name for frames, _ in profile.samples
                            for name in frames))


class Refusals(unittest.TestCase):
    def test_without_rights_it_says_what_is_missing(self):
        if not is_root():
            self.skipTest("only root can become somebody else")
        for words in ([], ["-b", "bpf"], ["-b", "perf"], ["-b", "ftrace"]):
            done = run("trace", *words, "--duration", "1s", check=False,
                       user=65534)
            self.assertEqual(done.returncode, 1, words)
            self.assertRegex(done.stderr, "hint: .*root", words)
            if not words:
                self.assertIn("needs root", done.stderr)

    def test_the_rights_it_names_are_enough(self):
        if not is_root() or not shutil.which("setpriv"):
            self.skipTest("only root with setpriv can give rights up")
        rights = "+bpf,+perfmon,+sys_admin"
        done = subprocess.run(
            ["setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps",
             rights, "--ambient-caps", rights, TIDEMARK, "trace", "--json",
             "--", "true"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["backend"], "bpf")

    def test_without_tracefs_it_says_so(self):
        """It is not mounted there, and may not be."""
        if not is_root() or not shutil.which("setpriv"):
            self.skipTest("only root with setpriv can give rights up")
        script = ("umount --all --lazy --types tracefs,debugfs; "
                  "exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin "
                  "\"$0\" trace -b \"$1\" --duration 1s")
        for backend in ("perf", "ftrace"):
            done = subprocess.run(
                ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                 script, TIDEMARK, backend],
                capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("tracefs is not mounted", done.stderr)
            self.assertIn("hint:", done.stderr)

    def test_without_rights_to_a_mounted_tracefs_it_says_so(self):
        if not is_root() or not shutil.which("unshare"):
            self.skipTest("only root with unshare can mount it for itself")
        script = ("mount -t tracefs tracefs /mnt && exec setpriv --reuid 65534 "
                  "--clear-groups \"$0\" trace -b perf --duration 1s")
        done = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script,
             TIDEMARK], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, "Permission denied\n  hint: .*root")

    def test_bad_words_are_refused_at_once(self):
        for words in (("--report", "nothing"), ("--sample", "3"),
                      ("--order", "x"), ("--throttle", "200"),
                      ("--pid", "-3"), ("-o", "/no/such/folder/file"),
                      ("--backend", "magic"), ("--buf-size", "2048"),
                      ("--buf-size", "-1")):
            done = run("trace", *words, "--duration", "1s", check=False)
            self.assertIn(done.returncode, (1, 2), words)
            self.assertIn("tidemark: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
