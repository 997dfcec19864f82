#include "analysis/object_report.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/reorder.h"

namespace tidemark::analysis {
namespace {

using model::MemoryObject;
using model::ObjectKind;
using model::ObjectScan;

bool is_of(const MemoryObject& object, const ObjectScan& scan, int32_t pid) {
  return std::ranges::any_of(
      object.references, [&](const model::ObjectReference& reference) {
        return scan.processes[reference.process_index].id.pid == pid;
      });
}

// Memory that no address space shows. What holds none is not hiding any.
bool is_hidden(const MemoryObject& object) {
  if (object.kind == ObjectKind::Handle) return false;
  if (object.attach_count > 0) return false;
  if (object.alloc_bytes && *object.alloc_bytes == 0) return false;
  return std::ranges::none_of(object.references,
                              [](const model::ObjectReference& reference) {
                                return reference.mapping_count > 0;
                              });
}

bool is_chosen(const MemoryObject& object, const ObjectScan& scan,
               const ObjectOptions& options) {
  switch (options.selection) {
    case ObjectSelection::Hidden:
      return is_hidden(object);
    case ObjectSelection::Process:
      return is_of(object, scan, options.pid);
    case ObjectSelection::One:
      return model::object_id(object) == options.id;
    case ObjectSelection::All:
      break;
  }
  return true;
}

ObjectRow make_row(const MemoryObject& object, const ObjectScan& scan,
                   const ObjectOptions& options) {
  ObjectRow row;
  row.id = model::object_id(object);
  row.kind = object.kind;
  row.name = object.name;
  row.is_deleted = object.is_deleted;
  row.is_found_by_pages = object.is_found_by_pages;
  // Only copies have a parent, and files have no name in their id.
  if (object.parent) row.parent_id = model::object_id(*object.parent, "");
  row.child_count = object.child_count;
  row.size_bytes = object.size_bytes;
  row.alloc_bytes = object.alloc_bytes;
  row.swap_bytes = object.swap_bytes;
  for (const model::ObjectReference& reference : object.references) {
    const model::ObjectProcess& process =
        scan.processes[reference.process_index];
    row.map_count += reference.mapping_count;
    row.fd_count += reference.descriptor_count;
    row.process_count += reference.mapping_count > 0 ? 1 : 0;
    if (options.selection != ObjectSelection::Process ||
        process.id.pid == options.pid) {
      row.rights.add(reference.rights);
    }
    row.holders.push_back({process.id, process.name, reference.mapping_count,
                           reference.descriptor_count, reference.rights});
  }
  row.map_count = std::max(row.map_count, object.attach_count);
  return row;
}

// What is not known stands behind what is, and what has nothing last.
bool is_before(const ObjectRow& a, const ObjectRow& b) {
  const auto weight = [](const ObjectRow& row) {
    return std::pair(row.alloc_bytes.value.value_or(0),
                     row.size_bytes.value.value_or(0));
  };
  if (weight(a) != weight(b)) return weight(a) > weight(b);
  return a.id < b.id;
}

// The rows are in order, so those that are folded are the smallest.
void fold(ObjectReport& report, const ObjectOptions& options) {
  uint64_t left = options.top.value_or(UINT64_MAX);
  uint64_t left_by_pages = options.top_by_pages.value_or(UINT64_MAX);
  std::erase_if(report.rows, [&](const ObjectRow& row) {
    const bool is_kept =
        left > 0 && (!row.is_found_by_pages || left_by_pages > 0);
    if (is_kept) {
      --left;
      if (row.is_found_by_pages) --left_by_pages;
      return false;
    }
    report.folded_alloc.add(row.alloc_bytes.value);
    ++report.folded_count;
    return true;
  });
}

// What objects of one line of meminfo hold together.
struct Held {
  model::Amount named;
  uint64_t found_bytes = 0;
};

void add_held(const MemoryObject& object, Held& held) {
  if (object.is_found_by_pages) {
    held.found_bytes += object.alloc_bytes.value.value_or(0);
  } else {
    held.named.add(object.alloc_bytes.value);
  }
}

ObjectAccount account_of(uint64_t total_bytes, const Held& held,
                         bool pages_were_read) {
  ObjectAccount account;
  account.total_bytes = total_bytes;
  account.named = held.named;
  if (pages_were_read) account.found_bytes = held.found_bytes;
  account.rest_bytes = static_cast<int64_t>(total_bytes) -
                       static_cast<int64_t>(held.named.bytes);
  return account;
}

// Shmem counts the pages of tmpfs, memfds, shared anonymous memory and SysV
// segments, in RAM only; hugetlb and ramfs are in other lines. Cached has Shmem
// inside it, and Buffers beside it are the page cache of block devices.
void add_accounts(const ObjectScan& scan, ObjectReport& report) {
  if (!scan.meminfo || !scan.meminfo->shmem_bytes) return;
  Held shmem;
  Held files;
  // No object at all is zero.
  shmem.named.has_known = files.named.has_known = true;
  // An object that does not tell its memory makes the named part a lower bound.
  for (const MemoryObject& object : scan.objects) {
    if (object.kind == ObjectKind::PrivateCopy) continue;
    if (object.is_shmem) {
      add_held(object, shmem);
    } else if (object.kind == ObjectKind::File ||
               object.kind == ObjectKind::DeletedFile ||
               object.kind == ObjectKind::Tmpfs) {
      add_held(object, files);
    }
  }
  // So does a process that could not be read.
  if (!report.unreadable.empty()) {
    shmem.named.has_unknown = files.named.has_unknown = true;
  }
  report.shmem =
      account_of(*scan.meminfo->shmem_bytes, shmem, scan.pages_were_read);
  if (!scan.meminfo->cached_bytes) return;
  const uint64_t cached =
      *scan.meminfo->cached_bytes + scan.meminfo->buffers_bytes.value_or(0);
  report.file_cache =
      account_of(cached - std::min(cached, *scan.meminfo->shmem_bytes), files,
                 scan.pages_were_read);
}

base::Error not_found(const ObjectOptions& options) {
  if (options.selection == ObjectSelection::One) {
    return base::fail(base::ErrorKind::NotFound,
                      "no object " + options.id + " now",
                      "`tidemark objects all` lists them with their ids");
  }
  return base::fail(base::ErrorKind::NotFound,
                    "process " + std::to_string(options.pid) +
                        " ended before its objects were read");
}

bool was_read(const model::ObjectProcess& process) {
  return process.state == model::ProcessState::Ok;
}

}  // namespace

base::Result<ObjectReport> make_object_report(const ObjectScan& scan,
                                              const ObjectOptions& options) {
  ObjectReport report;
  report.realtime_ns = scan.started_realtime_ns;
  report.read_ns = scan.ended_monotonic_ns - scan.started_monotonic_ns;
  report.selection = options.selection;
  report.means = scan.means;
  report.pages_were_read = scan.pages_were_read;
  report.reader_is_root = scan.reader_is_root;
  report.ended_count = scan.ended_count;
  report.notes = scan.notes;
  bool has_process = false;
  for (const model::ObjectProcess& process : scan.processes) {
    has_process = has_process || process.id.pid == options.pid;
    if (was_read(process)) {
      ++report.process_count;
    } else if (process.state != model::ProcessState::Gone) {
      report.unreadable.push_back(process);
    }
  }
  for (const MemoryObject& object : scan.objects) {
    if (is_chosen(object, scan, options)) {
      report.rows.push_back(make_row(object, scan, options));
    }
  }
  if ((options.selection == ObjectSelection::One && report.rows.empty()) ||
      (options.selection == ObjectSelection::Process && !has_process)) {
    return not_found(options);
  }
  base::sort_in_place(report.rows, is_before);
  fold(report, options);
  if (options.selection == ObjectSelection::All ||
      options.selection == ObjectSelection::Hidden) {
    add_accounts(scan, report);
  }
  return report;
}

}  // namespace tidemark::analysis
