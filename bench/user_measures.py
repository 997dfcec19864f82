"""The measure `user`: what stacks of programs cost the program that is followed,
and all others. README.md says how to read each row."""

import contextlib
import random
import signal
import statistics
import subprocess
import time

from measuring import BENCH, MS, OUT, TIDEMARK, Row, call, numbers_of
import trace_measures


def build():
    trace_measures.build()
    call("clang", "-target", "bpf", "-mcpu=v3", "-g", "-O2", "-Wall", "-Werror",
         "-isystem", "/usr/include/x86_64-linux-gnu", "-c",
         BENCH / "bare_hook.bpf.c", "-o", OUT / "bare_hook.bpf.o")
    call("cc", "-O2", "-Wall", "-Wextra", "-o", OUT / "faults",
         BENCH / "workloads" / "faults.c")


@contextlib.contextmanager
def followed(pid):
    tracer = subprocess.Popen(
        [TIDEMARK, "trace", "--user", str(pid), "-o", "/dev/null"],
        stderr=subprocess.PIPE, text=True)
    try:
        tracer.stderr.readline()
        yield
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.wait(60)
        tracer.stderr.close()


@contextlib.contextmanager
def somebody_followed():
    """A trace of a process that does nothing."""
    with subprocess.Popen(["sleep", "600"]) as still:
        try:
            with followed(still.pid):
                yield
        finally:
            still.kill()


@contextlib.contextmanager
def empty_hooks():
    with subprocess.Popen(
            [OUT / "bare_trace", OUT / "bare_hook.bpf.o", "sh", "-c",
             "echo attached; read -r end"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True) as hooks:
        hooks.stdout.readline()
        yield
        hooks.stdin.write("\n")


@contextlib.contextmanager
def page_faults():
    """(pid, measure) of a process; measure() is what a page takes it, in ns."""
    with subprocess.Popen([OUT / "faults"], stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE) as process:
        def measure():
            process.stdin.write("\n")
            process.stdin.flush()
            return float(process.stdout.readline())
        yield process.pid, measure
        process.stdin.close()


COMPILER = ["g++", "-std=c++20", "-O1", "-c", "-I", trace_measures.ROOT / "src",
            trace_measures.COMPILED, "-o", OUT / "compiled.o"]
PROGRAMS = ["sh", "-c", "for i in $(seq 300); do /bin/true; done"]


def settled(arranged, command, traced=()):
    """CPU time of a command and its children, in ns, without that of the tracer it may
    be below. A trace is not as it begins, and caches are not empty: for all alike."""
    file = OUT / "user.usage"
    with arranged:
        time.sleep(2.5)
        call(*command)
        call(*traced, OUT / "usage", file, *command)
    return numbers_of(file.read_text())["cpu_ns"][0]


def in_turn(rounds, measures):
    """Of each the values of all rounds, each in an order of its own: what comes
    after what must not matter."""
    found = {name: [] for name in measures}
    for _ in range(rounds):
        for name in random.sample(list(measures), len(measures)):
            found[name].append(measures[name]())
    return found


def paired(found, name, other, bar=None, unit="ms", scale=MS):
    """The median of the ratios of each round: what the machine does to a round
    it does to both."""
    ratios = [a / b for a, b in zip(found[name], found[other])]
    return Row(f"{name} / {other}", statistics.median(ratios),
               min(found[name]) / min(found[other]), bar,
               beside=f"{statistics.median(found[name]) / scale:.0f} {unit}, "
                      f"{statistics.median(found[other]) / scale:.0f} {unit}")


def measure_faults(rounds):
    with page_faults() as (pid, measure):
        def inside(arranged):
            with arranged:
                return measure()
        found = in_turn(rounds, {
            "page faults": measure,
            "page faults again": measure,
            "two empty hooks": lambda: inside(empty_hooks()),
            "page faults of another": lambda: inside(somebody_followed()),
            "page faults with stacks": lambda: inside(followed(pid))})
    in_ns = {"unit": "ns a page", "scale": 1}
    yield paired(found, "page faults again", "page faults", **in_ns)
    yield paired(found, "two empty hooks", "page faults", **in_ns)
    yield paired(found, "page faults of another", "page faults", **in_ns)
    yield paired(found, "page faults of another", "two empty hooks", 1.02, **in_ns)
    yield paired(found, "page faults with stacks", "page faults", 1.1, **in_ns)
    yield paired(found, "page faults with stacks", "two empty hooks", **in_ns)


def measure_short(rounds, traced):
    """From the first instruction on, while files of the program are read."""
    churned = trace_measures.churned
    found = in_turn(rounds, {
        "a third of a second of them": lambda: churned([]),
        "the same again": lambda: churned([]),
        "the same with stacks": lambda: churned(traced)})
    yield paired(found, "the same again", "a third of a second of them")
    yield paired(found, "the same with stacks", "a third of a second of them", 1.1)


def measure_program(name, command, rounds, traced):
    alone = contextlib.nullcontext
    found = in_turn(rounds, {
        name: lambda: settled(alone(), command),
        "the same again": lambda: settled(alone(), command),
        "the same, two empty hooks": lambda: settled(empty_hooks(), command),
        "the same beside one that is followed":
            lambda: settled(somebody_followed(), command),
        "the same with stacks": lambda: settled(alone(), command, traced)})
    yield paired(found, "the same again", name)
    yield paired(found, "the same, two empty hooks", name)
    yield paired(found, "the same beside one that is followed", name, 1.02)
    yield paired(found, "the same with stacks", name, 1.1)


def measure_user(scale):
    build()
    traced = [TIDEMARK, "trace", "-q", "--user", "-o", "/dev/null", "--"]
    yield from measure_faults(scale(15))
    yield from measure_short(scale(25), traced)
    yield from measure_program("g++ of one file", COMPILER, scale(9), traced)
    yield from measure_program("300 programs started", PROGRAMS, scale(15), traced)
