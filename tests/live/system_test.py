#!/usr/bin/env python3
"""`system` against the running kernel and memory of known size."""

import json
import os
import socket
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live import NOBODY, PAGE, Python, run, run_json

# What no column names, of MemTotal, at the quietest of some moments.
RESIDUE = 0.003
PAGES = 20011  # a prime


def needs_root(test):
    return unittest.skipUnless(os.geteuid() == 0, "only root may read slabinfo, iomem")(test)


def readings(*arguments, **options):
    text = run("system", "--json", *arguments, **options).stdout
    return [json.loads(line) for line in text.splitlines()]


def summed(reading):
    return sum(v for k, v in reading["columns"].items()
               if k != "unknown" and v is not None) + reading["other_bytes"]


def calmest():
    """Of some readings the one with the least on its way to be freed."""
    return min(readings("-n", 8, "-d", "50ms"), key=lambda r: abs(r["other_bytes"]))


def fill_sockets(count):
    """Connections whose buffers hold what nobody reads: their ends, bytes."""
    held, sent = [socket.create_server(("127.0.0.1", 0))], 0
    for _ in range(count):
        writer = socket.create_connection(held[0].getsockname())
        held += [writer, held[0].accept()[0]]
        writer.setblocking(False)
        try:
            while True:
                sent += writer.send(b"x" * 65536)
        except BlockingIOError:
            pass
    return held, sent


class System(unittest.TestCase):
    def test_columns_sum_to_the_total(self):
        for reading in readings("-n", 5, "-d", "100ms"):
            self.assertEqual(summed(reading), reading["total_bytes"])

    def test_little_is_left_without_a_name(self):
        reading = calmest()
        rest, whole = reading["other_bytes"], reading["mem_total_bytes"]
        print(f"other: {rest / 2**20:.1f} MiB, {100 * rest / whole:.3f} % of MemTotal")
        self.assertLess(abs(rest), RESIDUE * whole)

    @needs_root
    def test_root_knows_every_column(self):
        reading = run_json("system", "-n", 1)
        # Balloons are counted since 6.18.
        unknown = set(reading["columns"].get("unknown", {}))
        self.assertLessEqual(unknown, {"balloon"})
        self.assertEqual(reading["total_source"], "System RAM in iomem")
        self.assertGreater(reading["columns"]["wired"], 0)

    def test_anonymous_memory_comes_and_goes(self):
        # Others live here too: one of some attempts must be undisturbed.
        seen = []
        for _ in range(5):
            before = calmest()
            target = Python(f"""
                import mmap
                hold = mmap.mmap(-1, {PAGES * PAGE},
                                 flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
                for at in range(0, len(hold), {PAGE}):
                    hold[at] = 1
            """)
            during = calmest()
            target.end()
            grown = during["columns"]["anon"] - before["columns"]["anon"]
            rest = during["other_bytes"] - before["other_bytes"]
            seen.append((grown, rest))
            if grown > 0.9 * PAGES * PAGE and abs(rest) < 4 << 20:
                return
        self.fail(f"{PAGES * PAGE} bytes were touched, and seen: {seen}")

    def test_buffers_of_sockets_have_a_name(self):
        before = calmest()
        held, sent = fill_sockets(16)
        during = calmest()
        for end in held:
            end.close()
        grown = during["columns"]["sockets"] - before["columns"]["sockets"]
        rest = during["other_bytes"] - before["other_bytes"]
        print(f"sent {sent >> 10} KiB: sockets {grown >> 10:+} KiB, other {rest >> 10:+} KiB")
        self.assertGreater(grown, 0.9 * sent)
        self.assertLess(abs(rest), 0.3 * sent)

    @needs_root
    def test_nobody_loses_columns_and_is_told(self):
        done = run("system", "-n", 1, "--json", user=NOBODY)
        reading = json.loads(done.stdout)
        unknown = reading["columns"]["unknown"]
        self.assertIsNone(reading["columns"]["wired"])
        self.assertIn("denied", unknown["wired"])
        self.assertIn("denied", unknown["slab_slack"])
        self.assertEqual(reading["total_bytes"], reading["mem_total_bytes"])
        self.assertEqual(summed(reading), reading["total_bytes"])
        text = run("system", "-n", 1, user=NOBODY)
        self.assertIn("wired is unknown: denied", text.stderr)
        self.assertIn("?", text.stdout)


if __name__ == "__main__":
    unittest.main()
