#!/usr/bin/env python3
"""`graph` on the machine the test runs on."""

import itertools
import json
import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import json_schema
import treemap_rules
from live import NOBODY, PAGE, Python, is_root, public_folder, run

FLAGS = ["".join(chosen) for count in range(4)
         for chosen in itertools.combinations("vtH", count)]

# A comm, a memfd and a file name of a stranger: a newline, quotes, a backslash,
# an escape sequence, markup, bytes that are no UTF-8.
HOSTILE = b'a"\n\\\x1b[1m<b>\xff\xfe\''
PAGES = 5003  # a prime

HOSTILE_SCRIPT = f"""
    import ctypes, mmap, os
    libc = ctypes.CDLL(None)
    name = {HOSTILE!r}
    libc.prctl(15, name[:15], 0, 0, 0)
    fd = libc.memfd_create(name, 0)
    os.ftruncate(fd, {PAGES} * {PAGE})
    memory = mmap.mmap(fd, {PAGES} * {PAGE})
    memory.write(b"x" * len(memory))
"""


def graph(*arguments, **options):
    """The records, having found that the script would take them."""
    text = run("graph", "-q", *arguments, **options).stdout
    records = json.loads(text)
    found = treemap_rules.breaches(records)
    if found:
        raise AssertionError(f"graph {arguments}: " + "\n".join(found[:10]))
    return records


def of_type(records, kind):
    return [record for record in records if record["type"] == kind]


def of_pid(records, pid):
    return next(r for r in of_type(records, "p") if r["pid"] == pid)


class Graph(unittest.TestCase):
    def test_is_accepted_with_all_flags(self):
        with Python(HOSTILE_SCRIPT) as target:
            for flags in FLAGS:
                with self.subTest(flags=flags):
                    records = graph(*(["-" + flags] if flags else []))
                    process = of_pid(records, target.pid)
                    self.assertEqual("vmos" in process, "v" in flags)
                    self.assertEqual("handle_stats" in process, "H" in flags)
                    self.assertEqual(bool(of_type(records, "t")), "t" in flags)

    @unittest.skipUnless(is_root(), "needs root to become somebody else")
    def test_is_accepted_without_root(self):
        nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        for flags in FLAGS:
            with self.subTest(flags=flags):
                records = graph(*(["-" + flags] if flags else []), **nobody)
                meta = records[-1]
                self.assertEqual(meta["kernel_by"], "counters")
                self.assertGreater(meta["unknown_process_count"], 0)
                denied = [p for p in of_type(records, "p") if "unknown" in p]
                self.assertGreaterEqual(
                    len(denied), meta["unknown_process_count"])
                for process in denied:
                    if process["state"] == "denied":
                        self.assertIn("pss_bytes", process["unknown"])

    def test_is_as_its_schema_says(self):
        schema = json.loads(run("graph", "-S").stdout)
        records = json.loads(run("graph", "-q", "-vtH").stdout)
        self.assertEqual(json_schema.breaches(records, schema), [])

    def test_schema_of_memgraph_still_holds_where_ours_does(self):
        """What it requires, ours requires: a strict superset."""
        kinds = json.loads(run("graph", "-S").stdout)["definitions"]
        for kind, wanted in {
                "kernel": {"size_bytes"}, "task": {"koid"}, "thread": {"state"},
                "process": {"private_bytes", "shared_bytes", "pss_bytes"}}.items():
            self.assertLessEqual(wanted, set(kinds[kind]["allOf"][1]["required"]))
        self.assertLessEqual({"id", "type", "parent", "name"},
                             set(kinds["node"]["required"]))

    def test_hostile_names_come_through_escaped(self):
        with Python(HOSTILE_SCRIPT) as target:
            process = of_pid(graph("-v"), target.pid)
            comm = HOSTILE[:15].decode("utf-8", "backslashreplace")
            self.assertEqual(process["comm"], comm)
            memfds = [v for v in process["vmos"] if v["kind"] == "memfd"]
            self.assertEqual(len(memfds), 1)
            self.assertIn("memfd:a\"", memfds[0]["name"])
            self.assertEqual(memfds[0]["committed_bytes"], PAGES * PAGE)

    def test_workload_of_known_size(self):
        script = f"""
            import mmap
            memory = mmap.mmap(-1, {PAGES} * {PAGE}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            memory.write(b"x" * len(memory))
        """
        with Python(script) as target:
            process = of_pid(graph("-v"), target.pid)
            self.assertGreaterEqual(process["private_bytes"], PAGES * PAGE)
            self.assertLess(process["private_bytes"], PAGES * PAGE + (32 << 20))
            largest = max(process["vmos"], key=lambda v: v["committed_bytes"])
            self.assertEqual(largest["name"], "anonymous")
            self.assertGreaterEqual(largest["committed_bytes"], PAGES * PAGE)
            self.assertEqual(process["is_exact"], is_root())

    def test_object_that_two_map_is_one(self):
        with tempfile.NamedTemporaryFile(dir=public_folder()) as file:
            file.write(b"x" * (101 * PAGE))
            file.flush()
            script = f"""
                import mmap
                file = open({file.name!r}, "rb")
                memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
                sum(memory[::{PAGE}])
            """
            with Python(script) as one, Python(script) as two:
                records = graph("-v")
                seen = [next(v for v in of_pid(records, p.pid)["vmos"]
                             if v["name"] == file.name) for p in (one, two)]
                self.assertEqual(seen[0], seen[1])
                self.assertEqual(seen[0]["share_count"], 2)
                self.assertEqual(seen[0]["committed_bytes"], 101 * PAGE)

    def test_a_memfd_that_nobody_maps_is_its_holders(self):
        script = f"""
            import ctypes, os
            fd = ctypes.CDLL(None).memfd_create(b"graph-held", 0)
            os.write(fd, b"x" * ({PAGES} * {PAGE}))
            if os.fork() == 0:
                os.read(0, 1)
                os._exit(0)
        """
        with Python(script) as target:
            records = graph("-v")
            process = of_pid(records, target.pid)
            held = [v for v in process["vmos"] if v["name"] == "memfd:graph-held"]
            self.assertEqual([v["committed_bytes"] for v in held], [PAGES * PAGE])
            self.assertEqual(held[0]["num_mappings"], 0)
            self.assertEqual(held[0]["share_count"], 1, "it and its child")
            references = [r for r in process["vmo_refs"]
                          if r["vmo_koid"] == held[0]["koid"]]
            self.assertEqual(references[0]["via"], ["HANDLE"])

    def test_job_of_a_process_is_its_group(self):
        records = graph()
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            paths = [line.rstrip("\n").split(":", 2)[2] for line in file]
        mine = of_pid(records, os.getpid())
        job = next(r for r in records if r.get("id") == mine["parent"])
        self.assertIn(job["cgroup"], paths)

    @unittest.skipUnless(is_root(), "pages are told to root alone")
    def test_root_sees_pages(self):
        records = graph()
        self.assertEqual(records[-1]["kernel_by"], "pages")
        shares = sum(p["pss_bytes"] for p in of_type(records, "p"))
        vmo = next(r for r in records if r.get("id") == "kernel/vmo")
        self.assertGreater(shares, 0)
        self.assertLess(shares, vmo["size_bytes"])


if __name__ == "__main__":
    unittest.main()
