// Traces by hand.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "model/trace.h"
#include "model/trace_builder.h"

namespace tidemark::test {

struct MadeLeaf {
  std::vector<std::string> frames;  // the way in first; "name@module",
                                    // "load_module>what it loads"
  int32_t pid = 1;
  uint64_t pages = 0;
  uint64_t peak_pages = 0;
  uint64_t machine_peak_pages = 0;
  std::string cgroup = "/";
};

inline model::TraceFrame made_frame(const std::string& text) {
  const size_t at = text.find_first_of("@>");
  model::TraceFrame frame;
  frame.symbol = text.substr(0, at);
  if (at == std::string::npos) return frame;
  (text[at] == '@' ? frame.module : frame.loads) = text.substr(at + 1);
  return frame;
}

// Tasks are called "task 1" and so on; their peaks are the sums of their
// leaves' unless told otherwise later.
inline model::Trace made_trace(std::initializer_list<MadeLeaf> leaves) {
  model::TraceBuilder builder;
  for (const MadeLeaf& made : leaves) {
    std::vector<uint32_t> frames;
    for (auto text = made.frames.rbegin(); text != made.frames.rend(); ++text)
      frames.push_back(builder.frame(made_frame(*text)));
    model::TraceTask task;
    task.pid = made.pid;
    task.start_ns = static_cast<uint64_t>(made.pid);
    task.name = "t" + std::to_string(made.pid);
    task.command_line = "task " + std::to_string(made.pid);
    task.cgroup = made.cgroup;
    const uint32_t index = builder.task(task);
    builder.task_at(index).pages += made.pages;
    builder.task_at(index).peak_pages += made.peak_pages;
    model::TraceLeaf& leaf = builder.leaf(builder.stack(frames), index);
    leaf.pages += made.pages;
    leaf.peak_pages += made.peak_pages;
    leaf.machine_peak_pages += made.machine_peak_pages;
    builder.head().pages += made.pages;
    builder.head().peak_pages += made.peak_pages;
  }
  return builder.finish();
}

}  // namespace tidemark::test
