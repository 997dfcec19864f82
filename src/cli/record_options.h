// What `record` is asked to do, and the options that say it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "model/trace.h"
#include "source/live_trace.h"
#include "watch/detail_budget.h"
#include "watch/loop.h"

namespace tidemark::cli {

// What `--with trace` is asked to do.
struct RecordTraceOptions {
  source::TraceOptions trace;
  std::optional<model::TraceBackend> backend;  // empty: the best there is
  bool everything = false;                     // not only what is recorded
  bool follows_slab = false;                   // slab objects as well
};

struct RecordCommandOptions {
  std::vector<std::string> targets;
  std::vector<std::string> names;
  std::vector<std::string> cgroups;
  std::vector<std::string> command;
  bool everything = false;
  bool stays = false;
  bool without_children = false;
  bool overwrites = false;
  std::optional<uint64_t> period_ns;
  watch::LoopOptions loop;
  watch::BudgetOptions budget;
  bool has_budget = false;  // one was given
  bool allows_denied = false;
  std::optional<uint64_t> most_bytes;
  std::string folder;                  // empty: the output path is the file
  std::optional<uint64_t> keep_bytes;  // of all recordings in the folder
  std::optional<RecordTraceOptions> trace;
  CommonOptions common;
};

void add_record_options(OptionTable& table, RecordCommandOptions& options);

}  // namespace tidemark::cli
