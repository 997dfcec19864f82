#include "view/profile/perfetto.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/view/export_example.h"

namespace tidemark::view {
namespace {

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(PerfettoTrace, NamesATrackOnceAndTellsWhatChanged) {
  model::Sample sample = exported_sample();
  model::Moment moment = exported_moment(sample);
  moment.notes.clear();
  PerfettoTrace trace;
  const std::string first = trace.packets(moment);
  EXPECT_EQ(count_of(first, "pss_heap_bytes"), 1U);
  EXPECT_EQ(count_of(first, "pss_stack_bytes"), 0U);  // it has none
  EXPECT_EQ(trace.packets(moment), "");
  sample.processes[0].mappings.value->at(0) =
      exported_mapping(0x10000, "[heap]", 9);
  const std::string third = trace.packets(moment);
  EXPECT_GT(third.size(), 0U);
  EXPECT_EQ(count_of(third, "pss_heap_bytes"), 0U);
}

// A counter stands until its next value.
TEST(PerfettoTrace, AProcessThatEndedFallsToZeroOnce) {
  model::Sample sample = exported_sample();
  model::Moment moment = exported_moment(sample);
  moment.notes.clear();
  PerfettoTrace trace;
  trace.packets(moment);
  sample.processes.clear();
  EXPECT_GT(trace.packets(moment).size(), 0U);
  EXPECT_EQ(trace.packets(moment), "");
}

model::TraceCourse some_course() {
  model::TraceCourse course;
  course.tasks.resize(3);
  // The process of the sample, by the clock that the kernel keeps it on.
  course.tasks[0].pid = 7;
  course.tasks[0].start_ns = 1'000'000'000;
  course.tasks[1].pid = 9;
  course.tasks[1].name = "brief";
  course.tasks[2].is_interrupt = true;
  course.steps = {{17, 16, {{0, 8}, {1, 7}, {2, 1}}}};
  return course;
}

TEST(PerfettoTrace, TasksOfATraceHaveTheTrackOfTheirProcess) {
  model::Sample sample = exported_sample();
  PerfettoTrace trace(some_course());
  const std::string text = trace.packets(exported_moment(sample));
  // Of the machine, of the process and of the one that only the trace knows.
  EXPECT_EQ(count_of(text, "trace_held_bytes"), 3U);
  // As a track and as a process.
  EXPECT_EQ(count_of(text, "brief"), 2U);
}

TEST(PerfettoTrace, PagesOutliveWhoTookThem) {
  model::Sample sample = exported_sample();
  sample.machine.reset();
  sample.processes.clear();
  model::Moment moment = exported_moment(sample);
  moment.notes.clear();
  PerfettoTrace trace(some_course());
  EXPECT_EQ(count_of(trace.packets(moment), "trace_held_bytes"), 3U);
  EXPECT_EQ(trace.packets(moment), "") << "nothing has changed";
}

TEST(PerfettoTrace, RemarksAreInstants) {
  const model::Sample sample = exported_sample();
  PerfettoTrace trace;
  const std::string text = trace.packets(exported_moment(sample));
  EXPECT_EQ(count_of(text, "of all"), 1U);
}

}  // namespace
}  // namespace tidemark::view
