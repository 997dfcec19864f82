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

tidemark_out() {
  tidemark_file=$(getarg rd.tidemark.out=)
  # Not a console: the report comes there anyway, and no file would be kept.
  [ -f "$tidemark_file" ] || [ ! -e "$tidemark_file" ] || tidemark_file=
  echo "${tidemark_file:-$tidemark_run/tidemark.txt}"
}
