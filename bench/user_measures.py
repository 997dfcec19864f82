"""The measure `user`: what stacks of programs cost the program that is followed,
and all others. README.md says how to read each row."""

import contextlib
import signal
import statistics
import subprocess

from measuring import BENCH, MS, OUT, TIDEMARK, Row, call, numbers_of
import trace_measures


def build():
    trace_measures.build()
    call("clang", "-target", "bpf", "-mcpu=v3", "-g", "-O2", "-Wall", "-Werror",
         "-isystem", "/usr/include/x86_64-linux-gnu", "-c",
         BENCH / "bare_hook.bpf.c", "-o", OUT / "bare_hook.bpf.o")


@contextlib.contextmanager
def somebody_followed():
    """A trace of a process that does nothing."""
    with subprocess.Popen(["sleep", "600"]) as still:
        tracer = subprocess.Popen(
            [TIDEMARK, "trace", "--user", str(still.pid), "-o", "/dev/null"],
            stderr=subprocess.PIPE, text=True)
        try:
            tracer.stderr.readline()
            yield
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.wait(60)
            tracer.stderr.close()
            still.kill()


def compiled(command):
    """CPU time of a compilation alone, in ns."""
    file = OUT / "user.usage"
    call(*command, OUT / "usage", file, "g++", "-std=c++20", "-O1", "-c",
         "-I", trace_measures.ROOT / "src", trace_measures.COMPILED, "-o",
         OUT / "compiled.o")
    return numbers_of(file.read_text())["cpu_ns"][0]


def in_turn(rounds, measures):
    """Of each the values of all rounds."""
    found = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            found[name].append(measure())
    return found


def paired(found, name, other, bar=None, label=None):
    """The median of the ratios of each round: what the machine does to a round
    it does to both."""
    ratios = [a / b for a, b in zip(found[name], found[other])]
    return Row(label or f"{name} / {other}", statistics.median(ratios),
               min(found[name]) / min(found[other]), bar,
               beside=f"{statistics.median(found[name]) / MS:.0f} ms, "
                      f"{statistics.median(found[other]) / MS:.0f} ms")


def measure_user(scale):
    build()
    traced = [TIDEMARK, "trace", "-q", "--user", "-o", "/dev/null", "--"]
    churned = trace_measures.churned

    def beside_one():
        with somebody_followed():
            return churned([])

    faults = in_turn(scale(15), {
        "page faults": lambda: churned([]),
        "page faults again": lambda: churned([]),
        "two empty hooks": lambda: churned(
            [OUT / "bare_trace", OUT / "bare_hook.bpf.o"]),
        "page faults of another": beside_one,
        "page faults with stacks": lambda: churned(traced)})
    yield paired(faults, "page faults again", "page faults")
    yield paired(faults, "two empty hooks", "page faults")
    yield paired(faults, "page faults of another", "page faults")
    yield paired(faults, "page faults of another", "two empty hooks", 1.02)
    yield paired(faults, "page faults with stacks", "page faults", 1.1)
    yield paired(faults, "page faults with stacks", "two empty hooks")

    def compiled_beside_one():
        with somebody_followed():
            return compiled([])

    work = in_turn(scale(9), {
        "g++ of one file": lambda: compiled([]),
        "g++ again": lambda: compiled([]),
        "g++ beside one that is followed": compiled_beside_one,
        "g++ with stacks": lambda: compiled(traced)})
    yield paired(work, "g++ again", "g++ of one file")
    yield paired(work, "g++ beside one that is followed", "g++ of one file", 1.02)
    yield paired(work, "g++ with stacks", "g++ of one file", 1.1)
