#include "view/json/machine.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/json_check.h"
#include "unit/parts.h"

namespace tidemark::view {
namespace {

using analysis::SystemColumn;

using test::has;

analysis::MachineHistory example_history() {
  analysis::MachineHistory history;
  history.path = "a\"\x1b.tdm";
  history.total_source = "MemTotal in meminfo";
  history.ticks.resize(3);
  for (size_t i : {size_t{0}, size_t{2}}) {
    analysis::MachineTick& tick = history.ticks[i];
    tick.total_bytes = 100;
    tick.columns[static_cast<size_t>(SystemColumn::Free)] = 60;
    tick.columns[static_cast<size_t>(SystemColumn::Anon)] = 50;
    tick.other_bytes = -10;
  }
  for (analysis::MachineTick& tick : history.ticks)
    tick.columns[static_cast<size_t>(SystemColumn::HugeTlb)] = 0;
  history.unknown_because[static_cast<size_t>(SystemColumn::Sockets)] = "why";
  history.residue = analysis::Residue();
  return history;
}

TEST(MachineJson, UnknownIsNullAndHasItsReason) {
  const std::string json =
      machine_json(example_history(), base::JsonWriter::Layout::OneLine);
  EXPECT_TRUE(test::JsonCheck(json).is_valid());
  EXPECT_TRUE(has(json, R"("schema":"tidemark.machine/1")")) << json;
  EXPECT_TRUE(has(json, R"("total_bytes":[100,null,100])")) << json;
  EXPECT_TRUE(has(json, R"("other_bytes":[-10,null,-10])")) << json;
  EXPECT_TRUE(has(json, R"("category":"anon","bytes":[50,null,50])")) << json;
  EXPECT_TRUE(has(json, R"("bytes":null,"unknown":{"bytes":"why"})")) << json;
  EXPECT_TRUE(has(json, R"("trend":"unknown")")) << json;
}

TEST(MachineJson, LeavesOutAClassThatWasAlwaysNothing) {
  const std::string json =
      machine_json(example_history(), base::JsonWriter::Layout::OneLine);
  EXPECT_FALSE(has(json, R"("class":"hugetlb")")) << json;
}

}  // namespace
}  // namespace tidemark::view
