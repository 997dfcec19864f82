#include "model/page_owner.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tidemark::model {
namespace {

constexpr std::array<std::pair<std::string_view, StackStandIn>, 3> kStandIns = {
    {{" register_early_stack+", StackStandIn::Early},
     {" register_dummy_stack+", StackStandIn::Nested},
     {" register_failure_stack+", StackStandIn::Failed}}};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool has_slab_flag(std::string_view flags) {
  while (!flags.empty()) {
    const size_t end = flags.find('|');
    if (flags.substr(0, end) == "slab") return true;
    flags.remove_prefix(end == std::string_view::npos ? flags.size() : end + 1);
  }
  return false;
}

// Between the allocator and vmalloc stands nothing: the page tables that a
// vmalloc needs, for one, are not its memory.
bool is_vmalloc_stack(std::string_view stack) {
  const size_t range = stack.find("\n __vmalloc_node_range");
  if (range == std::string_view::npos) return false;
  std::string_view before = stack.substr(0, range);
  const size_t line = before.rfind('\n');
  if (line != std::string_view::npos) before.remove_prefix(line + 1);
  return contains(before, "alloc_pages") ||
         contains(before, " __vmalloc_area_node+");
}

bool is_slab(const PageOwnerRecord& record, const StackTraits& traits) {
  return record.is_slab || traits.is_slab || has_slab_flag(record.page_flags);
}

bool is_among(const std::vector<int32_t>& wanted, std::optional<int32_t> id) {
  if (wanted.empty()) return true;
  return id && std::find(wanted.begin(), wanted.end(), *id) != wanted.end();
}

}  // namespace

bool PageOwnerSelection::has(const PageOwnerRecord& record) const {
  if (!is_among(pids, record.pid) || !is_among(tgids, record.tgid)) {
    return false;
  }
  // A name needs a task: older kernels tell none.
  return names.empty() ||
         (record.tgid &&
          std::find(names.begin(), names.end(), record.comm) != names.end());
}

StackTraits stack_traits(std::string_view stack) {
  StackTraits traits;
  for (const auto& [frame, stand_in] : kStandIns) {
    if (contains(stack, frame)) traits.stand_in = stand_in;
  }
  // The page flag is gone since 6.10, and the line of the memory group is only
  // there where objects are charged; the function is there always.
  traits.is_slab =
      contains(stack, " alloc_slab_page") || contains(stack, " allocate_slab+");
  traits.is_vmalloc = is_vmalloc_stack(stack);
  return traits;
}

void PageOwnerTotals::add(const PageOwnerRecord& record,
                          const StackTraits& traits) {
  ++records;
  const uint64_t count = record.pages();
  pages += count;
  if (is_slab(record, traits)) slab_pages += count;
  if (record.is_charged) charged_pages += count;
  if (record.is_migrated) migrated_pages += count;
  if (traits.stand_in == StackStandIn::Early) early_pages += count;
  if (traits.stand_in == StackStandIn::Nested) nested_pages += count;
  if (traits.stand_in == StackStandIn::Failed) failed_pages += count;
}

std::string_view page_allocator_token(PageAllocator allocator) {
  constexpr std::string_view kTokens[] = {"others", "cma", "slab", "vmalloc"};
  return kTokens[static_cast<size_t>(allocator)];
}

PageAllocator page_allocator_of(const PageOwnerRecord& record,
                                const StackTraits& traits) {
  if (record.migrate_type == "CMA" || record.block_type == "CMA") {
    return PageAllocator::Cma;
  }
  if (is_slab(record, traits)) return PageAllocator::Slab;
  if (traits.is_vmalloc) return PageAllocator::Vmalloc;
  return PageAllocator::Others;
}

}  // namespace tidemark::model
