"""Boots a Debian kernel in QEMU with an initramfs made here, for tests.

Nothing of it is installed: the kernel's package is downloaded with apt and
unpacked into build/guest, where it stays for the next run. The guest has two
serial ports. The kernel talks on the first; what the test's script sends goes
through the second, so that no kernel message can land in the middle of it.
The initramfs and both ports live in memfds: whatever ends the test, no file is
left behind, and QEMU ends with the test.

    script = 'show release uname -r'
    guest = run(kernel("6.1"), script)
    guest.output("release")  # "6.1.0-54-cloud-amd64\\n"
"""

import ctypes
import dataclasses
import functools
import lzma
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("TIDEMARK_GUEST_CACHE", ROOT / "build/guest"))
BUSYBOX = "/bin/busybox"
QEMU = "qemu-system-x86_64"


class Unavailable(Exception):
    """Something that a guest needs cannot be had here: a reason to skip."""


class GuestFailed(Exception):
    """The guest did not come to the end of its script."""


# ---- kernels ----------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Kernel:
    package: str  # linux-image-6.1.0-54-cloud-amd64
    version: str  # 6.1.190-1
    folder: pathlib.Path

    @property
    def release(self):
        return self.package.removeprefix("linux-image-")

    @property
    def image(self):
        return self.folder / f"boot/vmlinuz-{self.release}"

    def modules(self, *names):
        """The modules so named and what they need as [(file name, bytes)],
        decompressed, in the order to load them. What is built in is left out."""
        loaded, order = set(), []
        for name in names:
            self._add_module(name, loaded, order)
        return order

    def _add_module(self, name, loaded, order):
        name = name.replace("-", "_")
        if name in loaded:
            return
        loaded.add(name)
        files, builtin = self._module_files
        if name not in files:
            if name in builtin:
                return
            raise Unavailable(f"{self.package} has no module {name}")
        content = files[name].read_bytes()
        if files[name].suffix == ".xz":
            content = lzma.decompress(content)
        # depmod writes modules.dep from the same string of .modinfo.
        needs = re.search(rb"\0depends=([^\0]*)\0", content)
        for needed in needs[1].decode().split(",") if needs else []:
            if needed:
                self._add_module(needed, loaded, order)
        order.append((f"{name}.ko", content))

    @functools.cached_property
    def _module_files(self):
        folder = self.folder / "lib/modules" / self.release
        if not folder.exists():
            _unpack(next(self.folder.glob("*.deb")), "./lib/modules", self.folder)
        files = {_module_name(path): path for path in folder.glob("kernel/**/*.ko*")}
        builtin = (folder / "modules.builtin").read_text().split()
        return files, {_module_name(pathlib.Path(path)) for path in builtin}


def _module_name(path):
    return path.name.split(".ko")[0].replace("-", "_")


def kernel(series, flavour="cloud-amd64"):
    """The newest kernel of a series ("6.1") that apt offers, downloaded when it
    is not there yet; without a network the newest one downloaded before."""
    # 6.1.0-54-amd64, 6.12.117+deb12-amd64; not 6.1.0-54-rt-amd64.
    pattern = (rf"^linux-image-{re.escape(series)}\.[^-]*(-[0-9]+)?"
               rf"-{re.escape(flavour)}$")
    reason = f"apt offers no linux-image-{series}.*-{flavour}"
    # The second time with fresh lists: old ones name packages that are gone.
    for is_fresh in (False, True):
        if is_fresh and not _update_lists():
            break
        found = _newest_offered(pattern)
        if not found:
            continue
        try:
            return _fetch(*found)
        except Unavailable as error:
            reason = str(error)
    cached = [tuple(path.name.split("_")) for path in CACHE.glob("linux-image-*_*")]
    cached = [item for item in cached if re.search(pattern, item[0])]
    if not cached:
        raise Unavailable(reason)
    package, version = max(cached, key=lambda item: _numbers(item[1]))
    return Kernel(package, version, CACHE / f"{package}_{version}")


def _numbers(version):
    return [int(number) for number in re.findall(r"\d+", version)]


def _apt(*arguments, **options):
    try:
        return subprocess.run(arguments, capture_output=True, text=True, **options)
    except FileNotFoundError:
        raise Unavailable(f"no {arguments[0]}: not a Debian system") from None


@functools.cache  # Once in a run, whatever is missing.
def _update_lists():
    return os.geteuid() == 0 and _apt("apt-get", "-qq", "update").returncode == 0


def _newest_offered(pattern):
    """(package, version), or None."""
    found = _apt("apt-cache", "search", "--names-only", pattern).stdout
    packages = [line.split(" ", 1)[0] for line in found.splitlines()]
    if not packages:
        return None
    # One line each: "package | version | source".
    table = _apt("apt-cache", "madison", *packages).stdout
    offered = [tuple(map(str.strip, line.split("|")[:2])) for line in table.splitlines()]
    return max(offered, key=lambda item: _numbers(item[1]), default=None)


def _fetch(package, version):
    folder = CACHE / f"{package}_{version}"
    if folder.exists():
        return Kernel(package, version, folder)
    CACHE.mkdir(parents=True, exist_ok=True)
    # Made under another name: a folder of the right name is a whole one.
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="fetch-") as made:
        made = pathlib.Path(made)
        made.chmod(0o755)
        done = _apt("apt-get", "-qq", "download", f"{package}={version}", cwd=made)
        archive = next(made.glob("*.deb"), None)
        if done.returncode != 0 or not archive:
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise Unavailable(f"cannot download {package}: {said}")
        _unpack(archive, "./boot", made)
        try:
            made.rename(folder)
            made.mkdir()  # for the TemporaryDirectory to remove
        except OSError:
            if not folder.exists():  # by another test, meanwhile
                raise
    return Kernel(package, version, folder)


def _unpack(archive, member, folder):
    with subprocess.Popen(
            ["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as unpacked:
        subprocess.run(
            ["tar", "-x", "-C", folder, member], stdin=unpacked.stdout, check=True)


# ---- initramfs --------------------------------------------------------------


class Initramfs:
    """An archive of the "newc" form, written directly: with cpio a device node
    would need root and a folder to make it in."""

    def __init__(self):
        self._parts = []
        self._folders = {""}

    def add(self, path, content=b"", mode=stat.S_IFREG | 0o755, device=(0, 0)):
        path = path.strip("/")
        parent = os.path.dirname(path)
        if parent not in self._folders:
            self.add_folder(parent)
        self._write(path, content, mode, device)

    def add_file(self, path, source, mode=0o755):
        """`source`: bytes, text, or the path of a file of this machine."""
        if isinstance(source, os.PathLike):
            source = pathlib.Path(source).read_bytes()
        if isinstance(source, str):
            source = source.encode()
        self.add(path, source, stat.S_IFREG | mode)

    def add_folder(self, path):
        path = path.strip("/")
        self._folders.add(path)
        self.add(path, mode=stat.S_IFDIR | 0o755)

    def add_link(self, path, target):
        self.add(path, target.encode(), stat.S_IFLNK | 0o777)

    def content(self):
        end = Initramfs()
        end._write("TRAILER!!!", b"", 0, (0, 0))
        return b"".join(self._parts + end._parts)

    def _write(self, path, content, mode, device):
        name = path.encode() + b"\0"
        inode = len(self._parts) + 1
        fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields)
        self._parts.append(_padded(header + name) + _padded(content))


def _padded(part):
    return part + b"\0" * (-len(part) % 4)


# What a script can rely on. `send` gives the length first, so that nothing in
# the content can be taken for a mark.
PROLOGUE = """#!/bin/busybox sh
export PATH=/bin
# Everything else the shell starts as /proc/self/exe.
/bin/busybox mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
chmod 755 /run
stty -F /dev/ttyS1 raw
exec 3>/dev/ttyS1

# send NAME FILE
send() {
  printf '@ %s %d\\n' "$1" "$(wc -c <"$2")" >&3
  cat "$2" >&3
  echo >&3
}

# show NAME COMMAND…: sends what it prints, what it says and how it ends.
show() {
  shown=$1
  shift
  "$@" >/run/show.out 2>/run/show.err 3>&-
  echo $? >/run/show.status
  send "$shown" /run/show.out
  send "$shown.stderr" /run/show.err
  send "$shown.status" /run/show.status
}

# wait_for FILE: ends the guest when it does not come within ten seconds.
wait_for() {
  tries=0
  until [ -e "$1" ]; do
    tries=$((tries + 1))
    [ $tries -lt 500 ] || fail "$1 did not appear"
    usleep 20000
  done
}

fail() {
  echo "guest: $*" >/dev/console
  exec 3>&-
  reboot -f
}

for module in $(cat /modules/order); do
  insmod "/modules/$module" || fail "cannot load $module"
done
"""
EPILOGUE = """
: >/run/empty
send end /run/empty
exec 3>&-
reboot -f
"""


def initramfs(script, files=None, modules=()):
    """busybox, `files` as {path: source} and an /init that runs `script`."""
    if not os.path.exists(BUSYBOX) or _needs_libraries(BUSYBOX):
        raise Unavailable("no static busybox: package busybox-static")
    archive = Initramfs()
    for folder in ("proc", "sys", "dev", "run", "tmp"):
        archive.add_folder(folder)
    archive.add("dev/console", mode=stat.S_IFCHR | 0o600, device=(5, 1))
    archive.add_file("bin/busybox", pathlib.Path(BUSYBOX))
    for applet in ("sh", "sleep", "su"):  # those that are started by path
        archive.add_link(f"bin/{applet}", "busybox")
    names = [f"{i:02}-{name}" for i, (name, _) in enumerate(modules)]
    for name, (_, content) in zip(names, modules):
        archive.add_file(f"modules/{name}", content)
    archive.add_file("modules/order", "\n".join(names))
    for path, source in (files or {}).items():
        archive.add_file(path, source)
    archive.add_file("init", PROLOGUE + script + EPILOGUE)
    return archive.content()


def _needs_libraries(program):
    head = pathlib.Path(program).read_bytes()[:4096]
    return b"/ld-linux" in head or b"/ld-musl" in head


# ---- the guest --------------------------------------------------------------


def need_qemu():
    if not shutil.which(QEMU):
        raise Unavailable(f"no {QEMU}: package qemu-system-x86")


class Guest:
    """A running QEMU; a context manager, whose end is QEMU's end."""

    def __init__(self, booted, archive, memory_mib=256, kernel_arguments="",
                 qemu_arguments=(), pass_fds=()):
        need_qemu()
        self._archive = _memfd("initramfs", archive)
        self._console = _memfd("console")
        self._sent = _memfd("sent")
        command = [
            QEMU, "-accel", "tcg,tb-size=32", "-m", str(memory_mib), "-smp", "1",
            "-nographic", "-nodefaults", "-no-reboot",
            "-serial", "stdio", "-serial", f"file:/dev/fd/{self._sent}",
            "-kernel", str(booted.image), "-initrd", f"/dev/fd/{self._archive}",
            "-append", f"console=ttyS0 panic=-1 loglevel=4 {kernel_arguments}",
            *qemu_arguments]
        self._started = time.monotonic()
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._console,
            stderr=subprocess.STDOUT, preexec_fn=_end_with_parent,
            pass_fds=(self._archive, self._sent, *pass_fds))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for fd in (self._archive, self._console, self._sent):
            os.close(fd)

    def wait(self, seconds):
        """Until the script has ended. GuestFailed says what the console said."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise self._failed(f"not done after {seconds} s") from None
        if "end" not in self.outputs():
            raise self._failed("it ended before its script")

    def _failed(self, why):
        last = "\n".join(self.console().splitlines()[-40:])
        return GuestFailed(f"{why}; the console's last lines:\n{last}")

    def seconds(self):
        return time.monotonic() - self._started

    def console(self):
        return _content(self._console).decode(errors="replace")

    def outputs(self):
        """{name: bytes} of what was sent so far; `show` sends three each."""
        found, sent, at = {}, _content(self._sent), 0
        while mark := re.compile(rb"@ (\S+) (\d+)\n").match(sent, at):
            end = mark.end() + int(mark[2])
            if end >= len(sent):  # the rest is still to come
                break
            found[mark[1].decode()] = sent[mark.end():end]
            at = end + 1
        return found


def _memfd(name, content=b""):
    fd = os.memfd_create(f"guest-{name}")
    with open(fd, "wb", closefd=False) as file:
        file.write(content)
    return fd


def _content(fd):
    return os.pread(fd, os.fstat(fd).st_size, 0)


def _end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


@dataclasses.dataclass(frozen=True)
class Ran:
    """What a guest has left: all that its script sent."""
    outputs: dict
    console: str
    seconds: float

    def text(self, name):
        return self.outputs[name].decode()

    def output(self, name):
        """What a command under `show` printed; it must have succeeded."""
        status = self.status(name)
        if status != 0:
            said = self.text(f"{name}.stderr")
            raise AssertionError(f"{name} in the guest ended with {status}: {said}")
        return self.text(name)

    def status(self, name):
        return int(self.text(f"{name}.status"))


def run(booted, script, files=None, modules=(), seconds=90, **options):
    """Boots, runs the shell script `script` to its end, and returns a Ran."""
    archive = initramfs(script, files, booted.modules(*modules))
    with Guest(booted, archive, **options) as guest:
        guest.wait(seconds)
        return Ran(guest.outputs(), guest.console(), guest.seconds())


# ---- tests ------------------------------------------------------------------


def compiled(source, *flags):
    """A C program that needs nothing of the guest, as bytes; without its symbols
    unless `flags` say otherwise."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program")
        subprocess.run(
            ["cc", "-O1", "-static", *(flags or ["-s"]), "-Wall", "-Wextra", "-Werror",
             "-o", program, source], check=True)
        return program.read_bytes()


def boot(series, script, files, **options):
    """As `run`, of the newest kernel of the series, and says how long it took."""
    booted = kernel(series)
    ran = run(booted, script, files, **options)
    print(f"Linux {booted.version} booted, did all and ended in {ran.seconds:.1f} s",
          file=sys.stderr)
    return ran


def main(series):
    """Runs the tests of a program; ends with 77 where no guest can be had. Only
    the kernel of `series` must be there: 6.12 alone may be missing, since only the
    security archive of Debian 12 has it, and its tests then say so."""
    try:
        kernel(series)
        initramfs("")
        need_qemu()
    except Unavailable as reason:
        print(f"no guest: {reason}")
        sys.exit(77)
    unittest.main()
