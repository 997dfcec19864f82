// Probes on processes: our own, then those of others.
//
// PROCMAP_QUERY and cachestat are newer than the headers of
// Debian 12, so their layouts are repeated here; they are kernel ABI and never
// change.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parse/process_files.h"
#include "source/page_scan.h"
#include "source/probe_parts.h"
#include "source/procmap_query.h"

namespace tidemark::source {
namespace {

using model::Capability;
using model::CapabilityState;

// struct cachestat_range and struct cachestat of linux/mman.h since 6.5.
struct CachestatRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};
struct Cachestat {
  uint64_t cached_pages = 0;
  uint64_t dirty_pages = 0;
  uint64_t writeback_pages = 0;
  uint64_t evicted_pages = 0;
  uint64_t recently_evicted_pages = 0;
};
// The same on every architecture but alpha.
constexpr long kCachestatCall = 451;

// An entry of pagemap.
constexpr uint64_t kPagePresent = uint64_t{1} << 63;
constexpr uint64_t kPageFrameMask = (uint64_t{1} << 55) - 1;

base::Result<uint64_t> pagemap_entry(const ProbeContext& context) {
  const base::Directory& proc = context.roots.proc;
  base::Result<base::Fd> fd = base::open_file_at(proc, "self/pagemap");
  if (!fd) return fd.error();
  uint64_t entry = 0;
  const uint64_t index = context.page.address() / context.page.size_bytes();
  if (::pread(fd->get(), &entry, sizeof(entry),
              static_cast<off_t>(index * sizeof(entry))) != sizeof(entry)) {
    return base::fail_errno(proc.join("self/pagemap"), errno);
  }
  if (!(entry & kPagePresent)) {
    return base::fail(base::ErrorKind::Gone, "the page tried on left RAM");
  }
  return entry;
}

Capability try_cachestat(const Question& question, const base::Fd& file,
                         const std::string& what) {
  CachestatRange range;
  Cachestat stat;
  if (::syscall(kCachestatCall, file.get(), &range, &stat, 0) != 0) {
    return failed_errno(question, what, errno);
  }
  return works(question, what);
}

// Something of a process of another user; the error of a denied one when all
// fail, since one that has just ended says nothing.
template <typename Try>
Capability first_of_others(const ProbeContext& context,
                           const Question& question, Try try_process) {
  const std::vector<int32_t>& pids = context.targets.others;
  if (pids.empty()) {
    const std::string& why = context.targets.why_no_others;
    return context.targets.are_hidden ? denied(question, why)
                                      : not_tried(question, why);
  }
  std::optional<Capability> answer;
  for (int32_t pid : pids) {
    Capability one = try_process(std::to_string(pid));
    if (one.state == CapabilityState::Works) return one;
    if (!answer || one.state == CapabilityState::Denied) answer = one;
  }
  if (pids.size() > 1) {
    answer->detail += ", " + std::to_string(pids.size()) + " processes tried";
  }
  return *answer;
}

}  // namespace

Capability probe_own_smaps(const ProbeContext& context,
                           const Question& question) {
  const base::Directory& proc = context.roots.proc;
  for (const char* name : {"self/smaps", "self/smaps_rollup"}) {
    base::Result<std::string> start = read_start_at(proc, name);
    if (!start) return failed(question, start.error());
  }
  return works(question, proc.join("self/smaps, smaps_rollup"));
}

Capability probe_own_pagemap(const ProbeContext& context,
                             const Question& question) {
  base::Result<uint64_t> entry = pagemap_entry(context);
  if (!entry) return failed(question, entry.error());
  return works(question, context.roots.proc.join("self/pagemap"));
}

Capability probe_page_frames(const ProbeContext& context,
                             const Question& question) {
  base::Result<uint64_t> entry = pagemap_entry(context);
  if (!entry) return failed(question, entry.error());
  if ((*entry & kPageFrameMask) == 0) {
    // Not an error to the kernel: it opens for everyone and hides the number.
    return denied(question, "self/pagemap opens, page frames read as 0");
  }
  return works(question, "self/pagemap shows page frame numbers");
}

Capability probe_pagemap_scan(const ProbeContext& context,
                              const Question& question) {
  base::Result<base::Fd> fd =
      base::open_file_at(context.roots.proc, "self/pagemap");
  if (!fd) return failed(question, fd.error());
  PageRegion region;
  PagemapScan scan;
  scan.start = context.page.address();
  scan.end = scan.start + context.page.size_bytes();
  scan.vec = reinterpret_cast<uint64_t>(&region);
  scan.vec_len = 1;
  scan.category_mask = kPageIsPresent;
  scan.return_mask = kPageIsPresent;
  if (::ioctl(fd->get(), kPagemapScan, &scan) < 0) {
    return failed_errno(question, "ioctl PAGEMAP_SCAN", errno);
  }
  return works(question, "ioctl PAGEMAP_SCAN");
}

Capability probe_procmap_query(const ProbeContext& context,
                               const Question& question) {
  base::Result<base::Fd> fd =
      base::open_file_at(context.roots.proc, "self/maps");
  if (!fd) return failed(question, fd.error());
  ProcmapQuery query;
  query.query_addr = context.page.address();
  if (::ioctl(fd->get(), kProcmapQuery, &query) != 0) {
    return failed_errno(question, "ioctl PROCMAP_QUERY", errno);
  }
  return works(question, "ioctl PROCMAP_QUERY");
}

Capability probe_own_stack(const ProbeContext& context,
                           const Question& question) {
  const std::optional<int32_t>& own = context.targets.own;
  const std::string name =
      (own ? std::to_string(*own) : "thread-self") + "/syscall";
  base::Result<std::string> text = base::read_file_at(context.roots.proc, name);
  if (!text) {
    Capability row = failed(question, text.error());
    // The one file here that the kernel guards like attaching a debugger,
    // which Yama forbids between processes of one user.
    if (row.state == CapabilityState::Denied &&
        base::exists_at(context.roots.proc, "sys/kernel/yama/ptrace_scope")) {
      row.grant = "sudo sysctl kernel.yama.ptrace_scope=0";
    }
    return row;
  }
  base::Result<std::optional<uint64_t>> pointer =
      parse::parse_syscall_stack_pointer(*text);
  if (!pointer) return missing(question, pointer.error().what);
  return works(question, context.roots.proc.join(name));
}

// Newer kernels tell it only to who could write the file, because what is
// cached betrays what others read. Memory files are the cheapest file of ours.
Capability probe_cachestat(const ProbeContext&, const Question& question) {
  const base::Fd file(::memfd_create("tidemark-probe", MFD_CLOEXEC));
  if (!file) return failed_errno(question, "memfd_create", errno);
  return try_cachestat(question, file, "cachestat of a memfd");
}

Capability probe_cachestat_of_others(const ProbeContext&,
                                     const Question& question) {
  base::Result<base::Directory> etc = base::open_directory("/etc");
  if (!etc) return not_tried(question, etc.error().what);
  base::Result<base::Fd> file = base::open_file_at(*etc, "passwd");
  if (!file) return not_tried(question, file.error().what);
  return try_cachestat(question, *file, "cachestat of /etc/passwd");
}

// Following a link of map_files is like opening the file, so the kernel asks
// for more than for reading maps, even of our own.
Capability probe_map_files(const ProbeContext& context,
                           const Question& question) {
  base::Result<base::Directory> links =
      base::open_directory_at(context.roots.proc, "self/map_files");
  if (!links) return failed(question, links.error());
  base::Result<std::vector<std::string>> names = base::list_directory(*links);
  if (!names) return failed(question, names.error());
  if (names->empty()) return not_tried(question, links->path + " is empty");
  struct stat info {};
  if (::fstatat(links->fd.get(), names->front().c_str(), &info, 0) != 0) {
    return failed_errno(question, links->join(names->front()), errno);
  }
  return works(question, links->path);
}

// Reading a whole smaps holds up the process for tens of milliseconds per GiB;
// its first bytes cost one mapping.
Capability probe_other(const ProbeContext& context, const Question& question) {
  const base::Directory& proc = context.roots.proc;
  return first_of_others(
      context, question, [&](const std::string& pid) -> Capability {
        const std::string name = pid + "/" + std::string(question.file);
        base::Result<std::string> start = read_start_at(proc, name);
        if (!start) return failed(question, start.error());
        return works(question, proc.join(name));
      });
}

// Listing them takes the right to the directory, naming them the right to look
// into the process.
Capability probe_other_descriptors(const ProbeContext& context,
                                   const Question& question) {
  return first_of_others(
      context, question, [&](const std::string& pid) -> Capability {
        base::Result<base::Directory> links =
            base::open_directory_at(context.roots.proc, pid + "/fd");
        if (!links) return failed(question, links.error());
        base::Result<std::vector<std::string>> names =
            base::list_directory(*links);
        if (!names) return failed(question, names.error());
        if (names->empty()) {
          return not_tried(question, links->path + " is empty");
        }
        base::Result<std::string> link =
            base::read_link_at(*links, names->front());
        if (!link) return failed(question, link.error());
        return works(question, links->path);
      });
}

}  // namespace tidemark::source
