// What one process uses, as every command shows it. The only place where the
// kernel's fields become our words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/category.h"
#include "model/process.h"
#include "model/reading.h"
#include "model/region.h"
#include "model/sample.h"

namespace tidemark::analysis {

// How people would call it: "osm2pgsql", "python3 style.py",
// "postgres: checkpointer". comm is cut at 15 bytes, the command line is long
// and partly arguments; this is what stands between.
std::string display_name(const model::Process& process);

// The command line with blanks between the arguments.
std::string command_text(const model::Process& process);

// Bytes of one process or of a sum of several.
struct Use {
  model::Amount pss;
  model::Amount uss;     // pages only this process maps
  model::Amount shared;  // mapped by others too: RSS less USS, full size
  model::Amount rss;
  model::Amount pss_anon;
  model::Amount pss_file;
  model::Amount pss_shmem;
  model::Amount swap_pss;
  model::Amount hugetlb;
  // Page tables, kernel stacks and, where descriptors were read, BPF objects.
  model::Amount kernel;
  // Of PSS: resident pages that were never divided by those that share them.
  uint64_t bounded_file_bytes = 0;
  uint64_t bounded_shmem_bytes = 0;

  // PSS + hugetlb: the headline.
  model::Amount in_ram() const;
  void add(const Use& other);
  bool operator==(const Use&) const = default;
};

struct KernelCosts {
  uint64_t page_size_bytes = 4096;
  // One kernel stack. meminfo tells their sum; the kernel's THREAD_SIZE is
  // 16 KiB on every 64-bit architecture Debian has.
  uint64_t stack_bytes = uint64_t{16} << 10;
};

Use use_of(const model::Process& process, const KernelCosts& costs);
// Of each process of the sample; to the page where the sample tells pages.
std::vector<Use> uses_of(const model::Sample& sample, const KernelCosts& costs);
// Of some of them, whose uses these are. To the page where the sample tells
// pages: then what only they map is private to them together, and SHARED is
// known.
Use sum_of(const model::Sample& sample, const std::vector<Use>& uses,
           const std::vector<size_t>& members);

// What would make a denied read possible. Empty for root: it was refused by
// something that rights of ours do not lift.
std::string denied_hint(const model::Sample& sample);

// Why parts of it are unknown, by JSON name.
std::vector<std::pair<std::string, std::string>> unknowns_of(
    const model::Process& process, const Use& use);
std::vector<std::pair<std::string, std::string>> unknowns_of(
    const Use& use, const std::string& because);

struct CategoryUse {
  model::Category category = model::Category::Anon;
  uint64_t size_bytes = 0;
  uint64_t rss_bytes = 0;
  uint64_t pss_bytes = 0;  // hugetlb counts in full: the kernel does not divide
  uint64_t private_bytes = 0;
  uint64_t swap_pss_bytes = 0;
  uint64_t mapping_count = 0;
  uint64_t bounded_bytes = 0;  // of pss: only this bound is known
  // Adds the numbers; the category stays.
  void add(const CategoryUse& other);
  // No less than nothing: what is taken may be of an earlier moment.
  void subtract(const CategoryUse& other);
  bool operator==(const CategoryUse&) const = default;
};

// Adds one mapping; the category stays.
void add_mapping(const model::Mapping& mapping, CategoryUse& use);

// One entry per category that occurs, in stack order. Their PSS falls short of
// the rollup's by up to 1 KiB per mapping, because smaps cuts each to whole
// KiB where the rollup cuts once.
std::vector<CategoryUse> categories_of(
    const std::vector<model::Mapping>& mappings,
    const std::vector<model::Region>& regions);

// Adds `more` into `sum`, keeping stack order.
void add_categories(std::vector<CategoryUse>& sum,
                    const std::vector<CategoryUse>& more);

}  // namespace tidemark::analysis
