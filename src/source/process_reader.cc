#include "source/process_reader.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "parse/process_files.h"
#include "source/process_parts.h"
#include "source/smaps_file.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::Process;
using model::ProcessState;
using model::SmapsFields;

SmapsFields sum_of(const std::vector<model::Mapping>& mappings) {
  SmapsFields sum;
  for (const model::Mapping& mapping : mappings)
    sum.add(mapping.fields);
  return sum;
}

// A process known by its pid alone. With the mount option hidepid=1 nothing
// else is told of other users' processes; a copied tree can hold a stat that
// was cut short. Either is a row that says so, and the walk goes on.
base::Result<Process> without_identity(int32_t pid, const base::Error& error) {
  if (error.kind != ErrorKind::Denied && error.kind != ErrorKind::Malformed) {
    return error;
  }
  Process process;
  process.id.pid = pid;
  process.stat.pid = pid;
  process.state = state_of(error);
  process.rollup = model::unknown<SmapsFields>(reason_of(error));
  process.mappings =
      model::unknown<std::vector<model::Mapping>>(reason_of(error));
  return process;
}

}  // namespace

ProcessReader::ProcessReader(const Roots& roots, const CgroupHierarchy& cgroups,
                             ProcessDetail detail)
    : roots_(roots), cgroups_(cgroups), detail_(detail) {}

base::Result<model::ProcessStat> ProcessReader::read_stat(int32_t pid) {
  base::Status status =
      base::read_file_at(roots_.proc, std::to_string(pid) + "/stat", buffer_);
  if (!status) return status.error();
  base::Result<model::ProcessStat> stat = parse::parse_stat(buffer_);
  if (!stat || !has_no_memory(*stat)) return stat;
  base::Result<base::Directory> directory =
      base::open_directory_at(roots_.proc, std::to_string(pid));
  if (directory) (void)living_thread(*directory, *stat);
  return stat;
}

base::Result<model::Statm> ProcessReader::read_statm(int32_t pid) {
  base::Status status =
      base::read_file_at(roots_.proc, std::to_string(pid) + "/statm", buffer_);
  if (!status) return status.error();
  base::Result<model::Statm> statm = parse::parse_statm(buffer_);
  if (!statm || statm->size_pages > 0) return statm;
  // It is the kernel's, or has ended, or its first thread has.
  const base::Result<base::Directory> directory = open_process(roots_, pid);
  if (!directory || !base::read_file_at(*directory, "statm", buffer_)) {
    return statm;
  }
  return parse::parse_statm(buffer_);
}

base::Result<Process> ProcessReader::read(int32_t pid) {
  base::Result<base::Directory> directory =
      base::open_directory_at(roots_.proc, std::to_string(pid));
  if (!directory) return without_identity(pid, directory.error());
  Process process;
  base::Status status = base::read_file_at(*directory, "stat", buffer_);
  if (!status) return without_identity(pid, status.error());
  base::Result<model::ProcessStat> stat = parse::parse_stat(buffer_);
  if (!stat) {
    return without_identity(pid, base::within(directory->path, stat.error()));
  }
  process.stat = std::move(*stat);
  process.id = {pid, process.stat.start_ticks};
  std::optional<LivingThread> living = living_thread(*directory, process.stat);
  if (living) *directory = std::move(living->directory);
  if (process.stat.is_kernel_thread) {
    process.state = ProcessState::KernelThread;
    return process;
  }
  if (base::read_file_at(*directory, "status", buffer_)) {
    base::Result<model::ProcessStatus> parsed = parse::parse_status(buffer_);
    if (parsed) process.status = *parsed;  // its fields stay empty otherwise
  }
  if (detail_.cgroup && base::read_file_at(*directory, "cgroup", buffer_)) {
    base::Result<std::vector<parse::CgroupMembership>> memberships =
        parse::parse_cgroup(buffer_);
    if (memberships) process.cgroup_path = cgroups_.path_of(*memberships);
  }
  if (has_no_memory(process.stat)) {
    process.state = ProcessState::Zombie;
    return process;
  }
  if (base::read_file_at(*directory, "cmdline", buffer_)) {
    process.command_line = parse::parse_command_line(buffer_);
  }
  if (detail_.executable) {
    process.executable = reading_of(base::read_link_at(*directory, "exe"));
  }
  read_memory(*directory, process);
  if (detail_.threads)
    process.threads = reading_of(read_threads(*directory, detail_.mappings));
  if (detail_.descriptors) {
    process.descriptors = reading_of(count_descriptors(*directory));
  }
  return process;
}

base::Status ProcessReader::read_asked_memory(const base::Directory& directory,
                                              Process& process) {
  SmapsFields fields;
  if (detail_.rollup) {
    base::Status status = read_rollup(directory, fields);
    if (!status) return status;
  }
  if (detail_.mappings) {
    std::vector<model::Mapping> mappings;
    base::Status status = read_mappings(directory, mappings);
    if (!status) return status;
    if (!detail_.rollup) fields = sum_of(mappings);
    process.images = read_images(directory, mappings);
    process.mappings = model::known(std::move(mappings));
  }
  process.rollup = model::known(fields);
  return base::Ok{};
}

void ProcessReader::read_memory(const base::Directory& directory,
                                Process& process) {
  base::Status status = read_asked_memory(directory, process);
  if (status) return;
  base::Error error = status.error();
  // A process that has ended takes its files with it.
  if (error.kind == ErrorKind::NotFound &&
      !base::exists_at(directory, "stat")) {
    error = base::fail(ErrorKind::Gone, directory.path + ": it has ended");
  }
  process.state = state_of(error);
  process.rollup = model::unknown<SmapsFields>(reason_of(error));
  process.mappings =
      model::unknown<std::vector<model::Mapping>>(reason_of(error));
  // Anyone may read statm, so a denied process still shows its RSS.
  if (base::read_file_at(directory, "statm", buffer_)) {
    base::Result<model::Statm> statm = parse::parse_statm(buffer_);
    if (statm) process.statm = *statm;
  }
}

base::Status ProcessReader::read_rollup(const base::Directory& directory,
                                        SmapsFields& fields) {
  base::Status status = base::read_file_at(directory, "smaps_rollup", buffer_);
  if (status && !buffer_.empty()) {
    base::Result<SmapsFields> rollup = parse::parse_smaps_rollup(buffer_);
    if (!rollup) return base::within(directory.path, rollup.error());
    fields = *rollup;
    return base::Ok{};
  }
  if (!status && status.error().kind != ErrorKind::NotFound) return status;
  // Kernels before 4.14 and some copied trees have smaps alone.
  std::vector<model::Mapping> mappings;
  status = read_mappings(directory, mappings);
  fields = sum_of(mappings);
  return status;
}

base::Status ProcessReader::read_mappings(
    const base::Directory& directory, std::vector<model::Mapping>& mappings) {
  base::Status status = smaps_.read(
      directory,
      [&](const model::Mapping& mapping) { mappings.push_back(mapping); });
  if (!status) return status;
  // Every living user process has mappings: an empty file is one that has just
  // given up its memory, or a copy that was denied.
  if (mappings.empty()) {
    return base::fail(roots_.is_live ? ErrorKind::Gone : ErrorKind::NotFound,
                      directory.join("smaps") + ": it is empty");
  }
  return base::Ok{};
}

base::Result<std::vector<model::DescriptorCount>>
ProcessReader::count_descriptors(const base::Directory& directory) {
  base::Result<base::Directory> fds = base::open_directory_at(directory, "fd");
  if (!fds) return fds.error();
  base::Result<std::vector<std::string>> names = base::list_directory(*fds);
  if (!names) return names.error();
  std::vector<model::DescriptorCount> counts;
  for (const std::string& name : *names) {
    base::Result<std::string> target = base::read_link_at(*fds, name);
    if (!target && target.error().kind == ErrorKind::NotFound) {
      continue;  // closed meanwhile
    }
    // It is there, what it is may not be known.
    std::string kind = target ? parse::descriptor_kind(*target) : "unreadable";
    auto found = std::ranges::find(counts, kind, &model::DescriptorCount::kind);
    if (found == counts.end()) {
      counts.push_back({std::move(kind), 0, 0});
      found = counts.end() - 1;
    }
    ++found->count;
    if (found->kind.starts_with("bpf")) {
      found->kernel_bytes += read_memlock(directory, name);
    }
  }
  std::ranges::sort(counts, std::greater<>(), &model::DescriptorCount::count);
  return counts;
}

// Descriptors come and go: one whose fdinfo cannot be read adds nothing.
uint64_t ProcessReader::read_memlock(const base::Directory& directory,
                                     const std::string& descriptor) {
  if (!base::read_file_at(directory, "fdinfo/" + descriptor, buffer_)) return 0;
  base::Result<std::optional<uint64_t>> bytes =
      parse::parse_fdinfo_memlock(buffer_);
  return bytes ? bytes->value_or(0) : 0;
}

base::Result<std::vector<int32_t>> ProcessReader::list_pids() const {
  base::Result<std::vector<std::string>> names =
      base::list_directory(roots_.proc);
  if (!names) return names.error();
  std::vector<int32_t> pids;
  for (const std::string& name : *names) {
    if (std::optional<int32_t> pid = base::parse_pid(name)) {
      pids.push_back(*pid);
    }
  }
  std::ranges::sort(pids);
  return pids;
}

base::Result<std::vector<int32_t>> ProcessReader::children(int32_t pid) {
  base::Result<base::Directory> tasks =
      base::open_directory_at(roots_.proc, std::to_string(pid) + "/task");
  if (!tasks) return children_by_scan(pid);
  base::Result<std::vector<std::string>> names = base::list_directory(*tasks);
  if (!names) return names.error();
  std::vector<int32_t> all;
  for (const std::string& name : *names) {
    // Each thread lists the processes it has forked itself.
    base::Status status =
        base::read_file_at(*tasks, name + "/children", buffer_);
    if (!status) {
      // Absent in kernels built without CONFIG_PROC_CHILDREN.
      const bool thread_is_there = base::exists_at(*tasks, name + "/stat");
      if (thread_is_there) return children_by_scan(pid);
      continue;
    }
    base::Result<std::vector<int32_t>> some = parse::parse_children(buffer_);
    if (!some) return some.error();
    all.insert(all.end(), some->begin(), some->end());
  }
  return all;
}

base::Result<std::vector<int32_t>> ProcessReader::children_by_scan(
    int32_t pid) {
  base::Result<std::vector<int32_t>> pids = list_pids();
  if (!pids) return pids.error();
  std::vector<int32_t> found;
  for (int32_t candidate : *pids) {
    base::Result<model::ProcessStat> stat = read_stat(candidate);
    if (stat && stat->parent_pid == pid) found.push_back(candidate);
  }
  return found;
}

}  // namespace tidemark::source
