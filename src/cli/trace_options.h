// The command line of `trace`.
#pragma once

#include <string>

#include "analysis/trace_tree.h"
#include "cli/command.h"
#include "cli/trace_boot.h"
#include "cli/trace_notes.h"
#include "view/text/trace.h"
#include "watch/trace_watch.h"

namespace tidemark::cli {

struct TraceCommandOptions {
  watch::TraceWatchOptions watch;
  std::string reports;
  analysis::TraceTreeOptions tree;
  view::TraceTextOptions text;
  std::string backend = "auto";
  TraceNotesOptions notes;
  std::string cgroup;
  std::string gfp;
  std::string recording;  // to report on instead of tracing
  std::string at;         // which moment of it
  std::string base;       // another recording, to compare with
  bool overwrites = false;
  bool everything = false;
  bool at_peak = false;
  bool has_sample = false;  // how many to follow was said
  TraceBootOptions boot;
  bool has_no_screen = false;
  bool prints_unasked = true;  // a report although none was asked for
  CommonOptions common;
};

void add_trace_options(OptionTable& table, TraceCommandOptions& options);

}  // namespace tidemark::cli
