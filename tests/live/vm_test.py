#!/usr/bin/env python3
"""`vm` on stand-ins of monitors that speak the real protocols, well and badly."""

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live
import vmm

SCRIPT = pathlib.Path(__file__).with_name("vmm.py")
DEADLINE_NS = 500_000_000


class StandIn:
    """Ended by pid, whatever happens."""

    def __init__(self, program, arguments, mode, path, **variables):
        self.process = subprocess.Popen(
            [program, "-S", "-E", SCRIPT, *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env={"MODE": mode, "SOCKET": path, **variables})
        self.pid = self.process.pid
        if self.process.stdout.readline() != "ready\n":
            self.end()
            raise AssertionError("the stand-in did not start")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Vms(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="tidemark-vm."))
        self.count = 0

    def start(self, name, mode="ok", path=None, **variables):
        program = f"{self.folder}/{name}"
        if not os.path.exists(program):
            shutil.copy(os.path.realpath(sys.executable), program)
        self.count += 1
        path = path or f"{self.folder}/{self.count}.sock"
        arguments = {
            "crosvm": ["run", "--mem", vmm.RAM // vmm.MIB, "--socket", path],
            "firecracker": ["--api-sock", path, "--id", "fc"],
            "cloud-hypervisor": ["--api-socket", f"path={path}"],
            "qemu-system-x86_64": ["-m", vmm.RAM // vmm.MIB, "-name", "guest=stand-in",
                                   "-qmp", f"unix:{path},server=on"]}[name]
        stand_in = StandIn(program, map(str, arguments), mode, path, **variables)
        self.addCleanup(stand_in.end)
        return stand_in

    def read(self, stand_in, *options):
        return live.run_json("vm", stand_in.pid, *options)["vms"][0]

    def state(self, *arguments):
        vm = self.read(self.start(*arguments))
        self.assertGreater(vm["cost_bytes"], vmm.TOUCHED, "the host is seen all the same")
        self.assertEqual(vm["guest"]["state"] == "told", vm["guest"]["because"] == "")
        return vm["guest"]["state"]

    def assert_split(self, vm):
        self.assertEqual(vm["guest"]["state"], "told", vm["guest"])
        self.assertEqual(vm["ram"]["configured_bytes"], vmm.RAM)
        self.assertEqual(vm["ram"]["resident_bytes"], vmm.TOUCHED)
        self.assertEqual(vm["balloon"]["size_bytes"], vmm.BALLOON)
        view = vm["guest"]["view"]
        self.assertEqual(view["limit_bytes"], vmm.TOTAL - vmm.BALLOON)
        self.assertEqual(view["used_bytes"], vmm.TOTAL - vmm.BALLOON - vmm.FREE - vmm.CACHES)
        self.assertEqual(view["reserved_bytes"], vmm.RAM - vmm.TOTAL)
        self.assertEqual(sum(b["bytes"] for b in vm["bands"]), vm["bands_bytes"])

    def test_each_kind_is_found_asked_and_split(self):
        for name, found_by, resident_by in (
                ("crosvm", "name", "st_blocks"), ("cloud-hypervisor", "name", "st_blocks"),
                ("firecracker", "size", "smaps"), ("qemu-system-x86_64", "size", "smaps")):
            with self.subTest(name):
                vm = self.read(self.start(name))
                self.assert_split(vm)
                self.assertEqual((vm["ram"]["found_by"], vm["ram"]["resident_by"]),
                                 (found_by, resident_by))

    def test_crosvm_that_does_not_tell_says_why(self):
        for mode, state in (("errno", "silent"), ("none", "no_balloon"), ("hang", "silent"),
                            ("sentence", "failed"), ("garbage", "failed"),
                            ("gone", "unreachable")):
            with self.subTest(mode):
                self.assertEqual(self.state("crosvm", mode), state)

    def test_a_socket_in_a_directory_is_found(self):
        path = f"{self.folder}/sockets"
        os.mkdir(path)
        self.assert_split(self.read(self.start("crosvm", "ok", path)))

    def test_http_that_does_not_tell_says_why(self):
        for name, mode, state in (
                ("firecracker", "off", "off"), ("firecracker", "hang", "failed"),
                ("firecracker", "garbage", "failed"), ("firecracker", "gone", "unreachable"),
                ("cloud-hypervisor", "old", "off"), ("cloud-hypervisor", "garbage", "failed")):
            with self.subTest(f"{name} {mode}"):
                self.assertEqual(self.state(name, mode), state)

    def test_qemu_that_does_not_tell_says_why(self):
        for mode, state in (("none", "no_balloon"), ("hang", "busy"), ("gone", "unreachable")):
            with self.subTest(mode):
                self.assertEqual(self.state("qemu-system-x86_64", mode), state)

    def test_old_statistics_are_not_used(self):
        vm = self.read(self.start("qemu-system-x86_64", "stale"))
        self.assertTrue(vm["guest"]["stale"])
        self.assertIsNone(vm["guest"]["view"])
        self.assertIsNone(vm["could_come_back_bytes"])
        self.assertIn("statistics_stale", [f["finding"] for f in vm["findings"]])

    def test_a_stranger_on_the_socket_is_told_nothing(self):
        stand_in = self.start("qemu-system-x86_64", "garbage")
        self.assertEqual(self.read(stand_in)["guest"]["state"], "failed")
        stand_in.process.stdin.close()
        self.assertEqual(stand_in.process.stdout.read(), "")
        stand_in.process.stdin = open(os.devnull)

    def test_a_slow_vm_delays_no_other(self):
        slow = [self.start("crosvm", "hang") for _ in range(3)]
        quick = self.start("crosvm")
        start = time.monotonic()
        report = live.run_json("vm")
        took = time.monotonic() - start
        self.assertLess(took, 3 * DEADLINE_NS / 1e9)
        vms = {vm["pid"]: vm for vm in report["vms"]}
        self.assertTrue({s.pid for s in slow} < set(vms))
        self.assertEqual(vms[quick.pid]["guest"]["state"], "told")
        self.assertLess(vms[quick.pid]["guest"]["asked_ns"], DEADLINE_NS)

    def test_findings_tell_of_kills(self):
        vm = self.read(self.start("firecracker"))
        self.assertIn("oom_kills", [f["finding"] for f in vm["findings"]])

    def test_who_maps_the_same_memory_is_a_helper(self):
        stand_in = self.start("crosvm")
        link = next(f"/proc/{stand_in.pid}/fd/{n}" for n in os.listdir(f"/proc/{stand_in.pid}/fd")
                    if "crosvm_guest" in os.readlink(f"/proc/{stand_in.pid}/fd/{n}"))
        with live.Python(f"""
            import mmap, os
            fd = os.open({link!r}, os.O_RDWR)
            ram = mmap.mmap(fd, {vmm.RAM})
            for at in range(0, {vmm.RAM}, mmap.PAGESIZE):
                ram[at] = 2
            own = bytearray(b"x" * {5 * vmm.MIB})
        """) as helper:
            vm = self.read(stand_in)
        found = {p["pid"]: p for p in vm["processes"]}[helper.pid]
        self.assertEqual(found["role"], "sharer")
        self.assertEqual(found["guest_ram_rss_bytes"], vmm.RAM)
        self.assertGreater(found["own_bytes"], 5 * vmm.MIB)
        self.assertLess(found["own_bytes"], 30 * vmm.MIB, "guest RAM is not its own")
        self.assertEqual(vm["ram"]["resident_bytes"], vmm.RAM, "each page once, whoever touched it")

    def test_host_only_asks_nobody(self):
        stand_in = self.start("crosvm", "hang")
        vm = self.read(stand_in, "--host-only")
        self.assertEqual(vm["guest"]["state"], "not_asked")
        self.assertEqual([b["band"] for b in vm["bands"]], ["guest_ram", "monitor"])

    def test_a_watch_goes_on_when_a_vm_ends(self):
        first, second = self.start("crosvm"), self.start("crosvm")
        with subprocess.Popen([live.TIDEMARK, "vm", "watch", "-d", "200ms", "-n", "8", "--json"],
                              stdout=subprocess.PIPE, text=True) as watch:
            pids = [{vm["pid"] for vm in json.loads(watch.stdout.readline())["vms"]}]
            first.end()
            pids += [{vm["pid"] for vm in json.loads(line)["vms"]} for line in watch.stdout]
        self.assertEqual(watch.returncode, 0)
        self.assertEqual(len(pids), 8)
        self.assertTrue({first.pid, second.pid} <= pids[0])
        self.assertNotIn(first.pid, pids[-1])
        self.assertIn(second.pid, pids[-1])

    def test_what_the_host_caches_of_a_disk_is_told(self):
        disk = f"{self.folder}/disk.img"
        with open(disk, "wb") as file:
            file.write(b"x" * (20 * vmm.MIB))
        vm = self.read(self.start("crosvm", DISK=disk))
        self.assertEqual([(i["path"], i["size_bytes"]) for i in vm["images"]],
                         [(disk, 20 * vmm.MIB)])
        if vm["images"][0]["cached_bytes"] is None:
            self.skipTest(str(vm["images"][0]["unknown"]))
        self.assertGreater(vm["images"][0]["cached_bytes"], 10 * vmm.MIB)

    def test_memstats_is_what_its_tools_read(self):
        stand_in = self.start("crosvm")
        written = f"{self.folder}/memstats.json"
        live.run("vm", "watch", stand_in.pid, "-n", "2", "-d", "1s", "--format", "memstats",
                 "-o", written)
        with open(written, encoding="utf-8") as file:
            records = json.load(file)
        self.assertEqual([r["timestamp"] for r in records], [0, 1])
        main, balloon = records[0]["stats"][0], records[0]["balloon_stats"]
        self.assertEqual((main["pid"], main["name"]), (stand_in.pid, "crosvm"))
        self.assertGreater(main["smaps"]["Rss"] * 1024, vmm.TOUCHED)
        self.assertEqual(balloon["balloon_actual"], vmm.BALLOON)
        self.assertEqual(balloon["stats"]["total_memory"], vmm.TOTAL)
        self.assertIsNone(balloon["stats"]["shared_memory"])
        # And what we read ourselves.
        live.run("import", written, "-o", f"{self.folder}/vm.tdm")

    def test_a_recording_has_the_processes_and_what_the_guest_said(self):
        stand_in = self.start("crosvm")
        file = f"{self.folder}/vm.tdm"
        done = live.run("vm", "record", stand_in.pid, "-o", file, "-d", "200ms", "-n", "3")
        self.assertIn("recorded 3 samples", done.stderr)
        peak = live.run_json("peak", file)
        self.assertEqual([p["pid"] for p in peak["processes"]], [stand_in.pid])
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as base:
            notes = [row[0] for row in base.execute("SELECT text FROM notes")]
        told = [note for note in notes if note.startswith("guest: ")]
        self.assertEqual(len(told), 1, "it has not changed")
        self.assertIn(f"balloon_actual {vmm.BALLOON}", told[0])
        self.assertIn(f"total_memory {vmm.TOTAL}", told[0])

    def test_memstats_of_two_is_refused(self):
        self.start("crosvm"), self.start("crosvm")
        done = live.run("vm", "--format", "memstats", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("one VM", done.stderr)

    def test_misuse_is_said(self):
        for arguments in (("--qmp", "/x"), ("--poll", "1s", "--host-only"), ("no-such-vm",)):
            with self.subTest(arguments):
                self.assertNotEqual(live.run("vm", *arguments, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
