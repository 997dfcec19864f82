"""The measure `ledger`: what a look at every page costs beside the bare reads.
README.md says how to read each row."""

import json
import os

from measuring import (BENCH, OUT, TIDEMARK, Row, alternate, call, compare,
                       numbers_of)

PROGRAMS = [BENCH / "bare_census.c"]
MB = 1e6


def own_memory(*options):
    """The largest resident size of one ledger in bytes."""
    file = OUT / "ledger.usage"
    call(OUT / "usage", file, TIDEMARK, "ledger", *options)
    return numbers_of(file.read_text())["max_rss_kib"][0] * 1024


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
              unit="MB", beside=f"{rows} rows")
    unnamed = sum(row["bytes"] for row in report["rows"]
                  if row["class"] == "unnamed" and not row["owner"])
    yield Row("ledger: without a name", 100 * unnamed / report["total_bytes"],
              bar=0.2, unit="%", beside=f"tier {report['tier']}", digits=3)
