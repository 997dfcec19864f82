#!/usr/bin/env python3
"""The hooks of our dracut module where the tracer does not do what it should. They
run as they are, in a shell, with stand-ins for dracut and the tracer."""

import os
import pathlib
import subprocess
import tempfile
import unittest

MODULE = pathlib.Path(__file__).parents[2] / "packaging/dracut/99tidemark"
DRACUT = """
getarg() { case $1 in rd.tidemark=) echo 1 ;; esac; }
warn() { echo "warning: $*"; }
"""


class Hooks(unittest.TestCase):
    def setUp(self):
        self.made = tempfile.TemporaryDirectory()
        self.addCleanup(self.made.cleanup)
        self.root = pathlib.Path(self.made.name)
        (self.root / "bin").mkdir()

    def tracer(self, script):
        program = self.root / "bin/tidemark"
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o755)

    def hook(self, *names):
        """What is on the console when they have run, one after the other; "wait" is
        for the end of the tracer."""
        text = DRACUT + "\n".join(name if name == "wait" else (MODULE / name).read_text()
                                  for name in names)
        library = (MODULE / "tidemark-lib.sh").read_text()
        (self.root / "lib.sh").write_text(library.replace("/run/", f"{self.root}/run/"))
        text = text.replace("/lib/tidemark-lib.sh", f"{self.root}/lib.sh")
        text = text.replace(">/dev/console", "")
        path = f"{self.root}/bin:{os.environ['PATH']}"
        done = subprocess.run(["/bin/sh", "-c", text], env={**os.environ, "PATH": path},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60, check=True)
        return done.stdout.splitlines()

    def test_a_tracer_that_ends_at_once_is_told_of_with_its_reason(self):
        self.tracer("echo 'tidemark: cannot load the BPF programs' >&2; exit 1\n")
        self.assertEqual(self.hook("tidemark-start.sh", "tidemark-report.sh"), [
            "warning: tidemark: the tracer has ended (with status 1): "
            "no trace of this boot",
            "warning: tidemark: cannot load the BPF programs"])

    def test_a_tracer_that_is_killed_is_told_of(self):
        self.tracer("kill -KILL $$\n")
        self.assertEqual(self.hook("tidemark-start.sh"), [
            "warning: tidemark: the tracer has ended (by signal 9): "
            "no trace of this boot"])

    def test_a_tracer_that_ends_later_leaves_its_last_report(self):
        ready = self.root / "run/initramfs/tidemark.ready"
        self.tracer(f"echo so far >{self.root}/run/initramfs/tidemark.txt\n"
                    f"echo 'tidemark: out of memory' >&2\n: >{ready}\n")
        lines = self.hook("tidemark-start.sh", "wait", "tidemark-report.sh")
        self.assertEqual(lines, [
            "warning: tidemark: the tracer ended before the boot did; "
            "what it left follows", "warning: tidemark: out of memory", "so far"])

    def test_one_that_does_its_work_is_not_spoken_of(self):
        run = self.root / "run/initramfs"
        self.tracer(f"trap 'echo all >{run}/tidemark.txt; kill $!; exit 0' TERM\n"
                    f": >{run}/tidemark.ready\nsleep 30 & wait $!\n")
        self.assertEqual(self.hook("tidemark-start.sh", "tidemark-report.sh"), ["all"])


if __name__ == "__main__":
    unittest.main()
