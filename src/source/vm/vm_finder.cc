#include "source/vm/vm_finder.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "parse/object_files.h"
#include "parse/process_files.h"
#include "source/descriptor_links.h"
#include "source/process_parts.h"
#include "source/process_reader.h"
#include "source/vm/vm_descriptors.h"

namespace tidemark::source {
namespace {

using model::VmKind;

struct VmCandidate {
  model::ProcessStat stat;
  VmKind kind = VmKind::Other;
  bool holds_kvm = false;
  parse::VmArguments arguments;

  bool is_vm() const {
    return holds_kvm || (kind != VmKind::Other && arguments.starts_vm);
  }
};

// The file that runs is surest. What a process calls itself must do where that
// may not be read; comm has 15 characters, enough for all we look for.
VmKind kind_of_process(const base::Directory& process,
                       std::string_view command_line, std::string_view comm) {
  constexpr std::string_view kDeleted = " (deleted)";
  const base::Result<std::string> link = base::read_link_at(process, "exe");
  if (link) {
    std::string_view program = *link;
    if (program.ends_with(kDeleted)) program.remove_suffix(kDeleted.size());
    return model::vm_kind_of_program(base::base_name(program));
  }
  const VmKind kind = model::vm_kind_of_program(
      base::base_name(base::take_until(command_line, '\0')));
  return kind != VmKind::Other ? kind : model::vm_kind_of_program(comm);
}

// False when they may not be listed.
bool look_for_kvm(const base::Directory& process, VmCandidate& candidate) {
  const base::Result<std::vector<NumberedDescriptor>> descriptors =
      list_descriptors(process, /*follow_paths=*/false);
  if (!descriptors) {
    return descriptors.error().kind != base::ErrorKind::Denied;
  }
  candidate.holds_kvm =
      std::ranges::any_of(*descriptors, [](const NumberedDescriptor& entry) {
        const parse::DescriptorLink link =
            parse::parse_descriptor_link(entry.found.link);
        return link.type == parse::DescriptorLink::Type::AnonInode &&
               link.name == "kvm-vm";
      });
  return true;
}

class VmCandidates {
 public:
  explicit VmCandidates(const Roots& roots) : roots_(roots) {}

  void look_at(int32_t pid, model::ProcessStat stat) {
    base::Result<base::Directory> process =
        base::open_directory_at(roots_.proc, std::to_string(pid));
    if (!process) return;
    VmCandidate candidate;
    std::string_view command_line;
    if (base::read_file_at(*process, "cmdline", buffer_)) {
      command_line = parse::parse_command_line(buffer_);
    }
    candidate.kind = kind_of_process(*process, command_line, stat.comm);
    candidate.arguments =
        parse::parse_vm_arguments(candidate.kind, command_line);
    const bool is_seen = look_for_kvm(*process, candidate);
    if (!is_seen && candidate.kind == VmKind::Other) ++unseen_count_;
    children_[stat.parent_pid].push_back(pid);
    candidate.stat = std::move(stat);
    candidates_.emplace(pid, std::move(candidate));
  }

  VmSearch result() && {
    VmSearch search;
    search.unseen_count = unseen_count_;
    for (auto& [pid, candidate] : candidates_) {
      if (!candidate.is_vm() || has_vm_above(candidate)) continue;
      search.vms.push_back({{pid, candidate.stat.start_ticks},
                            candidate.kind,
                            candidate.holds_kvm,
                            candidate.arguments,
                            descendants_of(pid)});
    }
    std::vector<int32_t> inside;
    for (const FoundVm& vm : search.vms) {
      inside.push_back(vm.id.pid);
      inside.insert(inside.end(), vm.descendant_pids.begin(),
                    vm.descendant_pids.end());
    }
    std::ranges::sort(inside);
    for (const auto& [pid, candidate] : candidates_) {
      if (!std::ranges::binary_search(inside, pid)) {
        search.other_pids.push_back(pid);
      }
    }
    return search;
  }

 private:
  // A copied tree can hold a ring of parents, hence the bound.
  bool has_vm_above(const VmCandidate& candidate) const {
    auto above = candidates_.find(candidate.stat.parent_pid);
    for (size_t step = 0; step < candidates_.size(); ++step) {
      if (above == candidates_.end()) return false;
      if (above->second.is_vm()) return true;
      above = candidates_.find(above->second.stat.parent_pid);
    }
    return false;
  }

  std::vector<int32_t> descendants_of(int32_t pid) const {
    std::vector<int32_t> found = {pid};
    for (size_t i = 0; i < found.size(); ++i) {
      const auto children = children_.find(found[i]);
      if (children == children_.end()) continue;
      for (int32_t child : children->second) {
        if (std::ranges::find(found, child) == found.end()) {
          found.push_back(child);
        }
      }
    }
    found.erase(found.begin());
    return found;
  }

  const Roots& roots_;
  std::map<int32_t, VmCandidate> candidates_;
  std::map<int32_t, std::vector<int32_t>> children_;
  uint64_t unseen_count_ = 0;
  std::string buffer_;
};

}  // namespace

base::Result<VmSearch> find_vms(const Roots& roots) {
  CgroupHierarchy no_cgroups;
  ProcessReader reader(roots, no_cgroups, {});
  base::Result<std::vector<int32_t>> pids = reader.list_pids();
  if (!pids) return pids.error();
  VmCandidates search(roots);
  for (int32_t pid : *pids) {
    base::Result<model::ProcessStat> stat = reader.read_stat(pid);
    if (!stat || stat->is_kernel_thread || has_no_memory(*stat)) continue;
    search.look_at(pid, std::move(*stat));
  }
  return std::move(search).result();
}

}  // namespace tidemark::source
