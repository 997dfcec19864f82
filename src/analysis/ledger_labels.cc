#include "analysis/ledger_labels.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace tidemark::analysis {

std::string process_label(const LedgerProcess& process) {
  return process.name + " (" + std::to_string(process.pid) + ")";
}

std::string process_label(const std::vector<LedgerProcess>& processes,
                          uint64_t pid) {
  const auto found = std::ranges::find(processes, static_cast<int32_t>(pid),
                                       &LedgerProcess::pid);
  if (found != processes.end()) return process_label(*found);
  return "(" + std::to_string(pid) + ", ended)";
}

std::string set_label(const PageSets& sets, SetId set,
                      const std::vector<LedgerProcess>& processes) {
  const std::vector<SetMember> members = sets.members(set);
  const auto one = [&](const SetMember& member) {
    return process_label(processes[member.process]);
  };
  if (members.size() == 1) return one(members[0]);
  std::map<std::string, size_t> names;
  for (const SetMember& member : members)
    ++names[processes[member.process].name];
  if (names.size() == 1) {
    return names.begin()->first + " × " + std::to_string(members.size());
  }
  constexpr size_t kFew = 3;
  if (members.size() <= kFew) {
    std::string label = one(members[0]);
    for (size_t i = 1; i < members.size(); ++i)
      label += " + " + one(members[i]);
    return label;
  }
  return std::to_string(members.size()) + " processes, first " +
         one(members[0]);
}

std::string group_label(const LedgerInput& input, uint64_t group) {
  if (group == 0) return "(charged to no group)";
  const auto found = input.groups.find(group);
  if (found != input.groups.end()) return found->second;
  return "(group " + std::to_string(group) + ", removed)";
}

}  // namespace tidemark::analysis
