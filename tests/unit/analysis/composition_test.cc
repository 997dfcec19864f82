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
    unread += holder.has_detail ? 0 : 1;
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
  EXPECT_EQ(composition.total, Bytes());
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
  EXPECT_TRUE(composition.processes[0].is_scanned);
  EXPECT_EQ(composition.total.rss, 8 * kKib);
  EXPECT_EQ(composition.total.pss, 0U);
}

}  // namespace
}  // namespace tidemark::analysis
