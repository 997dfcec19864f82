// Puts each page of RAM into one class, with an owner and a group, and counts:
// what a ledger is made from. Pages come in chunks and are not kept.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/page_sets.h"
#include "model/ledger.h"
#include "model/page_census.h"

namespace tidemark::analysis {

// Classes of the ledger, and what has to be parted by other means before it
// can stand in one.
enum class PageClass : uint8_t {
  Anon,          // by set; 0: of nobody who could be read
  AnonUnmapped,
  File,          // by file where structs are known, else by set
  Shmem,
  HugetlbUsed,
  HugetlbFree,
  Slab,          // by cache where structs are known
  LargeKmalloc,
  PageTables,
  KernelStack,   // by process
  Compressed,
  KernelMapped,  // by set
  KernelCharged,
  KernelOther,   // neither charged nor typed; also boot, and at the lower tier
                 // what is free on lists of a CPU
  Reserved,
  Balloon,
  Poisoned,
  FreeBuddy,
  FreeOther,     // held by nobody and not in the buddy's lists
  Unstable,
};
inline constexpr size_t kPageClassCount = 20;

struct TallyKey {
  PageClass page_class = PageClass::Unstable;
  uint64_t owner = 0;  // a SetId, an address, or a pid, as the class has it
  uint64_t group = 0;  // inode of the control group
  bool operator==(const TallyKey&) const = default;
};

struct TallyKeyHash {
  size_t operator()(const TallyKey& key) const;
};

class PageTally {
 public:
  // `by_mapper`: pages of files and shared memory go by the set that maps them
  // and not by their file.
  explicit PageTally(const PageSets& sets, bool by_mapper = false)
      : sets_(sets), by_mapper_(by_mapper) {}

  // Frames of kernel stacks, by the process they are of.
  void set_stacks(const std::vector<model::KernelStack>& stacks);
  void add(const model::PageChunk& chunk);

  using Counts = std::unordered_map<TallyKey, uint64_t, TallyKeyHash>;
  const Counts& counts() const { return counts_; }
  uint64_t page_count() const { return page_count_; }
  uint64_t count_of(PageClass page_class) const {
    return class_counts_[static_cast<size_t>(page_class)];
  }
  bool has_structs() const { return has_structs_; }

  // Of the pages the kernel says are mapped, how many were found as often.
  uint64_t mapped_count() const { return mapped_count_; }
  uint64_t agreeing_count() const { return agreeing_count_; }
  struct Page {
    uint64_t frame = 0;
    uint64_t flags = 0;
    uint64_t map_count = 0;
    uint64_t group = 0;
    model::PageStruct info;
  };
  // Some that were not: to be asked about again.
  const std::vector<Page>& disagreements() const { return disagreements_; }
  // A page that was counted as of set `from` is of `to`.
  void correct(const Page& page, SetId from, SetId to);

 private:
  TallyKey classify(const Page& page, SetId set) const;
  TallyKey classify_cache(const Page& page, SetId set) const;
  TallyKey classify_untyped(const Page& page, SetId set) const;
  void compare(const Page& page, SetId set);

  const PageSets& sets_;
  bool by_mapper_ = false;
  std::unordered_map<uint64_t, int32_t> stacks_;
  Counts counts_;
  std::array<uint64_t, kPageClassCount> class_counts_{};
  uint64_t page_count_ = 0;
  bool has_structs_ = false;
  uint64_t mapped_count_ = 0;
  uint64_t agreeing_count_ = 0;
  std::vector<Page> disagreements_;
};

}  // namespace tidemark::analysis
