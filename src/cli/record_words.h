// What `record` says on standard error: before, while it goes on, and at the
// end.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "cli/command.h"
#include "model/sample.h"
#include "watch/detail_budget.h"
#include "watch/record_source.h"
#include "watch/record_watch.h"

namespace tidemark::cli {

// Which limits hold, said before anything else.
std::string record_rule(const watch::BudgetOptions& budget);

// The line that grows while it records, on a terminal.
class RecordLine {
 public:
  RecordLine(const CommonOptions& common, std::string path);
  RecordLine(const RecordLine&) = delete;
  RecordLine& operator=(const RecordLine&) = delete;
  ~RecordLine() { wipe(); }

  void show(const watch::RecordProgress& progress);
  void wipe();

 private:
  void say_pause(const watch::RecordProgress& progress);

  std::string path_;
  bool is_terminal_;
  bool is_quiet_;
  bool is_shown_ = false;
  bool was_paused_ = false;
  uint64_t next_ns_ = 0;
};

// What is noted while it is read, each kind once.
class RemarkPrinter {
 public:
  explicit RemarkPrinter(const CommonOptions& common) : common_(common) {}

  void print(const model::Sample& sample);

 private:
  void print_hint(const model::Sample& sample) const;

  const CommonOptions& common_;
  std::set<std::string> kinds_;
  bool has_hinted_ = false;
};

void print_record_end(const CommonOptions& common,
                      const watch::RecordResult& result,
                      const watch::DetailTally& tally);

}  // namespace tidemark::cli
