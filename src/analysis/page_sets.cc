#include "analysis/page_sets.h"

#include <algorithm>
#include <utility>

namespace tidemark::analysis {
namespace {

// Many small tables grow one at a time, so that growing never takes much more
// than what is there.
constexpr size_t kTableBits = 8;
constexpr uint64_t kSetBits = 28;
constexpr uint64_t kSetMask = (uint64_t{1} << kSetBits) - 1;
constexpr size_t kFirstSlots = 16;

// Neighbours share a hash up to the last bits: they are asked for together.
constexpr uint64_t kRunBits = 3;

uint64_t hash_of(uint64_t frame) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  return (frame >> kRunBits) * kOdd;
}

}  // namespace

PageSets::PageSets() : tables_(size_t{1} << kTableBits), sets_(1) {}

size_t PageSets::table_of(uint64_t frame) {
  return hash_of(frame) >> (64 - kTableBits);
}

size_t PageSets::slot_of(uint64_t frame, size_t size) {
  const uint64_t low = hash_of(frame) << kTableBits >> 32;
  const uint64_t runs = size >> kRunBits;
  const uint64_t run = low * runs >> 32;
  return static_cast<size_t>((run << kRunBits) |
                             (frame & ((uint64_t{1} << kRunBits) - 1)));
}

void PageSets::grow(Table& table) {
  std::vector<uint64_t> old = std::move(table.slots);
  const size_t wanted = old.empty() ? kFirstSlots : old.size() + old.size() / 2;
  table.slots.assign((wanted + 7) & ~size_t{7}, 0);
  for (uint64_t entry : old) {
    if (entry == 0) continue;
    size_t at = slot_of(entry >> kSetBits, table.slots.size());
    while (table.slots[at] != 0)
      at = at + 1 == table.slots.size() ? 0 : at + 1;
    table.slots[at] = entry;
  }
}

uint64_t& PageSets::slot(uint64_t frame) {
  Table& table = tables_[table_of(frame)];
  // Full to four fifths at most.
  if (table.used * 5 >= table.slots.size() * 4) grow(table);
  size_t at = slot_of(frame, table.slots.size());
  while (table.slots[at] != 0 && table.slots[at] >> kSetBits != frame)
    at = at + 1 == table.slots.size() ? 0 : at + 1;
  uint64_t& entry = table.slots[at];
  if (entry == 0) {
    entry = frame << kSetBits;
    ++table.used;
    ++page_count_;
    // Frame 0 of the empty set would look like an empty slot; the first page of
    // RAM is never mapped by a program.
  }
  return entry;
}

SetId PageSets::with(SetId set, uint32_t process) {
  const uint64_t key = uint64_t{set} << 32 | process;
  auto [found, is_new] =
      known_.try_emplace(key, static_cast<SetId>(sets_.size()));
  if (is_new) {
    const bool is_private =
        set == 0 || (sets_[set].is_private && sets_[set].process == process);
    sets_.push_back({set, process, sets_[set].depth + 1, is_private, 0});
  }
  return found->second;
}

void PageSets::begin_process(uint32_t process) {
  process_ = process;
  last_to_ = 0;
}

void PageSets::add(std::span<const uint64_t> frames) {
  for (uint64_t frame : frames) {
    uint64_t& entry = slot(frame);
    const auto from = static_cast<SetId>(entry & kSetMask);
    if (last_to_ == 0 || from != last_from_) {
      last_from_ = from;
      last_to_ = with(from, process_);
    }
    if (from != 0) --sets_[from].page_count;
    ++sets_[last_to_].page_count;
    entry = frame << kSetBits | last_to_;
  }
}

SetId PageSets::set_of(const std::vector<SetMember>& members) {
  SetId set = 0;
  for (const SetMember& member : members) {
    for (uint32_t i = 0; i < member.times; ++i)
      set = with(set, member.process);
  }
  return set;
}

void PageSets::move(uint64_t frame, SetId to) {
  uint64_t& entry = slot(frame);
  const auto from = static_cast<SetId>(entry & kSetMask);
  if (from != 0) --sets_[from].page_count;
  if (to != 0) ++sets_[to].page_count;
  entry = frame << kSetBits | to;
}

SetId PageSets::find(uint64_t frame) const {
  const Table& table = tables_[table_of(frame)];
  if (table.slots.empty()) return 0;
  size_t at = slot_of(frame, table.slots.size());
  while (table.slots[at] != 0) {
    if (table.slots[at] >> kSetBits == frame) {
      return static_cast<SetId>(table.slots[at] & kSetMask);
    }
    at = at + 1 == table.slots.size() ? 0 : at + 1;
  }
  return 0;
}

std::vector<SetMember> PageSets::members(SetId set) const {
  std::vector<SetMember> members;
  for (SetId at = set; at != 0; at = sets_[at].without_last) {
    const uint32_t process = sets_[at].process;
    if (!members.empty() && members.back().process == process) {
      ++members.back().times;
    } else {
      members.push_back({process, 1});
    }
  }
  std::ranges::reverse(members);
  return members;
}

bool PageSets::is_private(SetId set) const {
  return sets_[set].is_private;
}

size_t PageSets::memory_bytes() const {
  size_t bytes =
      sets_.capacity() * sizeof(Set) + known_.size() * 4 * sizeof(uint64_t);
  for (const Table& table : tables_)
    bytes += table.slots.capacity() * sizeof(uint64_t);
  return bytes;
}

void PageSets::for_each(
    const std::function<void(uint64_t frame, SetId set)>& visit) const {
  for (const Table& table : tables_) {
    for (uint64_t entry : table.slots) {
      if (entry != 0) {
        visit(entry >> kSetBits, static_cast<SetId>(entry & kSetMask));
      }
    }
  }
}

std::vector<uint64_t> PageSets::frames() const {
  std::vector<uint64_t> frames;
  frames.reserve(page_count_);
  for_each([&](uint64_t frame, SetId) { frames.push_back(frame); });
  std::ranges::sort(frames);
  return frames;
}

}  // namespace tidemark::analysis
