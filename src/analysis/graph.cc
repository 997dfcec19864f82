#include "analysis/graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/cgroup_name.h"
#include "analysis/process_use.h"
#include "base/arithmetic.h"
#include "base/units.h"

namespace tidemark::analysis {
namespace {

using model::ProcessState;
using model::SmapsField;

// The group above; the root is above all, also of paths that are none.
std::string parent_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return "/";
  return path.substr(0, slash);
}

class Builder {
 public:
  explicit Builder(const GraphInput& input)
      : input_(input), sample_(input.sample) {}

  base::Result<Graph> build();

 private:
  uint64_t next_koid() { return ++last_koid_; }
  void make_jobs();
  void make_job(const std::string& path);
  void make_processes();
  void set_memory(GraphProcess& to, size_t index, const Use& use) const;
  void set_details(GraphProcess& to, const model::Process& process);
  void make_objects();
  void find_unread();
  void close();

  const GraphInput& input_;
  const model::Sample& sample_;
  Graph graph_;
  uint64_t last_koid_ = 0;
  std::map<std::string, uint64_t> job_koids_;
};

void Builder::make_job(const std::string& path) {
  GraphJob job;
  job.path = path;
  job.name = path == "/" ? "root" : cgroup_name(path);
  job.koid = next_koid();
  if (path != "/") job.parent_koid = job_koids_.at(parent_path(path));
  for (const model::Cgroup& group : sample_.cgroups) {
    if (group.path != path) continue;
    job.charged_bytes = group.charged_bytes.value;
    job.peak_bytes = group.peak_bytes.value;
  }
  job_koids_[path] = job.koid;
  graph_.jobs.push_back(std::move(job));
}

void Builder::make_jobs() {
  // Every path above another is a prefix of it and sorts before it.
  std::map<std::string, bool> paths;
  for (const model::Process& process : sample_.processes) {
    std::string path = process.cgroup_path;
    while (path.size() > 1 && paths.try_emplace(path).second)
      path = parent_path(path);
  }
  make_job("/");
  for (const auto& [path, unused] : paths) {
    if (path != "/") make_job(path);
  }
}

void Builder::set_memory(GraphProcess& to, size_t index, const Use& use) const {
  const model::Process& process = sample_.processes[index];
  uint64_t own_huge = 0;
  uint64_t shared_huge = 0;
  if (process.rollup) {
    own_huge = process.rollup->get_or_zero(SmapsField::PrivateHugetlb);
    shared_huge = process.rollup->get_or_zero(SmapsField::SharedHugetlb);
  }
  to.private_bytes = base::saturating_sum(use.uss.bytes, own_huge);
  to.shared_bytes = base::saturating_sum(use.shared.bytes, shared_huge);
  // What only it maps is part of its share. The kernel's own sums keep that;
  // a hand-made tree need not.
  to.pss_bytes =
      std::max(base::saturating_sum(use.pss.bytes, own_huge), to.private_bytes);
  to.rss_bytes = use.rss.known_bytes();
  to.swap_pss_bytes = use.swap_pss.known_bytes();
  to.is_exact = sample_.sharing && !sample_.sharing->is_unknown[index];
  const std::string because = process.rollup.unknown_because.empty()
                                  ? "not reported by this kernel"
                                  : process.rollup.unknown_because;
  const auto note = [&](const char* name, const model::Amount& amount) {
    if (amount.is_unknown()) to.unknown.emplace_back(name, because);
  };
  note("private_bytes", use.uss);
  note("shared_bytes", use.shared);
  note("pss_bytes", use.pss);
}

void Builder::set_details(GraphProcess& to, const model::Process& process) {
  if (process.threads && input_.with_threads) {
    for (const model::Thread& thread : *process.threads)
      to.threads.push_back({next_koid(), thread});
  } else if (input_.with_threads && !process.threads.unknown_because.empty()) {
    to.unknown.emplace_back("threads", process.threads.unknown_because);
  }
  if (process.descriptors) {
    to.descriptors = *process.descriptors;
  } else if (!process.descriptors.unknown_because.empty()) {
    to.unknown.emplace_back("handle_stats",
                            process.descriptors.unknown_because);
  }
  if (input_.with_objects && !process.mappings &&
      !process.mappings.unknown_because.empty()) {
    to.unknown.emplace_back("vmos", process.mappings.unknown_because);
  }
}

void Builder::make_processes() {
  KernelCosts costs;
  if (sample_.machine) costs.page_size_bytes = sample_.machine->page_size_bytes;
  const std::vector<Use> uses = uses_of(sample_, costs);
  GraphObjects found =
      find_objects(sample_, input_.objects ? &*input_.objects : nullptr);
  graph_.objects = std::move(found.objects);
  for (size_t i = 0; i < sample_.processes.size(); ++i) {
    const model::Process& process = sample_.processes[i];
    if (process.state == ProcessState::KernelThread) {
      ++graph_.kernel_thread_count;
      continue;
    }
    GraphProcess& to = graph_.processes.emplace_back();
    to.koid = next_koid();
    const bool has_group = job_koids_.contains(process.cgroup_path);
    to.job_koid = job_koids_.at(has_group ? process.cgroup_path : "/");
    to.name = display_name(process);
    to.command = command_text(process);
    to.cgroup_path = process.cgroup_path;
    to.id = process.id;
    to.comm = process.stat.comm;
    to.state = process.state;
    set_memory(to, i, uses[i]);
    set_details(to, process);
    to.references = std::move(found.references[i]);
    if (process.state == ProcessState::Denied) ++graph_.unknown_process_count;
    if (process.state == ProcessState::Failed) ++graph_.failed_process_count;
  }
  std::ranges::stable_sort(
      graph_.processes, {},
      [](const GraphProcess& process) { return process.id.pid; });
}

void Builder::make_objects() {
  for (GraphObject& object : graph_.objects)
    object.koid = next_koid();
  for (GraphObject& object : graph_.objects) {
    if (object.parent_koid != 0) {
      object.parent_koid = graph_.objects[object.parent_koid - 1].koid;
    }
  }
}

// Of a process that was read; pages it wrote in private mappings of files are
// anonymous too. Where shares of them are not told each is counted for all who
// have it, but for no more than the process's share of everything.
uint64_t anonymous_share(const model::Process& process) {
  if (!process.rollup) return 0;
  const model::SmapsFields& totals = *process.rollup;
  if (totals.has(SmapsField::PssAnon)) {
    return totals.get_or_zero(SmapsField::PssAnon);
  }
  return std::min(totals.get_or_zero(SmapsField::Anonymous),
                  totals.get_or_zero(SmapsField::Pss));
}

// The most that those who could not be read can have of it: statm of anybody is
// for all to read, and counts what they share for each. Empty where it is not
// there either.
std::optional<uint64_t> most_unread(const model::Sample& sample) {
  const uint64_t page_bytes =
      sample.machine ? sample.machine->page_size_bytes : 0;
  uint64_t pages = 0;
  for (const model::Process& process : sample.processes) {
    if (process.state != ProcessState::Denied &&
        process.state != ProcessState::Failed) {
      continue;
    }
    if (!process.statm || page_bytes == 0) return std::nullopt;
    const model::Statm& statm = *process.statm;
    pages += statm.resident_pages -
             std::min(statm.resident_pages, statm.shared_pages);
  }
  return pages * page_bytes;
}

// Anonymous memory is always some process's: what those that were read do not
// have is of those that were not, as far as they can have it; the rest came
// between two readings. Where that is more than could have come, there are
// processes that are not even listed. Nobody may take it for page cache.
void Builder::find_unread() {
  constexpr uint64_t kMeanwhileBytes = 32U << 20;
  constexpr uint64_t kMeanwhileShare = 16;
  uint64_t read = 0;
  for (const model::Process& process : sample_.processes)
    read = base::saturating_sum(read, anonymous_share(process));
  const uint64_t all = graph_.kernel.anon_bytes;
  const uint64_t left = all - std::min(all, read);
  const uint64_t listed = most_unread(sample_).value_or(left);
  const uint64_t meanwhile = std::max(all / kMeanwhileShare, kMeanwhileBytes);
  if (left > base::saturating_sum(listed, meanwhile)) {
    graph_.unread_bytes = left;
    graph_.notes.push_back(
        base::long_size(left) +
        " of anonymous memory are in no process that was read: others are not "
        "listed here, as outside a container");
  } else if (graph_.unknown_process_count + graph_.failed_process_count > 0) {
    graph_.unread_bytes = std::min(left, listed);
  }
}

// The processes must fit into the part of RAM that they are shown in, counted
// by process as well as by object.
void Builder::close() {
  uint64_t by_process = 0;
  for (const GraphProcess& process : graph_.processes)
    by_process = base::saturating_sum(by_process, process.pss_bytes);
  uint64_t by_object = 0;
  for (const GraphObject& object : graph_.objects)
    by_object = base::saturating_sum(by_object, object.committed_bytes);
  const uint64_t total = graph_.kernel.total_bytes;
  const uint64_t free = graph_.kernel.free_bytes;
  const uint64_t moved =
      make_room(graph_.kernel, std::max(by_process, by_object));
  if (moved == 0) return;
  std::string note = "processes had " + std::to_string(moved) +
                     " bytes more than the kernel counted for programs and "
                     "files, since they were read at another moment; taken "
                     "from kernel/other";
  if (graph_.kernel.free_bytes < free) note += " and kernel/free";
  if (graph_.kernel.total_bytes > total) {
    note += ", and that is not enough: kernel/physmem is more than there is";
  }
  graph_.notes.push_back(std::move(note));
}

base::Result<Graph> Builder::build() {
  graph_.realtime_ns = sample_.started_realtime_ns;
  graph_.read_ns = sample_.ended_monotonic_ns - sample_.started_monotonic_ns;
  graph_.notes = input_.notes;
  graph_.reader_is_root = sample_.reader_is_root;
  if (input_.ledger) {
    graph_.is_of_ledger = true;
    graph_.kernel = shares_of_ledger(*input_.ledger, input_.slab);
  } else if (sample_.machine) {
    base::Result<KernelShares> shares =
        shares_of_counters(*sample_.machine, input_.slab);
    if (!shares) return shares.error();
    graph_.kernel = std::move(*shares);
  } else {
    return base::fail(base::ErrorKind::Unsupported,
                      "there is no meminfo to tell the machine's memory");
  }
  make_jobs();
  make_processes();
  make_objects();
  find_unread();
  close();
  return std::move(graph_);
}

}  // namespace

base::Result<Graph> make_graph(const GraphInput& input) {
  return Builder(input).build();
}

}  // namespace tidemark::analysis
