#include "analysis/composition.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "analysis/peak_report.h"

namespace tidemark::analysis {
namespace {

using model::Category;
using model::Mapping;
using model::Process;
using model::RegionKind;
using model::Sample;
using model::SmapsField;

constexpr uint64_t kKib = 1024;

Mapping mapping_of(uint64_t start, uint64_t pss_kib, std::string name = {}) {
  Mapping mapping;
  mapping.start_address = start;
  mapping.end_address = start + 4096 * kKib;
  mapping.permissions = {true, true, false, false};
  mapping.inode_id = name.starts_with('/') ? 7 : 0;
  mapping.name = std::move(name);
  mapping.fields.set(SmapsField::Rss, 2 * pss_kib * kKib);
  mapping.fields.set(SmapsField::Pss, pss_kib * kKib);
  mapping.fields.set(SmapsField::PrivateClean, 0);
  mapping.fields.set(SmapsField::PrivateDirty, pss_kib / 2 * kKib);
  return mapping;
}

Process process_of(int32_t pid, std::vector<Mapping> mappings,
                   std::vector<RegionKind> kinds) {
  Process process;
  process.id = {pid, 1};
  process.stat.comm = "p" + std::to_string(pid);
  process.mappings = model::known(std::move(mappings));
  process.kinds = std::move(kinds);
  return process;
}

TEST(Compose, SumsEqualTheirParts) {
  EXPECT_TRUE(rc::check([] {
    Sample sample;
    const auto processes = *rc::gen::inRange(0, 5);
    for (int32_t pid = 0; pid < processes; ++pid) {
      std::vector<Mapping> mappings;
      std::vector<RegionKind> kinds;
      const auto count = *rc::gen::inRange<uint64_t>(0, 6);
      for (uint64_t i = 0; i < count; ++i) {
        mappings.push_back(mapping_of(
            0x1000000 * (i + 1), *rc::gen::inRange<uint64_t>(0, 999),
            *rc::gen::element<std::string>("", "/a", "/b", "[heap]")));
        if (*rc::gen::inRange(0, 4) == 0) {
          mappings.back().fields.set(SmapsField::PrivateHugetlb, 2048 * kKib);
        }
        kinds.push_back(static_cast<RegionKind>(*rc::gen::inRange(0, 18)));
      }
      sample.processes.push_back(
          process_of(pid, std::move(mappings), std::move(kinds)));
    }
    const Composition composition = compose(sample);
    Bytes parts;
    for (const Part& part : composition.parts)
      parts.add(part.bytes);
    Bytes holders;
    for (const Holder& holder : composition.processes)
      holders.add(holder.bytes);
    RC_ASSERT(parts == composition.total);
    RC_ASSERT(holders == composition.total);
  }));
}

TEST(Compose, PutsOneFileOfSeveralProcessesInOnePart) {
  Sample sample;
  sample.processes = {
      process_of(1, {mapping_of(0x10000000, 10, "/data")}, {RegionKind::File}),
      process_of(2, {mapping_of(0x90000000, 30, "/data")}, {RegionKind::File})};
  const Composition composition = compose(sample);
  ASSERT_EQ(composition.parts.size(), 1U);
  EXPECT_EQ(composition.parts[0].name, "/data");
  EXPECT_EQ(composition.parts[0].bytes.pss, 40 * kKib);
  EXPECT_EQ(composition.parts[0].mapping_count, 2U);
  EXPECT_EQ(composition.processes[0].id.pid, 2) << "largest first";
}

TEST(Compose, CountsTheBssOfAnImageToIt) {
  Sample sample;
  sample.processes = {process_of(
      1, {mapping_of(0x10000000, 10, "/lib/x.so"), mapping_of(0x20000000, 5)},
      {RegionKind::Image, RegionKind::Image})};
  const Composition composition = compose(sample);
  ASSERT_EQ(composition.parts.size(), 1U);
  EXPECT_EQ(composition.parts[0].bytes.pss, 15 * kKib);
}

TEST(Compose, LeavesOutWhatHasNoMemory) {
  Sample sample;
  sample.processes = {
      process_of(1, {mapping_of(0x10000000, 10)}, {RegionKind::Anonymous})};
  sample.processes[0].state = model::ProcessState::Zombie;
  EXPECT_TRUE(compose(sample).processes.empty());
}

TEST(Compose, CountsWhatCouldNotBeRead) {
  Sample sample;
  Process process = process_of(1, {}, {});
  process.mappings = model::unknown<std::vector<Mapping>>("denied");
  process.statm = model::Statm{100, 25, 0, 0, 0};
  sample.processes = {process};
  const Composition composition = compose(sample);
  EXPECT_EQ(composition.undetailed_count, 1U);
  EXPECT_EQ(composition.undetailed_bytes, 25U * 4096);
  EXPECT_EQ(composition.total, Bytes());
}

TEST(Compose, TellsWhoseSharesAreNotKnown) {
  Mapping scanned;
  scanned.start_address = 0x10000;
  scanned.end_address = 0x20000;
  scanned.fields.set(SmapsField::Rss, 8 * kKib);
  Sample sample;
  sample.processes = {process_of(1, {scanned}, {RegionKind::Anonymous})};
  const Composition composition = compose(sample);
  EXPECT_EQ(composition.scanned_count, 1U);
  EXPECT_TRUE(composition.processes[0].is_scanned);
  EXPECT_EQ(composition.total.rss, 8 * kKib);
  EXPECT_EQ(composition.total.pss, 0U);
}

// ---- peak

model::Timeline timeline_of(const std::vector<uint64_t>& pss) {
  model::Timeline timeline;
  for (uint64_t bytes : pss) {
    model::TimelinePoint point;
    point.tick = static_cast<int64_t>(timeline.points.size());
    point.pss_bytes = bytes;
    timeline.points.push_back(point);
  }
  return timeline;
}

TEST(FindPeak, IsTheFirstOfTheHighest) {
  EXPECT_EQ(find_peak(timeline_of({1, 5, 3, 5}), PeakMetric::Pss), 1U);
}

TEST(FindPeak, OfAvailabilityIsTheLeast) {
  model::Timeline timeline = timeline_of({1, 1, 1, 1});
  EXPECT_FALSE(find_peak(timeline, PeakMetric::Available));
  timeline.points[1].available_bytes = 7;
  timeline.points[3].available_bytes = 3;
  EXPECT_EQ(find_peak(timeline, PeakMetric::Available), 3U);
}

TEST(FindPeak, OfNothingIsNothing) {
  EXPECT_FALSE(find_peak({}, PeakMetric::Pss));
}

TEST(PeakReport, RowsAndTheirChangesAddUp) {
  EXPECT_TRUE(rc::check([] {
    const auto any_sample = [] {
      Sample sample;
      std::vector<Mapping> mappings;
      std::vector<RegionKind> kinds;
      const auto count = *rc::gen::inRange<uint64_t>(0, 30);
      for (uint64_t i = 0; i < count; ++i) {
        mappings.push_back(mapping_of(0x1000000 * (i + 1),
                                      *rc::gen::inRange<uint64_t>(0, 999),
                                      "/f" + std::to_string(i)));
        kinds.push_back(*rc::gen::element(RegionKind::File, RegionKind::MemFd,
                                          RegionKind::BrkHeap));
      }
      sample.processes = {process_of(1, std::move(mappings), std::move(kinds))};
      return sample;
    };
    const Sample sample = any_sample();
    const Sample earlier = any_sample();
    model::RecordingInfo info;
    const std::vector<model::RecordedTick> ticks(2);
    const std::vector<model::RecordedProcess> processes;
    const model::Timeline timeline = timeline_of({1, 2});
    PeakInput input;
    input.info = &info;
    input.ticks = &ticks;
    input.processes = &processes;
    input.timeline = &timeline;
    input.tick_index = 1;
    input.sample = &sample;
    input.earlier = &earlier;
    input.row_limit = *rc::gen::inRange<size_t>(0, 8);
    const PeakReport report = make_peak_report(input);
    Bytes rows;
    int64_t change = 0;
    for (const PeakRow& row : report.rows) {
      rows.add(row.bytes);
      change += row.change_bytes.value_or(0);
    }
    RC_ASSERT(rows == report.composition.total);
    RC_ASSERT(change == static_cast<int64_t>(report.composition.total.pss) -
                            static_cast<int64_t>(compose(earlier).total.pss));
  }));
}

}  // namespace
}  // namespace tidemark::analysis
