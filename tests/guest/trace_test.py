#!/usr/bin/env python3
"""`trace` on Debian's 6.1 and 6.12 kernels in QEMU, with what the machine the
tests run on may lack: modules that are loaded while it traces.
"""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest
from tracing import TIDEMARK
import tracing

HELD_PAGES = 4001
OWN_PAGES = 96     # of the holder: code, stack, page tables
# The table of zram for a device of 4 GiB, 24 bytes for each page: vmalloc takes
# it from the bulk allocator, which tells of none.
TABLE_PAGES = 6144
DATA_PAGES = 2048  # that do not compress, in a block device of zram's

SCRIPT = tracing.SHELL + f"""
fill_zram() {{
  echo 16M >/sys/block/zram0/disksize
  dd if=/dev/urandom of=/dev/zram0 bs=64k count={DATA_PAGES // 16} 2>/dev/null
  sync
}}
begin_trace --json -o /run/trace.json
/bin/hold /run/held private {HELD_PAGES} 3>&- &
hold=$!
wait_for /run/held
for module in /late/*; do
  insmod $module || fail "cannot load $module"
done
fill_zram
echo 4G >/sys/block/zram$(cat /sys/class/zram-control/hot_add)/disksize
end_trace
send ended /run/ended
send said /run/said
send trace /run/trace.json
echo $hold >/run/pid
send pid /run/pid
for backend in bpf perf ftrace; do
  show module_$backend /bin/tidemark trace --json --backend $backend --module zram \
    --all -- /bin/busybox dd if=/dev/urandom of=/dev/zram0 bs=64k count=8 seek={DATA_PAGES // 16}
done
# One from before the trace goes, comes back at work, and goes again.
for backend in ftrace perf bpf; do
  begin_trace --json --backend $backend -o /run/went_$backend.json
  echo 1 >/sys/block/zram0/reset
  rmmod zram || fail "cannot unload zram"
  insmod /late/*zram.ko || fail "cannot load zram again"
  fill_zram
  echo 1 >/sys/block/zram0/reset
  rmmod zram || fail "cannot unload zram again"
  end_trace
  send went_$backend /run/went_$backend.json
  insmod /late/*zram.ko || fail "cannot load zram for the next"
done
rmmod zram || fail "cannot unload zram at the end"
ln -s tidemark /bin/memstrack
begins=/bin/memstrack begin_trace --report module_summary,module_top --notui \\
  --throttle 80 -o /run/memstrack
for module in /more/*; do
  insmod $module || fail "cannot load $module"
done
end_trace
send memstrack /run/memstrack
begin_trace --report modules -o /run/modules
insmod /late/*zram.ko || fail "cannot load zram a third time"
end_trace
send modules /run/modules
show slab /bin/tidemark trace --slab --json -- /bin/busybox ls -R /sys/module
show unwound /bin/tidemark trace --unwind-all --json -- /bin/busybox true
show summary /bin/tidemark trace --report module_summary,task_summary --duration 1s
"""


def sums_are_right(node):
    below = sum(child["pages"] for child in node.get("stacks", []))
    return node["pages"] == node["own_pages"] + below and all(
        map(sums_are_right, node.get("stacks", [])))


def frames_of(node):
    for child in node.get("stacks", []):
        yield child
        yield from frames_of(child)


def leaves_of(node, above=()):
    """The frames on the way to each that holds pages itself."""
    for child in node.get("stacks", []):
        way = (*above, child)
        if child["own_pages"]:
            yield way
        yield from leaves_of(child, way)


class Checks:
    """What must hold in a guest of each kernel."""

    @classmethod
    def setUpClass(cls):
        here = pathlib.Path(__file__)
        files = {"bin/tidemark": pathlib.Path(TIDEMARK),
                 "bin/hold": guest.compiled(here.with_name("hold.c"))}
        try:
            booted = guest.kernel(cls.series)
            for i, (name, content) in enumerate(booted.modules("lzo-rle", "zram")):
                files[f"late/{i:02}-{name}"] = content
            for name, content in booted.modules("loop", "brd"):
                files[f"more/{name}"] = content
            cls.ran = guest.run(booted, SCRIPT, files, seconds=200)
        except guest.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        print(f"Linux {booted.version} booted, did all and ended in "
              f"{cls.ran.seconds:.1f} s", file=sys.stderr)
        cls.trace = json.loads(cls.ran.text("trace"))
        cls.went = {backend: json.loads(cls.ran.text(f"went_{backend}"))
                    for backend in ("bpf", "perf", "ftrace")}
        cls.pid = int(cls.ran.text("pid"))

    def test_it_is_counted_in_the_kernel(self):
        self.assertEqual(self.ran.text("ended"), "0\n")
        self.assertEqual(self.trace["backend"], "bpf", self.ran.text("said"))
        self.assertEqual(self.trace["table_full"], 0)
        print({key: self.trace[key] for key in
               ("missed", "untracked_frees", "overwritten", "verified_stacks",
                "wrong_stacks", "notes")}, file=sys.stderr)
        self.assertLessEqual(self.trace["wrong_stacks"],
                             self.trace["verified_stacks"] * 0.01)

    def test_what_is_held_is_shown(self):
        tasks = [task for task in self.trace["tasks"] if task["pid"] == self.pid]
        self.assertEqual(len(tasks), 1)
        self.assertGreaterEqual(tasks[0]["pages"], HELD_PAGES)
        self.assertLess(tasks[0]["pages"], HELD_PAGES + OWN_PAGES)
        self.assertIn("hold", tasks[0]["cmdline"])
        self.assertTrue(sums_are_right(tasks[0]))

    def test_pages_of_the_bulk_allocator_are_seen(self):
        self.assertTrue(self.trace["sees_bulk"], self.trace["notes"])
        tables = [frame for task in self.trace["tasks"] for frame in frames_of(task)
                  if "vmalloc" in frame["symbol"] or "vzalloc" in frame["symbol"]]
        self.assertTrue(tables)
        self.assertGreaterEqual(max(frame["pages"] for frame in tables), TABLE_PAGES)

    def test_stacks_of_a_module_alone(self):
        for backend in ("bpf", "perf", "ftrace"):
            traced = json.loads(self.ran.output(f"module_{backend}"))
            stacks = [task for task in traced["tasks"] if task["stacks"]]
            self.assertTrue(stacks, backend)
            for task in stacks:
                for way in leaves_of(task):
                    self.assertIn("zram", [frame.get("module") for frame in way],
                                  (backend, [frame["symbol"] for frame in way]))

    def test_pages_of_a_module_are_the_modules(self):
        pages = {module["name"]: module["pages"] for module in self.trace["modules"]}
        print({name: count for name, count in pages.items() if name}, file=sys.stderr)
        # zsmalloc is part of the image on some kernels and a module on others.
        of_zram = pages.get("zram", 0) + pages.get("zsmalloc", 0)
        self.assertGreater(of_zram, (DATA_PAGES + TABLE_PAGES) * 0.98)
        self.assertLess(of_zram, (DATA_PAGES + TABLE_PAGES) * 1.1)

    def module(self, trace, name):
        found = [module for module in trace["modules"] if module["name"] == name]
        self.assertEqual(len(found), 1, [module["name"] for module in trace["modules"]])
        return found[0]

    def test_columns_of_a_module_are_all_its_pages(self):
        for trace in self.trace, *self.went.values():
            for module in trace["modules"]:
                if not module["name"]:
                    continue
                self.assertEqual(
                    module["pages"],
                    sum(module[column + "_pages"] for column in
                        ("loading", "later", "page_cache", "slab")), module)
            self.assertEqual(trace["pages"],
                             sum(module["pages"] for module in trace["modules"]))

    def test_a_module_that_was_loaded_has_its_image_and_what_loading_took(self):
        zram = self.module(self.trace, "zram")
        print({key: value for key, value in zram.items() if key != "unknown"},
              file=sys.stderr)
        self.assertTrue(zram["was_loaded"])
        self.assertFalse(zram["was_there"] or zram["was_unloaded"])
        self.assertGreater(zram["image_bytes"], 16384)
        self.assertGreater(zram["loading_pages"], 0)
        loads = [frame for task in self.trace["tasks"] for frame in frames_of(task)
                 if frame["symbol"] == "load_module"]
        print({frame.get("loads") for frame in loads}, file=sys.stderr)
        self.assertTrue(any(frame.get("loads") == "zram" for frame in loads))
        # What follows the loader's frames is told apart by what is loaded.
        self.assertTrue(all(frame.get("loads") for frame in loads), loads)

    def test_code_of_init_has_its_names(self):
        for trace in self.trace, self.went["bpf"]:
            self.assertIn(("zram", "zram_init"), self.called_by_the_loader(trace))

    def called_by_the_loader(self, trace):
        frames = [frame for task in trace["tasks"] for frame in frames_of(task)]
        called = {(below.get("module"), below["symbol"]) for frame in frames
                  if frame["symbol"] == "do_one_initcall"
                  for below in frame.get("stacks", [])}
        print(trace["backend"], called, file=sys.stderr)
        return called

    def test_code_of_init_is_the_modules_by_events_too(self):
        # Its names are there while it runs, and events are told of later: where
        # that is too late it is said to be init, and never another's.
        for backend in "perf", "ftrace":
            called = self.called_by_the_loader(self.went[backend])
            self.assertTrue(called, backend)
            self.assertLessEqual(called, {("zram", "zram_init"), ("zram", "(init)")})

    def test_an_unloaded_module_still_names_its_stacks(self):
        for backend, went in self.went.items():
            with self.subTest(backend):
                self.check_unloaded(went)

    def check_unloaded(self, went):
        zram = self.module(went, "zram")
        print(went["backend"], {key: value for key, value in zram.items()
                                if key != "unknown"}, went["notes"], file=sys.stderr)
        self.assertEqual(went["lost"], 0)
        self.assertTrue(zram["was_there"] and zram["was_loaded"] and
                        zram["was_unloaded"])
        frames = [frame for task in went["tasks"] for frame in frames_of(task)
                  if frame.get("module") == "zram"]
        nameless = [frame for frame in frames if not frame["symbol"]]
        # How many stacks take a page, and not an object of a slab that has
        # room, is chance.
        self.assertGreater(len(frames), 1)
        self.assertEqual(nameless, [])
        symbols = {frame["symbol"] for frame in frames}
        # One of init, which went first, and one that stayed to the end.
        init = {"zram_init", "(init)"}
        self.assertTrue(symbols & init, symbols)
        self.assertTrue(symbols - init, symbols)
        # Its table comes of the bulk allocator, which events do not tell of.
        if went["backend"] == "bpf":
            self.assertIn("disksize_store", symbols)
        # Its data was there while it was: nothing of it is left.
        holders = [self.module(went, name) for name in ("zram", "zsmalloc")
                   if any(module["name"] == name for module in went["modules"])]
        self.assertGreater(sum(holder["peak_pages"] for holder in holders),
                           DATA_PAGES * 0.98)
        self.assertLess(zram["pages"], DATA_PAGES * 0.05)
        loads = {frame.get("loads") for task in went["tasks"] for frame in frames_of(task)
                 if frame["symbol"] == "load_module"}
        self.assertEqual(loads, {"zram"})

    def test_slab_objects_are_known_by_cache_and_caller(self):
        listing, text = self.ran.output("slab").split('{\n  "schema"', 1)
        slab = json.loads('{\n  "schema"' + text)["slab"]
        self.assertIn("/sys/module", listing)
        print({key: slab[key] for key in ("bytes", "peak_bytes", "missed",
                                          "overwritten", "table_full")}, file=sys.stderr)
        caches = {cache["cache"]: cache for cache in slab["caches"]}
        self.assertEqual(slab["table_full"], 0)
        # It has looked at some hundred names and holds none of its files.
        self.assertGreater(caches["dentry"]["objects"], 100)
        self.assertIn("__d_alloc",
                      [caller["symbol"] for caller in caches["dentry"]["callers"]])
        self.assertGreater(caches["filp"]["allocations"], 100)
        # A closed one is given back when all CPUs have been quiet, which beside
        # other work takes a while.
        self.assertLess(caches["filp"]["objects"],
                        caches["filp"]["allocations"] * 2 // 3)

    def test_modules_are_a_table(self):
        text = self.ran.text("modules")
        print(text, file=sys.stderr)
        self.assertRegex(text, r"IMAGE +LOADING +LATER +CACHE +SLAB +NOW +PEAK +MODULE")
        self.assertRegex(text, r"\n[^\n]* zram \(loaded since\)\n")
        self.assertIn("before the trace, and no part of it", text)

    def test_frames_have_names(self):
        frames = [frame for task in self.trace["tasks"] for frame in frames_of(task)]
        named = [frame for frame in frames if frame["symbol"]]
        self.assertGreater(len(named), len(frames) * 0.99)
        self.assertTrue(any(frame.get("module") == "zram" for frame in frames))

    def test_no_frame_is_the_tracers_own(self):
        ways = [way for task in self.trace["tasks"] for way in leaves_of(task)]
        ours = [[frame["symbol"] for frame in way] for way in ways
                if any(frame.get("module") == "bpf" for frame in way)]
        self.assertEqual(ours, [])

    def test_unwinding_all_gives_the_same_kind_of_answer(self):
        unwound = json.loads(self.ran.output("unwound"))
        self.assertEqual(unwound["verified_stacks"], 0)
        self.assertTrue(unwound["tasks"])

    def test_called_memstrack_every_module_has_its_stacks(self):
        report = self.ran.text("memstrack")
        for module in ("loop", "brd"):
            self.assertRegex(report, rf"(?m)^Module {module} using \S+ \([1-9]\d* pages\)")
        self.assertEqual(tracing.modules_without_stacks(report), [])

    def test_reports_are_printed(self):
        text = self.ran.output("summary")
        self.assertIn("======== Report format module_summary: ========", text)
        self.assertIn("======== Report format task_summary END ========", text)


class Ranges(unittest.TestCase):
    """A page of 1 GiB, which needs a guest that has as much: memory of this
    machine is used only for what the guest touches."""

    def test_contiguous_ranges_are_seen_taken_and_given_back(self):
        folder = "/sys/kernel/mm/hugepages/hugepages-1048576kB"
        script = f"""
echo 'echo 1 >{folder}/nr_hugepages; cat {folder}/nr_hugepages
      echo 0 >{folder}/nr_hugepages' >/run/take
show range /bin/tidemark trace --json -o /run/range.json -- /bin/sh /run/take
send trace /run/range.json
"""
        try:
            ran = guest.run(guest.kernel("6.1"), script,
                            {"bin/tidemark": pathlib.Path(TIDEMARK)}, seconds=150,
                            memory_mib=3072, qemu_arguments=("-cpu", "max"))
        except guest.Unavailable as reason:
            self.skipTest(str(reason))
        if ran.output("range") != "1\n":
            self.skipTest("the guest found no range of 1 GiB")
        trace = json.loads(ran.text("trace"))
        pages = 1 << 18
        self.assertGreaterEqual(trace["peak_pages"], pages)
        self.assertLess(trace["peak_pages"], pages + OWN_PAGES)
        self.assertLess(trace["pages"], OWN_PAGES)


class Debian6_1(Checks, unittest.TestCase):
    series = "6.1"


class Debian6_12(Checks, unittest.TestCase):
    series = "6.12"


if __name__ == "__main__":
    guest.main("6.1")
