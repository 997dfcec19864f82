#include "source/trace_stacks.h"

#include <gtest/gtest.h>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using test::TemporaryTree;

constexpr std::string_view kSymbols =
    "ffffffff81000000 T alloc\n"
    "ffffffff81000100 T perf_trace_alloc\n"
    "ffffffff81000200 T handle_softirqs\n"
    "ffffffff81000300 T read\n";

std::vector<MeantCode> code_in(const TemporaryTree& tree,
                               const std::string& module = {}) {
  const Roots roots = tree.roots();
  std::vector<std::string> notes;
  const std::string_view tracing[] = {"perf_trace_alloc"};
  base::Result<std::vector<MeantCode>> code =
      find_meant_code(roots, tracing, module, notes);
  EXPECT_TRUE(code) << code.error().what;
  EXPECT_TRUE(notes.empty());
  return code ? std::move(*code) : std::vector<MeantCode>();
}

TEST(TraceStacks, EachIsKeptOnce) {
  TraceStacks stacks({});
  const uint64_t one[] = {1, 2, 3};
  const uint64_t two[] = {1, 2};
  const std::optional<uint32_t> first = stacks.find(one);
  ASSERT_TRUE(first);
  EXPECT_NE(stacks.find(two), first);
  EXPECT_EQ(stacks.find(one), first);
}

TEST(TraceStacks, ManyAreToldApart) {
  TraceStacks stacks({});
  for (uint64_t i = 0; i < 5000; ++i) {
    const uint64_t addresses[] = {i, i * 7};
    EXPECT_EQ(stacks.find(addresses), i);
  }
  for (uint64_t i = 0; i < 5000; ++i) {
    const uint64_t addresses[] = {i, i * 7};
    EXPECT_EQ(stacks.find(addresses), i);
  }
}

TEST(TraceStacks, WhatTracesIsNoPartOfAStack) {
  const TemporaryTree tree;
  tree.add("kallsyms", kSymbols);
  TraceStacks stacks(code_in(tree));
  const uint64_t with[] = {0xffffffff81000150, 0xffffffff81000010};
  const uint64_t without[] = {0xffffffff81000010};
  EXPECT_EQ(stacks.find(with), stacks.find(without));
  EXPECT_EQ(stacks.addresses(*stacks.find(with)).size(), 1U);
}

TEST(TraceStacks, InterruptsAreKnownByTheirCode) {
  const TemporaryTree tree;
  tree.add("kallsyms", kSymbols);
  TraceStacks stacks(code_in(tree));
  const uint64_t interrupt[] = {0xffffffff81000010, 0xffffffff81000210};
  const uint64_t call[] = {0xffffffff81000010, 0xffffffff81000310};
  EXPECT_TRUE(stacks.is_interrupt(*stacks.find(interrupt)));
  EXPECT_FALSE(stacks.is_interrupt(*stacks.find(call)));
}

TEST(TraceStacks, CodeOfAModuleIsWanted) {
  const TemporaryTree tree;
  tree.add("kallsyms", kSymbols);
  tree.add("modules", "loop 4096 0 - Live 0xffffffffc0000000\n");
  TraceStacks stacks(code_in(tree, "loop"));
  const uint64_t inside[] = {0xffffffff81000010, 0xffffffffc0000010};
  const uint64_t outside[] = {0xffffffff81000010, 0xffffffffc0001000};
  EXPECT_TRUE(stacks.has_wanted(*stacks.find(inside)));
  EXPECT_FALSE(stacks.has_wanted(*stacks.find(outside)));
}

TEST(TraceStacks, AModuleThatIsNotLoadedIsSaidSo) {
  const TemporaryTree tree;
  tree.add("kallsyms", kSymbols);
  tree.add("modules", "loop 4096 0 - Live 0xffffffffc0000000\n");
  std::vector<std::string> notes;
  const Roots roots = tree.roots();
  EXPECT_FALSE(find_meant_code(roots, {}, "zram", notes));
}

TEST(TraceStacks, BuildsThoseThatAreUsedWithTheirNames) {
  const TemporaryTree tree;
  tree.add("kallsyms", kSymbols);
  TraceStacks stacks({});
  const uint64_t unused[] = {0xffffffff81000010};
  const uint64_t used[] = {0xffffffff81000010, 0xffffffff81000310};
  stacks.find(unused);
  stacks.find(used);
  model::TraceBuilder builder;
  std::vector<std::string> notes;
  const Roots roots = tree.roots();
  const std::vector<uint32_t> stack_of =
      stacks.build(roots, {false, true}, FrameNames::Patience::None,
                   EventModules(roots), builder, notes);
  const model::Trace trace = builder.finish();
  ASSERT_EQ(trace.stacks.size(), 1U);
  ASSERT_EQ(trace.frames.size(), 2U);
  EXPECT_EQ(stack_of[1], 0U);
  EXPECT_EQ(trace.frames[0].symbol, "alloc");
  EXPECT_EQ(trace.frames[1].symbol, "read");
  EXPECT_TRUE(notes.empty());
}

TEST(TraceStacks, WhatLiesBehindAModuleIsNotItsCode) {
  const TemporaryTree tree;
  tree.add("kallsyms",
           "ffffffff81000000 T alloc\n"
           "ffffffffc0000100 t loop_add\t[loop]\n");
  tree.add("modules", "loop 4096 0 - Live 0xffffffffc0000000\n");
  std::vector<std::string> notes;
  FrameNames names;
  names.learn(tree.roots(), {0xffffffffc0000200, 0xffffffffc0005000},
              FrameNames::Patience::None, notes);
  EXPECT_EQ(names.at(0xffffffffc0000200).symbol, "loop_add");
  EXPECT_EQ(names.at(0xffffffffc0005000).symbol, "");
  EXPECT_EQ(names.at(0xffffffffc0005000).module, "");
  EXPECT_EQ(names.at(0xffffffffc0005000).address, 0xffffffffc0005000);
}

TEST(FrameNames, WaitUntilTheLastLookIsPaidFor) {
  const TemporaryTree tree;
  tree.add("kallsyms", kSymbols);
  const Roots roots = tree.roots();
  // A look takes microseconds here, and we may sleep longer than fifty of them;
  // hardly every time.
  bool has_waited = false;
  for (int i = 0; i < 100 && !has_waited; ++i) {
    FrameNames names;
    std::vector<std::string> notes;
    names.learn(roots, {0xffffffff81000010}, FrameNames::Patience::Some, notes);
    ASSERT_EQ(names.at(0xffffffff81000010).symbol, "alloc") << "the first look";
    names.learn(roots, {0xffffffff81000310}, FrameNames::Patience::Some, notes);
    ASSERT_EQ(names.at(0xffffffff81000310).address, 0xffffffff81000310U);
    has_waited = names.at(0xffffffff81000310).symbol.empty();
    names.learn(roots, {}, FrameNames::Patience::None, notes);
    ASSERT_EQ(names.at(0xffffffff81000310).symbol, "read");
    ASSERT_TRUE(notes.empty());
  }
  EXPECT_TRUE(has_waited);
}

TEST(FrameNames, StayWhenTheCodeIsGone) {
  const TemporaryTree tree;
  tree.add("kallsyms", kSymbols);
  const Roots roots = tree.roots();
  FrameNames names;
  std::vector<std::string> notes;
  names.learn(roots, {0xffffffff81000310}, FrameNames::Patience::None, notes);
  tree.add("kallsyms", "ffffffff81000000 T alloc\n");
  names.learn(roots, {0xffffffff81000310}, FrameNames::Patience::None, notes);
  EXPECT_EQ(names.at(0xffffffff81000310).symbol, "read");
}

TEST(TraceStacks, WithoutNamesAddressesDo) {
  const TemporaryTree tree;
  TraceStacks stacks({});
  const uint64_t addresses[] = {0xffffffff81000010};
  stacks.find(addresses);
  model::TraceBuilder builder;
  std::vector<std::string> notes;
  const Roots roots = tree.roots();
  stacks.build(roots, {true}, FrameNames::Patience::None, EventModules(roots),
               builder, notes);
  EXPECT_EQ(notes.size(), 1U);
  EXPECT_EQ(builder.finish().frames[0].address, addresses[0]);
}

}  // namespace
}  // namespace tidemark::source
