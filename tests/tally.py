#!/usr/bin/env python3
"""tally.py JUNIT.xml: counts the tests inside a CTest run.

CTest sees one test per program; people want to know how many tests ran. Prints
'PASSED FAILED' and then one line for each failed test, and one for each skipped
test with its reason. A program that died before it could count is one failed
test. With --failures it prints what the failed tests said instead: a whole log
has thousands of lines, and whoever reads it through a window sees the wrong ones.
"""

import os
import re
import sys
import xml.etree.ElementTree

# What GoogleTest, tests/golden/run.py, Python's unittest and Node's runner end
# with.
GTEST_PASSED = re.compile(r"^\[  PASSED  \] (\d+) test", re.MULTILINE)
GTEST_FAILED = re.compile(r"^\[  FAILED  \] (\d+) tests?, listed", re.MULTILINE)
GOLDEN = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
UNITTEST = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
NODE = re.compile(r"^# pass (\d+)\n# fail (\d+)$", re.MULTILINE)
UNITTEST_BAD = re.compile(r"(failures|errors|skipped)=(\d+)")

GTEST_SKIP = re.compile(
    r"^.*: Skipped\n(.*)\n(?:.*\n)*?\[  SKIPPED \] (\S+)", re.MULTILINE)
UNITTEST_SKIP = re.compile(r"^(\w+) .*\.\.\. skipped (.*)$", re.MULTILINE)

# From the start of a test to its verdict.
GTEST_FAILURE = re.compile(
    r"^\[ RUN      \] (\S+)\n(?:(?!\[ RUN ).*\n)*?\[  FAILED  \] \1.*$", re.MULTILINE)
UNITTEST_FAILURE = re.compile(
    r"^={70}\n(?:FAIL|ERROR): (\w+)(?:.*\n)+?(?=={70}\n|-{70}\nRan )", re.MULTILINE)
NODE_FAILURE = re.compile(
    r"^not ok \d+ - (.*)\n(?:(?!(?:not )?ok |# ).*\n)*", re.MULTILINE)
LAST_LINES = 60  # of a program that names no test


def inside(output):
    """(passed, failed) as the program itself says; (0, 0) when it does not."""
    golden = GOLDEN.search(output)
    if golden:
        return int(golden[1]), int(golden[2])
    ran = UNITTEST.search(output)
    if ran:
        last = output[ran.start():]
        bad = {kind: int(n) for kind, n in UNITTEST_BAD.findall(last)}
        failed = bad.get("failures", 0) + bad.get("errors", 0)
        return int(ran[1]) - failed - bad.get("skipped", 0), failed
    node = NODE.search(output)
    if node:
        return int(node[1]), int(node[2])
    passed, failed = GTEST_PASSED.search(output), GTEST_FAILED.search(output)
    return int(passed[1]) if passed else 0, int(failed[1]) if failed else 0


def skips(name, output):
    for reason, test in GTEST_SKIP.findall(output):
        yield f"{name}: {test}: {reason.strip()}"
    for test, reason in UNITTEST_SKIP.findall(output):
        yield f"{name}: {test}: {reason}"


def failures(output):
    """(name, what it said) of each failed test of a program that failed."""
    found = [(match[1], match[0]) for form in (GTEST_FAILURE, UNITTEST_FAILURE, NODE_FAILURE)
             for match in form.finditer(output)]
    if found:
        return found
    return [("the program", "\n".join(output.splitlines()[-LAST_LINES:]))]


def main():
    show_failures = "--failures" in sys.argv
    if not os.path.exists(sys.argv[1]):  # CTest found no test to run
        if not show_failures:
            print(0, 0)
        return
    total_passed, total_failed, skipped, bad = 0, 0, [], []
    root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
    for case in root.iter("testcase"):
        name, status = case.get("name"), case.get("status")
        output = case.findtext("system-out") or ""
        passed, failed = inside(output)
        skipped += skips(name, output)
        if status == "run":
            passed = passed if passed or "skipped" in output.lower() else 1
        elif case.find("skipped") is not None and status == "notrun":
            last = output.strip().splitlines()[-1:] or ["no reason given"]
            skipped.append(f"{name}: {last[0]}")
        else:
            failed = failed or 1
            bad += [(name, *each) for each in failures(output)]
        total_passed += passed
        total_failed += failed
    if show_failures:
        for program, test, text in bad:
            print(f"---- {program}: {test}\n{text}")
        return
    print(total_passed, total_failed)
    print("".join(f"failed: {program}: {test}\n" for program, test, _ in bad), end="")
    print("".join(f"skipped: {line}\n" for line in skipped), end="")


if __name__ == "__main__":
    main()
