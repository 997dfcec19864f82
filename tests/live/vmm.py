"""A stand-in for a virtual machine monitor, run by a Python of its name.

    crosvm vmm.py run --socket PATH      with MODE in the environment

It maps guest RAM as the real one does, touches a known part of it, and speaks
the real one's protocol on its control socket. MODE says how well.
"""

import ctypes
import json
import mmap
import os
import socket
import sys
import threading
import time

MIB = 1 << 20
RAM = 96 * MIB
TOUCHED = 37 * MIB
BALLOON = 16 * MIB
TOTAL = 80 * MIB  # deflates on OOM: the balloon is in it
FREE, CACHES = 40 * MIB, 8 * MIB
MODE = os.environ.get("MODE", "ok")
PARTS = [int(size) for size in os.environ.get("PLUGGED", "").split(",") if size]
PLUGGED = sum(PARTS)  # bytes of RAM beside the first
BLOCKS = {}  # {name: (address, bytes)}, where QEMU tells of them


def touch(ram, size):
    for at in range(0, size, mmap.PAGESIZE):
        ram[at] = 1


def guest_ram(memfd, size):
    if memfd:
        fd = os.memfd_create(memfd)
        os.truncate(fd, size)
        ram = mmap.mmap(fd, size)
    else:
        ram = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        # As monitors do; it also parts the area from its neighbours.
        ram.madvise(mmap.MADV_DONTDUMP)
    return ram


STATS = {"free_memory": FREE, "total_memory": TOTAL, "disk_caches": CACHES, "swap_in": 0}


def crosvm_answer(packet):
    if packet != b'{"BalloonCommand":"Stats"}':
        return b'{"Err":22}'
    return {
        "ok": json.dumps({"BalloonStats": {
            "stats": {**STATS, "shared_memory": None}, "balloon_actual": BALLOON}}).encode(),
        "errno": b'{"Err":107}', "none": b'{"Err":95}',
        "sentence": b'{"ErrString":"not today"}',
        "garbage": b"\xff\x00 nothing {", "hang": None}[MODE]


def serve_crosvm(link):
    while packet := link.recv(1 << 16):
        if answer := crosvm_answer(packet):
            link.send(answer)


HTTP = {
    "/machine-config": {"vcpu_count": 1, "mem_size_mib": RAM // MIB},
    "/balloon": {"amount_mib": 16, "deflate_on_oom": True, "stats_polling_interval_s": 1,
                 "free_page_reporting": False},
    "/balloon/statistics": {"target_pages": 1, "actual_pages": BALLOON // 4096,
                            "actual_mib": 16, **STATS, "oom_kill": 3},
    "/api/v1/vm.info": {
        "config": {"memory": {"size": RAM}, "balloon": {
            "size": BALLOON, "deflate_on_oom": True, "free_page_reporting": True}},
        "state": "Running", "memory_actual_size": RAM - BALLOON},
    "/api/v1/vm.balloon-stats": {**STATS, "balloon_actual": BALLOON, "oom_kills": 3},
}


def http_answer(target):
    if MODE == "garbage":
        return b"220 mail.example ESMTP\r\n"
    status, body = "200 OK", json.dumps(HTTP.get(target, {}))
    if MODE == "off" and target == "/balloon/statistics":
        status, body = "400 Bad Request", '{"fault_message":"statistics are disabled"}'
    if MODE == "old" and target.endswith("balloon-stats"):
        status, body = "404 Not Found", ""
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def serve_http(link):
    while request := link.recv(1 << 16):
        if MODE == "hang":
            continue
        answer = http_answer(request.split()[1].decode())
        for at in range(0, len(answer), 29):  # in pieces, as a network may
            link.send(answer[at:at + 29])


def address_of(ram):
    return ctypes.addressof(ctypes.c_char.from_buffer(ram))


def ram_blocks():
    """As `info ramblock` prints them since QEMU 8; firmware is no RAM."""
    rows = [(*BLOCKS[name], name) for name in BLOCKS] + [(4096, 65536, "pc.bios")]
    return "Block Name PSize Offset Used Total HVA RO\r\n" + "".join(
        f"{name:>24}    4 KiB  0x{0:016x} 0x{size:016x} 0x{size:016x} 0x{at:016x}  rw\r\n"
        for at, size, name in rows)


def qmp_answer(request):
    arguments = request.get("arguments", {})
    name = arguments.get("property", arguments.get(
        "path", arguments.get("command-line", request["execute"])))
    known = {
        "qmp_capabilities": {}, "query-balloon": {"actual": RAM + PLUGGED - BALLOON},
        "query-memory-size-summary": {"base-memory": RAM, "plugged-memory": PLUGGED},
        "/machine/peripheral": [], "/machine/peripheral-anon": [
            {"name": "device[0]", "type": "child<virtio-balloon-pci>"}],
        "guest-stats": {"stats": {
            "stat-" + key.replace("_", "-"): value for key, value in STATS.items()},
            "last-update": int(time.time()) - (500 if MODE == "stale" else 0)},
        "deflate-on-oom": True, "guest-stats-polling-interval": 1,
        "query-memdev": [{"id": name} for name in BLOCKS],
        **({"info ramblock": ram_blocks()} if BLOCKS else {}),
    }
    if MODE == "none" and name == "query-balloon":
        return {"error": {"class": "DeviceNotActive", "desc": "No balloon device"}}
    if name not in known:
        return {"error": {"class": "GenericError", "desc": f"no {name}"}}
    return {"return": known[name]}


def serve_qmp(link):
    lines = link.makefile("rw")

    def say(message):
        lines.write(json.dumps(message) + "\n")
        lines.flush()
    if MODE == "hang":
        time.sleep(1000)
    say({"hello": "stranger"} if MODE == "garbage" else {"QMP": {"version": {}}})
    for line in lines:
        if MODE == "garbage":
            print("was told", line, flush=True)
        say({"event": "RTC_CHANGE", "data": {}})
        say(qmp_answer(json.loads(line)))


def serve(listener, speak):
    while True:
        link, _ = listener.accept()
        threading.Thread(target=speak, args=(link,), daemon=True).start()


def main():
    name = os.path.basename(sys.executable)
    kind, speak, memfd = {
        "crosvm": (socket.SOCK_STREAM if MODE == "stream" else socket.SOCK_SEQPACKET,
                   serve_crosvm, "crosvm_guest"),
        "firecracker": (socket.SOCK_STREAM, serve_http, None),
        "cloud-hypervisor": (socket.SOCK_STREAM, serve_http, "ch_ram"),
        "qemu-system-x86_64": (socket.SOCK_STREAM, serve_qmp, None)}[name]
    ram = guest_ram(memfd, RAM)
    touch(ram, TOUCHED)
    parts = [ram]
    for i, size in enumerate(PARTS):
        parts.append(guest_ram(memfd, size))
        if i % 2 == 0:  # else the kernel would make one area of neighbours
            parts[-1].madvise(mmap.MADV_DONTFORK)
        touch(parts[-1], size)
    if "BLOCKS" in os.environ:
        BLOCKS.update((f"m{i}", (address_of(part), len(part))) for i, part in enumerate(parts))
    disk = open(os.environ["DISK"], "rb") if "DISK" in os.environ else None
    path = os.environ["SOCKET"]
    if os.path.isdir(path):
        path = f"{path}/{name}-{os.getpid()}.sock"
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind(path)
    listener.listen(8)
    if MODE == "gone":
        os.unlink(path)
    print("ready", flush=True)
    threading.Thread(target=serve, args=(listener, speak), daemon=True).start()
    if "CHILD" in os.environ:
        device = os.fork()
        if device == 0:
            time.sleep(1000)
        print(device, flush=True)
    if "GROW" in os.environ:
        sys.stdin.readline()
        touch(ram, RAM)
    sys.stdin.read()
    ram.close()
    if disk:
        disk.close()


if __name__ == "__main__":
    main()
