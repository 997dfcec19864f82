#!/usr/bin/env python3
"""`treemap` on the machine the test runs on."""

import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from graph_test import HOSTILE_SCRIPT, PAGES
from live import NOBODY, PAGE, TIDEMARK, Python, is_root, run, run_json


def boxes(node, above=()):
    """Every box with the ones it is in."""
    yield node, above
    for child in node.get("children", []):
        yield from boxes(child, (*above, node))


class Treemap(unittest.TestCase):
    def expect_sums(self, report):
        for node, _ in boxes(report["tree"]):
            self.assertGreaterEqual(node["bytes"], 0)
            children = node.get("children", [])
            if children:
                self.assertEqual(sum(c["bytes"] for c in children),
                                 node["bytes"], node["name"])
        self.assertEqual(report["tree"]["bytes"], report["total_bytes"])

    def test_pipe_and_machine_are_drawn_alike(self):
        with Python(HOSTILE_SCRIPT) as target:
            captured = run("graph", "-v", "-q").stdout
            piped = json.loads(
                run("treemap", "--json", "-", input=captured).stdout)
            live = run_json("treemap")
            total = next(r["size_bytes"] for r in json.loads(captured)
                         if r.get("id") == "kernel/physmem")
            self.assertEqual(piped["total_bytes"], total)
            for report in (piped, live):
                self.expect_sums(report)
                mine, above = next(
                    (node, above) for node, above in boxes(report["tree"])
                    if node.get("pid") == target.pid)
                self.assertEqual(mine["kind"], "process")
                self.assertIn("kernel/vmo", [n.get("id") for n in above])
                memory = next(c for c in mine["children"]
                              if c["name"].startswith("/memfd:"))
                self.assertEqual(memory["bytes"], PAGES * PAGE)

    def test_real_pipe_to_a_picture(self):
        with subprocess.Popen([TIDEMARK, "graph", "-v", "-q"],
                              stdout=subprocess.PIPE) as graph:
            done = subprocess.run(
                [TIDEMARK, "treemap", "-", "--width", "100"], timeout=60,
                stdin=graph.stdout, capture_output=True, check=False,
                env=os.environ | {"LC_ALL": "C.UTF-8"})
        self.assertEqual((graph.returncode, done.returncode), (0, 0),
                         done.stderr)
        lines = done.stdout.decode().splitlines()
        picture = lines[:30]
        self.assertTrue(all(len(line) == 100 for line in picture), picture)
        self.assertTrue(picture[0].startswith("┌ physmem "))
        self.assertTrue(any(line.startswith("sum: ") for line in lines))

    def test_zoom_by_pid_draws_one_process(self):
        with Python(HOSTILE_SCRIPT) as target:
            report = run_json("treemap", "--zoom", target.pid)
            self.assertEqual(report["tree"]["pid"], target.pid)
            self.expect_sums(report)
            text = run("treemap", "--zoom", target.pid, "--color",
                       "never").stdout
            self.assertNotIn("\x1b", text)

    @unittest.skipUnless(is_root(), "needs root to become somebody else")
    def test_sums_hold_without_root_by_each_measure(self):
        for measure in ("pss", "private", "swap"):
            with self.subTest(by=measure):
                self.expect_sums(run_json(
                    "treemap", "--by", measure, user=NOBODY, group=NOBODY,
                    extra_groups=[]))

    def test_hundred_thousand_records(self):
        records = [
            {"id": "kernel/physmem", "type": "kernel", "parent": "",
             "name": "physmem", "size_bytes": 10**8},
            {"id": "kernel/vmo", "type": "kernel", "parent": "kernel/physmem",
             "name": "vmo", "size_bytes": 10**8},
            {"id": "j/1", "type": "j", "parent": "kernel/vmo", "name": "root",
             "koid": 1}]
        records += [
            {"id": f"p/{i}", "type": "p", "parent": "j/1", "name": f"n{i}",
             "koid": i, "private_bytes": i % 977, "shared_bytes": 0,
             "pss_bytes": i % 977} for i in range(2, 100_002)]
        records[3]["pss_bytes"] = 10**7  # one that can be seen among them
        text = json.dumps(records)
        report = json.loads(run("treemap", "--json", "-", input=text).stdout)
        self.expect_sums(report)
        self.assertEqual(report["process_count"], 100_000)
        self.assertIn("other (", run("treemap", "-", input=text).stdout)


if __name__ == "__main__":
    unittest.main()
