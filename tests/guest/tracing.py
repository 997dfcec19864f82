"""What the guest tests of `trace` share."""

import os

import guest

TIDEMARK = os.environ.get("TIDEMARK_STATIC", guest.ROOT / "build/dev/tests/tidemark_static")

# Shell functions: a trace in the background from begin_trace OPTIONS… to
# end_trace, whose exit status is in /run/ended.
SHELL = """
begin_trace() {
  : >/run/said  # what the last one said
  /bin/tidemark trace "$@" 2>/run/said 3>&- &
  tracer=$!
  tries=0
  until grep -q tracing /run/said; do
    tries=$((tries + 1))
    if [ $tries -gt 200 ]; then
      send said /run/said
      fail "the trace does not begin: $(cat /run/said)"
    fi
    usleep 100000
  done
}
end_trace() {
  kill -INT $tracer
  wait $tracer
  echo $? >/run/ended
}
"""
