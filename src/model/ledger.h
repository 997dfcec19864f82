// An account of all RAM in which every page stands in exactly one row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_arena.h"

namespace tidemark::model {

enum class LedgerClass : uint8_t {
  AnonPrivate,   // anonymous, of one process
  AnonShared,    // anonymous, of several: forked and not written since
  AnonUnmapped,  // anonymous and mapped by nobody: in the swap cache
  File,          // page cache
  Shmem,         // tmpfs, memfd, SysV, shared anonymous
  Hugetlb,
  Slab,
  PageTables,
  KernelStacks,
  Vmalloc,
  Percpu,
  Compressed,    // the pool of zram and zswap
  KernelMapped,  // kernel pages that programs map: rings, BPF maps, vdso
  Kernel,        // kernel pages without a type
  Boot,          // never given to the allocator
  Balloon,       // given to the host, or offline
  Poisoned,      // broken
  Free,
  Unstable,  // changed while it was being read
  Unnamed,
};
inline constexpr size_t kLedgerClassCount = 20;

std::string_view ledger_class_token(
    LedgerClass ledger_class);  // "anon-private"
std::string_view ledger_class_label(LedgerClass ledger_class);
std::optional<LedgerClass> ledger_class_from_token(std::string_view token);

// How far one could look.
enum class LedgerTier : uint8_t {
  Counters,  // what the kernel counts: no page was looked at
  Pages,     // every page, its flags and who maps it
  Structs,   // and what the kernel notes about it
};
std::string_view ledger_tier_token(LedgerTier tier);

// Its texts are kept by the ledger: there may be fifty thousand rows, and each
// counts in what it says.
struct LedgerRow {
  LedgerClass ledger_class = LedgerClass::Unnamed;
  std::string_view owner;    // empty in a row that stands for its whole class
  uint64_t owner_count = 1;  // it stands for so many, which were not asked for
  uint64_t bytes = 0;
  std::string_view parent;   // the row it is part of; empty: it is part of none
  std::string_view note;     // what about it is not certain
  uint64_t error_bytes = 0;  // half the width of the 95 % interval; 0: counted
  bool operator==(const LedgerRow&) const = default;
};

struct Ledger {
  LedgerTier tier = LedgerTier::Counters;
  std::string tier_note;  // why not further
  uint64_t total_bytes = 0;
  uint64_t page_bytes = 4096;
  // Those without a parent add up to the total, to the byte; those of one
  // parent to their parent.
  std::vector<LedgerRow> rows;
  base::TextArena texts;  // of the rows
  uint64_t elapsed_ns = 0;
  uint64_t own_bytes = 0;  // what the walker itself took for it
  // Of the pages that programs map: found as often as the kernel says they
  // are mapped; mapped otherwise when looked at again; and those of processes
  // that may not be read.
  uint64_t mapped_pages = 0;
  uint64_t agreeing_pages = 0;
  uint64_t changed_pages = 0;
  uint64_t unreadable_pages = 0;
  uint64_t sampled_pages = 0;  // of a sample; 0: all were looked at
  uint64_t unseen_bytes = 0;   // what a class without a row may have there
  std::vector<std::string> notes;
};

}  // namespace tidemark::model
