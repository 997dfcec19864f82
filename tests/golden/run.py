#!/usr/bin/env python3
"""Runs the golden cases: tests/golden/<command>/<case>/ with the files

  cmd     a bash command line, run in tests/fixtures with `tidemark` on the PATH
  stdout  what it must print; no file: nothing
  stderr  likewise
  exit    its exit status; no file: 0

The clock stands still (TIDEMARK_TEST_TIME) and the environment is empty but for
what is set here, so that the bytes depend on the fixtures alone.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parent
TESTS = GOLDEN.parent
NAMES = ("tidemark", "memstat", "memstrack")  # what the binary answers to
TEST_TIME_NS = "1763194268123456789"
TIMEOUT_S = 60


def environment(names):
    keep = {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
    return keep | {
        "PATH": f"{names}:{os.environ.get('PATH', os.defpath)}",
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
        "TIDEMARK_TEST_TIME": TEST_TIME_NS,
    }


def run(case, env):
    """What the command printed and returned, as {file name: bytes}."""
    try:
        done = subprocess.run(
            ["bash", str(case / "cmd")], cwd=TESTS / "fixtures", env=env,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S,
            check=False)
    except subprocess.TimeoutExpired as slow:
        late = f"\nstill running after {TIMEOUT_S} s\n".encode()
        return {"stdout": slow.stdout or b"",
                "stderr": (slow.stderr or b"") + late, "exit": b"timeout\n"}
    return {"stdout": done.stdout, "stderr": done.stderr,
            "exit": f"{done.returncode}\n".encode()}


def expected(case):
    def read(name, default):
        file = case / name
        return file.read_bytes() if file.exists() else default

    status = read("exit", b"0").strip() + b"\n"
    return {"stdout": read("stdout", b""), "stderr": read("stderr", b""),
            "exit": status}


def lines(data):
    text = data.decode("utf-8", "backslashreplace")
    return [line + "\n" for line in text.split("\n")]


def diff(case, want, got):
    out = []
    for name in ("exit", "stderr", "stdout"):
        if want[name] != got[name]:
            label = f"{case.relative_to(GOLDEN)}/{name}"
            out += difflib.unified_diff(
                lines(want[name]), lines(got[name]), label, f"{label} (now)")
    return "".join(out)


def update(case, got):
    """A file that would say nothing (empty, status 0) is not kept."""
    for name, content in got.items():
        if content in (b"", b"0\n") and name != "cmd":
            (case / name).unlink(missing_ok=True)
        else:
            (case / name).write_bytes(content)


def judge(case, env, rewrite):
    """The diff of one case; empty when it is as expected."""
    want, got = expected(case), run(case, env)
    text = "" if want == got else diff(case, want, got)
    if text and rewrite and got["exit"] != b"timeout\n":
        update(case, got)
    return text


def options():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path,
                        default=TESTS.parent / "build/dev/tidemark")
    parser.add_argument("--update", action="store_true",
                        help="rewrite the expectations; read the diff")
    parser.add_argument("filter", nargs="*",
                        help="only cases whose path contains one of these")
    return parser.parse_args()


def chosen(filters):
    cases = sorted(file.parent for file in GOLDEN.glob("*/*/cmd"))
    return [case for case in cases
            if not filters or any(word in str(case.relative_to(GOLDEN))
                                  for word in filters)]


def main():
    args = options()
    binary = args.binary.resolve()
    if not os.access(binary, os.X_OK):
        print(f"{binary}: not an executable; build it first", file=sys.stderr)
        return 2
    cases = chosen(args.filter)
    with tempfile.TemporaryDirectory() as names, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in NAMES:
            os.symlink(binary, pathlib.Path(names, name))
        env = environment(names)
        diffs = list(pool.map(lambda c: judge(c, env, args.update), cases))
    failed = [text for text in diffs if text]
    sys.stdout.buffer.write("".join(failed).encode())
    if args.update:
        print(f"{len(failed)} of {len(cases)} cases rewritten")
        return 0
    print(f"{len(cases) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
