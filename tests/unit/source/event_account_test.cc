#include "source/event_account.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using Kind = PageEvent::Kind;
using test::TemporaryTree;

PageEvent at(uint64_t time_ns, uint64_t frame = 0) {
  PageEvent event;
  event.time_ns = time_ns;
  event.frame = frame;
  return event;
}

std::vector<uint64_t> taken(EventMerge& merge, uint64_t before_ns) {
  std::vector<uint64_t> frames;
  merge.take(before_ns,
             [&](const PageEvent& event) { frames.push_back(event.frame); });
  return frames;
}

TEST(EventMerge, PutsSourcesInOrder) {
  EventMerge merge(3);
  merge.push(0, at(10, 1));
  merge.push(0, at(40, 4));
  merge.push(1, at(20, 2));
  merge.push(2, at(30, 3));
  merge.push(2, at(50, 5));
  EXPECT_EQ(taken(merge, 45), (std::vector<uint64_t>{1, 2, 3, 4}));
  merge.push(1, at(46, 9));
  EXPECT_EQ(taken(merge, UINT64_MAX), (std::vector<uint64_t>{9, 5}));
  EXPECT_TRUE(taken(merge, UINT64_MAX).empty());
}

TEST(EventMerge, ASourceKeepsItsOwnOrder) {
  EventMerge merge(2);
  merge.push(0, at(10, 1));
  merge.push(0, at(9, 2));  // an interrupt was in between
  merge.push(1, at(9, 0));
  EXPECT_EQ(taken(merge, UINT64_MAX), (std::vector<uint64_t>{0, 1, 2}));
}

RC_GTEST_PROP(EventMergeProperty, HandsOverAllInOrderOfTime, ()) {
  EventMerge merge(4);
  const auto times = *rc::gen::container<std::vector<uint64_t>>(
      rc::gen::inRange<uint64_t>(0, 50));
  std::vector<uint64_t> sorted(times);
  std::sort(sorted.begin(), sorted.end());
  for (uint64_t time : sorted)
    merge.push(*rc::gen::inRange<size_t>(0, 4), at(time, time));
  std::vector<uint64_t> order;
  for (uint64_t before : {uint64_t{10}, uint64_t{11}, UINT64_MAX}) {
    for (uint64_t time : taken(merge, before)) {
      RC_ASSERT(time < before);
      order.push_back(time);
    }
  }
  RC_ASSERT(order == sorted);
}

class EventAccountTest : public testing::Test {
 protected:
  EventAccountTest() : roots_(tree_.roots()) {
    tree_.add("kallsyms",
              "ffffffff81000000 T alloc\nffffffff81000100 T "
              "handle_softirqs\nffffffff81000200 T last\n");
    tree_.add_process(10, 1, "shell");
  }
  std::unique_ptr<EventAccount> make(bool tells_threads_only = false) {
    EventAccount::Setup setup;
    setup.source_count = 2;
    setup.tells_threads_only = tells_threads_only;
    base::Result<std::unique_ptr<EventAccount>> account =
        EventAccount::make(roots_, options_, setup);
    EXPECT_TRUE(account) << account.error().what;
    (*account)->go();
    return std::move(*account);
  }
  static PageEvent alloc(EventAccount& account, uint64_t time, uint64_t frame,
                         int32_t pid, uint64_t code = 0xffffffff81000010) {
    const uint64_t addresses[] = {code};
    PageEvent event = at(time, frame);
    event.kind = Kind::Alloc;
    event.pid = pid;
    event.stack = account.find_stack(addresses).value();
    return event;
  }
  static PageEvent about(Kind kind, uint64_t time, int32_t pid,
                         int32_t other = 0) {
    PageEvent event = at(time);
    event.kind = kind;
    event.pid = pid;
    event.other_pid = other;
    return event;
  }
  static model::Trace ended(EventAccount& account) {
    account.end();
    return account.read(model::TraceBackend::Perf);
  }
  TemporaryTree tree_;
  Roots roots_;
  TraceOptions options_;
};

TEST_F(EventAccountTest, BooksWhatTwoCpusTellInOrder) {
  const std::unique_ptr<EventAccount> account = make();
  // Taken on one CPU, given back on another, taken again: told the other way.
  account->push(1, at(20, 5));
  account->push(0, alloc(*account, 10, 5, 10));
  account->push(0, alloc(*account, 30, 5, 10));
  account->settle(25);
  EXPECT_EQ(account->height().bytes, 0U);
  const model::Trace trace = ended(*account);
  EXPECT_EQ(trace.pages, 1U);
  EXPECT_EQ(trace.faults.overwritten, 0U);
  EXPECT_EQ(trace.faults.untracked_freed, 0U);
  ASSERT_EQ(trace.tasks.size(), 1U);
  EXPECT_EQ(trace.tasks[0].name, "shell");
  EXPECT_EQ(trace.frames[0].symbol, "alloc");
  EXPECT_EQ(trace.backend, model::TraceBackend::Perf);
}

TEST_F(EventAccountTest, ForksAndNamesComeInOrderToo) {
  const std::unique_ptr<EventAccount> account = make();
  account->push(0, about(Kind::Fork, 10, 11, 10));
  PageEvent rename = about(Kind::Rename, 30, 11);
  rename.stack = account->keep_name("tail");
  account->push(0, rename);
  tree_.add("11/cmdline", std::string_view("tail\0-c\0", 8));
  account->push_exec(0, 31, 11);
  tree_.remove("11");
  account->push(0, about(Kind::Exit, 50, 11));
  account->push(1, alloc(*account, 40, 5, 11));
  const model::Trace trace = ended(*account);
  ASSERT_EQ(trace.tasks.size(), 1U);
  EXPECT_EQ(trace.tasks[0].name, "tail");
  EXPECT_EQ(trace.tasks[0].command_line, "tail -c");
  EXPECT_EQ(trace.tasks[0].pid, 11);
  EXPECT_TRUE(trace.tasks[0].has_exited);
}

TEST_F(EventAccountTest, InterruptsArePartedFromWhomTheyHit) {
  const std::unique_ptr<EventAccount> account = make();
  account->push(0, alloc(*account, 10, 5, 10, 0xffffffff81000110));
  const model::Trace trace = ended(*account);
  ASSERT_EQ(trace.tasks.size(), 1U);
  EXPECT_TRUE(trace.tasks[0].is_interrupt);
}

TEST_F(EventAccountTest, ThreadsCountForTheirProcess) {
  const std::unique_ptr<EventAccount> account = make(true);
  account->push(0, about(Kind::Thread, 10, 10, 12));
  account->push(0, alloc(*account, 20, 5, 12));
  const model::Trace trace = ended(*account);
  ASSERT_EQ(trace.tasks.size(), 1U);
  EXPECT_EQ(trace.tasks[0].pid, 10);
}

TEST_F(EventAccountTest, OfThreadsOnlyTheFirstNamesAndEndsAProcess) {
  const std::unique_ptr<EventAccount> account = make(true);
  account->push(0, about(Kind::Thread, 10, 10, 12));
  account->push(0, alloc(*account, 20, 5, 12));
  PageEvent rename = about(Kind::Rename, 30, 12);
  rename.stack = account->keep_name("worker");
  account->push(0, rename);
  account->push(0, about(Kind::Exit, 40, 12));
  model::Trace trace = ended(*account);
  EXPECT_EQ(trace.tasks[0].name, "shell");
  EXPECT_FALSE(trace.tasks[0].has_exited);
  account->push(0, about(Kind::Exit, 50, 12, 1));  // the last of all
  trace = ended(*account);
  EXPECT_TRUE(trace.tasks[0].has_exited);
}

// What a thread takes before the kernel tells what it loads counts for it too.
TEST_F(EventAccountTest, TheLoaderIsPartedByWhatItLoads) {
  tree_.add("kallsyms",
            "ffffffff81000000 T alloc\nffffffff81000100 T load_module\n"
            "ffffffff81000200 t do_init_module\nffffffff81000300 T other\n");
  const std::unique_ptr<EventAccount> account = make();
  account->follow_modules();
  const auto load = [&](uint64_t time, uint64_t frame, int32_t thread,
                        uint64_t address) {
    PageEvent event = alloc(*account, time, frame, 10, address);
    event.other_pid = thread;
    account->push(0, event);
  };
  PageEvent told = about(Kind::ModuleLoad, 20, 0, 12);
  load(10, 5, 12, 0xffffffff81000110);
  account->push_module(0, told, "zram");
  load(30, 6, 12, 0xffffffff81000210);
  told.time_ns = 50;
  load(40, 7, 12, 0xffffffff81000110);
  account->push_module(0, told, "loop");
  const model::Trace trace = ended(*account);
  std::vector<std::pair<std::string, uint64_t>> loads;
  for (const model::TraceLeaf& leaf : trace.leaves) {
    const model::TraceFrame& outer =
        trace.frames[trace.stacks[leaf.stack].back()];
    loads.emplace_back(outer.symbol + " " + outer.loads, leaf.pages);
  }
  std::sort(loads.begin(), loads.end());
  EXPECT_EQ(loads, (std::vector<std::pair<std::string, uint64_t>>{
                       {"do_init_module zram", 1},
                       {"load_module loop", 1},
                       {"load_module zram", 1}}));
  ASSERT_EQ(trace.modules.size(), 2U);
  EXPECT_TRUE(trace.modules[0].was_loaded);
}

TEST_F(EventAccountTest, MovedPagesKeepTheirOwner) {
  const std::unique_ptr<EventAccount> account = make();
  account->push(0, alloc(*account, 10, 5, 10));
  PageEvent unmap = about(Kind::Unmap, 20, 0, 7);
  unmap.address = 0x1000;
  unmap.frame = 5;
  PageEvent remap = about(Kind::Remap, 30, 0, 7);
  remap.address = 0x1000;
  remap.frame = 6;
  account->push(0, unmap);
  account->push(0, remap);
  account->push(0, remap);  // nobody said whence
  account->push(0, at(40, 5));
  const model::Trace trace = ended(*account);
  EXPECT_EQ(trace.pages, 1U);
  EXPECT_EQ(trace.faults.unmatched_migrations, 1U);
}

TEST_F(EventAccountTest, LossesAndNotesGoIntoTheTrace) {
  const std::unique_ptr<EventAccount> account = make();
  account->count_lost(7);
  account->add_note("half of it");
  const model::Trace trace = ended(*account);
  EXPECT_EQ(trace.faults.lost_events, 7U);
  EXPECT_EQ(trace.notes, std::vector<std::string>{"half of it"});
}

TEST_F(EventAccountTest, OrdersAndFlagsAreFiltered) {
  options_.filter.least_order = 2;
  options_.filter.most_order = 3;
  options_.filter.wanted_gfp_bits = 4;
  options_.filter.unwanted_gfp_bits = 1;
  const std::unique_ptr<EventAccount> account = make();
  EXPECT_TRUE(account->is_asked_for(2, 4));
  EXPECT_FALSE(account->is_asked_for(1, 4));
  EXPECT_FALSE(account->is_asked_for(4, 4));
  EXPECT_FALSE(account->is_asked_for(2, 0));
  EXPECT_FALSE(account->is_asked_for(2, 5));
}

}  // namespace
}  // namespace tidemark::source
