// Totals without mappings survive the store.
#include <gtest/gtest.h>

#include <map>

#include "model/region.h"
#include "unit/store/scratch.h"

namespace tidemark::store {
namespace {

using model::SmapsField;
using test::process_of;
using test::sample_of_second;

model::SmapsFields totals() {
  model::SmapsFields fields;
  fields.set(SmapsField::Rss, 900 * 1024);
  fields.set(SmapsField::Pss, 100 * 1024);
  fields.set(SmapsField::PssAnon, 60 * 1024);
  fields.set(SmapsField::PssFile, 0);
  fields.set(SmapsField::PssShmem, 9 * 1024);
  fields.set(SmapsField::Locked, 0);
  return fields;
}

model::Sample back(const std::string& path, int64_t tick) {
  base::Result<Recording> recording = Recording::open(path);
  EXPECT_TRUE(recording) << recording.error().what;
  if (!recording) return {};
  base::Result<model::Sample> sample = recording->sample_at(tick, {});
  EXPECT_TRUE(sample) << sample.error().what;
  return sample ? *sample : model::Sample();
}

TEST(RollupRows, ComeBackWithTheirKindAndAllTheyTold) {
  const test::Scratch scratch;
  const std::string path = scratch.file("a.tdm");
  test::record(path,
               {sample_of_second(
                   0, {process_of(7, {model::rollup_mapping(totals())})})});
  const model::Sample sample = back(path, 0);
  ASSERT_EQ(sample.processes.size(), 1U);
  const model::Process& process = sample.processes[0];
  ASSERT_TRUE(process.mappings);
  ASSERT_EQ(process.mappings->size(), 1U);
  EXPECT_EQ(process.kinds[0], model::RegionKind::Rollup);
  EXPECT_EQ(process.mappings->front().fields, totals());
}

// 60 anon, 9 shm, 31 of which the kernel does not tell; 2 huge beside them.
void expect_split(const model::TimelinePoint& point, uint64_t times) {
  const auto pss = [&](model::Category category) {
    return point.category_pss_bytes[static_cast<size_t>(category)] / 1024;
  };
  EXPECT_EQ(pss(model::Category::Anon), 60 * times);
  EXPECT_EQ(pss(model::Category::File), 0U);
  EXPECT_EQ(pss(model::Category::Shm), 9 * times);
  EXPECT_EQ(pss(model::Category::Huge), 2 * times);
  EXPECT_EQ(pss(model::Category::Unnamed), 31 * times);
  EXPECT_EQ(point.pss_bytes, 102 * 1024 * times);
  EXPECT_EQ(point.rss_bytes, 902 * 1024 * times);
  EXPECT_EQ(point.private_bytes, 2 * 1024 * times);
}

TEST(RollupRows, AreDividedInTheTimelineAsTheKernelDividesThem) {
  model::SmapsFields fields = totals();
  fields.set(SmapsField::PrivateHugetlb, 2 * 1024);
  const test::Scratch scratch;
  const std::string path = scratch.file("a.tdm");
  const model::Process one = process_of(7, {model::rollup_mapping(fields)});
  const model::Process two = process_of(8, {model::rollup_mapping(fields)});
  test::record(path,
               {sample_of_second(0, {one, two}), sample_of_second(1, {one}),
                sample_of_second(2, {process_of(7, {})})});
  const base::Result<Recording> recording = Recording::open(path);
  ASSERT_TRUE(recording);
  const base::Result<model::Timeline> all = recording->timeline({});
  const base::Result<model::Timeline> chosen = recording->timeline({1});
  ASSERT_TRUE(all && chosen);
  expect_split(all->points[0], 2);
  expect_split(all->points[1], 1);
  expect_split(all->points[2], 0);
  expect_split(chosen->points[0], 1);
  expect_split(chosen->points[1], 1);
  expect_split(chosen->points[2], 0);
}

TEST(RollupRows, AreDividedInTheBandsToo) {
  const test::Scratch scratch;
  const std::string path = scratch.file("a.tdm");
  test::record(path,
               {sample_of_second(
                   0, {process_of(7, {model::rollup_mapping(totals())})})});
  const std::vector<int64_t> ticks = {0};
  const base::Result<model::Bands> bands =
      Recording::open(path)->bands({}, ticks);
  ASSERT_TRUE(bands);
  std::map<model::Category, uint64_t> found;
  for (const model::Band& one : bands->by_object)
    found[one.category] = one.points.back().shares.pss_bytes / 1024;
  EXPECT_EQ(found, (std::map<model::Category, uint64_t>{
                       {model::Category::Anon, 60},
                       {model::Category::Shm, 9},
                       {model::Category::Unnamed, 31}}));
}

TEST(RollupRows, DoNotLendTheirFieldsToOtherMappings) {
  const test::Scratch scratch;
  const std::string path = scratch.file("a.tdm");
  test::record(
      path,
      {sample_of_second(0, {process_of(7, {model::rollup_mapping(totals())})}),
       sample_of_second(
           1, {process_of(7, {test::mapping_at(0x1000, "[heap]", 5)})})});
  const model::Sample sample = back(path, 1);
  ASSERT_TRUE(sample.processes.at(0).mappings);
  const model::SmapsFields& fields =
      sample.processes[0].mappings->front().fields;
  EXPECT_EQ(fields.get(SmapsField::Pss), 5U * 1024);
  for (SmapsField field :
       {SmapsField::PssAnon, SmapsField::PssFile, SmapsField::PssShmem}) {
    EXPECT_FALSE(fields.has(field));
  }
}

TEST(RollupRows, FieldsWithAColumnAreNotZeroForWantOfOne) {
  const test::Scratch scratch;
  const std::string path = scratch.file("a.tdm");
  model::Mapping full = test::mapping_at(0x1000, "[heap]", 5);
  full.fields.set(SmapsField::Swap, 3 * 1024);
  full.fields.set(SmapsField::PrivateDirty, 5 * 1024);
  test::record(
      path, {sample_of_second(0, {process_of(7, {full})}),
             sample_of_second(
                 1, {process_of(7, {test::mapping_at(0x1000, "[heap]", 6)})})});
  const model::Sample sample = back(path, 1);
  const model::SmapsFields& fields =
      sample.processes.at(0).mappings->front().fields;
  EXPECT_FALSE(fields.has(SmapsField::Swap));
  EXPECT_FALSE(fields.has(SmapsField::PrivateDirty));
  EXPECT_EQ(fields.get(SmapsField::Rss), 6U * 1024);
}

}  // namespace
}  // namespace tidemark::store
