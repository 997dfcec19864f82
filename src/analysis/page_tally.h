// Puts each page of RAM into one class, with an owner and a group, and counts:
// what a ledger is made from. Pages come in chunks and are not kept.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/page_sets.h"
#include "analysis/tally_table.h"
#include "model/ledger.h"
#include "model/page_census.h"

namespace tidemark::analysis {

// Classes of the ledger, and what has to be parted by other means before it
// can stand in one.
enum class PageClass : uint8_t {
  Anon,        // by set; 0: of nobody who could be read
  AnonShared,  // only of a sample, where sets are not known
  AnonUnmapped,
  File,  // by file where structs are known, else by set
  Shmem,
  HugetlbUsed,
  HugetlbFree,
  Slab,  // by cache where structs are known
  LargeKmalloc,
  PageTables,
  KernelStack,  // by process
  Compressed,
  KernelMapped,  // by set
  KernelCharged,
  KernelOther,  // neither charged nor typed; also boot, and at the lower tier
                // what is free on lists of a CPU
  Reserved,
  Balloon,
  Poisoned,
  FreeBuddy,
  FreeOther,  // held by nobody and not in the buddy's lists
  Unstable,
};
inline constexpr size_t kPageClassCount = 21;

// What pages are told apart by, beside their flags.
enum class TallyBy : uint8_t {
  Owner,   // files and shared memory by what they are
  Mapper,  // by who maps them
  Count,   // nobody was asked who maps them: by how often they are mapped
};

class PageTally {
 public:
  explicit PageTally(const PageSets& sets, TallyBy by = TallyBy::Owner)
      : sets_(sets), by_(by) {}

  // Frames of kernel stacks, by the process they are of.
  void set_stacks(const std::vector<model::KernelStack>& stacks);
  void add(const model::PageChunk& chunk);
  // What else has to be known of a page with these flags where nobody asks for
  // its struct or who maps it.
  static model::PageNeeds needs(uint64_t flags);

  const TallyTable& counts() const { return counts_; }
  uint64_t page_count() const { return page_count_; }
  uint64_t count_of(PageClass page_class) const {
    return class_counts_[static_cast<size_t>(page_class)];
  }
  bool has_structs() const { return has_structs_; }
  bool is_by_mapper() const { return by_ == TallyBy::Mapper; }

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
  void forget_disagreements() { std::vector<Page>().swap(disagreements_); }
  // A page that was counted as of set `from` is of `to`.
  void correct(const Page& page, SetId from, SetId to);

 private:
  friend class SampleTally;
  static Page page_of(const model::PageChunk& chunk, size_t index);
  TallyKey classify(const Page& page, SetId set) const;
  TallyKey classify_cache(const Page& page, SetId set) const;
  TallyKey classify_untyped(const Page& page, SetId set) const;
  void compare(const Page& page, SetId set);

  const PageSets& sets_;
  TallyBy by_ = TallyBy::Owner;
  std::unordered_map<uint64_t, int32_t> stacks_;
  TallyTable counts_;
  std::array<uint64_t, kPageClassCount> class_counts_{};
  uint64_t page_count_ = 0;
  bool has_structs_ = false;
  uint64_t mapped_count_ = 0;
  uint64_t agreeing_count_ = 0;
  std::vector<Page> disagreements_;
};

}  // namespace tidemark::analysis
