#include "source/vm/vm_finder.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
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

constexpr uint64_t kRoundNs = 10 * base::kNsPerSecond;
constexpr uint64_t kYoungNs = 5 * base::kNsPerSecond;

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

// Denied when they may not be listed.
base::Result<bool> holds_kvm_descriptor(const base::Directory& process) {
  const base::Result<std::vector<NumberedDescriptor>> descriptors =
      list_descriptors(process, /*follow_paths=*/false);
  if (!descriptors) return descriptors.error();
  return std::ranges::any_of(*descriptors, [](const NumberedDescriptor& entry) {
    const parse::DescriptorLink link =
        parse::parse_descriptor_link(entry.found.link);
    return link.type == parse::DescriptorLink::Type::AnonInode &&
           link.name == "kvm-vm";
  });
}

}  // namespace

VmFinder::VmFinder(const Roots& roots)
    : roots_(roots), reader_(roots_, no_cgroups_, {}) {}

void VmFinder::look_at(int32_t pid, Candidate& candidate) {
  base::Result<model::ProcessStat> stat = reader_.read_stat(pid);
  candidate.has_memory =
      stat && !stat->is_kernel_thread && !has_no_memory(*stat);
  if (!candidate.has_memory) return;
  base::Result<base::Directory> process =
      base::open_directory_at(roots_.proc, std::to_string(pid));
  candidate.has_memory = static_cast<bool>(process);
  if (!process) return;
  std::string_view command_line;
  if (base::read_file_at(*process, "cmdline", buffer_)) {
    command_line = parse::parse_command_line(buffer_);
  }
  candidate.kind = kind_of_process(*process, command_line, stat->comm);
  candidate.arguments = parse::parse_vm_arguments(candidate.kind, command_line);
  const base::Result<bool> holds = holds_kvm_descriptor(*process);
  candidate.holds_kvm = holds && *holds;
  const bool is_denied =
      !holds && holds.error().kind == base::ErrorKind::Denied;
  candidate.is_seen = !is_denied || candidate.kind != VmKind::Other;
  candidate.stat = std::move(*stat);
}

// A copied tree can hold a ring of parents, hence the bound.
bool VmFinder::has_vm_above(const Candidate& candidate) const {
  auto above = candidates_.find(candidate.stat.parent_pid);
  for (size_t step = 0; step < candidates_.size(); ++step) {
    if (above == candidates_.end() || !above->second.has_memory) return false;
    if (above->second.is_vm()) return true;
    above = candidates_.find(above->second.stat.parent_pid);
  }
  return false;
}

std::vector<int32_t> VmFinder::descendants_of(
    int32_t pid,
    const std::map<int32_t, std::vector<int32_t>>& children) const {
  std::vector<int32_t> found = {pid};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto below = children.find(found[i]);
    if (below == children.end()) continue;
    for (int32_t child : below->second) {
      if (std::ranges::find(found, child) == found.end()) {
        found.push_back(child);
      }
    }
  }
  found.erase(found.begin());
  return found;
}

VmSearch VmFinder::result(uint64_t now_ns) const {
  VmSearch search;
  std::map<int32_t, std::vector<int32_t>> children;
  for (const auto& [pid, candidate] : candidates_) {
    if (!candidate.has_memory) continue;
    children[candidate.stat.parent_pid].push_back(pid);
    search.unseen_count += candidate.is_seen ? 0 : 1;
  }
  std::vector<int32_t> inside;
  for (const auto& [pid, candidate] : candidates_) {
    const bool is_one =
        candidate.has_memory && candidate.is_vm() && !has_vm_above(candidate);
    if (!is_one) continue;
    search.vms.push_back({{pid, candidate.stat.start_ticks},
                          candidate.kind,
                          candidate.holds_kvm,
                          candidate.stat.comm,
                          candidate.arguments,
                          descendants_of(pid, children)});
    const FoundVm& vm = search.vms.back();
    inside.push_back(pid);
    inside.insert(inside.end(), vm.descendant_pids.begin(),
                  vm.descendant_pids.end());
  }
  std::ranges::sort(inside);
  for (const auto& [pid, candidate] : candidates_) {
    const bool is_other =
        candidate.has_memory && !std::ranges::binary_search(inside, pid);
    if (!is_other) continue;
    search.other_pids.push_back(pid);
    if (candidate.looked_ns == now_ns) search.fresh_other_pids.push_back(pid);
  }
  return search;
}

base::Result<VmSearch> VmFinder::find(uint64_t now_ns) {
  base::Result<std::vector<int32_t>> pids = reader_.list_pids();
  if (!pids) return pids.error();
  const bool is_round = !has_round_ || now_ns - round_ns_ >= kRoundNs;
  if (is_round) {
    round_ns_ = now_ns;
    has_round_ = true;
  }
  std::erase_if(candidates_, [&](const auto& entry) {
    return !std::ranges::binary_search(*pids, entry.first);
  });
  for (int32_t pid : *pids) {
    auto [at, is_new] = candidates_.try_emplace(pid);
    Candidate& candidate = at->second;
    if (is_new) candidate.first_ns = now_ns;
    const bool is_young = now_ns - candidate.first_ns < kYoungNs;
    if (!is_round && !is_new && !is_young) continue;
    candidate.looked_ns = now_ns;
    look_at(pid, candidate);
  }
  VmSearch search = result(now_ns);
  search.is_round = is_round;
  return search;
}

base::Result<VmSearch> find_vms(const Roots& roots) {
  return VmFinder(roots).find(base::monotonic_ns());
}

}  // namespace tidemark::source
