// Which processes map each page, for every mapped page of the machine. Pages
// with the same mappers share a set, so a page costs eight bytes and a little
// air however many map it, and whatever is asked of shares is answered from the
// sets and the number of pages in each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tidemark::analysis {

// 0 is the empty set.
using SetId = uint32_t;

struct SetMember {
  uint32_t process = 0;  // as given to begin_process()
  uint32_t times = 0;    // it maps such a page
  bool operator==(const SetMember&) const = default;
};

class PageSets {
 public:
  PageSets();

  // The pages that follow are mapped by it. Each process comes once.
  void begin_process(uint32_t process);
  void add(std::span<const uint64_t> frames);
  // The set of these, in the order in which processes begin. It may be new.
  SetId set_of(const std::vector<SetMember>& members);
  // Which frame is in which set; the sets and what they count stay.
  void forget_pages() { tables_ = std::vector<Table>(tables_.size()); }
  // Another look has found other mappers.
  void move(uint64_t frame, SetId to);

  SetId find(uint64_t frame) const;

  size_t set_count() const { return sets_.size(); }
  uint64_t page_count(SetId set) const { return sets_[set].page_count; }
  // How often a page of the set is mapped, by all together.
  uint32_t map_count(SetId set) const { return sets_[set].depth; }
  // In the order they came.
  std::vector<SetMember> members(SetId set) const;
  // The only one, if there is only one, however often it maps the page.
  bool is_private(SetId set) const;

  uint64_t page_count() const { return page_count_; }
  size_t memory_bytes() const;
  // All of them, ascending.
  std::vector<uint64_t> frames() const;
  void for_each(
      const std::function<void(uint64_t frame, SetId set)>& visit) const;

 private:
  // Frame in the high bits, set in the low ones; 0 is an empty slot.
  struct Table {
    std::vector<uint64_t> slots;
    size_t used = 0;
  };
  struct Set {
    SetId without_last = 0;
    uint32_t process = 0;
    uint32_t depth = 0;
    bool is_private = false;
    uint64_t page_count = 0;
  };

  static size_t table_of(uint64_t frame);
  static size_t slot_of(uint64_t frame, size_t size);
  uint64_t& slot(uint64_t frame);
  static void grow(Table& table);
  SetId with(SetId set, uint32_t process);

  std::vector<Table> tables_;
  std::vector<Set> sets_;
  std::unordered_map<uint64_t, SetId> known_;  // by (set, process)
  uint32_t process_ = 0;
  SetId last_from_ = 0;
  SetId last_to_ = 0;  // 0: none yet
  uint64_t page_count_ = 0;
};

}  // namespace tidemark::analysis
