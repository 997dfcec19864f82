// Real control groups for tests: made where this machine allows it, always
// undone.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "parse/process_files.h"
#include "source/cgroups.h"
#include "source/target/group_place.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::test {

// A plan for a group of our own. What a test makes of it is undone.
class PlannedGroup {
 public:
  explicit PlannedGroup(base::Result<source::GroupPlace> place) {
    if (place) {
      place_ = std::move(*place);
    } else {
      reason_ = place.error().what;
    }
  }
  PlannedGroup(const PlannedGroup&) = delete;
  PlannedGroup& operator=(const PlannedGroup&) = delete;
  ~PlannedGroup() {
    if (place_) static_cast<void>(source::undo_group(*place_));
  }

  static base::Result<source::GroupPlace> memory() {
    const source::Roots roots = TemporaryTree::open("/proc", true);
    return source::plan_memory_group(roots,
                                     source::CgroupHierarchy::find(roots));
  }
  static base::Result<source::GroupPlace> freezer() {
    return source::plan_freezer_group(TemporaryTree::open("/proc", true));
  }

  explicit operator bool() const { return place_.has_value(); }
  const source::GroupPlace& operator*() const { return *place_; }
  const source::GroupPlace* operator->() const { return &*place_; }
  // Why there is none.
  std::string reason() const { return "no group can be made: " + reason_; }

 private:
  std::optional<source::GroupPlace> place_;
  std::string reason_;
};

inline bool is_there(const source::GroupPlace& place) {
  return std::filesystem::exists(place.directory);
}

// Whether `pid` is listed in this cgroup.procs.
inline bool lists(const std::string& procs_path, pid_t pid) {
  std::ifstream file(procs_path);
  for (pid_t one = 0; file >> one;) {
    if (one == pid) return true;
  }
  return false;
}

inline char state_of(pid_t pid) {
  base::Result<std::string> text = base::read_file_at(
      TemporaryTree::open("/proc", true).proc, std::to_string(pid) + "/stat");
  if (!text) return 'X';
  base::Result<model::ProcessStat> stat = parse::parse_stat(*text);
  return stat ? stat->state : '?';
}

inline bool is_alive(pid_t pid) {
  const char state = state_of(pid);
  return state != 'X' && state != 'Z';
}

}  // namespace tidemark::test
