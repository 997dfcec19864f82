#!/usr/bin/env python3
"""What other tools read of a recording, read by them or by their own schema."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import jsonschema

from live import is_root, run
from pprof import Profile

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


def strings_in(text, field):
    """Values of a field of a decoded message that is quoted."""
    return re.findall(rf'^{field}: "(.*)"$', text, re.M)


class Profiles(unittest.TestCase):
    """A recording that rises to a peak and falls again."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tidemark-exchange-")
        cls.place = pathlib.Path(cls.folder.name)
        cls.path = str(cls.place / "a.tdm")
        run("record", "-q", "-f", "50ms", "--budget", "none", "-o", cls.path, "--",
            "python3", "-S", "-c", "import time; x=bytearray(40<<20); time.sleep(0.5); "
            "del x; time.sleep(0.5)")
        cls.rows = [json.loads(line) for line in
                    run("export", cls.path, "--to", "jsonl").stdout.splitlines()]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def held(row):
        """What all processes of a tick hold, by their mappings."""
        return sum(mapping.get("pss_bytes") or 0 for process in row["processes"]
                   for mapping in process.get("mappings") or [])

    def quiet_tick(self):
        """One behind the peak, when half of it had been given back."""
        highest = max(map(self.held, self.rows))
        return next(row for row in reversed(self.rows)
                    if 0 < self.held(row) < highest / 2)

    def profile(self, *words):
        path = self.place / "a.pb"
        run("export", self.path, "--to", "pprof", "-q", "--overwrite", "-o", path, *words)
        return path.read_bytes()

    def test_pprof_has_the_moment_and_the_peak(self):
        tick = self.quiet_tick()
        profile = Profile(self.profile("--at", f"tick:{tick['tick']}"))
        sums = [sum(values[i] for _, values in profile.samples) for i in (0, 1)]
        self.assertEqual(sums[0], self.held(tick))
        self.assertEqual(sums[1], max(map(self.held, self.rows)))
        self.assertGreater(sums[1], sums[0] + 30 * MIB)
        frames, _ = max(profile.samples, key=lambda sample: sample[1][1])
        self.assertEqual(len(frames), 5)
        self.assertEqual(frames[-1], "machine")
        self.assertTrue(frames[2].startswith("python3"), frames)
        self.assertIn(frames[1], ("anon", "heap"))

    def test_the_peak_is_the_moment_unless_another_is_asked_for(self):
        for words in ([], ["--peak"], ["--at", "peak"]):
            profile = Profile(self.profile(*words))
            self.assertTrue(all(values[0] == values[1] for _, values in profile.samples))

    @unittest.skipUnless(shutil.which("protoc"), "needs protoc (protobuf-compiler)")
    def test_nothing_of_a_profile_is_outside_the_definitions(self):
        text = decoded(ROOT / "share/tidemark/pprof.proto", "tidemark.pprof.Profile",
                       self.profile())
        self.assertNotRegex(text, r"(?m)^\s*\d+: ")
        texts = strings_in(text, "string_table")
        self.assertEqual(texts[0], "")
        self.assertIn("inuse_space", texts)
        self.assertIn("peak_space", texts)

    def test_speedscope_takes_it(self):
        path = self.place / "a.speedscope.json"
        tick = self.quiet_tick()
        run("export", self.path, "--to", "speedscope", "-q", "-o", path,
            "--at", f"tick:{tick['tick']}")
        profile = json.loads(path.read_text())
        schema = json.loads((pathlib.Path(__file__).parent /
                             "speedscope_schema.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(profile)
        count = len(profile["shared"]["frames"])
        for each in profile["profiles"]:
            self.assertEqual(len(each["samples"]), len(each["weights"]))
            self.assertTrue(all(i < count for way in each["samples"] for i in way))
            self.assertEqual(sum(each["weights"]), each["endValue"])
        self.assertEqual([each["endValue"] for each in profile["profiles"]],
                         [self.held(tick), max(map(self.held, self.rows))])

    def test_stacks_are_of_one_moment(self):
        for form in ("pprof", "speedscope", "folded"):
            done = run("export", self.path, "--to", form, "--since", "0s", check=False)
            self.assertEqual(done.returncode, 2)


@unittest.skipUnless(is_root(), "only root may trace")
class OfATrace(unittest.TestCase):
    """A recording that has a trace and no process."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tidemark-exchange-")
        cls.place = pathlib.Path(cls.folder.name)
        cls.path = str(cls.place / "t.tdm")
        run("trace", "-q", "-o", cls.path, "--", "python3", "-S", "-c",
            "import time; x=bytearray(40<<20); time.sleep(2.5)")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def exported(self, form, *words):
        path = self.place / f"t.{form}"
        run("export", self.path, "--to", form, "-q", "--overwrite", "-o", path, *words)
        return path.read_bytes()

    def test_stacks_of_all_forms_tell_of_the_same_peak(self):
        folded = sum(int(line.rsplit(" ", 1)[1])
                     for line in self.exported("folded").decode().splitlines())
        profile = Profile(self.exported("pprof"))
        at = profile.types.index(("peak_space", "bytes"))
        peak = sum(values[at] for _, values in profile.samples)
        self.assertEqual(folded * 4096, peak)
        self.assertGreater(peak, 40 * MIB)
        scope = json.loads(self.exported("speedscope"))
        self.assertEqual(scope["profiles"][0]["endValue"], peak)

    @unittest.skipUnless(shutil.which("protoc"), "needs protoc (protobuf-compiler)")
    def test_perfetto_has_what_each_task_held(self):
        packets = packets_of(decoded(ROOT / "share/tidemark/perfetto.proto",
                                     "tidemark.perfetto.Trace", self.exported("perfetto")))
        tracks = {}
        for packet in packets:
            if "track_descriptor {" in packet:
                tracks[int(re.search(r"\buuid: (\d+)", packet)[1])] = packet
        python = next(uuid for uuid, packet in tracks.items()
                      if "process {" in packet and "python3" in packet)
        counter = next(uuid for uuid, packet in tracks.items()
                       if f"parent_uuid: {python}\n" in packet
                       and 'name: "trace_held_bytes"' in packet)
        told = [int(re.search(r"counter_value: (\d+)", packet)[1]) for packet in packets
                if re.search(rf"track_uuid: {counter}\n", packet)
                and "counter_value" in packet]
        self.assertGreater(max(told), 40 * MIB)
        self.assertLess(told[-1], 40 * MIB)  # it has ended

    def test_tables_say_that_they_have_nothing_of_it(self):
        done = run("export", self.path, "--to", "csv")
        self.assertEqual(len(done.stdout.splitlines()), 1)
        self.assertIn("a trace alone", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
