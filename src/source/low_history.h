// The fewest pages that each of many holders had in successive stretches of
// time. What only rises has rising lows, however much it moves within a
// stretch. The number of stretches is bounded: when it is reached, neighbours
// are joined and each is twice as long from there on.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tidemark::source {

class LowHistory {
 public:
  explicit LowHistory(uint64_t stretch_ns) : stretch_ns_(stretch_ns) {}

  struct Holding {
    uint32_t id = 0;
    uint64_t pages = 0;
  };
  // What each holds now; all that were ever told of are told again, with 0 when
  // they hold nothing. `elapsed_ns` never goes back.
  void look(uint64_t elapsed_ns, std::span<const Holding> holdings);

  // As if it had never been told of.
  void forget(uint32_t id) {
    lows_.erase(id);
    ++version_;
  }

  // While it is the same, so is what lows_of() says of those already told of.
  uint64_t version() const { return version_; }

  uint64_t stretch_ns() const { return stretch_ns_; }
  // Of the stretches that are over; before it was first told of, it held none.
  std::vector<uint64_t> lows_of(uint32_t id) const;

 private:
  void join_stretches();

  uint64_t stretch_ns_;
  size_t stretch_count_ = 0;  // begun so far
  uint64_t version_ = 0;
  std::unordered_map<uint32_t, std::vector<uint64_t>> lows_;
};

}  // namespace tidemark::source
