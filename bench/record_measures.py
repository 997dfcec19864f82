"""The measure `record`: what a recording costs the machine, the recorded process
and the disk, and how fast it answers. README.md says how to read each row."""

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import time

from measuring import (BENCH, OUT, RELEASE, TIDEMARK, Broken, Row, call,
                       median_ms, numbers_of)
from run_measures import supervise, with_usage

RECORD_MADE = str(RELEASE / "bench" / "bench_record_made")
PROGRAMS = [BENCH / "paced_reads.c", BENCH / "mmap_latency.c"]
# memory-watcher stores each mapping of each sample: so many bytes with its index.
WATCHER_BYTES = 48.6
DAY_TICKS = 86_400
# A page of crosvm's plot.py, with Plotly inside.
PLOT_PY_MB = 8.6


def recorded(name, *options):
    """(file, usage) of one recording."""
    file = OUT / f"{name}.tdm"
    file.unlink(missing_ok=True)
    usage, _ = with_usage(name, TIDEMARK, "record", "-q", "-o", file, *options)
    return file, usage


def info_of(file):
    return json.loads(call(TIDEMARK, "info", "--json", file).stdout)


def bare_cpu_ns(count, period_ms, files, pids):
    output = call(OUT / "paced_reads", count, period_ms, files, *pids).stdout
    return numbers_of(output)["cpu_ns"][0]


# ---- one process with many mappings -----------------------------------------

def measure_many(scale, many_mappings):
    count = scale(200)
    ours, bare, starts, files = [], [], [], []
    with many_mappings() as (pid, mappings):
        options = ["-f", "100ms", "--budget", "none", pid]
        for _ in range(2):
            bare.append(bare_cpu_ns(count, 100, "smaps", [pid]) / count)
            file, usage = recorded("many", "--count", count, *options)
            ours.append(usage["cpu_ns"] / count)
            files.append((file.stat().st_size, usage, info_of(file)))
            starts.append(recorded("start", "--count", 1, *options)[1]["cpu_ns"])
    size, usage, info = files[-1]
    beside = (f"record {median_ms(ours):.3g} ms a sample, bare "
              f"{median_ms(bare):.3g} ms, of it start and end "
              f"{median_ms(starts) / count:.2g} ms; {mappings} mappings")
    yield Row("record 2000 mappings at 10 Hz / bare smaps, CPU",
              statistics.median(ours) / statistics.median(bare),
              min(ours) / min(bare), 1.3, beside=beside)
    yield Row("record 2000 mappings: bytes of file a sample",
              size / info["sample_count"], bar=1000, unit="", digits=0,
              beside=f"{size} bytes, {info['sample_count']} samples")
    yield Row("record 2000 mappings: ticks missed",
              info["missed_count"], bar=0, unit="", digits=0)
    yield Row("record 2000 mappings: own memory, MB",
              usage["max_rss_kib"] * 1024 / 1e6, bar=20, unit="", digits=1)


# ---- every process ----------------------------------------------------------

def measure_all(scale, sleepers):
    seconds = scale(15)
    count = seconds * 2
    with sleepers(120) as pids:
        file, usage = recorded("all", "--all", "-f", "500ms", "--count", count)
        info = info_of(file)
        yield Row("record --all, 120 processes, 500 ms: share of a core",
                  100 * usage["cpu_ns"] / usage["wall_ns"], bar=2.5, unit="%",
                  beside=f"detail up to {info['oldest_detail_ticks']} ticks old, "
                         f"{info['missed_count']} missed")
        ours, bare = [], []
        for _ in range(2):
            bare.append(bare_cpu_ns(count, 500, "smaps,stat,statm", pids))
            file, usage = recorded("whole", "--all", "-f", "500ms", "--count",
                                   count, "--budget", "none")
            ours.append(usage["cpu_ns"])
        yield Row("record --all, no budget / bare smaps, stat, statm, CPU",
                  statistics.median(ours) / statistics.median(bare),
                  min(ours) / min(bare), 1.3,
                  beside=f"record {median_ms(ours) / count:.3g} ms a sample, "
                         f"bare {median_ms(bare) / count:.3g} ms")
        rows = call("sqlite3", file, "SELECT sum(n) FROM (SELECT (SELECT count(*)"
                    " FROM mapping_spans s WHERE s.tick <= t.tick AND "
                    "(s.until_tick IS NULL OR s.until_tick > t.tick)) AS n "
                    "FROM ticks t LIMIT 1)").stdout
        layout = int(rows) * count * WATCHER_BYTES
        yield Row("record --all, no budget: file / memory-record's layout",
                  file.stat().st_size / layout, bar=1 / 15, digits=3, unit="x",
                  beside=f"{file.stat().st_size / 1e6:.2f} MB, computed "
                         f"{layout / 1e6:.1f} MB")


# ---- long recordings ----------------------------------------------------------

def made(name, *numbers):
    file = OUT / f"{name}.tdm"
    file.unlink(missing_ok=True)
    counts = numbers_of(supervise(RECORD_MADE, file, *numbers))
    return file, {key: value[0] for key, value in counts.items()}


def seconds_of(*command):
    times = []
    for _ in range(3):
        start = time.monotonic()
        supervise(*command)
        times.append(time.monotonic() - start)
    return statistics.median(times)


def measure_long(scale):
    ticks = min(DAY_TICKS, scale(DAY_TICKS))
    day, counts = made("day", 100, 110, ticks, 1000, 36)
    yield Row("a day of 100 processes at 1 s: MB",
              day.stat().st_size / 1e6 * DAY_TICKS / ticks, bar=200, unit="",
              digits=0, beside=f"{ticks} ticks, CPU "
                               f"{counts['cpu_ns'] / ticks / 1e6:.2f} ms a tick")
    yield Row("a day of 100 processes at 1 s: KB written a tick",
              counts["written_bytes"] / ticks / 1e3, bar=70, unit="", digits=1)
    yield Row("a day of 100 processes at 1 s: opened by report, ms",
              1000 * seconds_of(TIDEMARK, "report", day, "--json", "-o",
                                "/dev/null"),
              bar=2000, unit="", digits=0, beside=f"{ticks} ticks")
    if shutil.which("node") and shutil.which("chromium"):
        opened = numbers_of(call("node", BENCH / "open_served.mjs", TIDEMARK,
                                 day).stdout)
        yield Row("a day of 100 processes at 1 s: opened by serve, ms",
                  opened["opened_us"][0] / 1e3, bar=2000, unit="", digits=0)
    day.unlink()
    fast, counts = made("fast", 100, 110, scale(6000), 100, 36)
    yield Row("100 processes at 10 Hz: KB written a tick",
              counts["written_bytes"] / counts["ticks"] / 1e3, bar=20, unit="",
              digits=1)
    fast.unlink()
    for label, numbers in (("2,024 mappings", (1, 2024, 20000, 100, 0.5)),
                           ("100 processes", (100, 110, 20000, 1000, 36))):
        file, _ = made("long", *numbers)
        for name, bar, command in (
                ("peak", 1000, ["peak", file]),
                ("info", 1000, ["info", file]),
                ("categories by SQL", 1000, None),
                ("one moment", 50, ["peak", file, "--at", "tick:11111"])):
            words = ([TIDEMARK, *command] if command else
                     ["sqlite3", file, "SELECT t.utc, c.* FROM categories c "
                                       "JOIN ticks t USING (tick)"])
            yield Row(f"20,000 samples of {label}: {name}, ms",
                      1000 * seconds_of(*words), bar=bar, unit="", digits=0)
        yield from measure_page(file, label)
        file.unlink()


def measure_page(recording, label):
    page = OUT / "long.html"
    yield Row(f"20,000 samples of {label}: page written, ms",
              1000 * seconds_of(TIDEMARK, "report", recording, "-o", page),
              bar=1000, unit="", digits=0)
    yield Row(f"20,000 samples of {label}: page, MB",
              page.stat().st_size / 1e6, bar=PLOT_PY_MB, unit="", digits=2)
    if shutil.which("node") and shutil.which("chromium"):
        opened = numbers_of(call("node", BENCH / "open_page.mjs", page).stdout)
        yield Row(f"20,000 samples of {label}: page painted, ms",
                  opened["painted_us"][0] / 1e3, bar=1000, unit="", digits=0)
    else:
        print("bench: opening pages needs node and chromium")
    page.unlink()


# ---- the recorded process ---------------------------------------------------

@contextlib.contextmanager
def latency_target():
    with subprocess.Popen([OUT / "mmap_latency", "4"], text=True,
                          stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        try:
            word, pid = process.stdout.readline().split()
            if word != "ready":
                raise Broken("mmap_latency did not come up")

            def once():
                process.stdin.write("go\n")
                process.stdin.flush()
                lines = [process.stdout.readline() for _ in range(4)]
                return {name: value[0]
                        for name, value in numbers_of("".join(lines)).items()}
            yield pid, once
        finally:
            process.kill()


def measure_latency(scale):
    alone, beside = [], []
    with latency_target() as (pid, once):
        for _ in range(scale(4)):
            alone.append(once())
            file = OUT / "latency.tdm"
            file.unlink(missing_ok=True)
            with subprocess.Popen([TIDEMARK, "record", "-q", "-o", file, "-f",
                                   "10Hz", "--budget", "none", pid]) as recorder:
                time.sleep(0.5)
                beside.append(once())
                recorder.terminate()
    ours = statistics.median(one["p50"] for one in beside)
    idle = statistics.median(one["p50"] for one in alone)
    worst = statistics.median(one["max"] for one in beside)
    calm = statistics.median(one["max"] for one in alone)
    yield Row("mmap in a process recorded at 10 Hz / alone, p50", ours / idle,
              bar=1.5, beside=f"recorded {ours / 1e3:.1f} us, alone "
                              f"{idle / 1e3:.1f} us; longest {worst / 1e6:.1f} "
                              f"and {calm / 1e6:.1f} ms")


def measure_record(scale, many_mappings, sleepers):
    if os.getuid() != 0:
        print("bench: record of other users' processes needs root")
    rows = []
    for part in (measure_many(scale, many_mappings),
                 measure_all(scale, sleepers), measure_long(scale),
                 measure_latency(scale)):
        rows += part
    return rows
