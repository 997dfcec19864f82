// What `record` is asked to do, and the options that say it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "watch/detail_budget.h"
#include "watch/loop.h"

namespace tidemark::cli {

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
  std::optional<uint64_t> most_bytes;
  CommonOptions common;
};

void add_record_options(OptionTable& table, RecordCommandOptions& options);

}  // namespace tidemark::cli
