"""Starts stand-ins of monitors (vmm.py), for tests and measures."""

import os
import pathlib
import shutil
import subprocess
import sys

import vmm

SCRIPT = pathlib.Path(__file__).with_name("vmm.py")


class StandIn:
    """One, of that name. Ended by pid, whatever happens."""

    def __init__(self, folder, name, mode, path, **variables):
        program = f"{folder}/{name}"
        if not os.path.exists(program):
            shutil.copy(os.path.realpath(sys.executable), program)
        self.process = subprocess.Popen(
            [program, "-S", "-E", SCRIPT, *arguments_of(name, path)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env={"MODE": mode, "SOCKET": path, **variables})
        self.pid = self.process.pid

    def wait_ready(self):
        if self.process.stdout.readline() != "ready\n":
            self.end()
            raise AssertionError("the stand-in did not start")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def arguments_of(name, path):
    mib = str(vmm.RAM // vmm.MIB)
    return {
        "crosvm": ["run", "--mem", mib, "--socket", path],
        "firecracker": ["--api-sock", path, "--id", "fc"],
        "cloud-hypervisor": ["--api-socket", f"path={path}"],
        "qemu-system-x86_64": ["-m", mib, "-name", "guest=stand-in",
                               "-qmp", f"unix:{path},server=on"]}[name]
