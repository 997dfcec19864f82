#include "model/trace_builder.h"

namespace tidemark::model {

size_t TraceBuilder::StackHash::operator()(const TraceStack& stack) const {
  // FNV-1a over the indices: stacks are short and differ near the top.
  size_t hash = 0xcbf29ce484222325;
  for (uint32_t frame : stack)
    hash = (hash ^ frame) * 0x100000001b3;
  return hash;
}

uint32_t TraceBuilder::frame(const TraceFrame& frame) {
  const auto next = static_cast<uint32_t>(trace_.frames.size());
  auto [at, is_new] = frames_.try_emplace(
      {frame.address, frame.symbol, frame.offset, frame.module, frame.loads},
      next);
  if (is_new) trace_.frames.push_back(frame);
  return at->second;
}

uint32_t TraceBuilder::stack(std::span<const uint32_t> frames) {
  const auto next = static_cast<uint32_t>(trace_.stacks.size());
  auto [at, is_new] =
      stacks_.try_emplace(TraceStack(frames.begin(), frames.end()), next);
  if (is_new) trace_.stacks.push_back(at->first);
  return at->second;
}

uint32_t TraceBuilder::task(const TraceTask& task) {
  const auto next = static_cast<uint32_t>(trace_.tasks.size());
  // Where the start is not known, a name tells those of one pid apart.
  auto [at, is_new] = tasks_.try_emplace(
      {task.pid, task.start_ns, task.start_ns == 0 ? task.name : std::string(),
       task.cgroup},
      next);
  if (is_new) trace_.tasks.push_back(task);
  return at->second;
}

uint32_t TraceBuilder::leaf_index(uint32_t stack, uint32_t task) {
  const auto next = static_cast<uint32_t>(trace_.leaves.size());
  auto [at, is_new] = leaves_.try_emplace(uint64_t{stack} << 32 | task, next);
  if (is_new) {
    trace_.leaves.emplace_back();
    trace_.leaves.back().stack = stack;
    trace_.leaves.back().task = task;
  }
  return at->second;
}

}  // namespace tidemark::model
