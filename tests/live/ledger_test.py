#!/usr/bin/env python3
"""`ledger` on the machine the test runs on: sums, known memory, what is left."""

import collections
import contextlib
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import NOBODY, PAGE, TIDEMARK, is_root, public_folder, run, run_json, workload

MIB = 1 << 20
PRIVATE_MIB, FORKED_MIB, MEMFD_MIB, FILE_MIB = 53, 29, 17, 23
# A process's own stack, heap and data beside what it was told to hold.
OWN_PAGES = 64
ROUNDS = 20
MANY_FILES = 60_000
ALL_BY = ("class", "cgroup", "process", "file")


@contextlib.contextmanager
def program(*arguments):
    """A workload and the words it has printed; ended by its pid."""
    process = subprocess.Popen(
        [workload("pages"), *map(str, arguments)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield process, process.stdout.readline().split()
    finally:
        # Its children end with it.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()


def hold():
    return program("hold", PRIVATE_MIB, FORKED_MIB, MEMFD_MIB)


def ledger(*arguments):
    return run_json("ledger", *arguments)


def tops(report):
    return [row for row in report["rows"] if row["parent"] is None]


def bytes_of(report, ledger_class, owner=""):
    return sum(row["bytes"] for row in report["rows"]
               if row["class"] == ledger_class and row["owner"] == owner)


def share_of(report, ledger_class):
    return bytes_of(report, ledger_class) / report["total_bytes"]


def meminfo():
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    return {name: int(text.split()[0]) * 1024
            for name, text in (line.split(":") for line in lines)}


def agreement(report):
    stable = (report["mapped_pages"] - report["changed_pages"] -
              report["unreadable_pages"])
    return report["agreeing_pages"] / stable


@functools.cache
def usage_program():
    """A small one: what a child of ours has for a peak begins with our own size."""
    source = pathlib.Path(__file__).resolve().parents[2] / "bench/usage.c"
    program_path = f"{public_folder()}/usage"
    subprocess.run(["cc", "-O2", "-o", program_path, source], check=True)
    return program_path


def peak_bytes(*arguments):
    """The largest resident size of tidemark."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([usage_program(), file.name, TIDEMARK, *arguments],
                       stdout=subprocess.DEVNULL, check=True)
        found = dict(line.split() for line in
                     pathlib.Path(file.name).read_text().splitlines())
    return int(found["max_rss_kib"]) * 1024


def needs_root(test):
    return unittest.skipUnless(is_root(), "without root no page can be seen")(test)


def needs_structs(test):
    def checked(self):
        report = ledger()
        if report["tier"] != "structs":
            self.skipTest(f"the kernel's notes cannot be read: {report['tier_note']}")
        test(self)
    return needs_root(checked)


@needs_root
class Sums(unittest.TestCase):
    def check(self, report):
        sizes, parts = collections.Counter(), collections.Counter()
        for row in report["rows"]:
            self.assertGreater(row["bytes"], 0, row)
            self.assertEqual(row["bytes"] % PAGE, 0, row)
            if row["parent"] is None:
                sizes[row["owner"] or row["class"]] += row["bytes"]
            else:
                parts[row["parent"]] += row["bytes"]
        self.assertEqual(sum(sizes.values()), report["total_bytes"])
        for parent, size in parts.items():
            self.assertEqual(size, sizes[parent], parent)

    def test_add_up_to_the_byte_while_memory_moves(self):
        """Processes are born and die during each walk, files are read."""
        with program("churn", 60), tempfile.TemporaryFile() as file:
            for i in range(ROUNDS):
                file.truncate(0)
                os.pwrite(file.fileno(), bytes(8 * MIB), 0)
                tier = ("--tier", "pages") if i % 3 == 2 else ()
                report = ledger("--by", ALL_BY[i % 4], *tier)
                self.check(report)
                self.assertGreater(report["mapped_pages"], 0)

    def test_the_total_is_the_systems_ram(self):
        frames = 0
        for line in pathlib.Path("/proc/iomem").read_text().splitlines():
            span, name = line.strip().split(" : ")
            if name.startswith("System RAM"):
                first, last = (int(word, 16) for word in span.split("-"))
                frames += max(0, (last + 1) // PAGE - -(-first // PAGE))
        self.assertEqual(ledger()["total_bytes"], frames * PAGE)

    @needs_structs
    def test_almost_all_has_a_name(self):
        report = ledger()
        print(f"unnamed {share_of(report, 'unnamed'):.3%}, "
              f"unstable {share_of(report, 'unstable'):.3%}", file=sys.stderr)
        self.assertLessEqual(share_of(report, "unnamed"), 0.002)

    def test_flags_alone_name_nearly_as_much(self):
        report = ledger("--tier", "pages")
        self.assertEqual(report["tier"], "pages")
        print(f"unnamed {share_of(report, 'unnamed'):.3%} by flags", file=sys.stderr)
        self.assertLessEqual(share_of(report, "unnamed"), 0.01)

    def test_classes_agree_with_the_kernels_counters(self):
        """Within what the counters said before and after, and 0.5 % of RAM."""
        before = meminfo()
        report = ledger()
        after = meminfo()
        anon = sum(bytes_of(report, f"anon-{kind}") for kind in ("private", "shared"))
        slack = 0.005 * report["total_bytes"]
        for name, found, counter in (
                ("anon", anon, lambda info: info["AnonPages"]),
                ("shmem", bytes_of(report, "shmem"), lambda info: info["Shmem"]),
                ("slab", bytes_of(report, "slab"), lambda info: info["Slab"]),
                ("files", bytes_of(report, "file"),
                 lambda info: info["Cached"] + info["Buffers"] - info["Shmem"]),
                ("tables", bytes_of(report, "page-tables"),
                 lambda info: info["PageTables"])):
            told = sorted((counter(before), counter(after)))
            words = f"{name}: {found >> 20} MiB, told {[one >> 20 for one in told]}"
            self.assertGreaterEqual(found, told[0] - slack, words)
            self.assertLessEqual(found, told[1] + slack, words)


@needs_root
class KnownMemory(unittest.TestCase):
    def check_pages(self, found_bytes, mib, more=OWN_PAGES):
        pages = mib * MIB // PAGE
        self.assertGreaterEqual(found_bytes // PAGE, pages - 1)
        self.assertLessEqual(found_bytes // PAGE, pages + more)

    def test_private_and_forked_memory(self):
        with hold() as (_, (_, parent, child)):
            for tier in ("structs", "pages"):
                report = ledger("--tier", tier)
                self.check_pages(
                    bytes_of(report, "anon-private", f"pages ({parent})"), PRIVATE_MIB)
                self.check_pages(
                    bytes_of(report, "anon-shared", "pages × 2"), FORKED_MIB)
                self.assertLess(
                    bytes_of(report, "anon-private", f"pages ({child})"),
                    OWN_PAGES * PAGE)

    @needs_structs
    def test_a_memfd_by_its_name(self):
        with hold():
            self.assertEqual(
                bytes_of(ledger(), "shmem", "/memfd:ledger-known"), MEMFD_MIB * MIB)

    @needs_structs
    def test_a_file_that_was_read_and_closed_by_its_path(self):
        # Beside the tests and not in /tmp, which may be shared memory.
        folder = pathlib.Path(__file__).resolve().parents[2] / "build"
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as name:
            path = os.path.join(name, "read and closed")
            with open(path, "wb") as file:
                file.write(os.urandom(MIB) * FILE_MIB)
                os.fsync(file.fileno())
            with open(path, "rb") as file:
                file.read()
            found = [row for row in ledger()["rows"] if row["owner"] == path]
            self.assertEqual([row["bytes"] for row in found], [FILE_MIB * MIB])
            self.assertIn(found[0]["class"], ("file", "shmem"))

    def test_what_would_come_back(self):
        with hold() as (_, (_, parent, child)):
            both = ledger("--what-if", parent, child)
            one = ledger("--what-if", parent)["what_if"]
            found = both["what_if"]
            self.assertEqual(found["process_count"], 2)
            known = sum(bytes_of(both, ledger_class, owner)
                        for ledger_class, owner in (
                            ("anon-private", f"pages ({parent})"),
                            ("anon-private", f"pages ({child})"),
                            ("anon-shared", "pages × 2")))
            self.assertAlmostEqual(found["anon_bytes"], known, delta=0.01 * known)
            self.check_pages(found["anon_bytes"], PRIVATE_MIB + FORKED_MIB, 2 * OWN_PAGES)
            self.assertEqual(
                found["freed_bytes"], found["anon_bytes"] + found["page_table_bytes"] +
                found["kernel_stack_bytes"] + found["shmem_freed_bytes"])
            # A memfd that nobody maps, and both hold.
            self.assertEqual(found["shmem_freed_bytes"], MEMFD_MIB * MIB)
            self.assertEqual(one["shmem_freed_bytes"], 0)
            self.check_pages(one["anon_bytes"], PRIVATE_MIB)

    def test_by_process_they_have_a_row_together(self):
        with hold() as (_, (_, parent, _)):
            report = ledger("--by", "process")
            mine = next(row["bytes"] for row in tops(report)
                        if row["owner"] == f"pages ({parent})")
            self.check_pages(mine, PRIVATE_MIB, 4 * OWN_PAGES)

    def test_mappers_are_found_as_often_as_the_kernel_says(self):
        """Of pages that keep still, in every run in which 95 % did. Beside
        compilers frames go from hand to hand while they are looked at, and only a
        limited number is looked at twice: such runs are shown and not judged."""
        quiet = 0
        figures = []
        with hold():
            for _ in range(6):
                report = ledger()
                moved = 1 - ((report["agreeing_pages"] + report["unreadable_pages"]) /
                             report["mapped_pages"])
                figures.append(f"{agreement(report):.3%} ({moved:.1%} differed at first)")
                if moved > 0.05:
                    continue
                quiet += 1
                self.assertGreaterEqual(agreement(report), 0.999, figures)
        print("mappers agree:", ", ".join(figures), file=sys.stderr)
        if quiet == 0:
            self.skipTest(f"the machine is too busy to judge: {', '.join(figures)}")


@needs_root
class Samples(unittest.TestCase):
    PAGES = 50_000

    def test_hold_the_truth_as_often_as_they_say(self):
        """Each class within its error of what looks at all pages found before and
        after. Nineteen of twenty are promised; of so few runs nine of ten are asked
        for, all classes together. Counters (error 0) are no estimate."""
        held, missed = 0, []
        before = ledger("--tier", "pages")
        for _ in range(8):
            found = ledger("--sample", self.PAGES)
            after = ledger("--tier", "pages")
            for name in {row["class"] for report in (before, found, after)
                         for row in tops(report)}:
                row = next((row for row in tops(found) if row["class"] == name),
                           {"bytes": 0, "error_bytes": found["unseen_bytes"]})
                if row["error_bytes"] == 0:
                    continue
                low, high = sorted((bytes_of(before, name), bytes_of(after, name)))
                if (row["bytes"] - row["error_bytes"] <= high and
                        low <= row["bytes"] + row["error_bytes"]):
                    held += 1
                else:
                    missed.append((name, row["bytes"], row["error_bytes"], low, high))
            before = after
        share = held / (held + len(missed))
        print(f"samples held {share:.1%}, missed {missed}", file=sys.stderr)
        self.assertGreaterEqual(share, 0.9, missed)

    def test_add_up_and_are_narrow(self):
        report = ledger("--sample", self.PAGES)
        self.assertEqual(sum(row["bytes"] for row in tops(report)), report["total_bytes"])
        self.assertAlmostEqual(report["sampled_pages"], self.PAGES, delta=self.PAGES / 100)
        for row in tops(report):
            self.assertLess(row["error_bytes"], 0.03 * report["total_bytes"], row)


class Manners(unittest.TestCase):
    @needs_root
    def test_an_ordinary_user_is_told_why(self):
        done = run("ledger", check=False, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertIn(done.returncode, (0, 1))
        said = done.stderr + done.stdout
        self.assertRegex(said, "(?i)permission|denied|not permitted|root|CAP_")

    @needs_root
    def test_an_ordinary_user_is_told_what_works_instead(self):
        for options in (["--sample", "1000"], ["--by", "file"], ["--what-if", "1"]):
            done = run("ledger", *options, check=False, user=NOBODY, group=NOBODY,
                       extra_groups=[])
            self.assertEqual(done.returncode, 1, options)
            self.assertEqual(done.stdout, "")
            self.assertIn("kpageflags: Permission denied", done.stderr)
            self.assertIn("hint: only root may look at pages", done.stderr)

    def test_a_sample_does_not_tell_whose_pages_are(self):
        for options in (["--by", "cgroup"], ["--by", "process"], ["--by", "file"],
                        ["--what-if", "1"]):
            done = run("ledger", "--sample", "1000", *options, check=False)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn("a sample tells classes", done.stderr)

    @needs_root
    def test_nothing_is_left_in_the_kernel(self):
        bpftool = shutil.which("bpftool") or "/usr/sbin/bpftool"
        if not os.path.exists(bpftool):
            self.skipTest("no bpftool: package bpftool")

        def ours():
            """Of our programs, by name: others may load some meanwhile."""
            names = {"look_around", "copy_pages", "name_files", "name_caches",
                     "list_stacks", "block", "file_names", "cache_names"}
            found = []
            for kind in ("prog", "map"):
                text = subprocess.run([bpftool, "-j", kind, "list"],
                                      capture_output=True, text=True).stdout
                found += [one["id"] for one in json.loads(text or "[]")
                          if one.get("name") in names]
            text = subprocess.run([bpftool, "-j", "link", "list"],
                                  capture_output=True, text=True).stdout
            found += [one["id"] for one in json.loads(text or "[]")
                      if one.get("target_name") == "task"]
            return found

        before = ours()
        ledger()
        killed = subprocess.Popen([TIDEMARK, "ledger"], stdout=subprocess.DEVNULL)
        try:
            killed.wait(0.3)
        except subprocess.TimeoutExpired:
            killed.kill()
            killed.wait()
        # The kernel lets go a moment after the last descriptor.
        for _ in range(20):
            if set(ours()) <= set(before):
                return
            signal.sigtimedwait([], 0.1)
        self.assertLessEqual(set(ours()), set(before))

    @needs_root
    def test_it_stays_small(self):
        """20 MB and 16 bytes for each mapped page, also with 60,000 files in the
        page cache and with --json, which names them all."""
        folder = pathlib.Path(__file__).resolve().parents[2] / "build"
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as name:
            for i in range(MANY_FILES):
                path = pathlib.Path(name, f"package-{i // 200:04}")
                if i % 200 == 0:
                    path.mkdir()
                (path / f"module_{i % 200:05}_implementation.js").write_bytes(b"x")
            for form in (), ("--json",), ("--json", "--by", "file"):
                report = ledger()
                # By its own name: the folder above may be seen by another.
                mine = [row for row in report["rows"]
                        if f"/{os.path.basename(name)}/" in row["owner"]]
                if report["tier"] == "structs":
                    self.assertGreater(len(mine), 0.9 * MANY_FILES)
                    self.assertEqual(
                        sum(row["bytes"] for row in tops(report)),
                        report["total_bytes"])
                peak = peak_bytes("ledger", *form)
                allowed = 20e6 + 16 * report["mapped_pages"]
                print(f"own memory {peak / 1e6:.1f} MB {' '.join(form)}, "
                      f"{report['mapped_pages']} mapped pages, "
                      f"{len(report['rows'])} rows, "
                      f"allowed {allowed / 1e6:.1f} MB", file=sys.stderr)
                self.assertLessEqual(peak, allowed)


if __name__ == "__main__":
    unittest.main()
