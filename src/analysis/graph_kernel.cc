#include "analysis/graph_kernel.h"

#include <algorithm>

namespace tidemark::analysis {
namespace {

using model::LedgerClass;

uint64_t sum_known(std::initializer_list<std::optional<uint64_t>> parts) {
  uint64_t sum = 0;
  for (const std::optional<uint64_t>& part : parts)
    sum += part.value_or(0);
  return sum;
}

uint64_t less(uint64_t from, uint64_t bytes) {
  return from - std::min(from, bytes);
}

// Gives out a whole in parts, never more than there is.
class Pool {
 public:
  explicit Pool(uint64_t bytes) : left_(bytes) {}
  uint64_t take(uint64_t wanted) {
    const uint64_t taken = std::min(wanted, left_);
    left_ -= taken;
    return taken;
  }
  uint64_t left() const { return left_; }

 private:
  uint64_t left_;
};

void set_slab_used(KernelShares& shares, const SlabCaches& slab) {
  if (!slab) return;
  uint64_t used = 0;
  for (const model::SlabCache& cache : *slab) {
    uint64_t bytes = 0;
    const bool is_absurd = __builtin_mul_overflow(cache.active_objects,
                                                  cache.object_bytes, &bytes);
    used = is_absurd || used + bytes < used ? UINT64_MAX : used + bytes;
  }
  shares.slab_used_bytes = std::min(used, shares.slab_bytes);
}

// The member of the shares a class of the ledger belongs to; null: the rest.
uint64_t* share_of(KernelShares& shares, LedgerClass ledger_class) {
  switch (ledger_class) {
    case LedgerClass::AnonPrivate:
    case LedgerClass::AnonShared:
    case LedgerClass::AnonUnmapped:
      return &shares.anon_bytes;
    case LedgerClass::File:
      return &shares.file_bytes;
    case LedgerClass::Shmem:
      return &shares.shmem_bytes;
    case LedgerClass::Hugetlb:
      return &shares.hugetlb_bytes;
    case LedgerClass::KernelMapped:
      return &shares.kernel_mapped_bytes;
    case LedgerClass::Slab:
      return &shares.slab_bytes;
    case LedgerClass::PageTables:
      return &shares.page_table_bytes;
    case LedgerClass::Boot:
      return &shares.boot_bytes;
    case LedgerClass::Free:
      return &shares.free_bytes;
    default:
      return nullptr;
  }
}

}  // namespace

uint64_t KernelShares::vmo_bytes() const {
  return anon_bytes + file_bytes + shmem_bytes + hugetlb_bytes +
         kernel_mapped_bytes + moved_bytes;
}

uint64_t KernelShares::other_bytes() const {
  uint64_t sum = 0;
  for (const auto& [name, bytes] : others)
    sum += bytes;
  return sum;
}

KernelShares shares_of_ledger(const model::Ledger& ledger,
                              const SlabCaches& slab) {
  KernelShares shares;
  shares.total_bytes = ledger.total_bytes;
  // Rows without a parent add up to the total; those with one are in them.
  for (const model::LedgerRow& row : ledger.rows) {
    if (!row.parent.empty()) continue;
    uint64_t* share = share_of(shares, row.ledger_class);
    if (share != nullptr) {
      *share += row.bytes;
      continue;
    }
    const std::string name(model::ledger_class_token(row.ledger_class));
    auto known = std::ranges::find(shares.others, name,
                                   &std::pair<std::string, uint64_t>::first);
    if (known != shares.others.end()) {
      known->second += row.bytes;
    } else {
      shares.others.emplace_back(name, row.bytes);
    }
  }
  set_slab_used(shares, slab);
  return shares;
}

// Identities behind the sum (all of meminfo unless said): Cached holds shmem,
// but neither Buffers nor the swap cache. Of the latter what is mapped is in
// AnonPages already, so that it is left to the rest. Kernel stacks are in
// VmallocUsed. Pages on per-CPU lists (zoneinfo) are free and in no line.
base::Result<KernelShares> shares_of_counters(const model::Machine& machine,
                                              const SlabCaches& slab) {
  const model::MemInfo& m = machine.meminfo;
  if (!m.total_bytes) {
    return base::fail(base::ErrorKind::Unsupported,
                      "meminfo does not tell the machine's memory");
  }
  KernelShares shares;
  shares.total_bytes = *m.total_bytes;
  Pool pool(shares.total_bytes);
  uint64_t lists = 0;
  if (machine.zoneinfo) {
    lists = machine.zoneinfo->per_cpu_free_pages * machine.page_size_bytes;
  }
  const uint64_t shmem = m.shmem_bytes.value_or(0);
  const uint64_t stacks = m.kernel_stack_bytes.value_or(0);
  shares.free_bytes = pool.take(m.free_bytes.value_or(0));
  shares.free_bytes += pool.take(lists);
  shares.anon_bytes = pool.take(m.anon_pages_bytes.value_or(0));
  shares.shmem_bytes = pool.take(shmem);
  shares.file_bytes =
      pool.take(less(sum_known({m.cached_bytes, m.buffers_bytes}), shmem));
  shares.hugetlb_bytes = pool.take(m.hugetlb_bytes.value_or(0));
  shares.slab_bytes = pool.take(
      sum_known({m.slab_reclaimable_bytes, m.slab_unreclaimable_bytes}));
  shares.page_table_bytes = pool.take(
      sum_known({m.page_tables_bytes, m.secondary_page_tables_bytes}));
  const auto add = [&](LedgerClass ledger_class, uint64_t bytes) {
    const uint64_t taken = pool.take(bytes);
    if (taken == 0 && ledger_class != LedgerClass::Unnamed) return;
    shares.others.emplace_back(model::ledger_class_token(ledger_class), taken);
  };
  add(LedgerClass::KernelStacks, stacks);
  add(LedgerClass::Vmalloc, less(m.vmalloc_used_bytes.value_or(0), stacks));
  add(LedgerClass::Percpu, m.percpu_bytes.value_or(0));
  add(LedgerClass::Compressed, m.zswap_bytes.value_or(0));
  add(LedgerClass::Unnamed, pool.left());
  set_slab_used(shares, slab);
  return shares;
}

uint64_t make_room(KernelShares& shares, uint64_t vmo_bytes) {
  const uint64_t missing = less(vmo_bytes, shares.vmo_bytes());
  uint64_t left = missing;
  const auto take_from = [&](uint64_t& source) {
    const uint64_t taken = std::min(source, left);
    source -= taken;
    left -= taken;
  };
  for (size_t i = shares.others.size(); i > 0; --i)
    take_from(shares.others[i - 1].second);
  take_from(shares.free_bytes);
  const uint64_t room = UINT64_MAX - shares.total_bytes;
  shares.total_bytes += std::min(left, room);
  shares.moved_bytes += missing;
  return missing;
}

}  // namespace tidemark::analysis
