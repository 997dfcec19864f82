// Large things are sorted by their indices: sorting moves each a dozen times,
// this once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tidemark::base {

// Moves items[order[i]] to place i, without a second vector of them. `order`
// has each index once.
template <typename T>
void put_in_order(std::vector<T>& items, std::vector<uint32_t> order) {
  for (uint32_t start = 0; start < order.size(); ++start) {
    uint32_t at = start;
    while (order[at] != start) {
      const uint32_t from = order[at];
      std::swap(items[at], items[from]);
      order[at] = at;
      at = from;
    }
    order[at] = at;
  }
}

template <typename T, typename Before>
void sort_in_place(std::vector<T>& items, const Before& is_before) {
  std::vector<uint32_t> order(items.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return is_before(items[a], items[b]);
  });
  put_in_order(items, std::move(order));
}

}  // namespace tidemark::base
