// What the kernel notes for every page it gives out (page_owner): who took it,
// when, by which road.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::model {

// One block of pages. The texts are views into the dump and end with the visit:
// a machine has millions of these, and few differ.
struct PageOwnerRecord {
  uint32_t order = 0;  // 2^order pages
  uint64_t gfp_mask = 0;
  std::string_view gfp_names;  // "GFP_KERNEL|__GFP_ZERO"; empty when not told
  // Kernels before 5.11 tell neither pid nor times, those before 5.18 no tgid
  // and no comm.
  std::optional<int32_t> pid;   // of the thread
  std::optional<int32_t> tgid;  // of its thread group
  std::string_view comm;
  std::optional<uint64_t> taken_ns;  // since boot, without times of suspend
  // When the block was last given back before; not told since 6.12.
  std::optional<uint64_t> freed_ns;
  uint64_t pfn = 0;
  std::string_view migrate_type;  // "Unmovable", "CMA"
  std::string_view block_type;    // the same, of the pages around it
  std::string_view page_flags;    // "referenced|uptodate|lru|section=0|zone=0"
  // Lines " symbol+0x1/0x2 [module]", innermost first, as they are printed.
  std::string_view stack;
  bool is_migrated = false;
  std::string_view migrate_reason;  // of the last time
  bool is_slab = false;             // slab of a memory group's objects
  bool is_charged = false;
  bool is_charged_by_object = false;  // kernel memory: through an objcg
  bool is_memcg_offline = false;
  std::string_view memcg;  // the group's own name, not its path
  bool operator==(const PageOwnerRecord&) const = default;

  uint64_t pages() const { return uint64_t{1} << order; }
};
// The largest order a record may claim: 2^order pages must fit into a number
// with room to sum. The kernel's largest is 10, 13 on some builds.
inline constexpr uint32_t kLargestPageOrder = 40;

// Which records count: those that are in every list that is not empty. A record
// that does not tell what is asked for is in none.
struct PageOwnerSelection {
  std::vector<int32_t> pids;
  std::vector<int32_t> tgids;
  std::vector<std::string> names;  // comms, whole
  bool operator==(const PageOwnerSelection&) const = default;

  bool has(const PageOwnerRecord& record) const;
};

// A stack of page_owner_stacks with what is held through it.
struct PageOwnerStack {
  std::string_view stack;          // as above; empty in show_handles
  std::optional<uint64_t> handle;  // the kernel's number for it
  std::optional<uint64_t> pages;   // empty in show_stacks_handles
  // The first version of the file counted blocks of whatever order.
  std::optional<uint64_t> blocks;
  bool operator==(const PageOwnerStack&) const = default;
};

// The kernel notes one of three made-up stacks where it has no real one.
enum class StackStandIn : uint8_t {
  None,
  Early,   // taken before page_owner was ready
  Nested,  // taken while a stack was being noted
  Failed,  // no memory was left to note the stack
};

// What the text of a stack tells. Whoever reads many records asks once for each
// stack, because this searches the whole text.
struct StackTraits {
  StackStandIn stand_in = StackStandIn::None;
  bool is_slab = false;
  bool is_vmalloc = false;
  bool operator==(const StackTraits&) const = default;
};
StackTraits stack_traits(std::string_view stack);

// Sums over a dump, in pages unless said otherwise.
struct PageOwnerTotals {
  uint64_t records = 0;
  uint64_t pages = 0;
  uint64_t slab_pages = 0;
  uint64_t charged_pages = 0;
  uint64_t migrated_pages = 0;
  // Stacks that stand for what could not be noted.
  uint64_t early_pages = 0;
  uint64_t nested_pages = 0;
  uint64_t failed_pages = 0;
  uint64_t broken_records = 0;  // cut off or unreadable: not among the records
  uint64_t stray_lines = 0;     // that belong to no record
  bool operator==(const PageOwnerTotals&) const = default;

  void add(const PageOwnerRecord& record, const StackTraits& traits);
};

// Who within the kernel handed the pages on, as page_owner_sort tells it apart.
// At most one applies: neither slab nor vmalloc takes movable pages.
enum class PageAllocator : uint8_t { Others, Cma, Slab, Vmalloc };
std::string_view page_allocator_token(PageAllocator allocator);  // "slab"
PageAllocator page_allocator_of(const PageOwnerRecord& record,
                                const StackTraits& traits);

}  // namespace tidemark::model
