#!/bin/bash
# package.sh [deb | services | static | arm64 | rpm]…: builds packages of HEAD and
# tries them; deb and services when none is named. Run by ./dev package, as root.
#
#   deb       built in a Debian of its own as Debian would, judged by lintian,
#             installed into a clean one, whose tests then run
#   services  boots that clean one in QEMU and runs its services
#   static    tarball of one file without libraries, for this machine's kind
#   arm64     the same, cross-built in a Debian of its own, tried under qemu-user
#   rpm       built by rpmbuild in a Debian of its own
#
# Results are in build/package/out. The Debians beside it stay for the next run.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd -P)
# shellcheck source=packaging/setup.sh
source "$root/packaging/setup.sh"
# shellcheck source=packaging/folder.sh
source "$root/packaging/folder.sh"

readonly work="$root/build/package"
readonly out="$work/out"
version=$(sed -n 's/^project(tidemark VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
readonly version name="tidemark-$version"

# logged NAME COMMAND…: what it says is shown only when it fails. Never call it in
# a condition: bash would then ignore `set -e` inside COMMAND.
logged() {
  local log="$work/log/$1.log" start=$SECONDS status=0
  mkdir -p "$work/log"
  set +e
  (
    set -e
    "${@:2}"
  ) >"$log" 2>&1
  status=$?
  set -e
  if ((status != 0)); then
    tail -n 60 "$log" >&2
    die "$1 failed" "the whole log is in $log"
  fi
  say "$1 took $((SECONDS - start)) s"
}

# copy_of_base FOLDER: a fresh Debian. The first one is kept to copy from.
copy_of_base() {
  if [[ ! -d $work/base ]]; then
    remove_folder "$work/base.new"
    logged "debootstrap" make_debian "$work/base.new"
    mv "$work/base.new" "$work/base"
  fi
  remove_folder "$1"
  cp -a "$work/base" "$1"
}

# bundle_page: the browser front end, once for all packages.
bundle_page() {
  install_web "$work/web.log"
  node "$root/web/build.mjs" "$work/page/page.html" "$work/page/page.h"
}

# sources FOLDER: HEAD as FOLDER/tidemark-VERSION, and the page with it.
sources() {
  [[ -z $(git -C "$root" status --porcelain) ]] ||
    say "uncommitted changes are not part of this"
  rm -rf "${1:?}"
  mkdir -p "$1"
  git -C "$root" archive --prefix="$name/" HEAD | tar -x -C "$1"
  mkdir "$1/$name/page"
  cp "$work/page/page.h" "$1/$name/page/"
}

# prepared FOLDER STAMP COMMAND…: makes a Debian by COMMAND unless one with this
# stamp is there.
prepared() {
  local folder=$1 stamp=$2
  shift 2
  [[ $(cat "$folder/stamp" 2>/dev/null) != "$stamp" ]] || return 0
  copy_of_base "$folder"
  logged "preparing ${folder##*/}" "$@"
  printf '%s\n' "$stamp" >"$folder/stamp"
}

# ---- deb --------------------------------------------------------------------

# prepare_builder DEBIAN: what debian/control asks for.
prepare_builder() {
  local debian=$1
  mkdir -p "$debian/root/needs"
  cp -r "$root/debian" "$debian/root/needs/"
  inside "$debian" / apt-get -qq update
  inside "$debian" /root/needs apt-get -qq -o Dpkg::Use-Pty=0 build-dep -y \
    --no-install-recommends ./
}

prepare_deb() {
  prepare_builder "$work/builder"
  install_inside "$work/builder" lintian
}

# Lintian's remarks of every weight count; what is overridden has its reason in
# debian/. Words in the binary are not looked at: the linker puts the ends of
# constants together, and finds "nam" where one says "name".
judge_deb() {
  inside "$work/builder" /root/build bash -c \
    'lintian --info --display-info --pedantic --fail-on error,warning,info,pedantic \
       --suppress-tags spelling-error-in-binary *.changes'
}

build_deb() {
  prepared "$work/builder" "$(sha256sum <"$root/debian/control")" prepare_deb
  sources "$work/builder/root/build"
  logged "dpkg-buildpackage" inside "$work/builder" "/root/build/$name" \
    dpkg-buildpackage -b -us -uc
  logged "lintian" judge_deb
  rm -f "$out"/*.deb
  mkdir -p "$out"
  cp "$work"/builder/root/build/*.deb "$out/"
}

# As a user would, with what the tests need.
install_deb() {
  local debian="$work/installed"
  copy_of_base "$debian"
  cp "$out/tidemark_${version}_"*.deb "$debian/root/tidemark.deb"
  install_inside "$debian" systemd sqlite3 autopkgtest /root/tidemark.deb
  rm "$debian/root/tidemark.deb"
}

# What of debian/tests a folder can bear; services need a machine (make_services).
try_installed() {
  local debian="$work/installed"
  rm -rf "$debian/root/source"
  mkdir "$debian/root/source"
  cp -r "$root/debian" "$debian/root/source/"
  inside "$debian" /root autopkgtest --no-built-binaries --test-name=smoke \
    source/ -- null
  # Nothing is setuid, and no capability is taken.
  # shellcheck disable=SC2016 # expanded by the inner shell
  inside "$debian" / bash -c '
    dpkg -L tidemark | while read -r path; do
      [[ ! -u $path && ! -g $path ]] || { echo "setuid: $path"; exit 1; }
    done
    ! getfattr -n security.capability /usr/bin/tidemark 2>/dev/null
    [[ ! -e /etc/systemd/system/multi-user.target.wants/tidemark-record.service ]]'
}

make_deb() {
  build_deb
  logged "installing" install_deb
  logged "installed tests" try_installed
}

make_services() {
  [[ -x $work/installed/usr/bin/tidemark ]] || make_deb
  logged "services" python3 -B "$root/tests/package/services_test.py" \
    "$work/installed" --verbose
}

# ---- tarballs ---------------------------------------------------------------

# pack STAGE ARCHITECTURE: what is installed there, to be unpacked into
# /usr/local.
pack() {
  local tree="$work/tree/$name-linux-$2"
  rm -rf "$tree"
  mkdir -p "$tree"
  cp -a "$1"/usr/local/* "$tree/"
  cp "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE" "$tree/share/doc/tidemark/"
  mkdir -p "$out"
  tar -C "$work/tree" --sort=name --owner=0 --group=0 -cJf \
    "$out/$name-linux-$2.tar.xz" "$name-linux-$2"
}

# needs_nothing BINARY: neither a loader nor a library.
needs_nothing() {
  local headers
  headers=$(readelf --program-headers --dynamic "$1")
  [[ $headers != *INTERP* && $headers != *NEEDED* ]] ||
    die "${1##*/} needs libraries" "the static preset must link all of them"
}

# try_tarball ARCHITECTURE [EMULATOR]: unpacked where nothing is installed.
try_tarball() {
  local debian="$work/bare" run=()
  copy_of_base "$debian"
  tar -xJf "$out/$name-linux-$1.tar.xz" -C "$debian/usr/local" --strip-components=1
  needs_nothing "$debian/usr/local/bin/tidemark"
  if [[ -n ${2:-} ]]; then
    cp "$2" "$debian/root/emulator"
    run=(/root/emulator)
  fi
  inside "$debian" / "${run[@]}" /usr/local/bin/tidemark --version
  inside "$debian" / "${run[@]}" /usr/local/bin/tidemark ps
  inside "$debian" / "${run[@]}" /usr/local/bin/tidemark doctor
  remove_folder "$debian"
}

make_static() {
  local kind
  kind=$(dpkg --print-architecture)
  build_preset static
  rm -rf "$work/stage"
  DESTDIR="$work/stage" logged "installing $kind" \
    cmake --install "$root/build/static" --prefix /usr/local --strip
  logged "packing $kind" pack "$work/stage" "$kind"
  logged "trying $kind" try_tarball "$kind"
}

# Libraries of arm64 beside the tools of this machine: dpkg calls that a foreign
# architecture, which is nothing to add to somebody's machine.
prepare_cross() {
  local debian="$work/cross" package foreign=()
  for package in bpf elf dw lzma bz2 sqlite3 ncurses fmt; do
    foreign+=("lib$package-dev:arm64")
  done
  inside "$debian" / dpkg --add-architecture arm64
  install_inside "$debian" crossbuild-essential-arm64 cmake ninja-build clang \
    bpftool libcli11-dev nlohmann-json3-dev libboost-dev qemu-user-static \
    zlib1g-dev:arm64 "${foreign[@]}"
}

build_cross() {
  inside "$work/cross" "/root/build/$name" cmake --preset arm64 \
    -D "TIDEMARK_PAGE=/root/build/$name/page/page.h"
  inside "$work/cross" "/root/build/$name" cmake --build --preset arm64
  # Installed from here: the paths in it are those of the Debian.
  inside "$work/cross" "/root/build/$name" env DESTDIR=/root/build/stage \
    cmake --install build/arm64 --prefix /usr/local --strip
}

make_arm64() {
  prepared "$work/cross" "$(sha256sum <"$root/packaging/build-packages.txt")" prepare_cross
  sources "$work/cross/root/build"
  logged "cross building" build_cross
  logged "packing arm64" pack "$work/cross/root/build/stage" arm64
  logged "trying arm64" try_tarball arm64 "$work/cross/usr/bin/qemu-aarch64-static"
}

# ---- rpm --------------------------------------------------------------------

prepare_rpm() {
  prepare_builder "$work/rpm"
  install_inside "$work/rpm" rpm
}

# Debian's rpm knows none of Fedora's packages, so what is required is not looked
# for; everything else is as there.
build_rpm() {
  local debian="$work/rpm"
  inside "$debian" /root/build tar -czf "$name.tar.gz" "$name"
  inside "$debian" /root/build rpmbuild -bb --nodeps \
    --define "_topdir /root/build/rpmbuild" --define "_sourcedir /root/build" \
    "$name/packaging/rpm/tidemark.spec"
  inside "$debian" /root/build bash -c 'rpm -qlp rpmbuild/RPMS/*/tidemark-[0-9]*.rpm'
}

make_rpm() {
  prepared "$work/rpm" "$(sha256sum <"$root/debian/control")" prepare_rpm
  sources "$work/rpm/root/build"
  logged "rpmbuild" build_rpm
  mkdir -p "$out"
  cp "$work"/rpm/root/build/rpmbuild/RPMS/*/*.rpm "$out/"
}

main() {
  local kind
  (($#)) || set -- deb services
  for kind in "$@"; do
    case $kind in
      deb | services | static | arm64 | rpm) ;;
      *) die "no kind of package is called '$kind'" "deb, services, static, arm64, rpm" ;;
    esac
  done
  mkdir -p "$work"
  bundle_page
  for kind in "$@"; do "make_$kind"; done
  (cd "$out" && ls -sh1)
}

main "$@"
