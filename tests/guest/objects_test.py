#!/usr/bin/env python3
"""`objects` on other kernels: Debian's 6.1 and 6.12 in QEMU.

Their structs are laid out differently, 6.1 has no cachestat, and the directories
of descriptors do not tell how many there are. What BPF's iterators list must be
what /proc says there too.
"""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest

TIDEMARK = os.environ.get("TIDEMARK_STATIC", guest.ROOT / "build/dev/tests/tidemark_static")
PAGE = 4096

SCRIPT = """
mkdir -p /dev/shm /run/zoo
mount -t tmpfs tmpfs /dev/shm
mkfifo /run/hold
/bin/objects /run/zoo 50 0 </run/hold >/run/says 3>&- &
pid=$!
exec 4>/run/hold
tries=0
until grep -q ready /run/says || [ $tries = 50 ]; do
  sleep 0.2
  tries=$((tries + 1))
done
echo $pid >/run/pid
send pid /run/pid
send says /run/says
show bpf /bin/tidemark objects all --json --source bpf 4>&-
show proc /bin/tidemark objects all --json --source proc 4>&-
show hidden /bin/tidemark objects hidden --json 4>&-
[ -e /sys/kernel/btf/vmlinux ] && echo there >/run/btf || echo none >/run/btf
send btf /run/btf
exec 4>&-
wait $pid
"""


class Checks:
    """What must hold in a guest of each kernel."""

    @classmethod
    def setUpClass(cls):
        zoo = guest.ROOT / "tests/workloads/objects.c"
        files = {"bin/tidemark": pathlib.Path(TIDEMARK), "bin/objects": guest.compiled(zoo)}
        try:
            cls.ran = guest.boot(cls.series, SCRIPT, files, seconds=200)
        except guest.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        cls.pid = int(cls.ran.text("pid"))
        cls.says = dict(line.split(maxsplit=1)
                        for line in cls.ran.text("says").splitlines() if " " in line)

    def objects(self, name):
        return {o["id"]: o for o in json.loads(self.ran.output(name))["objects"]}

    def own(self, name):
        """What the zoo refers to and what it has of each."""
        found = {}
        for key, one in self.objects(name).items():
            if self.pid in [h["pid"] for h in one["holders"]]:
                found[key] = one
        return found

    def test_iterators_and_proc_tell_the_same(self):
        if self.ran.text("btf") != "there\n":
            self.skipTest("this kernel has no BTF")
        told, read = self.own("bpf"), self.own("proc")
        self.assertEqual(told.keys(), read.keys())
        for key, one in told.items():
            # 6.1 does not tell the cache of a file but to BPF.
            more = {"alloc_bytes", "unknown"} if read[key]["alloc_bytes"] is None else {}
            names = [n for n in one if n not in more]
            with self.subTest(key):
                self.assertEqual([one[n] for n in names], [read[key][n] for n in names])

    def test_each_has_its_pages(self):
        read = self.own("proc")
        for kind, number, pages in (("memfd", "memfd_mapped", 43), ("memfd", "memfd_held", 47)):
            self.assertEqual(read[f"{kind}:{self.says[number]}"]["alloc_bytes"], pages * PAGE)

    def test_hidden_names_a_memfd_in_flight(self):
        report = json.loads(self.ran.output("hidden"))
        key = f"memfd:{self.says['memfd_in_flight']}"
        if "found_bytes" not in report["shmem"]:
            self.assertNotIn(key, self.objects("hidden"))
            self.skipTest("pages cannot be asked: " + str(report["notes"]))
        found = self.objects("hidden")[key]
        self.assertEqual((found["name"], found["alloc_bytes"]), ("memfd:in flight", 53 * PAGE))


class Debian6_1(Checks, unittest.TestCase):
    series = "6.1"


class Debian6_12(Checks, unittest.TestCase):
    series = "6.12"


if __name__ == "__main__":
    guest.main("6.1")
