"""What all measures share: where things are, running commands, rows."""

import dataclasses
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
RELEASE = ROOT / "build" / "release"
TIDEMARK = str(RELEASE / "tidemark")
OUT = ROOT / "build" / "bench"
MS = 1e6


class Broken(Exception):
    """Something to be mended before anything can be measured."""


@dataclasses.dataclass
class Times:
    """Nanoseconds of every round."""
    wall: list
    cpu: list


@dataclasses.dataclass
class Row:
    name: str
    value: float
    best: float = None       # the same of the best rounds
    bar: float = None
    at_least: bool = False   # the bar is a floor
    unit: str = "x"
    beside: str = ""         # absolute figures
    digits: int = 2

    def verdict(self):
        if self.bar is None:
            return ""
        good = (self.value >= self.bar if self.at_least
                else self.value <= self.bar)
        return "ok" if good else "missed"


def call(*command, **options):
    """Output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, text=True,
                          capture_output=True, check=False, **options)
    if done.returncode != 0:
        raise Broken(f"{' '.join(map(str, command))} failed:\n"
                     f"{done.stdout}{done.stderr}")
    return done


def alternate(rounds, *commands):
    """Times of each command, all run in turn."""
    words = []
    for command in commands:
        words += ["::", *command] if words else command
    output = call(OUT / "spawn", rounds, *words).stdout
    times = [Times([], []) for _ in commands]
    for line in output.splitlines():
        index, wall, cpu = map(int, line.split())
        times[index].wall.append(wall)
        times[index].cpu.append(cpu)
    return times


def median_ms(values):
    return statistics.median(values) / MS


def compare(name, ours, theirs, bar=None, labels=("ours", "theirs")):
    return Row(
        name, statistics.median(ours) / statistics.median(theirs),
        min(ours) / min(theirs), bar,
        beside=f"{labels[0]} {median_ms(ours):.3g} ms, "
               f"{labels[1]} {median_ms(theirs):.3g} ms")


def numbers_of(text):
    return {name: [int(word) for word in rest]
            for name, *rest in map(str.split, text.splitlines())}
