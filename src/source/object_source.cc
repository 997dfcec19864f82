#include "source/object_source.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "source/bpf/object_lists.h"
#include "source/machine_reader.h"
#include "source/object_pages.h"
#include "source/object_search.h"
#include "source/object_sizes.h"
#include "source/object_walk.h"

namespace tidemark::source {
namespace {

base::Result<std::vector<int32_t>> list_pids(const Roots& roots) {
  base::Result<std::vector<std::string>> names =
      base::list_directory(roots.proc);
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

void append(std::vector<std::string>& notes, std::vector<std::string> more) {
  for (std::string& note : more)
    notes.push_back(std::move(note));
}

bool is_wanted(const model::MemoryObject& object,
               const std::vector<model::ObjectProcess>& processes,
               const ObjectScanOptions& options) {
  if (!options.of_process) return true;
  return std::ranges::any_of(
      object.references, [&](const model::ObjectReference& reference) {
        return processes[reference.process_index].id.pid == *options.of_process;
      });
}

base::Result<ObjectLists> read_lists(const Roots& roots) {
  if (roots.is_live) return ObjectLists::read();
  return base::fail(
      base::ErrorKind::Unsupported,
      "BPF tells of the running kernel and not of " + roots.proc.path);
}

}  // namespace

base::Result<model::ObjectScan> scan_objects(const Roots& roots,
                                             const ObjectScanOptions& options) {
  model::ObjectScan scan;
  scan.started_realtime_ns = base::realtime_ns();
  scan.started_monotonic_ns = base::monotonic_ns();
  scan.reader_is_root = ::geteuid() == 0;
  base::Result<std::vector<int32_t>> pids = list_pids(roots);
  if (!pids) return pids.error();
  std::optional<ObjectLists> lists;
  if (options.means != model::ObjectMeans::Proc) {
    base::Result<ObjectLists> read = read_lists(roots);
    if (!read && options.means) return read.error();
    if (read) lists = std::move(*read);
  }
  if (lists) scan.means = model::ObjectMeans::Bpf;
  ObjectWalk walk(roots, lists ? &*lists : nullptr);
  for (size_t i = 0; i < pids->size(); ++i) {
    walk.read_process((*pids)[i]);
    if (options.progress) options.progress(i + 1, pids->size());
  }
  append(scan.notes, search_segments(roots, walk));
  if (options.search) append(scan.notes, search_tmpfs(roots, walk));
  append(scan.notes, measure_sockets(roots, walk));
  if (options.search_pages && lists) {
    base::Status status = find_by_pages(roots, *lists, walk);
    scan.pages_were_read = static_cast<bool>(status);
    if (!status) {
      scan.notes.push_back("pages could not be asked: " + status.error().what);
    }
  }
  // Before the files are asked, which takes longest: shared memory is complete
  // and is compared with this.
  base::Result<model::MemInfo> meminfo = read_meminfo(roots);
  if (meminfo) scan.meminfo = *meminfo;
  const bool swap_is_used =
      !scan.meminfo || scan.meminfo->swap_total_bytes.value_or(0) !=
                           scan.meminfo->swap_free_bytes.value_or(0);
  ObjectSizes sizes(roots, walk, swap_is_used);
  for (size_t i = 0; i < walk.table().size(); ++i) {
    if (is_wanted(walk.table().object(i), walk.processes(), options)) {
      sizes.measure(i);
    }
  }
  if (options.of_process) walk.read_copies(*options.of_process);
  scan.objects = walk.table().take();
  scan.processes = std::move(walk.processes());
  scan.ended_count = walk.ended_count();
  scan.ended_monotonic_ns = base::monotonic_ns();
  return scan;
}

}  // namespace tidemark::source
