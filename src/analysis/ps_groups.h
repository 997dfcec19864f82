// Sorts processes into the tree of groups that `ps` prints.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/ps_report.h"
#include "model/sample.h"

namespace tidemark::analysis {

// A group, its sub-groups and its own processes (indices into the sample).
struct PsGroup {
  std::string key;
  std::string name;
  uint64_t id = 0;
  Use use;  // of all processes below
  size_t process_count = 0;
  bool is_kernel = false;
  // Keys and names of the groups above that this one stands for as well.
  std::vector<std::string> joined;
  std::vector<std::unique_ptr<PsGroup>> groups;
  std::vector<size_t> processes;
};

// `chosen` says which processes of the sample take part. The root stands for
// the machine and is not printed. Sums are filled in.
std::unique_ptr<PsGroup> group_processes(const model::Sample& sample,
                                         const std::vector<size_t>& chosen,
                                         const std::vector<Use>& uses,
                                         GroupBy group_by,
                                         const std::vector<UserLabel>& users);

// "ann", or the number when no name is known.
std::string user_label(std::optional<uint32_t> user_id,
                       const std::vector<UserLabel>& users);

// The group with this id, key or name, anywhere below; null when none.
const PsGroup* find_group(const PsGroup& root, const std::string& job);

}  // namespace tidemark::analysis
