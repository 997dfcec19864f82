// What bands tell of a tick is what the tick itself tells.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/band_sum.h"
#include "unit/store/samples.h"

namespace tidemark::store {
namespace {

using model::Band;
using model::BandShares;
using model::RegionKind;
using model::SmapsField;
using test::full_mapping;
using test::process_of;
using test::sample_of;

// A heap that moves, a library with its bss, a mapping that comes and goes, and
// a second process that ends.
std::vector<model::Sample> history() {
  std::vector<model::Sample> samples;
  for (uint64_t i = 0; i < 80; ++i) {
    std::vector<model::Mapping> mappings = {
        full_mapping(0x10000, 100, 10 + i % 13, "[heap]"),
        full_mapping(0x400000, 20, 4, "/lib/x.so"),
        full_mapping(0x414000, 20, 2 + i / 40),
    };
    std::vector<RegionKind> kinds = {RegionKind::BrkHeap, RegionKind::Image,
                                     RegionKind::Image};
    if (i % 9 < 4) {
      mappings.push_back(full_mapping(0x800000, 50, i % 3));
      mappings.back().fields.set(SmapsField::Swap, 4096 * (i % 5));
      mappings.back().fields.set(SmapsField::SwapPss, 4096 * (i % 5));
      kinds.push_back(RegionKind::Anonymous);
    }
    model::Process first = process_of(1, 10, mappings);
    first.kinds = kinds;
    std::vector<model::Process> processes = {first};
    if (i >= 20 && i < 60) {
      model::Process second =
          process_of(2, 20, {full_mapping(0x10000, 100, i, "[heap]")});
      second.kinds = {RegionKind::BrkHeap};
      processes.push_back(second);
    }
    samples.push_back(sample_of(i, processes));
  }
  return samples;
}

BandShares at(const Band& band, size_t index) {
  BandShares shares;
  for (const model::BandPoint& point : band.points) {
    if (point.tick_index <= index) shares = point.shares;
  }
  return shares;
}

BandShares sum_at(const std::vector<Band>& bands, size_t index) {
  BandShares sum;
  for (const Band& band : bands) {
    const BandShares one = at(band, index);
    sum.rss_bytes += one.rss_bytes;
    sum.pss_bytes += one.pss_bytes;
    sum.private_bytes += one.private_bytes;
    sum.swap_bytes += one.swap_bytes;
  }
  return sum;
}

class BandsTest : public testing::Test {
 protected:
  test::RecordingFile file_;
  Recording recording_ = test::recorded(file_, history());
};

TEST_F(BandsTest, AddUpToTheTimelineAtEachAskedTick) {
  const model::Timeline timeline = *recording_.timeline({});
  for (int64_t step : {1, 7, 30}) {
    std::vector<int64_t> ticks;
    for (int64_t tick = 0; tick < 80; tick += step)
      ticks.push_back(tick);
    const base::Result<model::Bands> bands = recording_.bands({}, ticks);
    ASSERT_TRUE(bands) << bands.error().what;
    for (size_t i = 0; i < ticks.size(); ++i) {
      const model::TimelinePoint& point =
          timeline.points[static_cast<size_t>(ticks[i])];
      for (const auto* group : {&bands->by_process, &bands->by_object}) {
        const BandShares sum = sum_at(*group, i);
        EXPECT_EQ(sum.pss_bytes, point.pss_bytes) << ticks[i];
        EXPECT_EQ(sum.rss_bytes, point.rss_bytes) << ticks[i];
        EXPECT_EQ(sum.private_bytes, point.private_bytes) << ticks[i];
        EXPECT_EQ(sum.swap_bytes, point.swap_bytes) << ticks[i];
      }
    }
  }
}

TEST_F(BandsTest, OfKindsAreWhatTheMappingsAddUpTo) {
  for (int64_t step : {1, 7, 30}) {
    std::vector<int64_t> ticks;
    for (int64_t tick = 0; tick < 80; tick += step)
      ticks.push_back(tick);
    const model::Bands bands = *recording_.bands({}, ticks);
    const base::Result<std::vector<Band>> kinds = recording_.kinds(ticks);
    ASSERT_TRUE(kinds) << kinds.error().what;
    EXPECT_EQ(kinds->size(), 3U) << "heap, anonymous memory, a library";
    for (const Band& kind : *kinds) {
      std::vector<Band> parts;
      for (const Band& band : bands.by_process) {
        if (band.category == kind.category) parts.push_back(band);
      }
      for (size_t i = 0; i < ticks.size(); ++i)
        EXPECT_EQ(at(kind, i), sum_at(parts, i)) << ticks[i];
      for (size_t i = 1; i < kind.points.size(); ++i)
        EXPECT_NE(kind.points[i].shares, kind.points[i - 1].shares);
    }
  }
}

TEST_F(BandsTest, TellOnlyWhereSomethingChanged) {
  const std::vector<int64_t> ticks = {0, 1, 2, 45, 46};
  const model::Bands bands = *recording_.bands({}, ticks);
  for (const Band& band : bands.by_object) {
    for (size_t i = 1; i < band.points.size(); ++i)
      EXPECT_NE(band.points[i].shares, band.points[i - 1].shares) << band.name;
  }
}

TEST_F(BandsTest, GiveTheBssToTheLibraryBeforeIt) {
  const std::vector<int64_t> ticks = {0};
  const model::Bands bands = *recording_.bands({}, ticks);
  std::map<std::string, uint64_t> pss;
  for (const Band& band : bands.by_object)
    pss[band.name] += at(band, 0).pss_bytes;
  EXPECT_EQ(pss["/lib/x.so"], 6 * test::kPageBytes);
  EXPECT_FALSE(pss.contains(""));
}

TEST_F(BandsTest, EndWithTheirProcess) {
  const std::vector<int64_t> ticks = {10, 59, 60};
  const model::Bands bands = *recording_.bands({}, ticks);
  std::optional<Band> second;
  for (const Band& band : bands.by_process) {
    for (const model::RecordedProcess& process : recording_.processes()) {
      if (process.id == band.process && process.process.pid == 2) second = band;
    }
  }
  ASSERT_TRUE(second);
  EXPECT_EQ(at(*second, 0).pss_bytes, 0u);
  EXPECT_EQ(at(*second, 1).pss_bytes, 59 * test::kPageBytes);
  EXPECT_EQ(at(*second, 2).pss_bytes, 0u);
}

TEST_F(BandsTest, OfOneProcessAreItsOwn) {
  const std::vector<int64_t> ticks = {30};
  int64_t id = 0;
  for (const model::RecordedProcess& process : recording_.processes()) {
    if (process.process.pid == 2) id = process.id;
  }
  const model::Bands bands = *recording_.bands({id}, ticks);
  EXPECT_EQ(sum_at(bands.by_object, 0).pss_bytes, 30 * test::kPageBytes);
  EXPECT_EQ(sum_at(bands.by_process, 0).pss_bytes, 30 * test::kPageBytes);
}

// So long that it is summed up in parts where there are threads to do so:
// nobody may see where one ends.
TEST(LongBands, AreTheSameInParts) {
  constexpr uint64_t kTicks = 9000;
  std::vector<model::Sample> samples;
  for (uint64_t i = 0; i < kTicks; ++i) {
    std::vector<model::Process> processes = {process_of(
        1, 10, {full_mapping(0x10000, 100, 10 + i / 16 % 13, "[heap]")})};
    const bool is_there_in_the_middle = i > 4000 && i < 5000;
    if (is_there_in_the_middle) {
      processes.push_back(
          process_of(2, 20, {full_mapping(0x10000, 100, 5, "/lib/y.so")}));
    }
    samples.push_back(sample_of(i, processes));
  }
  test::RecordingFile file;
  const Recording recording = test::recorded(file, samples);
  const model::Timeline timeline = *recording.timeline({});
  std::vector<int64_t> ticks;
  for (int64_t tick = 0; tick < static_cast<int64_t>(kTicks); tick += 7)
    ticks.push_back(tick);
  const model::Bands bands = *recording.bands({}, ticks);
  for (size_t i = 0; i < ticks.size(); ++i) {
    const uint64_t pss_bytes =
        timeline.points[static_cast<size_t>(ticks[i])].pss_bytes;
    ASSERT_EQ(sum_at(bands.by_process, i).pss_bytes, pss_bytes) << ticks[i];
    ASSERT_EQ(sum_at(bands.by_object, i).pss_bytes, pss_bytes) << ticks[i];
  }
  for (const Band& band : bands.by_object) {
    for (size_t i = 1; i < band.points.size(); ++i) {
      EXPECT_NE(band.points[i].shares, band.points[i - 1].shares);
      EXPECT_GT(band.points[i].tick_index, band.points[i - 1].tick_index);
    }
  }
}

Band band_of(std::string name, std::vector<model::BandPoint> points) {
  Band band;
  band.name = std::move(name);
  band.points = std::move(points);
  return band;
}

BandShares shares(uint64_t pss_bytes) {
  return {pss_bytes, pss_bytes, 0, 0};
}

TEST(BandJoin, LeavesOutWhatGoesOnAndEndsWhatDoesNot) {
  BandJoin join;
  join.add(
      {band_of("stays", {{0, shares(1)}}), band_of("moves", {{1, shares(1)}}),
       band_of("ends", {{0, shares(1)}}), band_of("is told later", {}),
       band_of("never", {})},
      {0, 2});
  join.add({band_of("new", {{3, shares(9)}}),
            band_of("is told later", {{2, shares(4)}}),
            band_of("moves", {{2, shares(2)}, {3, shares(3)}}),
            band_of("stays", {{2, shares(1)}, {3, shares(5)}})},
           {2, 4});
  const std::vector<Band> expected = {
      band_of("stays", {{0, shares(1)}, {3, shares(5)}}),
      band_of("moves", {{1, shares(1)}, {2, shares(2)}, {3, shares(3)}}),
      band_of("ends", {{0, shares(1)}, {2, shares(0)}}),
      band_of("is told later", {{2, shares(4)}}),
      band_of("new", {{3, shares(9)}})};
  EXPECT_EQ(join.take().by_object, expected);
}

TEST(BandJoin, TakesAPartWithoutAnyTick) {
  BandJoin join;
  join.add({band_of("a", {{0, shares(1)}})}, {0, 1});
  join.add({band_of("b", {})}, {1, 1});
  join.add({band_of("b", {{1, shares(2)}})}, {1, 2});
  const std::vector<Band> expected = {
      band_of("a", {{0, shares(1)}, {1, shares(0)}}),
      band_of("b", {{1, shares(2)}})};
  EXPECT_EQ(join.take().by_object, expected);
}

// ---- what was not read at a tick

constexpr uint64_t kMib = 1 << 20;

model::Process with_counters(model::Process process, uint64_t anon_mib,
                             uint64_t shmem_mib) {
  process.status.rss_anon_bytes = anon_mib * kMib;
  process.status.rss_file_bytes = 0;
  process.status.rss_shmem_bytes = shmem_mib * kMib;
  process.statm = model::Statm{};
  process.statm->resident_pages =
      (anon_mib + shmem_mib) * kMib / test::kPageBytes;
  return process;
}

// Its heap; of its shared memory it has a tenth.
model::Process read_worker(int32_t pid, uint64_t anon_mib, uint64_t shmem_mib) {
  const auto pages = [](uint64_t mib) { return mib * kMib / test::kPageBytes; };
  model::Mapping shared = full_mapping(0x90000000, pages(512), 0, "/memfd:x");
  shared.fields.set(SmapsField::Rss, shmem_mib * kMib);
  shared.fields.set(SmapsField::SharedDirty, shmem_mib * kMib);
  shared.fields.set(SmapsField::Pss, shmem_mib * kMib / 10);
  model::Process process = process_of(
      pid, 1,
      {full_mapping(0x10000, pages(512), pages(anon_mib), "[heap]"), shared});
  process.kinds = {RegionKind::BrkHeap, RegionKind::SharedAnonymous};
  return with_counters(std::move(process), anon_mib, shmem_mib);
}

// Three workers: one is read at first and then not, one never, one at the end.
std::vector<model::Sample> partly_read() {
  std::vector<model::Sample> samples;
  for (uint64_t i = 0; i < 40; ++i) {
    const uint64_t anon_mib = 40 + 10 * i;
    model::Process first = read_worker(1, anon_mib, 200);
    model::Process last = read_worker(3, 100, 200);
    if (i > 0) first = test::without_detail(first);
    if (i < 30) last = test::without_detail(last);
    model::Sample sample = sample_of(
        i, {first, test::without_detail(read_worker(2, 70, 200)), last});
    sample.machine.emplace();
    sample.machine->page_size_bytes = test::kPageBytes;
    sample.machine->meminfo.shmem_bytes = 220 * kMib;
    samples.push_back(std::move(sample));
  }
  return samples;
}

TEST(PartlyRead, IsScaledBoundedAndCountedOnceInEveryFace) {
  const test::RecordingFile file;
  const Recording recording = test::recorded(file, partly_read());
  std::vector<int64_t> ticks;
  for (int64_t tick = 0; tick < 40; ++tick)
    ticks.push_back(tick);
  const model::Bands bands = *recording.bands({}, ticks);
  const model::Timeline all = *recording.timeline({});
  const model::Timeline chosen = *recording.timeline({1, 2, 3});
  for (size_t i = 0; i < ticks.size(); ++i) {
    SCOPED_TRACE(i);
    const uint64_t anon = (40 + 10 * i) + 70 + 100;
    // Of shared memory there is no more than the machine has.
    const uint64_t shm = i < 30 ? 220 : 220;
    EXPECT_EQ(sum_at(bands.by_process, i).pss_bytes, (anon + shm) * kMib);
    EXPECT_EQ(sum_at(bands.by_object, i).pss_bytes, (anon + shm) * kMib);
    EXPECT_EQ(all.points[i].pss_bytes, (anon + shm) * kMib);
    EXPECT_EQ(chosen.points[i].pss_bytes, (anon + shm) * kMib);
    EXPECT_EQ(all.points[i].bounded_bytes, chosen.points[i].bounded_bytes);
    EXPECT_EQ(all.points[i].estimated_bytes, chosen.points[i].estimated_bytes);
  }
  const model::Sample at_20 = test::sample_at(recording, 20);
  const model::Process& first = at_20.processes.at(0);
  EXPECT_TRUE(first.is_estimated);
  EXPECT_EQ(first.split_age_ns, 20 * test::kPeriodNs);
  EXPECT_EQ(first.rollup->get(SmapsField::Pss), (240 + 20) * kMib);
  EXPECT_FALSE(at_20.processes.at(1).mappings) << "it was never read";
}

TEST(PartlyRead, IsTheSameFromWhereverItIsBegun) {
  const test::RecordingFile file;
  const Recording recording = test::recorded(file, partly_read());
  const std::vector<int64_t> all = {3, 17, 33, 39};
  const model::Bands whole = *recording.bands({1}, all);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<int64_t> one = {all[i]};
    EXPECT_EQ(sum_at(recording.bands({1}, one)->by_process, 0).pss_bytes,
              sum_at(whole.by_process, i).pss_bytes);
  }
}

TEST(PartlyRead, IsWalkedThroughAsItIsAskedFor) {
  const test::RecordingFile file;
  const Recording recording = test::recorded(file, partly_read());
  const auto visit = [&](const model::RecordedTick& tick,
                         const model::Sample& sample) -> base::Status {
    const model::Sample asked = test::sample_at(recording, tick.id);
    EXPECT_EQ(sample.processes.size(), asked.processes.size());
    for (size_t i = 0; i < asked.processes.size(); ++i) {
      SCOPED_TRACE(testing::Message() << tick.id << ' ' << i);
      const model::Process& one = sample.processes[i];
      const model::Process& other = asked.processes[i];
      EXPECT_EQ(one.mappings.value, other.mappings.value);
      EXPECT_EQ(one.is_estimated, other.is_estimated);
      EXPECT_EQ(one.split_age_ns, other.split_age_ns);
      EXPECT_EQ(one.unsplit, other.unsplit);
    }
    return base::Ok{};
  };
  ASSERT_TRUE(recording.walk_samples(0, 39, {}, visit));
}

}  // namespace
}  // namespace tidemark::store
