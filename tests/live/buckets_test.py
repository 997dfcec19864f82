#!/usr/bin/env python3
"""`buckets` on the machine the test runs on."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from graph_test import HOSTILE_SCRIPT, PAGES
from live import NOBODY, PAGE, Python, is_root, public_folder, run, run_json


class Buckets(unittest.TestCase):
    def rules(self, *rules):
        file = tempfile.NamedTemporaryFile(
            "w", dir=public_folder(), suffix=".json", delete=False)
        with file:
            json.dump(rules, file)
        self.addCleanup(os.unlink, file.name)
        os.chmod(file.name, 0o644)
        return file.name

    def test_lines_add_up_to_ram(self):
        report = run_json("buckets", "-q")
        self.assertEqual(
            sum(b["bytes"] for b in report["buckets"]), report["total_bytes"])
        self.assertEqual([b["name"] for b in report["buckets"][-4:]],
                         ["Undigested", "Orphaned", "Kernel", "Free"])
        sizes = [b["bytes"] for b in report["buckets"][:-4]]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertTrue(all(b["bytes"] >= 0 for b in report["buckets"]))

    @unittest.skipUnless(is_root(), "needs root to become somebody else")
    def test_lines_add_up_to_ram_without_root(self):
        report = run_json("buckets", "-q", user=NOBODY, group=NOBODY,
                          extra_groups=[])
        self.assertEqual(
            sum(b["bytes"] for b in report["buckets"]), report["total_bytes"])

    def test_rule_takes_an_object_of_known_size(self):
        with Python(HOSTILE_SCRIPT) as target:
            rules = self.rules(
                {"name": "mine", "process": r'a"\\n.*', "vmo": r"/memfd:a.*"})
            report = run_json("buckets", "-q", "--rules", rules)
            self.assertEqual(report["buckets"][0]["name"], "mine")
            self.assertEqual(report["buckets"][0]["bytes"], PAGES * PAGE)
            self.assertEqual(report["buckets"][0]["process_count"], 1)
            listed = run_json("buckets", "-q", "--undigested", "--rules",
                              rules)["undigested"]
            self.assertTrue(any(o["pid"] == target.pid for o in listed))

    def test_default_rules_know_python(self):
        with Python(f"x = b'x' * ({PAGES} * {PAGE})"):
            report = run_json("buckets", "-q")
            python = next(b for b in report["buckets"] if b["name"] == "Python")
            self.assertGreaterEqual(python["bytes"], PAGES * PAGE)

    def test_csv_and_text_say_the_same_lines(self):
        lines = run("buckets", "-q", "--csv").stdout.splitlines()
        self.assertEqual(lines[0],
                         "time,name,kind,bytes,object_count,process_count")
        self.assertIn(",Free,free,", lines[-1])
        self.assertIn("sum: all RAM", run("buckets", "-q").stdout)

    def test_catastrophic_pattern_ends(self):
        with Python("""
            import ctypes
            ctypes.CDLL(None).prctl(15, b"aaaaaaaaaaaaaaa", 0, 0, 0)
        """):
            rules = self.rules({"name": "slow", "process": "((a+)+)+b",
                                "vmo": "((.*)*)*x"})
            run("buckets", "-q", "--rules", rules)


if __name__ == "__main__":
    unittest.main()
