#!/usr/bin/env python3
"""`trace` where a kernel gives less than it could: CPUs that are offline or go
so while it traces, and lockdown; in a guest of Debian's 6.1.
"""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest
from tracing import TIDEMARK

BACKENDS = ("bpf", "perf", "ftrace")
TAKEN_PAGES = 1024  # by dd for its buffer

SCRIPT = f"""
mount -t securityfs securityfs /sys/kernel/security
cpu=/sys/devices/system/cpu/cpu1/online
take="/bin/busybox dd if=/dev/zero of=/dev/null bs={TAKEN_PAGES * 4}k count=1"
echo "$take; echo 0 >$cpu; $take; echo 1 >$cpu; exec $take" >/run/toggle
echo 0 >$cpu
for backend in {' '.join(BACKENDS)}; do
  show offline_$backend /bin/tidemark trace --json -b $backend -- $take
done
echo 1 >$cpu
for backend in {' '.join(BACKENDS)}; do
  show toggled_$backend /bin/tidemark trace --json -b $backend -- /bin/sh /run/toggle
done
show online cat $cpu
for level in integrity confidentiality; do
  echo $level >/sys/kernel/security/lockdown || fail "no lockdown"
  show $level /bin/tidemark trace --json -- $take
  for backend in {' '.join(BACKENDS)}; do
    show ${{level}}_$backend /bin/tidemark trace --json -b $backend -- $take
  done
done
"""


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            booted = guest.kernel("6.1")
            cls.ran = guest.run(booted, SCRIPT, {"bin/tidemark": pathlib.Path(TIDEMARK)},
                                seconds=250, qemu_arguments=("-smp", "2"))
        except guest.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        print(f"Linux {booted.version} booted, did all and ended in "
              f"{cls.ran.seconds:.1f} s", file=sys.stderr)

    def expect_taken(self, name):
        report = json.loads(self.ran.output(name))
        self.assertGreaterEqual(report["peak_pages"], TAKEN_PAGES, name)
        self.assertLess(report["peak_pages"], TAKEN_PAGES * 1.5, name)
        return report

    def test_an_offline_cpu_is_no_hindrance(self):
        for backend in BACKENDS:
            report = self.expect_taken(f"offline_{backend}")
            self.assertEqual(report["backend"], backend)

    def test_a_cpu_may_go_and_come_back(self):
        self.assertEqual(self.ran.output("online"), "1\n")
        for backend in BACKENDS:
            report = self.expect_taken(f"toggled_{backend}")
            self.assertEqual(report["lost"], 0, backend)

    def test_lockdown_for_integrity_leaves_all_means(self):
        self.expect_taken("integrity")
        for backend in BACKENDS:
            self.expect_taken(f"integrity_{backend}")

    def test_lockdown_for_confidentiality_leaves_perf(self):
        """What else is asked for is refused in a sentence."""
        report = self.expect_taken("confidentiality")
        self.assertEqual(report["backend"], "perf")
        self.assertIn("not by bpf: ", report["notes"][0])
        for backend in ("bpf", "ftrace"):
            name = f"confidentiality_{backend}"
            said = self.ran.text(f"{name}.stderr")
            print(f"  {backend}: {said.strip()}", file=sys.stderr)
            self.assertEqual(self.ran.status(name), 1, said)
            self.assertTrue(said.startswith("tidemark: "), said)


if __name__ == "__main__":
    guest.main("6.1")
