// What `top` reads on slower clocks, or when it is asked to: it costs too much
// for every second. Each has its own time, so that its age can be told.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ledger_input.h"
#include "analysis/object_report.h"
#include "analysis/top_ledger.h"
#include "analysis/top_timeline_of.h"
#include "analysis/top_vms.h"
#include "analysis/what_if.h"
#include "model/process.h"

namespace tidemark::analysis {

// shared_ptr: many snapshots carry the same one.
template <typename T>
struct SlowReading {
  std::shared_ptr<const T> value;  // the last that came; null: none yet
  std::string failure;             // why the last one did not come
  uint64_t read_ns = 0;            // monotonic: when it was complete
  uint64_t cost_ns = 0;            // how long it took
  bool is_under_way = false;
};

// What would come back if these ended.
struct TopComeBack {
  std::vector<model::ProcessId> ending;
  WhatIf what_if;
};

struct TopSlow {
  SlowReading<ObjectReport> objects;
  SlowReading<TopVms> vms;
  SlowReading<TopLedger> ledger;
  SlowReading<TopComeBack> come_back;
};

// What the screen wants of it now.
struct TopNeeds {
  bool objects = false;
  bool vms = false;
  bool ledger = false;
  LedgerBy ledger_by = LedgerBy::Class;
  // How often it was asked to count again: a change is a wish.
  uint64_t object_recounts = 0;
  uint64_t ledger_recounts = 0;
  std::vector<model::ProcessId> ending;  // those that are marked
  TopTimelineOf timeline_of;
  bool operator==(const TopNeeds&) const = default;
};

}  // namespace tidemark::analysis
