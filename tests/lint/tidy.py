#!/usr/bin/env python3
"""tidy.py BUILD [FILTER]: runs clang-tidy over src/, skipping what is unchanged.

clang-tidy takes seconds a file, most of them for headers, so it is given the
joined files of the build, a dozen of ours in each. What was clean stays clean as
long as it, the files of ours it reaches, its compile command, .clang-tidy and
clang-tidy itself stay the same; a hash of all those, kept in build/tidy-cache, is
the proof. FILTER is a part of a path: what is joined with such a file is read too.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
CACHE = ROOT / "build" / "tidy-cache"
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@functools.lru_cache(maxsize=None)
def content(file):
    return file.read_bytes()


@functools.lru_cache(maxsize=None)
def our_includes(file):
    # A joined file has the whole paths of ours.
    found = [SRC / name.decode() for name in INCLUDE.findall(content(file))]
    return [header for header in found if header.exists()]


def ours(file):
    """The file itself, or those that it joins."""
    return our_includes(file) if file.suffix == ".cxx" else [file]


def reached(file):
    """The file and every header of ours below it."""
    seen, todo = set(), [file]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo += our_includes(current)
    return sorted(seen)


def proof(entry, settings):
    digest = hashlib.sha256(settings)
    digest.update(entry["command"].encode())
    for file in reached(pathlib.Path(entry["file"])):
        digest.update(f"\0{file}\0".encode())
        digest.update(content(file))
    return CACHE / digest.hexdigest()


def tidy(build, entry, settings):
    """(cached, findings) of one file; no findings means clean."""
    mark = proof(entry, settings)
    if mark.exists():
        mark.touch()
        return True, ""
    done = subprocess.run(
        ["clang-tidy", "-p", str(build), "--quiet", entry["file"]],
        capture_output=True, text=True, check=False)
    if done.returncode == 0:
        mark.touch()
        return False, ""
    return False, done.stdout + done.stderr


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    commands = json.loads((build / "compile_commands.json").read_text())
    entries = [e for e in commands if any(
        file.is_relative_to(SRC) and file.suffix == ".cc" and word in str(file)
        for file in ours(pathlib.Path(e["file"])))]
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True,
                             check=True).stdout
    settings = version + (ROOT / ".clang-tidy").read_bytes()
    CACHE.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda e: tidy(build, e, settings), entries))
    findings = [text for _, text in results if text]
    print("".join(findings), end="")
    cached = sum(hit for hit, _ in results)
    print(f"{len(entries)} files or joined ones, {cached} unchanged, {len(findings)} unclean")
    return 1 if findings or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
