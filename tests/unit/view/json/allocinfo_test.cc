#include "view/json/allocinfo.h"

#include <gtest/gtest.h>

#include "unit/json_check.h"
#include "unit/view/allocinfo_example.h"
#include "unit/view/json/unknowns.h"

namespace tidemark::view {
namespace {

TEST(AllocinfoJson, IsValidWhateverTheNames) {
  for (const bool has_growth : {true, false}) {
    const std::string json = allocinfo_json(allocinfo_example(has_growth),
                                            base::JsonWriter::Layout::Pretty);
    EXPECT_TRUE(test::JsonCheck(json).is_valid()) << json;
    EXPECT_EQ(UnknownsCheck(json, {}).complaints(), std::vector<std::string>());
  }
}

TEST(AllocinfoJson, HasTheMembersOfTheContract) {
  const std::string json = allocinfo_json(allocinfo_example(true),
                                          base::JsonWriter::Layout::OneLine);
  for (const char* member :
       {"\"schema\":\"tidemark.allocinfo/1\"",
        "\"since\":\"2025-11-15T08:11:07.123456789Z\"",
        "\"group_by\":\"line\",\"sort_by\":\"size\"",
        "\"lines\":[{\"bytes\":22151168,\"call_count\":5408,\"grown_bytes\":"
        "4096,"
        "\"grown_call_count\":1,\"module\":\"\",\"file\":\"mm/readahead.c\","
        "\"line\":263,\"function\":\"page_cache_ra_unbounded\"",
        "\"slab_page_bytes\":5693440", "\"noise_count\":1",
        "\"residue_bytes\":9309184", "\"folded_bytes\":1024",
        "\"inexact\":true"}) {
    EXPECT_NE(json.find(member), std::string::npos) << member << "\n" << json;
  }
}

TEST(AllocinfoJson, ModulesHaveNoPlace) {
  analysis::AllocinfoReport report = allocinfo_example(false);
  report.group_by = analysis::AllocinfoGrouping::Module;
  const std::string json =
      allocinfo_json(report, base::JsonWriter::Layout::OneLine);
  EXPECT_NE(json.find("\"modules\":["), std::string::npos) << json;
  EXPECT_EQ(json.find("\"file\""), std::string::npos) << json;
  EXPECT_EQ(json.find("grown"), std::string::npos) << json;
}

}  // namespace
}  // namespace tidemark::view
