#!/usr/bin/env python3
"""The services of an installed package under a real systemd: a Debian with the
package in it is booted in QEMU, both units are started, killed, given a full
disk, a clock that jumps and a small limit.

  services_test.py FOLDER    a Debian 12 with systemd and tidemark installed

One boot. The guest's script does everything once and sends all of it here; the
tests only look. `./dev package` runs it; making the Debian takes too long for
`./dev test`.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "guest"))
import guest

KIB, MIB = 1 << 10, 1 << 20
MEMORY_MIB = 384
IMAGE_MIB = 600
# 19: SYS_PTRACE, 2: DAC_READ_SEARCH
RIGHTS = 1 << 19 | 1 << 2

# Replaces itself by systemd; what it has brought is copied first.
TO_SYSTEMD = """
mkdir -p /root
mount -t ext4 /dev/vda /root || fail "no disk"
cp /payload/script /root/root/services_guest.sh
cp /payload/services /root/root/services_of_package.sh
cp /payload/unit /root/etc/systemd/system/services-test.service
mkdir -p /root/etc/systemd/system/multi-user.target.wants
ln -s ../services-test.service /root/etc/systemd/system/multi-user.target.wants/
exec 3>&-
umount /sys /dev /run
exec switch_root /root /lib/systemd/systemd systemd.unit=multi-user.target
"""
UNIT = """
[Unit]
Description=The script of the test
After=network.target systemd-journald.service
[Service]
Type=oneshot
ExecStart=/bin/bash /root/services_guest.sh
TimeoutStartSec=infinity
StandardOutput=journal+console
StandardError=journal+console
"""


def image_of(folder, image):
    with open(image, "wb") as file:
        file.truncate(IMAGE_MIB * MIB)
    subprocess.run(
        ["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", folder, image],
        check=True)


def boot(folder):
    booted = guest.kernel("6.1")
    files = {"payload/script": HERE / "services_guest.sh", "payload/unit": UNIT,
             "payload/services": guest.ROOT / "debian/tests/services"}
    archive = guest.initramfs(
        TO_SYSTEMD, files, booted.modules("virtio_pci", "virtio_blk", "ext4"))
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        image = pathlib.Path(place, "image")
        image_of(folder, image)
        disk = f"file={image},format=raw,if=virtio,cache=unsafe"
        with guest.Guest(booted, archive, memory_mib=MEMORY_MIB,
                         kernel_arguments="systemd.show_status=0 systemd.mask=serial-getty@ttyS0.service",
                         qemu_arguments=("-drive", disk)) as running:
            running.wait(2400)  # on a machine that does much else
            ran = guest.Ran(running.outputs(), running.console(), running.seconds())
    print(f"Linux {booted.version} with systemd did all in {ran.seconds:.0f} s",
          file=sys.stderr)
    return ran


class Services(unittest.TestCase):
    """Read-only: all of it was collected before the first test."""

    @classmethod
    def setUpClass(cls):
        cls.ran = boot(FOLDER)

    def assertCame(self, name):
        said = self.ran.text(name) + self.ran.text(f"{name}.stderr")
        self.assertEqual(self.ran.status(name), 0, f"{name} did not come: {said}")

    def field(self, name, key):
        return re.search(rf"^{key}[:=]\s*(.*)$", self.ran.output(name), re.M)[1]

    def test_installing_enables_and_starts_nothing(self):
        self.assertEqual(self.ran.text("enabled").split(), ["disabled", "disabled"])
        self.assertEqual(self.ran.text("not-started").split(), ["inactive", "inactive"])

    def test_own_test_of_the_package_passes(self):
        self.assertIn("services: done", self.ran.output("autopkgtest"))

    def test_starts_and_records(self):
        self.assertEqual(self.ran.status("start"), 0, self.ran.text("start.stderr"))
        self.assertCame("first-samples")
        self.assertEqual(json.loads(self.ran.output("info"))["targets"], "every process")
        self.assertEqual(self.ran.output("mode").strip(), "750")

    def test_has_two_rights_and_is_not_root(self):
        for service in ("record", "metrics"):
            uid = int(self.field(f"{service}-status", "Uid").split()[0])
            self.assertGreaterEqual(uid, 61184, "of systemd's range for services")
            for kind in ("CapEff", "CapBnd"):
                rights = int(self.field(f"{service}-status", kind), 16)
                self.assertEqual(rights, RIGHTS, f"{service}: {kind}")
            self.assertEqual(self.field(f"{service}-status", "NoNewPrivs"), "1")

    def test_is_bounded(self):
        self.assertEqual(self.field("record-limits", "MemoryMax"), str(256 * MIB))
        self.assertEqual(self.field("record-limits", "CPUQuotaPerSecUSec"), "500ms")
        self.assertEqual(self.field("record-limits", "OOMScoreAdjust"), "-500")

    def test_reads_the_processes_of_others_in_full(self):
        self.assertCame("shares")
        text = self.ran.output("scrape")
        self.assertRegex(text, r'tidemark_program_bytes\{program="systemd",measure="pss"\} [1-9]')
        self.assertNotRegex(text, r'tidemark_unread_processes\{because="denied"\} [1-9]')
        rows = json.loads(self.ran.output("peak"))["rows"]
        self.assertGreater(sum(row["pss_bytes"] for row in rows), 4 * MIB)

    def test_kill_loses_nothing_that_was_there(self):
        self.assertCame("kill")
        self.assertCame("kill-next")
        before, after = int(self.ran.text("kill-before")), int(self.ran.output("kill-after"))
        self.assertGreaterEqual(after, before)
        self.assertCame("kill-active")
        self.assertCame("kill-grows")

    def test_survives_a_clock_that_jumps(self):
        for name in ("clock-ahead", "clock-back", "clock-active", "clock-scrape"):
            self.assertCame(name)
        self.assertEqual(self.ran.output("clock-restarts").strip(), "1", "only that of the kill; " +
                         self.ran.text("journal"))

    def test_says_that_the_disk_is_full_and_goes_on(self):
        for name in ("full-said", "full-active", "full-goes-on", "full-grows"):
            self.assertCame(name)
        self.assertIn("disk full", self.ran.output("full-info"))

    def test_recordings_stay_below_their_limit(self):
        most = int(self.ran.text("cap-most"))
        print(f"limit 1024 KiB: {most // KIB} KiB at most", file=sys.stderr)
        self.assertGreater(most, MIB // 2, "it came nowhere near the limit")
        self.assertLessEqual(most, MIB)
        self.assertIn("removed to make room", self.ran.output("cap-journal"))

    def test_leaves_no_failed_unit(self):
        self.assertNotIn("tidemark", self.ran.output("failed"))

    def test_is_well_sandboxed(self):
        for service in ("record", "metrics"):
            said = self.ran.output(f"security-{service}")
            score = float(re.search(r"exposure level for \S+ ([\d.]+)", said)[1])
            print(f"systemd-analyze security: tidemark-{service} {score}", file=sys.stderr)
            self.assertLess(score, 3.0)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: services_test.py FOLDER")
    FOLDER = pathlib.Path(sys.argv.pop(1)).resolve()
    guest.main("6.1")
