#!/bin/bash
# fresh.sh [--full]: proves the two commands of the README where nothing is
# installed: a new Debian 12 folder and a clean clone of HEAD. Run by ./dev fresh.
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

main() {
  [[ ${1:-} != --full ]] || full=1
  trap clean_up EXIT
  trap 'exit 130' INT TERM HUP
  folder=$(mktemp -d "${TMPDIR:-/tmp}/tidemark-fresh.XXXXXX")
  say "making a Debian 12 in $folder"
  make_debian "$folder/debian"
  say "made in $SECONDS s"
  clone_head "$folder/debian"
  timed ./tidemark run -- ls
  # The second call must find nothing to do and say nothing of its own.
  timed ./tidemark --version
  ((full == 0)) || timed ./dev test
  say "proved in $SECONDS s"
}

main "$@"
