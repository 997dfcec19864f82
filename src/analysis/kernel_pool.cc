#include "analysis/kernel_pool.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace tidemark::analysis {
namespace {

bool is_of_stack(const model::VmallocArea& area) {
  constexpr std::string_view kCallers[] = {
      "kernel_clone", "fork_idle",          "dup_task_struct",
      "copy_process", "alloc_thread_stack", "create_io_thread",
      "vhost_task"};
  return std::ranges::any_of(kCallers, [&](std::string_view caller) {
    return area.caller.starts_with(caller);
  });
}

uint64_t given_pages(const LedgerInput& input) {
  return input.meminfo.total_bytes.value_or(0) / input.page_bytes;
}

}  // namespace

uint64_t KernelPool::take(uint64_t pages) {
  const uint64_t taken = std::min(pages, other_);
  other_ -= taken;
  return taken;
}

uint64_t KernelPool::take_charged(uint64_t group, uint64_t pages) {
  const auto found = charged_.find(group);
  if (found == charged_.end()) return 0;
  const uint64_t taken = std::min(pages, found->second);
  found->second -= taken;
  return taken;
}

uint64_t KernelPool::charged_pages() const {
  uint64_t pages = 0;
  for (const auto& [group, count] : charged_)
    pages += count;
  return pages;
}

uint64_t never_given_pages(const LedgerInput& input) {
  const uint64_t total = input.tally->page_count();
  return total - std::min(total, given_pages(input));
}

FreeElsewhere free_elsewhere(const LedgerInput& input) {
  const uint64_t managed = input.zoneinfo.managed_pages;
  const uint64_t given = given_pages(input);
  return {managed != 0 && given > managed ? given - managed : 0,
          input.zoneinfo.per_cpu_free_pages};
}

uint64_t stack_pages_each(const LedgerInput& input) {
  uint64_t threads = 0;
  for (const LedgerProcess& process : input.processes)
    threads += process.thread_count;
  const uint64_t pages =
      input.meminfo.kernel_stack_bytes.value_or(0) / input.page_bytes;
  if (threads == 0 || pages == 0) return 0;
  uint64_t each = 1;
  // More stacks than threads: some are kept for the next task.
  while (each <= pages / threads / 2)
    each *= 2;
  return each;
}

uint64_t later_percpu_pages(const LedgerInput& input) {
  if (!input.kernel.vmalloc) return 0;
  const bool has_later_chunks = std::ranges::any_of(
      input.kernel.vmalloc->areas, [](const model::VmallocArea& area) {
        return area.caller.starts_with("pcpu_get_vm_areas");
      });
  if (!has_later_chunks) return 0;
  return input.meminfo.percpu_bytes.value_or(0) / input.page_bytes;
}

VmallocUse vmalloc_use(const LedgerInput& input) {
  VmallocUse use;
  if (!input.kernel.vmalloc) return use;
  std::map<std::string, uint64_t> callers;
  for (const model::VmallocArea& area : input.kernel.vmalloc->areas) {
    if (area.kind != model::VmallocKind::Vmalloc) continue;
    const uint64_t pages = area.pages.value_or(0);
    if (is_of_stack(area)) {
      use.stack_pages += pages;
    } else {
      callers[area.caller.substr(0, area.caller.find('+'))] += pages;
    }
  }
  use.callers.reserve(callers.size());
  for (const auto& [caller, pages] : callers) {
    use.callers.emplace_back(pages, caller);
    use.caller_pages += pages;
  }
  std::ranges::sort(use.callers, std::greater());
  return use;
}

uint64_t counted_other_pages(const LedgerInput& input) {
  const PageTally& tally = *input.tally;
  const FreeElsewhere elsewhere = free_elsewhere(input);
  const uint64_t stacks =
      input.meminfo.kernel_stack_bytes.value_or(0) / input.page_bytes;
  const uint64_t charged = tally.count_of(PageClass::KernelCharged);
  // Each without what stands elsewhere already.
  const std::pair<uint64_t, uint64_t> uses[] = {
      {never_given_pages(input), tally.count_of(PageClass::Reserved)},
      {elsewhere.untouched_pages, 0},
      {elsewhere.per_cpu_pages, 0},
      {stacks, charged},
      {later_percpu_pages(input), 0},
      {vmalloc_use(input).caller_pages,
       tally.count_of(PageClass::KernelMapped) + charged -
           std::min(charged, stacks)}};
  uint64_t left = tally.page_count();
  for (const auto& [pages, elsewhere_pages] : uses)
    left -= std::min(left, pages - std::min(pages, elsewhere_pages));
  return tally.page_count() - left;
}

}  // namespace tidemark::analysis
