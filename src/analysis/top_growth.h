// How much a thing has grown in the last minutes, for things of which a whole
// history each would cost too much: kinds of memory of every process, objects,
// slab caches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/category.h"
#include "model/process.h"

namespace tidemark::analysis {

// Keeps a value about once a minute, and only when it has changed: what stands
// still has one.
class GrowthTrack {
 public:
  void add(uint64_t now_ns, uint64_t bytes);
  // Since kTopHistoryNs ago, to a minute, or since it was first seen.
  int64_t grown(uint64_t now_ns) const;

 private:
  struct Mark {
    uint64_t time_ns = 0;
    uint64_t bytes = 0;
  };
  std::vector<Mark> marks_;  // rising in time
  uint64_t newest_bytes_ = 0;
};

struct KindGrowth {
  model::Category kind = model::Category::Anon;
  int64_t bytes = 0;
  bool operator==(const KindGrowth&) const = default;
};

// What has grown and is no process: a shared object, a slab cache.
struct TopGrower {
  std::string name;
  std::optional<model::ProcessId> holder;  // who has most of it
  int64_t bytes = 0;
};

// Of things by name, those that are no longer there are forgotten.
class NamedGrowth {
 public:
  struct Value {
    uint64_t bytes = 0;
    std::optional<model::ProcessId> holder;
  };
  void add(uint64_t now_ns, const std::map<std::string, Value>& values);
  // Largest first, at most so many.
  std::vector<TopGrower> growers(uint64_t now_ns, size_t most) const;

 private:
  struct Named {
    GrowthTrack track;
    std::optional<model::ProcessId> holder;
  };
  std::map<std::string, Named> named_;
};

}  // namespace tidemark::analysis
