#!/usr/bin/env python3
"""`ps` and `doctor` on the machine the test runs on."""

import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import NOBODY, PAGE, Python, is_root, public_tidemark, run, run_json


class Sums(unittest.TestCase):
    def test_machine_account_closes_to_the_byte(self):
        machine = run_json("ps")["machine"]
        named = machine["processes_bytes"] + sum(o["bytes"] for o in machine["others"])
        self.assertEqual(named + machine["not_explained_bytes"], machine["used_bytes"])

    @unittest.skipUnless(is_root(), "without root most processes are unknown")
    def test_little_is_left_over(self):
        machine = run_json("ps")["machine"]
        # 0.07 % of RAM at rest; other work on the machine moves pages meanwhile.
        self.assertLess(abs(machine["not_explained_bytes"]), machine["total_bytes"] * 0.01)

    def test_pss_of_all_is_within_used_memory(self):
        report = run_json("ps")
        slack = 0.01 * report["machine"]["total_bytes"]
        self.assertLessEqual(
            report["total"]["in_ram_bytes"], report["machine"]["used_bytes"] + slack)

    def test_groups_sum_their_members(self):
        for by in ("cgroup", "parent", "user", "exe", "session", "container"):
            report = run_json("ps", "--by", by)
            top = [g for g in report["groups"] if g["parent_id"] is None]
            loose = [p for p in report["processes"] if p["group_id"] is None]
            self.assertEqual(
                sum(row["in_ram_bytes"] or 0 for row in top + loose),
                report["total"]["in_ram_bytes"], by)

    def test_every_process_once(self):
        with Python("") as target:
            for by in ("cgroup", "parent", "user", "exe", "session", "container"):
                pids = [p["pid"] for p in run_json("ps", "--by", by)["processes"]]
                self.assertEqual(pids.count(target.pid), 1, by)
                self.assertEqual(len(pids), len(set(pids)), by)


class Groups(unittest.TestCase):
    def test_unmapped_memfd_is_unseen(self):
        """What the kernel charged to a group and no process of it maps."""
        root = "/sys/fs/cgroup/memory" if os.path.isdir("/sys/fs/cgroup/memory") else "/sys/fs/cgroup"
        group = os.path.join(root, f"tidemark-test-{os.getpid()}")
        try:
            os.mkdir(group)
        except OSError as error:
            self.skipTest(f"no cgroup can be made: {error}")
        try:
            script = f"""
                import os
                fd = os.memfd_create("unmapped")
                os.write(fd, b"x" * (5003 * {PAGE}))
            """
            def join():
                with open(os.path.join(group, "cgroup.procs"), "w") as file:
                    file.write("0")

            with Python(script, preexec_fn=join) as target:
                groups = run_json("ps")["groups"]
                mine = next(g for g in groups if g["key"].endswith(os.path.basename(group)))
                name = "memory.usage_in_bytes" if "memory" in root else "memory.current"
                with open(os.path.join(group, name)) as file:
                    charged = int(file.read())
                self.assertAlmostEqual(mine["charged_bytes"], charged, delta=1 << 20)
                self.assertEqual(
                    mine["unseen_bytes"], mine["charged_bytes"] - mine["pss_bytes"])
                # Shared library pages it maps were charged to others: up to
                # some MiB less.
                self.assertGreater(mine["unseen_bytes"], 5003 * PAGE - (4 << 20))
                self.assertLess(mine["unseen_bytes"], 5003 * PAGE + (16 << 20))
                self.assertGreaterEqual(mine["peak_bytes"], 5003 * PAGE)
                by_path = run_json("ps", "--job", mine["key"])
                self.assertEqual([p["pid"] for p in by_path["processes"]], [target.pid])
        finally:
            os.rmdir(group)


class Privileges(unittest.TestCase):
    @unittest.skipUnless(is_root(), "needs root to become another user")
    def test_unprivileged_user_sees_all_and_knows_what_is_missing(self):
        report = run_json("ps", user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertGreater(report["unknown_process_count"], 0)
        denied = [p for p in report["processes"] if p["state"] == "denied"]
        self.assertTrue(all(p["pss_bytes"] is None and p["rss_bytes"] is not None
                            for p in denied))
        self.assertIn("pss_bytes", report["total"]["lower_bounds"])

    def test_works_in_a_container_without_privilege(self):
        if not shutil.which("unshare"):
            self.skipTest("no unshare here")
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if is_root() else {}
        done = subprocess.run(
            ["unshare", "--user", "--pid", "--mount-proc", "--fork", public_tidemark(), "ps", "--json"],
            capture_output=True, text=True, timeout=60, **options)
        if "unshare:" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["process_count"], 1)
        self.assertGreater(report["processes"][0]["pss_bytes"], 0)


class Details(unittest.TestCase):
    def test_descriptors_are_counted_by_type(self):
        script = """
            import os, socket
            pipes = [os.pipe() for _ in range(3)]
            sockets = [socket.socket() for _ in range(5)]
            memfd = os.memfd_create("counted")
        """
        with Python(script) as target:
            rows = run_json("ps", "--fds")["processes"]
        row = next(r for r in rows if r["pid"] == target.pid)
        self.assertEqual(row["descriptors"]["socket"], 5)
        self.assertEqual(row["descriptors"]["memfd"], 1)
        self.assertGreaterEqual(row["descriptors"]["pipe"], 6)

    def test_threads_are_listed(self):
        script = """
            import threading
            for _ in range(4):
                threading.Thread(target=threading.Event().wait, daemon=True).start()
        """
        with Python(script) as target:
            rows = run_json("ps", "-T")["processes"]
        row = next(r for r in rows if r["pid"] == target.pid)
        self.assertEqual(len(row["threads"]), 5)

    def test_ps_sees_processes_that_come_and_go(self):
        churn = subprocess.Popen(
            ["bash", "-c", "for i in {1..400}; do /bin/true; done"])
        try:
            for _ in range(20):
                run_json("ps")
        finally:
            churn.kill()
            churn.wait()


class Doctor(unittest.TestCase):
    def test_json_names_a_tier_and_leaves_nothing_behind(self):
        before = sorted(os.listdir("/proc/self/fd"))
        report = run_json("doctor")
        self.assertEqual(report["schema"], "tidemark.doctor/1")
        self.assertEqual(sorted(os.listdir("/proc/self/fd")), before)


if __name__ == "__main__":
    unittest.main()
