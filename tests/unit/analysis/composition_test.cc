#include "analysis/composition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/analysis/recorded.h"

namespace tidemark::analysis {
namespace {

using model::Mapping;
using model::RegionKind;
using model::Sample;
using model::SmapsField;
using test::mapping_of;
using test::recorded_process;

constexpr uint64_t kKib = 1024;

RC_GTEST_PROP(Compose, SumsEqualTheirParts, ()) {
  const Composition composition = compose(test::any_sample());
  Bytes parts;
  for (const Part& part : composition.parts)
    parts.add(part.bytes);
  Bytes holders;
  for (const Holder& holder : composition.processes)
    holders.add(holder.bytes);
  RC_ASSERT(parts == composition.total);
  RC_ASSERT(holders == composition.total);
}

RC_GTEST_PROP(Compose, EveryProcessIsReadOrCountedAsUnread, ()) {
  const Sample sample = test::any_sample();
  const Composition composition = compose(sample);
  RC_ASSERT(composition.processes.size() == sample.processes.size());
  uint64_t unread = 0;
  for (const Holder& holder : composition.processes)
    unread += holder.bytes.is_unsplit() ? 1 : 0;
  RC_ASSERT(unread == composition.undetailed_count);
  RC_ASSERT(composition.undetailed_bytes == unread * 10 * 4096);
}

TEST(Compose, PutsOneFileOfSeveralProcessesInOnePart) {
  Sample sample;
  sample.processes = {recorded_process(1, {mapping_of(0x10000000, 10, "/data")},
                                       {RegionKind::File}),
                      recorded_process(2, {mapping_of(0x90000000, 30, "/data")},
                                       {RegionKind::File})};
  const Composition composition = compose(sample);
  ASSERT_EQ(composition.parts.size(), 1U);
  EXPECT_EQ(composition.parts[0].name, "/data");
  EXPECT_EQ(composition.parts[0].bytes.pss, 40 * kKib);
  EXPECT_EQ(composition.parts[0].mapping_count, 2U);
  EXPECT_EQ(composition.processes[0].id.pid, 2) << "largest first";
}

TEST(Compose, CountsTheBssOfAnImageToIt) {
  Sample sample;
  sample.processes = {recorded_process(
      1, {mapping_of(0x10000000, 10, "/lib/x.so"), mapping_of(0x20000000, 5)},
      {RegionKind::Image, RegionKind::Image})};
  const Composition composition = compose(sample);
  ASSERT_EQ(composition.parts.size(), 1U);
  EXPECT_EQ(composition.parts[0].bytes.pss, 15 * kKib);
}

TEST(Compose, LeavesOutWhatHasNoMemory) {
  Sample sample;
  sample.processes = {recorded_process(1, {mapping_of(0x10000000, 10)},
                                       {RegionKind::Anonymous})};
  sample.processes[0].state = model::ProcessState::Zombie;
  EXPECT_TRUE(compose(sample).processes.empty());
}

TEST(Compose, CountsWhatCouldNotBeRead) {
  Sample sample;
  sample.processes = {test::unread_process(1, 25)};
  const Composition composition = compose(sample);
  EXPECT_EQ(composition.undetailed_count, 1U);
  EXPECT_EQ(composition.undetailed_bytes, 25U * 4096);
  EXPECT_EQ(composition.total.pss, 25U * 4096) << "no more than that";
  EXPECT_TRUE(composition.total.is_unsplit());
  EXPECT_EQ(composition.unsplit_because, "denied");
}

TEST(Compose, CountsSharedMemoryOfBoundsOnce) {
  Sample sample;
  sample.machine.emplace();
  sample.machine->page_size_bytes = 4096;
  sample.machine->meminfo.shmem_bytes = 500 * kKib;
  sample.machine->meminfo.mapped_bytes = 600 * kKib;
  for (int32_t pid : {1, 2, 3}) {
    model::Process worker = test::unread_process(pid, 1);
    worker.status.rss_anon_bytes = 10 * kKib;
    worker.status.rss_file_bytes = 300 * kKib;
    worker.status.rss_shmem_bytes = 400 * kKib;
    sample.processes.push_back(worker);
  }
  const Composition composition = compose(sample);
  EXPECT_EQ(composition.total.pss, (30 + 600 + 500) * kKib);
  EXPECT_EQ(composition.counted_again_bytes, (300 + 700) * kKib);
  EXPECT_EQ(composition.processes[0].bytes.pss, 710 * kKib) << "of one alone";
}

// Scaled one by one, four workers would have all of the shared memory twice.
Sample sample_of_workers() {
  Sample sample;
  sample.machine.emplace();
  sample.machine->meminfo.shmem_bytes = 500 * kKib;
  for (int32_t pid : {1, 2, 3, 4}) {
    sample.processes.push_back(recorded_process(
        pid, {mapping_of(0x10000000, 250), mapping_of(0x20000000, 10)},
        {RegionKind::SharedAnonymous, RegionKind::Anonymous}));
    sample.processes.back().is_estimated = true;
  }
  return sample;
}

TEST(Compose, LowersEstimatesOfAllWhoShareTooMuch) {
  const Composition composition = compose(sample_of_workers());
  EXPECT_EQ(composition.total.pss, (500 + 40) * kKib);
  EXPECT_EQ(composition.counted_again_bytes, 0U);
  uint64_t sum = 0;
  for (const Holder& holder : composition.processes) {
    EXPECT_EQ(holder.bytes.pss, (125 + 10) * kKib);
    sum += holder.bytes.pss;
  }
  EXPECT_EQ(sum, composition.total.pss);
}

TEST(Compose, CountsSharedMemoryOfTheSmallerOnesOnce) {
  Sample sample;
  sample.machine.emplace();
  sample.machine->page_size_bytes = 4096;
  sample.machine->meminfo.shmem_bytes = 500 * kKib;
  for (int32_t pid : {1, 2, 3}) {
    model::Process worker = test::unread_process(pid, 1);
    worker.status.rss_anon_bytes = 10 * kKib;
    worker.status.rss_file_bytes = 0;
    worker.status.rss_shmem_bytes = 400 * kKib;
    sample.processes.push_back(worker);
  }
  const Composition composition = compose(sample);
  EXPECT_EQ(bytes_from(composition, 1).pss, (20 + 500) * kKib);
  EXPECT_EQ(bytes_from(composition, 2).pss, (10 + 400) * kKib);
}

TEST(Compose, CountsEstimatesWithTheirAge) {
  Sample sample;
  sample.processes = {recorded_process(1, {mapping_of(0x10000000, 10)},
                                       {RegionKind::Anonymous})};
  sample.processes[0].is_estimated = true;
  sample.processes[0].split_age_ns = 7;
  const Composition composition = compose(sample);
  EXPECT_EQ(composition.total.estimated, 10 * kKib);
  EXPECT_EQ(composition.estimated_count, 1U);
  EXPECT_EQ(composition.oldest_split_ns, 7U);
}

TEST(Compose, TellsWhoseSharesAreNotKnown) {
  Mapping scanned;
  scanned.start_address = 0x10000;
  scanned.end_address = 0x20000;
  scanned.fields.set(SmapsField::Rss, 8 * kKib);
  Sample sample;
  sample.processes = {recorded_process(1, {scanned}, {RegionKind::Anonymous})};
  const Composition composition = compose(sample);
  EXPECT_EQ(composition.scanned_count, 1U);
  EXPECT_FALSE(composition.processes[0].has_split);
  EXPECT_EQ(composition.total.rss, 8 * kKib);
  EXPECT_EQ(composition.total.pss, 8 * kKib) << "a bound";
  EXPECT_EQ(composition.total.bounded, 8 * kKib);
}

}  // namespace
}  // namespace tidemark::analysis
