#include "view/json/maps.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "unit/json_check.h"
#include "unit/parts.h"
#include "unit/view/examples.h"
#include "unit/view/json/unknowns.h"

namespace tidemark::view {
namespace {

using analysis::MapsReport;
using base::JsonWriter;
using model::Mapping;
using model::RegionKind;

std::string one_line(const MapsReport& report) {
  return maps_json(report, JsonWriter::Layout::OneLine);
}

std::string json_of(const Mapping& mapping) {
  return one_line(maps_report({region_of(RegionKind::File, "db", {mapping})}));
}

using test::has;

TEST(MapsJson, OpensWithItsSchema) {
  EXPECT_TRUE(json_of(mapping_at(0x1000, "x"))
                  .starts_with(R"({"schema":"tidemark.maps/1",)"));
}

TEST(MapsJson, AddressesAreTextBecauseTheyExceed53Bits) {
  const std::string json =
      json_of(mapping_at(0xffffffffff600000, "[vsyscall]"));
  EXPECT_TRUE(has(json, R"("mappings":[{"start":"0xffffffffff600000",)"
                        R"("end":"0xffffffffff604000",)"))
      << json;
}

TEST(MapsJson, AMappingHasWhatMapsPrints) {
  Mapping mapping = mapping_at(0x1000, "/srv/db");
  mapping.offset_bytes = 8192;
  mapping.device_major = 0xfe;
  mapping.device_minor = 1;
  mapping.inode_id = 77;
  EXPECT_TRUE(has(json_of(mapping),
                  R"("permissions":"rw-p","offset_bytes":8192,)"
                  R"("device":"fe:01","inode":77,"name":"/srv/db")"));
}

TEST(MapsJson, EveryFieldTheKernelPrintedIsThere) {
  Mapping mapping = mapping_at(0x1000, "x");
  std::string expected = R"("name":"x")";
  for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
    mapping.fields.set(static_cast<model::SmapsField>(i), 1000 + i);
    expected += ",\"" + std::string(model::kSmapsLabels[i].json_name) +
                "\":" + std::to_string(1000 + i);
  }
  EXPECT_TRUE(has(json_of(mapping), expected + R"(,"thp_eligible":false)"))
      << json_of(mapping);
}

TEST(MapsJson, AFieldTheKernelDidNotPrintIsNotAZero) {
  EXPECT_FALSE(has(json_of(mapping_at(0x1000, "x")), R"("ksm_bytes")"));
}

TEST(MapsJson, FlagsAreTheKernelsCodesAndUnknownOnesOther) {
  Mapping mapping = mapping_at(0x1000, "x");
  mapping.vm_flags = model::vm_flag_bit("rd") | model::vm_flag_bit("lo") |
                     model::vm_flag_bit("zz");
  EXPECT_TRUE(has(json_of(mapping), R"("vm_flags":["rd","lo","other"])"))
      << json_of(mapping);
}

TEST(MapsJson, ARegionHasItsKindAndSums) {
  const std::string json = one_line(maps_report({region_of(
      RegionKind::Arena, "",
      {mapping_at(0x7f0000000000, ""), mapping_at(0x7f0000004000, "")})}));
  EXPECT_TRUE(has(json,
                  R"("regions":[{"kind":"arena","category":"heap","name":"",)"
                  R"("start":"0x7f0000000000","end":"0x7f0000008000",)"
                  R"("size_bytes":32768,"rss_bytes":16384,)"
                  R"("pss_bytes":16384,"uss_bytes":16384,)"
                  R"("swap_pss_bytes":0,"mappings":[)"))
      << json;
}

TEST(MapsJson, OnlyAStackWhoseThreadIsKnownNamesIt) {
  analysis::MapsRegion stack = region_of(RegionKind::ThreadStack, "pool",
                                         {mapping_at(0x7f0000000000, "")});
  EXPECT_FALSE(has(one_line(maps_report({stack})), R"("thread_id")"));
  stack.thread_id = 43;
  EXPECT_TRUE(has(one_line(maps_report({stack})), R"("thread_id":43)"));
}

TEST(MapsJson, EveryNullHasItsReason) {
  MapsReport report = maps_report(
      {region_of(RegionKind::BrkHeap, "[heap]", {mapping_at(0x1000, "")})});
  report.status_rss_bytes.reset();
  report.peak_rss_bytes.reset();
  report.page_table_bytes.reset();
  EXPECT_EQ(broken_unknowns(one_line(report)), "");
}

RC_GTEST_PROP(MapsJsonProperty, HostileNamesKeepItValid, ()) {
  const MapsReport report = hostile_maps_report(*hostile_name());
  RC_ASSERT(test::JsonCheck(one_line(report)).is_valid());
  RC_ASSERT(test::JsonCheck(maps_json(report, JsonWriter::Layout::Pretty))
                .is_valid());
}

}  // namespace
}  // namespace tidemark::view
