# shellcheck shell=bash
# Sourced by ./tidemark and ./dev with `root` set: installs packages, builds a
# preset. All talk goes to stderr, because stdout belongs to the program.
#
# Whatever fails ends here, with the last lines of what failed and what to do.
# Bash ignores `set -e` in a function that is called in a condition, so nothing
# that installs or builds is; `run_logged` is the one place that catches.
set -euo pipefail
: "${root:?}"

say() { printf 'tidemark: %s\n' "$*" >&2; }

die() {
  say "$1"
  [[ -z ${2:-} ]] || printf '  hint: %s\n' "$2" >&2
  exit 1
}

# Bash looks at a signal when the program in front has ended, and forgets Ctrl-C
# when that program ended otherwise than by it, as apt-get and ctest do. So what
# takes long is a job beside us, in a process group of its own, that we end.
job=''
is_job=0
interrupted() {
  trap '' INT TERM HUP
  if [[ -n $job ]]; then
    kill -INT -- "-$job" 2>/dev/null || true
    wait "$job" || true
  fi
  ((is_job)) || {
    [[ ! -t 2 ]] || printf '\r\033[K' >&2
    say "interrupted; the next call goes on from here"
  }
  exit 130
}
trap interrupted INT TERM HUP

# attend COMMAND…: runs it so; its status is in `status`. Never call it in a
# condition: `set -e` holds inside.
attend() {
  set -m
  (
    set +m
    job=''
    is_job=1
    trap interrupted INT TERM HUP
    set -e
    "$@"
  ) &
  job=$!
  set +m
  status=0
  wait "$job" || status=$?
  job=''
}

with_log() {
  local log=$1
  shift
  (
    trap 'exit 130' INT TERM HUP # so that traps at exit run
    set -e
    "$@"
  ) 2>&1 | tee "$log" | show_progress
}

# run_logged LOG COMMAND…: attended, with its output in LOG, and shown as progress.
run_logged() { attend with_log "$@"; }

# Shows on one line how far apt and ninja are, when someone is watching.
show_progress() {
  local line words shown=
  while IFS= read -r line; do
    [[ -t 2 ]] || continue
    case $line in
      '['*/*']'*) words="compiling ${line%%]*}]" ;;
      dlstatus:*) words="downloading ${line#dlstatus:*:}" ;;
      pmstatus:*) words="installing ${line#pmstatus:*:}" ;;
      'Waiting for cache lock'*) words="${line%% (*}" ;;
      *) continue ;;
    esac
    case $words in
      downloading*:* | installing*:*) words="${words%%[.:]*} %" ;;
    esac
    [[ $words != "$shown" ]] || continue
    shown=$words
    printf '\r\033[Ktidemark: %s' "$words" >&2
  done
  [[ -z $shown ]] || printf '\r\033[K' >&2
}

# What a log says of the failure that it ends with.
last_words() {
  local found
  # Of a list of packages that are all unknown one is enough, and of npm's words
  # the first.
  found=$(grep -a '^\(E\|W\|dpkg\|npm ERR!\|npm error\|CMake Error\)[: ]' "$1" |
    awk '/^npm / && ++npm > 4 {next} !/Unable to locate package/ || !seen++' |
    tail -n 8 || true)
  [[ -n $found ]] || found=$(grep -av '^\(dl\|pm\)status:' "$1" | tail -n 12)
  printf '%s\n' "$found" | cut -c1-300
}

# hint_for LOG: what to do about the failure in it.
hint_for() {
  if grep -qai 'no space left on device\|enough free space' "$1"; then
    echo "make room on this disk (packages and build take 1.2 GB), then run it again"
  elif grep -qai 'temporary failure resolving\|could not resolve\|could not connect\|connection timed out\|connection failed\|connection refused\|unable to connect\|EAI_AGAIN\|ENOTFOUND\|ECONNREFUSED\|ETIMEDOUT' "$1"; then
    echo "no package server answers: look at the network or at its address in the settings, then run it again"
  elif grep -qai 'could not get lock\|unable to lock' "$1"; then
    echo "another program is installing packages: wait for its end, then run it again"
  elif grep -qai 'unable to locate package\|has no installation candidate' "$1"; then
    echo "these are packages of Debian 12; elsewhere install the like by hand"
  else
    echo "the whole log is in $1"
  fi
}

# failed WHAT LOG
failed() {
  last_words "$2" >&2
  die "$1" "$(hint_for "$2")"
}

# packages LIST [COMMAND]: names in packaging/LIST-packages.txt; with COMMAND
# those that only this command needs, and with `unit` what unit tests do.
packages() {
  local list="$root/packaging/$1-packages.txt"
  if [[ ${2:-} == unit ]]; then
    sed -e '/^# ---- beyond unit tests/,$d' -e 's/[[:space:]]*#.*//' -e '/^$/d' "$list"
  elif [[ -n ${2:-} ]]; then
    sed -n "s/[[:space:]]*# only: $2\$//p" "$list"
  else
    sed -e '/# only:/d' -e 's/[[:space:]]*#.*//' -e '/^$/d' "$list"
  fi
}

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

# need_root COMMAND: asked before anything starts, since sudo's question would go
# into a log. COMMAND is what root can type instead.
need_root() {
  [[ $EUID -ne 0 ]] || return 0
  command -v sudo >/dev/null ||
    die "packages are missing, and installing them needs root: there is no sudo" \
      "as root: $1"
  sudo -v || die "packages are missing, and sudo was refused" "as root: $1"
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

# A server that does not answer is given up after half a minute, not ten.
apt() {
  as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -q \
    -o Dpkg::Use-Pty=0 -o APT::Status-Fd=1 -o DPkg::Lock::Timeout=60 \
    -o Acquire::Retries=1 -o Acquire::http::Timeout=15 \
    -o Acquire::https::Timeout=15 "$@"
}

# What somebody, or a Ctrl-C, has left half done stops apt for ever.
finish_interrupted() {
  [[ -n $(ls -A /var/lib/dpkg/updates 2>/dev/null) || -n $(dpkg --audit) ]] ||
    return 0
  echo "finishing an interrupted installation of packages"
  as_root env DEBIAN_FRONTEND=noninteractive dpkg --configure -a
  apt -y --fix-broken install
}

# A list that cannot be fetched need not be of a server that has our packages.
update_lists() {
  finish_interrupted
  apt -o Acquire::Retries=0 update || echo "W: not all lists of packages could be fetched"
}

# Some packages bring a service that starts at once and at every boot. Tests need
# the program, and this may be somebody's machine.
install_without_services() {
  local policy=/usr/sbin/policy-rc.d units
  if [[ ! -e $policy ]]; then
    # shellcheck disable=SC2064  # the name as it is now
    trap "as_root rm -f '$policy'" EXIT
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
  fi
  apt install -y --no-install-recommends "$@"
  mapfile -t units < <(dpkg -L "$@" |
    sed -En 's#.*/systemd/system/([^/]*\.(service|socket|timer))$#\1#p')
  if ((${#units[@]})) && command -v systemctl >/dev/null; then
    as_root systemctl --quiet disable "${units[@]}" || true
  fi
}

# how_much PACKAGE…: "83 packages, 120 MB to download, 495 MB on disk"; nothing
# when apt cannot tell.
how_much() {
  local plan
  plan=$(as_root env LC_ALL=C apt-get --assume-no --no-install-recommends \
    install "$@" 2>/dev/null || true)
  sed -nE -e 's/.* ([0-9]+) newly installed.*/\1 packages/p' \
    -e 's/^Need to get ([^/]*\/)?(.*) of archives\./, \2 to download/p' \
    -e 's/^After this operation, (.*) of additional.*/, \1 on disk/p' <<<"$plan" |
    tr -d '\n'
}

# install_packages LOG PACKAGE…: does nothing when all are there.
install_packages() {
  local log=$1 wanted=() status=0 much
  shift
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system; expecting the like of: $*"
    return
  fi
  mapfile -t wanted < <(missing "$@")
  ((${#wanted[@]})) || return 0
  need_root "apt-get install --no-install-recommends ${wanted[*]}"
  say "fetching the lists of packages"
  run_logged "$log.update" update_lists
  ((status == 0)) || failed "could not prepare the installation of packages" "$log.update"
  much=$(how_much "${wanted[@]}")
  say "installing ${much:-${#wanted[@]} packages}: ${wanted[*]}"
  run_logged "$log" install_without_services "${wanted[@]}"
  if ((status != 0)); then
    # Why a package is not known stands in the log before.
    cat "$log" >>"$log.update"
    mv "$log.update" "$log"
    failed "could not install ${wanted[*]}" "$log"
  fi
  rm -f "$log.update"
}

configure_preset() {
  local preset=$1 cache="$root/build/$1/CMakeCache.txt" fresh=()
  shift
  # A moved or copied checkout carries a cache that names the old place.
  if [[ -f $cache ]] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
    fresh=(--fresh)
  fi
  cmake --preset "$preset" "${fresh[@]}" "$@"
}

# From the first failure on, without ninja's progress lines, which would bury
# the one line that matters; all of it when nothing looks like a failure.
show_failure() {
  sed -n '/^FAILED:\|^CMake Error/,$p' "$1" | grep -v '^\[[0-9]*/[0-9]*\] ' ||
    cat "$1"
}

bundler_packages() {
  npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 \
    --fetch-retry-mintimeout=1000 --fetch-timeout=20000 --prefix "$root/web"
}

# The packages of the browser front end, as web/package-lock.json has them. Node
# may come from elsewhere than Debian: only what is not there is installed.
install_web() {
  local stamp="$root/web/node_modules/.package-lock.json" log=$1 wanted=() status=0
  [[ ! $stamp -nt $root/web/package-lock.json ]] || return 0
  command -v node >/dev/null || wanted+=(nodejs)
  command -v npm >/dev/null || wanted+=(npm)
  ((${#wanted[@]} == 0)) || install_packages "$log" "${wanted[@]}"
  say "fetching what bundles the browser front end (npm ci)"
  # Bundling needs none of their install scripts.
  run_logged "$log" bundler_packages
  ((status == 0)) || failed "npm ci failed in $root/web" "$log"
  touch "$stamp"
}

configure_and_build() {
  local preset=$1 settings=()
  shift
  while [[ ${1:-} == -D* ]]; do
    settings+=("$1")
    shift
  done
  configure_preset "$preset" "${settings[@]}"
  cmake --build --preset "$preset" "$@"
}

# build_preset PRESET [-DNAME=VALUE…] [ARGUMENT…]: configures and builds; the log
# is shown only on failure. The arguments go to cmake --build.
# A subshell, since presets are read from the current folder.
build_preset() (
  job=''
  is_job=1 # whoever called it says so
  trap interrupted INT TERM HUP
  cd -P "$root"
  log="$root/build/$1/build.log"
  mkdir -p "build/$1"
  # ./tidemark makes the page when it is first asked for.
  [[ $1 == release && $* != *TIDEMARK_CHECKOUT=OFF* ]] ||
    install_web "build/$1/web.log"
  # Two at once would write the same files.
  exec 8>"build/$1/lock.build"
  flock --nonblock 8 || {
    say "waiting for another build in $root/build/$1"
    flock 8
  }
  run_logged "$log" configure_and_build "$@"
  if ((status != 0)); then
    show_failure "$log" >&2
    die "building the $1 preset failed" "$(hint_for "$log")"
  fi
)
