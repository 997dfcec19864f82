// trace_keys TASKS STACKS  what it takes to answer a key in the trace view
//
// Makes a trace in which each stack is used by five tasks, and prints lines
// "NAME MS" in CPU time, which other work on the machine changes little: what
// the thread that reads spends on one reading, and for each key the longest
// from the press to the drawn canvas at 132 columns. Groups are opened first,
// those of all modules as far as there is one way.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/top_snapshot.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/trace_builder.h"
#include "view/tui/top.h"

namespace tidemark {
namespace {

using view::tui::Key;
using view::tui::KeyCode;

// Always the same, and of no pattern that sorting could profit by.
class Numbers {
 public:
  uint64_t below(uint64_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33U) % bound;
  }

 private:
  uint64_t state_ = 1;
};

uint32_t made_task(model::TraceBuilder& builder, uint64_t number) {
  model::TraceTask task;
  task.pid = static_cast<int32_t>(number + 1);
  task.start_ns = number + 1;
  task.name = "worker";
  task.command_line = "/usr/bin/worker --number " + std::to_string(number);
  task.cgroup = "/slice" + std::to_string(number % 50);
  return builder.task(task);
}

model::Trace made_trace(uint64_t task_count, uint64_t stack_count) {
  constexpr uint64_t kDepth = 20;
  constexpr uint64_t kUsers = 5;
  Numbers numbers;
  model::TraceBuilder builder;
  std::vector<uint32_t> tasks;
  for (uint64_t i = 0; i < task_count; ++i)
    tasks.push_back(made_task(builder, i));
  for (uint64_t i = 0; i < stack_count; ++i) {
    std::vector<uint32_t> frames;
    for (uint64_t depth = 0; depth < kDepth; ++depth) {
      const uint64_t function = depth * 1000 + numbers.below(3 + depth * 4);
      model::TraceFrame frame;
      frame.offset = numbers.below(4) * 16;
      frame.address = 0xffffffff81000000U + function * 4096 + frame.offset;
      frame.symbol = "function_" + std::to_string(function);
      if (depth > 10 && function % 5 == 0)
        frame.module = "module" + std::to_string(function % 40);
      frames.insert(frames.begin(), builder.frame(frame));
    }
    const uint32_t stack = builder.stack(frames);
    for (uint64_t user = 0; user < kUsers; ++user) {
      model::TraceLeaf& leaf =
          builder.leaf(stack, tasks[numbers.below(task_count)]);
      leaf.pages = 1 + numbers.below(100);
      leaf.peak_pages = leaf.pages + numbers.below(100);
      leaf.machine_peak_pages = leaf.pages;
      builder.head().pages += leaf.pages;
      builder.head().peak_pages += leaf.peak_pages;
    }
  }
  builder.head().elapsed_ns = base::kNsPerSecond;
  return builder.finish();
}

double ms_since(uint64_t started_ns) {
  return static_cast<double>(base::own_cpu_ns() - started_ns) / 1e6;
}

void time_key(view::tui::Top& top, const char* name, const Key& key) {
  constexpr int kTimes = 9;
  double longest = 0;
  for (int i = 0; i < kTimes; ++i) {
    const uint64_t started_ns = base::own_cpu_ns();
    top.press(key, started_ns);
    const view::tui::Canvas canvas = top.draw(started_ns);
    longest = std::max(longest, ms_since(started_ns));
  }
  std::printf("%s %.1f\n", name, longest);
}

int run(uint64_t task_count, uint64_t stack_count) {
  model::Trace trace = made_trace(task_count, stack_count);
  std::printf("leaves %zu\n", trace.leaves.size());
  analysis::TraceHistoryKeeper keeper;
  // As full as it becomes.
  for (int second = 1; second < 48; ++second) {
    trace.elapsed_ns = static_cast<uint64_t>(second) * base::kNsPerSecond;
    keeper.add(trace);
  }
  trace.elapsed_ns += base::kNsPerSecond;
  uint64_t started_ns = base::own_cpu_ns();
  std::shared_ptr<const analysis::TraceHistory> history = keeper.add(trace);
  std::printf("history %.1f\n", ms_since(started_ns));
  auto shared = std::make_shared<const model::Trace>(std::move(trace));
  started_ns = base::own_cpu_ns();
  auto snapshot = std::make_shared<analysis::TopSnapshot>();
  snapshot->trace = analysis::make_top_trace(shared, history, nullptr);
  std::printf("outlines %.1f\n", ms_since(started_ns));
  snapshot->sample.started_monotonic_ns = 1;
  snapshot->tracing = analysis::Tracing::On;

  view::tui::Top top({}, 132, 40, {U'4', true});
  started_ns = base::own_cpu_ns();
  top.take(snapshot);
  std::printf("take %.1f\n", ms_since(started_ns));
  const std::pair<const char*, Key> keys[] = {
      {"down", {KeyCode::Down, 0, 0, 0}},
      {"page_down", {KeyCode::PageDown, 0, 0, 0}},
      {"home", {KeyCode::Home, 0, 0, 0}},
      {"open_and_step", {KeyCode::Right, 0, 0, 0}},
      {"toggle", view::tui::typed(U' ')},
      {"sort", view::tui::typed(U's')},
      {"measure", view::tui::typed(U'v')},
      {"group", view::tui::typed(U'm')},
  };
  for (const auto& [name, key] : keys)
    time_key(top, name, key);
  top.press(view::tui::typed(U'/'), 1);
  for (char32_t letter : std::u32string_view(U"function_19043"))
    top.press(view::tui::typed(letter), 1);
  time_key(top, "find", {KeyCode::Enter, 0, 0, 0});
  started_ns = base::own_cpu_ns();
  auto next = std::make_shared<analysis::TopSnapshot>(*snapshot);
  top.take(next);
  std::printf("take_opened %.1f\n", ms_since(started_ns));
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  const auto number = [&](int index, uint64_t usual) {
    return argc > index ? tidemark::base::parse_u64(argv[index]).value_or(usual)
                        : usual;
  };
  return tidemark::run(number(1, 5000), number(2, 20000));
}
