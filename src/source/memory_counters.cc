#include "source/memory_counters.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/page_size.h"
#include "parse/machine_files.h"
#include "parse/process_files.h"
#include "source/descriptor_limit.h"

namespace tidemark::source {
namespace {

// A process that moves to another group, or groups that come: noticed by then.
constexpr uint64_t kIdentityReadings = 300;
constexpr uint64_t kGroupReadings = 10;
// Nobody has more than a few hundred that matter; each costs a descriptor.
constexpr size_t kMostGroups = 2000;
constexpr uint64_t kUsualPageBytes = 4096;

ProcessDetail identity_alone() {
  ProcessDetail detail;
  detail.rollup = false;
  return detail;
}

base::Status read_small(const base::Fd& file, std::string& buffer) {
  constexpr size_t kBytes = 256;
  buffer.resize(kBytes);
  const ssize_t got = ::pread(file.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) return base::fail_errno("pread", errno);
  buffer.resize(static_cast<size_t>(got));
  return base::Ok{};
}

}  // namespace

MemoryCounters::MemoryCounters(const Roots& roots, NameOf name_of)
    : roots_(roots),
      cgroups_(CgroupHierarchy::find(roots)),
      reader_(roots, cgroups_, identity_alone()),
      name_of_(std::move(name_of)),
      page_bytes_(roots.is_live ? base::page_bytes() : kUsualPageBytes) {
  // One for each process may be more than the usual 1024.
  constexpr size_t kMostOpen = 32'768;
  allow_descriptors(kMostOpen);
}

base::Status MemoryCounters::read() {
  base::Status status = read_processes();
  if (!status) return status;
  if (reading_count_ % kGroupReadings == 0) find_groups();
  read_groups();
  ++reading_count_;
  return base::Ok{};
}

base::Status MemoryCounters::read_processes() {
  base::Result<std::vector<int32_t>> pids = reader_.list_pids();
  if (!pids) return pids.error();
  auto row = processes_.begin();
  for (int32_t pid : *pids) {  // ascending, as the rows are
    while (row != processes_.end() && row->first < pid)
      row = processes_.erase(row);
    if (row == processes_.end() || row->first != pid) {
      row = processes_.emplace_hint(row, pid, ProcessRow());
    }
    // One that has ended may have given its number to another.
    bool is_there = read_process(pid, row->second);
    if (!is_there) {
      row->second = ProcessRow();
      is_there = read_process(pid, row->second);
    }
    row = is_there ? std::next(row) : processes_.erase(row);
  }
  processes_.erase(row, processes_.end());
  return base::Ok{};
}

base::Result<model::Statm> MemoryCounters::read_statm(int32_t pid,
                                                      const ProcessRow& row) {
  if (!row.statm) return reader_.read_statm(pid);
  base::Status status = read_small(row.statm, buffer_);
  if (!status) return status.error();
  base::Result<model::Statm> statm = parse::parse_statm(buffer_);
  // That of a first thread that has ended while others go on is empty too.
  const bool may_have_more = row.look_count == 0 || row.has_memory;
  if (!statm || statm->size_pages > 0 || !may_have_more) return statm;
  return reader_.read_statm(pid);
}

bool MemoryCounters::read_process(int32_t pid, ProcessRow& row) {
  if (row.is_kernel_thread) return true;
  if (row.look_count == 0) {
    base::Result<base::Fd> file =
        base::open_file_at(roots_.proc, std::to_string(pid) + "/statm");
    if (file) row.statm = std::move(*file);
  }
  base::Result<model::Statm> statm = read_statm(pid, row);
  if (!statm) return false;
  row.rss_bytes = statm->resident_pages * page_bytes_;
  // A new one still has the name of who forked it; exec changes its text.
  const bool is_due = row.look_count <= 1 ||
                      row.look_count % kIdentityReadings == 0 ||
                      row.text_pages != statm->text_pages;
  row.text_pages = statm->text_pages;
  ++row.look_count;
  return !is_due || identify(pid, row);
}

bool MemoryCounters::identify(int32_t pid, ProcessRow& row) {
  base::Result<model::Process> process = reader_.read(pid);
  if (!process) return false;
  const bool is_another =
      row.id.pid == pid && row.id.start_ticks != process->id.start_ticks;
  if (is_another) return false;
  row.id = process->id;
  row.is_kernel_thread = process->state == model::ProcessState::KernelThread;
  row.has_memory =
      !row.is_kernel_thread && process->state != model::ProcessState::Zombie;
  row.name = name_of_(*process);
  row.cgroup_path = std::move(process->cgroup_path);
  if (row.is_kernel_thread) row.statm = base::Fd();
  return true;
}

void MemoryCounters::find_groups() {
  std::set<std::string> paths;
  for (auto& [inode, path] : cgroups_.list())
    paths.insert(path);
  if (paths.empty()) {
    // Of a copied tree those that a process is in, and all above them.
    for (const auto& [pid, row] : processes_) {
      std::string path = row.cgroup_path;
      while (path.size() > 1 && paths.insert(path).second)
        path.resize(std::max<size_t>(path.rfind('/'), 1));
      if (!row.cgroup_path.empty()) paths.emplace("/");
    }
  }
  std::erase_if(
      groups_, [&](const auto& entry) { return !paths.contains(entry.first); });
  for (const std::string& path : paths) {
    if (groups_.size() >= kMostGroups) break;
    if (groups_.contains(path)) continue;
    base::Result<base::Fd> charge = cgroups_.open_charge(path);
    if (!charge) continue;
    groups_[path].charge = std::move(*charge);
  }
}

void MemoryCounters::read_groups() {
  for (auto& [path, row] : groups_) {
    row.is_known = false;
    if (!read_small(row.charge, buffer_)) continue;
    base::Result<std::optional<uint64_t>> bytes =
        parse::parse_cgroup_number(buffer_);
    if (!bytes || !*bytes) continue;
    row.charged_bytes = **bytes;
    row.is_known = true;
  }
}

}  // namespace tidemark::source
