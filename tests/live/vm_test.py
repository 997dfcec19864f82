#!/usr/bin/env python3
"""`vm` on stand-ins of monitors that speak the real protocols, well and badly."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live
import vmm
from stand_in import StandIn

DEADLINE_NS = 500_000_000


def end_quietly(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Vms(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="tidemark-vm."))
        self.count = 0

    def start(self, name, mode="ok", path=None, **variables):
        self.count += 1
        path = path or f"{self.folder}/{self.count}.sock"
        stand_in = StandIn(self.folder, name, mode, path, **variables)
        stand_in.wait_ready()
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

    def test_ram_that_was_plugged_in_is_ram(self):
        plugged = 32 * vmm.MIB
        vm = self.read(self.start("qemu-system-x86_64", PLUGGED=str(plugged)))
        self.assertEqual(vm["ram"]["found_by"], "size")
        self.assertEqual(vm["ram"]["configured_bytes"], vmm.RAM + plugged)
        self.assertEqual(vm["ram"]["resident_bytes"], vmm.TOUCHED + plugged)

    def test_ram_lies_where_the_monitor_says(self):
        # More parts than could be guessed from the sum, one as large as another.
        sizes = [32 * vmm.MIB, 16 * vmm.MIB, 32 * vmm.MIB]
        vm = self.read(self.start("qemu-system-x86_64", PLUGGED=",".join(map(str, sizes)),
                                  BLOCKS="1"))
        self.assertEqual(vm["ram"]["found_by"], "ramblock")
        self.assertEqual(vm["ram"]["configured_bytes"], vmm.RAM + sum(sizes))
        self.assertEqual(vm["ram"]["resident_bytes"], vmm.TOUCHED + sum(sizes))

    def test_crosvm_that_does_not_tell_says_why(self):
        for mode, state in (("errno", "silent"), ("none", "no_balloon"), ("hang", "silent"),
                            ("sentence", "failed"), ("garbage", "failed"),
                            ("gone", "unreachable")):
            with self.subTest(mode):
                self.assertEqual(self.state("crosvm", mode), state)

    def test_crosvm_in_another_language_is_asked_by_its_program(self):
        self.check_program(self.start("crosvm", "garbage"))

    def test_crosvm_on_another_kind_of_socket_is_asked_by_its_program(self):
        self.check_program(self.start("crosvm", "stream"))

    def check_program(self, stand_in):
        # What runs again is a Python, and its first word a script.
        told = json.dumps({"BalloonStats": {"stats": vmm.STATS, "balloon_actual": vmm.BALLOON}})
        with open(f"{self.folder}/balloon_stats", "w", encoding="utf-8") as script:
            script.write("import os, stat, sys\n"
                         "assert stat.S_ISSOCK(os.stat(sys.argv[1]).st_mode)\n"
                         f"print({told!r})")
        vm = live.run_json("vm", stand_in.pid, cwd=self.folder)["vms"][0]
        self.assert_split(vm)
        self.assertEqual(vm["guest"]["source"], "crosvm balloon_stats")

    def test_a_socket_beside_a_program_is_found_by_it_too(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.mkdir(f"{self.folder}/below")
        os.chdir(f"{self.folder}/below")
        stand_in = self.start("crosvm", "garbage", "relative.sock")
        os.chdir(before)
        self.check_program(stand_in)

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

    def record(self, *arguments):
        file = f"{self.folder}/vm.tdm"
        done = live.run("vm", "record", *arguments, "-o", file, "-d", "200ms")
        return file, done

    def test_a_recording_has_the_processes_and_what_the_guest_said(self):
        stand_in = self.start("crosvm")
        file, done = self.record(stand_in.pid, "-n", "3")
        self.assertIn("recorded 3 samples", done.stderr)
        peak = live.run_json("peak", file)
        self.assertEqual([p["pid"] for p in peak["processes"]], [stand_in.pid])
        recorded = live.run_json("vm", "list", file)
        self.assert_split(recorded["vms"][0])
        now = self.read(stand_in)
        for name in ("ram", "balloon", "images", "findings"):
            self.assertEqual(recorded["vms"][0][name], now[name], name)
        # All but the monitor, which is a Python and breathes.
        self.assertEqual(recorded["vms"][0]["bands"][:-1], now["bands"][:-1])
        self.assertEqual(live.run_json("info", file)["vms"]["vm_count"], 1)
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as base:
            told = base.execute("SELECT balloon_bytes, total_bytes FROM vm_guest_changes").fetchall()
            notes = base.execute("SELECT count(*) FROM notes WHERE text LIKE 'guest%'").fetchone()[0]
        self.assertEqual(set(told), {(vmm.BALLOON, vmm.TOTAL)})
        self.assertEqual(notes, 0, "figures are no words")

    def test_a_recording_is_replayed_line_by_line(self):
        first, second = self.start("crosvm"), self.start("crosvm")
        file, _ = self.record("-n", "4")
        lines = live.run("vm", "watch", file, "--format", "jsonl").stdout.splitlines()
        self.assertEqual(len(lines), 4)
        for line in lines:
            self.assertLessEqual({first.pid, second.pid}, {v["pid"] for v in json.loads(line)["vms"]})
        lines = live.run("vm", "watch", file, second.pid, "--format", "jsonl").stdout.splitlines()
        self.assertEqual({v["pid"] for line in lines for v in json.loads(line)["vms"]}, {second.pid})
        early = live.run_json("vm", "list", file, "--at", "start")
        self.assertEqual(early["time"], json.loads(lines[0])["time"])
        self.assertNotEqual(live.run("vm", "list", file, "nobody", check=False).returncode, 0)

    def test_a_recording_goes_on_when_one_vm_ends_and_ends_with_the_last(self):
        first, second = self.start("crosvm"), self.start("crosvm")
        file = f"{self.folder}/vm.tdm"
        with subprocess.Popen([live.TIDEMARK, "vm", "record", str(first.pid), str(second.pid),
                               "-o", file, "-d", "200ms"], stderr=subprocess.PIPE) as record:
            time.sleep(1)
            first.end()
            time.sleep(1)
            second.end()
            record.communicate(timeout=20)
        self.assertEqual(record.returncode, 0)
        pids = [{v["pid"] for v in json.loads(line)["vms"]} for line in
                live.run("vm", "watch", file, "--format", "jsonl").stdout.splitlines()]
        self.assertEqual(pids[0], {first.pid, second.pid})
        self.assertEqual(pids[-1] - {second.pid}, set())

    def test_kill_costs_a_recording_its_last_period(self):
        stand_in = self.start("crosvm")
        file = f"{self.folder}/vm.tdm"
        record = subprocess.Popen([live.TIDEMARK, "vm", "record", str(stand_in.pid), "-o", file,
                                   "-d", "250ms"], stderr=subprocess.DEVNULL)
        self.addCleanup(record.wait)
        time.sleep(4)
        killed = time.time_ns()
        record.kill()
        lines = live.run("vm", "watch", file, "--format", "jsonl").stdout.splitlines()
        self.assertGreater(len(lines), 8)
        with contextlib.closing(sqlite3.connect(file)) as base:
            last = base.execute("SELECT max(utc_ns) FROM vm_ticks").fetchone()[0]
        self.assertLess(killed - last, 1_800_000_000, "what is older was committed")

    def test_memstats_comes_back_from_a_recording(self):
        stand_in = self.start("crosvm")
        file, _ = self.record(stand_in.pid, "-n", "3")
        written = f"{self.folder}/memstats.json"
        live.run("vm", "watch", file, "--format", "memstats", "-o", written)
        with open(written, encoding="utf-8") as source:
            records = json.load(source)
        self.assertEqual(len(records), 3)
        again = f"{self.folder}/again.tdm"
        live.run("import", written, "-o", again)
        lines = live.run("vm", "watch", again, "--format", "memstats").stdout
        self.assertEqual([r["balloon_stats"] for r in json.loads(lines)],
                         [r["balloon_stats"] for r in records])

    def test_a_last_record_without_balloon_is_kept(self):
        written = f"{self.folder}/memstats.json"
        smaps = {"Rss": 1000, "Pss": 900, "Private_Dirty": 800}
        stats = {"total_memory": vmm.TOTAL, "free_memory": vmm.FREE, "disk_caches": vmm.CACHES}
        with open(written, "w", encoding="utf-8") as file:
            json.dump([{"timestamp": i, "stats": [{"pid": 7, "name": "crosvm", "smaps": smaps}],
                        "balloon_stats": {"stats": stats, "balloon_actual": vmm.BALLOON}
                        if i == 0 else None} for i in range(2)], file)
        file = f"{self.folder}/vm.tdm"
        live.run("import", written, "-o", file)
        states = [json.loads(line)["vms"][0]["guest"]["state"] for line in
                  live.run("vm", "watch", file, "--format", "jsonl").stdout.splitlines()]
        self.assertEqual(states, ["told", "failed"])

    def test_sigterm_ends_a_watch_with_all_it_has_read(self):
        stand_in = self.start("crosvm")
        written = f"{self.folder}/memstats.json"
        watch = subprocess.Popen([live.TIDEMARK, "vm", "watch", str(stand_in.pid), "-d", "200ms",
                                  "--format", "memstats", "-o", written])
        time.sleep(2)
        watch.terminate()
        self.assertEqual(watch.wait(20), 0)
        with open(written, encoding="utf-8") as file:
            self.assertGreater(len(json.load(file)), 3)

    def test_a_child_that_dies_or_is_a_zombie_costs_its_row_alone(self):
        stand_in = self.start("crosvm", CHILD="1")
        child = int(stand_in.process.stdout.readline())
        self.addCleanup(end_quietly, child)
        with subprocess.Popen([live.TIDEMARK, "vm", "watch", str(stand_in.pid), "-d", "200ms",
                               "-n", "10", "--json"], stdout=subprocess.PIPE, text=True) as watch:
            first = json.loads(watch.stdout.readline())["vms"][0]
            os.kill(child, signal.SIGKILL)  # its parent never waits for it
            rest = [json.loads(line)["vms"][0] for line in watch.stdout]
        self.assertEqual(watch.returncode, 0)
        self.assertIn(child, [p["pid"] for p in first["processes"]])
        self.assertEqual(len(rest), 9)
        self.assertEqual([p["pid"] for p in rest[-1]["processes"]], [stand_in.pid])

    def test_a_silent_vm_costs_the_others_no_reading(self):
        silent, quick = self.start("crosvm", "hang"), self.start("crosvm")
        # A reading that waits for the silent one takes its whole deadline.
        lines = live.run("vm", "watch", "-d", "2s", "-n", "5", "--json").stdout.splitlines()
        reports = [{v["pid"]: v for v in json.loads(line)["vms"]} for line in lines]
        self.assertEqual([r[quick.pid]["guest"]["state"] for r in reports], ["told"] * 5)
        self.assertEqual(reports[-1][silent.pid]["guest"]["state"], "silent")
        reads = [json.loads(line)["read_ns"] for line in lines]
        self.assertGreaterEqual(reads[0], DEADLINE_NS, "the first cannot know")
        self.assertLess(sorted(reads[1:])[1], DEADLINE_NS, reads)

    def test_a_vm_that_ends_while_it_is_asked_delays_no_reading(self):
        asked, quick = self.start("crosvm", "garbage"), self.start("crosvm")
        # Its program outlives it, and is given the whole time.
        with open(f"{self.folder}/balloon_stats", "w", encoding="utf-8") as script:
            script.write("import os, time\nparent = os.getppid()\nfor _ in range(160):\n"
                         "  if os.getppid() == parent: time.sleep(0.1)")
        with subprocess.Popen([live.TIDEMARK, "vm", "watch", str(asked.pid), str(quick.pid), "-d",
                               "200ms", "--timeout", "12s", "--json"], stdout=subprocess.PIPE,
                              cwd=self.folder, text=True) as watch:
            watch.stdout.readline()
            asked.end()
            start = time.monotonic()
            while asked.pid in {v["pid"] for v in json.loads(watch.stdout.readline())["vms"]}:
                pass
            took = time.monotonic() - start
            watch.kill()
        self.assertLess(took, 8)

    def test_fifty_vms_cost_little_and_a_silent_one_nothing(self):
        """The bar is 3 % of a core, and `./dev bench vm` measures it; here only a
        watch that reads everything each second would fail."""
        kinds = ("crosvm", "firecracker", "cloud-hypervisor", "qemu-system-x86_64")
        vms = [StandIn(self.folder, kinds[i % 4], "ok" if i else "hang", f"{self.folder}/m{i}")
               for i in range(50)]
        for vm in vms:
            self.addCleanup(vm.end)
        for vm in vms:
            vm.wait_ready()
        written = f"{self.folder}/watch"
        with open(written, "w", encoding="utf-8") as out:
            watch = subprocess.Popen([live.TIDEMARK, "vm", "watch", "-d", "1s", "--json"], stdout=out)
        time.sleep(3)  # the first reading is of everything
        before, start = live.cpu_seconds(watch.pid), time.monotonic()
        time.sleep(6)
        share = (live.cpu_seconds(watch.pid) - before) / (time.monotonic() - start)
        watch.terminate()
        self.assertEqual(watch.wait(20), 0)
        self.assertLess(share, 0.12)
        with open(written, encoding="utf-8") as file:
            last = {v["pid"]: v for v in json.loads(file.read().splitlines()[-1])["vms"]}
        self.assertEqual({last[vm.pid]["guest"]["state"] for vm in vms[1:]}, {"told"})

    def test_a_watch_of_a_vm_that_ends_says_so(self):
        stand_in = self.start("crosvm")
        with subprocess.Popen([live.TIDEMARK, "vm", "watch", str(stand_in.pid), "-d", "200ms",
                               "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as watch:
            watch.stdout.readline()
            stand_in.end()
            errors = watch.communicate(timeout=20)[1]
        self.assertEqual(watch.returncode, 3)
        self.assertIn("have ended", errors)

    def test_a_watch_reads_smaps_again_when_memory_has_moved(self):
        stand_in = self.start("firecracker", GROW="1")
        with subprocess.Popen([live.TIDEMARK, "vm", "watch", str(stand_in.pid), "-d", "250ms",
                               "-n", "16", "--json"], stdout=subprocess.PIPE, text=True) as watch:
            first = json.loads(watch.stdout.readline())["vms"][0]
            time.sleep(0.6)
            stand_in.process.stdin.write("grow\n")
            stand_in.process.stdin.flush()
            rest = [json.loads(line)["vms"][0] for line in watch.stdout]
        self.assertEqual(first["ram"]["resident_bytes"], vmm.TOUCHED)
        self.assertEqual(rest[-1]["ram"]["resident_bytes"], vmm.RAM)
        self.assertGreater(max(v["smaps_age_ns"] for v in rest), 0, "it is not read each time")

    def test_memstats_of_two_is_refused(self):
        self.start("crosvm"), self.start("crosvm")
        done = live.run("vm", "--format", "memstats", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("one VM", done.stderr)

    def test_memstats_stays_with_the_vm_it_began_with(self):
        first = self.start("crosvm")
        written = f"{self.folder}/memstats.json"
        watch = subprocess.Popen([live.TIDEMARK, "vm", "watch", "crosvm", "-d", "200ms", "-n", "15",
                                  "--format", "memstats", "-o", written])
        self.addCleanup(end_quietly, watch.pid)
        time.sleep(1)
        self.start("crosvm")
        time.sleep(0.6)
        first.end()
        self.assertEqual(watch.wait(20), 0)
        with open(written, encoding="utf-8") as file:
            records = json.load(file)
        self.assertGreater(len(records), 3)
        self.assertEqual({r["stats"][0]["pid"] for r in records}, {first.pid})

    def test_memstats_of_a_vm_that_has_ended_has_its_records(self):
        written, file = f"{self.folder}/memstats.json", f"{self.folder}/vm.tdm"
        alive = [{"pid": 7, "name": "crosvm", "smaps": {"Rss": 1000, "Pss": 900, "Pss_Shmem": 800}}]
        with open(written, "w", encoding="utf-8") as out:
            json.dump([{"timestamp": i, "stats": stats, "balloon_stats": None}
                       for i, stats in enumerate([[], alive, alive, []])], out)
        live.run("import", written, "-o", file)
        records = json.loads(live.run("vm", "watch", file, "--format", "memstats").stdout)
        self.assertEqual([r["stats"] for r in records], [alive, alive])

    def test_misuse_is_said(self):
        for arguments in (("--qmp", "/x"), ("--poll", "1s", "--host-only"), ("no-such-vm",)):
            with self.subTest(arguments):
                self.assertNotEqual(live.run("vm", *arguments, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
