#!/bin/sh
# What the hooks share. On the kernel's command line:
#   rd.memstrack=1   modules                          (as memstrack prints them)
#   rd.memstrack=2   and their largest stacks
#   rd.memstrack=3   and tasks with theirs: everything
#   rd.tidemark=1    modules as a table, and the size of a crash kernel
#   rd.tidemark=2    and what held most at the peak, by stack
#   rd.tidemark=3    and modules by every stack they are on, tasks, all stacks
#   rd.tidemark.out=FILE   where the report is kept up to date each second;
#                          /run/initramfs/tidemark.txt unless given, which is
#                          still there after the switch to the real root

# shellcheck disable=SC1091 # of dracut
type getarg >/dev/null 2>&1 || . /lib/dracut-lib.sh

# shellcheck disable=SC2034 # the hooks use them
tidemark_run=/run/initramfs
# shellcheck disable=SC2034
tidemark_pid=$tidemark_run/tidemark.pid
# shellcheck disable=SC2034
tidemark_ready=$tidemark_run/tidemark.ready
# What the tracer says of its own troubles.
tidemark_said=$tidemark_run/tidemark.log

# Prints the reports that are asked for; nothing when none is.
tidemark_reports() {
  case "$(getarg rd.memstrack=)" in
    1) echo module_summary ;;
    2) echo module_summary,module_top:throttle=80 ;;
    3) echo module_summary,module_top:throttle=80,task_summary,task_top:throttle=80 ;;
    *)
      case "$(getarg rd.tidemark=)" in
        1) echo modules,crash_kernel ;;
        2) echo modules,crash_kernel,peak:top=8 ;;
        3) echo modules,crash_kernel,peak:top=8,module_any,task_summary,tree ;;
      esac
      ;;
  esac
}

# tidemark_tell_end STATUS: why there is no trace, in the tracer's words where it
# has left some.
tidemark_tell_end() {
  case $1 in
    127) tidemark_why="there is no such program" ;;
    *)
      if [ "$1" -gt 128 ]; then
        tidemark_why="by signal $(($1 - 128))"
      else
        tidemark_why="with status $1"
      fi
      ;;
  esac
  warn "tidemark: the tracer has ended ($tidemark_why): no trace of this boot"
  tidemark_repeat
}

tidemark_repeat() {
  [ -s "$tidemark_said" ] || return 0
  while read -r tidemark_line; do
    warn "$tidemark_line"
  done <"$tidemark_said"
}

tidemark_out() {
  tidemark_file=$(getarg rd.tidemark.out=)
  # Not a console: the report comes there anyway, and no file would be kept.
  [ -f "$tidemark_file" ] || [ ! -e "$tidemark_file" ] || tidemark_file=
  echo "${tidemark_file:-$tidemark_run/tidemark.txt}"
}
