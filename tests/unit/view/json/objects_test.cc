#include "view/json/objects.h"

#include <gtest/gtest.h>

#include "unit/json_check.h"
#include "unit/view/json/unknowns.h"
#include "unit/view/objects_example.h"

namespace tidemark::view {
namespace {

TEST(ObjectsJson, EveryNullHasItsReason) {
  const std::string json =
      objects_json(objects_example(), base::JsonWriter::Layout::Pretty);
  EXPECT_TRUE(test::JsonCheck(json).is_valid()) << json;
  EXPECT_EQ(UnknownsCheck(json, {}).complaints(), std::vector<std::string>());
}

TEST(ObjectsJson, HasTheMembersOfTheContract) {
  const std::string json =
      objects_json(objects_example(), base::JsonWriter::Layout::OneLine);
  for (const char* member :
       {"\"schema\":\"tidemark.objects/1\"", "\"id\":\"memfd:1054\"",
        "\"kind\":\"memfd\"", "\"size_bytes\":", "\"alloc_bytes\":",
        "\"swap_bytes\":", "\"map_count\":", "\"process_count\":",
        "\"fd_count\":", "\"holders\":[{\"pid\":10",
        "\"unreachable_bytes\":", "\"closed_files_bytes\":"}) {
    EXPECT_NE(json.find(member), std::string::npos) << member << "\n" << json;
  }
}

}  // namespace
}  // namespace tidemark::view
