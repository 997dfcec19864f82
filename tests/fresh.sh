#!/bin/bash
# fresh.sh [--full]: proves the two commands of the README where nothing is
# installed: a new Debian 12 folder and a clean clone of HEAD. Run by ./dev fresh.
#
# The mounts live in a mount namespace of their own. They end with its last
# process however that ends, and this side never sees them, so removing the
# folder cannot reach through one into the host.
set -euo pipefail

readonly mirror=${TIDEMARK_MIRROR:-http://deb.debian.org/debian}
readonly security=${TIDEMARK_SECURITY_MIRROR:-http://deb.debian.org/debian-security}
root=$(cd "$(dirname "$0")/.." && pwd -P)
full=0
folder=

say() { printf 'fresh: %s\n' "$*" >&2; }

# Only in case the namespace was not private: a mount below the folder here
# means rm would reach the host's files.
mounted_below() { awk -v at="$1/" 'index($5, at) == 1 {print $5}' /proc/self/mountinfo; }

clean_up() {
  local point
  [[ -n $folder ]] || return 0
  while read -r point; do
    say "unmounting $point"
    umount "$point" || umount --lazy "$point" || true
  done < <(mounted_below "$folder" | sort -r)
  if [[ -n $(mounted_below "$folder") ]]; then
    say "left in place, something is still mounted below it: $folder"
    return
  fi
  rm -rf --one-file-system "$folder"
}

make_debian() {
  local log="$folder/debootstrap.log"
  say "making a Debian 12 in $folder"
  debootstrap --variant=minbase bookworm "$folder/debian" "$mirror" \
    >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    say "debootstrap failed"
    return 1
  }
}

# What this machine needs to reach the network, nothing else of it.
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
}

clone_head() {
  [[ -z $(git -C "$root" status --porcelain) ]] ||
    say "uncommitted changes are not part of this"
  git clone --quiet --no-hardlinks "$root" "$1/root/tidemark"
}

# Runs inside the private mount namespace; $1 is the Debian, the rest the command.
# shellcheck disable=SC2016 # expanded by the inner shell
readonly enter='
set -euo pipefail
debian=$1
shift
for point in proc sys dev; do
  mount --rbind "/$point" "$debian/$point"
done
exec chroot "$debian" /usr/bin/env -i HOME=/root TERM="${TERM:-dumb}" \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  ${http_proxy:+http_proxy="$http_proxy"} \
  ${https_proxy:+https_proxy="$https_proxy"} \
  ${no_proxy:+no_proxy="$no_proxy"} \
  bash -c "cd /root/tidemark && exec \"\$@\"" bash "$@"'

inside() {
  unshare --mount --propagation private bash -c "$enter" bash "$folder/debian" \
    "$@"
}

# timed COMMAND…: in the Debian, as root, with the time it took.
timed() {
  local start=$SECONDS
  say "$*"
  inside "$@"
  say "$* took $((SECONDS - start)) s"
}

main() {
  [[ ${1:-} != --full ]] || full=1
  trap clean_up EXIT
  trap 'exit 130' INT TERM HUP
  folder=$(mktemp -d "${TMPDIR:-/tmp}/tidemark-fresh.XXXXXX")
  make_debian
  say "made in $SECONDS s"
  bring_network "$folder/debian"
  clone_head "$folder/debian"
  timed ./tidemark run -- ls
  # The second call must find nothing to do and say nothing of its own.
  timed ./tidemark --version
  ((full == 0)) || timed ./dev test
  say "proved in $SECONDS s"
}

main "$@"
