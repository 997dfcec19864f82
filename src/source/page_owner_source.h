// The kernel's notes on each page (page_owner) as a trace: what is held now, by
// which stack and task. The past is not known, so there are no peaks.
//
// The notes are read from debugfs or from a dump somebody took. They are there
// only on kernels built with CONFIG_PAGE_OWNER and booted with page_owner=on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "model/page_owner.h"
#include "parse/page_owner.h"
#include "source/page_owner_trace.h"
#include "source/roots.h"

namespace tidemark::source {

struct PageOwnerOptions {
  std::string path;  // a dump; empty: the running kernel's debugfs
  model::PageOwnerSelection selection;
};

// Streams a megabyte at a time, and memory grows with distinct stacks and tasks
// only. A task is a thread group with its name; on kernels that tell no tasks
// all is one. Times of leaves are those of the oldest page still held.
base::Result<PageOwnerTrace> read_page_owner(const Roots& roots,
                                             const PageOwnerOptions& options);

// Whether the running kernel notes who took each page, and we may read it.
bool has_page_owner(const Roots& roots);

// The records one by one, all of them, for reports that group by other things.
// The live file costs a call to the kernel each: 1.5 s for 10,606 records in an
// emulated guest of 256 MB.
base::Result<parse::PageOwnerFaults> read_page_owner_records(
    const Roots& roots, const std::string& path,
    const parse::PageOwnerVisitor& visit);

// page_owner_stacks/show_stacks (6.9): pages per stack in one short text, a
// twentieth of the time. Nothing in it tells tasks: all belongs to one that
// is named so. Pages from before page_owner was ready are not in it. `path`: a
// copy of the file, empty for debugfs. The kernel leaves stacks out that have
// fewer pages than its count_threshold, which we read and never write.
base::Result<PageOwnerTrace> read_page_owner_stacks(const Roots& roots,
                                                    const std::string& path);

// Reads the sums by stack again and again. Since 6.19 the kernel gives each
// stack a number and tells pages by number alone, so that the stacks are read
// once and then only when a new number shows up; before, it is show_stacks
// every time.
class PageOwnerStackReader {
 public:
  static base::Result<PageOwnerStackReader> open(const Roots& roots);

  base::Result<PageOwnerTrace> read();
  bool has_handles() const { return has_handles_; }

 private:
  explicit PageOwnerStackReader(base::Directory debugfs)
      : debugfs_(std::move(debugfs)) {}
  base::Status learn_stacks();
  bool knows_all(std::string_view sums) const;

  base::Directory debugfs_;
  bool has_handles_ = false;
  std::unordered_map<uint64_t, std::string> stacks_;  // by handle
  std::string text_;
};

}  // namespace tidemark::source
