"""What the guest tests of `trace` share."""

import os
import re

import guest

TIDEMARK = os.environ.get("TIDEMARK_STATIC", guest.ROOT / "build/dev/tests/tidemark_static")

# Shell functions: a trace in the background from begin_trace OPTIONS… to
# end_trace, whose exit status is in /run/ended. Another tracer is in $begins.
SHELL = """
begin_trace() {
  : >/run/said  # what the last one said
  ${begins:-/bin/tidemark trace} "$@" 2>/run/said 3>&- &
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


def modules_without_stacks(report):
    """Of memstrack's module_summary and module_top: those that only the summary
    has, or that have no line of a stack. At least one has to be there."""
    modules = re.findall(r"^Module (\S+) using", report, re.M)
    assert modules, report
    return [module for module in modules if not re.search(
        rf"^Top stack usage of module {re.escape(module)}:\n"
        r"  Pages: \d+ \(peak: (<=)?\d+\)\n"
        r"    \S+.* \(0x[0-9a-f]+\) Pages: \d+ \(peak: (<=)?\d+\)$", report, re.M)]
