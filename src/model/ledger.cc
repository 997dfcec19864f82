#include "model/ledger.h"

#include <array>

namespace tidemark::model {
namespace {

struct ClassName {
  std::string_view token;
  std::string_view label;
};

constexpr std::array<ClassName, kLedgerClassCount> kNames = {{
    {"anon-private", "anonymous, one process"},
    {"anon-shared", "anonymous, shared"},
    {"anon-unmapped", "anonymous, mapped by nobody"},
    {"file", "files"},
    {"shmem", "shared memory and tmpfs"},
    {"hugetlb", "huge page pool"},
    {"slab", "slab"},
    {"page-tables", "page tables"},
    {"kernel-stacks", "kernel stacks"},
    {"vmalloc", "vmalloc"},
    {"percpu", "per-CPU"},
    {"compressed", "compressed swap"},
    {"kernel-mapped", "kernel pages mapped by programs"},
    {"kernel", "kernel pages without a type"},
    {"boot", "taken at boot"},
    {"balloon", "balloon or offline"},
    {"poisoned", "broken"},
    {"free", "free"},
    {"unstable", "changed while read"},
    {"unnamed", "unnamed"},
}};

constexpr std::array<std::string_view, 3> kTiers = {"counters", "pages",
                                                    "structs"};

}  // namespace

std::string_view ledger_class_token(LedgerClass ledger_class) {
  return kNames[static_cast<size_t>(ledger_class)].token;
}

std::string_view ledger_class_label(LedgerClass ledger_class) {
  return kNames[static_cast<size_t>(ledger_class)].label;
}

std::optional<LedgerClass> ledger_class_from_token(std::string_view token) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].token == token) return static_cast<LedgerClass>(i);
  }
  return std::nullopt;
}

std::string_view ledger_tier_token(LedgerTier tier) {
  return kTiers[static_cast<size_t>(tier)];
}

}  // namespace tidemark::model
