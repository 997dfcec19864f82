// Takes a picture of a tree of processes: every mapping of every process, and
// the account of their group, as close together in time as reading allows.
//
// smaps walks every page (75 ms for 4 GiB of small ones), too long to be done
// at each step of a fast growth. So a large process whose sharing has not
// changed may be shown by a page scan instead: sizes anew, shares as they were
// found by the last full look.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/file.h"
#include "model/run.h"
#include "source/cgroups.h"
#include "source/process_reader.h"
#include "source/roots.h"
#include "source/target/memory_group.h"

namespace tidemark::source {

struct TreeMember {
  int32_t pid = 0;
  uint64_t rss_bytes = 0;  // 0 when not known
  // It shares pages with a process forked from it, in numbers that change.
  bool shares_by_fork = false;
};

enum class Exposure {
  Full,   // smaps of every process
  Quick,  // a page scan for large processes that were seen in full before
};

class TreeCamera {
 public:
  explicit TreeCamera(const Roots& roots);

  // The members in the order given, so the largest should come first: they are
  // the ones worth catching before they shrink. `group` may be null.
  model::Capture take(const std::vector<TreeMember>& members,
                      const MemoryGroup* group, Exposure exposure);

  // Whether a quick picture would be quicker than a full one.
  bool can_be_quick() const { return has_scan_ && has_large_; }

 private:
  struct Known {
    model::Process process;
    bool is_large = false;
  };
  base::Result<model::Process> read(const TreeMember& member, Exposure exposure,
                                    model::Capture& capture);
  base::Result<model::Process> rescan(const Known& known);
  void remember(const model::Process& process);

  const Roots& roots_;
  CgroupHierarchy no_cgroups_;
  ProcessReader reader_;
  std::map<int32_t, Known> known_;
  bool has_scan_ = true;  // until the kernel says otherwise
  bool has_large_ = false;
};

}  // namespace tidemark::source
