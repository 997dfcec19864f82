# shellcheck shell=bash
# Sourced by what needs a Debian 12 of its own: a folder made by debootstrap, and
# commands run inside it. Needs root.
#
# The mounts live in a mount namespace of their own. They end with its last
# process however that ends, and this side never sees them, so removing the
# folder cannot reach through one into the host.
set -euo pipefail

# offered_by SUITE: where this machine's apt has that suite from.
offered_by() {
  command -v apt-get >/dev/null || return 0
  # shellcheck disable=SC2016 # apt expands it
  apt-get indextargets --format '$(CODENAME) $(SITE)' 'Created-By: Packages' |
    sed -n "s/^$1 //p" | sort -u | head -n 1
}

mirror=${TIDEMARK_MIRROR:-$(offered_by bookworm)}
security=${TIDEMARK_SECURITY_MIRROR:-$(offered_by bookworm-security)}
readonly mirror=${mirror:-http://deb.debian.org/debian}
readonly security=${security:-http://deb.debian.org/debian-security}

# mounted_below FOLDER: only in case the namespace was not private: a mount below
# the folder here means rm would reach the host's files.
mounted_below() { awk -v at="$1/" 'index($5, at) == 1 {print $5}' /proc/self/mountinfo; }

# remove_folder FOLDER
remove_folder() {
  local point
  while read -r point; do
    say "unmounting $point"
    umount "$point" || umount --lazy "$point" || true
  done < <(mounted_below "$1" | sort -r)
  if [[ -n $(mounted_below "$1") ]]; then
    say "left in place, something is still mounted below it: $1"
    return
  fi
  rm -rf --one-file-system "$1"
}

# make_debian FOLDER [DEBOOTSTRAP-OPTION…]: a minimal Debian 12 with this
# machine's way to the network, and nothing else of it.
make_debian() {
  local debian=$1 log="$1.log"
  shift
  mkdir -p "${debian%/*}"
  debootstrap --variant=minbase "$@" bookworm "$debian" "$mirror" \
    >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    say "debootstrap failed"
    return 1
  }
  bring_network "$debian"
}

bring_network() {
  local debian=$1 bundle=etc/ssl/certs/ca-certificates.crt
  cp -L /etc/resolv.conf /etc/hosts "$debian/etc/"
  if [[ -f /$bundle ]]; then
    mkdir -p "$debian/${bundle%/*}"
    cp -L "/$bundle" "$debian/$bundle"
  fi
  if command -v apt-config >/dev/null; then
    apt-config dump | grep -E '^Acquire::(http|https|Retries)' \
      >"$debian/etc/apt/apt.conf.d/90host" || true
  fi
  cat >"$debian/etc/apt/sources.list" <<SOURCES
deb $mirror bookworm main
deb $mirror bookworm-updates main
deb $security bookworm-security main
SOURCES
  # Services of installed packages would start on this machine.
  printf '#!/bin/sh\nexit 101\n' >"$debian/usr/sbin/policy-rc.d"
  chmod 755 "$debian/usr/sbin/policy-rc.d"
}

# Runs inside the private mount namespace; $1 is the Debian, $2 the folder in it
# to start from, the rest the command.
# shellcheck disable=SC2016 # expanded by the inner shell
readonly enter='
set -euo pipefail
debian=$1
start=$2
shift 2
for point in proc sys dev; do
  mount --rbind "/$point" "$debian/$point"
done
exec chroot "$debian" /usr/bin/env -i HOME=/root TERM="${TERM:-dumb}" \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
  ${http_proxy:+http_proxy="$http_proxy"} \
  ${https_proxy:+https_proxy="$https_proxy"} \
  ${no_proxy:+no_proxy="$no_proxy"} \
  bash -c "cd \"\$0\" && exec \"\$@\"" "$start" "$@"'

# inside DEBIAN FOLDER COMMAND…: as root, in that folder of the Debian.
inside() {
  unshare --mount --propagation private bash -c "$enter" bash "$@"
}

# install_inside DEBIAN PACKAGE…
install_inside() {
  local debian=$1
  shift
  inside "$debian" / apt-get -qq update
  inside "$debian" / apt-get -qq -o Dpkg::Use-Pty=0 install -y \
    --no-install-recommends "$@"
}
