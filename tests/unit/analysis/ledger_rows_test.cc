#include "analysis/ledger_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/analysis/ledger_machine.h"

namespace tidemark::analysis {
namespace {

using model::LedgerClass;
using model::LedgerRow;

struct Rows {
  Machine machine{2};
  base::TextArena texts;
  std::vector<LedgerRow> of(LedgerBy by, const std::vector<LedgerCell>& cells) {
    machine.input.tally = machine.tally.get();
    machine.input.sets = &machine.sets;
    machine.input.by = by;
    LedgerRows rows(machine.input, texts);
    for (const LedgerCell& cell : cells)
      rows.add(cell);
    return rows.take();
  }
};

LedgerCell cell(LedgerClass ledger_class, std::string_view owner,
                uint64_t pages, uint64_t group = 0) {
  return {ledger_class, owner, group, pages, 0, {}};
}

std::string words(const LedgerRow& row) {
  return std::string(row.parent) + "|" +
         std::string(ledger_class_token(row.ledger_class)) + "|" +
         std::string(row.owner) + "|" + std::to_string(row.bytes / kPage);
}

std::vector<std::string> words(const std::vector<LedgerRow>& rows) {
  std::vector<std::string> all;
  for (const LedgerRow& row : rows)
    all.push_back(words(row));
  return all;
}

TEST(LedgerRows, NoCellsMakeNoRows) {
  EXPECT_TRUE(Rows().of(LedgerBy::Class, {}).empty());
}

TEST(LedgerRows, AClassComesBeforeItsPartsTheLargestFirst) {
  Rows rows;
  EXPECT_EQ(words(rows.of(LedgerBy::Class, {cell(LedgerClass::Slab, "small", 1),
                                            cell(LedgerClass::File, "/a", 3),
                                            cell(LedgerClass::Slab, "large", 5),
                                            cell(LedgerClass::Free, "", 9)})),
            (std::vector<std::string>{"|file||3", "file|file|/a|3", "|slab||6",
                                      "slab|slab|large|5", "slab|slab|small|1",
                                      "|free||9"}));
}

TEST(LedgerRows, CellsOfOneOwnerInSeveralGroupsAreOneRow) {
  Rows rows;
  EXPECT_EQ(
      words(rows.of(LedgerBy::Class, {cell(LedgerClass::File, "/a", 3, 1),
                                      cell(LedgerClass::File, "/a", 4, 2)})),
      (std::vector<std::string>{"|file||7", "file|file|/a|7"}));
}

TEST(LedgerRows, GroupsAreBySizeAndWhatIsChargedToNoneIsLast) {
  Rows rows;
  EXPECT_EQ(
      words(rows.of(LedgerBy::Cgroup, {cell(LedgerClass::File, "/a", 3, 1),
                                       cell(LedgerClass::Slab, "x", 4, 2),
                                       cell(LedgerClass::Free, "", 90)})),
      (std::vector<std::string>{"|unnamed|/two|4", "/two|slab|slab|4",
                                "|unnamed|/one|3", "/one|file|file|3",
                                "|free||90"}));
}

TEST(LedgerRows, FilesHaveRowsWithoutParts) {
  Rows rows;
  EXPECT_EQ(words(rows.of(LedgerBy::File, {cell(LedgerClass::File, "/a", 3),
                                           cell(LedgerClass::Shmem, "/b", 4),
                                           cell(LedgerClass::Slab, "x", 9)})),
            (std::vector<std::string>{"|shmem|/b|4", "|file|/a|3", "|slab||9",
                                      "slab|slab|x|9"}));
}

TEST(LedgerRows, FilesWithoutANameStandTogetherBehindTheOthers) {
  Rows rows;
  rows.machine.input.other_file_count = 70'000;
  std::vector<LedgerCell> cells = {cell(LedgerClass::File, "/a", 3)};
  for (int i = 0; i < 70'000; ++i)
    cells.push_back(cell(LedgerClass::File, kOtherFiles, 1));
  cells.push_back(cell(LedgerClass::Shmem, kOtherFiles, 2));
  const std::vector<LedgerRow> made = rows.of(LedgerBy::Class, cells);
  EXPECT_EQ(words(made), (std::vector<std::string>{
                             "|file||70003", "file|file|/a|3",
                             "file|file|(other files)|70000", "|shmem||2",
                             "shmem|shmem|(other files)|2"}));
  EXPECT_EQ(made[2].owner_count, 70'000U);
  EXPECT_LT(made.capacity(), 10'000U) << "they must not take rows first";
}

// More than are looked at for equal ones at first.
TEST(LedgerRows, ManyRowsAreMergedAsTheyCome) {
  Rows rows;
  std::vector<std::string> names;
  for (int i = 0; i < 6000; ++i)
    names.push_back("/file " + std::to_string(i));
  std::vector<LedgerCell> cells;
  for (uint64_t group : {uint64_t{1}, uint64_t{2}, uint64_t{3}}) {
    for (const std::string& name : names)
      cells.push_back(cell(LedgerClass::File, name, 1, group));
  }
  const std::vector<LedgerRow> made = rows.of(LedgerBy::Class, cells);
  ASSERT_EQ(made.size(), 6001U);
  EXPECT_EQ(made[0].bytes, 18'000 * kPage);
  for (size_t i = 1; i < made.size(); ++i)
    EXPECT_EQ(made[i].bytes, 3 * kPage);
}

TEST(LedgerRows, ANoteOfOnePartIsKept) {
  Rows rows;
  LedgerCell noted = cell(LedgerClass::Vmalloc, "caller", 2);
  noted.note = "not certain";
  const std::vector<LedgerRow> made = rows.of(
      LedgerBy::Class, {cell(LedgerClass::Vmalloc, "caller", 1), noted});
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[1].note, "not certain");
}

}  // namespace
}  // namespace tidemark::analysis
