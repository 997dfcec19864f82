#include "view/json/page_owner.h"

#include <gtest/gtest.h>

#include "unit/json_check.h"
#include "unit/view/json/unknowns.h"
#include "unit/view/page_owner_example.h"

namespace tidemark::view {
namespace {

TEST(PageOwnerJson, IsValidWhateverTheNames) {
  const std::string json =
      page_owner_json(page_owner_example(), base::JsonWriter::Layout::Pretty);
  EXPECT_TRUE(test::JsonCheck(json).is_valid()) << json;
  EXPECT_EQ(UnknownsCheck(json, {}).complaints(), std::vector<std::string>());
}

TEST(PageOwnerJson, HasTheMembersOfTheContract) {
  const std::string json =
      page_owner_json(page_owner_example(), base::JsonWriter::Layout::OneLine);
  for (const char* member :
       {"\"schema\":\"tidemark.page_owner/1\"", "\"group_by\":[\"stacktrace\"]",
        "\"bytes\":2097152,\"pages\":512,\"block_count\":3,\"allocator\":"
        "\"others\"",
        "\"stack\":[\"alloc_pages+0x1/0x2\",", "\"pid\":21,\"tgid\":20",
        "\"unselected_pages\":2", "\"folded_pages\":10",
        "\"broken_record_count\":1"}) {
    EXPECT_NE(json.find(member), std::string::npos) << member << "\n" << json;
  }
}

}  // namespace
}  // namespace tidemark::view
