#include "view/json/treemap.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/json_check.h"

namespace tidemark::view {
namespace {

using analysis::Treemap;
using analysis::TreemapKind;
using analysis::TreemapNode;

Treemap example() {
  Treemap map;
  map.root.name = "physmem";
  map.root.id = "kernel/physmem";
  map.root.bytes = 10;
  TreemapNode process;
  process.kind = TreemapKind::Process;
  process.name = "a\"\xff";
  process.bytes = 7;
  process.pid = 42;
  TreemapNode rest;
  rest.kind = TreemapKind::Rest;
  rest.name = "the rest";
  rest.bytes = 3;
  map.root.children = {process, rest};
  return map;
}

TEST(TreemapJson, HasTheTree) {
  EXPECT_EQ(treemap_json(example(), {}, base::JsonWriter::Layout::OneLine),
            R"({"schema":"tidemark.treemap/1","time":null,"by":"pss",)"
            R"("total_bytes":10,"process_count":0,"unknown_process_count":0,)"
            R"("tree":{"name":"physmem","kind":"kernel","bytes":10,)"
            R"("id":"kernel/physmem","children":[)"
            R"({"name":"a\"\\xff","kind":"process","bytes":7,"pid":42},)"
            R"({"name":"the rest","kind":"rest","bytes":3}]},"notes":[]})"
            "\n");
}

TEST(TreemapJson, FoldsWhatIsBeyondTheLimits) {
  analysis::TreemapLimits limits;
  limits.top = 1;
  const std::string text =
      treemap_json(example(), limits, base::JsonWriter::Layout::Pretty);
  EXPECT_TRUE(test::JsonCheck(text).is_valid());
  EXPECT_EQ(text.find("the rest"), std::string::npos);
  EXPECT_NE(text.find("\"kind\": \"other\""), std::string::npos) << text;
}

}  // namespace
}  // namespace tidemark::view
