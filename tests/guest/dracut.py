"""Builds initramfs images with Debian's dracut, without installing anything.

What dracut needs and this system lacks is downloaded with apt into build/guest.
An image is built in a mount namespace: an overlay of this system, whose upper
part is a tmpfs, gets the packages unpacked on top, and dracut runs in there. With
the namespace all of it is gone but the image.
"""

import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import guest

WANTED = ("dracut-core", "systemd", "udev", "kmod", "cpio", "procps", "squashfs-tools")
MODULES = "usr/lib/dracut/modules.d"

# Arguments: the folder of the test, the kernel's modules, its release. Packages are
# unpacked by tar, which keeps /lib the link it is.
BUILD = """
set -eu
made=$1 modules=$2 release=$3
shift 3
mount -t tmpfs tmpfs "$made/top"
cd "$made/top"
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
for package in "$made"/packages/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C root
done
mount --rbind /dev root/dev
mount -t proc proc root/proc
mount -t sysfs sysfs root/sys
mkdir -p "root/lib/modules/$release" root/made
mount --bind "$modules" "root/lib/modules/$release"
mount --bind "$made" root/made
cp -r "$made/add/." root/
chroot root depmod -a "$release"
chroot root sh -c "$(cat "$made/prepare")"
exec chroot root dracut --force --no-hostonly --no-early-microcode --nostrip \\
  --compress "gzip -1" --kver "$release" --kmoddir "/lib/modules/$release" "$@" \\
  /made/image
"""


def _run(*arguments, **options):
    try:
        return subprocess.run(arguments, capture_output=True, text=True, **options)
    except FileNotFoundError:
        raise guest.Unavailable(f"no {arguments[0]}") from None


def _needed():
    """The packages that installing the wanted ones would bring, {name: version}."""
    planned = _run("apt-get", "-s", "install", "--no-install-recommends", *WANTED)
    if planned.returncode != 0:
        said = (planned.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise guest.Unavailable(f"apt cannot get dracut: {said}")
    # "Inst name [old] (new …": those that are here already are not among them.
    return dict(re.findall(r"^Inst (\S+)(?: \[[^]]*\])? \((\S+)", planned.stdout, re.M))


def packages():
    """The folder with them; downloaded when they are not there yet."""
    needed = _needed()
    if "dracut-core" not in needed:
        raise guest.Unavailable("dracut is installed here, and is left alone")
    folder = guest.CACHE / f"dracut_{needed['dracut-core']}"
    have = {path.name.split("_")[0] for path in folder.glob("*.deb")}
    missing = sorted(set(needed) - have)
    if not missing:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=guest.CACHE, prefix="fetch-") as made:
        done = _run("apt-get", "-qq", "download", *missing, cwd=made)
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise guest.Unavailable(f"cannot download dracut: {said}")
        for path in pathlib.Path(made).glob("*.deb"):
            path.rename(folder / path.name)
    return folder


def image(booted, modules, files, prepare="", drivers=()):
    """An initramfs as bytes. `modules`: dracut's, by name; `files` {path: source}
    are added to the system that dracut sees, "-> target" is a link; `prepare` runs
    in there first."""
    if os.geteuid() != 0:
        raise guest.Unavailable("an image is built by root")
    folder = booted.folder / "lib/modules" / booted.release
    booted.modules("zram")  # unpacks them
    with tempfile.TemporaryDirectory(dir=guest.CACHE, prefix="image-") as made:
        made = pathlib.Path(made)
        (made / "top").mkdir()
        (made / "packages").symlink_to(packages().resolve())
        (made / "prepare").write_text(prepare)
        for path, source in files.items():
            place = made / "add" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(source, str) and source.startswith("-> "):
                place.symlink_to(source[3:])
                continue
            is_path = isinstance(source, os.PathLike)
            content = pathlib.Path(source).read_bytes() if is_path else source
            place.write_bytes(content.encode() if isinstance(content, str) else content)
            place.chmod(0o755)
        built = _run("unshare", "--mount", "--propagation", "private", "sh", "-c", BUILD,
                     "build", made, folder, booted.release,
                     "-m", " ".join(modules), "--drivers", " ".join(drivers))
        if not (made / "image").exists():
            last = "\n".join((built.stdout + built.stderr).splitlines()[-30:])
            raise AssertionError(f"dracut made no image:\n{last}")
        return (made / "image").read_bytes()


def disk(files, mebibytes=8):
    """A file system of ext4 as bytes, with empty files and folders of the names."""
    with tempfile.TemporaryDirectory() as made:
        made = pathlib.Path(made)
        for name in files:
            place = made / "root" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("/"):
                place.mkdir(exist_ok=True)
            else:
                place.touch(mode=0o755)
        done = _run("mke2fs", "-q", "-t", "ext4", "-d", made / "root", made / "disk",
                    f"{mebibytes}M", env={**os.environ, "PATH": "/sbin:/usr/sbin:/bin"})
        if done.returncode != 0:
            raise guest.Unavailable(f"mke2fs: {done.stderr.strip()}")
        return (made / "disk").read_bytes()


def read_from_disk(path, name):
    """A file of a file system that nobody has mounted, after its journal was
    replayed as a mount would."""
    search = {**os.environ, "PATH": "/sbin:/usr/sbin:/bin:/usr/bin"}
    _run("e2fsck", "-p", path, env=search)
    shown = _run("debugfs", "-R", f"cat {shlex.quote(name)}", path, env=search)
    return shown.stdout
