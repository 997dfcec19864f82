#!/usr/bin/env python3
"""What other tools read of a recording, read by them or by their own schema."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from live import run

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIB = 1 << 20


def decoded(proto, message, data):
    """The text form of a message, by the definitions we publish."""
    done = subprocess.run(
        ["protoc", f"--decode={message}", f"--proto_path={proto.parent}", proto.name],
        input=data, capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return done.stdout.decode()


def packets_of(text):
    """The packets of a decoded trace, each as its lines."""
    return re.findall(r"^packet \{\n(.*?)^\}\n", text, re.S | re.M)


@unittest.skipUnless(shutil.which("protoc"), "needs protoc (protobuf-compiler)")
class Perfetto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tidemark-exchange-")
        cls.path = str(pathlib.Path(cls.folder.name) / "a.tdm")
        run("record", "-q", "-f", "50ms", "--budget", "none", "-o", cls.path, "--", "sh", "-c",
            "python3 -S -c 'x=bytearray(30<<20); import time; time.sleep(0.4)'; sleep 0.2")
        out = pathlib.Path(cls.folder.name) / "a.pftrace"
        run("export", cls.path, "--to", "perfetto", "-q", "-o", out)
        trace = out.read_bytes()
        cls.packets = packets_of(decoded(ROOT / "share/tidemark/perfetto.proto",
                                         "tidemark.perfetto.Trace", trace))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def tracks(self):
        """uuid: (name, parent, packet)."""
        found = {}
        for packet in self.packets:
            if "track_descriptor {" not in packet:
                continue
            uuid = int(re.search(r"\buuid: (\d+)", packet)[1])
            parent = re.search(r"parent_uuid: (\d+)", packet)
            self.assertNotIn(uuid, found)
            found[uuid] = (re.search(r'\bname: "(.*)"', packet)[1],
                           int(parent[1]) if parent else None, packet)
        return found

    def values(self, track):
        return [(int(re.search(r"timestamp: (\d+)", packet)[1]),
                 int(re.search(r"counter_value: (-?\d+)", packet)[1]))
                for packet in self.packets
                if re.search(rf"track_uuid: {track}\n", packet) and "TYPE_COUNTER" in packet]

    def test_nothing_is_outside_the_definitions(self):
        self.assertGreater(len(self.packets), 20)
        for packet in self.packets:
            self.assertNotRegex(packet, r"^\s+\d+: ")

    def test_a_process_has_the_counters_of_its_memory(self):
        tracks = self.tracks()
        python = next(uuid for uuid, (name, _, packet) in tracks.items()
                      if name.startswith("python3") and "process {" in packet)
        names = {name: uuid for uuid, (name, parent, _) in tracks.items() if parent == python}
        rows = [json.loads(line) for line in
                run("export", self.path, "--to", "jsonl").stdout.splitlines()]
        highest = max(process.get("pss_bytes") or 0
                      for row in rows for process in row["processes"])
        told = [value for _, value in self.values(names["pss_bytes"])]
        self.assertEqual(max(told), highest)
        self.assertGreater(highest, 30 * MIB)
        self.assertEqual(told[-1], 0)  # it has ended
        kinds = [uuid for name, uuid in names.items()
                 if re.fullmatch(r"pss_[a-z]+_bytes", name)]
        self.assertGreaterEqual(len(kinds), 2)

    def test_time_goes_forward_on_every_track(self):
        for uuid, (_, _, packet) in self.tracks().items():
            if "counter {" in packet:
                times = [time for time, _ in self.values(uuid)]
                self.assertEqual(times, sorted(times))


if __name__ == "__main__":
    unittest.main(verbosity=2)
