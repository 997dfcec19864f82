"""Prometheus and VictoriaMetrics from Debian's packages, on loopback, for the
tests of `metrics`. Each is ended by its pid."""

import contextlib
import http.server
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from live import TIDEMARK, wait_for

SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def fetch(url, headers=(), method="GET"):
    """Status, headers and text, also of a refusal."""
    request = urllib.request.Request(url, headers=dict(headers), method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.headers, refused.read().decode()


def parse(text):
    """[(name, labels, value)] of the lines that are samples."""
    samples = []
    for line in text.splitlines():
        if found := SAMPLE.match(line):
            name, labels, value = found.groups()
            samples.append((name, dict(LABEL.findall(labels or "")), float(value)))
    return samples


def values(samples, name, **labels):
    return [value for its_name, its, value in samples
            if its_name == name and labels.items() <= its.items()]


class Daemon(contextlib.AbstractContextManager):
    def __init__(self, command, **options):
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL,
            stdout=options.pop("stdout", subprocess.DEVNULL),
            stderr=options.pop("stderr", subprocess.DEVNULL), text=True, **options)
        self.pid = self.process.pid

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            status = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        return status

    def __exit__(self, *_):
        self.end()


class Metrics(Daemon):
    """`tidemark metrics` that listens; `url` is what it printed."""

    def __init__(self, *arguments, **options):
        super().__init__(
            [options.pop("binary", TIDEMARK), "metrics", "--listen",
             "127.0.0.1:0", *arguments],
            stdout=subprocess.PIPE, **options)
        self.url = self.process.stdout.readline().strip()
        if not self.url.startswith("http"):
            self.end()
            raise AssertionError(f"metrics did not start: {self.url!r}")

    def scrape(self, scraper="test"):
        status, _, text = fetch(f"{self.url}?scraper={scraper}")
        if status != 200:
            raise AssertionError(text)
        return parse(text)


class Engine(Daemon):
    """Something that answers PromQL."""

    def __init__(self, command, port):
        self.base = f"http://127.0.0.1:{port}"
        super().__init__(command)
        if not wait_for(self.is_up, 30):
            self.end()
            raise AssertionError(f"{command[0]} did not come up")

    def is_up(self):
        try:
            return fetch(self.base + "/-/ready")[0] == 200
        except OSError:
            return False

    def query(self, expression, **parameters):
        """[(labels, value)] of an instant vector."""
        text = urllib.parse.urlencode({"query": expression, **parameters})
        status, _, body = fetch(f"{self.base}/api/v1/query?{text}")
        if status != 200:
            raise AssertionError(body)
        return [(one["metric"], float(one["value"][1]))
                for one in json.loads(body)["data"]["result"]]

    def number(self, expression, **parameters):
        found = self.query(expression, **parameters)
        return found[0][1] if found else None


class Prometheus(Engine):
    def __init__(self, folder, target):
        port = free_port()
        config = pathlib.Path(folder) / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            "scrape_configs:\n"
            "  - job_name: tidemark\n"
            "    params: {scraper: [prometheus]}\n"
            f"    static_configs: [{{targets: ['{target}']}}]\n")
        super().__init__(
            [shutil.which("prometheus"), f"--config.file={config}",
             f"--storage.tsdb.path={folder}/tsdb",
             f"--web.listen-address=127.0.0.1:{port}"], port)


class Victoria(Engine):
    def __init__(self, folder, port=None):
        self.port = port or free_port()
        super().__init__(
            [shutil.which("victoria-metrics"), f"-storageDataPath={folder}/vm",
             f"-httpListenAddr=127.0.0.1:{self.port}", "-retentionPeriod=1",
             "-search.latencyOffset=0s", "-search.disableCache"], self.port)

    @property
    def write_url(self):
        return f"{self.base}/api/v1/write"

    def is_up(self):
        try:
            return fetch(self.base + "/health")[0] == 200
        except OSError:
            return False

    def points(self, selector, hours=2):
        """[(labels, times in ms, values)], exactly as stored."""
        fetch(self.base + "/internal/force_flush")
        text = urllib.parse.urlencode(
            {"match[]": selector, "start": time.time() - 3600 * hours})
        body = fetch(f"{self.base}/api/v1/export?{text}")[2]
        rows = [json.loads(line) for line in body.splitlines()]
        return [(r["metric"], r["timestamps"], r["values"]) for r in rows]


class Receiver(contextlib.AbstractContextManager):
    """Answers what it is told to and keeps the bodies."""

    def __init__(self):
        outer = self
        self.status = 204
        self.bodies = []
        self.tries = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.tries += 1
                outer.headers = dict(self.headers)
                if outer.status < 300:
                    outer.bodies.append(body)
                self.send_response(outer.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/write"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def scratch(test):
    folder = tempfile.TemporaryDirectory(prefix="tidemark-metrics.")
    test.addCleanup(folder.cleanup)
    return pathlib.Path(folder.name)
