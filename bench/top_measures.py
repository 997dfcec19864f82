"""The measure `top`: how soon a key is drawn, and what keeping it open costs.
README.md says how to read each row."""

import contextlib
import fcntl
import os
import pty
import re
import select
import statistics
import struct
import sys
import tempfile
import termios
import time

from measuring import MS, ROOT, TIDEMARK, Row

sys.path.insert(0, str(ROOT / "tests" / "live"))
from live import cpu_seconds  # pylint: disable=wrong-import-position

PROCESSES = 5000
MAPPINGS = 20  # of each
KEYS = (
    ("g: another grouping", b"g"), ("s: another order", b"s"),
    ("S: the other way round", b"S"), ("down", b"\x1bOB"),
    ("a page down", b"\x1b[6~"), ("the end", b"\x1bOF"),
    ("the begin", b"\x1bOH"), ("down", b"\x1bOB"), ("close", b"\x1bOD"),
    ("open", b"\x1bOC"), ("find", b"/work\r"), ("filter", b"Fwork\r"),
    ("no filter", b"F\r"), ("machine", b"2"), ("objects", b"3"),
    ("timeline", b"5"), ("processes", b"1"), ("help", b"?"),
    ("no help", b"?"),
)


class Terminal:
    """`top` on a pseudo-terminal of 132 x 40."""

    def __init__(self, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
            os.execv(TIDEMARK, [TIDEMARK, "top", *words])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 40, 132, 0, 0))

    def end(self):
        with contextlib.suppress(OSError):
            os.write(self.fd, b"q")
            while os.read(self.fd, 1 << 16):
                pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)

    def read_for(self, seconds):
        """What is drawn until nothing is for so long."""
        drawn = b""
        while select.select([self.fd], [], [], seconds)[0]:
            drawn += os.read(self.fd, 1 << 16)
        return drawn

    def wait_for(self, text, seconds=120):
        drawn, until = b"", time.monotonic() + seconds
        while text not in drawn:
            if time.monotonic() > until:
                raise TimeoutError(f"{text} was not drawn")
            drawn += self.read_for(0.2)

    def milliseconds_of(self, keys):
        """From the last key to the first thing that is drawn after it."""
        os.write(self.fd, keys[:-1] if len(keys) > 3 else b"")
        self.read_for(0.02)
        start = time.monotonic_ns()
        os.write(self.fd, keys[-1:] if len(keys) > 3 else keys)
        if not select.select([self.fd], [], [], 2)[0]:
            return None  # nothing changed on the screen
        took = (time.monotonic_ns() - start) / MS
        self.read_for(0.02)
        return took


def smaps_of(pid):
    lines = []
    for i in range(MAPPINGS):
        start = 0x10000000 + i * 0x100000
        lines.append(f"{start:x}-{start + 0x40000:x} rw-p 00000000 00:00 0 \n"
                     "Size: 256 kB\nRss: 128 kB\nPss: 96 kB\n"
                     "Shared_Clean: 64 kB\nShared_Dirty: 0 kB\n"
                     "Private_Clean: 0 kB\n"
                     f"Private_Dirty: {64 + pid % 64} kB\nSwap: 0 kB\n"
                     "SwapPss: 0 kB\nVmFlags: rd wr mr mw me ac\n")
    return "".join(lines)


def make_tree(folder):
    """A proc tree of many processes, the machine's files copied from here."""
    for name in ("meminfo", "stat", "vmstat", "zoneinfo", "cgroups"):
        with contextlib.suppress(OSError), open(f"/proc/{name}", "rb") as file:
            with open(os.path.join(folder, name), "wb") as copy:
                copy.write(file.read())
    for i in range(PROCESSES):
        pid = 1000 + i
        place = os.path.join(folder, str(pid))
        os.mkdir(place)
        parent = 1 if i < 10 else 1000 + i // 10
        texts = {
            "stat": f"{pid} (worker-{i % 300}) S {parent} 1 1 0 -1 4194304 "
                    f"1 0 2 0 1 2 0 0 20 0 1 0 {100 + i} 4096 10\n",
            "statm": "6000 800 3 1 0 20 0\n",
            "status": f"Name:\tworker-{i % 300}\nUid:\t{i % 20}\t0\t0\t0\n"
                      "VmHWM:\t4000 kB\nVmRSS:\t3200 kB\nThreads:\t1\n",
            "cmdline": f"/usr/bin/worker-{i % 300}\0--number={i}\0",
            "cgroup": f"0::/system.slice/service-{i % 200}.service\n",
            "smaps": smaps_of(pid),
        }
        for name, text in texts.items():
            with open(os.path.join(place, name), "w", encoding="ascii") as file:
                file.write(text)


def measure_keys(rounds):
    times = {}
    with tempfile.TemporaryDirectory(prefix="tidemark-bench.") as folder:
        make_tree(folder)
        terminal = Terminal("--proc", folder, "--allow-stall")
        try:
            terminal.wait_for(b"5,000")
            for _ in range(rounds):
                for name, keys in KEYS:
                    took = terminal.milliseconds_of(keys)
                    if took is not None:
                        times.setdefault(name, []).append(took)
        finally:
            terminal.end()
    return times


def measure_open(seconds, count, sleepers):
    """CPU and memory of `top` beside so many processes."""
    others = sum(name.isdigit() for name in os.listdir("/proc"))
    with sleepers(max(count - others, 0)):
        terminal = Terminal()
        try:
            until = time.monotonic() + 15
            while time.monotonic() < until:
                terminal.read_for(0.5)
            before, start = cpu_seconds(terminal.pid), time.monotonic()
            while time.monotonic() < start + seconds:
                terminal.read_for(0.5)
            share = (cpu_seconds(terminal.pid) - before) / \
                (time.monotonic() - start)
            with open(f"/proc/{terminal.pid}/status", encoding="ascii") as file:
                status = file.read()
        finally:
            terminal.end()
    rss, peak = (int(re.search(name + r":\s+(\d+)", status).group(1)) / 1024
                 for name in ("VmRSS", "VmHWM"))
    return share, rss, peak


def measure_top(scale, sleepers):
    times = measure_keys(max(scale(10), 3))
    for name, all_ms in times.items():
        yield Row(f"{PROCESSES} processes, {PROCESSES * MAPPINGS} mappings, "
                  f"key to drawn: {name}", statistics.median(all_ms),
                  min(all_ms), bar=50, unit="ms",
                  beside=f"longest {max(all_ms):.3g} ms")
    share, rss, peak = measure_open(max(scale(60), 10), 300, sleepers)
    yield Row("open beside 300 processes, each second: of a core", 100 * share,
              bar=3, unit="%", beside=f"RSS {rss:.1f} MiB, highest {peak:.1f}")
