"""The measure `ledger`: what a look at every page costs beside the bare reads.
README.md says how to read each row."""

import collections
import json
import os
import statistics

from measuring import (BENCH, MS, OUT, TIDEMARK, Row, alternate, call, compare,
                       numbers_of)

PROGRAMS = [BENCH / "bare_census.c"]
MB = 1e6


def own_memory(*options):
    """The largest resident size of one ledger in bytes."""
    file = OUT / "ledger.usage"
    call(OUT / "usage", file, TIDEMARK, "ledger", *options)
    return numbers_of(file.read_text())["max_rss_kib"][0] * 1024


def classes(*options):
    """Each class with its bytes and its error, and the whole report."""
    report = json.loads(call(TIDEMARK, "ledger", *options, "--json").stdout)
    return {row["class"]: (row["bytes"], row.get("error_bytes"))
            for row in report["rows"] if row["parent"] is None}, report


def sample_coverage(rounds, pages=20_000):
    """How often each class of a sample holds the truth, which is anything from
    what a look at all pages found before to what one finds after; and the
    milliseconds of each sample. Rows by counters (error 0) are left out. A class
    without a row is taken at its word too: it has less than unseen_bytes."""
    held, asked, times = collections.Counter(), collections.Counter(), []
    before, _ = classes("--tier", "pages")
    for _ in range(rounds):
        found, report = classes("--sample", str(pages))
        after, _ = classes("--tier", "pages")
        times.append(report["elapsed_ns"] / MS)
        by_counters = {name for name, (_, error) in found.items() if error == 0}
        for name in (before.keys() | after.keys() | found.keys()) - by_counters:
            size, error = found.get(name, (0, report["unseen_bytes"]))
            low, high = sorted((before.get(name, (0,))[0], after.get(name, (0,))[0]))
            asked[name] += 1
            held[name] += size - error <= high and low <= size + error
        before = after
    return {name: held[name] / asked[name] for name in asked}, times


def measure_sample(scale):
    rounds = scale(40)
    coverage, times = sample_coverage(rounds)
    worst = min(coverage, key=coverage.get)
    yield Row("ledger --sample 20000: runs in which a class is within its error, "
              "the worst class", 100 * coverage[worst], bar=95, at_least=True,
              unit="%", beside=f"{worst}; of all classes "
              f"{100 * statistics.mean(coverage.values()):.1f} %, {rounds} runs")
    yield Row("ledger --sample 20000: milliseconds", statistics.median(times),
              min(times), bar=30, unit="ms", beside=f"longest {max(times):.3g} ms")


def measure_ledger(scale):
    if os.geteuid() != 0:
        print("ledger: left out, without root no page can be seen")
        return
    bare = [str(OUT / "bare_census")]
    text, names, flags, theirs = alternate(
        scale(15), [TIDEMARK, "ledger"], [TIDEMARK, "ledger", "--json"],
        [TIDEMARK, "ledger", "--tier", "pages"], bare)
    report = json.loads(call(TIDEMARK, "ledger", "--json").stdout)
    size = f"{report['total_bytes'] / (1 << 30):.3g} GiB"
    yield compare(f"ledger of {size}, as far as it goes / bare reads, CPU",
                  text.cpu, theirs.cpu, 1.25, ("ledger", "bare"))
    yield compare("the same, by flags alone / bare reads, CPU", flags.cpu,
                  theirs.cpu, 1.25, ("ledger", "bare"))
    yield compare("the same, all files named, as JSON / bare reads, CPU",
                  names.cpu, theirs.cpu, None, ("ledger", "bare"))
    yield compare("ledger / bare reads, wall", text.wall, theirs.wall, None,
                  ("ledger", "bare"))
    pages = report["mapped_pages"]
    rows = len(report["rows"])
    yield Row("ledger: own memory", own_memory() / MB,
              bar=20 + 16 * pages / MB, unit="MB",
              beside=f"20 MB and 16 bytes for each of {pages} mapped pages")
    yield Row("ledger --json: own memory", own_memory("--json") / MB,
              bar=20 + 16 * pages / MB, unit="MB", beside=f"{rows} rows")
    unnamed = sum(row["bytes"] for row in report["rows"]
                  if row["class"] == "unnamed" and not row["owner"])
    yield Row("ledger: without a name", 100 * unnamed / report["total_bytes"],
              bar=0.2, unit="%", beside=f"tier {report['tier']}", digits=3)
    yield from measure_sample(scale)
