#!/bin/sh
# The last hook: ends the trace and prints its report on the console. The file
# stays.
# shellcheck source-path=SCRIPTDIR source=tidemark-lib.sh
. /lib/tidemark-lib.sh

if [ -e "$tidemark_pid" ]; then
  tidemark_tracer=$(cat "$tidemark_pid")
  rm -f "$tidemark_pid"
  if ! kill -TERM "$tidemark_tracer" 2>/dev/null; then
    warn "tidemark: the tracer ended before the boot did; what it left follows"
    tidemark_repeat
  fi
  tidemark_tries=0
  while kill -0 "$tidemark_tracer" 2>/dev/null; do
    tidemark_tries=$((tidemark_tries + 1))
    [ "$tidemark_tries" -le 300 ] || break
    sleep 0.1
  done
  [ ! -e "$(tidemark_out)" ] || cat "$(tidemark_out)" >/dev/console
fi
