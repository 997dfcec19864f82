"""What the live tests share: the program under test and known workloads."""

import atexit
import contextlib
import functools
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

TIDEMARK = os.environ.get("TIDEMARK", "tidemark")
PAGE = os.sysconf("SC_PAGESIZE")
NOBODY = 65534


@functools.cache
def public_folder():
    """For files that every user may read: a clone can lie in a closed folder."""
    folder = tempfile.mkdtemp(prefix="tidemark-live.")
    atexit.register(shutil.rmtree, folder)
    os.chmod(folder, 0o755)
    return folder


@functools.cache
def public_tidemark():
    return shutil.copy(TIDEMARK, public_folder())


@functools.cache
def workload(name):
    """The program made of tests/workloads/NAME.c."""
    source = pathlib.Path(__file__).parents[1] / "workloads" / f"{name}.c"
    program = f"{public_folder()}/{name}"
    subprocess.run(["cc", "-O2", "-pthread", "-o", program, source], check=True)
    return program


def run(*arguments, check=True, **options):
    """Runs tidemark; the text of both streams comes back with it."""
    binary = public_tidemark() if "user" in options else TIDEMARK
    done = subprocess.run(
        [binary, *map(str, arguments)], capture_output=True, text=True,
        timeout=60, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"tidemark {arguments}: {done.returncode}\n{done.stderr}")
    return done


def run_json(*arguments, **options):
    return json.loads(run(*arguments, "--json", **options).stdout)


def memstat(*arguments, **options):
    """The same program under the name memstat."""
    return subprocess.run(
        ["memstat", *map(str, arguments)], executable=TIDEMARK,
        capture_output=True, text=True, timeout=60, **options)


class Python:
    """A python process that runs `script`, prints "ready" and waits for its
    standard input to close. Ended by pid, whatever happens."""

    def __init__(self, script, **options):
        program = textwrap.dedent(script) + textwrap.dedent("""
            import sys
            print("ready", flush=True)
            sys.stdin.read()
        """)
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", program],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
        self.pid = self.process.pid
        line = self.process.stdout.readline()
        if line != "ready\n":
            self.end()
            raise AssertionError(f"the workload did not start: {line!r}")

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def cpu_seconds(pid):
    """User and system, so far."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_root():
    return os.geteuid() == 0


def wait_for(condition, seconds=20.0):
    """Its value as soon as it is true; bounded."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    return condition()


class RecordingFolder(unittest.TestCase):
    """A test with a folder of its own for the recording."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-record.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "a.tdm"

    def query(self, sql, *values, file=None):
        """All rows, from a connection that changes nothing."""
        with contextlib.closing(sqlite3.connect(
                f"file:{file or self.file}?mode=ro", uri=True, timeout=5)) as base:
            base.text_factory = bytes
            return [tuple(v.decode(errors="surrogateescape")
                          if isinstance(v, bytes) else v for v in row)
                    for row in base.execute(sql, values)]
