#include "source/page_owner_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "unit/fixture.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using model::Trace;
using model::TraceLeaf;
using model::TraceTask;
using test::OrdinaryUser;
using test::TemporaryTree;

std::string fixture(const std::string& name) {
  return test::fixture_path("page_owner/" + name);
}

PageOwnerTrace read_dump(const std::string& path,
                         const model::PageOwnerSelection& selection = {}) {
  const TemporaryTree tree;
  base::Result<PageOwnerTrace> read =
      read_page_owner(tree.roots(), {path, selection});
  EXPECT_TRUE(read) << read.error().what;
  return read ? std::move(*read) : PageOwnerTrace();
}

bool has_note(const Trace& trace, const std::string& text) {
  return std::find(trace.notes.begin(), trace.notes.end(), text) !=
         trace.notes.end();
}

// Every leaf belongs to a task and a stack, and the sums agree.
void expect_adds_up(const PageOwnerTrace& read) {
  const Trace& trace = read.trace;
  uint64_t leaves = 0;
  for (const TraceLeaf& leaf : trace.leaves) {
    ASSERT_LT(leaf.stack, trace.stacks.size());
    ASSERT_LT(leaf.task, trace.tasks.size());
    leaves += leaf.pages;
  }
  uint64_t tasks = 0;
  for (const TraceTask& task : trace.tasks)
    tasks += task.pages;
  EXPECT_EQ(leaves, trace.pages);
  EXPECT_EQ(tasks, trace.pages);
  EXPECT_EQ(read.totals.pages, trace.pages);
}

TEST(PageOwnerSource, MakesATraceOfADump) {
  const PageOwnerTrace read = read_dump(fixture("linux-6.12.txt"));
  expect_adds_up(read);
  EXPECT_EQ(read.trace.backend, model::TraceBackend::PageOwner);
  EXPECT_FALSE(read.trace.has_peaks);
  EXPECT_NE(read.trace.started_realtime_ns, 0U);
  EXPECT_EQ(read.totals.records, 25U);
  EXPECT_EQ(read.trace.pages, 125U) << "a block has 2^order pages";
  EXPECT_EQ(read.totals.slab_pages, 23U);
  EXPECT_EQ(read.totals.charged_pages, 4U);
  EXPECT_EQ(read.totals.broken_records, 0U);
  EXPECT_TRUE(has_note(read.trace, "23 pages of slabs"));
  EXPECT_TRUE(has_note(
      read.trace,
      "2 pages taken before page_owner was ready: register_early_stack"));
}

TEST(PageOwnerSource, TakesModulesFromTheBrackets) {
  const Trace trace = read_dump(fixture("linux-6.12.txt")).trace;
  const auto frame =
      std::find_if(trace.frames.begin(), trace.frames.end(),
                   [](const model::TraceFrame& one) {
                     return one.symbol == "loop_add" && one.module == "loop";
                   });
  ASSERT_NE(frame, trace.frames.end());
  EXPECT_EQ(frame->offset, 0x2a2U);
  EXPECT_EQ(frame->address, 0U);
}

TEST(PageOwnerSource, ATaskIsAThreadGroupWithItsName) {
  const PageOwnerTrace read = read_dump(fixture("linux-6.1.txt"));
  expect_adds_up(read);
  ASSERT_EQ(read.trace.tasks.size(), 3U);
  EXPECT_EQ(read.trace.tasks[0].pid, 410) << "not the thread's 412";
  EXPECT_EQ(read.trace.tasks[0].name, "postgres");
  EXPECT_EQ(read.trace.tasks[2].name, "a) b (c");
  EXPECT_EQ(read.trace.tasks[2].pages, 513U);
  EXPECT_EQ(read.totals.migrated_pages, 1U);
  EXPECT_TRUE(has_note(read.trace, "1 page moved since taken"));
  // Innermost first, as printed.
  const model::TraceStack& stack = read.trace.stacks[0];
  EXPECT_EQ(read.trace.frames[stack.front()].symbol, "post_alloc_hook");
  EXPECT_EQ(read.trace.frames[stack.back()].symbol, "asm_exc_page_fault");
  EXPECT_EQ(read.trace.leaves[0].held_ns, 61993900000U - 52093871034U);
  EXPECT_EQ(read.trace.leaves[0].allocation_count, 1U);
}

TEST(PageOwnerSource, SelectsByTask) {
  model::PageOwnerSelection by_thread;
  by_thread.pids = {412};
  EXPECT_EQ(read_dump(fixture("linux-6.1.txt"), by_thread).trace.pages, 1U);
  model::PageOwnerSelection by_name;
  by_name.names = {"a) b (c", "nobody"};
  EXPECT_EQ(read_dump(fixture("linux-6.1.txt"), by_name).trace.pages, 513U);
  by_name.tgids = {410};
  EXPECT_EQ(read_dump(fixture("linux-6.1.txt"), by_name).trace.pages, 0U);
}

TEST(PageOwnerSource, SaysWhatOfADumpWasLeftOut) {
  const TemporaryTree tree;
  tree.add("dump",
           "noise\nPage allocated via order 0, mask 0x0()\nPFN 1\n a+0x1/0x2\n"
           "\nPage allocated via order 0, mask 0x0()\nPFN 1\n a+0x1/0");
  const PageOwnerTrace read = read_dump(tree.path("dump"));
  EXPECT_EQ(read.totals.records, 1U);
  EXPECT_EQ(read.trace.tasks[0].name, "not told by task");
  EXPECT_TRUE(has_note(read.trace, "1 record cut off or unreadable, left out"));
  EXPECT_TRUE(has_note(read.trace, "1 line of no record"));
}

TEST(PageOwnerSource, ReadsMoreThanItsBufferHolds) {
  const TemporaryTree tree;
  std::string text;
  uint64_t count = 0;
  while (text.size() < (size_t{3} << 20)) {
    text += "Page allocated via order 1, mask 0x0(), pid 5, tgid " +
            std::to_string(count % 7) + " (task), ts 9 ns\nPFN 0x" +
            std::to_string(count % 10) + "\n f" + std::to_string(count % 11) +
            "+0x1/0x2\n\n";
    ++count;
  }
  tree.add("dump", text);
  const PageOwnerTrace read = read_dump(tree.path("dump"));
  expect_adds_up(read);
  EXPECT_EQ(read.trace.pages, 2 * count);
  EXPECT_EQ(read.trace.leaves.size(), 77U);
  EXPECT_EQ(read.totals.broken_records, 0U);
}

TEST(PageOwnerSource, VisitsEveryRecord) {
  const TemporaryTree tree;
  uint64_t pages = 0;
  base::Result<parse::PageOwnerFaults> faults = read_page_owner_records(
      tree.roots(), fixture("linux-6.1.txt"),
      [&](const model::PageOwnerRecord& record) { pages += record.pages(); });
  ASSERT_TRUE(faults) << faults.error().what;
  EXPECT_EQ(pages, 1U + 8 + 512 + 1);
}

TEST(PageOwnerSource, RefusesAnotherFile) {
  const TemporaryTree tree;
  tree.add("other", "MemTotal: 1 kB\n");
  const base::Result<PageOwnerTrace> read =
      read_page_owner(tree.roots(), {tree.path("other"), {}});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, base::ErrorKind::Malformed);
  EXPECT_EQ(read.error().what, tree.path("other") +
                                   " is no dump of page_owner: no record in "
                                   "it");
  const base::Result<PageOwnerTrace> absent =
      read_page_owner(tree.roots(), {tree.path("absent"), {}});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().kind, base::ErrorKind::NotFound);
  const base::Result<PageOwnerTrace> folder =
      read_page_owner(tree.roots(), {tree.path(), {}});
  EXPECT_FALSE(folder);
}

// A tree whose mountinfo says that debugfs lies in it.
class LiveTree {
 public:
  LiveTree() {
    tree_.add("self/mountinfo", "36 35 0:7 / " + tree_.path("debug") +
                                    " rw - debugfs debugfs rw\n");
    tree_.add("debug/other", "");
  }
  TemporaryTree& operator*() { return tree_; }
  TemporaryTree* operator->() { return &tree_; }

  base::Error refusal() {
    const base::Result<PageOwnerTrace> read =
        read_page_owner(tree_.live_roots(), {});
    EXPECT_FALSE(read);
    return read ? base::Error() : read.error();
  }

 private:
  TemporaryTree tree_;
};

TEST(PageOwnerSource, FindsDebugfs) {
  LiveTree tree;
  tree->add("debug/page_owner",
            "Page allocated via order 0, mask 0x0()\nPFN 1\n a+0x1/0x2\n\n");
  const base::Result<PageOwnerTrace> read =
      read_page_owner(tree->live_roots(), {});
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->trace.pages, 1U);
}

TEST(PageOwnerSource, TellsWhyTheKernelHasNoNotes) {
  LiveTree tree;
  tree->add("cmdline", "root=/dev/sda page_owner=off quiet\n");
  base::Error error = tree.refusal();
  EXPECT_EQ(error.kind, base::ErrorKind::Unsupported);
  EXPECT_EQ(error.hint,
            "needs a kernel with CONFIG_PAGE_OWNER, booted with page_owner=on");
  tree->add("cmdline", "root=/dev/sda page_owner=on\n");
  error = tree.refusal();
  EXPECT_EQ(error.kind, base::ErrorKind::Unsupported);
  EXPECT_NE(error.hint.find("built without CONFIG_PAGE_OWNER"),
            std::string::npos);
}

TEST(PageOwnerSource, TellsThatDebugfsIsNotMounted) {
  LiveTree tree;
  tree->add("self/mountinfo", "36 35 0:7 / /proc rw - proc proc rw\n");
  const base::Error error = tree.refusal();
  EXPECT_EQ(error.kind, base::ErrorKind::NotFound);
  EXPECT_EQ(error.hint, "sudo mount -t debugfs debugfs /sys/kernel/debug");
}

TEST(PageOwnerSource, TellsThatItIsDenied) {
  LiveTree tree;
  tree->add("debug/page_owner", "");
  tree->deny("debug/page_owner");
  const OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << "root cannot become another user here";
  const base::Error error = tree.refusal();
  EXPECT_EQ(error.kind, base::ErrorKind::Denied);
  EXPECT_NE(error.hint.find("root"), std::string::npos);
}

TEST(PageOwnerSource, NeverLooksIntoDebugfsForACopiedTree) {
  LiveTree tree;
  tree->add("debug/page_owner",
            "Page allocated via order 0, mask 0x0()\nPFN 1\n a+0x1/0x2\n\n");
  const base::Result<PageOwnerTrace> read = read_page_owner(tree->roots(), {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, base::ErrorKind::Unsupported);
}

TEST(PageOwnerStacksSource, MakesATraceOfShowStacks) {
  const TemporaryTree tree;
  const base::Result<PageOwnerTrace> read =
      read_page_owner_stacks(tree.roots(), fixture("show_stacks-6.12.txt"));
  ASSERT_TRUE(read) << read.error().what;
  expect_adds_up(*read);
  EXPECT_EQ(read->trace.pages, 10034U);
  ASSERT_EQ(read->trace.tasks.size(), 1U);
  EXPECT_EQ(read->trace.tasks[0].name, "not told by task");
}

TEST(PageOwnerStacksSource, SaysWhatTheKernelLeavesOut) {
  LiveTree tree;
  tree->add("debug/page_owner_stacks/show_stacks",
            " a+0x1/0x2\nnr_base_pages: 70\n\n b+0x1/0x2\nstack_count: 3\n\n");
  tree->add("debug/page_owner_stacks/count_threshold", "50\n");
  const base::Result<PageOwnerTrace> read =
      read_page_owner_stacks(tree->live_roots(), "");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->trace.pages, 73U);
  EXPECT_TRUE(has_note(read->trace,
                       "stacks of fewer than 50 pages are left out: "
                       "page_owner_stacks/count_threshold"));
  EXPECT_TRUE(has_note(
      read->trace,
      "this kernel counts blocks here: there are at least so many pages"));
}

TEST(PageOwnerStacksSource, ReadsStacksOnceWhereTheyHaveNumbers) {
  LiveTree tree;
  const std::string folder = "debug/page_owner_stacks/";
  tree->add(folder + "show_stacks", "must not be read");
  tree->add(folder + "show_stacks_handles",
            " a+0x1/0x2\nhandle: 1\n\n b+0x1/0x2\nhandle: 2\n\n");
  tree->add(folder + "show_handles",
            "handle: 1\nnr_base_pages: 47\n\n"
            "handle: 2\nnr_base_pages: 3\n\n");
  base::Result<PageOwnerStackReader> reader =
      PageOwnerStackReader::open(tree->live_roots());
  ASSERT_TRUE(reader) << reader.error().what;
  EXPECT_TRUE(reader->has_handles());
  base::Result<PageOwnerTrace> read = reader->read();
  ASSERT_TRUE(read) << read.error().what;
  expect_adds_up(*read);
  EXPECT_EQ(read->trace.pages, 50U);
  ASSERT_EQ(read->trace.stacks.size(), 2U);
  EXPECT_EQ(read->trace.frames[read->trace.stacks[0][0]].symbol, "a");

  tree->add(folder + "show_stacks_handles", "must not be read again");
  tree->add(folder + "show_handles", "handle: 2\nnr_base_pages: 9\n\n");
  read = reader->read();
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->trace.pages, 9U);
  EXPECT_EQ(read->trace.frames[read->trace.stacks[0][0]].symbol, "b");

  tree->add(folder + "show_handles", "handle: 7\nnr_base_pages: 5\n\n");
  read = reader->read();
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->trace.pages, 5U) << "a stack nobody names still holds pages";
}

TEST(PageOwnerStacksSource, ReadsShowStacksWhereTheyHaveNone) {
  LiveTree tree;
  tree->add("debug/page_owner_stacks/show_stacks",
            " a+0x1/0x2\nnr_base_pages: 70\n\n");
  base::Result<PageOwnerStackReader> reader =
      PageOwnerStackReader::open(tree->live_roots());
  ASSERT_TRUE(reader) << reader.error().what;
  EXPECT_FALSE(reader->has_handles());
  const base::Result<PageOwnerTrace> read = reader->read();
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->trace.pages, 70U);
}

TEST(PageOwnerStacksSource, TellsWhyTheKernelHasNoSums) {
  LiveTree tree;
  tree->add("cmdline", "page_owner=on\n");
  const base::Result<PageOwnerTrace> read =
      read_page_owner_stacks(tree->live_roots(), "");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, base::ErrorKind::Unsupported);
  EXPECT_NE(read.error().hint.find("too old"), std::string::npos);
}

}  // namespace
}  // namespace tidemark::source
