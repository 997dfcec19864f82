#!/usr/bin/env python3
"""What is shipped for Prometheus and Grafana: rules that promtool takes and that
fire where they should, a dashboard whose questions can be asked and are about
families that there are."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARE = ROOT / "share/tidemark"
RULES = sorted((SHARE / "prometheus").glob("*.yml"))
DASHBOARD = json.loads((SHARE / "grafana/tidemark-dashboard.json").read_text())


def promtool(*arguments):
    return subprocess.run(["promtool", *map(str, arguments)], capture_output=True,
                          text=True, check=False)


def expressions():
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def families():
    """Every name in the sources that is one of a family, and what rules make."""
    source = "".join(p.read_text() for p in (ROOT / "src").rglob("metric*.*"))
    recorded = "".join(p.read_text() for p in RULES)
    return (set(re.findall(r'"(tidemark_[a-z_]+)"', source))
            | set(re.findall(r"record: (\S+)", recorded)))


@unittest.skipUnless(shutil.which("promtool"), "prometheus is not installed")
class Rules(unittest.TestCase):
    def test_are_rules(self):
        done = promtool("check", "rules", "--lint=all", "--lint-fatal", *RULES)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_fire_where_they_should(self):
        done = promtool("test", "rules", ROOT / "tests/metrics/rules_test.yml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_questions_of_the_dashboard_can_be_asked(self):
        rules = [{"record": f"panel:{i}:x", "expr": expression.replace(
            "$__rate_interval", "5m")} for i, (_, expression) in enumerate(expressions())]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "panels", "rules": rules}]}, file)
            file.flush()
            done = promtool("check", "rules", file.name)
        self.assertEqual(done.returncode, 0, done.stderr)


class Names(unittest.TestCase):
    def test_what_is_asked_for_is_there(self):
        there = families()
        self.assertGreater(len(there), 30)
        text = "".join(p.read_text() for p in RULES) + json.dumps(DASHBOARD)
        for name in set(re.findall(r"(?:[a-z]+:)?\btidemark_[a-z0-9_]+(?::[a-z0-9_]+)?", text)):
            if name.startswith("tidemark_") or ":" in name:
                self.assertIn(name, there)

    def test_panels_are_apart_and_have_titles(self):
        self.assertEqual(len({p["id"] for p in DASHBOARD["panels"]}),
                         len(DASHBOARD["panels"]))
        taken = set()
        for panel in DASHBOARD["panels"]:
            self.assertTrue(panel["title"])
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24)
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells


if __name__ == "__main__":
    sys.exit(unittest.main())
