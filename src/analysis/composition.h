// What the memory of some processes is made of at one moment, by object and by
// process, in a form that two moments can be compared in: nothing in it depends
// on addresses or pids.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/best_known.h"
#include "model/category.h"
#include "model/sample.h"

namespace tidemark::analysis {

// hugetlb is in rss, pss and private alike: the kernel keeps it apart.
struct Bytes {
  uint64_t rss = 0;
  uint64_t pss = 0;  // the best value (model/best_known.h)
  uint64_t uss = 0;  // pages of one process alone
  uint64_t swap = 0;
  // Some of it came without them: a bound, or a source that does not tell.
  bool lacks_uss = false;
  uint64_t bounded = 0;    // of pss: resident pages that were never divided
  uint64_t estimated = 0;  // of pss: scaled since it was read

  // Nothing of it was ever divided by those that share it: pss is a bound.
  bool is_unsplit() const { return bounded > 0 && bounded == pss; }
  void add(const Bytes& other);
  bool operator==(const Bytes&) const = default;
};

using Kinds = std::map<model::Category, Bytes>;
Bytes sum_of(const Kinds& kinds);
// Of several processes together: takes out what they share beyond what there
// is, since the bound of each has all of it.
void count_once(const model::SharedLimits& limits, Kinds& kinds);

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
  Kinds kinds;                             // what these are of
  std::optional<uint64_t> resident_bytes;  // the kernel's counter
  std::optional<uint64_t> peak_rss_bytes;  // VmHWM
  bool has_split = false;       // its shares (PSS, private) were read
  uint64_t split_age_ns = 0;    // since then
  bool is_unknown = false;      // not even its counters were read
  std::string unknown_because;  // of the shares; may be empty
  bool operator==(const Holder&) const = default;
};

struct Composition {
  std::vector<Part> parts;        // by PSS, largest first
  std::vector<Holder> processes;  // the same
  Bytes total;                    // of the parts
  model::SharedLimits limits;     // of what they share, where they are known
  // What the processes hold beyond the total: memory they share, which the
  // bound of each of them has in full.
  uint64_t counted_again_bytes = 0;
  uint64_t page_table_bytes = 0;
  uint64_t undetailed_count = 0;  // with memory whose mappings were not read
  uint64_t undetailed_bytes = 0;  // their resident pages
  uint64_t unknown_count = 0;     // of them those without counters: in no part
  uint64_t scanned_count = 0;
  uint64_t unsplit_count = 0;    // their shares were never read
  std::string unsplit_because;   // why, of the largest of them; may be empty
  uint64_t estimated_count = 0;  // read in full before, and scaled since
  uint64_t oldest_split_ns = 0;  // among these
};

// Those in `by_counters`, indices of the sample's processes, are taken by their
// counters, as if they had not been read.
Composition compose(const model::Sample& sample,
                    const std::set<size_t>& by_counters = {});

// Of the processes from that one on, together: what they share is counted once.
Bytes bytes_from(const Composition& composition, size_t first);

// Two moments of a process can be compared only by the same means: those of one
// whose shares were never read at one of them, by counters at both. Where the
// other moment has none with its identity, those of its name there are meant,
// which live at that moment alone.
struct ByCounters {
  std::set<size_t> before;
  std::set<size_t> after;
  std::set<std::string> names;
  bool is_unsplit_before = false;  // or their shares were known there
  bool is_unsplit_after = false;
};
ByCounters by_counters(const model::Sample& before, const model::Sample& after);

}  // namespace tidemark::analysis
