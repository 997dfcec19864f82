#!/bin/bash
# first.sh NAME [ARGUMENT…]: installs what building needs, builds the release, and
# becomes it, called NAME. ./tidemark comes here when it is not up to date.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
name=${1##*/}
shift
# shellcheck source=packaging/setup.sh
source "$root/packaging/setup.sh"
folder=$root/build/release
binary=$folder/tidemark
stamp=$folder/stamp

# Another may have built it while we waited.
is_current() {
  [[ -x $folder/current ]] &&
    "$folder/current" "$stamp" /bin/true /bin/false "$root" true
}

build() {
  local wanted start=$SECONDS
  mapfile -t wanted < <(packages build)
  install_packages "$folder/install.log" "${wanted[@]}"
  if [[ -x $binary ]]; then
    say "building again, the sources have changed"
  else
    say "building; on two cores this takes two to four minutes, once"
  fi
  touch "$stamp.new"
  build_preset release
  mv "$stamp.new" "$stamp"
  ((SECONDS - start < 10)) || say "built in $((SECONDS - start)) s"
}

mkdir -p "$folder" 2>/dev/null || true
[[ -w $folder ]] ||
  die "must build, but cannot write to $folder" "run it once as its owner"
# In a subshell, so that the program we become does not hold the lock.
(
  is_job=1
  trap interrupted INT TERM HUP
  flock --nonblock 9 || {
    say "waiting for another build in $folder"
    flock 9
  }
  if ! is_current; then build; fi
) 9>"$folder/lock"
exec -a "$name" "$binary" "$@"
