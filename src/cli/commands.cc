#include "cli/commands.h"

namespace tidemark::cli {

// Name and summary stand here too, so that `tidemark --help` and a typo cost
// no construction of commands nobody runs; a test holds them equal.
const std::vector<CommandEntry>& command_table() {
  static const std::vector<CommandEntry> kTable = {
      {"run", "run a command and report its true peak and what it was made of",
       run_command, true},
      {"top", "keep an eye on memory: live, in the terminal", top_command},
      {"ps", "processes and groups by memory, and what none of them has",
       ps_command},
      {"get", "memory of a process or tree, now or repeatedly", get_command},
      {"maps", "the address space of a process, region by region",
       maps_command},
      {"objects", "files, memfds, segments, sockets: what has the memory",
       objects_command},
      {"system", "where the machine's memory is, in columns that sum to it",
       system_command},
      {"ledger", "every page of RAM in exactly one named row", ledger_command},
      {"kmap", "the kernel's own address space, and the physical map",
       kmap_command},
      {"graph", "the machine as a tree of records, in memgraph's JSON",
       graph_command},
      {"treemap", "all RAM as boxes in boxes: parts, groups, processes",
       treemap_command},
      {"buckets", "all RAM under names people know, by rules", buckets_command},
      {"vm", "what VMs cost this host, and what could come back", vm_command},
      {"trace", "kernel page allocations by task, module and stack, with peaks",
       trace_command},
      {"record", "record memory over time, every mapping, to a file",
       record_command},
      {"peak", "the highest moment of a recording, and what it was",
       peak_command},
      {"replay", "play a recording: what memory was made of, over time",
       replay_command},
      {"info", "what a recording holds, and how well it was made",
       info_command},
      {"diff", "what changed between two recordings or moments", diff_command},
      {"report", "a recording as one HTML file to look at and to mail",
       report_command},
      {"serve", "look at recordings, or at what happens now, in a browser",
       serve_command},
      {"metrics", "numbers for Prometheus and its like: scraped or pushed",
       metrics_command},
      {"import", "make a recording of what another tool has written",
       import_command},
      {"export", "a recording as CSV, JSON Lines, SQLite, stacks or a trace",
       export_command},
      {"gate", "a memory budget for CI: within, worse, or not decided",
       gate_command},
      {"doctor", "what works here, what is missing, how to get it",
       doctor_command},
      {"completion", "completions for bash, zsh or fish", completion_command},
      {"manual", "the manual page of a command", manual_command},
  };
  return kTable;
}

}  // namespace tidemark::cli
