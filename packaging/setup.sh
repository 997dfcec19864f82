# shellcheck shell=bash
# Sourced by ./tidemark and ./dev with `root` set: installs packages, builds a
# preset. All talk goes to stderr, because stdout belongs to the program.
set -euo pipefail
: "${root:?}"

say() { printf 'tidemark: %s\n' "$*" >&2; }

die() {
  say "$1"
  [[ -z ${2:-} ]] || printf '  hint: %s\n' "$2" >&2
  exit 1
}

# packages LIST [COMMAND]: names in packaging/LIST-packages.txt; with COMMAND
# those that only this command needs.
packages() {
  local list="$root/packaging/$1-packages.txt"
  if [[ -n ${2:-} ]]; then
    sed -n "s/[[:space:]]*# only: $2\$//p" "$list"
  else
    sed -e '/# only:/d' -e 's/[[:space:]]*#.*//' -e '/^$/d' "$list"
  fi
}

as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "need root for: $*" "install sudo, or run that line as root"
  fi
}

# missing PACKAGE…: prints those that are not installed.
missing() {
  local installed name
  # dpkg-query fails as soon as one name is unknown; the others still print.
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" \
    2>/dev/null || true)
  for name in "$@"; do
    grep -qxF "$name installed" <<<"$installed" || printf '%s\n' "$name"
  done
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"
}

# Some packages bring a service that starts at once and at every boot. Tests need
# the program, and this may be somebody's machine.
install_without_services() (
  policy=/usr/sbin/policy-rc.d
  if [[ ! -e $policy ]]; then
    trap 'as_root rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
  fi
  apt install -y --no-install-recommends "$@"
  mapfile -t units < <(dpkg -L "$@" |
    sed -En 's#.*/systemd/system/([^/]*\.(service|socket|timer))$#\1#p')
  ((${#units[@]})) && command -v systemctl >/dev/null || exit 0
  as_root systemctl --quiet disable "${units[@]}" || true
)

# install_packages LOG PACKAGE…: does nothing when all are there.
install_packages() {
  local log=$1 wanted=()
  shift
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system; expecting the like of: $*"
    return
  fi
  mapfile -t wanted < <(missing "$@")
  ((${#wanted[@]})) || return 0
  say "installing ${#wanted[@]} packages: ${wanted[*]}"
  if ! { apt update && install_without_services "${wanted[@]}"; } \
    >"$log" 2>&1; then
    cat "$log" >&2
    die "could not install ${wanted[*]}" "the log above says why; it is in $log"
  fi
}

# Shows how far ninja is, on one line, when someone is watching.
show_progress() {
  local line
  while IFS= read -r line; do
    [[ -t 2 && $line == \[* ]] || continue
    printf '\rtidemark: building %s' "${line%%]*}]" >&2
  done
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

configure_preset() {
  local preset=$1 cache="$root/build/$1/CMakeCache.txt" fresh=()
  # A moved or copied checkout carries a cache that names the old place.
  if [[ -f $cache ]] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
    fresh=(--fresh)
  fi
  cmake --preset "$preset" "${fresh[@]}"
}

# From the first failure on, without ninja's progress lines, which would bury
# the one line that matters; all of it when nothing looks like a failure.
show_failure() {
  sed -n '/^FAILED:\|^CMake Error/,$p' "$1" | grep -v '^\[[0-9]*/[0-9]*\] ' ||
    cat "$1"
}

# The packages of the browser front end, as web/package-lock.json has them. Node
# may come from elsewhere than Debian: only what is not there is installed.
install_web() {
  local stamp="$root/web/node_modules/.package-lock.json" log=$1 wanted=()
  [[ ! $stamp -nt $root/web/package-lock.json ]] || return 0
  command -v node >/dev/null || wanted+=(nodejs)
  command -v npm >/dev/null || wanted+=(npm)
  ((${#wanted[@]} == 0)) || install_packages "$log" "${wanted[@]}"
  say "installing the packages of the browser front end"
  # Bundling needs none of their install scripts.
  if ! npm ci --ignore-scripts --prefix "$root/web" >"$log" 2>&1; then
    cat "$log" >&2
    die "npm ci failed in $root/web" "the log above says why; it is in $log"
  fi
  touch "$stamp"
}

# build_preset PRESET [ARGUMENT…]: configures and builds; the log is shown only on
# failure. The arguments go to cmake --build.
# A subshell, since presets are read from the current folder.
build_preset() (
  cd -P "$root"
  log="build/$1/build.log"
  mkdir -p "build/$1"
  install_web "build/$1/web.log"
  if ! { configure_preset "$1" && cmake --build --preset "$@"; } 2>&1 |
    tee "$log" | show_progress; then
    show_failure "$log" >&2
    die "building the $1 preset failed" "the whole log is in $root/$log"
  fi
)
