#include "analysis/machine_account.h"

#include <algorithm>

namespace tidemark::analysis {
namespace {

using model::Category;
using model::MemInfo;

int64_t signed_bytes(std::optional<uint64_t> bytes) {
  return static_cast<int64_t>(bytes.value_or(0));
}

int64_t signed_sum_known(std::initializer_list<std::optional<uint64_t>> parts) {
  int64_t sum = 0;
  for (const std::optional<uint64_t>& part : parts)
    sum += signed_bytes(part);
  return sum;
}

}  // namespace

// Identities behind the sums (all from meminfo unless said):
// - Cached holds shmem but no swap cache and no Buffers;
// - AnonPages, and Cached + Buffers, split exactly into what processes map
//   (their PSS parts) and what they do not;
// - VmallocUsed holds the kernel stacks where they are vmapped, which is
//   everywhere since 4.9: they are taken out of it, not counted twice;
// - pages on per-CPU lists (zoneinfo) are free, but in no line of meminfo.
std::optional<MachineAccount> make_machine_account(
    const model::Machine& machine, const Use& all) {
  const MemInfo& m = machine.meminfo;
  if (!m.total_bytes || !m.free_bytes || *m.free_bytes > *m.total_bytes) {
    return std::nullopt;
  }
  MachineAccount account;
  account.total_bytes = *m.total_bytes;
  account.used_bytes = *m.total_bytes - *m.free_bytes;
  account.processes = all.in_ram();

  const auto add = [&](const char* token, const char* name, Category category,
                       int64_t bytes) {
    if (bytes != 0) account.others.push_back({token, name, category, bytes});
  };
  const bool has_split = !all.pss_anon.is_unknown();
  const int64_t cache = signed_sum_known({m.cached_bytes, m.buffers_bytes});
  const int64_t shmem = signed_bytes(m.shmem_bytes);
  const int64_t anon =
      signed_sum_known({m.anon_pages_bytes, m.swap_cached_bytes});
  if (has_split) {
    add("page_cache", "page cache, not mapped", Category::File,
        cache - shmem - static_cast<int64_t>(all.pss_file.bytes));
    add("shared_memory", "shared memory, not mapped", Category::Shm,
        shmem - static_cast<int64_t>(all.pss_shmem.bytes));
    add("anonymous", "anonymous, of none of these", Category::Anon,
        anon - static_cast<int64_t>(all.pss_anon.bytes));
  } else {
    add("page_cache", "cache and anonymous, of none of these", Category::File,
        cache + anon - static_cast<int64_t>(all.pss.bytes));
  }
  // Huge pages in use are in the processes' sum; the rest of the pool is not.
  add("huge_pages", "huge pages, not mapped", Category::Huge,
      signed_bytes(m.hugetlb_bytes) - static_cast<int64_t>(all.hugetlb.bytes));
  add("slab", "slab", Category::Slab,
      signed_sum_known({m.slab_reclaimable_bytes, m.slab_unreclaimable_bytes}));
  add("page_tables", "page tables", Category::Ptab,
      signed_sum_known({m.page_tables_bytes, m.secondary_page_tables_bytes}));
  add("kernel_stacks", "kernel stacks", Category::Kern,
      signed_bytes(m.kernel_stack_bytes));
  add("vmalloc", "vmalloc", Category::Kern,
      std::max<int64_t>(0, signed_bytes(m.vmalloc_used_bytes) -
                               signed_bytes(m.kernel_stack_bytes)));
  add("percpu", "per-CPU data", Category::Kern, signed_bytes(m.percpu_bytes));
  if (machine.zoneinfo) {
    add("per_cpu_lists", "free, on per-CPU lists", Category::Free,
        static_cast<int64_t>(machine.zoneinfo->per_cpu_free_pages *
                             machine.page_size_bytes));
  }
  int64_t named = static_cast<int64_t>(account.processes.bytes);
  for (const AccountLine& line : account.others)
    named += line.bytes;
  account.not_explained_bytes =
      static_cast<int64_t>(account.used_bytes) - named;
  return account;
}

}  // namespace tidemark::analysis
