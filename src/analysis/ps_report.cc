#include "analysis/ps_report.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "analysis/ps_groups.h"
#include "base/escape.h"

namespace tidemark::analysis {
namespace {

using model::Process;
using model::ProcessState;

// A row under this share of its group folds into "N smaller".
constexpr uint64_t kFoldPercent = 1;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return result;
}

uint64_t sort_value(const Use& use, SortBy by) {
  switch (by) {
    case SortBy::Private:
      return use.uss.bytes;
    case SortBy::Shared:
      return use.shared.bytes;
    case SortBy::Swap:
      return use.swap_pss.bytes;
    case SortBy::Kernel:
      return use.kernel.bytes;
    case SortBy::Rss:
      return use.rss.bytes;
    default:
      return use.in_ram().bytes;
  }
}

class Builder {
 public:
  Builder(const model::Sample& sample, const PsOptions& options,
          const std::vector<UserLabel>& users)
      : sample_(sample), options_(options), users_(users) {
    KernelCosts costs;
    if (sample.machine) costs.page_size_bytes = sample.machine->page_size_bytes;
    uses_ = uses_of(sample, costs);
    for (const model::Cgroup& group : sample.cgroups) {
      cgroups_.emplace(group.path, &group);
    }
  }

  base::Result<PsReport> build() {
    const std::unique_ptr<PsGroup> root =
        group_processes(sample_, choose(), uses_, options_.group_by, users_);
    const PsGroup* shown = root.get();
    if (!options_.job.empty()) {
      shown = find_group(*root, options_.job);
      if (!shown) {
        return base::fail(
            base::ErrorKind::Misused,
            "no group is called '" + base::visible(options_.job) + "'",
            "`tidemark ps -J` lists them with their ids");
      }
      add_group(*shown, 0);
    } else {
      add_members(*root, 0);
    }
    report_.is_exact = sample_.sharing.has_value();
    report_.realtime_ns = sample_.started_realtime_ns;
    report_.read_ns = sample_.ended_monotonic_ns - sample_.started_monotonic_ns;
    report_.group_by = options_.group_by;
    report_.sort_by = options_.sort_by;
    report_.total = shown->use;
    count_states(*shown);
    if (sample_.machine) add_machine();
    return std::move(report_);
  }

 private:
  using Member = std::variant<const PsGroup*, size_t>;

  std::vector<size_t> choose() const {
    const std::string wanted = lower(options_.filter);
    std::vector<size_t> chosen;
    for (size_t i = 0; i < sample_.processes.size(); ++i) {
      const Process& process = sample_.processes[i];
      // The filter stands in our own command line.
      if (wanted.empty() ||
          (process.id.pid != options_.own_pid && matches(process, wanted))) {
        chosen.push_back(i);
      }
    }
    return chosen;
  }

  bool matches(const Process& process, const std::string& wanted) const {
    for (const std::string& text :
         {display_name(process), process.stat.comm, command_text(process),
          process.cgroup_path, user_label(process.status.user_id, users_)}) {
      if (lower(text).find(wanted) != std::string::npos) return true;
    }
    return false;
  }

  const Use& use_of_member(const Member& member) const {
    if (const size_t* index = std::get_if<size_t>(&member)) {
      return uses_[*index];
    }
    return std::get<const PsGroup*>(member)->use;
  }

  uint64_t id_of(const Member& member) const {
    if (const size_t* index = std::get_if<size_t>(&member)) {
      return static_cast<uint64_t>(sample_.processes[*index].id.pid);
    }
    return std::get<const PsGroup*>(member)->id;
  }

  std::string name_of(const Member& member) const {
    if (const size_t* index = std::get_if<size_t>(&member)) {
      return display_name(sample_.processes[*index]);
    }
    return std::get<const PsGroup*>(member)->name;
  }

  // Largest first, names and pids ascending; the id breaks ties so that two
  // runs print the same order.
  bool comes_before(const Member& a, const Member& b) const {
    if (options_.sort_by == SortBy::Name) {
      const int order = name_of(a).compare(name_of(b));
      if (order != 0) return order < 0;
    } else if (options_.sort_by != SortBy::Pid) {
      const uint64_t left = sort_value(use_of_member(a), options_.sort_by);
      const uint64_t right = sort_value(use_of_member(b), options_.sort_by);
      if (left != right) return left > right;
      // Then by what it holds, and where that is unknown by RSS.
      const auto weight = [&](const Member& member) {
        const Use& use = use_of_member(member);
        return std::pair(use.in_ram().bytes, use.rss.bytes);
      };
      if (weight(a) != weight(b)) return weight(a) > weight(b);
    }
    return id_of(a) < id_of(b);
  }

  std::vector<Member> sorted_members(const PsGroup& group) const {
    std::vector<Member> members;
    for (const std::unique_ptr<PsGroup>& child : group.groups) {
      if (!child->is_kernel) members.emplace_back(child.get());
    }
    for (size_t index : group.processes)
      members.emplace_back(index);
    std::ranges::sort(members, [&](const Member& a, const Member& b) {
      return comes_before(a, b);
    });
    // The kernel's own threads have no user memory: always last.
    for (const std::unique_ptr<PsGroup>& child : group.groups) {
      if (child->is_kernel) members.emplace_back(child.get());
    }
    return members;
  }

  // Unknown is never small: a denied process stays in sight, and so does a
  // group that has one.
  bool is_small(const Use& use, const PsGroup& group, size_t rank) const {
    if (!options_.fold || use.pss.has_unknown) return false;
    if (options_.top && rank >= *options_.top) return true;
    const uint64_t whole = group.use.in_ram().bytes;
    return use.in_ram().bytes * 100 < whole * kFoldPercent;
  }

  void add_members(const PsGroup& group, uint32_t depth) {
    std::vector<Member> small;
    size_t rank = 0;
    for (const Member& member : sorted_members(group)) {
      const bool is_kernel = std::holds_alternative<const PsGroup*>(member) &&
                             std::get<const PsGroup*>(member)->is_kernel;
      if (!is_kernel && is_small(use_of_member(member), group, rank++)) {
        small.push_back(member);
      } else {
        if (is_kernel) add_folded(std::exchange(small, {}), depth);
        add_member(member, depth);
      }
    }
    add_folded(small, depth);
  }

  void add_member(const Member& member, uint32_t depth) {
    if (const size_t* index = std::get_if<size_t>(&member)) {
      add_process(*index, depth);
    } else {
      add_group(*std::get<const PsGroup*>(member), depth);
    }
  }

  // One small row alone is printed as it is: a fold would save nothing.
  void add_folded(const std::vector<Member>& small, uint32_t depth) {
    if (small.size() == 1) return add_member(small[0], depth);
    if (small.empty()) return;
    PsRow row;
    row.kind = RowKind::Folded;
    row.depth = depth;
    for (const Member& member : small) {
      row.use.add(use_of_member(member));
      const auto* group = std::get_if<const PsGroup*>(&member);
      row.process_count += group ? (*group)->process_count : 1;
    }
    row.name = std::to_string(small.size()) + " smaller";
    report_.rows.push_back(std::move(row));
  }

  void add_group(const PsGroup& group, uint32_t depth) {
    PsRow row;
    row.kind = RowKind::Group;
    row.depth = depth;
    row.id = group.id;
    row.name = group.name;
    row.key = group.key;
    row.use = group.use;
    row.process_count = group.process_count;
    if (group.is_kernel) {
      row.name = std::to_string(group.process_count) + " kernel thread" +
                 (group.process_count == 1 ? "" : "s");
    }
    auto account = cgroups_.find(group.key);
    if (options_.group_by == GroupBy::Cgroup && account != cgroups_.end()) {
      row.charged_bytes = account->second->charged_bytes;
      row.peak_bytes = account->second->peak_bytes;
      row.limit_bytes = account->second->limit_bytes;
      row.charges_hugetlb =
          sample_.machine && sample_.machine->cgroup_charges_hugetlb;
    }
    report_.rows.push_back(std::move(row));
    if (!group.is_kernel || !options_.fold) add_members(group, depth + 1);
  }

  void add_process(size_t index, uint32_t depth) {
    const Process& process = sample_.processes[index];
    PsRow row;
    row.depth = depth;
    row.id = static_cast<uint64_t>(process.id.pid);
    row.process = process.id;
    row.name = display_name(process);
    row.use = uses_[index];
    row.parent_pid = process.stat.parent_pid;
    row.run_state = process.stat.state;
    row.state = process.state;
    if (options_.with_texts) add_texts(process, row);
    report_.rows.push_back(std::move(row));
    if (!options_.with_threads || !process.threads) return;
    for (const model::Thread& thread : *process.threads) {
      add_thread(thread, depth + 1);
    }
  }

  void add_texts(const Process& process, PsRow& row) const {
    row.comm = process.stat.comm;
    row.command = command_text(process);
    if (process.status.user_id) {
      row.user = user_label(process.status.user_id, users_);
    }
    row.cgroup_path = process.cgroup_path;
    row.descriptors = process.descriptors.value;
    row.unknown = unknowns_of(process, row.use);
    if (row.user.empty()) {
      row.unknown.emplace_back("user", process.stat.is_kernel_thread
                                           ? "not read of kernel threads"
                                           : "no Uid in status");
    }
    if (!process.descriptors.value &&
        !process.descriptors.unknown_because.empty()) {
      row.unknown.emplace_back("descriptors",
                               process.descriptors.unknown_because);
    }
  }

  void add_thread(const model::Thread& thread, uint32_t depth) {
    PsRow row;
    row.kind = RowKind::Thread;
    row.depth = depth;
    row.id = static_cast<uint64_t>(thread.thread_id);
    row.name = thread.comm;
    row.run_state = thread.state;
    row.use.kernel = model::amount_of(KernelCosts().stack_bytes);
    report_.rows.push_back(std::move(row));
  }

  void count_states(const PsGroup& group) {
    for (const std::unique_ptr<PsGroup>& child : group.groups) {
      count_states(*child);
    }
    for (size_t index : group.processes) {
      const Process& process = sample_.processes[index];
      if (process.state == ProcessState::KernelThread) {
        ++report_.kernel_thread_count;
        continue;
      }
      ++report_.process_count;
      if (process.rollup || process.state == ProcessState::Zombie) continue;
      report_.denied.push_back("p:" + std::to_string(process.id.pid) + " " +
                               display_name(process));
      if (report_.denied_because.empty()) {
        report_.denied_because = process.rollup.unknown_because;
      }
      if (process.state == ProcessState::Denied) {
        report_.denied_hint = denied_hint(sample_);
      }
    }
  }

  void add_machine() {
    report_.cgroup_version = sample_.machine->cgroup_version;
    report_.cgroup_note = sample_.machine->cgroup_note;
    if (options_.filter.empty() && options_.job.empty()) {
      report_.account = make_machine_account(*sample_.machine, report_.total);
    }
  }

  const model::Sample& sample_;
  const PsOptions& options_;
  const std::vector<UserLabel>& users_;
  std::vector<Use> uses_;
  std::map<std::string, const model::Cgroup*> cgroups_;
  PsReport report_;
};

}  // namespace

std::optional<uint64_t> PsRow::descriptor_total() const {
  if (!descriptors) return std::nullopt;
  uint64_t total = 0;
  for (const model::DescriptorCount& some : *descriptors) {
    total += some.count;
  }
  return total;
}

std::optional<int64_t> PsRow::unseen_bytes() const {
  if (!charged_bytes || !*charged_bytes || use.pss.has_unknown) {
    return std::nullopt;
  }
  const model::Amount seen = charges_hugetlb ? use.in_ram() : use.pss;
  return static_cast<int64_t>(**charged_bytes) -
         static_cast<int64_t>(seen.bytes);
}

base::Result<PsReport> make_ps_report(const model::Sample& sample,
                                      const PsOptions& options,
                                      const std::vector<UserLabel>& users) {
  return Builder(sample, options, users).build();
}

}  // namespace tidemark::analysis
