#!/usr/bin/env python3
"""`vm` beside two guests at once, and what the host does with their memory.

One has anonymous RAM and a disk, the other a shared memfd, free page reporting
and virtiofsd for a helper. What is said of each is set against the guest's own
meminfo and the host's own smaps, within two hundredths of the guest's RAM. What
a machine does not allow (swap, huge pages, KSM) is skipped with the reason, and
put back as it was.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest
import vm_test as vm
from vm_test import MIB, RAM, Monitor, meminfo, read_vm, wait_for

DISK = 72 * MIB
GROWTH = 48 * MIB
SAME = 40 * MIB
VIRTIOFSD = "/usr/lib/qemu/virtiofsd"

# The balloon is the word for the next step: each wants it a MiB larger.
STEPS = """
next=0
wait_step() {
  next=$((next + 256))
  until_above $next
}
"""
DISK_SCRIPT = vm.FUNCTIONS + STEPS + f"""
step idle
wait_step
exec 4</dev/vda
dd if=/dev/vda of=/dev/null bs=1M 2>/dev/null
step cached
wait_step
/bin/hold /run/held private {GROWTH // 4096} 3>&- 4<&- &
wait_for /run/held
step grown
wait_step
kill $!
exec 4<&-
echo 3 >/proc/sys/vm/drop_caches
step freed
wait_step
dd if=/dev/zero of=/run/same bs=1M count={SAME // MIB} 2>/dev/null
step same
wait_step
"""
SHARED_SCRIPT = vm.FUNCTIONS + STEPS + f"""
step idle
wait_step
mkdir /shared
mount -t virtiofs files /shared && cat /shared/large >/dev/null
step cached
wait_step
/bin/hold /run/held private {GROWTH // 4096} 3>&- &
wait_for /run/held
step grown
wait_step
kill $!
umount /shared
echo 3 >/proc/sys/vm/drop_caches
step freed
wait_step
wait_step
"""


def smaps_sum(pid, is_wanted):
    """{field: bytes} over the mappings whose head the caller wants."""
    sums, wanted = {}, False
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if re.match(r"^[0-9a-f]+-[0-9a-f]+ ", line):
            wanted = is_wanted(line)
        elif wanted and (field := re.match(r"^(\w+):\s+(\d+) kB$", line)):
            sums[field[1]] = sums.get(field[1], 0) + int(field[2]) * 1024
    return sums


def is_of_size(size):
    def matches(head):
        first, behind = head.split()[0].split("-")
        return int(behind, 16) - int(first, 16) == size
    return matches


class Running:
    """A guest under test with its monitor, stepped by its balloon."""

    def __init__(self, folder, name, script, *arguments):
        booted = guest.kernel("6.1")
        archive = guest.initramfs(
            script, {"bin/hold": guest.compiled(vm.FOLDER / "hold.c")},
            booted.modules("virtio_pci", "virtio_balloon", "virtio_blk", "virtiofs"))
        self.monitor = Monitor(f"{folder}/{name}.qmp")
        self.guest = guest.Guest(booted, archive, qemu_arguments=(
            "-name", name, "-qmp", f"unix:{self.monitor.path},server=on,wait=off", *arguments))
        self.pid = self.guest.process.pid
        self.balloon = 0
        self.says, self.told = {}, {}

    def wait_for(self, step):
        wait_for(lambda: step in self.guest.outputs(), 120)

    def take(self, step, start=None):
        """What is said of it, once the guest has told anew since the start."""
        self.wait_for(step)
        self.monitor.set_polling(1)
        self.monitor.wait_for_statistics(start)
        self.says[step] = read_vm(self.pid)
        self.told[step] = meminfo(self.guest.outputs()[step].decode())
        self.told[step]["balloon"] = self.balloon

    def go_on(self):
        self.balloon += MIB
        self.monitor.inflate_to(self.balloon)


def balloon_device(reports):
    return ("-device", "virtio-balloon-pci,id=balloon0,deflate-on-oom=on,"
            f"free-page-reporting={'on' if reports else 'off'}")


class TwoVms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.boot()
        except guest.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        for step in ("idle", "cached", "grown", "freed"):
            for running in cls.running:
                running.wait_for(step)
            if step == "freed":
                time.sleep(6)  # free pages are reported some seconds later
            for running in cls.running:
                running.monitor.set_polling(1)
            start = time.time()  # of both, so that they are waited for together
            for running in cls.running:
                running.take(step, start)
            if step == "idle":
                cls.both = json.loads(subprocess.run(
                    [vm.TIDEMARK, "vm", "--json"], capture_output=True, check=True).stdout)
            for running in cls.running:
                running.go_on()
        cls.disk.take("same")

    @classmethod
    def boot(cls):
        if not os.path.exists(VIRTIOFSD):
            raise guest.Unavailable("no virtiofsd: package qemu-system-common")
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="tidemark-vm."))
        for name in ("disk", "files/large"):
            os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
            with open(f"{folder}/{name}", "wb") as file:
                file.write(os.urandom(DISK))
        cls.helper = subprocess.Popen(
            [VIRTIOFSD, f"--socket-path={folder}/fs", "-o", f"source={folder}/files",
             "-o", "sandbox=chroot"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=guest._end_with_parent)
        cls.addClassCleanup(cls.helper.wait)
        cls.addClassCleanup(cls.helper.kill)
        wait_for(lambda: os.path.exists(f"{folder}/fs"))
        # KSM hardly merges what lies in one huge page.
        with without_huge_pages():
            cls.disk = Running(folder, "disk-vm", DISK_SCRIPT, *balloon_device(False),
                               "-drive", f"file={folder}/disk,if=virtio,format=raw,readonly=on")
        cls.enterClassContext(cls.disk.guest)
        cls.shared = Running(
            folder, "shared-vm", SHARED_SCRIPT, *balloon_device(True),
            "-object", "memory-backend-memfd,id=m,size=256M,share=on",
            "-machine", "memory-backend=m",
            "-chardev", f"socket,id=fs,path={folder}/fs",
            "-device", "vhost-user-fs-pci,chardev=fs,tag=files")
        cls.enterClassContext(cls.shared.guest)
        cls.running = (cls.disk, cls.shared)

    def assert_near(self, value, expected, what):
        self.assertAlmostEqual(value, expected, delta=0.02 * RAM, msg=what)

    def test_both_are_found_and_told_apart(self):
        found = {v["name"]: v for v in self.both["vms"]}
        self.assertLessEqual({"disk-vm", "shared-vm"}, set(found))
        self.assertEqual(found["disk-vm"]["ram"]["found_by"], "ramblock")
        self.assertEqual(found["shared-vm"]["ram"]["found_by"], "name")
        self.assertEqual(found["shared-vm"]["ram"]["resident_by"], "st_blocks")

    def test_each_guest_is_seen_as_it_sees_itself(self):
        for running in self.running:
            for step, told in running.told.items():
                caches = told["Cached"] + told["Buffers"]
                used = told["MemTotal"] - told["MemFree"] - caches - told["balloon"]
                with self.subTest(f"{running.guest.process.args[0]} {step}"):
                    view = running.says[step]["guest"]["view"]
                    self.assertIsNotNone(view, running.says[step]["guest"])
                    self.assert_near(view["used_bytes"], used, "used")
                    self.assert_near(view["caches_bytes"], caches, "caches")
                    self.assert_near(view["free_bytes"], told["MemFree"], "free")

    def test_cache_in_the_guest_is_cache(self):
        for running in self.running:
            before, after = (running.says[s]["guest"]["view"] for s in ("idle", "cached"))
            self.assert_near(after["caches_bytes"] - before["caches_bytes"], DISK, "caches")

    def test_a_disk_in_both_caches_is_found(self):
        findings = [f["finding"] for f in self.disk.says["cached"]["findings"]]
        image = self.disk.says["cached"]["images"][0]
        if image["cached_bytes"] is None:
            self.skipTest(str(image["unknown"]))
        self.assert_near(image["cached_bytes"], DISK, "the host's cache")
        self.assertIn("cached_twice", findings)

    def test_resident_ram_is_what_smaps_and_the_memfd_say(self):
        now = read_vm(self.disk.pid)
        rss = smaps_sum(self.disk.pid, is_of_size(RAM))["Rss"]
        self.assert_near(now["ram"]["resident_bytes"], rss, "smaps")
        now = read_vm(self.shared.pid)
        blocks = next(os.stat(f"/proc/{self.shared.pid}/fd/{n}").st_blocks * 512
                      for n in os.listdir(f"/proc/{self.shared.pid}/fd")
                      if "memory-backend" in os.readlink(f"/proc/{self.shared.pid}/fd/{n}"))
        self.assert_near(now["ram"]["resident_bytes"], blocks, "blocks")

    def test_without_reporting_freed_pages_stay_held(self):
        before, after = (self.disk.says[s] for s in ("idle", "freed"))
        self.assertFalse(after["balloon"]["free_page_reporting"])
        grown = after["ram"]["resident_bytes"] - before["ram"]["resident_bytes"]
        held = after["could_come_back_bytes"] - before["could_come_back_bytes"]
        self.assertGreater(held, GROWTH)
        self.assert_near(held, grown, "all that came is held")
        self.assertIn("held_pages", [f["finding"] for f in after["findings"]])

    def test_with_reporting_freed_pages_come_back(self):
        grown, freed = (self.shared.says[s] for s in ("grown", "freed"))
        self.assertTrue(freed["balloon"]["free_page_reporting"])
        self.assertGreater(grown["ram"]["resident_bytes"] - freed["ram"]["resident_bytes"],
                           GROWTH // 2)
        self.assertLess(freed["could_come_back_bytes"],
                        self.disk.says["freed"]["could_come_back_bytes"] // 2)

    def test_virtiofsd_is_a_helper_and_its_guest_ram_counted_once(self):
        said = self.shared.says["cached"]
        helpers = [p for p in said["processes"] if p["role"] == "sharer"]
        self.assertIn("virtiofsd", {p["name"] for p in helpers})
        for helper in helpers:
            own = smaps_sum(helper["pid"], lambda head: "memory-backend" not in head)["Pss"]
            self.assert_near(helper["own_bytes"], own, "own")
            self.assertLess(helper["own_bytes"], 32 * MIB)
        touched = max(p["guest_ram_rss_bytes"] for p in helpers)
        self.assertGreater(touched, DISK // 2, "it has read the file into the guest")
        self.assertEqual(sum(b["bytes"] for b in said["bands"]), said["bands_bytes"])
        self.assertEqual(sum(b["bytes"] for b in said["bands"] if b["band"] == "helper"),
                         sum(p["own_bytes"] for p in helpers))
        self.assertNotIn("sharer", {p["role"] for p in self.disk.says["cached"]["processes"]})

    def test_merged_pages_are_taken_off(self):
        with changed({"/sys/kernel/mm/ksm/pages_to_scan": "20000",
                      "/sys/kernel/mm/ksm/sleep_millisecs": "10", "/sys/kernel/mm/ksm/run": "1"},
                     self.skipTest):
            wait_for(lambda: smaps_sum(self.disk.pid, is_of_size(RAM)).get("KSM", 0) >= SAME, 60)
            # What is merged stays so, and no more comes between the two readings.
            pathlib.Path("/sys/kernel/mm/ksm/run").write_text("0")
            said = read_vm(self.disk.pid)
            sums = smaps_sum(self.disk.pid, is_of_size(RAM))
        self.assert_near(said["ram"]["ksm_bytes"], sums["KSM"], "merged")
        self.assert_near(said["ram"]["ksm_saved_bytes"], sums["Rss"] - sums["Pss"], "saved")
        self.assertGreater(said["ram"]["ksm_saved_bytes"], SAME // 2)
        self.assertEqual(said["cost_bytes"], said["bands_bytes"] - said["ram"]["ksm_saved_bytes"])
        self.assertIn("merged", [f["finding"] for f in said["findings"]])

    def test_swapped_guest_pages_are_told(self):
        with swap_space(256 * MIB, self.skipTest):
            page_out(self.disk.pid, is_of_size(RAM), 64 * MIB)
            said = read_vm(self.disk.pid)
            sums = smaps_sum(self.disk.pid, is_of_size(RAM))
        if sums["Swap"] < 8 * MIB:
            self.skipTest(f"only {sums['Swap']} bytes could be paged out")
        self.assert_near(said["ram"]["swapped_bytes"], sums["Swap"], "swapped")
        self.assert_near(said["ram"]["resident_bytes"], sums["Rss"], "resident")
        self.assertIn("swapped", [f["finding"] for f in said["findings"]])
        self.assertEqual(sum(b["bytes"] for b in said["bands"] if b["band"].startswith("guest")),
                         said["ram"]["resident_bytes"])


class HugePages(unittest.TestCase):
    def test_ram_of_huge_pages_is_counted_though_in_no_rss(self):
        path = "/proc/sys/vm/nr_hugepages"
        with contextlib.ExitStack() as stack:
            wanted = str(int(pathlib.Path(path).read_text()) + RAM // (2 * MIB))
            stack.enter_context(changed({path: wanted}, self.skipTest))
            if pathlib.Path(path).read_text().strip() != wanted:
                self.skipTest("no room for so many huge pages")
            try:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tidemark-vm."))
                running = Running(
                    folder, "huge-vm", vm.FUNCTIONS + STEPS + "step idle\nwait_step\n",
                    *balloon_device(False), "-object",
                    "memory-backend-memfd,id=m,size=256M,hugetlb=on,hugetlbsize=2M",
                    "-machine", "memory-backend=m")
            except guest.Unavailable as reason:
                self.skipTest(str(reason))
            stack.enter_context(running.guest)
            running.take("idle")
            said = read_vm(running.pid)
            sums = smaps_sum(running.pid, lambda head: "memory-backend" in head)
        huge = sums["Private_Hugetlb"] + sums["Shared_Hugetlb"]
        self.assertEqual(sums["Rss"], 0)
        self.assertAlmostEqual(said["ram"]["hugetlb_bytes"], huge, delta=0.02 * RAM)
        self.assertAlmostEqual(said["ram"]["resident_bytes"], huge, delta=0.02 * RAM)
        self.assertGreater(said["cost_bytes"], huge)
        self.assertLess(said["monitor_rss_bytes"], said["cost_bytes"])
        self.assertIn("huge_pages", [f["finding"] for f in said["findings"]])


@contextlib.contextmanager
def without_huge_pages():
    """Of us, and of who is started meanwhile for good."""
    set_thp_disable = 41
    prctl = ctypes.CDLL(None).prctl
    prctl(set_thp_disable, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(set_thp_disable, 0, 0, 0, 0)


@contextlib.contextmanager
def changed(values, skip):
    """Files of the kernel with other values for a while."""
    before = {}
    try:
        for path, value in values.items():
            try:
                before[path] = pathlib.Path(path).read_text().strip()
                pathlib.Path(path).write_text(value)
            except OSError as error:
                skip(str(error))
        yield
    finally:
        for path in reversed(list(before)):
            pathlib.Path(path).write_text(before[path])


@contextlib.contextmanager
def swap_space(size, skip):
    """A swap file, for as long as it is needed; none where the machine has swap."""
    with tempfile.NamedTemporaryFile(dir="/var/tmp", prefix="tidemark-swap.") as file:
        os.posix_fallocate(file.fileno(), 0, size)
        for command in (["mkswap", file.name], ["swapon", file.name]):
            try:
                done = subprocess.run(command, capture_output=True, text=True)
            except FileNotFoundError as error:
                skip(str(error))
            if done.returncode != 0:
                skip(f"no swap can be had here: {done.stderr.strip()}")
        try:
            yield
        finally:
            subprocess.run(["swapoff", file.name], check=True)


def page_out(pid, is_wanted, size):
    """The first so many bytes of the wanted mapping, by process_madvise."""
    head = next(line for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
                if is_wanted(line))
    libc = ctypes.CDLL(None, use_errno=True)

    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    start = int(head.split("-")[0], 16)
    lender = os.pidfd_open(pid)
    try:
        step = 2 * MIB
        for at in range(0, size, step):
            vector = Vector(start + at, step)
            process_madvise, pageout = 440, 21
            libc.syscall(process_madvise, lender, ctypes.byref(vector), 1, pageout, 0)
    finally:
        os.close(lender)


if __name__ == "__main__":
    guest.main("6.1")
