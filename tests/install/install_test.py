#!/usr/bin/env python3
"""What `cmake --install` puts where, and that the packages say the same as the
project: its version, what it needs, what the services take for granted.

files.txt lists what is installed; man pages are those that the binary names, and
the pages of docs/reading are all of them.

  TIDEMARK_BUILD=build/dev install_test.py
"""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("TIDEMARK_BUILD", ROOT / "build/dev")).resolve()
PREFIX = "/usr/local"


def text(path):
    return (ROOT / path).read_text()


def installed(folder):
    """{path: where a link leads, or ''} of all files below it."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = os.readlink(path)
        elif path.is_file():
            found[str(path.relative_to(folder))] = ""
    return found


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.destination = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.destination)
        subprocess.run(
            ["cmake", "--install", BUILD, "--prefix", PREFIX], check=True,
            stdout=subprocess.DEVNULL, env={**os.environ, "DESTDIR": cls.destination})
        cls.prefix = cls.destination / PREFIX.strip("/")

    def expected(self):
        listed = dict(
            (line + " -> ").split(" -> ")[:2] for line in (HERE / "files.txt").read_text().splitlines())
        pages = subprocess.run([self.prefix / "bin/tidemark", "manual", "--list"],
                               check=True, capture_output=True, text=True).stdout.split()
        listed |= {f"share/man/man1/{page}.1": "" for page in pages}
        for path in (ROOT / "docs/reading").rglob("*"):
            if path.is_file():
                listed[f"share/doc/tidemark/reading/{path.relative_to(ROOT / 'docs/reading')}"] = ""
        return listed

    def test_files_are_those_that_are_listed(self):
        self.assertEqual(installed(self.prefix), self.expected())

    def test_nothing_is_outside_the_prefix(self):
        self.assertEqual(len(installed(self.destination)), len(installed(self.prefix)))

    def test_nothing_is_setuid(self):
        for path in self.destination.rglob("*"):
            mode = path.lstat().st_mode
            self.assertFalse(mode & (stat.S_ISUID | stat.S_ISGID), path)
            if stat.S_ISREG(mode):
                self.assertNotIn("security.capability", os.listxattr(path))

    def test_units_are_sound(self):
        """As systemd reads them, in a root that has the binary."""
        if not shutil.which("systemd-analyze"):
            self.skipTest("no systemd-analyze: package systemd")
        for name in ("record", "metrics"):
            unit = self.prefix / f"lib/systemd/system/tidemark-{name}.service"
            # Verified where it is: what it starts stands beside it.
            unit.write_text(unit.read_text().replace(
                f"={PREFIX}/bin", f"={self.prefix}/bin"))
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit],
                                  capture_output=True, text=True)
            said = [line for line in (done.stdout + done.stderr).splitlines() if unit.name in line]
            self.assertEqual(said, [])
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_units_start_options_that_there_are(self):
        for name in ("record", "metrics"):
            unit = (self.prefix / f"lib/systemd/system/tidemark-{name}.service").read_text()
            start = re.search(r"^ExecStart=((?:.*\\\n)*.*)", unit, re.M)[1]
            usage = subprocess.run([self.prefix / "bin/tidemark", name, "--help"], check=True,
                                   capture_output=True, text=True).stdout
            for option in re.findall(r"--[a-z-]+", start):
                self.assertRegex(usage, rf"{option}\b", f"{name} has no {option}")

    def test_defaults_are_told_as_they_are(self):
        told = dict(re.findall(r"^#(TIDEMARK_\w+)=(.*)$",
                               (self.prefix / "etc/default/tidemark").read_text(), re.M))
        used = {}
        for name in ("record", "metrics"):
            unit = (self.prefix / f"lib/systemd/system/tidemark-{name}.service").read_text()
            for line in re.findall(r"^Environment=(.*)$", unit, re.M):
                # systemd takes %% for one.
                used |= dict(word.split("=", 1) for word in line.replace("%%", "%").split())
        self.assertEqual(told, used)


class Packages(unittest.TestCase):
    def test_version_is_one(self):
        version = re.search(r"project\(tidemark VERSION (\S+)", text("CMakeLists.txt"))[1]
        self.assertEqual(re.match(r"tidemark \((.*)\)", text("debian/changelog"))[1], version)
        self.assertEqual(
            re.search(r"^Version:\s*(\S+)", text("packaging/rpm/tidemark.spec"), re.M)[1], version)

    def test_debian_needs_what_the_project_needs(self):
        listed = {line.split("#")[0].strip() for line in text("packaging/build-packages.txt").splitlines()}
        wanted = re.search(r"^Build-Depends: (.*(?:\n .*)*)", text("debian/control"), re.M)[1]
        named = {re.match(r"\S+", item.strip())[0] for item in wanted.split(",")}
        # Of build-essential, and of Debian's own tools.
        self.assertEqual(named - {"debhelper-compat"}, listed - {"g++", ""})


if __name__ == "__main__":
    unittest.main()
