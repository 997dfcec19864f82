#!/usr/bin/env python3
"""ps, get, maps and doctor on a machine with cgroup v2, whose every process
the test has started: Debian's 6.1 and 6.12 kernels in QEMU.

The guest's script starts holders of known memory in groups named as systemd and
docker name them, reads the kernel's own account before and after each command,
and sends all of it here.
"""

import json
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest

TIDEMARK = os.environ.get("TIDEMARK_STATIC", guest.ROOT / "build/dev/tests/tidemark_static")
PAGE = 4096
HUGE_PAGE = 2 << 20
# A field of which a process told nothing must come with its reason.
MEASURES = ("in_ram_bytes", "pss_bytes", "uss_bytes", "shared_bytes", "pss_anon_bytes",
            "pss_file_bytes", "pss_shmem_bytes", "swap_pss_bytes", "hugetlb_bytes")

# Primes, so that no sum of other things looks like them.
WEB_PAGES = 7919        # private, touched
BOX_PAGES = 1511        # private, touched
BOX_MEMFD_PAGES = 2003  # in a memfd that nobody maps
HUGE_PAGES = 3          # of a pool of 5
BATCH_PAGES = 1009      # private, most of them swapped out
ANN_PAGES = 503         # private, of a user

# A holder's own code, stack and page tables beside what it was told to hold.
OWN_PAGES = 64
# The kernel charges in batches of 64 pages a CPU and takes the rest of one back
# when it likes; the guest has one CPU.
CHARGE_BATCH = 64 * PAGE

WEB = "/system.slice/web.service"
BATCH = "/system.slice/batch.service"
BOX = "/system.slice/docker-" + "0123456789abcdef" * 4 + ".scope"
ANN = "/user.slice/user-1000.slice/session-7.scope"

SCRIPT = f"""
cgroup=/sys/fs/cgroup
mount -t cgroup2 cgroup2 $cgroup
echo +memory >$cgroup/cgroup.subtree_control
mkdir -p $cgroup/system.slice $cgroup/user.slice/user-1000.slice
for group in system.slice user.slice user.slice/user-1000.slice; do
  echo +memory >$cgroup/$group/cgroup.subtree_control
done
mkdir $cgroup{WEB} $cgroup{BATCH} $cgroup{BOX} $cgroup{ANN}

echo 5 >/proc/sys/vm/nr_hugepages
echo 32M >/sys/block/zram0/disksize
mkswap /dev/zram0
swapon /dev/zram0
mkdir /run/ann
chown 1000:1000 /run/ann

# start GROUP PROGRAM…: a program that begins its life in a group.
start() {{
  /bin/sh -c 'echo 0 >"$0/cgroup.procs" && exec "$@"' "$cgroup$@" 3>&- &
}}

# The kernel's own account.
accounts() {{
  find $cgroup -name memory.current -o -name memory.peak \\
    -o -name memory.swap.current | xargs grep . | sort
}}

start {WEB} /bin/hold /run/web private {WEB_PAGES} hugetlb {HUGE_PAGES}
web=$!
start {WEB} /bin/sleep 1000
sleeper=$!
start {BOX} /bin/hold /run/box private {BOX_PAGES} memfd {BOX_MEMFD_PAGES}
box=$!
start {BATCH} /bin/hold /run/batch private {BATCH_PAGES}
batch=$!
start {ANN} /bin/su -s /bin/sh ann -c \\
  'exec /bin/hold /run/ann/ready private {ANN_PAGES}'
ann=$!
for ready in web box batch ann/ready; do
  wait_for /run/$ready
done
# More than there is: the kernel takes what it can and says "try again".
echo {BATCH_PAGES * PAGE} >$cgroup{BATCH}/memory.reclaim

for name in web sleeper box batch ann; do
  eval "echo $name \\$$name"
done >/run/pids
send pids /run/pids
show before accounts
show ps /bin/tidemark ps --json
show after accounts
show ps-jobs env COLUMNS=120 /bin/tidemark ps -J --all
show rollup cat /proc/$batch/smaps_rollup
show get /bin/tidemark get -rv --json $web $box $batch
show maps /bin/tidemark maps --json $web
show doctor /bin/tidemark doctor --json

# A user who is not root.
as_ann() {{
  /bin/su -s /bin/sh ann -c "$*"
}}
show ann-ps as_ann /bin/tidemark ps --json
show ann-get as_ann /bin/tidemark get -rv --json $ann
show ann-get-web as_ann /bin/tidemark get -rv --json $web
show ann-maps as_ann /bin/tidemark maps --json $ann
show ann-maps-web as_ann /bin/tidemark maps --json $web
show ann-doctor as_ann /bin/tidemark doctor --json
"""

FILES = {
    "bin/tidemark": pathlib.Path(TIDEMARK),
    "etc/passwd": "root:x:0:0:root:/:/bin/sh\nann:x:1000:1000:Ann:/:/bin/sh\n",
    "etc/group": "root:x:0:\nann:x:1000:\n",
}
HOLD_SOURCE = pathlib.Path(__file__).with_name("hold.c")


def boot(series):
    # zram is where the guest swaps to; the 6.1 one compresses with lzo-rle.
    return guest.boot(series, SCRIPT, FILES | {"bin/hold": guest.compiled(HOLD_SOURCE)},
                      modules=("lzo-rle", "zram"))


def accounts(text):
    """{(group, file): number} of lines "/sys/fs/cgroup/GROUP/FILE:NUMBER"."""
    found = {}
    for path, file, number in re.findall(r"^/sys/fs/cgroup(.*)/(\S+):(\d+)$", text, re.M):
        found[path, file] = int(number)
    return found


class Checks:
    """What must hold in a guest of each kernel. Read-only: all of it was
    collected before the first test."""

    @classmethod
    def setUpClass(cls):
        try:
            cls.ran = boot(cls.series)
        except guest.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        cls.pids = {name: int(pid) for name, pid in
                    (line.split() for line in cls.ran.text("pids").splitlines())}
        cls.before = accounts(cls.ran.output("before"))
        cls.after = accounts(cls.ran.output("after"))

    def report(self, name):
        return json.loads(self.ran.output(name))

    def process(self, name, report="ps"):
        pid = self.pids[name]
        return next(p for p in self.report(report)["processes"] if p["pid"] == pid)

    def group(self, path, report="ps"):
        return next(g for g in self.report(report)["groups"] if g["key"] == path)

    # ---- groups

    def test_charged_is_memory_current(self):
        for path in ("/system.slice", WEB, BATCH, BOX, ANN):
            readings = [self.before[path, "memory.current"],
                        self.after[path, "memory.current"]]
            charged = self.group(path)["charged_bytes"]
            # A parent's account moves with the batches of its children.
            allowed = CHARGE_BATCH * (3 if path == "/system.slice" else 1)
            self.assertGreaterEqual(charged, min(readings) - allowed, path)
            self.assertLessEqual(charged, max(readings) + allowed, path)

    def test_peak_is_memory_peak(self):
        # The kernel has the file since 5.19; it never falls.
        for path in ("/system.slice", WEB, BATCH, BOX, ANN):
            peak = self.group(path)["peak_bytes"]
            self.assertGreaterEqual(peak, self.before[path, "memory.peak"], path)
            self.assertLessEqual(peak, self.after[path, "memory.peak"], path)
        self.assertGreater(
            self.group(BATCH)["peak_bytes"], BATCH_PAGES * PAGE, "before the swapping")

    def test_unseen_shows_the_memfd_that_nobody_maps(self):
        box = self.group(BOX)
        self.assertEqual(box["unseen_bytes"], box["charged_bytes"] - box["pss_bytes"])
        # The holder's program lies in the tmpfs that the kernel unpacked the
        # initramfs into: in its PSS, and charged to the root group.
        unseen = box["unseen_bytes"] + box["pss_shmem_bytes"]
        held = BOX_MEMFD_PAGES * PAGE
        self.assertGreaterEqual(unseen, held)
        # Beside it the group is charged for page tables, stacks and slab.
        self.assertLessEqual(unseen, held + OWN_PAGES * PAGE + CHARGE_BATCH)

    def test_root_group_has_no_charge_and_says_why(self):
        root = self.group("/")
        for field in ("charged_bytes", "peak_bytes", "unseen_bytes"):
            self.assertIsNone(root[field])
            self.assertTrue(root["unknown"][field], field)

    def test_names_are_read_off_the_path(self):
        names = {path: self.group(path)["name"] for path in (WEB, BATCH, BOX, ANN)}
        self.assertEqual(names, {
            WEB: "web.service", BATCH: "batch.service", BOX: "docker 0123456789ab",
            ANN: "session-7.scope"})

    def test_job_table_has_the_groups_and_the_kernels_account(self):
        table = self.ran.output("ps-jobs")
        head = table.splitlines()[0].split()
        self.assertEqual(head[:2] + head[-4:],
                         ["TASK", "PSS", "CHARGED", "UNSEEN", "PEAK", "NAME"])
        for name in ("/", "system.slice", "web.service", "docker 0123456789ab"):
            self.assertRegex(table, rf"(?m)^ *j:\d+ .* {re.escape(name)}$")
        self.assertNotRegex(table, r"(?m)^ *p:")
        root = re.search(r"(?m)^j:\d+ .* /$", table)[0]
        self.assertEqual(root.split()[-4:-1], ["?", "?", "?"])

    # ---- processes

    def test_touched_pages_come_back(self):
        for name, pages in (("web", WEB_PAGES), ("box", BOX_PAGES)):
            held = pages * PAGE
            own = OWN_PAGES * PAGE
            self.assertGreaterEqual(self.process(name)["pss_anon_bytes"], held)
            self.assertLessEqual(self.process(name)["pss_anon_bytes"], held + own)
        # One per cent of this one is more than its program and stack.
        self.assertAlmostEqual(
            self.process("web")["pss_bytes"], WEB_PAGES * PAGE,
            delta=WEB_PAGES * PAGE / 100)

    def test_huge_pages_are_in_ram_and_not_in_pss(self):
        web = self.process("web")
        self.assertEqual(web["hugetlb_bytes"], HUGE_PAGES * HUGE_PAGE)
        self.assertEqual(web["in_ram_bytes"], web["pss_bytes"] + HUGE_PAGES * HUGE_PAGE)
        others = {o["class"]: o["bytes"] for o in self.report("ps")["machine"]["others"]}
        self.assertEqual(others["huge_pages"], (5 - HUGE_PAGES) * HUGE_PAGE)

    def test_swapped_pages_are_beside_the_resident_ones(self):
        batch = self.process("batch")
        rollup = dict(re.findall(r"(?m)^(\w+): +(\d+) kB$", self.ran.output("rollup")))
        self.assertEqual(batch["swap_pss_bytes"], int(rollup["SwapPss"]) * 1024)
        self.assertGreater(batch["swap_pss_bytes"], BATCH_PAGES * PAGE / 2)
        both = batch["swap_pss_bytes"] + batch["pss_anon_bytes"]
        self.assertGreaterEqual(both, BATCH_PAGES * PAGE)
        self.assertLessEqual(both, (BATCH_PAGES + OWN_PAGES) * PAGE)
        # A page read back may keep its place in swap for a while.
        self.assertAlmostEqual(
            batch["swap_pss_bytes"], self.after[BATCH, "memory.swap.current"],
            delta=OWN_PAGES * PAGE)

    def test_get_agrees_with_ps_and_with_its_own_sum(self):
        report = self.report("get")
        self.assertEqual({p["pid"] for p in report["processes"]},
                         {self.pids[name] for name in ("web", "box", "batch")})
        for name in ("web", "box", "batch"):
            for field in ("pss_bytes", "hugetlb_bytes", "swap_pss_bytes"):
                self.assertEqual(self.process(name, "get")[field],
                                 self.process(name)[field], (name, field))
        for field in ("in_ram_bytes", "pss_bytes", "rss_bytes", "swap_pss_bytes"):
            self.assertEqual(report["total"][field],
                             sum(p[field] for p in report["processes"]), field)

    def test_maps_shows_each_area_as_it_was_made(self):
        regions = {r["category"]: r for r in self.report("maps")["regions"]
                   if r["category"] in ("anon", "huge")}
        self.assertEqual(regions["anon"]["size_bytes"], WEB_PAGES * PAGE)
        self.assertEqual(regions["anon"]["uss_bytes"], WEB_PAGES * PAGE)
        self.assertEqual(regions["huge"]["size_bytes"], HUGE_PAGES * HUGE_PAGE)
        self.assertEqual(regions["huge"]["kind"], "hugetlb")

    # ---- sums

    def test_account_closes_exactly(self):
        for name in ("ps", "ann-ps"):
            machine = self.report(name)["machine"]
            named = machine["processes_bytes"] + machine["not_explained_bytes"]
            named += sum(other["bytes"] for other in machine["others"])
            self.assertEqual(machine["used_bytes"], named, name)

    def test_little_is_left_unexplained_and_nothing_counted_twice(self):
        machine = self.report("ps")["machine"]
        # What was early allocated for good has no counter: 1 % was seen.
        self.assertLess(abs(machine["not_explained_bytes"]), machine["total_bytes"] / 25)
        for other in machine["others"]:
            # The kernel's counters lag by a few pages; 16 were seen.
            self.assertGreater(other["bytes"], -OWN_PAGES * PAGE, other["class"])

    def test_groups_are_the_sums_of_their_members(self):
        report = self.report("ps")
        for field in ("pss_bytes", "swap_pss_bytes", "hugetlb_bytes", "kernel_bytes"):
            for group in report["groups"]:
                members = [m for m in report["processes"] if m["group_id"] == group["id"]]
                members += [g for g in report["groups"] if g["parent_id"] == group["id"]]
                self.assertEqual(group[field], sum(m[field] for m in members),
                                 (group["key"], field))

    # ---- a user without rights

    def test_user_sees_others_as_unknown_with_a_reason(self):
        report = self.report("ann-ps")
        for name in ("web", "box", "batch", "sleeper"):
            process = self.process(name, "ann-ps")
            self.assertEqual(process["state"], "denied")
            for field in MEASURES:
                self.assertIsNone(process[field], (name, field))
                self.assertRegex(process["unknown"][field], r"^denied: /proc/\d+/smaps")
        self.assertIn("pss_bytes", report["total"]["lower_bounds"])
        # init and the four holders of root's.
        self.assertEqual(report["unknown_process_count"], 5)
        # The account of a group is open to all; what no process maps is not.
        self.assertEqual(self.group(WEB, "ann-ps")["peak_bytes"],
                         self.group(WEB)["peak_bytes"])
        self.assertIsNone(self.group(WEB, "ann-ps")["unseen_bytes"])
        self.assertTrue(self.group(WEB, "ann-ps")["unknown"]["unseen_bytes"])

    def test_user_sees_the_resident_size_of_others(self):
        rss = self.process("web", "ann-ps")["rss_bytes"]
        # statm may lag behind by 64 pages of each kind and thread.
        self.assertAlmostEqual(rss, self.process("web")["rss_bytes"],
                               delta=OWN_PAGES * PAGE)

    def test_user_sees_the_truth_about_its_own(self):
        for name in ("ann-ps", "ann-get"):
            self.assertEqual(self.process("ann", name)["pss_bytes"],
                             self.process("ann")["pss_bytes"])
        held = ANN_PAGES * PAGE
        own = self.process("ann", "ann-ps")
        self.assertGreaterEqual(own["pss_anon_bytes"], held)
        self.assertLessEqual(own["pss_anon_bytes"], held + OWN_PAGES * PAGE)
        self.assertEqual(own["user"], "ann")
        region = next(r for r in self.report("ann-maps")["regions"]
                      if r["category"] == "anon")
        self.assertEqual(region["uss_bytes"], held)

    def test_user_is_told_what_would_help(self):
        self.assertEqual(self.ran.status("ann-maps-web"), 1)
        said = self.ran.text("ann-maps-web.stderr")
        self.assertIn("Permission denied", said)
        self.assertIn("hint: run as root, or setcap cap_sys_ptrace+ep", said)
        denied = self.report("ann-get-web")["processes"][0]
        self.assertIsNone(denied["pss_bytes"])
        self.assertTrue(denied["unknown"]["pss_bytes"].startswith("denied: "))

    # ---- doctor

    def test_doctor_finds_cgroup_v2(self):
        for name in ("doctor", "ann-doctor"):
            facts = {f["name"]: f["value"] for f in self.report(name)["kernel"]}
            self.assertEqual(facts["cgroup"], "v2, memory on v2 at /sys/fs/cgroup")
            self.assertEqual(facts["nr_hugepages"], "5")
            self.assertEqual(facts["zram"], "32.0 MiB")
            rows = {r["name"]: r for t in self.report(name)["tiers"] for r in t["rows"]}
            self.assertEqual(rows["cgroup_memory"]["state"], "works")
            self.assertEqual(rows["cgroup_peak"]["state"], "works")

    def test_doctor_tells_root_from_a_user(self):
        self.assertEqual(self.report("doctor")["user_id"], 0)
        self.assertEqual(self.report("ann-doctor")["user_id"], 1000)
        self.assertEqual(self.report("ann-doctor")["reached"], "none")
        rows = {r["name"]: r for t in self.report("ann-doctor")["tiers"]
                for r in t["rows"]}
        self.assertEqual(rows["smaps_of_others"]["state"], "denied")
        self.assertIn("setcap cap_sys_ptrace", rows["smaps_of_others"]["grant"])


class Linux61(Checks, unittest.TestCase):
    series = "6.1"


class Linux612(Checks, unittest.TestCase):
    series = "6.12"


if __name__ == "__main__":
    guest.main(Linux61.series)
