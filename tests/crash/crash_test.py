#!/usr/bin/env python3
"""kill -9 costs a recording a second at most, whenever it comes.

Kills `tidemark record` at random times and in the middle of chosen storage
calls (kill_at.c), also while it ends, and looks at what is left: our reader
opens it, SQLite finds it sound, no tick is missing, and everything older than a
second is there. The same harness must break the files of a writer that is
careless as memory-watcher's is, or it would prove nothing.

  crash_test.py [--kills N] [--seed N]
"""

import argparse
import contextlib
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TIDEMARK = os.environ.get("TIDEMARK", "tidemark")
HERE = pathlib.Path(__file__).parent
PERIOD = "20ms"
# What may be lost: a second of samples, and the commit that was under way.
LOST_SECONDS = 1.0
COMMIT_SECONDS = 0.5

# Memory that is never the same, in many mappings.
RESTLESS = """
import ctypes, mmap, random, sys, time
P = mmap.PAGESIZE
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
wheres = [libc.mmap(None, 24 * P, 3, 0x22, -1, 0) for i in range(60)]
for where in wheres:
    libc.mmap(where + 23 * P, P, 0, 0x32, -1, 0)
print("ready", flush=True)
while True:
    where = random.choice(wheres)
    libc.madvise(where, 23 * P, 4)
    for i in range(random.randrange(1, 23)):
        ctypes.c_char.from_address(where + i * P).value = b"x"
    time.sleep(0.002)
"""

# A writer whose journal is in memory and who never syncs; a tick is 20 rows.
CARELESS = """
import sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
base.execute("PRAGMA page_size=1024")
base.execute("PRAGMA journal_mode=MEMORY")
base.execute("PRAGMA synchronous=OFF")
base.execute("CREATE TABLE data(tick INT, no INT, text TEXT, PRIMARY KEY(no, tick)) WITHOUT ROWID")
for tick in range(100000):
    base.execute("BEGIN")
    for no in range(20):
        base.execute("INSERT INTO data VALUES(?,?,?)", (tick, no, "x" * (tick * 7 % 200)))
    base.execute("COMMIT")
"""


class Harness:
    def __init__(self, folder, seed):
        self.folder = folder
        self.random = random.Random(seed)
        self.shim = folder / "kill_at.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", self.shim,
                        HERE / "kill_at.c", "-ldl"], check=True)
        self.file = folder / "a.tdm"
        self.log = folder / "death"
        self.go = folder / "go"
        self.work = subprocess.Popen([sys.executable, "-S", "-E", "-c", RESTLESS],
                                     stdout=subprocess.PIPE, text=True)
        if self.work.stdout.readline() != "ready\n":
            raise SystemExit("the workload did not start")
        self.kills = 0
        self.empty = 0
        self.oldest = 0.0
        self.faults = []

    def end(self):
        self.work.kill()
        self.work.communicate()

    def clean(self):
        for path in self.folder.glob("a.tdm*"):
            path.unlink()
        for path in (self.log, self.go):
            path.unlink(missing_ok=True)

    def settings(self, call, part, waits=False):
        return {**os.environ, "LD_PRELOAD": str(self.shim), "KILL_AT_FILE": "a.tdm",
                "KILL_AT_CALL": str(call), "KILL_AT_PART": str(part),
                "KILL_AT_FROM": str(self.go) if waits else "",
                "KILL_AT_LOG": str(self.log)}

    def record(self, env=None):
        self.clean()
        return subprocess.Popen(
            [TIDEMARK, "record", "-q", "-o", str(self.file), "-f", PERIOD,
             "--budget", "none", str(self.work.pid)], env=env, stderr=subprocess.PIPE)

    # ---- kills ----

    def kill_at_random(self):
        tool = self.record()
        time.sleep(self.random.uniform(0.0, 3.0))
        died = time.monotonic()
        tool.send_signal(signal.SIGKILL)
        tool.communicate()
        self.judge("at random", died)

    def kill_in_call(self, most):
        call = self.random.randint(1, most)
        part = self.random.randint(0, 3)
        tool = self.record(self.settings(call, part))
        self.await_death(tool, f"in call {call} of about {most}, {part}/4 done")

    def kill_at_end(self, most):
        call = self.random.randint(1, most)
        part = self.random.randint(0, 3)
        tool = self.record(self.settings(call, part, waits=True))
        time.sleep(self.random.uniform(0.5, 1.6))
        self.go.touch()
        tool.send_signal(signal.SIGINT)
        self.await_death(tool, f"while ending, in call {call} of about {most}, {part}/4 done")

    def await_death(self, tool, how):
        try:
            tool.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            tool.send_signal(signal.SIGKILL)  # there were fewer calls this time
            tool.communicate()
        died = time.monotonic()
        if tool.returncode == -signal.SIGKILL and self.log.exists():
            died = int(self.log.read_text() or 0) / 1e9
        self.judge(how, died)

    def count_calls(self, seconds, at_end):
        """How many storage calls there are in that time, or in the end alone."""
        tool = self.record(self.settings(0, 0, waits=at_end))
        time.sleep(seconds)
        if at_end:
            self.go.touch()
        tool.send_signal(signal.SIGINT)
        tool.communicate()
        return max(1, int(self.log.read_text()))

    # ---- judgement ----

    def judge(self, how, died):
        self.kills += 1
        fault = self.fault(died)
        if fault:
            self.faults.append(f"killed {how}: {fault}")
            print(self.faults[-1], flush=True)

    def fault(self, died):
        if not self.file.exists():
            self.empty += 1
            return None
        ours = subprocess.run([TIDEMARK, "info", str(self.file)], capture_output=True,
                              text=True, timeout=60)
        if ours.returncode != 0 and "no sample in it" not in ours.stderr:
            if "before it began" in ours.stderr or "is empty" in ours.stderr:
                self.empty += 1
                return None
            return f"our reader: {ours.stderr.strip() or ours.returncode}"
        # What our reader sees where it may not write: the file without any journal.
        log = self.folder / "a.tdm-wal"
        if not log.exists() or log.stat().st_size == 0:
            try:
                with contextlib.closing(sqlite3.connect(
                        f"file:{self.file}?mode=ro&immutable=1", uri=True)) as base:
                    sound = base.execute("PRAGMA integrity_check").fetchone()[0]
            except sqlite3.Error as error:
                sound = str(error)
            if sound != "ok":
                return f"not sound for a reader that may not write: {sound[:200]}"
        try:
            with contextlib.closing(sqlite3.connect(self.file, timeout=5)) as base:
                sound = base.execute("PRAGMA integrity_check").fetchone()[0]
                ticks = base.execute("SELECT id, monotonic_ns FROM tick ORDER BY id").fetchall()
                half = base.execute(
                    "SELECT count(*) FROM machine_sample WHERE tick NOT IN "
                    "(SELECT id FROM tick)").fetchone()[0]
        except sqlite3.Error as error:
            return f"SQLite: {error}"
        if sound != "ok":
            return f"not sound: {sound[:200]}"
        if [tick for tick, _ in ticks] != list(range(len(ticks))):
            return "ticks are missing"
        if half:
            return "half a tick is there"
        if not ticks:
            self.empty += 1
            return None
        age = died - ticks[-1][1] / 1e9
        self.oldest = max(self.oldest, age)
        if age > LOST_SECONDS + COMMIT_SECONDS:
            return f"the last {age:.2f} s are lost"
        return None

    # ---- control ----

    def careless_is_broken(self):
        """Whether a careless writer's file is damaged by the same kill."""
        self.clean()
        env = self.settings(self.random.randint(40, 2000), self.random.randint(0, 3))
        subprocess.run([sys.executable, "-S", "-E", "-c", CARELESS, str(self.file)],
                       env=env, capture_output=True, timeout=60)
        try:
            with contextlib.closing(sqlite3.connect(self.file)) as base:
                sound = base.execute("PRAGMA integrity_check").fetchone()[0]
                counts = base.execute("SELECT DISTINCT count(*) FROM data GROUP BY tick").fetchall()
        except sqlite3.Error:
            return True
        return sound != "ok" or counts not in ([], [(20,)])


def run(folder, kills, seed):
    harness = Harness(folder, seed)
    try:
        in_all = harness.count_calls(2.5, at_end=False)
        at_end = harness.count_calls(1.0, at_end=True)
        for number in range(kills):
            kind = number % 4
            if kind == 0:
                harness.kill_at_random()
            elif kind == 3:
                harness.kill_at_end(at_end)
            else:
                harness.kill_in_call(in_all)
        tries = max(6, kills // 10)
        broken = sum(harness.careless_is_broken() for _ in range(tries))
    finally:
        harness.end()
        harness.clean()
    print(f"{harness.kills} kills (seed {seed}, {in_all} storage calls in 2.5 s, {at_end} at the "
          f"end): {len(harness.faults)} bad, {harness.empty} before the first tick, at most "
          f"{harness.oldest:.2f} s lost; a careless writer: {broken} of {tries} broken")
    if not broken:
        print("the harness broke no file of a careless writer: it proves nothing")
    if harness.empty * 2 > harness.kills:
        print("most kills came before the first tick: they prove nothing")
    return 0 if broken and not harness.faults and harness.empty * 2 <= harness.kills else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidemark-crash.") as folder:
        # On a disk that is nearly full the log is copied back every 50 pages: more
        # of what can go wrong in less time. A file system of our own is one.
        small = ["unshare", "-m", "--propagation", "private", "sh", "-c",
                 'mount -t tmpfs -o size=30m none "$1" && shift && exec "$@"', "sh", folder]
        may_mount = subprocess.run([*small, "true"], capture_output=True).returncode == 0
        if options.inside is None and may_mount:
            done = subprocess.run([*small, sys.executable, "-B", __file__, "--inside", folder,
                                   "--kills", str(options.kills), "--seed", str(options.seed)])
            return done.returncode
        if options.inside is None:
            print("no small file system (not root): the log is copied back seldom")
        return run(pathlib.Path(options.inside or folder), options.kills, options.seed)


if __name__ == "__main__":
    sys.exit(main())
