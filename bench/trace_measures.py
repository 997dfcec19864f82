"""The measure `trace`: what a trace costs whoever is traced, beside the least
that any could. README.md says how to read each row."""

import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import statistics
import subprocess
import time

from measuring import (BENCH, MS, OUT, ROOT, TIDEMARK, Broken, Row, call,
                       numbers_of)

WORKLOADS = [BENCH / "workloads" / "churn.c"]
CHURNS = "10"
# A whole translation unit of ours: what a compiler does is what people trace.
COMPILED = ROOT / "src" / "analysis" / "peak_report.cc"


def build():
    call("clang", "-target", "bpf", "-mcpu=v3", "-g", "-O2", "-Wall", "-Werror",
         "-isystem", "/usr/include/x86_64-linux-gnu", "-c",
         BENCH / "bare_trace.bpf.c", "-o", OUT / "bare_trace.bpf.o")
    call("cc", "-O2", "-Wall", "-Wextra", "-o", OUT / "bare_trace",
         BENCH / "bare_trace.c", "-lbpf", "-lelf", "-lz")


def traced(*options):
    return [TIDEMARK, "trace", "-q", "--all", "-o", "/dev/null", *options, "--"]


def variants():
    return {
        "untraced": [],
        "bare": [OUT / "bare_trace", OUT / "bare_trace.bpf.o"],
        "unwinding all": traced("--unwind-all"),
        "by signature": traced(),
        "one in 16": traced("--sample", "16"),
        "programs": [TIDEMARK, "trace", "-q", "--user", "-o", "/dev/null", "--"],
    }


def churned(command):
    """System time of the workload itself, in ns."""
    return int(call(*command, OUT / "churn", CHURNS).stdout)


def compiled(command):
    """CPU time of a compilation and whoever traces it, in ms."""
    file = OUT / "trace.usage"
    call(OUT / "usage", file, *command, "g++", "-std=c++20", "-O1", "-c",
         "-I", ROOT / "src", COMPILED, "-o", OUT / "compiled.o")
    return numbers_of(file.read_text())["cpu_ns"][0] / MS


def medians(measure, rounds):
    """Of each variant, all run in turn."""
    found = {name: [] for name in variants()}
    for _ in range(rounds):
        for name, command in variants().items():
            found[name].append(measure(command))
    return {name: statistics.median(values) for name, values in found.items()}


def share_of_tool():
    """CPU of all that is not the workload, loading and reporting included, over
    that of two that do nothing but page faults at once."""
    inner, outer = OUT / "trace.inner", OUT / "trace.outer"
    churn = f"{OUT / 'churn'} 150 >/dev/null"
    call(OUT / "usage", outer, *traced(), OUT / "usage", inner, "sh", "-c",
         f"{churn} & {churn}; wait")
    workload, both = (numbers_of(file.read_text())["cpu_ns"][0]
                      for file in (inner, outer))
    return (both - workload) / workload, (both - workload) / MS, workload / MS


def readings_in(file):
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(
            f"file:{file}?mode=ro", uri=True, timeout=5)) as base:
        return base.execute("SELECT count(*) FROM trace_tick").fetchone()[0]
    return 0


def wait_for_readings(file, count):
    deadline = time.monotonic() + 60
    while readings_in(file) < count:
        if time.monotonic() > deadline:
            raise Broken("readings do not come")
        time.sleep(0.05)


def thread_ns(pid):
    """CPU time of each thread: the one that reads, then the one that writes."""
    threads = sorted(os.listdir(f"/proc/{pid}/task"), key=int)
    return [int(pathlib.Path(f"/proc/{pid}/task/{thread}/schedstat")
                .read_text().split()[0]) for thread in threads]


def read_over_time(pairs, readings):
    """(leaves, ns of the reader, ns of the writer) of one reading of processes
    that stand still."""
    file = OUT / "over.tdm"
    file.unlink(missing_ok=True)
    tracer = subprocess.Popen(
        [TIDEMARK, "trace", "-q", "-o", file, "--period", "200ms", "--pid",
         str(os.getpid())], stderr=subprocess.DEVNULL)
    still = []
    try:
        wait_for_readings(file, 1)
        still += [subprocess.Popen(["sh", "-c", "sleep 300 & wait"],
                                   start_new_session=True) for _ in range(pairs)]
        # The first ones have to find names.
        first = readings_in(file) + 10
        wait_for_readings(file, first)
        before, first = thread_ns(tracer.pid), readings_in(file)
        wait_for_readings(file, first + readings)
        spent, count = thread_ns(tracer.pid), readings_in(file) - first
        tracer.send_signal(signal.SIGINT)
        tracer.wait(60)
        with contextlib.closing(sqlite3.connect(file)) as base:
            leaves = base.execute("SELECT count(*) FROM trace_leaf").fetchone()[0]
        return leaves, *((after - ns) / count for ns, after in zip(before, spent))
    finally:
        tracer.kill()
        for process in still:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def measure_trace(scale):
    build()
    rounds = scale(7)
    times = medians(churned, rounds)

    def ratio(name, other):
        return times[name] / times[other]

    def beside(*names):
        return ", ".join(f"{name} {times[name] / MS:.0f} ms" for name in names)

    yield Row("trace, unwinding all / a bare program that unwinds and stores",
              ratio("unwinding all", "bare"), bar=1.15,
              beside=beside("unwinding all", "bare"))
    yield Row("the same / untraced page faults", ratio("unwinding all", "untraced"),
              beside=beside("untraced"))
    yield Row("trace, stacks known again / untraced page faults",
              ratio("by signature", "untraced"), bar=1.8,
              beside=beside("by signature", "untraced"))
    yield Row("trace --sample 16 / untraced page faults",
              ratio("one in 16", "untraced"), bar=1.25,
              beside=beside("one in 16", "untraced"))
    yield Row("trace --user / untraced page faults", ratio("programs", "untraced"),
              bar=1.1, beside=beside("programs", "untraced"))
    churn = f"{OUT / 'churn'} 40 >/dev/null"
    report = json.loads(call(TIDEMARK, "trace", "-q", "--all", "--json", "--",
                             "sh", "-c", f"{churn} & {churn}; wait").stdout)
    yield Row("stacks taken for another, of those verified",
              report["wrong_stacks"], bar=0, unit="", digits=0,
              beside=f"of {report['verified_stacks']}")
    yield Row("events lost, two at once", report["lost"], bar=0, unit="", digits=0)
    share, tool_ms, workload_ms = share_of_tool()
    yield Row("CPU of the tool / of two workloads at once", share * 100, bar=5,
              unit="%", beside=f"{tool_ms:.0f} ms, {workload_ms:.0f} ms")
    compiling = medians(compiled, rounds)
    yield Row("g++ of one file, traced / untraced, CPU",
              compiling["by signature"] / compiling["untraced"], bar=1.25,
              beside=f"{compiling['by signature']:.0f} ms, "
                     f"{compiling['untraced']:.0f} ms, unwinding all "
                     f"{compiling['unwinding all']:.0f} ms")
    leaves, reader_ns, writer_ns = read_over_time(400, scale(40))
    yield Row(f"one reading of {leaves} leaves that stand still, CPU",
              (reader_ns + writer_ns) / MS, unit="ms", digits=1,
              beside=f"reading {reader_ns / MS:.1f} ms, writing "
                     f"{writer_ns / MS:.1f} ms")
