// What a kernel file told, or why it did not. A denied read is never a zero:
// the reason travels with the absent value to the last renderer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tidemark::model {

template <typename T>
struct Reading {
  std::optional<T> value;
  std::string unknown_because;  // "denied: /proc/1/smaps: …"; empty when known

  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }
  bool operator==(const Reading&) const = default;
};

template <typename T>
Reading<T> known(T value) {
  return {std::move(value), {}};
}

template <typename T>
Reading<T> unknown(std::string because) {
  return {std::nullopt, std::move(because)};
}

// A sum of bytes that remembers whether a part of it was missing. Fully
// unknown when no part was known; a lower bound when some were.
struct Amount {
  uint64_t bytes = 0;
  bool has_known = false;
  bool has_unknown = false;
  // Of some part only an upper bound is known, or an estimate: those are in it.
  bool has_bound = false;
  bool has_estimate = false;

  bool is_unknown() const { return !has_known && has_unknown; }
  bool is_lower_bound() const { return has_known && has_unknown; }
  // What JSON shows: nothing when nothing is known.
  std::optional<uint64_t> known_bytes() const {
    if (is_unknown()) return std::nullopt;
    return bytes;
  }

  void add(std::optional<uint64_t> part) {
    if (part) {
      bytes += *part;
      has_known = true;
    } else {
      has_unknown = true;
    }
  }
  void add(const Amount& other) {
    bytes += other.bytes;
    has_known = has_known || other.has_known;
    has_unknown = has_unknown || other.has_unknown;
    has_bound = has_bound || other.has_bound;
    has_estimate = has_estimate || other.has_estimate;
  }

  bool operator==(const Amount&) const = default;
};

inline Amount amount_of(std::optional<uint64_t> bytes) {
  Amount amount;
  amount.add(bytes);
  return amount;
}

}  // namespace tidemark::model
