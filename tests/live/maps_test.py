#!/usr/bin/env python3
"""`maps` against an address space whose parts are known."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import PAGE, Python, run, run_json

ZOO = f"""
    import ctypes, mmap, os, threading, time
    libc = ctypes.CDLL(None, use_errno=True)
    memfd = os.memfd_create("a name with blanks")
    os.ftruncate(memfd, 101 * {PAGE})
    shared_file = mmap.mmap(memfd, 101 * {PAGE})
    shared_file[:] = b"m" * (101 * {PAGE})
    shared = mmap.mmap(-1, 103 * {PAGE})
    shared[:] = b"s" * (103 * {PAGE})
    segment = libc.shmget(0, 107 * {PAGE}, 0o1600)
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(segment, None, 0)
    ctypes.memset(at, 1, 107 * {PAGE})
    libc.shmctl(segment, 0, None)
    jit = mmap.mmap(-1, 109 * {PAGE}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                    prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    jit[:] = b"j" * (109 * {PAGE})
    def spin():
        while True:
            pass
    threading.Thread(target=threading.Event().wait, name="sleeper", daemon=True).start()
    threading.Thread(target=spin, name="runner", daemon=True).start()
    time.sleep(0.2)
"""


class Maps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.target = Python(ZOO)
        cls.report = run_json("maps", cls.target.pid)

    @classmethod
    def tearDownClass(cls):
        cls.target.end()

    def region(self, kind):
        found = [r for r in self.report["regions"] if r["kind"] == kind]
        self.assertTrue(found, f"no region of kind {kind}")
        return found[0]

    def test_each_kind_has_its_prime_number_of_pages(self):
        for kind, pages in (("memfd", 101), ("shared_anon", 103), ("sysv", 107), ("jit", 109)):
            self.assertEqual(self.region(kind)["rss_bytes"], pages * PAGE, kind)

    def test_name_with_blanks_is_whole(self):
        self.assertEqual(self.region("memfd")["name"], "/memfd:a name with blanks (deleted)")

    def test_thread_stacks_are_found_with_their_guards(self):
        stacks = [r for r in self.report["regions"] if r["kind"] == "thread_stack"]
        # The second thread runs all the time, so only its shape can tell.
        self.assertEqual(len(stacks), 2)
        self.assertTrue(any(r.get("thread_id") for r in stacks))
        for stack in stacks:
            self.assertEqual(stack["mappings"][0]["permissions"], "---p")

    def test_libc_is_one_region_with_its_bss(self):
        libc = next(r for r in self.report["regions"]
                    if r["kind"] == "image" and r["name"].startswith("libc"))
        self.assertTrue(any(m["permissions"] == "r-xp" for m in libc["mappings"]))
        last = libc["mappings"][-1]
        behind = [m for r in self.report["regions"] for m in r["mappings"]
                  if m["start"] == last["end"]]
        # With more than itself: then it is that one's. The bss has 52 KiB.
        if (last["inode"] != 0 and behind and behind[0]["inode"] == 0 and
                behind[0]["size_bytes"] > 100 << 10):
            self.skipTest("the kernel joined the bss of libc with its neighbour of "
                          f"{behind[0]['size_bytes']} bytes")
        self.assertEqual(last["inode"], 0)

    def test_regions_cover_every_mapping_once(self):
        with open(f"/proc/{self.target.pid}/maps") as file:
            kernel = [line.split()[0] for line in file]
        ours = [f"{int(m['start'], 16):x}-{int(m['end'], 16):x}"
                for r in self.report["regions"] for m in r["mappings"]]
        normal = ["-".join(f"{int(part, 16):x}" for part in line.split("-")) for line in kernel]
        self.assertEqual(ours, normal)

    def test_parts_sum_to_the_total(self):
        for field in ("size_bytes", "rss_bytes", "pss_bytes", "uss_bytes"):
            total = self.report["total"][field]
            self.assertEqual(sum(r[field] for r in self.report["regions"]), total)
            self.assertEqual(sum(c[field] for c in self.report["categories"]), total)

    def test_every_line_of_the_text_keeps_the_grammar(self):
        line = (r"^(/A|/R|R | M|M ) ?[0-9a-f_]{16}-[0-9a-f_]{16} [r-]?[w-]?[x-]? *\S+:sz +\S+:res "
                r"+\S+:pss +\S+:priv( +\S+:swap)? (\S+:obj )?'.*'$")
        for text in run("maps", self.target.pid).stdout.splitlines():
            self.assertRegex(text, line)


class Bss(unittest.TestCase):
    def test_heap_behind_a_library_is_no_bss(self):
        """A large block, then a library: mmap puts them side by side."""
        script = """
            import ctypes, glob
            block = bytearray(100 << 20)
            for at in range(0, len(block), 4096):
                block[at] = 1
            for name in ("libz.so.1", "libbz2.so.1.0", "liblzma.so.5", "libm.so.6"):
                try:
                    ctypes.CDLL(name)
                except OSError:
                    pass
        """
        with Python(script) as target:
            parts = run_json("maps", target.pid)["categories"]
        pss = {part["category"]: part["pss_bytes"] for part in parts}
        self.assertGreaterEqual(pss["anon"], 100 << 20)
        self.assertLess(pss["code"], 64 << 20)


if __name__ == "__main__":
    unittest.main()
