"""The measure `vm`: what a watch of fifty VMs costs. README.md says how to read
each row."""

import json
import statistics
import subprocess
import sys
import tempfile
import time

from measuring import MS, ROOT, TIDEMARK, Row

sys.path.insert(0, str(ROOT / "tests" / "live"))
from live import cpu_seconds  # pylint: disable=wrong-import-position
from stand_in import StandIn  # pylint: disable=wrong-import-position

KINDS = ("crosvm", "firecracker", "cloud-hypervisor", "qemu-system-x86_64")
VMS = 50


def watch(seconds):
    """The share of a core, and the milliseconds of each reading but the first
    ones, which read everything."""
    with tempfile.TemporaryFile("w+") as out, subprocess.Popen(
            [TIDEMARK, "vm", "watch", "-d", "1s", "--format", "jsonl"],
            stdout=out) as process:
        try:
            time.sleep(3)
            before, start = cpu_seconds(process.pid), time.monotonic()
            time.sleep(seconds)
            share = (cpu_seconds(process.pid) - before) / (time.monotonic() - start)
        finally:
            process.terminate()
            process.wait()
        out.seek(0)
        reads = [json.loads(line)["read_ns"] / MS for line in out][3:]
    return share, reads


def measure_vm(scale):
    seconds = max(scale(30), 5)
    for silent in (0, 1):
        with tempfile.TemporaryDirectory(prefix="tidemark-bench.") as folder:
            vms = [StandIn(folder, KINDS[i % len(KINDS)],
                           "hang" if i < silent else "ok", f"{folder}/{i}")
                   for i in range(VMS)]
            try:
                for vm in vms:
                    vm.wait_ready()
                share, reads = watch(seconds)
            finally:
                for vm in vms:
                    vm.end()
        words = ", one of them silent" if silent else ""
        yield Row(f"vm watch of {VMS} VMs each second{words}: of a core, smaps "
                  "included", 100 * share, bar=3, unit="%")
        yield Row(f"the same{words}: milliseconds of a reading",
                  statistics.median(reads), min(reads), unit="ms",
                  beside=f"longest {max(reads):.3g} ms")
