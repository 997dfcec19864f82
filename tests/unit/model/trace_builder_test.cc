#include "model/trace_builder.h"

#include <gtest/gtest.h>

#include <array>

namespace tidemark::model {
namespace {

TEST(TraceBuilder, KeepsEachThingOnce) {
  TraceBuilder builder;
  const uint32_t a = builder.frame({0x10, "a", 0, ""});
  const uint32_t b = builder.frame({0x20, "b", 0, "mod"});
  EXPECT_EQ(builder.frame({0x10, "a", 0, ""}), a);
  EXPECT_NE(a, b);
  EXPECT_EQ(builder.stack(std::array{a, b}), builder.stack(std::array{a, b}));
  EXPECT_NE(builder.stack(std::array{a, b}), builder.stack(std::array{b, a}));
  builder.leaf(0, 0).pages = 1;
  builder.leaf(0, 1).pages = 2;
  builder.leaf(0, 0).pages += 4;
  const Trace trace = builder.finish();
  EXPECT_EQ(trace.frames.size(), 2U);
  EXPECT_EQ(trace.stacks.size(), 2U);
  ASSERT_EQ(trace.leaves.size(), 2U);
  EXPECT_EQ(trace.leaves[0].pages, 5U);
}

TEST(TraceBuilder, AReusedPidIsAnotherTask) {
  TraceBuilder builder;
  TraceTask task;
  task.pid = 5;
  task.start_ns = 100;
  const uint32_t first = builder.task(task);
  task.start_ns = 200;
  EXPECT_NE(builder.task(task), first);
}

TEST(TraceBuilder, WithoutATimeOfStartTheNameTellsThemApart) {
  TraceBuilder builder;
  TraceTask task;
  task.pid = 5;
  task.name = "a";
  const uint32_t first = builder.task(task);
  EXPECT_EQ(builder.task(task), first);
  task.name = "b";
  EXPECT_NE(builder.task(task), first);
}

TEST(TraceBackends, HaveNamesThatReadBack) {
  for (TraceBackend backend : {TraceBackend::Bpf, TraceBackend::Perf,
                               TraceBackend::Ftrace, TraceBackend::PageOwner}) {
    EXPECT_EQ(trace_backend_from_token(trace_backend_token(backend)), backend);
  }
  EXPECT_FALSE(trace_backend_from_token("magic"));
}

}  // namespace
}  // namespace tidemark::model
