"""The measure `run`: what it costs to be run by `tidemark run`, and what the
report is worth. README.md says how to read each row."""

import contextlib
import dataclasses
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

from measuring import (BENCH, OUT, RELEASE, ROOT, TIDEMARK, Broken, Row, call,
                       compare, median_ms, numbers_of)

FOLLOW_COST = str(RELEASE / "bench" / "bench_follow_cost")
WORKLOADS = [BENCH / "workloads" / "rise.c",
             *(ROOT / "tests" / "workloads" / name
               for name in ("spike.c", "swarm.c"))]
PAGE = os.sysconf("SC_PAGESIZE")
MIB = 1 << 20
GIB = 1 << 30
# Charged, but in no mapping yet: the kernel charges a group so many pages ahead
# for every CPU, and a huge page before it is cleared.
CHARGED_AHEAD = 64 * PAGE * os.cpu_count() + 2 * MIB
# What our programs touch. An anonymous mapping that happens to begin where a malloc
# arena would is called heap.
TOUCHED = ("anon", "heap")


# ---- running ----------------------------------------------------------------

@dataclasses.dataclass
class Watched:
    """A command that tidemark has run."""
    report: dict   # as --json gives it
    outside: dict  # what tidemark and the command cost together
    output: str


def supervise(*command):
    """Standard output of a command that must succeed. An interrupted run asks
    it to end and waits: killed, tidemark could not end what it runs."""
    words = [str(word) for word in command]
    with subprocess.Popen(words, cwd=ROOT, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        try:
            output, remarks = process.communicate()
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        raise Broken(f"{' '.join(words)} failed:\n{output}{remarks}")
    return output


def with_usage(name, *command):
    """(cost, standard output) of a command."""
    file = OUT / f"{name}.usage"
    output = supervise(OUT / "usage", file, *command)
    return usage_in(file), output


def usage_in(file):
    return {name: value
            for name, (value,) in numbers_of(file.read_text()).items()}


def watch(*command, options=()):
    file = OUT / "run.json"
    outside, output = with_usage("outside", TIDEMARK, "run", "--json", "-o",
                                 file, *options, "--", *command)
    return Watched(json.loads(file.read_text()), outside, output)


def range_of(values, form):
    return f"{min(values):{form}}-{max(values):{form}}"


# ---- what the target pays ---------------------------------------------------

def follow_row(name, bar, *job):
    """A row of CPU time, by pairs: neighbours in time are compared."""
    rounds = numbers_of(call(FOLLOW_COST, *job).stdout)

    def paired(clock):
        return statistics.median(
            followed / alone for followed, alone in
            zip(rounds[f"followed_{clock}"], rounds[f"alone_{clock}"]))

    row = compare(name, rounds["followed_cpu"], rounds["alone_cpu"], bar,
                  ("followed", "alone"))
    row.value = paired("cpu")
    row.beside += f", wall {paired('wall'):.2f}x"
    return row


def measure_following(scale):
    pairs = scale(40)
    yield follow_row("touching 256 MiB, followed / alone, CPU", 1.1,
                     "touch", 256, 1, pairs)
    yield follow_row("touching 8 x 16 MiB, followed / alone, CPU", None,
                     "touch", 16, 8, pairs)
    yield follow_row("100 x fork and exec, followed / alone, CPU", 1.1,
                     "fork", 100, pairs)


# ---- a compile job ----------------------------------------------------------

UNITS = 24
UNIT = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item_{unit} {{ int key; double weight; char name[{unit} + 8]; }};
"""
FUNCTION = """
static double step_{i}(struct item_{unit} *items, int count) {{
  double sum = {i};
  for (int i = 0; i < count; ++i) {{
    switch ((items[i].key ^ {mask}) % 5) {{
      case 0: sum += sqrt(fabs(items[i].weight) + {i}); break;
      case 1: sum -= items[i].key * {factor}; break;
      case 2: snprintf(items[i].name, sizeof items[i].name, "%d", i); break;
      case 3: sum += (double)strlen(items[i].name); break;
      default: items[i].key = (items[i].key << {shift}) + {mask};
    }}
  }}
  return sum;
}}
"""
ENTRY = """
double unit_{unit}(int count) {{
  struct item_{unit} *items = calloc((size_t)count, sizeof *items);
  double sum = 0;
  if (!items) abort();
{calls}  free(items);
  return sum;
}}
"""
MAKEFILE = """\
objects := $(patsubst %.c,%.o,$(wildcard *.c))
job: $(objects)
\t$(CC) -o $@ $(objects) -lm
%.o: %.c
\t$(CC) -O2 -c -o $@ $<
"""


def unit_text(unit):
    """A file of 10 to 33 functions, the same in every run."""
    count = 10 + unit
    functions = "".join(
        FUNCTION.format(unit=unit, i=i, mask=unit * 31 + i * 7,
                        factor=1 + (unit + i) % 9, shift=1 + i % 4)
        for i in range(count))
    calls = "".join(f"  sum += step_{i}(items, count);\n" for i in range(count))
    return (UNIT.format(unit=unit) + functions
            + ENTRY.format(unit=unit, calls=calls))


def write_compile_job():
    folder = OUT / "compile"
    folder.mkdir(exist_ok=True)
    for unit in range(UNITS):
        (folder / f"unit_{unit:02}.c").write_text(unit_text(unit))
    names = [f"unit_{unit}" for unit in range(UNITS)]
    (folder / "main.c").write_text(
        "".join(f"double {name}(int);\n" for name in names)
        + "int main(void) {\n  return "
        + " + ".join(f"{name}(9)" for name in names) + " > 0;\n}\n")
    (folder / "Makefile").write_text(MAKEFILE)
    return ["make", "-B", "-s", "-j2", "-C", str(folder)]


def measure_compile(scale):
    make = write_compile_job()
    inside_file = OUT / "inside.usage"
    alone, inside, runs = [], [], []
    for pair in range(scale(5)):
        for is_second in (False, True):
            if is_second == bool(pair % 2):
                alone.append(with_usage("alone", *make)[0])
                continue
            runs.append(watch(OUT / "usage", inside_file, *make,
                              options=["--time-bpf"]))
            inside.append(usage_in(inside_file))
    job = [spent["cpu_ns"] for spent in inside]
    bpf = [run.report["cost"]["bpf_ns"] for run in runs]
    own = [run.outside["cpu_ns"] - cpu for run, cpu in zip(runs, job)]
    watching = [run.report["cost"]["cpu_ns"] for run in runs]
    count = runs[-1].report["process_count"]
    yield share_row("compile job: BPF programs / CPU of the job", bpf, job, 5,
                    f"bpf {median_ms(bpf):.3g} ms, job {median_ms(job):.3g} ms, "
                    f"{count} processes")
    yield share_row("compile job: tidemark itself / CPU of the job", own, job,
                    None, f"{median_ms(own):.3g} ms, of it watching "
                          f"{median_ms(watching):.3g} ms")
    bare = [spent["cpu_ns"] for spent in alone]
    row = compare("compile job: under run / bare, CPU of the job", job, bare,
                  None, ("run", "bare"))
    walls = [statistics.median(spent["wall_ns"] for spent in side)
             for side in (inside, alone)]
    row.beside += f", wall {walls[0] / walls[1]:.2f}x"
    yield row


def share_row(name, parts, wholes, bar, beside):
    shares = [100 * part / whole for part, whole in zip(parts, wholes)]
    return Row(name, statistics.median(shares), min(shares), bar, unit="%",
               beside=beside)


# ---- what the report is worth -----------------------------------------------

def coverage_of(run):
    return 100 * run.report["composition"]["coverage"]


def parts_of(run):
    parts = run.report["composition"]["categories"]
    return {part["category"]: part["bytes"] for part in parts}


def known_height(run):
    """What the program says it touched, and what memory.stat says came on top."""
    touched = int(run.output.split()[0]) * PAGE
    return touched + sum(size for category, size in parts_of(run).items()
                         if category not in TOUCHED)


def heights_beside(runs):
    peaks = [run.report["peak"]["bytes"] / MIB for run in runs]
    errors = [100 * (run.report["peak"]["bytes"] / known_height(run) - 1)
              for run in runs]
    return (f"height {range_of(peaks, '.2f')} MiB, {range_of(errors, '+.2f')} % "
            "off the known")


def runs_of(count, program, *words, options=()):
    return [watch(OUT / program, *words, options=options)
            for _ in range(count)]


def lowest_row(name, runs, bar, beside):
    covered = [coverage_of(run) for run in runs]
    return Row(f"{name}: coverage, lowest of {len(runs)}", min(covered),
               None, bar, True, "%",
               f"median {statistics.median(covered):.2f} %, {beside}")


def untrue(run):
    """Why the printed coverage is not what the parts say; empty when it is."""
    report = run.report
    picture = report["composition"]
    peak, captured = report["peak"]["bytes"], picture["captured_bytes"]
    rest = picture["not_explained_bytes"]
    if abs(picture["coverage"] - captured / peak) > 1e-4:
        return f"coverage {picture['coverage']} is not {captured} / {peak}"
    if captured + picture["not_caught_bytes"] != peak:
        return "captured and not caught do not add up to the peak"
    if sum(parts_of(run).values()) + rest != captured:
        return "the parts do not add up to what was captured"
    if abs(rest) > CHARGED_AHEAD + peak / 100:
        return f"{rest / MIB:.2f} MiB of the picture are in no part"
    return ""


def truth_row(name, runs):
    found = [reason for reason in map(untrue, runs) if reason]
    rests = [run.report["composition"]["not_explained_bytes"] / MIB
             for run in runs]
    return Row(f"{name}: of {len(runs)} with true coverage",
               len(runs) - len(found), None, len(runs), True, "",
               f"residue {range_of(rests, '+.2f')} MiB"
               + (f"; {found[0]}" if found else ""), 0)


# Ends with us, however we end, and after two minutes at the latest.
HOG = """\
import os, select, sys, time
end = time.monotonic() + 120
while time.monotonic() < end and not select.select([0], [], [], 0)[0]:
    sum(range(100000))
"""


@contextlib.contextmanager
def hogs(count):
    """So many processes that do nothing but use their CPU."""
    processes = []
    try:
        for _ in range(count):
            processes.append(subprocess.Popen([sys.executable, "-c", HOG],
                                              stdin=subprocess.PIPE))
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
            process.stdin.close()


def measure_spikes(scale):
    for kind, words in (("4 KiB pages", []), ("huge pages", ["thp"]),
                        ("in a grandchild", ["grandchild"])):
        runs = runs_of(scale(30), "spike", 20, 64, 15, *words)
        covered = [coverage_of(run) for run in runs]
        name = f"15 ms spike, {kind}"
        yield Row(f"{name}: coverage, median", statistics.median(covered), None,
                  95, True, "%",
                  f"lowest {min(covered):.2f} %, {heights_beside(runs)}")
        yield Row(f"{name}: of {len(runs)} at 90 % or more",
                  sum(share >= 90 for share in covered), None,
                  math.ceil(0.9 * len(runs)), True, "", digits=0)
        yield truth_row(name, runs)
    count = scale(20)
    at_once = ("rise", 20, 64, 0)
    exact = runs_of(count, *at_once, options=["--exact-peak"])
    with hogs(2):
        hogged_exact = runs_of(count, *at_once, options=["--exact-peak"])
        hogged = runs_of(count, "spike", 20, 64, 15)
    for name, runs, bar in (
            ("0 ms spike, --exact-peak", exact, 94),
            ("0 ms, --exact-peak, two hogs", hogged_exact, None),
            ("15 ms spike, two hogs", hogged, None)):
        yield lowest_row(name, runs, bar, heights_beside(runs))
        yield truth_row(name, runs)


def available_bytes():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def measure_growth(scale):
    available = available_bytes()
    if available <= 8 * GIB:
        print(f"growth: skipped, {available / GIB:.1f} GiB of memory "
              "are available and 8 are wanted")
        return
    # The bars are those of 4 GiB; what grows for less than a second lives on the
    # fixed allowance for pictures.
    yield from growth_rows("256 MiB", 240, 0, scale(10), (None, None))
    yield from growth_rows("1 GiB", 1008, 0, scale(10), (None, None))
    for hold_ms in (0, 200):
        yield from growth_rows("4 GiB", 4080, hold_ms, scale(3), (10, 94))


def growth_rows(size, mib, hold_ms, count, bars):
    runs = runs_of(count, "rise", 16, mib, hold_ms)
    name = f"growth to {size}, held {hold_ms} ms"
    costs = [(run.report["cost"]["capture_ns"], run.report["duration_ns"])
             for run in runs]
    lengths = [length / 1e9 for _, length in costs]
    pictures = [run.report["captures"] for run in runs]
    yield Row(f"{name}: capturing, most of {count}",
              max(100 * spent / length for spent, length in costs), None,
              bars[0], False, "%", f"{range_of(pictures, 'd')} captures in "
                                   f"{range_of(lengths, '.2f')} s")
    yield lowest_row(name, runs, bars[1], heights_beside(runs))
    yield truth_row(name, runs)


# ---- many processes ---------------------------------------------------------

def listed_row(count):
    run = watch(OUT / "swarm", count)
    report = run.report
    found = [(process["pid"], process["started_ns"])
             for process in report["processes"]
             if process["path"].endswith("/true")]
    twice = len(found) - len(set(found))
    return Row(f"{count} processes: listed once", len(set(found)) - twice, None,
               count, True, "",
               f"{twice} twice, {report['lost_count']} lost, own peak memory "
               f"{run.outside['max_rss_kib'] / 1024:.1f} MiB, "
               f"{run.outside['wall_ns'] / 1e9:.1f} s", 0)


def measure_swarm(scale):
    yield listed_row(2000)
    yield listed_row(20000)
    swarm = [OUT / "swarm", 2000]
    inside_file = OUT / "inside.usage"
    whole, inside, alone = [], [], []
    for pair in range(scale(3)):
        for is_second in (False, True):
            if is_second == bool(pair % 2):
                alone.append(with_usage("alone", *swarm)[0]["wall_ns"])
                continue
            run = watch(OUT / "usage", inside_file, *swarm)
            whole.append(run.outside["wall_ns"])
            inside.append(usage_in(inside_file)["wall_ns"])
    row = compare("2000 processes under run / bare, wall", whole, alone, None,
                  ("run", "bare"))
    row.beside += (f", without our start and end "
                   f"{statistics.median(inside) / statistics.median(alone):.2f}x")
    yield row


def measure_run(scale):
    report = watch("true").report
    if report["method"] != "cgroup+bpf":
        print("run: skipped, it is measured with BPF and a cgroup: "
              + "; ".join(report["notes"]))
        return
    for part in (measure_following, measure_compile, measure_spikes,
                 measure_growth, measure_swarm):
        yield from part(scale)
