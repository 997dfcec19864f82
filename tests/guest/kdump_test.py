#!/usr/bin/env python3
"""Crashes a kernel in QEMU and traces the crash kernel that follows, in the memory
that was set aside for it: with the size one would take, and then with the size that
the report of the first has advised.
"""

import gzip
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest
from tracing import TIDEMARK

HERE = pathlib.Path(__file__).parent
SERIES = "6.1"
FIRST_MIB = 192
DUMP_MIB = 24  # of the dead kernel's memory, kept until it is written away

# In the crash kernel: what a kdump does, in small.
INSIDE = f"""
/bin/tidemark trace --early --refresh 1s --report modules,crash_kernel,peak:top=4 \\
  --ready /run/ready -o /run/report --quiet 2>/run/said 3>&- &
tracer=$!
tries=0
until [ -e /run/ready ]; do
  tries=$((tries + 1))
  [ $tries -lt 300 ] || fail "the trace does not begin: $(cat /run/said)"
  usleep 100000
done
dd if=/proc/vmcore of=/run/dump bs=1M count={DUMP_MIB} 2>/run/said || \\
  fail "no dump: $(cat /run/said)"
cat /proc/meminfo >/run/meminfo
kill -TERM $tracer
wait $tracer
echo $? >/run/ended
cat /run/report >/dev/console
send report /run/report
send ended /run/ended
send meminfo /run/meminfo
send cmdline /proc/cmdline
head -c 4 /run/dump >/run/magic
send magic /run/magic
"""
OUTSIDE = """
cat /sys/kernel/kexec_crash_size >/run/reserved
send reserved /run/reserved
/bin/arm /crash/kernel /crash/initramfs "console=ttyS0 panic=-1 loglevel=4 nr_cpus=1 \\
reset_devices" 2>/run/said || fail "not armed: $(cat /run/said)"
rm -r /crash
echo c >/proc/sysrq-trigger
sleep 60
"""


def crash(reserved_mib):
    """What the crash kernel sent, a guest.Ran."""
    booted = guest.kernel(SERIES)
    inside = guest.initramfs(INSIDE, {"bin/tidemark": pathlib.Path(TIDEMARK)})
    files = {"bin/arm": guest.compiled(HERE / "arm.c"), "crash/kernel": booted.image,
             "crash/initramfs": gzip.compress(inside, 1)}
    ran = guest.run(booted, OUTSIDE, files, seconds=150, memory_mib=512,
                    kernel_arguments=f"crashkernel={reserved_mib}M")
    print(f"crashkernel={reserved_mib}M: crashed, dumped and ended in "
          f"{ran.seconds:.1f} s", file=sys.stderr)
    return ran


class Kdump(unittest.TestCase):
    def check(self, ran, reserved_mib):
        """Returns the advice, in MiB."""
        report = ran.text("report")
        print(report[:4000], file=sys.stderr)
        self.assertEqual(int(ran.text("reserved")), reserved_mib << 20)
        self.assertIn("elfcorehdr=", ran.text("cmdline"))
        self.assertEqual(ran.outputs["magic"], b"\x7fELF")
        self.assertEqual(int(ran.text("ended")), 0)
        self.assertIn("Report format crash_kernel END", ran.console)
        total = int(re.search(r"MemTotal: +(\d+) kB", ran.text("meminfo"))[1])
        # It is in there, and nowhere else.
        self.assertLess(total, reserved_mib << 10)
        return int(re.search(r"^crashkernel=(\d+)M would do", report, re.M)[1])

    def test_a_crash_kernel_of_the_size_it_advises_does_the_same(self):
        try:
            first = crash(FIRST_MIB)
        except guest.Unavailable as reason:
            self.skipTest(str(reason))
        advised = self.check(first, FIRST_MIB)
        self.assertGreater(advised, DUMP_MIB + 32)
        self.assertLess(advised, FIRST_MIB + 64)
        self.check(crash(advised), advised)


if __name__ == "__main__":
    guest.main(SERIES)
