#!/bin/bash
# fresh.sh [--full] [--failures]: proves the two commands of the README where
# nothing is installed: a new Debian 12 folder and a clean clone of HEAD. With
# --failures it first proves what is said when something is in the way, and that
# the next call goes on. Run by ./dev fresh.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd -P)
full=0
folder=

say() { printf 'fresh: %s\n' "$*" >&2; }

# shellcheck source=packaging/folder.sh
source "$root/packaging/folder.sh"

clean_up() {
  [[ -z $folder ]] || remove_folder "$folder"
}

clone_head() {
  [[ -z $(git -C "$root" status --porcelain) ]] ||
    say "uncommitted changes are not part of this"
  git clone --quiet --no-hardlinks "$root" "$1/root/tidemark"
}

# timed COMMAND…: in the Debian, as root, with the time it took.
timed() {
  local start=$SECONDS
  say "$*"
  inside "$folder/debian" /root/tidemark "$@"
  say "$* took $((SECONDS - start)) s"
}

# ---- what can be in the way -------------------------------------------------

# refused NAME WORD… -- COMMAND…: the command must fail, soon, and say each WORD.
refused() {
  local name=$1 words=() said status=0 start=$SECONDS word
  shift
  while [[ $1 != -- ]]; do
    words+=("$1")
    shift
  done
  shift
  said=$("$@" 2>&1 </dev/null) || status=$?
  printf '%s\n' "$said" | sed 's/^/    /' >&2
  for word in "${words[@]}"; do
    grep -qF -- "$word" <<<"$said" || {
      say "FAILED $name: nothing about '$word'"
      failures=$((failures + 1))
      return 0
    }
  done
  if ((status == 0)); then
    say "FAILED $name: status 0"
    failures=$((failures + 1))
  else
    say "ok $name: status $status after $((SECONDS - start)) s"
  fi
}

in_clone() { inside "$folder/debian" /root/tidemark "$@"; }

# An address that takes connections and never answers.
listen_in_silence() {
  exec {silence}< <(exec python3 -c '
import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
time.sleep(600)')
  silent_pid=$!
  read -r -u "$silence" silent_port
}

with_sources() {
  local sources=$folder/debian/etc/apt/sources.list kept status=0
  kept=$(<"$sources")
  printf 'deb %s bookworm main\n' "$1" >"$sources"
  shift
  "$@" || status=$?
  printf '%s\n' "$kept" >"$sources"
  return "$status"
}

prove_failures() {
  local debian=$folder/debian holder
  failures=0
  chroot "$debian" useradd -m ann
  refused "neither root nor sudo" "there is no sudo" "apt-get install" -- \
    in_clone su ann -s /bin/bash -c 'git config --global --add safe.directory "*" 2>/dev/null; cp -r /root/tidemark /tmp/ann 2>/dev/null || cp -r . /tmp/ann; cd /tmp/ann && ./tidemark --version'
  refused "nobody answers" "could not install" "no package server answers" -- \
    with_sources http://127.0.0.1:9 in_clone ./tidemark --version
  listen_in_silence
  refused "a mirror that does not answer" "could not install" "no package server answers" -- \
    with_sources "http://127.0.0.1:$silent_port" in_clone ./tidemark --version
  kill "$silent_pid"
  printf 'no-such-package\n' >>"$debian/root/tidemark/packaging/build-packages.txt"
  refused "an unknown package" "could not install" "no-such-package" "Debian 12" -- \
    in_clone ./tidemark --version
  git -C "$debian/root/tidemark" checkout -q packaging/build-packages.txt
  # Held as apt and dpkg hold it.
  python3 -c '
import fcntl, sys, time
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
time.sleep(120)' "$debian/var/lib/dpkg/lock-frontend" &
  holder=$!
  refused "locked packages" "could not" "another program is installing" -- \
    in_clone ./tidemark --version
  kill "$holder"
  refused "Ctrl-C while packages install" "interrupted" -- \
    in_clone env --default-signal=INT bash -c 'set -m; ./tidemark --version & sleep 12; kill -INT -$!; wait $!'
  # As it leaves them at the worst moment.
  inside "$debian" /tmp bash -c 'apt-get -qq download less && dpkg --unpack less_*.deb' \
    >/dev/null
  [[ -n $(chroot "$debian" dpkg --audit) ]] || {
    say "FAILED half-configured: nothing is"
    failures=$((failures + 1))
  }
  say "a package half installed, and the rest of the interrupted one"
  timed ./tidemark --version
  [[ -z $(chroot "$debian" dpkg --audit) ]] || {
    say "FAILED half-configured: dpkg --audit is not silent"
    failures=$((failures + 1))
  }
  [[ ! -e $debian/root/tidemark/web/node_modules ]] || {
    say "FAILED: the browser page was built unasked"
    failures=$((failures + 1))
  }
  refused "no Node, and nobody answers" "no browser page" -- \
    with_sources http://127.0.0.1:9 in_clone ./tidemark treemap -o /tmp/x.html
  touch "$debian/root/tidemark/src/cli/main.cc"
  refused "Ctrl-C while it compiles" "interrupted" -- \
    in_clone env --default-signal=INT bash -c 'set -m; ./tidemark --version & sleep 2; kill -INT -$!; wait $!'
  touch "$debian/root/tidemark/src/view/html/page.cc"
  refused "a full disk" "building the release preset failed" "make room" -- \
    in_clone bash -c 'mount -t tmpfs -o size=600k none /tmp && TMPDIR=/tmp ./tidemark --version'
  timed ./tidemark --version
  ((failures == 0)) || {
    say "$failures failed"
    exit 1
  }
}

main() {
  local word proves_failures=0
  for word in "$@"; do
    case $word in
      --full) full=1 ;;
      --failures) proves_failures=1 ;;
    esac
  done
  trap clean_up EXIT
  trap 'exit 130' INT TERM HUP
  folder=$(mktemp -d "${TMPDIR:-/tmp}/tidemark-fresh.XXXXXX")
  say "making a Debian 12 in $folder"
  make_debian "$folder/debian"
  say "made in $SECONDS s"
  clone_head "$folder/debian"
  ((proves_failures == 0)) || prove_failures
  timed ./tidemark run -- ls
  # The second call must find nothing to do and say nothing of its own.
  timed ./tidemark --version
  ((full == 0)) || timed ./dev test
  say "proved in $SECONDS s"
}

main "$@"
