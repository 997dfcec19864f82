#include "analysis/tally_table.h"

#include <algorithm>
#include <limits>

namespace tidemark::analysis {
namespace {

constexpr size_t kFirstSlots = 1024;
constexpr uint32_t kClassBits = 8;
constexpr size_t kMostGroups = (size_t{1} << (32 - kClassBits)) - 2;
constexpr uint32_t kMostPages = std::numeric_limits<uint32_t>::max();

// Its upper bits are the well mixed ones.
uint64_t hash_of(uint64_t owner, uint32_t tag) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  uint64_t hash = (owner ^ tag) * kOdd;
  hash = ((hash >> 29) ^ hash ^ tag) * kOdd;
  return (hash ^ (hash >> 32)) * kOdd;
}

}  // namespace

TallyKey TallyTable::key_of(const Slot& slot) const {
  return {static_cast<PageClass>(slot.tag & ((1U << kClassBits) - 1)),
          slot.owner, groups_[(slot.tag >> kClassBits) - 1]};
}

uint32_t TallyTable::tag_of(const TallyKey& key) {
  if (groups_.empty() || key.group != last_group_) {
    const auto found = group_places_.find(key.group);
    if (found == group_places_.end()) {
      if (groups_.size() >= kMostGroups) return 0;
      groups_.push_back(key.group);
      group_places_[key.group] = static_cast<uint32_t>(groups_.size());
      last_place_ = static_cast<uint32_t>(groups_.size());
    } else {
      last_place_ = found->second;
    }
    last_group_ = key.group;
  }
  return (last_place_ << kClassBits) | static_cast<uint32_t>(key.page_class);
}

// The key's slot, or the free one where it belongs.
TallyTable::Slot& TallyTable::find(uint64_t owner, uint32_t tag) {
  // Spreads over any number of slots, so that growing by half is possible.
  const uint64_t upper = hash_of(owner, tag) >> 32;
  auto place = static_cast<size_t>((upper * slots_.size()) >> 32);
  while (true) {
    Slot& slot = slots_[place];
    if (slot.tag == 0 || (slot.owner == owner && slot.tag == tag)) return slot;
    if (++place == slots_.size()) place = 0;
  }
}

// By half and not to the double, and late: what is free in it counts too.
void TallyTable::grow() {
  const std::vector<Slot> old = std::exchange(slots_, {});
  slots_ = std::vector<Slot>(old.empty() ? kFirstSlots
                                         : old.size() + old.size() / 2);
  for (const Slot& slot : old) {
    if (slot.tag != 0) find(slot.owner, slot.tag) = slot;
  }
}

void TallyTable::add(const TallyKey& key, uint64_t pages) {
  const uint32_t tag = key.owner == 0 ? 0 : tag_of(key);
  if (tag == 0) {
    large_[key] += pages;
    return;
  }
  if (5 * (size_ + 1) > 4 * slots_.size()) grow();
  Slot& slot = find(key.owner, tag);
  if (slot.tag == 0) {
    slot = {key.owner, 0, tag};
    ++size_;
  }
  const uint64_t here = std::min<uint64_t>(pages, kMostPages - slot.pages);
  slot.pages += static_cast<uint32_t>(here);
  if (here < pages) large_[key] += pages - here;
}

void TallyTable::subtract(const TallyKey& key, uint64_t pages) {
  const uint32_t tag = key.owner == 0 ? 0 : tag_of(key);
  if (tag != 0 && !slots_.empty()) {
    Slot& slot = find(key.owner, tag);
    const uint64_t here = std::min<uint64_t>(pages, slot.pages);
    slot.pages -= static_cast<uint32_t>(here);
    pages -= here;
  }
  if (pages > 0) large_[key] -= pages;
}

}  // namespace tidemark::analysis
