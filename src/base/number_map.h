// A hash map by number for what is asked millions of times: the values lie in
// one piece, where std::unordered_map goes through two pointers for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tidemark::base {

template <typename Value>
class NumberMap {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Hold until something is added or removed.
  Value* find(int64_t key) {
    if (size_ == 0) return nullptr;
    Slot& slot = slots_[place_of(key)];
    return slot.is_used ? &slot.value : nullptr;
  }

  // Made where it was not there.
  Value& operator[](int64_t key) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    if (!slot.is_used) {
      slot.is_used = true;
      slot.key = key;
      ++size_;
    }
    return slot.value;
  }

  void erase(int64_t key) {
    if (size_ == 0) return;
    size_t hole = place_of(key);
    if (!slots_[hole].is_used) return;
    // Those behind it that were put there because it was in their way move up,
    // so that a search never meets a gap.
    const size_t mask = slots_.size() - 1;
    for (size_t at = (hole + 1) & mask; slots_[at].is_used;
         at = (at + 1) & mask) {
      const size_t wanted = wanted_place(slots_[at].key);
      if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
      slots_[hole] = std::move(slots_[at]);
      hole = at;
    }
    slots_[hole] = Slot();
    --size_;
  }

  // Room for so many, so that it need not be made step by step.
  void reserve(size_t count) {
    while (slots_.size() < count * 2)
      grow();
  }

  void clear() {
    slots_.clear();
    size_ = 0;
  }

  // In no order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.is_used) visit(slot.key, slot.value);
    }
  }

 private:
  struct Slot {
    int64_t key = 0;
    bool is_used = false;
    Value value{};
  };

  // Fibonacci hashing: the upper bits of the product differ for neighbours as
  // well as for multiples of a power of two.
  size_t wanted_place(int64_t key) const {
    const uint64_t product =
        static_cast<uint64_t>(key) * uint64_t{0x9e3779b97f4a7c15};
    return static_cast<size_t>(product >> 32U) & (slots_.size() - 1);
  }

  // Where it is, or would be.
  size_t place_of(int64_t key) const {
    size_t at = wanted_place(key);
    while (slots_[at].is_used && slots_[at].key != key)
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void grow() {
    constexpr size_t kLeast = 16;
    std::vector<Slot> before = std::exchange(
        slots_, std::vector<Slot>(slots_.empty() ? kLeast : slots_.size() * 2));
    for (Slot& slot : before) {
      if (slot.is_used) slots_[place_of(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them used
  size_t size_ = 0;
};

}  // namespace tidemark::base
