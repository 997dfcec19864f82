#!/usr/bin/env python3
"""Traces the boot of Debian's kernels in QEMU, in initramfs images that Debian's
dracut built: by dracut's own module, which starts us as memstrack, and by ours.
In each a hook loads modules and gives them something to hold.
"""

import contextlib
import functools
import os
import pathlib
import re
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dracut
import guest
from tracing import TIDEMARK, modules_without_stacks

DATA_PAGES = 4096  # that do not compress, in a block device of zram's
DISK_PAGES = 8192
FILE_PAGES = 732  # of a file in the squashfs
WRITTEN_PAGES = 1024  # of a file on a second disk
DRIVERS = ("zram", "lzo-rle", "loop", "squashfs", "overlay", "ext4", "virtio_blk",
           "virtio_pci")
# ext4 is part of the kernels for clouds, and a module in those for PCs.
FLAVOURS = {"6.1": "cloud-amd64", "6.12": "amd64"}
OURS = guest.ROOT / "packaging/dracut/99tidemark"

# A module of dracut's with the hooks of this test. What it sends goes through the
# second port, as guest.py reads it.
SETUP = """#!/bin/bash
check() { return 255; }
depends() { echo base; }
installkernel() { hostonly='' instmods DRIVERS; }
install() {
    inst_multiple dd sync mount cat mkdir wc grep sleep stty
    inst_simple "$moddir/lib.sh" /lib/boottest-lib.sh
    inst_simple "$moddir/some.squashfs" /some.squashfs
    inst_hook pre-mount 50 "$moddir/load.sh"
    inst_hook cleanup 999 "$moddir/end.sh"
}
""".replace("DRIVERS", " ".join(DRIVERS))
LIB = """
stty -F /dev/ttyS1 raw
send() {
  printf '@ %s %d\\n' "$1" "$(wc -c <"$2")" >/dev/ttyS1
  cat "$2" >/dev/ttyS1
  echo >/dev/ttyS1
}
"""
LOAD = f"""#!/bin/sh
. /lib/boottest-lib.sh
for module in zram loop squashfs overlay ext4; do
  modprobe $module
done
echo {DISK_PAGES * 4}K >/sys/block/zram0/disksize
dd if=/dev/urandom of=/dev/zram0 bs=64k count={DATA_PAGES // 16} 2>/dev/null
sync
mkdir -p /t/lower /t/up
mount -o loop /some.squashfs /t/lower
cat /t/lower/* >/dev/null
mount -t tmpfs tmpfs /t/up
mkdir /t/up/upper /t/up/work /t/up/root
mount -t overlay overlay -o lowerdir=/t/lower,upperdir=/t/up/upper,workdir=/t/up/work \\
  /t/up/root
echo changed >>/t/up/root/data
mkdir /t/disk
mount -t ext4 /dev/vdb /t/disk
dd if=/dev/zero of=/t/disk/data bs=4k count={WRITTEN_PAGES} 2>/dev/null
sync
send zram /sys/block/zram0/mm_stat
cat /proc/modules >/run/modules
send modules /run/modules
echo /etc/initrd-releas[e] >/run/mark
send mark /run/mark
pid=$(cat /run/memstrack.pid /run/initramfs/tidemark.pid 2>/dev/null)
kill -HUP $pid
send comm /proc/$pid/comm
"""
END = """#!/bin/sh
. /lib/boottest-lib.sh
for report in /.memstrack /run/initramfs/tidemark.txt; do
  [ ! -e $report ] || send report $report
done
send cmdline /proc/cmdline
: >/run/empty
send end /run/empty
echo o >/proc/sysrq-trigger
sleep 10
"""
# The tracer's own memory, from the hook: it may be gone at the end.
STATUS = """
grep -E '^(VmHWM|RssAnon|RssFile|RssShmem|VmRSS)' /proc/$pid/status >/run/status
send status /run/status
cat /proc/$pid/smaps >/run/smaps
send smaps /run/smaps
"""
# What dracut wants of a root: enough to come to its last hook.
ROOT = ("sbin/init", "etc/os-release", "proc/", "sys/", "dev/", "run/")
SQUASH = """
mkdir /squash
head -c FILE_BYTES /dev/urandom >/squash/data
mksquashfs /squash /usr/lib/dracut/modules.d/98boottest/some.squashfs -quiet \\
  -no-progress -noI -noD
""".replace("FILE_BYTES", str(FILE_PAGES * 4096))


def kernel(series):
    return guest.kernel(series, FLAVOURS[series])


def image(series, modules, files):
    """An initramfs with the hooks of this test."""
    booted = kernel(series)
    started = time.monotonic()
    hooks = f"{dracut.MODULES}/98boottest"
    files = {f"{hooks}/module-setup.sh": SETUP, f"{hooks}/lib.sh": LIB,
             f"{hooks}/load.sh": LOAD + STATUS, f"{hooks}/end.sh": END,
             "usr/bin/tidemark": pathlib.Path(TIDEMARK), **files}
    archive = dracut.image(booted, ("base", "rootfs-block", "udev-rules", "boottest",
                                    *modules), files, SQUASH, DRIVERS)
    print(f"Linux {booted.version}: an image of {len(archive) >> 20} MiB in "
          f"{time.monotonic() - started:.1f} s", file=sys.stderr)
    return archive


def boot(series, archive, kernel_arguments):
    """What the guest has left, a guest.Ran."""
    booted = kernel(series)
    with contextlib.ExitStack() as stack:
        drives = []
        for content in (dracut.disk(ROOT), dracut.disk(("lost/",), 16)):
            disk = stack.enter_context(tempfile.NamedTemporaryFile())
            disk.write(content)
            disk.flush()
            drives += ["-drive", f"file={disk.name},format=raw,if=virtio"]
        with guest.Guest(
                booted, archive,
                kernel_arguments="root=/dev/vda rootfstype=ext4 ro rd.shell=0 "
                f"{kernel_arguments}",
                qemu_arguments=drives
        ) as running:
            running.wait(300)
            ran = guest.Ran(running.outputs(), running.console(), running.seconds())
    print(f"Linux {booted.version} booted and ended in {ran.seconds:.1f} s",
          file=sys.stderr)
    return ran


def held_by_zram(ran):
    """Pages: its data as zram itself says (the third number), and what it has for
    that: 24 bytes for each page of the device, a handle and a struct of zsmalloc's
    (72 bytes) for each that is held."""
    data = int(ran.text("zram").split()[2]) // 4096
    assert data >= DATA_PAGES, data
    return data + (DISK_PAGES * 24 + data * 72) // 4096


def loadable(series, *names):
    """Those that are no part of the kernel's image: ext4 is in some."""
    return [name for name in names if kernel(series).modules(name)]


def pages_of(text, name, words="using"):
    """Of a line of memstrack's, or of module_any (words="on the stacks of")."""
    found = re.search(rf"^Module {name} {words} \S+ \((\d+) pages\)", text, re.M)
    return int(found[1]) if found else 0


COLUMNS = ("image", "loading", "later", "cache", "slab", "now")


def pages_in_table(text, name, column="now"):
    """Of the report `modules`, where each page is its innermost module's."""
    before = COLUMNS.index(column)
    found = re.search(rf"^ *(?:\S+ +){{{before}}}~?([\d.]+)([KMG]?) .*  {name}(?: \(|$)",
                      text, re.M)
    scale = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return round(float(found[1]) * scale[found[2]] / 4096) if found else 0


class Checks:
    """What holds whoever started the trace."""

    def test_the_report_is_whole(self):
        print(self.report[:3000], file=sys.stderr)
        begun = re.findall(r"^=+ Report format (\S+): =+$", self.report, re.M)
        ended = re.findall(r"^=+ Report format (\S+) END =+$", self.report, re.M)
        self.assertEqual(begun, self.reports)
        self.assertEqual(begun, ended)
        self.assertNotIn("events lost", self.report)

    def test_the_tracer_is_small(self):
        fields = dict(re.findall(r"(\w+):\s+(\d+) kB", self.ran.text("status")))
        print(fields, file=sys.stderr)
        # Beside the tables it shares with the kernel.
        tables = sum(map(int, re.findall(r"bpf-map\n(?:\w+:.*\n)*?Rss: +(\d+) kB",
                                         self.ran.text("smaps"))))
        print("of which tables:", tables, "kB", file=sys.stderr)
        self.assertGreater(tables, 0)
        self.assertLessEqual(int(fields["VmRSS"]) - tables, 10 << 10)

    def test_it_goes_on_after_sighup(self):
        # The report is from later than that, and has what was done before it.
        self.assertEqual(self.ran.text("comm"), self.comm + "\n")


@functools.cache  # For both of its levels.
def dracuts_own_image():
    return image("6.1", ("systemd", "systemd-initrd", "dracut-systemd", "memstrack"),
                 {"usr/bin/memstrack": "-> tidemark"})


class OfDracutsOwnModule(Checks):
    """99memstrack as Debian ships it, with systemd; Linux 6.1."""
    comm = "memstrack"

    @classmethod
    def setUpClass(cls):
        try:
            cls.ran = boot(
                "6.1", dracuts_own_image(),
                f"rd.memdebug={cls.level} systemd.journald.forward_to_console=1")
        except guest.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        cls.report = cls.ran.text("report")

    def test_it_knows_an_initramfs(self):
        self.assertEqual(self.ran.text("mark"), "/etc/initrd-release\n")

    def test_dracut_prints_it(self):
        self.assertRegex(self.ran.console, r"Started.*memstrack\.service")
        for report in self.reports:
            self.assertRegex(
                self.ran.console,
                rf"dracut-pre-pivot\[\d+\]: =+ Report format {report} END")

    def test_modules_have_what_they_hold(self):
        held = held_by_zram(self.ran)
        of_zram = pages_of(self.report, "zram") + pages_of(self.report, "zsmalloc")
        print("zram itself:", held, "traced:", of_zram, file=sys.stderr)
        self.assertAlmostEqual(of_zram, held, delta=held * 0.02)
        for module in loadable("6.1", "squashfs", "loop", "overlay", "ext4"):
            self.assertGreater(pages_of(self.report, module), 0, module)


class ByDracutsOwnModule(OfDracutsOwnModule, unittest.TestCase):
    level = 5
    reports = ["module_summary", "module_top"]

    def test_the_largest_stacks_of_every_module_follow(self):
        self.assertEqual(modules_without_stacks(self.report), [])


class ByDracutsOwnModuleInShort(OfDracutsOwnModule, unittest.TestCase):
    level = 4
    reports = ["module_summary"]

    def test_it_has_no_stacks(self):
        self.assertNotIn("Top stack usage", self.report)
        lines = [line for line in self.report.splitlines() if line]
        self.assertTrue(all(line.startswith(("Module ", "=")) or
                            line.endswith("too high or too low") for line in lines), lines)


class ByOurModule(Checks, unittest.TestCase):
    """Without systemd, from before init on by the kernel's own buffer; Linux 6.12
    for PCs."""
    comm = "tidemark"
    reports = ["modules", "crash_kernel", "peak", "module_any", "task_summary", "tree"]

    @classmethod
    def setUpClass(cls):
        folder = f"{dracut.MODULES}/99tidemark"
        files = {f"{folder}/{path.name}": path for path in OURS.glob("*.sh")}
        try:
            cls.ran = boot(
                "6.12", image("6.12", ("tidemark",), files),
                "rd.tidemark=3 trace_event=kmem:mm_page_alloc,kmem:mm_page_free "
                "trace_options=stacktrace trace_clock=mono trace_buf_size=16M")
        except guest.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        cls.report = cls.ran.text("report")

    def test_it_is_on_the_console_too(self):
        self.assertIn("Report format tree END", self.ran.console)

    def test_modules_have_what_they_hold_by_both_rules(self):
        held = held_by_zram(self.ran)
        # Every stack with code of zram, wherever it stands.
        any_of_zram = pages_of(self.report, "zram", "on the stacks of")
        print("zram itself:", held, "traced:", any_of_zram, file=sys.stderr)
        self.assertAlmostEqual(any_of_zram, held, delta=held * 0.02)
        for module in loadable("6.12", "squashfs", "loop", "overlay", "ext4"):
            self.assertGreater(pages_of(self.report, module, "on the stacks of"), 0,
                               module)
        self.assertRegex(self.report, r"\n[^\n]* zram \(loaded since\)\n")
        innermost = {name: pages_in_table(self.report, name)
                     for name in ("zram", "zsmalloc", "squashfs", "loop", "overlay")}
        print("innermost:", innermost, file=sys.stderr)
        # zram's data was taken by code of zsmalloc, and rows add up.
        self.assertAlmostEqual(innermost["zram"] + innermost["zsmalloc"], held,
                               delta=held * 0.02)
        for module in loadable("6.12", "squashfs", "loop", "overlay"):
            self.assertGreater(innermost[module], 0, module)
        # What is written to a file is taken by code of its file system.
        written = pages_in_table(self.report, "ext4", "cache")
        print("written by ext4:", written, "of", WRITTEN_PAGES, file=sys.stderr)
        self.assertAlmostEqual(written, WRITTEN_PAGES, delta=WRITTEN_PAGES * 0.02)
        # A file that was appended to is copied into the upper folder first.
        copied = pages_in_table(self.report, "overlay", "later")
        print("copied by overlay:", copied, "of", FILE_PAGES, file=sys.stderr)
        self.assertAlmostEqual(copied, FILE_PAGES, delta=FILE_PAGES * 0.02)

    def test_images_of_modules_are_as_large_as_the_kernel_says(self):
        told = {line.split()[0]: int(line.split()[1]) // 4096
                for line in self.ran.text("modules").splitlines()}
        for module in loadable("6.12", "squashfs", "loop", "overlay", "zram", "ext4"):
            traced = pages_in_table(self.report, module, "image")
            print(module, "image:", traced, "of", told[module], file=sys.stderr)
            self.assertAlmostEqual(traced, told[module], delta=told[module] * 0.02)

    def test_it_advises_a_crash_kernel(self):
        size = re.search(r"^crashkernel=(\d+)M would do", self.report, re.M)
        self.assertTrue(size)
        # Of a guest of 256 MiB that came to the end of its boot.
        self.assertLess(int(size[1]), 400)
        self.assertGreater(int(size[1]), 64)

    def test_what_was_before_init_is_in_it(self):
        # Who unpacked the initramfs had done so before anything in it could run.
        self.assertRegex(self.report, r"unpack_to_rootfs|do_populate_rootfs|flush_buffer")


class Reset(unittest.TestCase):
    """A guest that ends without a word, while a trace keeps its report on a disk."""

    def test_the_report_of_the_last_second_is_on_the_disk(self):
        script = f"""
mkdir /disk
mount -t ext4 /dev/vda /disk || fail "cannot mount the disk"
/bin/tidemark trace --early --refresh 1s --report modules,module_any,crash_kernel \\
  --ready /run/ready -o /disk/report --quiet 3>&- &
wait_for /run/ready
for module in /late/*; do
  insmod $module || fail "cannot load $module"
done
echo {DISK_PAGES * 4}K >/sys/block/zram0/disksize
dd if=/dev/urandom of=/dev/zram0 bs=64k count={DATA_PAGES // 16} 2>/dev/null
sync
send zram /sys/block/zram0/mm_stat
# Long enough for a report where emulation makes one take seconds.
sleep 15
: >/run/empty
send end /run/empty
echo b >/proc/sysrq-trigger
sleep 10
"""
        try:
            booted = guest.kernel("6.1")
            files = {"bin/tidemark": pathlib.Path(TIDEMARK)}
            for i, (name, content) in enumerate(booted.modules("lzo-rle", "zram")):
                files[f"late/{i:02}-{name}"] = content
            with tempfile.NamedTemporaryFile() as disk:
                disk.write(dracut.disk(("lost/",), 16))
                disk.flush()
                ran = guest.run(
                    booted, script, files, ("virtio_pci", "virtio_blk", "ext4"),
                    seconds=150, qemu_arguments=(
                        "-drive", f"file={disk.name},format=raw,if=virtio"))
                report = dracut.read_from_disk(disk.name, "/report")
        except guest.Unavailable as reason:
            self.skipTest(str(reason))
        print(report, file=sys.stderr)
        held = held_by_zram(ran)
        self.assertIn("Report format crash_kernel END", report)
        self.assertAlmostEqual(pages_of(report, "zram", "on the stacks of"), held,
                               delta=held * 0.02)


if __name__ == "__main__":
    guest.main("6.1")
