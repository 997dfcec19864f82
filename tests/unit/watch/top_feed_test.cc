// `top` reading a tree, and itself, in its threads.
#include "watch/top_feed.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "store/recording.h"
#include "unit/child.h"
#include "unit/source/temporary_tree.h"
#include "unit/store/samples.h"

namespace tidemark::watch {
namespace {

TopFeedOptions quick() {
  TopFeedOptions options;
  options.target = "made";
  options.selection.everything = true;
  options.budget.period_ns = 20'000'000;
  options.recording_info = test::plain_info();
  return options;
}

std::unique_ptr<TopFeed> started(const source::Roots& roots,
                                 TopFeedOptions options = quick()) {
  base::Result<std::unique_ptr<TopFeed>> feed =
      TopFeed::start(roots, std::move(options));
  EXPECT_TRUE(feed) << feed.error().what;
  return feed ? std::move(*feed) : nullptr;
}

bool has_read(const TopFeed::Snapshot& snapshot) {
  return snapshot && !snapshot->sample.processes.empty();
}

TEST(TopFeed, MakesSnapshotsUntilItEnds) {
  const test::TemporaryTree tree;
  tree.add_process(7, 1, "seven");
  const source::Roots roots = tree.roots();
  const std::unique_ptr<TopFeed> feed = started(roots);
  ASSERT_TRUE(test::eventually([&] { return has_read(feed->take()); }));
  const uint64_t first = feed->take()->sample.started_monotonic_ns;
  EXPECT_TRUE(test::eventually(
      [&] { return feed->take()->sample.started_monotonic_ns > first; }));
  EXPECT_EQ(feed->take()->target, "made");
}

TEST(TopFeed, ReadsTheMappingsOfOneProcessWhenAsked) {
  const source::Roots roots = test::TemporaryTree::open("/proc", true);
  TopFeedOptions options = quick();
  options.selection.everything = false;
  options.selection.members = [] {
    return std::vector<int32_t>{static_cast<int32_t>(::getpid())};
  };
  const std::unique_ptr<TopFeed> feed = started(roots, std::move(options));
  ASSERT_TRUE(test::eventually([&] { return has_read(feed->take()); }));
  const model::ProcessId self = feed->take()->sample.processes[0].id;
  feed->want_maps(self);
  ASSERT_TRUE(test::eventually([&] { return feed->take()->maps != nullptr; }));
  EXPECT_EQ(feed->take()->maps->process, self);
  feed->want_maps(std::nullopt);
  EXPECT_TRUE(test::eventually([&] { return feed->take()->maps == nullptr; }));
}

TEST(TopFeed, SaysWhyMappingsCannotBeRead) {
  const test::TemporaryTree tree;
  tree.add_process(7, 1, "seven");
  const source::Roots roots = tree.roots();
  const std::unique_ptr<TopFeed> feed = started(roots);
  feed->want_maps(model::ProcessId{4242, 1});
  EXPECT_TRUE(test::eventually([&] {
    const TopFeed::Snapshot snapshot = feed->take();
    return snapshot && !snapshot->maps_failure.empty();
  }));
}

TEST(TopFeed, RecordsWhatItReads) {
  const test::TemporaryTree tree;
  tree.add_process(7, 1, "seven");
  const source::Roots roots = tree.roots();
  const test::RecordingFile file;
  const std::unique_ptr<TopFeed> feed = started(roots);
  feed->record_to(file.path());
  ASSERT_TRUE(test::eventually([&] {
    const TopFeed::Snapshot snapshot = feed->take();
    return snapshot && snapshot->recording && snapshot->recording->bytes > 0;
  }));
  const uint64_t begun = feed->take()->sample.started_monotonic_ns;
  ASSERT_TRUE(test::eventually([&] {
    return feed->take()->sample.started_monotonic_ns > begun + 200'000'000;
  }));
  feed->record_to("");
  ASSERT_TRUE(test::eventually(
      [&] { return feed->take()->recording == std::nullopt; }));
  base::Result<store::Recording> recording =
      store::Recording::open(file.path());
  ASSERT_TRUE(recording) << recording.error().what;
  EXPECT_GE(recording->ticks().size(), 2U);
}

TEST(TopFeed, FinishesARecordingWhenItEnds) {
  const test::TemporaryTree tree;
  tree.add_process(7, 1, "seven");
  const source::Roots roots = tree.roots();
  const test::RecordingFile file;
  std::unique_ptr<TopFeed> feed = started(roots);
  feed->record_to(file.path());
  ASSERT_TRUE(test::eventually([&] {
    const TopFeed::Snapshot snapshot = feed->take();
    return has_read(snapshot) && snapshot->recording;
  }));
  feed.reset();
  EXPECT_TRUE(store::Recording::open(file.path()));
  EXPECT_FALSE(std::filesystem::exists(file.path() + "-wal"))
      << "one plain file without a log";
}

TEST(TopFeed, SaysThatAFileIsNeverWrittenOver) {
  const test::TemporaryTree tree;
  tree.add_process(7, 1, "seven");
  const source::Roots roots = tree.roots();
  const std::unique_ptr<TopFeed> feed = started(roots);
  tree.add("there.tdm", "something");
  feed->record_to(tree.path("there.tdm"));
  EXPECT_TRUE(test::eventually([&] {
    const TopFeed::Snapshot snapshot = feed->take();
    return snapshot && snapshot->note.find("there.tdm") != std::string::npos;
  }));
}

TEST(TopFeed, CountsObjectsOnlyWhileTheyAreWanted) {
  const source::Roots roots = test::TemporaryTree::open("/proc", true);
  TopFeedOptions options = quick();
  options.budget.period_ns = 200'000'000;
  const std::unique_ptr<TopFeed> feed = started(roots, std::move(options));
  ASSERT_TRUE(test::eventually([&] { return has_read(feed->take()); }));
  EXPECT_EQ(feed->take()->slow.objects.value, nullptr);
  analysis::TopNeeds needs;
  needs.objects = true;
  feed->want(needs);
  const auto counted = [&] {
    const analysis::SlowReading<analysis::ObjectReport> reading =
        feed->take()->slow.objects;
    return reading.value || !reading.failure.empty() ? reading.read_ns : 0;
  };
  ASSERT_TRUE(test::eventually([&] { return counted() != 0; }));
  const uint64_t before = counted();
  ++needs.object_recounts;
  feed->want(needs);
  EXPECT_TRUE(test::eventually([&] { return counted() > before; }));
}

TEST(TopFeed, SaysWhyNoPagesCanBeCountedInACopy) {
  const test::TemporaryTree tree;
  tree.add_process(7, 1, "seven");
  const source::Roots roots = tree.roots();
  const std::unique_ptr<TopFeed> feed = started(roots);
  analysis::TopNeeds needs;
  needs.ending = {{7, 100}};
  feed->want(needs);
  EXPECT_TRUE(test::eventually([&] {
    const TopFeed::Snapshot snapshot = feed->take();
    return snapshot && !snapshot->slow.come_back.failure.empty();
  }));
}

}  // namespace
}  // namespace tidemark::watch
