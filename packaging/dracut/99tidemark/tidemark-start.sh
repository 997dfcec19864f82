#!/bin/sh
# The first of dracut's hooks: begins the trace and waits until it sees
# everything, at most ten seconds. What udev loads afterwards is seen.
# shellcheck source-path=SCRIPTDIR source=tidemark-lib.sh
. /lib/tidemark-lib.sh

tidemark_asked=$(tidemark_reports)
if [ -n "$tidemark_asked" ] && [ ! -e "$tidemark_pid" ]; then
  mkdir -p "$tidemark_run"
  rm -f "$tidemark_ready"
  # dracut ends what is left of its hooks by SIGHUP and SIGTERM at other times
  # than ours.
  (
    trap '' HUP
    exec tidemark trace --notui --quiet --early --refresh 1s \
      --report "$tidemark_asked" --ready "$tidemark_ready" \
      -o "$(tidemark_out)" </dev/null >/dev/null 2>"$tidemark_said"
  ) &
  tidemark_tracer=$!
  echo "$tidemark_tracer" >"$tidemark_pid"
  tidemark_tries=0
  until [ -e "$tidemark_ready" ]; do
    tidemark_tries=$((tidemark_tries + 1))
    if ! kill -0 "$tidemark_tracer" 2>/dev/null; then
      wait "$tidemark_tracer"
      tidemark_tell_end $?
      # Nothing is left to end and to print.
      rm -f "$tidemark_pid"
      break
    fi
    if [ "$tidemark_tries" -gt 100 ]; then
      warn "tidemark: the trace has not begun after ten seconds; it goes on trying"
      break
    fi
    sleep 0.1
  done
fi
