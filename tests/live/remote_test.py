#!/usr/bin/env python3
"""record of a proc tree that is no procfs of this kernel: an sshfs mount and a
copy. Nobody is stalled there, so every tick is read in full, however slow."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import unittest

from live import Python, RecordingFolder, is_root, run, wait_for

MIB = 1 << 20
# Grows to 72 MB in 24 steps.
GROWS = """
import threading, time
held = []
def grow():
    for _ in range(24):
        held.append(bytearray(b"x" * 3_000_000))
        time.sleep(0.15)
threading.Thread(target=grow, daemon=True).start()
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Trees(RecordingFolder):
    def assert_read_in_full(self, least_samples):
        samples, stale, undetailed, scanned = self.query(
            "SELECT count(*), sum(oldest_detail_ticks > 0), sum(undetailed_processes > 0), "
            "sum(scanned_processes > 0) FROM ticks")[0]
        self.assertGreaterEqual(samples, least_samples)
        self.assertEqual((stale, undetailed, scanned), (0, 0, 0))

    def peak(self):
        return self.query("SELECT max(pss) FROM (SELECT sum(pss_bytes) AS pss "
                          "FROM categories GROUP BY tick)")[0][0]


@unittest.skipUnless(is_root(), "needs root: sshfs of /proc through an sshd of its own")
@unittest.skipUnless(shutil.which("sshfs"), "needs the package sshfs")
@unittest.skipUnless(shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin"),
                     "needs the package openssh-server")
@unittest.skipUnless(os.path.exists("/dev/fuse"), "needs /dev/fuse")
class Sshfs(Trees):
    def setUp(self):
        super().setUp()
        self.mount = self.folder / "mount"
        self.mount.mkdir()
        self.port = free_port()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                            self.folder / name], check=True)
        # Where it separates privileges; its package leaves that to systemd.
        separation = pathlib.Path("/run/sshd")
        if not separation.exists():
            separation.mkdir(mode=0o755)
            self.addCleanup(separation.rmdir)
        self.start(
            shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin"), "-D", "-e",
            "-f", "/dev/null", "-p", self.port, "-h", self.folder / "host",
            *self.options(ListenAddress="127.0.0.1", PidFile="none", StrictModes="no",
                          AuthorizedKeysFile=self.folder / "user.pub",
                          PermitRootLogin="prohibit-password",
                          Subsystem="sftp internal-sftp"))
        self.assertTrue(wait_for(self.is_listening), "sshd does not listen")
        self.start("sshfs", "-f", "root@127.0.0.1:/proc", self.mount, "-p", self.port,
                   *self.options(direct_io=None, IdentityFile=self.folder / "user",
                                 StrictHostKeyChecking="no", BatchMode="yes",
                                 UserKnownHostsFile="/dev/null"))
        self.addCleanup(lambda: subprocess.run(["fusermount3", "-u", "-z", self.mount],
                                               check=False))
        self.assertTrue(wait_for((self.mount / "meminfo").exists), "sshfs does not mount")

    @staticmethod
    def options(**values):
        return [word for name, value in values.items()
                for word in ("-o", name if value is None else f"{name}={value}")]

    def start(self, *command):
        process = subprocess.Popen([str(word) for word in command],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def end():
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=10)

        self.addCleanup(end)

    def is_listening(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def test_a_growing_process_is_read_in_full_at_every_tick(self):
        for interval, count in (("500ms", 12), ("1s", 6)):
            with self.subTest(interval=interval), Python(GROWS) as work:
                done = run("record", "-o", self.file, "--interval", interval, "--count",
                           count, work.pid, env={**os.environ, "PROCFS": str(self.mount)})
                first = done.stderr.splitlines()[0]
                self.assertIn("in full at every tick", first)
                self.assert_read_in_full(least_samples=count)
                self.assertGreaterEqual(self.peak(), 72_000_000)
                self.assertLess(self.peak(), 90_000_000)
                self.file.unlink()


class Copy(Trees):
    def test_a_copy_is_read_in_full_however_large(self):
        pages = 9_000_000
        process = self.folder / "proc/7"
        process.mkdir(parents=True)
        (process / "stat").write_text(
            "7 (vast) S 1 7 7 0 -1 4194560 1 0 2 0 1 2 0 0 20 0 1 0 100 4096 10\n")
        (process / "statm").write_text(f"{pages} {pages} 0 0 0 0 0\n")
        (process / "smaps").write_text(
            "7f0000000000-7f0900000000 rw-p 00000000 00:00 0 \n"
            f"Size: {4 * pages} kB\nRss: {4 * pages} kB\nPss: {4 * pages} kB\n"
            f"Anonymous: {4 * pages} kB\n")
        done = run("record", "-o", self.file, "--interval", "100ms", "--count", 5, "--proc",
                   self.folder / "proc", 7)
        self.assertIn("in full at every tick", done.stderr.splitlines()[0])
        self.assert_read_in_full(least_samples=5)
        self.assertEqual(self.peak(), 4096 * pages)


if __name__ == "__main__":
    unittest.main()
