#!/usr/bin/env python3
"""`objects` against a process that holds one of each kind, of known size."""

import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import NOBODY, PAGE, is_root, public_folder, run, run_json, workload

POOL = pathlib.Path("/proc/sys/vm/nr_hugepages")
EVENTFDS = 10_000


class Zoo:
    """The workload `objects` and what it says of itself."""

    def __init__(self, eventfds=100, huge_pages=0, **options):
        self.folder = tempfile.mkdtemp(prefix="objects.", dir=public_folder())
        if "user" in options:
            os.chown(self.folder, options["user"], -1)
        self.process = subprocess.Popen(
            [workload("objects"), self.folder, str(eventfds), str(huge_pages)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
        self.pid = self.process.pid
        self.says = {}
        for line in self.process.stdout:
            if line == "ready\n":
                return
            name, value = line.split(maxsplit=1)
            self.says[name] = value.strip()
        raise AssertionError("the workload did not start")

    def end(self):
        # It takes its files and segments with it.
        self.process.stdin.close()
        self.process.wait(timeout=20)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


@contextlib.contextmanager
def huge_pages(count):
    """A pool of huge pages that is as it was afterwards; gives how many."""
    before = POOL.read_text()
    try:
        try:
            POOL.write_text(str(int(before) + count))
        except OSError:
            yield 0
        else:
            yield int(POOL.read_text()) - int(before)
    finally:
        with contextlib.suppress(OSError):
            POOL.write_text(before)


def has_swap():
    return len(pathlib.Path("/proc/swaps").read_text().splitlines()) > 1


def by_name(report, kind, name):
    found = [o for o in report["objects"]
             if o["kind"] == kind and o["name"].startswith(name)]
    return found


def objects_by_id(report):
    return {o["id"]: o for o in report["objects"]}


def unreachable_bytes():
    """What most of nine readings say: others may write to tmpfs meanwhile."""
    readings = []
    for _ in range(9):
        # Each CPU keeps some dozen pages of a counter to itself until told.
        pathlib.Path("/proc/sys/vm/stat_refresh").write_text("1")
        readings.append(
            run_json("objects", "all")["shmem"]["unreachable_bytes"])
    return statistics.mode(readings)


@unittest.skipUnless(is_root(), "needs root: map_files, pidfd_getfd, BPF")
class Objects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.zoo = Zoo(EVENTFDS)
        cls.report = run_json("objects", "all")
        cls.objects = objects_by_id(cls.report)

    @classmethod
    def tearDownClass(cls):
        cls.zoo.end()

    def one(self, kind, number):
        """The object of that kind whose id ends in the number the zoo said."""
        ends = f":{self.zoo.says[number]}"
        found = [o for o in self.report["objects"]
                 if o["kind"] == kind and o["id"].endswith(ends)
                 and (not o["holders"]
                      or self.zoo.pid in [h["pid"] for h in o["holders"]])]
        self.assertEqual(len(found), 1, f"{kind} {number}: {found}")
        return found[0]

    def test_each_has_its_prime_number_of_pages(self):
        for kind, number, pages in (
                ("file", "file", 41), ("deleted_file", "deleted", 79),
                ("memfd", "memfd_mapped", 43), ("memfd", "memfd_held", 47),
                ("tmpfs", "tmpfs_deleted", 59), ("tmpfs", "tmpfs_closed", 61),
                ("sysv", "sysv_attached", 67), ("sysv", "sysv_detached", 71)):
            with self.subTest(number):
                found = self.one(kind, number)
                self.assertEqual(found["size_bytes"], pages * PAGE)
                self.assertEqual(found["alloc_bytes"], pages * PAGE)
                if not has_swap():
                    self.assertEqual(found["swap_bytes"], 0)

    def test_counts_of_mappings_processes_and_descriptors(self):
        # The child has all of it too, but for what was made after the fork.
        for kind, number, maps, processes, fds in (
                ("file", "file", 6, 2, 0), ("memfd", "memfd_mapped", 2, 2, 2),
                ("memfd", "memfd_held", 0, 0, 2), ("sysv", "sysv_attached", 2, 2, 0),
                ("sysv", "sysv_detached", 0, 0, 0), ("tmpfs", "tmpfs_closed", 0, 0, 0),
                ("pipe", "pipe", 0, 0, 4)):
            with self.subTest(number):
                found = self.one(kind, number)
                self.assertEqual(
                    (found["map_count"], found["process_count"], found["fd_count"]),
                    (maps, processes, fds))

    def test_shared_anonymous_memory_is_one_object_of_two_processes(self):
        found = [o for o in self.report["objects"] if o["kind"] == "shared_anon"
                 and {h["pid"] for h in o["holders"]} ==
                 {self.zoo.pid, int(self.zoo.says["child"])}]
        self.assertEqual([o["alloc_bytes"] for o in found], [73 * PAGE])

    def test_buffers_of_pipes_and_sockets(self):
        pipe = self.one("pipe", "pipe")
        self.assertEqual((pipe["size_bytes"], pipe["alloc_bytes"]), (65536, 65536))
        socket = self.one("socket", "socket")
        # 16 pages wait in it, and each message costs a head.
        self.assertGreaterEqual(socket["alloc_bytes"], 16 * PAGE)
        self.assertLess(socket["alloc_bytes"], 2 * 16 * PAGE)

    def test_bpf_map(self):
        if self.zoo.says["bpf_map"].startswith("none"):
            self.skipTest("no BPF map: " + self.zoo.says["bpf_map"])
        found = self.one("bpf_map", "bpf_map")
        self.assertGreaterEqual(found["alloc_bytes"], 83 * PAGE)
        self.assertLess(found["alloc_bytes"], 84 * PAGE + PAGE)

    def test_io_uring(self):
        if self.zoo.says["io_uring"].startswith("none"):
            self.skipTest("no io_uring: " + self.zoo.says["io_uring"])
        self.assertEqual(self.one("io_uring", "io_uring")["alloc_bytes"],
                         int(self.zoo.says["io_uring_bytes"]))

    def test_ten_thousand_eventfds_are_one_row(self):
        handle = self.objects["anon:eventfd"]
        ours = [h for h in handle["holders"] if h["pid"] == self.zoo.pid]
        self.assertEqual(ours[0]["fd_count"], EVENTFDS)

    def test_memfd_in_flight_is_what_cannot_be_reached(self):
        with Zoo(0):
            there = unreachable_bytes()
        self.assertEqual(there - unreachable_bytes(), 53 * PAGE)

    def test_parts_sum_to_meminfo(self):
        for name, rest in (("shmem", "unreachable_bytes"), ("file_cache", "closed_files_bytes")):
            account = self.report[name]
            self.assertEqual(account["named_bytes"] + account[rest], account["total_bytes"])

    def test_hidden_is_what_nobody_maps(self):
        hidden = objects_by_id(run_json("objects", "hidden"))
        for kind, number in (("memfd", "memfd_held"), ("tmpfs", "tmpfs_closed"),
                             ("tmpfs", "tmpfs_deleted"), ("sysv", "sysv_detached"),
                             ("deleted_file", "deleted"), ("pipe", "pipe")):
            self.assertIn(self.one(kind, number)["id"], hidden, number)
        for kind, number in (("memfd", "memfd_mapped"), ("file", "file")):
            self.assertNotIn(self.one(kind, number)["id"], hidden, number)
        self.assertTrue(all(o["map_count"] == 0 for o in hidden.values()))

    def test_hidden_names_what_only_its_pages_tell_of(self):
        if run_json("ledger", "--tier", "structs")["tier"] != "structs":
            self.skipTest("BPF may not look at pages here")
        # Beside the tests and not in /tmp, which may be shared memory.
        folder = pathlib.Path(__file__).resolve().parents[2] / "build"
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as name:
            path = pathlib.Path(name) / "read and closed"
            with open(path, "wb") as file:
                file.write(bytes(83 * PAGE))
                os.fsync(file.fileno())
            path.read_bytes()
            report = run_json("objects", "hidden")
        hidden = objects_by_id(report)
        flying = hidden[f"memfd:{self.zoo.says['memfd_in_flight']}"]
        self.assertEqual(flying["name"], "memfd:in flight")
        # The rest of the path is that of the first mount it is seen through.
        closed = [o for o in report["objects"]
                  if o["name"].endswith(f"{path.parent.name}/{path.name}")]
        self.assertEqual(len(closed), 1)
        for found, pages in ((flying, 53), (closed[0], 83)):
            with self.subTest(found["name"]):
                self.assertTrue(found["found_by_pages"])
                self.assertEqual(found["size_bytes"], pages * PAGE)
                self.assertEqual(found["alloc_bytes"], pages * PAGE)
                self.assertEqual((found["fd_count"], found["holders"]), (0, []))
        # Nothing that has a name already is found a second time.
        for kind, number in (("memfd", "memfd_held"), ("memfd", "memfd_mapped"),
                             ("tmpfs", "tmpfs_closed"), ("sysv", "sysv_detached")):
            one = self.one(kind, number)["id"]
            self.assertNotIn("found_by_pages", hidden.get(one, {}), number)
        self.assertGreaterEqual(report["shmem"]["found_bytes"], 53 * PAGE)
        again = run_json("objects", flying["id"])["objects"]
        self.assertEqual([o["name"] for o in again], ["memfd:in flight"])

    def test_hidden_by_proc_alone_leaves_them_in_the_rest(self):
        report = run_json("objects", "hidden", "--source", "proc")
        self.assertNotIn(f"memfd:{self.zoo.says['memfd_in_flight']}", objects_by_id(report))
        self.assertNotIn("found_bytes", report["shmem"])
        self.assertGreaterEqual(report["shmem"]["unreachable_bytes"], 53 * PAGE)

    def test_an_id_can_be_typed_back(self):
        for kind, number in (("memfd", "memfd_held"), ("sysv", "sysv_attached"),
                             ("file", "file")):
            wanted = self.one(kind, number)
            report = run_json("objects", wanted["id"])
            self.assertEqual(len(report["objects"]), 1)
            self.assertEqual(report["objects"][0]["holders"], wanted["holders"])
            self.assertIn(f"{self.zoo.pid}  ", run("objects", wanted["id"]).stdout)

    def test_one_process_shows_its_copies_with_their_parent(self):
        report = run_json("objects", self.zoo.pid)
        for found in report["objects"]:
            self.assertIn(self.zoo.pid, [h["pid"] for h in found["holders"]])
        copy = next(o for o in report["objects"]
                    if o["id"] == f"copy:{self.zoo.pid}:{self.zoo.says['copy']}")
        self.assertEqual(copy["alloc_bytes"], 2 * PAGE)
        self.assertEqual(copy["parent_id"], self.one("file", "file")["id"])
        self.assertEqual(self.one("file", "file")["child_count"], 2)

    def test_rights(self):
        self.assertEqual(self.one("memfd", "memfd_held")["rights"], "rw-")
        libc = next(o for o in self.report["objects"] if o["name"].endswith("/libc.so.6"))
        self.assertEqual(libc["rights"], "r-x", "private mappings do not write to it")

    def test_huge_pages(self):
        with huge_pages(2) as count:
            if count < 2:
                self.skipTest("the pool of huge pages cannot be grown by 2")
            with Zoo(0, 2) as zoo:
                found = by_name(run_json("objects", zoo.pid), "hugetlb", "/memfd:huge")
                self.assertEqual([o["alloc_bytes"] for o in found], [2 << 21])
                self.assertEqual([o["size_bytes"] for o in found], [2 << 21])

    def test_text_has_its_head_twice_and_the_sums_below(self):
        lines = run("objects", "all").stdout.splitlines()
        heads = [i for i, line in enumerate(lines) if line == lines[0]]
        self.assertEqual(len(heads), 2)
        self.assertRegex(
            "\n".join(lines[heads[1]:]),
            r"shmem: \S+ = \S+ named \+ \S+ unreachable\nfile cache: \S+ = \S+ of files in use")


def of_process(report, pid):
    """The objects a process refers to, with what it has of them."""
    found = {}
    for one in report["objects"]:
        holders = [h for h in one["holders"] if h["pid"] == pid]
        if holders:
            found[one["id"]] = dict(one, holders=holders)
    return found


# A file of overlayfs, open and mapped, both parts and all of one process.
OVERLAY = """
import mmap, os, sys
os.chdir(sys.argv[1])
for name in ("low", "high", "work", "seen"):
    os.mkdir(name)
with open("low/file", "wb") as file:
    file.write(bytes(3 * 4096))
if os.system("mount -t overlay none -o lowerdir=low,upperdir=high,workdir=work seen"):
    print("none", flush=True)
    sys.exit()
file = open("seen/file", "rb")
area = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
facts = os.fstat(file.fileno())
print(f"{os.major(facts.st_dev):02x}:{os.minor(facts.st_dev):02x}:{facts.st_ino}",
      flush=True)
sys.stdin.read()
"""


@unittest.skipUnless(is_root(), "needs root: BPF")
class Sources(unittest.TestCase):
    def by_both(self, pid):
        """What the iterators and /proc say of one process that stands still."""
        reports = [run_json("objects", "all", "--source", source)
                   for source in ("bpf", "proc")]
        self.assertEqual([r["source"] for r in reports], ["bpf", "proc"])
        return [of_process(report, pid) for report in reports]

    def assert_same(self, told, read, ids):
        self.assertEqual(told.keys(), read.keys())
        for one in ids:
            with self.subTest(one):
                self.assertEqual(told[one], read[one])

    def setUp(self):
        tried = run("objects", "--source", "bpf", check=False)
        if tried.returncode != 0:
            self.skipTest("no iterators: " + tried.stderr)

    def test_iterators_and_proc_tell_the_same(self):
        with Zoo(1000) as zoo:
            for pid in (zoo.pid, int(zoo.says["child"])):
                told, read = self.by_both(pid)
                self.assertGreater(len(told), 10)
                # What others hold or map too changes with them.
                own = [key for key, one in told.items() if one["kind"] != "handle"
                       and not one["name"].startswith("/usr")]
                self.assert_same(told, read, own)
                for key, one in told.items():
                    self.assertEqual(one["holders"], read[key]["holders"], key)

    def test_files_of_overlayfs_are_known_by_what_stat_tells(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, subprocess.Popen(
                ["unshare", "--mount", sys.executable, "-c", OVERLAY, folder],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            number = other.stdout.readline().strip()
            try:
                if number == "none":
                    self.skipTest("overlayfs cannot be mounted here")
                told, read = self.by_both(other.pid)
                key = f"file:{number}"
                self.assert_same(told, read, [key])
                # Python keeps a second descriptor for the mapping.
                self.assertEqual((told[key]["map_count"], told[key]["fd_count"]), (1, 2))
            finally:
                other.stdin.close()
                other.wait(timeout=20)


class Unprivileged(unittest.TestCase):
    def test_iterators_are_refused_with_a_reason(self):
        tree = pathlib.Path(__file__).parents[1] / "fixtures"
        proc = next(tree.glob("*/proc"), None) or next(tree.glob("*/*/proc"))
        done = run("objects", "--source", "bpf", "--proc", proc, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("BPF tells of the running kernel", done.stderr)

    @unittest.skipUnless(is_root(), "needs root to become somebody else")
    def test_own_objects_are_shown_and_the_rest_is_said_to_be_missing(self):
        with Zoo(user=NOBODY) as zoo:
            report = run_json("objects", "all", user=NOBODY)
            held = [o for o in report["objects"]
                    if o["id"] == f"memfd:{zoo.says['memfd_held']}"]
            self.assertEqual([o["alloc_bytes"] for o in held], [47 * PAGE])
            self.assertTrue(report["unreadable_processes"])
            self.assertTrue(all(p["because"] for p in report["unreadable_processes"]))
            shared = [o for o in report["objects"] if o["kind"] == "shared_anon"
                      and zoo.pid in [h["pid"] for h in o["holders"]]]
            self.assertEqual(len(shared), 1)
            # Only map_files tells its size, which takes a capability.
            self.assertIsNone(shared[0]["alloc_bytes"])
            self.assertIn("map_files", shared[0]["unknown"]["alloc_bytes"])
            text = run("objects", user=NOBODY).stdout
            self.assertIn("processes could not be read", text.replace("\n  ", " "))

    @unittest.skipUnless(is_root(), "a process in another namespace needs root")
    def test_segments_of_another_ipc_namespace_are_not_ours(self):
        with Zoo() as zoo, subprocess.Popen(
                ["unshare", "--ipc", workload("objects"), zoo.folder, "0", "0"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            says = {}
            for line in other.stdout:
                if line == "ready\n":
                    break
                name, value = line.split(maxsplit=1)
                says[name] = value.strip()
            try:
                link = os.readlink(f"/proc/{other.pid}/ns/ipc")
                number = link[len("ipc:["):-1]
                objects = objects_by_id(run_json("objects", "all"))
                detached = objects[f"sysv:{number}:{says['sysv_detached']}"]
                self.assertEqual(detached["alloc_bytes"], 71 * PAGE)
                attached = objects[f"sysv:{number}:{says['sysv_attached']}"]
                self.assertIn(other.pid, [h["pid"] for h in attached["holders"]])
            finally:
                other.stdin.close()
                other.wait(timeout=20)


class Dying(unittest.TestCase):
    def test_processes_that_end_during_the_walk_are_no_error(self):
        stop = threading.Event()

        def spawn():
            while not stop.is_set():
                subprocess.run(["true"], check=True)

        threads = [threading.Thread(target=spawn) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(10):
                done = run("objects", "all")
                self.assertEqual(done.stderr, "")
        finally:
            stop.set()
            for thread in threads:
                thread.join()


class Misused(unittest.TestCase):
    def test_an_unknown_id_is_said_to_be_unknown(self):
        done = run("objects", "memfd:18446744073709551615", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no object memfd:18446744073709551615 now", done.stderr)


if __name__ == "__main__":
    unittest.main()
