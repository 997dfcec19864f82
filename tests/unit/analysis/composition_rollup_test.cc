// Totals without mappings in a composition.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "analysis/composition.h"
#include "model/region.h"
#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::Category;
using model::SmapsField;

using test::kKiB;

model::Sample sample_of(const model::SmapsFields& totals) {
  model::Process process;
  process.id = {745, 0};
  process.stat.comm = "crosvm";
  process.mappings = model::known<std::vector<model::Mapping>>(
      {model::rollup_mapping(totals)});
  model::Sample sample;
  sample.processes.push_back(std::move(process));
  return sample;
}

uint64_t pss_of(const Composition& all, Category category) {
  uint64_t pss = 0;
  for (const Part& part : all.parts)
    pss += part.category == category ? part.bytes.pss : 0;
  return pss;
}

TEST(CompositionOfTotals, DividesPssAsTheKernelDoes) {
  model::SmapsFields totals;
  totals.set(SmapsField::Rss, 900 * kKiB);
  totals.set(SmapsField::Pss, 100 * kKiB);
  totals.set(SmapsField::PssAnon, 60 * kKiB);
  totals.set(SmapsField::PssFile, 30 * kKiB);
  totals.set(SmapsField::PssShmem, 9 * kKiB);
  const Composition all = compose(sample_of(totals));
  EXPECT_EQ(pss_of(all, Category::Anon), 60 * kKiB);
  EXPECT_EQ(pss_of(all, Category::File), 30 * kKiB);
  EXPECT_EQ(pss_of(all, Category::Shm), 9 * kKiB);
  EXPECT_EQ(pss_of(all, Category::Unnamed), 1 * kKiB) << "cut to whole KiB";
  EXPECT_EQ(all.total.pss, 100 * kKiB);
  EXPECT_EQ(all.total.rss, 900 * kKiB);
}

TEST(CompositionOfTotals, WithoutTheSplitStaysUnnamed) {
  model::SmapsFields totals;
  totals.set(SmapsField::Rss, 9 * kKiB);
  totals.set(SmapsField::Pss, 5 * kKiB);
  const Composition all = compose(sample_of(totals));
  ASSERT_EQ(all.parts.size(), 1U);
  EXPECT_EQ(all.parts[0].category, Category::Unnamed);
  EXPECT_EQ(all.parts[0].name, "[rollup]");
  EXPECT_EQ(all.parts[0].bytes.pss, 5 * kKiB);
}

RC_GTEST_PROP(CompositionOfTotals, AddsUpToTheWholeWhateverIsClaimed, ()) {
  model::SmapsFields totals;
  for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
    if (*rc::gen::arbitrary<bool>()) {
      totals.set(static_cast<SmapsField>(i), *rc::gen::arbitrary<uint32_t>());
    }
  }
  const Composition all = compose(sample_of(totals));
  Bytes sum;
  for (const Part& part : all.parts)
    sum.add(part.bytes);
  const uint64_t huge = model::hugetlb_bytes(totals).value_or(0);
  RC_ASSERT(sum == all.total);
  // Without PSS what is resident is a bound.
  const SmapsField best =
      totals.has(SmapsField::Pss) ? SmapsField::Pss : SmapsField::Rss;
  RC_ASSERT(sum.pss == totals.get_or_zero(best) + huge);
  RC_ASSERT(sum.bounded + sum.pss ==
            totals.get_or_zero(best) + huge +
                (best == SmapsField::Rss ? totals.get_or_zero(best) : 0));
  RC_ASSERT(sum.rss == totals.get_or_zero(SmapsField::Rss) + huge);
}

}  // namespace
}  // namespace tidemark::analysis
