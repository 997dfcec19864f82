#include "analysis/page_owner_report.h"

#include <algorithm>
#include <compare>
#include <initializer_list>
#include <utility>

#include "base/text.h"

namespace tidemark::analysis {
namespace {

using model::PageAllocator;
using model::PageOwnerRecord;

std::vector<std::string> frames_of(std::string_view stack) {
  std::vector<std::string> frames;
  while (!stack.empty()) {
    const std::string_view line = base::take_line(stack);
    if (line.starts_with(' ')) frames.emplace_back(base::trim(line));
  }
  return frames;
}

// Empty from the first record that differs; an empty one stays so.
template <typename T, typename Told>
void keep_common(std::optional<T>& common, const std::optional<Told>& told) {
  if (common && (!told || *common != *told)) common.reset();
}

std::optional<std::string_view> name_of(const PageOwnerRecord& record) {
  if (!record.tgid) return std::nullopt;
  return record.comm;
}

PageOwnerRow first_of(const PageOwnerRecord& record, PageAllocator allocator) {
  PageOwnerRow row;
  row.pid = record.pid;
  row.tgid = record.tgid;
  if (record.tgid) row.name = std::string(record.comm);
  row.allocator = allocator;
  return row;
}

void add_to(PageOwnerRow& row, const PageOwnerRecord& record,
            PageAllocator allocator) {
  ++row.blocks;
  row.pages += record.pages();
  keep_common(row.pid, record.pid);
  keep_common(row.tgid, record.tgid);
  keep_common(row.name, name_of(record));
  keep_common(row.allocator, std::optional(allocator));
  if (record.freed_ns) {
    row.freed_ns =
        std::min(row.freed_ns.value_or(*record.freed_ns), *record.freed_ns);
  }
  if (!record.taken_ns) return;
  const uint64_t taken_ns = *record.taken_ns;
  row.oldest_ns = std::min(row.oldest_ns.value_or(taken_ns), taken_ns);
  row.newest_ns = std::max(row.newest_ns.value_or(taken_ns), taken_ns);
}

std::strong_ordering compare(const PageOwnerRow& a, const PageOwnerRow& b,
                             PageOwnerSortKey key) {
  switch (key) {
    case PageOwnerSortKey::Memory:
      return a.pages <=> b.pages;
    case PageOwnerSortKey::Count:
      return a.blocks <=> b.blocks;
    case PageOwnerSortKey::Time:
      return a.oldest_ns <=> b.oldest_ns;
    case PageOwnerSortKey::FreeTime:
      return a.freed_ns <=> b.freed_ns;
    case PageOwnerSortKey::Pid:
      return a.pid <=> b.pid;
    case PageOwnerSortKey::Tgid:
      return a.tgid <=> b.tgid;
    case PageOwnerSortKey::Name:
      return a.name <=> b.name;
    case PageOwnerSortKey::Stack:
      return a.frames <=> b.frames;
    case PageOwnerSortKey::Allocator:
      return a.allocator <=> b.allocator;
  }
  return std::strong_ordering::equal;
}

void sort_rows(std::vector<PageOwnerRow>& rows,
               std::vector<PageOwnerOrder> orders) {
  // Groups differ in one of these, so the outcome is the same every time.
  for (const PageOwnerOrder& last : std::initializer_list<PageOwnerOrder>{
           {PageOwnerSortKey::Memory, true},
           {PageOwnerSortKey::Tgid, false},
           {PageOwnerSortKey::Pid, false},
           {PageOwnerSortKey::Name, false},
           {PageOwnerSortKey::Allocator, false},
           {PageOwnerSortKey::Stack, false}}) {
    orders.push_back(last);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const PageOwnerRow& a, const PageOwnerRow& b) {
                     for (const PageOwnerOrder& order : orders) {
                       const std::strong_ordering how =
                           compare(a, b, order.key);
                       if (how == std::strong_ordering::equal) continue;
                       return order.is_descending ? how > 0 : how < 0;
                     }
                     return false;
                   });
}

void fold(PageOwnerReport& report, uint64_t top) {
  if (report.rows.size() <= top) return;
  for (size_t i = top; i < report.rows.size(); ++i)
    report.folded_pages += report.rows[i].pages;
  report.folded_count = report.rows.size() - top;
  report.rows.resize(top);
}

}  // namespace

const PageOwnerGroups::Stack& PageOwnerGroups::stack_of(std::string_view text) {
  const auto known = stacks_.find(text);
  if (known != stacks_.end()) return known->second;
  const Stack stack{static_cast<uint32_t>(stacks_.size()),
                    model::stack_traits(text)};
  return stacks_.try_emplace(std::string(text), stack).first->second;
}

// Numbers end in a blank and the name stands last, so no two groups share
// a key. What is not told is a dash.
void PageOwnerGroups::make_key(const PageOwnerRecord& record,
                               const Stack& stack, PageAllocator allocator) {
  const PageOwnerGrouping& by = options_.group_by;
  const auto add = [&](const std::string& part) { (key_ += part) += ' '; };
  const auto text_of = [](std::optional<int32_t> id) {
    return id ? std::to_string(*id) : std::string("-");
  };
  key_.clear();
  if (by.by_stack) add(std::to_string(stack.id));
  if (by.by_pid) add(text_of(record.pid));
  if (by.by_tgid) add(text_of(record.tgid));
  if (by.by_allocator) add(std::to_string(static_cast<int>(allocator)));
  if (by.by_name) (key_ += record.tgid ? '=' : '-').append(record.comm);
}

void PageOwnerGroups::add(const PageOwnerRecord& record) {
  if (!options_.selection.has(record)) {
    ++unselected_records_;
    unselected_pages_ += record.pages();
    return;
  }
  const Stack& stack = stack_of(record.stack);
  totals_.add(record, stack.traits);
  const PageAllocator allocator = page_allocator_of(record, stack.traits);
  make_key(record, stack, allocator);
  auto group = groups_.find(key_);
  if (group == groups_.end()) {
    group = groups_.try_emplace(key_, rows_.size()).first;
    rows_.push_back(first_of(record, allocator));
    if (options_.group_by.by_stack) {
      rows_.back().frames = frames_of(record.stack);
    }
  }
  add_to(rows_[group->second], record, allocator);
}

void PageOwnerGroups::add_faults(uint64_t broken_records,
                                 uint64_t stray_lines) {
  totals_.broken_records += broken_records;
  totals_.stray_lines += stray_lines;
}

PageOwnerReport PageOwnerGroups::finish() {
  PageOwnerReport report;
  report.page_size_bytes = options_.page_size_bytes;
  report.group_by = options_.group_by;
  report.totals = totals_;
  report.unselected_records = unselected_records_;
  report.unselected_pages = unselected_pages_;
  report.rows = std::move(rows_);
  sort_rows(report.rows, options_.sort_by);
  if (options_.top) fold(report, *options_.top);
  return report;
}

}  // namespace tidemark::analysis
