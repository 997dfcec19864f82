// Counts of pages by what they are of. There is a key for each file of the page
// cache, a hundred thousand and more, so the table is flat and packed: a hash
// map with a node for each took four times as much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tidemark::analysis {

enum class PageClass : uint8_t;

struct TallyKey {
  PageClass page_class{};
  uint64_t owner = 0;  // a SetId, an address, or a pid, as the class has it
  uint64_t group = 0;  // inode of the control group
  bool operator==(const TallyKey&) const = default;
  auto operator<=>(const TallyKey&) const = default;
};

class TallyTable {
 public:
  void add(const TallyKey& key, uint64_t pages);
  // As many as were added at least.
  void subtract(const TallyKey& key, uint64_t pages);

  // How many keys there are at most: a very large count may stand in two parts.
  size_t size() const { return size_ + large_.size(); }

  // All keys with their counts, in no order; a count may be zero, and a key may
  // come twice.
  template <typename Visit>
  void visit(const Visit& show) const {
    for (const Slot& slot : slots_) {
      if (slot.tag != 0) show(key_of(slot), uint64_t{slot.pages});
    }
    for (const auto& [key, pages] : large_)
      show(key, pages);
  }

 private:
  // Sixteen bytes: a count of 2^32 pages and more is not one of a file.
  struct Slot {
    uint64_t owner = 0;
    uint32_t pages = 0;
    uint32_t tag = 0;  // class, and place of the group plus one; 0: free
  };
  TallyKey key_of(const Slot& slot) const;
  // 0 when there are more groups than a tag can tell apart.
  uint32_t tag_of(const TallyKey& key);
  Slot& find(uint64_t owner, uint32_t tag);
  void grow();

  std::vector<Slot> slots_;
  size_t size_ = 0;                     // slots in use
  std::map<TallyKey, uint64_t> large_;  // of no owner, or beyond a slot
  std::vector<uint64_t> groups_;
  std::unordered_map<uint64_t, uint32_t> group_places_;
  uint64_t last_group_ = 0;  // neighbours are mostly of one
  uint32_t last_place_ = 0;
};

}  // namespace tidemark::analysis
