#include "analysis/memstats_sections.h"

#include <gtest/gtest.h>

#include <limits>

namespace tidemark::analysis {
namespace {

using model::MemstatsRecord;
using model::SmapsField;

MemstatsRecord record_at(uint64_t second, uint64_t rss_bytes) {
  MemstatsRecord record;
  record.elapsed_seconds = second;
  model::MemstatsProcess& monitor = record.processes.emplace_back();
  monitor.pid = 1;
  monitor.name = "crosvm";
  monitor.totals.set(SmapsField::Rss, rss_bytes);
  return record;
}

void add_helper(MemstatsRecord& record, int32_t pid, uint64_t bytes) {
  model::MemstatsProcess& helper = record.processes.emplace_back();
  helper.pid = pid;
  helper.name = "pcivirtio-fs";
  helper.totals.set(SmapsField::PrivateDirty, bytes);
}

// By the order of kBalloonNames.
void tell(MemstatsRecord& record, uint64_t total, uint64_t free,
          uint64_t caches, uint64_t balloon) {
  model::BalloonStats& stats = record.balloon.emplace();
  stats.values[4] = free;
  stats.values[5] = total;
  stats.values[7] = caches;
  stats.balloon_bytes = balloon;
}

int64_t bytes_of(const std::vector<MemstatsSection>& sections, size_t index,
                 size_t point = 0) {
  return sections.at(index).points.at(point).bytes;
}

TEST(MemstatsSections, ProcessesOfOneNameAreOnePoint) {
  MemstatsRecord record = record_at(3, 100);
  add_helper(record, 2, 10);
  add_helper(record, 3, 5);
  const auto sections = memstats_sections(std::span(&record, 1));
  ASSERT_EQ(sections.size(), 7U);
  EXPECT_EQ(sections[5].name, "pcivirtio-fs");
  EXPECT_EQ(sections[5].points, (std::vector<MemstatsPoint>{{3, 15}}));
}

TEST(MemstatsSections, ASilentGuestIsAllHostAndTheLastTotalItsLimit) {
  std::vector<MemstatsRecord> records = {record_at(0, 100), record_at(1, 100),
                                         record_at(2, 100)};
  tell(records[1], 90, 20, 10, 30);
  const auto sections = memstats_sections(records);
  EXPECT_EQ(bytes_of(sections, 0, 0), 0);
  EXPECT_EQ(bytes_of(sections, 3, 1), 90 - 20 - 30 - 10);
  EXPECT_EQ(bytes_of(sections, 4, 0), 100);
  EXPECT_EQ(bytes_of(sections, 4, 1), 100 - 30 - 10);
  ASSERT_EQ(sections[5].points.size(), 3U);
  EXPECT_EQ(bytes_of(sections, 5, 1), 60);
  EXPECT_EQ(bytes_of(sections, 5, 2), 90)
      << "the original ends where the last record has no balloon";
}

TEST(MemstatsSections, WhatIsBelowNothingIsToldAsItIs) {
  MemstatsRecord record = record_at(0, 10);
  tell(record, 100, 20, 30, 0);
  EXPECT_EQ(bytes_of(memstats_sections(std::span(&record, 1)), 4),
            10 - 50 - 30);
}

TEST(MemstatsSections, NonsenseDoesNotWrap) {
  MemstatsRecord record = record_at(0, 10);
  const uint64_t absurd = std::numeric_limits<uint64_t>::max();
  tell(record, absurd, 0, 0, 0);
  EXPECT_GT(bytes_of(memstats_sections(std::span(&record, 1)), 3), 0);
}

TEST(MemstatsSections, AGuestThatNeverToldHasNoLimit) {
  const MemstatsRecord record = record_at(0, 10);
  EXPECT_TRUE(memstats_sections(std::span(&record, 1)).back().points.empty());
  EXPECT_TRUE(memstats_sections({}).empty());
}

}  // namespace
}  // namespace tidemark::analysis
