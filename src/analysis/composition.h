// What the memory of some processes is made of at one moment, by object and by
// process, in a form that two moments can be compared in: nothing in it depends
// on addresses or pids.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/category.h"
#include "model/sample.h"

namespace tidemark::analysis {

// hugetlb is in rss, pss and private alike: the kernel keeps it apart.
struct Bytes {
  uint64_t rss = 0;
  uint64_t pss = 0;
  uint64_t uss = 0;  // pages of one process alone
  uint64_t swap = 0;
  // Some of it came without them: a scan, or a source that does not tell.
  bool lacks_uss = false;
  void add(const Bytes& other);
  bool operator==(const Bytes&) const = default;
};

// One object over all processes: a file, a library with its bss, all heaps.
struct Part {
  model::Category category = model::Category::Anon;
  std::string name;  // "/usr/lib/libc.so.6", "[heap]", "malloc arenas"
  Bytes bytes;
  uint64_t mapping_count = 0;
  bool operator==(const Part&) const = default;
};

struct Holder {
  model::ProcessId id;
  std::string name;
  Bytes bytes;
  std::map<model::Category, Bytes> kinds;  // what these are of
  std::optional<uint64_t> resident_bytes;  // the kernel's counter
  std::optional<uint64_t> peak_rss_bytes;  // VmHWM
  bool has_detail = false;
  bool is_scanned = false;  // its shares (PSS, private) are not known
  bool operator==(const Holder&) const = default;
};

struct Composition {
  std::vector<Part> parts;        // by PSS, largest first
  std::vector<Holder> processes;  // the same
  Bytes total;
  uint64_t page_table_bytes = 0;
  uint64_t undetailed_count = 0;  // with memory that was not read
  uint64_t undetailed_bytes = 0;  // their resident pages, in no part
  uint64_t scanned_count = 0;
};

Composition compose(const model::Sample& sample);

}  // namespace tidemark::analysis
