#include "source/tracked_process.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "parse/process_files.h"
#include "source/hugetlb_scan.h"
#include "source/page_scan.h"
#include "source/process_parts.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::Mapping;
using model::ProcessState;
using model::SmapsField;

// status and its like change with memory; what changes without it (a lowered
// oom score, another cgroup) is noticed this many readings later at most.
constexpr uint64_t kRefreshReadings = 16;

// A call holds the lock that the process's own mmap waits for. With 512 pages
// the 99th of a hundred mmaps waited 19 us instead of 5, with 64 none did; the
// scan of 4 GiB costs a tenth more than with 128.
constexpr uint64_t kPagesPerScan = 64;

// Files of a process are shorter than a page; one that grows past it is cut.
base::Status read_again(const base::Fd& file, std::string& buffer,
                        const base::Directory& directory, const char* name) {
  buffer.resize(4096);
  const ssize_t got = ::pread(file.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) return base::fail_errno(directory.join(name), errno);
  buffer.resize(static_cast<size_t>(got));
  if (got == 0) {
    return base::fail(ErrorKind::Gone, directory.join(name) + ": it is empty");
  }
  return base::Ok{};
}

bool is_end(const base::Error& error) {
  return error.kind == ErrorKind::Gone || error.kind == ErrorKind::NotFound;
}

void set_scanned(const PageCount& pages,
                 const std::optional<HugetlbCount>& huge, Mapping& mapping) {
  model::SmapsFields& fields = mapping.fields;
  fields.set(SmapsField::Size, mapping.size_bytes());
  fields.set(SmapsField::Rss, pages.resident_bytes);
  fields.set(SmapsField::Anonymous, pages.anonymous_bytes);
  fields.set(SmapsField::Swap, pages.swapped_bytes);
  if (!huge) return;
  // Without its flag one with a name would be taken for a plain file.
  mapping.vm_flags |= model::vm_flag_bit("ht");
  fields.set(SmapsField::KernelPageSize, huge->page_bytes);
  fields.set(SmapsField::SharedHugetlb, huge->shared_bytes);
  fields.set(SmapsField::PrivateHugetlb, huge->private_bytes);
}

}  // namespace

base::Result<TrackedProcess> TrackedProcess::open(const Roots& roots,
                                                  int32_t pid) {
  base::Result<base::Directory> directory =
      base::open_directory_at(roots.proc, std::to_string(pid));
  if (!directory) return directory.error();
  TrackedProcess tracked;
  tracked.directory_ = std::move(*directory);
  tracked.is_live_ = roots.is_live;
  base::Result<base::Fd> stat = base::open_file_at(tracked.directory_, "stat");
  if (!stat) return stat.error();
  tracked.stat_ = std::move(*stat);
  base::Result<base::Fd> statm =
      base::open_file_at(tracked.directory_, "statm");
  if (statm) tracked.statm_ = std::move(*statm);
  tracked.process_.id.pid = pid;
  base::Status status = tracked.read_stat();
  if (!status) return status.error();
  return tracked;
}

base::Status TrackedProcess::read_stat() {
  base::Status status = read_again(stat_, buffer_, directory_, "stat");
  if (!status) return status;
  base::Result<model::ProcessStat> stat = parse::parse_stat(buffer_);
  if (!stat) return base::within(directory_.path, stat.error());
  follow_living_thread(*stat);
  const bool is_other_image =
      stat->argument_address != process_.stat.argument_address ||
      stat->comm != process_.stat.comm;
  if (is_other_image) {
    has_identity_ = false;
    has_new_image_ = true;
  }
  process_.stat = std::move(*stat);
  process_.id.start_ticks = process_.stat.start_ticks;
  if (process_.stat.is_kernel_thread) {
    process_.state = ProcessState::KernelThread;
  } else if (has_no_memory(process_.stat)) {
    process_.state = ProcessState::Zombie;
  } else if (process_.state == ProcessState::Zombie) {
    process_.state = ProcessState::Ok;
  }
  return base::Ok{};
}

// Any thread may be the next to end, so it is asked each time.
void TrackedProcess::follow_living_thread(model::ProcessStat& stat) {
  const base::Directory& first = first_ ? *first_ : directory_;
  std::optional<LivingThread> living = living_thread(first, stat);
  if (!living) return;
  if (!first_) first_ = std::move(directory_);
  directory_ = std::move(living->directory);
  base::Result<base::Fd> statm = base::open_file_at(directory_, "statm");
  if (statm) statm_ = std::move(*statm);
}

void TrackedProcess::read_statm() {
  process_.statm.reset();
  if (!statm_ || !read_again(statm_, buffer_, directory_, "statm")) return;
  base::Result<model::Statm> statm = parse::parse_statm(buffer_);
  if (statm) process_.statm = *statm;
}

void TrackedProcess::read_status() {
  if (base::read_file_at(directory_, "status", buffer_)) {
    base::Result<model::ProcessStatus> status = parse::parse_status(buffer_);
    if (status) process_.status = *status;
  }
  const auto number = [&](const char* name) -> std::optional<int64_t> {
    if (!base::read_file_at(directory_, name, buffer_)) return std::nullopt;
    base::Result<int64_t> value = parse::parse_oom_number(buffer_);
    return value ? std::optional(*value) : std::nullopt;
  };
  process_.oom_score = number("oom_score");
  process_.oom_score_adjustment = number("oom_score_adj");
}

void TrackedProcess::read_identity(const CgroupHierarchy& cgroups) {
  if (base::read_file_at(directory_, "cgroup", buffer_)) {
    base::Result<std::vector<parse::CgroupMembership>> memberships =
        parse::parse_cgroup(buffer_);
    if (memberships) process_.cgroup_path = cgroups.path_of(*memberships);
  }
  if (base::read_file_at(directory_, "cmdline", buffer_)) {
    process_.command_line = parse::parse_command_line(buffer_);
  }
  process_.executable = reading_of(base::read_link_at(directory_, "exe"));
  // In the middle of an exec it has a new name and no arguments yet.
  has_identity_ = !process_.command_line.empty();
}

base::Status TrackedProcess::read_counters(const CgroupHierarchy& cgroups) {
  const bool is_first = reading_count_ == 0;
  const bool is_refresh = reading_count_++ % kRefreshReadings == 0;
  // The first reading was made by open().
  if (!is_first) {
    // A kernel thread changes nothing we keep.
    if (process_.state == ProcessState::KernelThread && !is_refresh) {
      return base::Ok{};
    }
    base::Status status = read_stat();
    if (!status) return status;
  }
  if (process_.state == ProcessState::KernelThread) return base::Ok{};
  const std::optional<model::Statm> before = process_.statm;
  read_statm();
  if (process_.state == ProcessState::Zombie) return base::Ok{};
  if (is_refresh || process_.statm != before || !has_identity_) read_status();
  if (is_refresh || !has_identity_) read_identity(cgroups);
  return base::Ok{};
}

// Reading threads and image headers costs as much as smaps of a small process,
// so it is done again only when there is reason to.
void TrackedProcess::refresh_hints(const std::vector<Mapping>& mappings) {
  const bool is_due = has_new_image_ ||
                      mappings.size() != hinted_mapping_count_ ||
                      process_.stat.thread_count != hinted_thread_count_ ||
                      reading_count_ - hinted_reading_ > kRefreshReadings * 4;
  if (!is_due) return;
  threads_ = reading_of(read_threads(directory_, true));
  images_ = read_images(directory_, mappings);
  hinted_mapping_count_ = mappings.size();
  hinted_thread_count_ = process_.stat.thread_count;
  hinted_reading_ = reading_count_;
}

void TrackedProcess::set_detail(model::DetailTier tier, model::Process& out) {
  refresh_hints(*out.mappings);
  out.tier = tier;
  out.threads = threads_;
  out.images = images_;
  has_new_image_ = false;
  process_.state = ProcessState::Ok;
}

base::Status TrackedProcess::read_full(SmapsReader& reader,
                                       model::Process& out) {
  const uint64_t cpu_before_ns = base::thread_cpu_ns();
  if (!out.mappings.value) out.mappings.value.emplace();
  std::vector<Mapping>& mappings = *out.mappings.value;
  size_t count = 0;
  base::Status status = reader.read(directory_, [&](const Mapping& mapping) {
    if (count < mappings.size()) {
      mappings[count] = mapping;
    } else {
      mappings.push_back(mapping);
    }
    ++count;
  });
  last_cpu_ns_ = base::thread_cpu_ns() - cpu_before_ns;
  mappings.resize(count);
  if (status && count == 0) {
    status = base::fail(is_live_ ? ErrorKind::Gone : ErrorKind::NotFound,
                        directory_.join("smaps") + ": it is empty");
  }
  if (!status) {
    process_.state =
        is_end(status.error()) ? ProcessState::Gone : state_of(status.error());
    out.mappings =
        model::unknown<std::vector<Mapping>>(reason_of(status.error()));
    return status;
  }
  set_detail(model::DetailTier::Full, out);
  return base::Ok{};
}

base::Status TrackedProcess::read_scan(model::Process& out) {
  const uint64_t cpu_before_ns = base::thread_cpu_ns();
  base::Status status = base::read_file_at(directory_, "maps", buffer_);
  if (!status) return status;
  base::Result<std::vector<Mapping>> mappings = parse::parse_maps(buffer_);
  if (!mappings) return mappings.error();
  base::Result<std::vector<PageCount>> pages =
      scan_pages(directory_, *mappings, kPagesPerScan);
  if (!pages) return pages.error();
  base::Result<std::vector<std::optional<HugetlbCount>>> huge =
      scan_hugetlb(directory_, *mappings);
  if (!huge) return huge.error();
  for (size_t i = 0; i < mappings->size(); ++i) {
    if ((*huge)[i]) (*pages)[i] = PageCount();
    set_scanned((*pages)[i], (*huge)[i], (*mappings)[i]);
  }
  out.mappings = model::known(std::move(*mappings));
  set_detail(model::DetailTier::Scan, out);
  last_cpu_ns_ = base::thread_cpu_ns() - cpu_before_ns;
  return base::Ok{};
}

}  // namespace tidemark::source
