// Sums up a graph under names that people know: each memory object goes to the
// first rule that takes it, and every byte of RAM to one line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/graph.h"
#include "model/bucket.h"

namespace tidemark::analysis {

enum class BucketKind : uint8_t {
  Rule,
  Undigested,  // objects that no rule took
  Orphaned,    // of programs and files, but in no object that was seen
  Kernel,
  Free,
};
std::string_view bucket_kind_token(BucketKind kind);

struct BucketLine {
  std::string name;
  BucketKind kind = BucketKind::Rule;
  uint64_t bytes = 0;
  uint64_t object_count = 0;
  uint64_t process_count = 0;  // that have one of them
  bool operator==(const BucketLine&) const = default;
};

// An object that no rule took.
struct UndigestedObject {
  std::string name;
  uint64_t bytes = 0;
  uint64_t share_count = 0;  // processes that map it or hold it open
  // One of them: the largest share.
  std::string process;
  int32_t pid = 0;
  std::string cgroup_path;
  bool operator==(const UndigestedObject&) const = default;
};

struct BucketReport {
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;
  uint64_t total_bytes = 0;
  // Add up to the total. Those of rules by size, then Undigested, Orphaned,
  // Kernel, Free; a rule that took nothing has a line too.
  std::vector<BucketLine> lines;
  std::vector<UndigestedObject> undigested;  // by size
  uint64_t unknown_process_count = 0;
  std::vector<std::string> notes;
};

// The graph must have objects. Names are matched as they are shown: control
// characters and invalid bytes as escapes.
BucketReport make_buckets(const Graph& graph,
                          const std::vector<model::BucketRule>& rules);

}  // namespace tidemark::analysis
