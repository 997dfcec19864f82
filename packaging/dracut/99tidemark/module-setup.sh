#!/bin/bash
# Follows page allocations of a boot from dracut's first hook to its last, when
# the kernel's command line says so (tidemark-lib.sh has the levels).
# Added by `dracut --add tidemark`, or add_dracutmodules in dracut.conf.

# called by dracut
check() {
  require_binaries tidemark || return 1
  # Only where it was asked for.
  return 255
}

# called by dracut
depends() {
  echo base
}

# called by dracut
install() {
  inst_multiple tidemark cat mkdir rm sleep
  # shellcheck disable=SC2154 # dracut sets it
  inst_simple "$moddir/tidemark-lib.sh" /lib/tidemark-lib.sh
  inst_hook cmdline 00 "$moddir/tidemark-start.sh"
  # Both: a boot that ends in the emergency shell has a report too.
  inst_hook cleanup 99 "$moddir/tidemark-report.sh"
  inst_hook emergency 99 "$moddir/tidemark-report.sh"
}
