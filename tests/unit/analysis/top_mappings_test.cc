#include "analysis/top_mappings.h"

#include <gtest/gtest.h>

namespace tidemark::analysis {
namespace {

using model::RegionKind;
using model::SmapsField;

constexpr uint64_t kPageBytes = 4096;

model::Mapping full_mapping(uint64_t start, uint64_t pages,
                            uint64_t resident_pages, std::string name = {}) {
  model::Mapping mapping;
  mapping.start_address = start;
  mapping.end_address = start + pages * kPageBytes;
  mapping.name = std::move(name);
  for (SmapsField field : {SmapsField::Rss, SmapsField::Pss})
    mapping.fields.set(field, resident_pages * kPageBytes);
  return mapping;
}

TEST(TopMappings, AddUpMappingsOfOneObject) {
  const std::vector<model::Mapping> mappings = {
      full_mapping(0x1000, 4, 3, "/usr/lib/libc.so.6"),
      full_mapping(0x5000, 4, 2, "/usr/lib/libc.so.6"),
      full_mapping(0x9000, 1, 1),
  };
  const std::vector<model::Region> regions = {
      {RegionKind::Image, 0, 3, "/usr/lib/libc.so.6", 0}};
  const std::vector<TopMapping> largest =
      largest_mappings(mappings, regions, 8);
  ASSERT_EQ(largest.size(), 1U);
  EXPECT_EQ(largest[0].name, "/usr/lib/libc.so.6");
  EXPECT_EQ(largest[0].use.category, model::Category::Code);
  EXPECT_EQ(largest[0].use.pss_bytes, 6 * kPageBytes) << "its bss is its own";
  EXPECT_EQ(largest[0].use.mapping_count, 3U);
}

TEST(TopMappings, AreTheLargestOfEachKind) {
  std::vector<model::Mapping> mappings;
  std::vector<model::Region> regions;
  const auto add = [&](RegionKind kind, uint64_t pages, std::string name) {
    regions.push_back({kind, mappings.size(), 1, name, 0});
    mappings.push_back(
        full_mapping(mappings.size() << 20U, 50, pages, std::move(name)));
  };
  add(RegionKind::File, 3, "/small");
  add(RegionKind::File, 9, "/large");
  add(RegionKind::File, 0, "/not in RAM");
  add(RegionKind::File, 5, "/middle");
  add(RegionKind::BrkHeap, 1, "[heap]");
  const std::vector<TopMapping> largest =
      largest_mappings(mappings, regions, 2);
  ASSERT_EQ(largest.size(), 3U);
  EXPECT_EQ(largest[0].name, "[heap]") << "kinds are in stack order";
  EXPECT_EQ(largest[1].name, "/large");
  EXPECT_EQ(largest[2].name, "/middle");
}

}  // namespace
}  // namespace tidemark::analysis
