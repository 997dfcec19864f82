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

TEST(TreemapJson, TellsTheSizesThatAreKnownAndWhyOthersAreNot) {
  Treemap map = example();
  map.root.children[0].sizes[1] = 4;
  map.unknown = {{analysis::TreemapMeasure::Swap, "nobody told"}};
  const std::string text =
      treemap_json(map, {}, base::JsonWriter::Layout::OneLine);
  EXPECT_NE(text.find(R"("bytes":7,"private_bytes":4,"pid":42)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("unknown":{"swap_bytes":"nobody told"})"),
            std::string::npos);
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
