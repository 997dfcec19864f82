#!/usr/bin/env python3
"""`vm` beside a real guest: what it says of the guest is what the guest says.

Here tidemark runs on the host of the tests and QEMU is what it looks at. The
guest has a balloon, and the balloon is how it is told to go on: inflating it by
so much is the word for the next step. Each step sends meminfo, which the report
of the same moment must meet within two hundredths of the guest's RAM.
"""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest

TIDEMARK = os.environ.get("TIDEMARK_STATIC", guest.ROOT / "build/dev/tests/tidemark_static")
FOLDER = pathlib.Path(__file__).parent
MIB = 1 << 20
RAM = 256 * MIB
BALLOON = 64 * MIB
GROWTH = 48 * MIB
LAST = 8 * MIB
DEVICE = "/machine/peripheral/balloon0"
POLLING = "guest-stats-polling-interval"

# For scripts of guests that are stepped by their balloon.
FUNCTIONS = """
# In pages, whether the guest's total follows the balloon or not.
balloon() {
  awk '/^balloon_inflate/ { a = $2 } /^balloon_deflate/ { b = $2 } END { print a - b }' \\
    /proc/vmstat
}
until_above() {
  while [ "$(balloon)" -lt "$1" ]; do usleep 100000; done
}
until_below() {
  while [ "$(balloon)" -gt "$1" ]; do usleep 100000; done
}
# Its length must not change between counting and sending.
step() {
  cat /proc/meminfo >/run/meminfo
  send "$1" /run/meminfo
}
"""
SCRIPT = FUNCTIONS + f"""
step idle
until_above {BALLOON // 4096}
step inflated
until_below 0
/bin/hold /run/held private {GROWTH // 4096} 3>&- &
wait_for /run/held
step grown
until_above {LAST // 4096}
"""


class Monitor:
    """A QMP client that gives the monitor up after each command."""

    def __init__(self, path):
        self.path = path

    def ask(self, command, **arguments):
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(10)
            link.connect(self.path)
            lines = link.makefile("rw")
            lines.readline()
            for request in ({"execute": "qmp_capabilities"},
                            {"execute": command, "arguments": arguments}):
                lines.write(json.dumps(request) + "\n")
                lines.flush()
                answer = {}
                while "return" not in answer and "error" not in answer:
                    answer = json.loads(lines.readline())
            return answer.get("return", answer)

    def inflate_to(self, size):
        self.ask("balloon", value=RAM - size)
        wait_for(lambda: self.ask("query-balloon")["actual"] == RAM - size)

    def polling(self):
        return self.ask("qom-get", path=DEVICE, property=POLLING)

    def set_polling(self, seconds):
        self.ask("qom-set", path=DEVICE, property=POLLING, value=seconds)

    def wait_for_statistics(self, start=None):
        """Until the guest has told them anew, from beginning to end."""
        def told():
            return self.ask("qom-get", path=DEVICE, property="guest-stats")["last-update"]
        start = start or time.time()
        wait_for(lambda: told() > start + 1)


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not come in time")
        time.sleep(0.1)


def read_vm(pid, *options):
    done = subprocess.run([TIDEMARK, "vm", str(pid), "--json", *options],
                          capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)["vms"][0]


def meminfo(text):
    return {name: int(kib) * 1024
            for name, kib in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)}


class Checks:
    """Boots once; each test looks at what was said at each step."""
    deflates = False
    backing = ()
    found_by = "ramblock"

    @classmethod
    def setUpClass(cls):
        try:
            booted = guest.kernel("6.1")
            archive = guest.initramfs(
                SCRIPT, {"bin/hold": guest.compiled(FOLDER / "hold.c")},
                booted.modules("virtio_pci", "virtio_balloon"))
        except guest.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="tidemark-vm."))
        cls.monitor = Monitor(f"{folder}/qmp")
        deflate = "on" if cls.deflates else "off"
        cls.guest = cls.enterClassContext(guest.Guest(booted, archive, qemu_arguments=(
            "-name", "under-test",
            "-qmp", f"unix:{cls.monitor.path},server=on,wait=off",
            "-device", f"virtio-balloon-pci,id=balloon0,deflate-on-oom={deflate}",
            *cls.backing)))
        cls.pid = cls.guest.process.pid
        cls.says, cls.told = {}, {}
        cls.walk()

    @classmethod
    def walk(cls):
        cls.take("idle", lambda: None)
        with subprocess.Popen(
                [TIDEMARK, "vm", "watch", str(cls.pid), "--json", "-d", "250ms"],
                stdout=subprocess.PIPE, text=True) as watch:
            lines = [watch.stdout.readline()]
            cls.take("inflated", lambda: cls.monitor.inflate_to(BALLOON))
            watch.send_signal(signal.SIGTERM)
            lines += watch.stdout
        cls.watched = [json.loads(line)["vms"][0] for line in lines]
        cls.take("grown", lambda: cls.monitor.inflate_to(0))

    @classmethod
    def take(cls, step, begin):
        begin()
        wait_for(lambda: step in cls.guest.outputs(), 120)
        if step == "idle":
            cls.first = read_vm(cls.pid)
            cls.monitor.set_polling(1)
        cls.monitor.wait_for_statistics()
        cls.says[step] = read_vm(cls.pid)
        cls.told[step] = meminfo(cls.guest.outputs()[step].decode())

    def assert_near(self, value, expected, what):
        self.assertAlmostEqual(value, expected, delta=0.02 * RAM, msg=what)

    def test_statistics_that_are_off_are_said_to_be(self):
        # The driver tells them once, when it is loaded.
        self.assertIn(self.first["guest"]["state"], ("off", "told"))
        self.assertIn("statistics_off", [f["finding"] for f in self.first["findings"]])

    def test_ram_is_found_and_measured(self):
        ram = self.says["idle"]["ram"]
        self.assertEqual((ram["found_by"], ram["configured_bytes"]), (self.found_by, RAM))
        self.assertLess(ram["resident_bytes"], RAM)
        self.assertGreater(ram["resident_bytes"], RAM // 8)

    def test_the_guest_is_seen_as_it_sees_itself(self):
        for step, told in self.told.items():
            # What Linux reports as disk caches is every page of a file.
            caches = told["Cached"] + told["Buffers"]
            used = told["MemTotal"] - told["MemFree"] - caches
            if self.deflates and step == "inflated":
                used -= BALLOON
            with self.subTest(step):
                view = self.says[step]["guest"]["view"]
                self.assertIsNotNone(view, self.says[step]["guest"])
                self.assert_near(view["used_bytes"], used, "used")
                self.assert_near(view["caches_bytes"], caches, "caches")
                self.assert_near(view["free_bytes"], told["MemFree"], "free")

    def test_parts_close(self):
        for step, vm in self.says.items():
            view, ram = vm["guest"]["view"], vm["ram"]
            with self.subTest(step):
                self.assertEqual(
                    view["used_bytes"] + view["caches_bytes"] + view["free_bytes"]
                    + view["reserved_bytes"] + vm["balloon"]["size_bytes"], RAM)
                self.assertEqual(sum(b["bytes"] for b in vm["bands"]), vm["bands_bytes"])
                self.assertEqual(
                    sum(b["bytes"] for b in vm["bands"] if b["band"].startswith("guest")),
                    ram["resident_bytes"])

    def test_the_balloon_takes_from_the_limit_and_not_from_use(self):
        idle, inflated = self.says["idle"], self.says["inflated"]
        self.assertEqual(inflated["balloon"]["size_bytes"], BALLOON)
        self.assert_near(idle["guest"]["view"]["limit_bytes"]
                         - inflated["guest"]["view"]["limit_bytes"], BALLOON, "limit")
        self.assert_near(idle["guest"]["view"]["used_bytes"],
                         inflated["guest"]["view"]["used_bytes"], "used")
        self.assert_near(idle["guest"]["view"]["reserved_bytes"],
                         inflated["guest"]["view"]["reserved_bytes"], "reserved")

    def test_while_the_balloon_moves_use_is_right_or_unknown(self):
        used = self.says["idle"]["guest"]["view"]["used_bytes"]
        known = 0
        for vm in self.watched:
            if vm["guest"]["view"] is None:
                # Two clients: the monitor may be taken by the test.
                self.assertTrue(vm["guest"]["unsettled"] or vm["guest"]["state"] == "busy", vm)
                continue
            known += 1
            self.assert_near(vm["guest"]["view"]["used_bytes"], used, vm["guest"])
        sizes = {vm["balloon"]["size_bytes"] for vm in self.watched}
        self.assertTrue({0, BALLOON} <= sizes, sizes)
        # At least once before it moves, or after; how often is a matter of time.
        self.assertGreater(known, 0)

    def test_growth_in_the_guest_is_used_memory(self):
        before, after = (self.says[s]["guest"]["view"] for s in ("idle", "grown"))
        self.assert_near(after["used_bytes"] - before["used_bytes"], GROWTH, "used")

    def test_a_taken_monitor_is_said_to_be(self):
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(self.monitor.path)
            link.recv(1 << 16)
            vm = read_vm(self.pid)
        self.assertEqual(vm["guest"]["state"], "busy")
        self.assertLess(vm["guest"]["asked_ns"], 900_000_000)
        self.assertGreater(vm["cost_bytes"], 0)

    def test_polling_is_undone_at_the_end(self):
        self.monitor.set_polling(7)
        self.addCleanup(self.monitor.set_polling, 1)
        read_vm(self.pid, "--poll", "1s")
        self.assertEqual(self.monitor.polling(), 7)

    def test_polling_is_undone_after_sigterm(self):
        self.monitor.set_polling(7)
        self.addCleanup(self.monitor.set_polling, 1)
        watch = subprocess.Popen(
            [TIDEMARK, "vm", "watch", str(self.pid), "--poll", "2s", "--json"],
            stdout=subprocess.PIPE, text=True)
        line = watch.stdout.readline()
        watch.send_signal(signal.SIGTERM)
        rest = watch.communicate(timeout=20)[0]
        self.assertEqual(watch.returncode, 0)
        self.assertEqual(json.loads(line)["vms"][0]["guest"]["polling_interval_s"], 2, rest)
        self.assertEqual(self.monitor.polling(), 7)


class Anonymous(Checks, unittest.TestCase):
    pass


class DeflatesOnOom(Checks, unittest.TestCase):
    deflates = True


class Memfd(Checks, unittest.TestCase):
    backing = ("-object", "memory-backend-memfd,id=m,size=256M", "-machine", "memory-backend=m")
    found_by = "name"


if __name__ == "__main__":
    guest.main("6.1")
