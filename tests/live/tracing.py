"""What the live tests of `trace` share: a workload that is told what to take,
and tidemark while it traces."""

import contextlib
import json
import pathlib
import signal
import subprocess
import tempfile

from live import TIDEMARK, workload

KEPT = 20_000


class Taker:
    """The workload, told line by line what to take."""

    def __init__(self):
        self.process = subprocess.Popen(
            [workload("taker")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, bufsize=1, errors="surrogateescape")
        self.pid = self.process.pid
        self.expect("ready")

    def expect(self, word):
        line = self.process.stdout.readline()
        assert line == word + "\n", line

    def tell(self, *words, answer="done"):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        self.expect(answer)

    def page_table_pages(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmPTE:")[1].split()[0]) // 4

    def own_pages(self):
        """Anonymous ones and those of its page tables."""
        words = pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()
        return int(words[1]) - int(words[2]) + self.page_table_pages()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


class Tracer:
    """tidemark while it traces; its report once it has been stopped."""

    def __init__(self, *arguments, stop=signal.SIGINT):
        self.file = tempfile.NamedTemporaryFile()
        self.stop_signal = stop
        self.process = subprocess.Popen(
            [TIDEMARK, "trace", "-o", self.file.name, *map(str, arguments)],
            stdin=subprocess.DEVNULL,  # on a terminal it would open its screen
            stderr=subprocess.PIPE, text=True)
        self.words = self.process.stderr.readline()
        assert "tracing" in self.words, self.words

    def report(self, is_text=True):
        self.process.send_signal(self.stop_signal)
        assert self.process.wait(30) == 0, self.process.stderr.read()
        if not is_text:
            return None
        return pathlib.Path(self.file.name).read_text()

    def json(self):
        return json.loads(self.report())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.file.close()


def frames_of(pid):
    """Frame numbers of all anonymous pages of a process."""
    frames = set()
    with open(f"/proc/{pid}/maps", encoding="utf-8",
              errors="surrogateescape") as maps, open(
                  f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:
        for line in maps:
            words = line.split()
            if len(words) > 5 or "w" not in words[1]:
                continue
            first, last = (int(edge, 16) // 4096 for edge in words[0].split("-"))
            pagemap.seek(first * 8)
            entries = memoryview(pagemap.read((last - first) * 8)).cast("Q")
            frames.update(entry & ((1 << 55) - 1) for entry in entries
                          if entry >> 63)
    return frames


def task_of(report, pid):
    found = [task for task in report["tasks"] if task["pid"] == pid]
    assert len(found) == 1, [task["pid"] for task in report["tasks"]]
    return found[0]


def pages_of(report, pid):
    """What a process holds; nothing when it is not in the report."""
    return sum(task["pages"] for task in report["tasks"] if task["pid"] == pid)


def sums_are_right(node):
    below = sum(child["pages"] for child in node.get("stacks", []))
    return node["pages"] == node["own_pages"] + below and all(
        map(sums_are_right, node.get("stacks", [])))
