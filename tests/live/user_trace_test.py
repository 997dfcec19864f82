#!/usr/bin/env python3
"""`trace --user`: known shares of memory by function, as far as they are held."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import TIDEMARK, is_root, public_folder, run
from pprof import Profile, fields
from tracing import Tracer, task_of

WORKLOADS = pathlib.Path(__file__).parents[1] / "workloads"
MIB = 256  # pages


def built(name, compiler, *flags):
    program = f"{public_folder()}/{name.replace('.', '_')}{''.join(flags)}"
    if not os.path.exists(program):
        subprocess.run([compiler, "-O2", "-g0", "-pthread", *flags, "-o", program,
                        WORKLOADS / name], check=True)
    return program


def refusal():
    """Why this machine cannot be asked; empty when it can."""
    if not is_root():
        return "needs root"
    done = run("trace", "--user", "-q", "--", "true", check=False)
    return done.stderr.strip() if done.returncode != 0 else ""


class Stepper:
    """A workload that goes on by a step when it is told to."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.await_done()

    def await_done(self):
        line = self.process.stdout.readline()
        assert line == "done\n", line

    def step(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.await_done()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def nodes(node):
    for child in node.get("stacks", []):
        yield child
        yield from nodes(child)


def share(task, pattern, key="pages"):
    """Pages below the outermost frames of that name."""
    total = 0
    for child in task.get("stacks", []):
        if re.match(pattern, child["symbol"]):
            total += child[key]
        else:
            total += share(child, pattern, key)
    return total


def error_of(report, pages):
    """What is printed, as pages."""
    return 2 * (pages * (report["sample_period"] - 1)) ** 0.5


class UserTrace(unittest.TestCase):
    def setUp(self):
        why = refusal()
        if why:
            self.skipTest(why)

    def expect_shares(self, report, task, truths):
        """Each within twice the printed error, which is to be expected of all but
        one in 16,000; and most within the error itself (19 of 20)."""
        within = 0
        for pattern, truth in truths.items():
            pages = share(task, pattern)
            error = error_of(report, truth)
            print(f"  {pattern}: {pages} of {truth} pages ± {error:.0f}",
                  file=sys.stderr)
            self.assertLess(abs(pages - truth), 2 * error + 64, pattern)
            within += abs(pages - truth) <= error + 64
        self.assertGreaterEqual(within, len(truths) - 1)

    def test_shares_of_a_c_program_and_what_it_gives_back(self):
        with Stepper(built("shares.c", "gcc")) as target:
            with Tracer("--user", "--pid", target.pid, "--json") as tracer:
                target.step()
                report = tracer.json()
            task = task_of(report, target.pid)
            self.expect_shares(report, task, {
                "take_big": 96 * MIB, "take_small": 32 * MIB,
                "fill_stack": 4 * MIB, "write_mapped": 24 * MIB,
                "take_huge": 64 * MIB})
            self.assertEqual(report["lost"], 0)
            self.assertEqual(report["table_full"], 0)
            user = report["user"]
            self.assertLess(user["cut"], user["samples"] * 0.03 + 1)
            self.assertLess(user["unwinding_ns"], report["elapsed_ns"] * 0.5)

    def test_a_dense_sample_says_how_dense_it_stayed(self):
        # More at once than can be unwound in time: it gets rarer, by and by.
        done = run("trace", "--user", "--sample", "8", "--json", "--",
                   built("shares.c", "gcc"), input="\n\n\n")
        report = json.loads(done.stdout[done.stdout.index("{"):])
        task = max(report["tasks"], key=lambda task: task["peak_pages"])
        for pattern, truth in {"take_big": 96 * MIB, "take_small": 32 * MIB}.items():
            pages = share(task, pattern, "machine_peak_pages")
            error = error_of(report, truth)
            print(f"  {pattern}: {pages} of {truth} pages ± {error:.0f}",
                  file=sys.stderr)
            self.assertLess(abs(pages - truth), 3 * error + 64, pattern)

    def test_what_is_freed_is_no_part_of_it(self):
        with Stepper(built("shares.c", "gcc")) as target:
            with Tracer("--user", target.pid, "--json") as tracer:
                target.step()
                target.step()
                # The kernel gives page tables back a moment later (RCU), 48 here.
                time.sleep(0.5)
                report = tracer.json()
            task = task_of(report, target.pid)
            self.assertLessEqual(share(task, "take_big"), report["sample_period"])
            self.assertGreater(share(task, "take_big", "peak_pages"), 48 * MIB)
            self.expect_shares(report, task, {"take_small": 32 * MIB})

    def test_huge_pages_that_are_given_back_page_by_page_are_gone(self):
        with Stepper(built("shares.c", "gcc"), "split") as target:
            with Tracer("--user", target.pid, "--json") as tracer:
                target.step()
                target.step()
                report = tracer.json()
            task = task_of(report, target.pid)
        self.assertGreater(share(task, "take_huge", "peak_pages"), 48 * MIB)
        self.assertLess(share(task, "take_huge"), 1 * MIB)

    def test_a_command_is_shown_as_it_stood_at_its_peak(self):
        done = run("trace", "--user", "--format", "folded", "--",
                   built("shares.c", "gcc"), input="\n\n\n")
        lines = [line for line in done.stdout.splitlines() if ";take_big" in line]
        pages = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
        self.assertGreater(pages, 48 * MIB)
        stack = lines[0].rsplit(" ", 1)[0].split(";")
        words = [re.sub(r"_\[.*", "", frame) for frame in stack]
        self.assertLess(words.index("_start"), words.index("main"))
        self.assertLess(words.index("main"), words.index("take_big"))
        self.assertLess(words.index("take_big"), words.index("[kernel]"))

    def test_shares_of_a_c_plus_plus_program(self):
        done = run("trace", "--user", "--json", "--", built("shares.cc", "g++"),
                   input="\n")
        report = json.loads(done.stdout[done.stdout.index("{"):])
        self.assertTrue(any(node["symbol"].startswith("shop::Table<double>::fill(")
                            for task in report["tasks"] for node in nodes(task)))
        task = max(report["tasks"], key=lambda task: task["peak_pages"])
        for pattern, truth in {r"shop::Table<double>::fill": 64 * MIB,
                               r"shop::Names::grow": 8192}.items():
            pages = share(task, pattern, "machine_peak_pages")
            self.assertLess(abs(pages - truth), 2 * error_of(report, truth) + 256,
                            pattern)

    def test_a_python_program_is_followed_to_its_beginning(self):
        code = "x = bytearray(96 << 20); print('done', flush=True); input()"
        done = run("trace", "--user", "--json", "--", "/usr/bin/python3", "-c", code,
                   input="\n")
        report = json.loads(done.stdout[done.stdout.index("{"):])
        task = max(report["tasks"], key=lambda task: task["peak_pages"])
        started = share(task, "_start$", "machine_peak_pages")
        self.assertGreater(started, 0.95 * task["machine_peak_pages"])
        truth = 96 * MIB
        self.assertLess(abs(share(task, "PyEval_EvalCode", "machine_peak_pages") - truth),
                        2 * error_of(report, truth) + 8 * MIB)

    def test_a_stripped_program_has_places_and_a_build_id(self):
        program = built("shares.c", "gcc", "-s")
        notes = subprocess.run(["readelf", "-n", program], capture_output=True,
                               text=True, check=True).stdout
        build_id = re.search(r"Build ID: (\w+)", notes)[1]
        with Stepper(program) as target, \
                Tracer("--user", target.pid, "--json") as tracer:
            target.step()
            report = tracer.json()
        name = os.path.basename(program)
        image = [i for i in report["user"]["images"] if i["name"] == name]
        self.assertEqual([i.get("build_id") for i in image], [build_id])
        task = task_of(report, target.pid)
        places = [node for node in nodes(task) if node.get("module") == name]
        self.assertTrue(all(node["symbol"] in ("", "_start") for node in places),
                        {node["symbol"] for node in places})
        self.assertTrue(all("address" in node for node in places))
        self.assertGreater(share(task, "__libc_start_main"), 90 * MIB)

    def test_code_made_at_run_time_has_the_name_that_was_left_for_it(self):
        with Stepper(built("shares.c", "gcc"), "jit") as target:
            with Tracer("--user", target.pid, "--json") as tracer:
                target.step()
                report = tracer.json()
            os.unlink(f"/tmp/perf-{target.pid}.map")
        task = task_of(report, target.pid)
        made = [node for node in nodes(task) if node.get("module") == "[jit]"]
        self.assertTrue(made)
        self.assertIn("made_at_run_time", {node["symbol"] for node in made})
        pages = sum(node["pages"] for node in made)
        truth = 48 * MIB
        self.assertLess(abs(pages - truth), 2 * error_of(report, truth) + 64)

    def test_the_same_of_a_command(self):
        path = f"{public_folder()}/jit.json"
        with Stepper(TIDEMARK, "trace", "--user", "-q", "--json", "-o", path, "--",
                     built("shares.c", "gcc"), "jit") as target:
            target.step()
            time.sleep(2)  # it is looked at while it lives
        report = json.loads(pathlib.Path(path).read_text())
        task = max(report["tasks"], key=lambda task: task["peak_pages"])
        os.unlink(f"/tmp/perf-{task['pid']}.map")
        made = [node for node in nodes(task) if node.get("module") == "[jit]"]
        self.assertIn("made_at_run_time", {node["symbol"] for node in made})

    def test_a_profile_names_files_by_their_build_ids(self):
        program = built("shares.c", "gcc")
        path = f"{public_folder()}/user.pb"
        run("trace", "--user", "--format", "pprof", "-o", path, "--", program,
            input="\n\n\n")
        data = pathlib.Path(path).read_bytes()
        profile = Profile(data)
        self.assertTrue(any("take_big" in frames for frames, _ in profile.samples))
        mappings = [dict(fields(value)) for number, value in fields(data)
                    if number == Profile.MAPPING]
        files = {profile.strings[m[5]]: profile.strings[m.get(6, 0)]
                 for m in mappings}
        self.assertRegex(files[program], r"^[0-9a-f]{40}$")

    def test_a_recording_keeps_build_ids_and_errors(self):
        program = built("shares.c", "gcc")
        path = f"{public_folder()}/user.tdm"
        run("trace", "--user", "-q", "--overwrite", "-o", path, "--", program,
            input="\n\n\n")
        report = json.loads(run("trace", path, "--json").stdout)
        task = max(report["tasks"], key=lambda task: task["peak_pages"])
        self.assertGreater(task["machine_peak_error_pages"], 0)
        self.assertGreaterEqual(report["sample_period"], 64)
        profile = f"{public_folder()}/recorded.pb"
        run("export", path, "--to", "pprof", "-q", "--overwrite", "-o", profile)
        data = pathlib.Path(profile).read_bytes()
        strings = Profile(data).strings
        files = {strings[m[5]]: strings[m.get(6, 0)] for m in
                 (dict(fields(value)) for number, value in fields(data)
                  if number == Profile.MAPPING)}
        self.assertRegex(files[program], r"^[0-9a-f]{40}$")

    def test_processes_of_a_few_milliseconds_have_their_functions(self):
        program = built("brief.c", "gcc")
        count = 30
        done = run("trace", "--user", "--sample", "8", "--json", "--", "sh", "-c",
                   f"for i in $(seq {count}); do {program}; done")
        report = json.loads(done.stdout)
        user = report["user"]
        self.assertEqual(report["notes"], [])
        self.assertLess(user["ended_too_soon"], 0.02 * user["samples"] + 1)
        tasks = [task for task in report["tasks"] if program in task["cmdline"]
                 and "seq" not in task["cmdline"]]
        # The sample gets rarer where the machine is busy.
        self.assertGreater(len(tasks), count / 10)
        touched = sum(share(task, "touch_briefly", "peak_pages") for task in tasks)
        self.assertGreater(touched, 0.9 * sum(task["peak_pages"] for task in tasks)
                           - 100 * len(tasks))

    def test_the_kernel_tells_of_files_only_while_programs_are_started(self):
        """All that map files pay for it."""
        program = built("brief.c", "gcc")
        with subprocess.Popen(["sh"], stdin=subprocess.PIPE, text=True,
                              stdout=subprocess.PIPE) as shell, \
                Tracer("--user", shell.pid, "--sample", "8", "--json") as tracer:
            folder = pathlib.Path(f"/proc/{tracer.process.pid}/fd")

            def is_told():
                return any("perf" in os.readlink(link) for link in folder.iterdir())

            deadline = time.monotonic() + 10
            self.assertTrue(is_told())
            while is_told() and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertFalse(is_told())
            shell.stdin.write(f"for i in $(seq 30); do {program}; done; echo done\n")
            shell.stdin.flush()
            self.assertEqual(shell.stdout.readline(), "done\n")
            self.assertTrue(is_told())
            report = tracer.json()
            shell.stdin.close()
        self.assertEqual(report["notes"], [])
        tasks = [task for task in report["tasks"] if program in task["cmdline"]]
        pages = sum(task["peak_pages"] for task in tasks)
        touched = sum(share(task, "touch_briefly", "peak_pages") for task in tasks)
        print(f"  {len(tasks)} programs, {touched} of {pages} pages named",
              file=sys.stderr)
        # Of the first the kernel had not begun to tell.
        self.assertGreater(touched, 0.8 * pages - 100 * len(tasks))

    def test_a_stack_that_grows_has_its_callers(self):
        """Also where nothing but a few words stands beyond its beginning."""
        program = built("brief.c", "gcc", "-static")
        done = run("trace", "--user", "--sample", "8", "--json", "--", "env", "-i",
                   "/bin/sh", "-c", f"i=0; while [ $i -lt 150 ]; do {program};"
                   " i=$((i+1)); done")
        report = json.loads(done.stdout)
        user = report["user"]
        self.assertLess(user["cut"], 0.005 * user["samples"] + 1)
        touched = begun = 0
        for task in report["tasks"]:
            touched += share(task, "touch_briefly", "peak_pages")
            begun += sum(share(child, "touch_briefly", "peak_pages")
                         for child in task["stacks"] if child["symbol"] == "_start")
        self.assertGreater(touched, 0)
        self.assertEqual(begun, touched)

    def test_programs_that_execute_others_are_followed_to_their_beginning(self):
        # Each is three programs one after the other, in a millisecond each; the
        # parent of each is a shell that has just begun itself.
        done = run("trace", "--user", "--sample", "8", "--json", "--", "sh", "-c",
                   "for i in $(seq 25); do sh -c '(env env true); true'; done")
        report = json.loads(done.stdout)
        user = report["user"]
        self.assertGreater(user["samples"], 100)
        self.assertLess(user["cut"], 0.02 * user["samples"] + 1)
        self.assertLess(user["ended_too_soon"], 0.02 * user["samples"] + 1)
        self.assertLess(user["unwinding_ns"], 0.2 * report["elapsed_ns"] + 50e6)
        strangers = {node["symbol"] for task in report["tasks"]
                     for node in nodes(task) if node.get("module") == "[jit]"}
        self.assertEqual(strangers, set())

    def test_names_are_known_of_a_program_that_is_gone_when_they_are_asked_for(self):
        program = f"{public_folder()}/gone"
        shutil.copy(built("shares.c", "gcc"), program)
        with Stepper(program) as target, \
                Tracer("--user", target.pid, "--json") as tracer:
            os.unlink(program)
            target.step()
            # Another one where it was.
            shutil.copy("/bin/true", program)
            report = tracer.json()
        task = task_of(report, target.pid)
        truth = 96 * MIB
        self.assertLess(abs(share(task, "take_big") - truth),
                        2 * error_of(report, truth) + 64)

    def test_run_tells_its_peak_by_function(self):
        path = f"{public_folder()}/run.json"
        run("run", "--user", "--json", "-o", path, "--", built("shares.c", "gcc"),
            input="\n\n\n")
        report = json.loads(pathlib.Path(path).read_text())
        trace = report["trace"]
        held = {function["name"]: function for function in report["functions"]}
        for name, truth in {"take_big": 96 * MIB, "take_small": 32 * MIB,
                            "take_huge": 64 * MIB}.items():
            pages = held[name]["bytes"] // 4096
            self.assertLess(abs(pages - truth), 2 * error_of(trace, truth) + 64, name)
            self.assertGreater(held[name]["error_bytes"], 0)
        # The two tell the same peak, each by its own means.
        by_function = sum(function["bytes"] for function in report["functions"])
        truth = report["peak"]["bytes"] // 4096
        self.assertLess(abs(by_function // 4096 - truth),
                        2 * error_of(trace, truth) + 4 * MIB)
        self.assertTrue(trace["user"]["images"])

    def test_run_has_the_ways_of_trace_for_its_stacks(self):
        program = built("shares.c", "gcc")
        folder = public_folder()
        for name, words in {"run.html": [], "run.folded": ["--format", "folded"],
                            "run.pb": ["--format", "pprof"]}.items():
            run("run", "--user", *words, "-o", f"{folder}/{name}", "--", program,
                input="\n\n\n")
        self.assertIn("</html>", pathlib.Path(f"{folder}/run.html").read_text())
        self.assertIn(";take_big", pathlib.Path(f"{folder}/run.folded").read_text())
        profile = Profile(pathlib.Path(f"{folder}/run.pb").read_bytes())
        self.assertTrue(any("take_big" in frames for frames, _ in profile.samples))
        done = run("run", "--user", "--", program, input="\n\n\n")
        self.assertRegex(done.stderr, r"take_big \[\w+\] +\d")
        for words in (["--format", "folded"], ["--sample", "8"]):
            done = run("run", *words, "--", "true", check=False)
            self.assertEqual(done.returncode, 125)
            self.assertIn("--user", done.stderr)

    def test_what_makes_no_sense_is_refused(self):
        for arguments in (["--user"], ["--user", "--all", "--", "true"],
                          ["--user", "nobody.tdm"]):
            done = run("trace", *arguments, check=False)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("hint", done.stderr)


if __name__ == "__main__":
    unittest.main()
