#!/bin/bash
# Runs as a service in the guest of services_test.py: does everything once, and
# sends what it saw through the second serial port.
set -u
exec 3>/dev/ttyS1
stty -F /dev/ttyS1 raw
folder=/var/lib/private/tidemark

# send NAME FILE: the length first, so that nothing in it can be taken for a mark.
send() {
  printf '@ %s %d\n' "$1" "$(wc -c <"$2")" >&3
  cat "$2" >&3
  echo >&3
}

# show NAME COMMAND…: sends what it prints, what it says and how it ends.
show() {
  local name=$1
  shift
  "$@" >/run/show.out 2>/run/show.err
  echo $? >/run/show.status
  send "$name" /run/show.out
  send "$name.stderr" /run/show.err
  send "$name.status" /run/show.status
}

# eventually NAME COMMAND…: waits until it succeeds, and shows whether it did.
eventually() {
  local name=$1 deadline=$((SECONDS + 90))
  shift
  until "$@" >/run/show.out 2>/run/show.err; do
    ((SECONDS < deadline)) || break
    sleep 0.3
  done
  show "$name" "$@"
}

newest() {
  local files=("$folder"/*.tdm)
  printf '%s\n' "${files[-1]}"
}
samples() { tidemark info --json "$1" | sed -n 's/.*"sample_count": *\([0-9]*\).*/\1/p' | head -n 1; }
# has_samples FILE N
has_samples() { [[ $(samples "$1") -ge $2 ]]; }
grows_by() { has_samples "$(newest)" $(($1 + $2)); }
count_files() {
  local files=("$folder"/*.tdm)
  printf '%d\n' "${#files[@]}"
}
more_files_than() { [[ $(count_files) -gt $1 ]]; }
is_active() { [[ $(systemctl is-active "$1") == active ]]; }
journal_says() { journalctl -u tidemark-record -o cat --no-pager | grep -q "$1"; }
scrape() {
  exec 5<>/dev/tcp/127.0.0.1/9740 || return 1
  printf 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9740\r\nConnection: close\r\n\r\n' >&5
  cat <&5
  exec 5>&-
}
has_shares() { scrape | grep -q '^tidemark_program_bytes{.*measure="pss"'; }
status_of() { cat "/proc/$(systemctl show -P MainPID "$1")/status"; }
bytes_in_folder() { find "$folder" -type f -printf '%s\n' | awk '{sum += $1} END {print sum + 0}'; }

# settings LINE…
settings() {
  printf '%s\n' "$@" >/etc/default/tidemark
}

first_start() {
  show enabled systemctl is-enabled tidemark-record tidemark-metrics
  # What the package does when it is installed where systemd runs.
  show installed deb-systemd-invoke start tidemark-record tidemark-metrics
  show not-started systemctl is-active tidemark-record tidemark-metrics
  show autopkgtest bash /root/services_of_package.sh
  show start systemctl start tidemark-record tidemark-metrics
  eventually first-files more_files_than 0
  eventually first-samples grows_by 0 5
  show record-status status_of tidemark-record
  show metrics-status status_of tidemark-metrics
  show record-limits systemctl show tidemark-record -p MemoryMax,CPUQuotaPerSecUSec,OOMScoreAdjust,MemoryCurrent,CPUUsageNSec,NRestarts
  eventually shares has_shares
  show scrape scrape
  show info tidemark info --json "$(newest)"
  show peak tidemark peak --json "$(newest)"
  show first-journal journalctl -u tidemark-record -o cat --no-pager
  show mode stat -c '%a' "$folder"
}

killed() {
  local file before files
  file=$(newest)
  before=$(samples "$file")
  files=$(count_files)
  echo "$before" >/run/before
  send kill-before /run/before
  show kill systemctl kill -s KILL tidemark-record
  eventually kill-next more_files_than "$files"
  show kill-after samples "$file"
  eventually kill-active is_active tidemark-record
  eventually kill-grows grows_by 0 3
}

# The clock goes a day ahead and two back.
clock_jumps() {
  local before
  before=$(samples "$(newest)")
  date -s '+1 day' >/dev/null
  eventually clock-ahead grows_by "$before" 3
  before=$(samples "$(newest)")
  date -s '-2 days' >/dev/null
  eventually clock-back grows_by "$before" 3
  show clock-active is_active tidemark-record
  show clock-restarts systemctl show -P NRestarts tidemark-record
  eventually clock-scrape scrape
}

full_disk() {
  local before
  systemctl stop tidemark-record
  mount -t tmpfs -o size=6M,mode=0750 tmpfs "$folder"
  systemctl start tidemark-record
  eventually full-first grows_by 0 3
  cat /dev/zero >"$folder/filler" 2>/dev/null # until there is no room
  eventually full-said journal_says 'disk full'
  show full-active is_active tidemark-record
  before=$(samples "$(newest)")
  rm "$folder/filler"
  eventually full-goes-on journal_says 'goes on'
  eventually full-grows grows_by "$before" 3
  systemctl stop tidemark-record
  show full-info tidemark info --json "$(newest)"
  umount "$folder"
}

# Many short files, each at its limit: all of them stay below theirs.
capped() {
  local round look most=0 now
  rm -f "$folder"/*
  settings TIDEMARK_KEEP=1MiB TIDEMARK_FILE=512KiB TIDEMARK_INTERVAL=50ms \
    TIDEMARK_BUDGET=none
  for ((round = 0; round < 5; ++round)); do
    systemctl reset-failed tidemark-record # starts are counted
    systemctl restart tidemark-record
    for ((look = 0; look < 6; ++look)); do
      now=$(bytes_in_folder)
      ((now <= most)) || most=$now
      sleep 0.7
    done
  done
  systemctl stop tidemark-record
  echo "$most" >/run/most
  send cap-most /run/most
  show cap-files ls -l "$folder"
  show cap-journal journalctl -u tidemark-record -o cat --no-pager -n 60
  settings
}

first_start
killed
clock_jumps
full_disk
capped
for service in record metrics; do
  show "security-$service" systemd-analyze security --no-pager "tidemark-$service"
done
show journal journalctl -u tidemark-record -u tidemark-metrics --no-pager
show failed systemctl --failed --no-legend --plain
: >/run/empty
send end /run/empty
exec 3>&-
systemctl --force --force reboot
