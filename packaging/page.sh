#!/bin/bash
# page.sh FILE: bundles the browser front end into FILE, installing what that
# needs, unless it is there and newer than its sources. The program of a checkout
# calls it when a page is first asked for: standard output is for it, two lines
# at most, why there is none and what to do.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
page=$1
# shellcheck source=packaging/setup.sh
source "$root/packaging/setup.sh"

die() {
  printf 'no browser page: %s\n%s\n' "$1" "${2:-}"
  exit 1
}

is_current() {
  local file
  [[ -f $page ]] || return 1
  for file in "$root"/web/{src,src/*,build.mjs,package-lock.json}; do
    [[ ! $file -nt $page ]] || return 1
  done
}

bundle() { node "$root/web/build.mjs" "$page.new"; }

make_page() {
  local status=0 log=$page.log
  if [[ -d $root/web/node_modules ]]; then
    say "building the browser page, some seconds"
  elif command -v node >/dev/null && command -v npm >/dev/null; then
    say "building the browser page, once: about 20 seconds"
  else
    say "building the browser page, once: some minutes, since Node.js is missing"
  fi
  install_web "$log"
  run_logged "$log" bundle
  ((status == 0)) || failed "bundling it failed" "$log"
  mv "$page.new" "$page"
}

if is_current; then exit 0; fi
exec 9>"$page.lock"
flock 9
if ! is_current; then make_page; fi
