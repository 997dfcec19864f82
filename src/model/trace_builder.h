// Puts a trace together: each frame, stack, task and leaf is kept once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/trace.h"

namespace tidemark::model {

class TraceBuilder {
 public:
  // Everything that is not a table of its own: backend, times, faults.
  Trace& head() { return trace_; }

  uint32_t frame(const TraceFrame& frame);
  uint32_t stack(std::span<const uint32_t> frames);
  // By pid, time of start and group; the first to tell of it names it.
  uint32_t task(const TraceTask& task);
  TraceTask& task_at(uint32_t index) { return trace_.tasks[index]; }
  // The reference holds until the next leaf is asked for.
  TraceLeaf& leaf(uint32_t stack, uint32_t task) {
    return leaf_at(leaf_index(stack, task));
  }
  uint32_t leaf_index(uint32_t stack, uint32_t task);
  TraceLeaf& leaf_at(uint32_t index) { return trace_.leaves[index]; }

  // All of it as it is by now, to be gone on with.
  const Trace& so_far() const { return trace_; }
  Trace finish() { return std::move(trace_); }

 private:
  struct StackHash {
    size_t operator()(const TraceStack& stack) const;
  };
  Trace trace_;
  std::map<
      std::tuple<uint64_t, std::string, uint64_t, std::string, std::string>,
      uint32_t>
      frames_;
  std::unordered_map<TraceStack, uint32_t, StackHash> stacks_;
  std::map<std::tuple<int32_t, uint64_t, std::string, std::string>, uint32_t>
      tasks_;
  std::unordered_map<uint64_t, uint32_t> leaves_;  // by stack and task
};

}  // namespace tidemark::model
