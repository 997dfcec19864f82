#include "analysis/ps_groups.h"

#include <algorithm>

#include "analysis/cgroup_name.h"
#include "analysis/process_tree.h"
#include "base/text.h"

namespace tidemark::analysis {
namespace {

using model::Process;

// Key and name of the flat groupings. Groups of the cgroup and parent
// groupings nest and are made elsewhere.
struct Label {
  std::string key;
  std::string name;
  std::optional<uint64_t> id;
};

Label label_of(const Process& process, GroupBy group_by,
               const std::vector<UserLabel>& users,
               const std::map<int32_t, std::string>& leaders) {
  switch (group_by) {
    case GroupBy::User: {
      const std::optional<uint32_t> uid = process.status.user_id;
      return {uid ? std::to_string(*uid) : "?", user_label(uid, users), uid};
    }
    case GroupBy::Session: {
      const int32_t session = process.stat.session_id;
      auto leader = leaders.find(session);
      std::string name = "session " + std::to_string(session);
      if (leader != leaders.end()) name += " of " + leader->second;
      return {std::to_string(session), name,
              static_cast<uint64_t>(std::max(session, 0))};
    }
    case GroupBy::Container: {
      std::string name = container_name(process.cgroup_path);
      if (name.empty()) name = "in no container";
      return {name, name, std::nullopt};
    }
    default: {
      // Where the link is denied, or was not copied, the name must do.
      std::string name = process.executable
                             ? *process.executable
                             : display_name(process) + " (by name)";
      return {name, name, std::nullopt};
    }
  }
}

PsGroup& child_with_key(PsGroup& parent, const std::string& key) {
  for (const std::unique_ptr<PsGroup>& child : parent.groups) {
    if (child->key == key) return *child;
  }
  parent.groups.push_back(std::make_unique<PsGroup>());
  parent.groups.back()->key = key;
  return *parent.groups.back();
}

class CgroupTree {
 public:
  CgroupTree(PsGroup& root, const model::Sample& sample) : root_(root) {
    for (const model::Cgroup& group : sample.cgroups) {
      ids_.emplace(group.path, group.inode_id);
    }
  }

  PsGroup& at(const std::string& path) {
    auto known = known_.find(path);
    if (known != known_.end()) return *known->second;
    // A path that does not begin with a slash has no group above it.
    const bool is_top = path.size() <= 1 || path[0] != '/';
    PsGroup& parent =
        is_top ? root_
               : at(path.substr(0, std::max<size_t>(path.rfind('/'), 1)));
    PsGroup& group = child_with_key(parent, path);
    group.name = path.empty() ? "in no group" : cgroup_name(path);
    auto id = ids_.find(path);
    if (id != ids_.end()) group.id = id->second;
    known_.emplace(path, &group);
    return group;
  }

 private:
  PsGroup& root_;
  std::map<std::string, uint64_t> ids_;
  std::map<std::string, PsGroup*> known_;
};

void group_by_parent(PsGroup& root, const model::Sample& sample,
                     const std::vector<size_t>& chosen) {
  std::vector<Process> some;
  for (size_t index : chosen) {
    Process process;
    process.id = sample.processes[index].id;
    process.stat.parent_pid = sample.processes[index].stat.parent_pid;
    some.push_back(std::move(process));
  }
  std::vector<PsGroup*> open = {&root};
  for (const TreeEntry& entry : process_tree(some)) {
    open.resize(entry.depth + 1);
    const size_t index = chosen[entry.index];
    PsGroup* home = open.back();
    if (entry.descendant_count > 0) {
      const Process& process = sample.processes[index];
      home->groups.push_back(std::make_unique<PsGroup>());
      home = home->groups.back().get();
      home->id = static_cast<uint64_t>(process.id.pid);
      home->key = std::to_string(process.id.pid);
      home->name = display_name(process) + " and " +
                   std::to_string(entry.descendant_count) + " below";
    }
    home->processes.push_back(index);
    open.push_back(home);
  }
}

// Returns all processes below.
std::vector<size_t> sum_up(PsGroup& group, const model::Sample& sample,
                           const std::vector<Use>& uses) {
  std::vector<size_t> members = group.processes;
  for (const std::unique_ptr<PsGroup>& child : group.groups) {
    const std::vector<size_t> below = sum_up(*child, sample, uses);
    members.insert(members.end(), below.begin(), below.end());
  }
  group.use = sum_of(sample, uses, members);
  group.process_count = members.size();
  return members;
}

// "system.slice/nginx.service" as one row where a group has neither processes
// of its own nor a second sub-group: the step between says nothing.
void join_single_chains(PsGroup& group) {
  for (std::unique_ptr<PsGroup>& child : group.groups) {
    while (child->processes.empty() && child->groups.size() == 1 &&
           !child->is_kernel) {
      std::unique_ptr<PsGroup> only = std::move(child->groups[0]);
      only->joined = std::move(child->joined);
      only->joined.push_back(std::move(child->key));
      only->joined.push_back(std::move(child->name));
      child = std::move(only);
    }
    join_single_chains(*child);
  }
}

uint64_t largest_id(const PsGroup& group) {
  uint64_t largest = group.id;
  for (const std::unique_ptr<PsGroup>& child : group.groups) {
    largest = std::max(largest, largest_id(*child));
  }
  return largest;
}

// Groups the kernel has not numbered follow those it has; the kernel's own
// threads are j:0.
void number_groups(PsGroup& group, uint64_t& next) {
  for (const std::unique_ptr<PsGroup>& child : group.groups) {
    if (child->id == 0 && !child->is_kernel) child->id = next++;
    number_groups(*child, next);
  }
}

}  // namespace

std::string user_label(std::optional<uint32_t> user_id,
                       const std::vector<UserLabel>& users) {
  if (!user_id) return "?";
  auto found = std::ranges::find(users, *user_id, &UserLabel::user_id);
  return found == users.end() ? std::to_string(*user_id) : found->name;
}

std::unique_ptr<PsGroup> group_processes(const model::Sample& sample,
                                         const std::vector<size_t>& chosen,
                                         const std::vector<Use>& uses,
                                         GroupBy group_by,
                                         const std::vector<UserLabel>& users) {
  auto root = std::make_unique<PsGroup>();
  std::vector<size_t> ordinary;
  for (size_t index : chosen) {
    if (!sample.processes[index].stat.is_kernel_thread) {
      ordinary.push_back(index);
      continue;
    }
    PsGroup& kernel = child_with_key(*root, "kernel threads");
    kernel.name = "kernel threads";
    kernel.is_kernel = true;
    kernel.processes.push_back(index);
  }
  if (group_by == GroupBy::Parent) {
    group_by_parent(*root, sample, ordinary);
  } else if (group_by == GroupBy::Cgroup) {
    CgroupTree tree(*root, sample);
    for (size_t index : ordinary) {
      tree.at(sample.processes[index].cgroup_path).processes.push_back(index);
    }
  } else {
    std::map<int32_t, std::string> leaders;
    for (const Process& process : sample.processes) {
      if (process.id.pid == process.stat.session_id) {
        leaders.emplace(process.id.pid, display_name(process));
      }
    }
    for (size_t index : ordinary) {
      const Label label =
          label_of(sample.processes[index], group_by, users, leaders);
      PsGroup& group = child_with_key(*root, label.key);
      group.name = label.name;
      if (label.id) group.id = *label.id;
      group.processes.push_back(index);
    }
  }
  if (group_by == GroupBy::Cgroup) join_single_chains(*root);
  sum_up(*root, sample, uses);
  uint64_t next_ordinal = largest_id(*root) + 1;
  number_groups(*root, next_ordinal);
  return root;
}

const PsGroup* find_group(const PsGroup& root, const std::string& job) {
  std::string_view id = job;
  if (id.starts_with("j:")) id.remove_prefix(2);
  const std::optional<uint64_t> number = base::parse_u64(id);
  for (const std::unique_ptr<PsGroup>& child : root.groups) {
    if (child->key == job || child->name == job ||
        std::ranges::find(child->joined, job) != child->joined.end() ||
        (number && child->id == *number)) {
      return child.get();
    }
    if (const PsGroup* found = find_group(*child, job)) return found;
  }
  return nullptr;
}

}  // namespace tidemark::analysis
