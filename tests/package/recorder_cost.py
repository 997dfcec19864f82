#!/usr/bin/env python3
"""What the recorder costs at the defaults of its service: CPU, memory, disk.

  TIDEMARK=build/release/tidemark recorder_cost.py [--minutes N]

Fails when it took more than 2 % of a core. Reads what its unit starts, so that
the two cannot differ.
"""

import argparse
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = os.environ.get("TIDEMARK", str(ROOT / "build/release/tidemark"))
MOST_SHARE = 0.02


def command(folder):
    """The line of the unit, with its variables and its folder filled in."""
    unit = (ROOT / "packaging/systemd/tidemark-record.service.in").read_text()
    start = re.search(r"^ExecStart=((?:.*\\\n)*.*)", unit, re.M)[1].replace("\\\n", " ")
    values = {}
    for line in re.findall(r"^Environment=(.*)$", unit, re.M):
        values |= dict(word.split("=", 1) for word in line.replace("%%", "%").split())
    line = re.sub(r"\$\{?(\w+)\}?", lambda name: values[name[1]], start)
    words = line.replace("%S/tidemark", str(folder)).split()
    return [TIDEMARK, *words[1:]]


def processes():
    return sum(name.isdigit() for name in os.listdir("/proc"))


def resident(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    seconds = parser.parse_args().minutes * 60
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        tool = subprocess.Popen(command(folder))
        most = 0
        while time.monotonic() - began < seconds and tool.poll() is None:
            time.sleep(min(1, seconds))
            most = max(most, resident(tool.pid)) if tool.poll() is None else most
        if tool.poll() is not None:
            sys.exit(f"the recorder ended by itself with {tool.returncode}")
        written = sum(path.stat().st_size for path in pathlib.Path(folder).iterdir())
        tool.send_signal(signal.SIGTERM)
        tool.wait()
        spent = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    print(f"{spent / 60:.1f} minutes, {processes()} processes: {cpu / spent:.2%} of a core, "
          f"{most / 2**20:.1f} MiB resident, {written / 2**20:.1f} MiB written")
    sys.exit(cpu / spent > MOST_SHARE)


if __name__ == "__main__":
    main()
