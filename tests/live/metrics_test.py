#!/usr/bin/env python3
"""`metrics` scraped: by hand and by a real Prometheus, against memory of known
size."""

import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from engines import Daemon, Metrics, Prometheus, fetch, parse, scratch, values
from live import NOBODY, PAGE, TIDEMARK, is_root, run, wait_for

PAGES = 20011  # a prime; 78 MiB
HOLD = """
    import ctypes, mmap
    area = mmap.mmap(-1, {bytes}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, {bytes}, 4096): area[at] = 1
"""
# Raises its memory for `seconds` each time it is asked to.
SPIKE = """
    import mmap, signal, time
    def spike(*_):
        area = mmap.mmap(-1, {bytes}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for at in range(0, {bytes}, 4096): area[at] = 1
        time.sleep({seconds})
        area.close()
    signal.signal(signal.SIGUSR1, spike)
"""
needs_prometheus = unittest.skipUnless(
    shutil.which("prometheus") and shutil.which("promtool"),
    "prometheus is not installed")


def named_python(folder, name):
    """An interpreter under another name, so that its program is one of a kind."""
    path = folder / name
    shutil.copy(sys.executable, path)
    return str(path)


def hold(folder, name, script):
    process = subprocess.Popen(
        [named_python(folder, name), "-S", "-E", "-c",
         "\n".join(line[4:] for line in script.splitlines())
         + "\nprint('ready', flush=True)\nimport sys; sys.stdin.read()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        raise AssertionError("the workload did not start")
    return process


def end(process):
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def promtool(*arguments, text=None):
    return subprocess.run(
        ["promtool", *map(str, arguments)], input=text, capture_output=True,
        text=True, timeout=60, check=False)


class Scraped(unittest.TestCase):
    def test_the_ledger_sums_to_ram(self):
        samples = parse(run("metrics", "--pss-interval", "never").stdout)
        self.assertEqual(sum(values(samples, "tidemark_ledger_bytes")),
                         values(samples, "tidemark_ram_bytes")[0])

    def test_the_count_of_series_is_true_and_bounded(self):
        # How many there are without the limit is the machine's affair.
        limit = len(parse(run("metrics").stdout)) - 20
        samples = parse(run("metrics", "--series-limit", str(limit)).stdout)
        self.assertEqual(len(samples), limit)
        self.assertEqual(values(samples, "tidemark_series"), [limit])
        self.assertGreater(values(samples, "tidemark_series_dropped")[0], 0)

    @needs_prometheus
    def test_promtool_has_nothing_to_say(self):
        with Metrics() as server:
            text = fetch(server.url)[2]
        # And of what is printed, as the help says.
        for text in (text, run("metrics", "-q").stdout):
            done = promtool("check", "metrics", text=text)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (0, "", ""))

    def test_both_formats_by_what_is_asked_for(self):
        with Metrics() as server:
            _, headers, text = fetch(
                server.url, {"Accept": "application/openmetrics-text;version=1.0.0"})
            self.assertIn("openmetrics-text; version=1.0.0", headers["Content-Type"])
            self.assertTrue(text.endswith("# EOF\n"))
            _, headers, text = fetch(server.url)
            self.assertIn("text/plain; version=0.0.4", headers["Content-Type"])
            self.assertNotIn("# EOF", text)

    def test_who_may_ask(self):
        folder = scratch(self)
        (folder / "token").write_text("0123456789abcdef\n")
        with Metrics() as server:
            self.assertEqual(fetch(server.url, {"Host": "evil.example"})[0], 403)
            self.assertEqual(fetch(server.url.replace("/metrics", "/api/now/ps"))[0], 404)
            self.assertEqual(fetch(server.url, method="POST")[0], 405)
            status, _, text = fetch(server.url + "x")
            self.assertEqual(status, 404)
            self.assertIn("/metrics has the numbers", text)
        with Metrics("--token-file", folder / "token") as server:
            self.assertEqual(fetch(server.url)[0], 403)
            self.assertEqual(fetch(
                server.url, {"Authorization": "Bearer 0123456789abcdef"})[0], 200)
        refused = run("metrics", "--listen", "0.0.0.0:0", check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--allow-remote", refused.stderr)

    def test_a_known_program_has_its_pages(self):
        folder = scratch(self)
        process = hold(folder, "tmprime", HOLD.format(bytes=PAGES * PAGE))
        self.addCleanup(end, process)
        samples = parse(run("metrics").stdout)
        for measure in ("pss", "uss", "footprint", "rss"):
            bytes_ = values(samples, "tidemark_program_bytes", program="tmprime",
                            measure=measure)[0]
            self.assertGreaterEqual(bytes_, PAGES * PAGE)
            self.assertLess(bytes_, PAGES * PAGE + (24 << 20), measure)
        self.assertEqual(values(samples, "tidemark_program_processes",
                                program="tmprime"), [1])

    def test_a_spike_between_scrapes_is_seen_by_each_scraper(self):
        folder = scratch(self)
        spike = 200 << 20
        process = hold(folder, "tmspike", SPIKE.format(bytes=spike, seconds=0.15))
        self.addCleanup(end, process)

        def peak(samples):
            return values(samples, "tidemark_program_peak_bytes", program="tmspike")[0]

        with Metrics("--pss-interval", "never", "--sample", "50ms") as server:
            for scraper in ("a", "b"):
                self.assertLess(peak(server.scrape(scraper)), spike)
            process.send_signal(signal.SIGUSR1)
            time.sleep(1.5)
            samples = server.scrape("a")
            self.assertGreaterEqual(peak(samples), spike)
            self.assertLess(values(samples, "tidemark_program_bytes",
                                   program="tmspike", measure="rss")[0], spike)
            self.assertLess(peak(server.scrape("a")), spike, "it is of one window")
            self.assertGreaterEqual(peak(server.scrape("b")), spike)

    def test_one_that_came_and_went_between_scrapes_is_told_by_name(self):
        folder = scratch(self)
        spike = 200 << 20
        with Metrics("--pss-interval", "never", "--sample", "50ms") as server:
            server.scrape("a")
            process = hold(folder, "tmburst", HOLD.format(bytes=spike))
            self.addCleanup(end, process)

            def rss():
                return values(server.scrape("b"), "tidemark_program_bytes",
                              program="tmburst", measure="rss")

            # Until a reading has seen it, and one has missed it.
            self.assertTrue(wait_for(lambda: rss() and rss()[0] >= spike, 30))
            end(process)
            self.assertTrue(wait_for(lambda: not rss(), 30))
            samples = server.scrape("a")
            self.assertGreaterEqual(values(
                samples, "tidemark_program_peak_bytes", program="tmburst")[0], spike)
            self.assertEqual(values(samples, "tidemark_program_processes",
                                    program="tmburst"), [0])
            self.assertEqual(values(samples, "tidemark_program_bytes",
                                    program="tmburst"), [])
            self.assertEqual(values(server.scrape("a"), "tidemark_program_peak_bytes",
                                    program="tmburst"), [], "it is of one window")

    def test_a_group_that_came_and_went_is_told_by_its_path(self):
        python = named_python(scratch(self), "tmgroup")
        spike = 150 << 20
        with Metrics("--pss-interval", "never", "--sample", "50ms") as server:
            server.scrape("a")
            # It runs in a control group of its own, where one can be made.
            with subprocess.Popen(
                    [TIDEMARK, "run", "--", python, "-S", "-E", "-c",
                     f"x = bytearray({spike}); import sys; sys.stdin.read()"],
                    stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                def rows(family, scraper="b"):
                    return {its["cgroup"]: value for name, its, value
                            in server.scrape(scraper) if name == family
                            and its["cgroup"].endswith(f"/tidemark-{process.pid}")}

                def was_read():
                    rss = values(server.scrape("b"), "tidemark_program_bytes",
                                 program="tmgroup", measure="rss")
                    return rss and rss[0] >= spike and rows("tidemark_cgroup_bytes")

                try:
                    seen = wait_for(was_read, 20)
                finally:
                    process.communicate()
            if not seen:
                self.skipTest("no control group of its own could be made")
            self.assertTrue(wait_for(lambda: not rows("tidemark_cgroup_bytes"), 30))
            peaks = rows("tidemark_cgroup_peak_bytes", "a")
            self.assertEqual(set(peaks), set(seen))
            self.assertGreaterEqual(min(peaks.values()), spike)

    @unittest.skipUnless(is_root(), "only root can become another user")
    def test_works_unprivileged_with_what_it_can_read(self):
        samples = parse(run("metrics", user=NOBODY).stdout)
        self.assertGreater(values(samples, "tidemark_unread_processes",
                                  because="denied")[0], 0)
        self.assertGreater(len(values(samples, "tidemark_program_bytes",
                                      measure="rss")), 1)
        unknown = [its for name, its, _ in samples
                   if name == "tidemark_unknown" and its["name"] == "slab_slack"]
        self.assertTrue(unknown and "ermission denied" in unknown[0]["because"])
        self.assertEqual(values(samples, "tidemark_ledger_bytes",
                                **{"class": "slab_slack"}), [])

    def test_a_textfile_is_whole_and_readable(self):
        folder = scratch(self)
        file = folder / "t.prom"
        run("metrics", "--once", "--textfile", file)
        self.assertTrue(stat.S_IMODE(file.stat().st_mode) & stat.S_IROTH)
        self.assertEqual(os.listdir(folder), ["t.prom"])
        samples = parse(file.read_text())
        self.assertEqual(len(samples), values(samples, "tidemark_series")[0])
        refused = run("metrics", "--once", "--textfile", folder / "no/t.prom",
                      check=False)
        self.assertEqual(refused.returncode, 1)

    def test_series_stay_bounded_while_processes_come_and_go(self):
        # Each with a name of its own, as many in a minute as 10,000.
        folder = scratch(self)
        program = folder / "passers"
        subprocess.run(["cc", "-O2", "-static", "-o", program,
                        pathlib.Path(__file__).parents[1] / "workloads/passers.c"],
                       check=True)
        count = int(os.environ.get("TIDEMARK_PASSERS", "1500"))
        names, counts, times = set(), [], []
        with Metrics("--pss-interval", "1s", "--no-vms", cwd=folder) as server, \
                subprocess.Popen([program, str(count), "10000"],
                                 stdout=subprocess.PIPE, text=True) as passers:
            while passers.poll() is None:
                begun = time.monotonic()
                samples = server.scrape()
                times.append(time.monotonic() - begun)
                counts.append(values(samples, "tidemark_series")[0])
                names |= {its["program"] for name, its, _ in samples
                          if name == "tidemark_program_processes"}
                time.sleep(0.2)
            took_ms = int(passers.stdout.read())
            status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
            rss = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
        times.sort()
        print(f"  {count} processes in {took_ms / 1000:.1f} s: at most "
              f"{max(counts):.0f} series, {len(names)} names ever, "
              f"{len(times)} scrapes of {times[len(times) // 2] * 1000:.1f} ms "
              f"(worst {times[-1] * 1000:.0f}), {rss} KiB", file=sys.stderr)
        self.assertGreater(len(times), 5)
        self.assertLessEqual(max(counts), 5000)
        self.assertLessEqual(len(names), 61, "twice the limit and (other)")
        self.assertLess(rss, 64 << 10)
        # Not of the worst: that is whoever else has the processors.
        self.assertLess(times[len(times) // 2], 1)

    def test_serve_has_them_too_for_who_has_the_token(self):
        folder = scratch(self)
        server = Daemon([TIDEMARK, "serve", "--no-browser", folder],
                        stdout=subprocess.PIPE)
        self.addCleanup(server.end)
        url, token = server.process.stdout.readline().strip().split("?token=")
        self.assertEqual(fetch(url + "metrics")[0], 403)
        status, _, text = fetch(
            url + "metrics", {"Authorization": f"Bearer {token}"})
        self.assertEqual(status, 200)
        samples = parse(text)
        self.assertEqual(sum(values(samples, "tidemark_ledger_bytes")),
                         values(samples, "tidemark_ram_bytes")[0])

    @unittest.skipUnless(is_root(), "only root may mount")
    def test_the_hosts_proc_mounted_elsewhere_is_as_good(self):
        folder = scratch(self)
        for name in ("proc", "sys"):
            (folder / name).mkdir()
            subprocess.run(["mount", "--rbind", f"/{name}", folder / name],
                           check=True)
            subprocess.run(["mount", "--make-rslave", folder / name], check=True)
            self.addCleanup(subprocess.run, ["umount", "-l", folder / name],
                            check=True)
        samples = parse(run("metrics", "--proc", folder / "proc").stdout)
        here = parse(run("metrics").stdout)
        self.assertEqual(values(samples, "tidemark_ram_bytes"),
                         values(here, "tidemark_ram_bytes"))
        for family in ("tidemark_cgroup_peak_bytes", "tidemark_program_processes"):
            self.assertGreater(len(values(samples, family)), 0, family)

    @unittest.skipUnless(is_root(), "only root may trace")
    def test_a_trace_tells_what_the_kernel_gave_out(self):
        folder = scratch(self)
        with Metrics("--with", "trace", "--pss-interval", "never") as server:
            before = values(server.scrape(), "tidemark_trace_bytes",
                            measure="held")[0]
            process = hold(folder, "tmprime", HOLD.format(bytes=PAGES * PAGE))
            self.addCleanup(end, process)
            samples = server.scrape()
            held = values(samples, "tidemark_trace_bytes", measure="held")[0]
            self.assertGreater(held - before, 0.9 * PAGES * PAGE)
            self.assertGreaterEqual(values(samples, "tidemark_trace_bytes",
                                           measure="highest")[0], held)


class RealPrometheus(unittest.TestCase):
    @needs_prometheus
    def test_scrapes_and_answers_with_the_right_numbers(self):
        folder = scratch(self)
        process = hold(folder, "tmprime", HOLD.format(bytes=PAGES * PAGE))
        self.addCleanup(end, process)
        with Metrics("--pss-interval", "1s") as server:
            target = server.url.removeprefix("http://").removesuffix("/metrics")
            with Prometheus(folder, target) as engine:
                pss = wait_for(lambda: engine.number(
                    'tidemark_program_bytes{program="tmprime",measure="pss"}'), 30)
                self.assertIsNotNone(pss)
                self.assertGreaterEqual(pss, PAGES * PAGE)
                self.assertLess(pss, PAGES * PAGE + (24 << 20))
                self.assertEqual(engine.number("up"), 1)
                self.assertEqual(engine.number(
                    "sum(tidemark_ledger_bytes) - scalar(tidemark_ram_bytes)"), 0)
                meminfo = pathlib.Path("/proc/meminfo").read_text()
                total = int(re.search(r"MemTotal:\s+(\d+)", meminfo)[1]) << 10
                self.assertEqual(engine.number(
                    'tidemark_machine_bytes{measure="total"}'), total)
                # In one question, so that both are of one scrape.
                self.assertEqual(engine.number(
                    "tidemark_series - on(instance) scrape_samples_scraped"), 0)


if __name__ == "__main__":
    unittest.main()
