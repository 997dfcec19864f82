#include "model/smaps_fields.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tidemark::model {
namespace {

rc::Gen<SmapsFields> any_fields() {
  // Small enough that no sum of a test overflows.
  const auto field = rc::gen::inRange<size_t>(0, kSmapsFieldCount);
  const auto bytes = rc::gen::inRange<uint64_t>(0, uint64_t{1} << 50);
  return rc::gen::map(
      rc::gen::container<std::vector<std::pair<size_t, uint64_t>>>(
          rc::gen::pair(field, bytes)),
      [](const std::vector<std::pair<size_t, uint64_t>>& pairs) {
        SmapsFields fields;
        for (const auto& [index, amount] : pairs) {
          fields.set(static_cast<SmapsField>(index), amount);
        }
        return fields;
      });
}

TEST(SmapsFields, StartsWithNothing) {
  const SmapsFields fields;
  EXPECT_FALSE(fields.has(SmapsField::Rss));
  EXPECT_FALSE(fields.get(SmapsField::Rss));
  EXPECT_EQ(fields.get_or_zero(SmapsField::Rss), 0U);
}

TEST(SmapsFields, TellsAPrintedZeroFromAMissingLine) {
  SmapsFields fields;
  fields.set(SmapsField::Swap, 0);
  EXPECT_EQ(fields.get(SmapsField::Swap), 0U);
  EXPECT_FALSE(fields.get(SmapsField::SwapPss));
}

TEST(SmapsFields, KeepsTheLastFieldApartFromTheFirst) {
  SmapsFields fields;
  fields.set(SmapsField::Locked, 4096);
  EXPECT_EQ(fields.get(SmapsField::Locked), 4096U);
  EXPECT_FALSE(fields.has(SmapsField::Size));
}

TEST(SmapsFields, ForgetsEverythingWhenCleared) {
  SmapsFields fields;
  fields.set(SmapsField::Pss, 4096);
  fields.clear();
  EXPECT_EQ(fields, SmapsFields());
}

TEST(SmapsFields, AddsFieldByField) {
  SmapsFields sum;
  sum.set(SmapsField::Rss, 4096);
  SmapsFields other;
  other.set(SmapsField::Rss, 8192);
  other.set(SmapsField::Pss, 100);
  sum.add(other);
  EXPECT_EQ(sum.get(SmapsField::Rss), 12288U);
  EXPECT_EQ(sum.get(SmapsField::Pss), 100U);
  EXPECT_FALSE(sum.has(SmapsField::Swap));
}

TEST(SmapsFields, DoesNotAddPageSizes) {
  SmapsFields sum;
  sum.set(SmapsField::KernelPageSize, 4096);
  SmapsFields other;
  other.set(SmapsField::KernelPageSize, 4096);
  other.set(SmapsField::MmuPageSize, 4096);
  sum.add(other);
  EXPECT_EQ(sum.get(SmapsField::KernelPageSize), 4096U);
  EXPECT_FALSE(sum.has(SmapsField::MmuPageSize));
}

RC_GTEST_PROP(SmapsFields, SumEqualsItsParts, ()) {
  const auto parts =
      *rc::gen::container<std::vector<SmapsFields>>(any_fields());
  SmapsFields sum;
  for (const SmapsFields& part : parts)
    sum.add(part);
  for (SmapsField field : {SmapsField::Size, SmapsField::Pss,
                           SmapsField::PrivateDirty, SmapsField::Locked}) {
    std::optional<uint64_t> expected;
    for (const SmapsFields& part : parts) {
      if (part.has(field)) {
        expected = expected.value_or(0) + *part.get(field);
      }
    }
    RC_ASSERT(sum.get(field) == expected);
  }
}

TEST(SmapsLabels, AreAsManyAsFieldsAndAllDifferent) {
  std::set<std::string_view> kernel_labels;
  std::set<std::string_view> json_names;
  for (const SmapsLabel& label : kSmapsLabels) {
    kernel_labels.insert(label.kernel_label);
    json_names.insert(label.json_name);
    EXPECT_TRUE(label.json_name.ends_with("_bytes")) << label.json_name;
  }
  EXPECT_EQ(kernel_labels.size(), kSmapsFieldCount);
  EXPECT_EQ(json_names.size(), kSmapsFieldCount);
}

TEST(SmapsLabels, StandAtThePlaceOfTheirField) {
  const auto label = [](SmapsField field) {
    return kSmapsLabels[static_cast<size_t>(field)].kernel_label;
  };
  EXPECT_EQ(label(SmapsField::MmuPageSize), "MMUPageSize");
  EXPECT_EQ(label(SmapsField::PssDirty), "Pss_Dirty");
  EXPECT_EQ(label(SmapsField::Ksm), "KSM");
  EXPECT_EQ(label(SmapsField::PrivateHugetlb), "Private_Hugetlb");
  EXPECT_EQ(label(SmapsField::Locked), "Locked");
}

TEST(UssBytes, IsPrivateCleanAndDirty) {
  SmapsFields fields;
  fields.set(SmapsField::PrivateClean, 3);
  fields.set(SmapsField::PrivateDirty, 4);
  fields.set(SmapsField::SharedClean, 100);
  fields.set(SmapsField::PrivateHugetlb, 1000);
  EXPECT_EQ(uss_bytes(fields), 7U);
}

TEST(SharedBytes, IsSharedCleanAndDirty) {
  SmapsFields fields;
  fields.set(SmapsField::SharedClean, 5);
  fields.set(SmapsField::SharedDirty, 6);
  fields.set(SmapsField::PrivateClean, 100);
  EXPECT_EQ(shared_bytes(fields), 11U);
}

TEST(InRamBytes, AddsHugePagesToPss) {
  SmapsFields fields;
  fields.set(SmapsField::Pss, 4096);
  fields.set(SmapsField::SharedHugetlb, 2097152);
  fields.set(SmapsField::PrivateHugetlb, 4194304);
  EXPECT_EQ(hugetlb_bytes(fields), 6291456U);
  EXPECT_EQ(in_ram_bytes(fields), 6295552U);
}

TEST(InRamBytes, NeedsNoHugePages) {
  SmapsFields fields;
  fields.set(SmapsField::Pss, 4096);
  EXPECT_EQ(in_ram_bytes(fields), 4096U);
}

TEST(DerivedSizes, AreUnknownWhenTheKernelPrintedNone) {
  const SmapsFields fields;
  EXPECT_FALSE(uss_bytes(fields));
  EXPECT_FALSE(shared_bytes(fields));
  EXPECT_FALSE(hugetlb_bytes(fields));
  EXPECT_FALSE(in_ram_bytes(fields)) << "absent must not read as zero";
}

}  // namespace
}  // namespace tidemark::model
