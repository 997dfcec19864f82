#include "view/json/ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/ledger_cells.h"
#include "unit/json_check.h"
#include "unit/parts.h"
#include "unit/view/ledger_example.h"

namespace tidemark::view {
namespace {

using base::JsonWriter;
using model::Ledger;

std::string json_in(JsonWriter::Layout layout, const Ledger& ledger,
                    const std::optional<analysis::WhatIf>& what_if = {}) {
  std::string text;
  const base::Status status = write_ledger_json(
      ledger, what_if, layout, [&](std::string_view part) -> base::Status {
        text += part;
        return base::Ok{};
      });
  EXPECT_TRUE(status);
  return text;
}

std::string json_of(const Ledger& ledger,
                    const std::optional<analysis::WhatIf>& what_if = {}) {
  return json_in(JsonWriter::Layout::OneLine, ledger, what_if);
}

using test::has;

TEST(LedgerJson, HasRowsWithTheirParents) {
  const std::string json = json_of(ledger_named("web"));
  EXPECT_TRUE(has(json, R"("schema":"tidemark.ledger/1")")) << json;
  EXPECT_TRUE(has(json, R"("tier":"structs")")) << json;
  EXPECT_TRUE(has(json, R"("total_bytes":104857600)")) << json;
  EXPECT_TRUE(has(json, R"({"class":"file","owner":"","bytes":61865984,)"
                        R"("parent":null})"))
      << json;
  EXPECT_TRUE(has(json, R"({"class":"file","owner":"/srv/web",)"
                        R"("bytes":61865984,"parent":"file"})"))
      << json;
  EXPECT_FALSE(has(json, "what_if")) << json;
}

TEST(LedgerJson, ARowOfAGroupIsOfNoClass) {
  Ledger ledger = ledger_named("web");
  ledger.rows = {ledger_row(model::LedgerClass::Unnamed, "/system.slice", 100)};
  EXPECT_TRUE(
      has(json_of(ledger), R"({"class":"owner","owner":"/system.slice")"))
      << json_of(ledger);
}

TEST(LedgerJson, TellsWhatWouldComeBack) {
  analysis::WhatIf result;
  result.process_count = 3;
  result.freed_bytes = 77;
  const std::string json = json_of(ledger_named("web"), result);
  EXPECT_TRUE(has(json, R"("what_if":{"process_count":3,"freed_bytes":77,)"))
      << json;
}

TEST(LedgerJson, ComesInPartsAndEndsWhenNobodyTakesThem) {
  Ledger ledger = ledger_named("web");
  const std::vector<model::LedgerRow> few = ledger.rows;
  for (int i = 0; i < 1000; ++i)
    ledger.rows.insert(ledger.rows.end(), few.begin(), few.end());
  const std::string whole = json_of(ledger);
  EXPECT_TRUE(test::JsonCheck(whole).is_valid());
  size_t parts = 0;
  size_t largest = 0;
  const base::Status status =
      write_ledger_json(ledger, std::nullopt, JsonWriter::Layout::OneLine,
                        [&](std::string_view part) -> base::Status {
                          largest = std::max(largest, part.size());
                          if (++parts < 3) return base::Ok{};
                          return base::fail(base::ErrorKind::Closed, "gone");
                        });
  EXPECT_FALSE(status);
  EXPECT_EQ(parts, 3U);
  EXPECT_LT(largest, whole.size() / 3);
}

RC_GTEST_PROP(LedgerJson, AnyNameIsValidJson, ()) {
  const auto name = *rc::gen::arbitrary<std::string>();
  Ledger ledger = ledger_named(name + "\n\x1b[2J\"\\");
  ledger.tier_note = name;
  ledger.notes = {name};
  ledger.rows[0].note = name;
  for (auto layout : {JsonWriter::Layout::OneLine, JsonWriter::Layout::Pretty})
    RC_ASSERT(test::JsonCheck(json_in(layout, ledger)).is_valid());
  const std::string line = json_of(ledger);
  RC_ASSERT(line.find('\x1b') == std::string::npos);
  RC_ASSERT(std::ranges::count(line, '\n') <= 1);
}

TEST(LedgerJson, HostileNamesComeBackAsTheyWere) {
  const std::string name = "\x1b[2J\nfree";
  const std::string json = json_of(ledger_named(name));
  test::JsonCheck check(json);
  ASSERT_TRUE(check.is_valid());
  EXPECT_NE(std::ranges::find(check.strings(), "/srv/" + name),
            check.strings().end());
}

// A ledger whose file row of 100 bytes has 30 with a name and 70 without.
Ledger with_others() {
  const auto row = [](std::string_view owner, uint64_t bytes) {
    model::LedgerRow made = ledger_row(model::LedgerClass::File, owner, 0);
    made.bytes = bytes;
    if (!owner.empty()) made.parent = "file";
    return made;
  };
  Ledger ledger;
  ledger.rows = {row("", 100), row("/a", 30), row(analysis::kOtherFiles, 70)};
  return ledger;
}

std::string json_with(const RowStream& other_files) {
  std::string text;
  const base::Status status = write_ledger_json(
      with_others(), {}, JsonWriter::Layout::OneLine,
      [&](std::string_view part) -> base::Status {
        text += part;
        return base::Ok{};
      },
      other_files);
  EXPECT_TRUE(status);
  return text;
}

RowStream files(std::vector<uint64_t> sizes) {
  return [sizes](const RowVisitor& visit) -> base::Status {
    for (uint64_t bytes : sizes) {
      const std::string name = "/of " + std::to_string(bytes);
      model::LedgerRow row;
      row.ledger_class = model::LedgerClass::File;
      row.owner = name;
      row.bytes = bytes;
      base::Status status = visit(row);
      if (!status) return status;
    }
    return base::Ok{};
  };
}

TEST(LedgerJson, FilesWithoutARowComeInThePlaceOfTheOneForAll) {
  const std::string json = json_with(files({40, 30}));
  EXPECT_TRUE(has(json, R"("owner":"/of 40","bytes":40,"parent":"file"})"));
  EXPECT_TRUE(has(json, R"("owner":"/of 30","bytes":30,"parent":"file"})"));
  EXPECT_FALSE(has(json, "other files")) << json;
}

TEST(LedgerJson, WhatIsGoneMeanwhileStaysInTheRowForAll) {
  const std::string json = json_with(files({40}));
  EXPECT_TRUE(has(json, R"("owner":"/of 40","bytes":40,)")) << json;
  EXPECT_TRUE(has(json, R"x("owner":"(other files)","bytes":30,)x")) << json;
}

TEST(LedgerJson, FilesAreNeverMoreThanTheirSum) {
  const std::string json = json_with(files({60, 50, 40}));
  EXPECT_TRUE(has(json, R"("owner":"/of 50","bytes":10,)")) << json;
  EXPECT_FALSE(has(json, "/of 40")) << json;
}

TEST(LedgerJson, WithoutAStreamTheRowForAllIsARow) {
  EXPECT_TRUE(has(json_with({}), R"x("owner":"(other files)","bytes":70,)x"));
}

}  // namespace
}  // namespace tidemark::view
