#!/usr/bin/env python3
"""run: the peak of real commands, and that nothing of us stays behind.

Coverage and cost are bench/run's business; here is what must hold on any
machine, however busy, with bars that leave room for that.
"""

import json
import os
import pathlib
import pty
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

from live import NOBODY, PAGE, TIDEMARK, is_root, memstat, run, workload
from trace_filters_test import memory_group

MIB = 1 << 20


def report_of(*arguments, options=(), check=True, **more):
    """The JSON of a run and the finished process."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        if more.get("user") is not None:
            os.chmod(file.name, 0o666)
        done = run("run", "--json", "-o", file.name, *options, "--", *arguments,
                   check=check, **more)
        return json.load(file), done


def method():
    """What run has to work with here."""
    report, _ = report_of("true")
    return report["method"]


METHOD = method()
NEEDS_ALL = unittest.skipUnless(
    METHOD == "cgroup+bpf", f"needs a cgroup of its own and BPF, has: {METHOD}")


def our_groups():
    return [path for path in pathlib.Path("/sys/fs/cgroup").rglob("tidemark-*")
            if path.is_dir()]


def state_of(pid):
    """The letter of ps; None when there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return None


def wait_for(condition, seconds=5.0):
    """True as soon as it holds; bounded."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


def children_of(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def name_of(pid):
    return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()


class Running:
    """A `tidemark run` under way, its command found by name. All ended by pid."""

    def __init__(self, *arguments, options=(), name="sleep"):
        self.tool = subprocess.Popen(
            [TIDEMARK, "run", *options, "--", *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        self.command = None
        wait_for(lambda: self.find(name))

    def find(self, name):
        try:
            for pid in children_of(self.tool.pid):
                if name_of(pid) == name:
                    self.command = pid
        except FileNotFoundError:
            pass
        return self.command

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in filter(None, (self.command, self.tool.pid)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.tool.communicate()


class Transparent(unittest.TestCase):
    def test_streams_pass_through(self):
        done = run("run", "-q", "--", "sh", "-c", "cat; echo words >&2",
                   input="from standard input")
        self.assertEqual(done.stdout, "from standard input")
        self.assertIn("words\n", done.stderr)

    def test_the_status_is_the_commands(self):
        for command, status in (("exit 0", 0), ("exit 42", 42),
                                ("kill -TERM $$", 128 + signal.SIGTERM),
                                ("kill -KILL $$", 128 + signal.SIGKILL)):
            with self.subTest(command):
                report, done = report_of("sh", "-c", command, check=False)
                self.assertEqual(done.returncode, status)
                self.assertEqual(report["exit_status"], status)

    def test_no_command_and_no_program(self):
        with tempfile.NamedTemporaryFile(mode="w") as script:
            script.write("no program\n")
            script.flush()
            for arguments, status, words in (
                    ([], 125, "no command"),
                    (["--", "/nonexistent/program"], 127, "No such file"),
                    (["--", script.name], 126, "Permission denied"),
                    (["-o", "/nonexistent/report", "--", "true"], 125, "cannot write"),
                    (["--lmit", "1G", "--", "true"], 125, "did you mean '--limit'")):
                with self.subTest(arguments):
                    done = run("run", *arguments, check=False)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertIn(words, done.stderr)
                    self.assertEqual(done.stdout, "")

    def test_options_of_the_command_are_not_ours(self):
        done = run("run", "-q", "echo", "--help", "-o", "x", "--", "--json")
        self.assertEqual(done.stdout, "--help -o x -- --json\n")

    def test_limit(self):
        spike = workload("spike")
        self.assertEqual(run("run", "-q", "--limit", "1G", spike, 1, 1, 1).returncode, 0)
        over = run("run", "-q", "--limit", "1M", spike, 8, 1, 1, check=False)
        self.assertEqual(over.returncode, 10)
        self.assertIn("is over the limit of 1.00 MiB", over.stderr)
        failed = run("run", "-q", "--limit", "1", "sh", "-c", "exit 3", check=False)
        self.assertEqual(failed.returncode, 3, "a failure of its own comes first")

    def test_the_terminal_is_the_commands(self):
        # Foreground and process group: the command reads and is interrupted.
        pid, master = pty.fork()
        if pid == 0:
            os.execv(TIDEMARK, [TIDEMARK, "run", "-q", "--", "cat"])
        try:
            os.write(master, b"typed\n")
            seen = b""
            while seen.count(b"typed") < 2:  # the echo and cat's own
                seen += os.read(master, 1000)
            os.write(master, b"\x03")
            _, status = os.waitpid(pid, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 128 + signal.SIGINT)
        finally:
            os.close(master)

    def test_a_closed_report_does_not_change_the_status(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([TIDEMARK, "run", "--", "sh", "-c", "exit 5"],
                                  stderr=full, timeout=60, check=False)
        self.assertEqual(done.returncode, 5)

    def test_signals_are_handed_on(self):
        script = "trap 'exit 7' USR1; echo ready; while :; do sleep 0.05; done"
        with Running("sh", "-c", script, options=["-q"], name="sh") as running:
            self.assertEqual(running.tool.stdout.readline(), "ready\n")
            running.tool.send_signal(signal.SIGUSR1)
            self.assertEqual(running.tool.wait(timeout=20), 7)


class Peaks(unittest.TestCase):
    def test_parts_add_up_to_the_peak(self):
        report, _ = report_of(workload("spike"), 20, 64, 15)
        made = report["composition"]
        parts = sum(part["bytes"] for part in made["categories"])
        self.assertEqual(parts + made["not_explained_bytes"], made["captured_bytes"])
        self.assertEqual(
            max(report["peak"]["bytes"], made["captured_bytes"]),
            made["captured_bytes"] + made["not_caught_bytes"])
        self.assertAlmostEqual(
            made["coverage"], min(1, made["captured_bytes"] / report["peak"]["bytes"]))

    def test_height_of_a_spike(self):
        for kind in ("", "thp", "grandchild"):
            with self.subTest(kind or "plain"):
                report, _ = report_of(workload("spike"), 20, 64, 15, *kind.split())
                self.assertGreater(report["peak"]["bytes"], 84 * MIB)
                self.assertLess(report["peak"]["bytes"], 90 * MIB)

    @NEEDS_ALL
    def test_coverage_of_spikes(self):
        covered = []
        for _ in range(10):
            report, _ = report_of(workload("spike"), 20, 64, 15)
            covered.append(report["composition"]["coverage"])
        self.assertGreaterEqual(statistics.median(covered), 0.95, covered)
        self.assertGreaterEqual(sum(share >= 0.9 for share in covered), 8, covered)

    @NEEDS_ALL
    def test_exact_peak_has_a_floor(self):
        for _ in range(5):
            report, _ = report_of(workload("spike"), 20, 64, 0, options=["--exact-peak"])
            self.assertGreaterEqual(report["composition"]["coverage"], 0.94)
            self.assertGreater(report["cost"]["stop_count"], 0)

    @NEEDS_ALL
    def test_the_peak_of_a_tree_is_not_the_sum_of_peaks(self):
        spike = workload("spike")
        report, _ = report_of("sh", "-c", f"{spike} 1 40 5; {spike} 1 40 5; {spike} 1 40 5")
        own = sorted(p["peak_rss_bytes"] for p in report["processes"] if p["name"] == "spike")
        self.assertEqual(len(own), 3)
        self.assertGreater(sum(own), 120 * MIB)
        self.assertLess(report["peak"]["bytes"], 60 * MIB)

    @NEEDS_ALL
    def test_own_peak_to_the_page(self):
        for mib in (1, 8, 32):
            report, done = report_of(workload("spike"), 1, mib, 1)
            (only,) = report["processes"]
            _, seen = map(int, done.stdout.split())
            self.assertEqual(only["peak_rss_bytes"] // PAGE, seen)

    @NEEDS_ALL
    def test_what_no_mapping_shows_is_in_the_height(self):
        for kind, label in (("memfd", "shared memory, not mapped"),
                            ("cache", "page cache, not mapped"),
                            ("pipe", "other kernel"),
                            ("shared", "shared memory")):
            with self.subTest(kind), tempfile.TemporaryDirectory() as folder:
                report, _ = report_of(workload("kinds"), kind, 32, cwd=folder)
                self.assertGreater(report["peak"]["bytes"], 32 * MIB)
                parts = {p["label"]: p["bytes"] for p in report["composition"]["categories"]}
                self.assertGreater(parts.get(label, 0), 28 * MIB, parts)

    @NEEDS_ALL
    def test_threads_that_grow_at_once(self):
        report, _ = report_of(workload("kinds"), "threads", 64)
        (only,) = report["processes"]
        self.assertGreaterEqual(
            only["peak_rss_bytes"] + report["peak_error_bytes"], 64 * MIB)


class Processes(unittest.TestCase):
    @NEEDS_ALL
    def test_every_short_process_is_listed_once(self):
        report, _ = report_of(workload("swarm"), 2000)
        listed = [p for p in report["processes"] if p["name"] == "true"]
        self.assertEqual(len(listed), 2000)
        self.assertEqual(len({(p["pid"], p["started_ns"]) for p in listed}), 2000)
        self.assertEqual(report["lost_count"], 0)
        self.assertTrue(report["lists_every_process"])
        for process in listed:
            self.assertGreater(process["peak_rss_bytes"], 0)
            self.assertGreater(process["ended_ns"], process["started_ns"])
            self.assertEqual(process["wait_status"], 0)

    @NEEDS_ALL
    def test_orphans_and_daemons_belong_to_the_tree(self):
        report, _ = report_of(workload("kinds"), "daemon", 8)
        self.assertEqual(report["process_count"], 3)
        self.assertEqual(report["left_running_count"], 1)
        report, _ = report_of(workload("kinds"), "daemon", 8, options=["--wait"])
        self.assertEqual(report["left_running_count"], 0)

    @NEEDS_ALL
    def test_exec_and_new_names_are_followed(self):
        report, _ = report_of(workload("kinds"), "rename", 8)
        (only,) = report["processes"]
        self.assertEqual(only["name"], "renamed")
        self.assertTrue(only["has_execed"])
        self.assertGreater(only["peak_rss_bytes"], 8 * MIB)
        self.assertLess(only["earlier_peak_rss_bytes"], 8 * MIB)

    def test_hostile_names_cannot_act(self):
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/evil\n\x1b[31m\"name"
            os.symlink("/bin/true", program)
            text = run("run", "--", program).stderr
            report, _ = report_of(program)
        self.assertNotIn("\x1b", text)
        self.assertIn("\\x1b[31m", text)
        self.assertEqual(report["exit_status"], 0)


class OutOfTheGroup(unittest.TestCase):
    """A command that leaves the group made for it, as podman and systemd-run
    --scope do, holds memory that the group is not charged for."""

    MIB_HELD = 80

    def setUp(self):
        if not METHOD.startswith("cgroup"):
            self.skipTest(f"needs a cgroup of its own, has: {METHOD}")
        group = memory_group()
        self.addCleanup(group.rmdir)
        self.leaver = ["sh", "-c", 'echo $$ >"$0" && exec "$@"', f"{group}/cgroup.procs",
                       workload("spike"), "1", str(self.MIB_HELD), "500"]

    def assert_noticed(self, report):
        self.assertEqual(report["left_group_count"], 1)
        self.assertIn("left the cgroup", report["notes"][-1])
        self.assertTrue(report["peak"]["is_lower_bound"])
        self.assertGreater(report["peak"]["bytes"], self.MIB_HELD * MIB)
        self.assertLess(report["peak"]["bytes"], (self.MIB_HELD + 8) * MIB)
        self.assertIsNone(report["composition"]["coverage"])
        # What it held is in the picture, which nobody's charge asked for.
        self.assertGreater(report["composition"]["captured_bytes"], self.MIB_HELD * MIB * 0.8)

    def test_is_noticed_and_bounds_the_peak(self):
        for via in {METHOD, "cgroup"}:
            with self.subTest(via):
                report, _ = report_of(*self.leaver, options=["--via", via])
                self.assert_noticed(report)
                self.assertTrue(report["processes"][0]["left_group"])

    def test_children_of_those_outside_are_outside(self):
        shell, _, script, *words = self.leaver
        script = script.replace('exec "$@"', '{ "$@" & wait; }')
        for via in {METHOD, "cgroup"}:
            with self.subTest(via):
                report, _ = report_of(shell, "-c", script, *words, options=["--via", via])
                self.assertEqual(report["left_group_count"], 2)
                self.assertIn("the largest: spike", report["notes"][-1])

    def test_is_a_line_and_no_claim_of_the_full_height(self):
        done = run("run", "--limit", "1G", "--", *self.leaver)
        self.assertRegex(done.stderr, r"peak +(≥|>=) 8\d\.\d MiB")
        self.assertIn("(spike) left the cgroup of the run", done.stderr)
        self.assertIn("the limit does not bind all", done.stderr)
        self.assertNotIn("full height", done.stderr)
        self.assertNotIn("% of the peak", done.stderr)

    def test_is_not_decided_by_a_gate(self):
        done = run("gate", "-q", "-n", "1", "--budget", "50M", "--json", "--", *self.leaver,
                   check=False)
        self.assertEqual(done.returncode, 11, done.stdout)
        self.assertIn("left the cgroup", json.loads(done.stdout)["because"])

    def test_groups_below_its_own_are_no_others(self):
        inner = [TIDEMARK, "run", "-q", "--", workload("spike"), "1", "8", "50"]
        report, _ = report_of(*inner)
        self.assertEqual(report["left_group_count"], 0)
        self.assertFalse(report["peak"]["is_lower_bound"])


class Fallbacks(unittest.TestCase):
    def test_every_method_says_what_it_is(self):
        spike = workload("spike")
        for via in ("cgroup+bpf", "cgroup", "bpf", "sampling"):
            with self.subTest(via):
                report, _ = report_of(spike, 20, 64, 50, options=["--via", via])
                if via == "sampling":
                    self.assertEqual(report["method"], via)
                    self.assertTrue(report["peak"]["is_sampled"])
                self.assertGreater(report["peak"]["bytes"], 70 * MIB)
                self.assertTrue(report["peak"]["source"])

    @unittest.skipUnless(is_root(), "needs root to become somebody else")
    def test_without_any_right(self):
        report, done = report_of(
            workload("spike"), 20, 64, 50, "child", user=NOBODY, group=NOBODY, extra_groups=[],
            cwd="/")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(report["method"], "sampling")
        self.assertGreater(report["peak"]["bytes"], 70 * MIB)
        self.assertFalse(report["lists_every_process"])
        self.assertTrue(any("no BPF" in note for note in report["notes"]))
        text = run("run", "--", "true", user=NOBODY, group=NOBODY, extra_groups=[], cwd="/").stderr
        self.assertIn("≥" if "UTF-8" in os.environ.get("LANG", "") else ">=", text)

    @unittest.skipUnless(is_root(), "needs root to become somebody else")
    def test_what_was_asked_for_and_cannot_be_had_is_an_error(self):
        done = run("run", "--exact-peak", "--", "true", check=False, user=NOBODY,
                   group=NOBODY, extra_groups=[], cwd="/")
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot stop at the peak", done.stderr)


class NothingLeft(unittest.TestCase):
    def assert_clean(self):
        self.assertTrue(wait_for(lambda: not our_groups()), our_groups())

    def test_after_an_ordinary_run(self):
        report_of(workload("swarm"), 50)
        self.assert_clean()

    def test_after_signals_to_the_tool(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name), Running("sleep", 60, options=["-q"]) as running:
                running.tool.send_signal(number)
                self.assertEqual(running.tool.wait(timeout=20), 128 + number)
                self.assertNotIn(state_of(running.command), ("S", "R", "T"))
                self.assert_clean()

    def test_after_the_death_of_the_tool(self):
        for options in ([], ["--freeze"]):
            with self.subTest(options), Running("sleep", 60, options=options) as running:
                running.tool.kill()
                running.tool.wait(timeout=20)
                self.assert_clean()
                self.assertEqual(state_of(running.command), "S", "the command goes on")

    @NEEDS_ALL
    def test_nobody_stays_stopped(self):
        spike = workload("spike")
        for delay in (0.15, 0.2, 0.25, 0.3, 0.35):
            with self.subTest(delay), Running(spike, 1, 600, 400, options=["--exact-peak"],
                                              name="spike") as running:
                time.sleep(delay)
                running.tool.kill()
                running.tool.wait(timeout=20)
                self.assert_clean()
                self.assertTrue(wait_for(
                    lambda: state_of(running.command) in ("R", "S", "D", "Z", None)))

    def test_after_the_death_of_the_command(self):
        with Running("sleep", 60, options=["-q"]) as running:
            os.kill(running.command, signal.SIGKILL)
            self.assertEqual(running.tool.wait(timeout=20), 128 + signal.SIGKILL)
            self.assert_clean()

    @NEEDS_ALL
    def test_a_bystander_is_never_touched(self):
        # It grows beside a tree whose members are stopped at every new high,
        # and notes every SIGCONT and every gap it is not running.
        script = """if True:
            import signal, sys, time
            signal.signal(signal.SIGCONT, lambda *_: (print("continued"), sys.exit(1)))
            held, end = [], time.monotonic() + 3
            while time.monotonic() < end:
                held.append(bytearray(200_000))
                if len(held) > 300: held.clear()
            print("untouched")
        """
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE,
                              text=True) as bystander:
            for _ in range(6):
                report, _ = report_of(workload("spike"), 20, 64, 0, options=["--exact-peak"])
                self.assertNotIn(bystander.pid, [p["pid"] for p in report["processes"]])
            self.assertEqual(bystander.communicate(timeout=60)[0], "untouched\n")


class Memstat(unittest.TestCase):
    def test_flags_may_follow_the_program(self):
        done = memstat("run", "sh", "\\-c", "exit 3", "-v", "--only-peak")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout, r"^\[\d+\] \d+ kB \(sh\)\nTotal: \d+ kB\n"
                                      r"Process exited with code 3\n$")

    def test_totals_while_it_runs_then_the_peak(self):
        done = memstat("run", "sleep", "0.35")
        lines = done.stdout.splitlines()
        self.assertEqual(lines[-2], "Peak:")
        self.assertGreaterEqual(len(lines), 5)
        for line in lines[:-2] + lines[-1:]:
            self.assertRegex(line, r"^Total: \d+ kB$")

    @NEEDS_ALL
    def test_a_burst_between_two_readings_is_the_peak(self):
        done = memstat("run", workload("spike"), "20", "64", "15", "--only-peak", "--bytes", "-r")
        self.assertGreater(int(done.stdout), 75 * MIB)

    def test_output_is_swallowed_unless_redirected(self):
        with tempfile.TemporaryDirectory() as folder:
            done = memstat("run", "-O", f"{folder}/out", "sh", "\\-c", "echo words; echo no >&2")
            self.assertEqual(pathlib.Path(f"{folder}/out").read_text(), "words\n")
            self.assertNotIn("words", done.stdout)
            self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
