// Where a control group of our own may be made, making it, and undoing all of
// it. Plain paths and free functions, because the guardian, a process that only
// waits for our death, undoes the same things with nothing but these paths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "source/cgroups.h"
#include "source/roots.h"

namespace tidemark::source {

struct GroupPlace {
  model::CgroupVersion version = model::CgroupVersion::None;
  std::string directory;   // the group to be made
  std::string home_procs;  // cgroup.procs we came from; members go back there
  // v2 lets a group either hold processes or hand controllers down. Where we
  // had to switch memory on for children of this group, it is switched off
  // again.
  std::string enabled_in;
  // And where that meant to move out ourselves, with our guardian, this is
  // where to.
  std::string tool_directory;
  bool operator==(const GroupPlace&) const = default;
};

// A place whose group will have the memory controller: v1 below our own group;
// v2 at the nearest group above us that hands memory down, else in a delegated
// group that we have for ourselves, else at the root of the hierarchy.
base::Result<GroupPlace> plan_memory_group(const Roots& roots,
                                           const CgroupHierarchy& hierarchy);

// A place where all members can be frozen at once: v2 first, since its frozen
// tasks can still be killed, then v1's freezer.
base::Result<GroupPlace> plan_freezer_group(const Roots& roots);

// `ours` are the processes of ours that stand where the group is made, and move
// aside where they must. A failure leaves nothing behind.
base::Status make_group(const GroupPlace& place,
                        const std::vector<int32_t>& ours);

base::Status add_to_group(const GroupPlace& place, int32_t pid);

// Pids in the group and in groups its members made below it.
std::vector<int32_t> group_members(const GroupPlace& place);

base::Status set_frozen(const GroupPlace& place, bool frozen);
bool is_frozen(const GroupPlace& place);

// Thaws, sends members home and removes the group with all below it. Ending
// tasks hold a group for a moment, so it tries for up to a second. Harmless
// when there is nothing to undo.
base::Status undo_group(const GroupPlace& place);

}  // namespace tidemark::source
