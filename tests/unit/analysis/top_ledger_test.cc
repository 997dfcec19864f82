#include "analysis/top_ledger.h"

#include <gtest/gtest.h>

namespace tidemark::analysis {
namespace {

using model::Category;
using model::LedgerClass;

model::LedgerRow row(LedgerClass ledger_class, std::string_view owner,
                     uint64_t bytes, std::string_view parent = {}) {
  model::LedgerRow made;
  made.ledger_class = ledger_class;
  made.owner = owner;
  made.bytes = bytes;
  made.parent = parent;
  return made;
}

TEST(TopLedger, KeepsClassesWithTheirLargestOwners) {
  model::Ledger ledger;
  ledger.total_bytes = 1000;
  ledger.rows = {
      row(LedgerClass::File, "", 300),
      row(LedgerClass::File, "/a", 200, "file"),
      row(LedgerClass::File, "/b", 100, "file"),
      row(LedgerClass::Free, "", 700),
  };
  const TopLedger top =
      make_top_ledger(ledger, LedgerBy::Class, {.rows = 10, .parts = 1});
  ASSERT_EQ(top.rows.size(), 2U);
  EXPECT_EQ(top.rows[0].category, Category::Free) << "the largest first";
  EXPECT_EQ(top.rows[1].category, Category::File);
  EXPECT_EQ(top.rows[1].part_count, 2U);
  ASSERT_EQ(top.rows[1].parts.size(), 1U);
  EXPECT_EQ(top.rows[1].parts[0].name, "/a");
}

TEST(TopLedger, SumsClassesOfOneKind) {
  model::Ledger ledger;
  ledger.total_bytes = 1000;
  ledger.page_bytes = 16'384;
  ledger.rows = {
      row(LedgerClass::AnonPrivate, "", 300),
      row(LedgerClass::AnonPrivate, "a (1)", 300, "anon-private"),
      row(LedgerClass::AnonShared, "", 100),
      row(LedgerClass::Free, "", 600),
  };
  const TopLedger top = make_top_ledger(ledger, LedgerBy::Class);
  const auto kinds = kinds_in(top);
  EXPECT_EQ(kinds[static_cast<size_t>(Category::Anon)], 400U);
  EXPECT_EQ(kinds[static_cast<size_t>(Category::Free)], 600U);
  EXPECT_EQ(top.page_bytes, 16'384U);
}

TEST(TopLedger, KeepsOwnersWithTheirClasses) {
  model::Ledger ledger;
  ledger.total_bytes = 500;
  ledger.rows = {
      row(LedgerClass::Unnamed, "/work", 300),
      row(LedgerClass::Shmem, "shmem", 250, "/work"),
      row(LedgerClass::File, "file", 50, "/work"),
      row(LedgerClass::Free, "", 200),
  };
  const TopLedger top = make_top_ledger(ledger, LedgerBy::Cgroup);
  ASSERT_EQ(top.rows.size(), 2U);
  EXPECT_EQ(top.rows[0].name, "/work");
  EXPECT_EQ(top.rows[0].category, Category::Shm)
      << "the colour of its largest part";
  EXPECT_EQ(top.rows[0].parts[0].name,
            model::ledger_class_label(LedgerClass::Shmem));
}

TEST(TopLedger, AddsUpWithWhatIsNotKept) {
  model::Ledger ledger;
  ledger.total_bytes = 60;
  ledger.rows = {row(LedgerClass::File, "/a", 10),
                 row(LedgerClass::File, "/b", 20),
                 row(LedgerClass::File, "/c", 30)};
  const TopLedger top =
      make_top_ledger(ledger, LedgerBy::File, {.rows = 1, .parts = 1});
  ASSERT_EQ(top.rows.size(), 1U);
  EXPECT_EQ(top.rows[0].name, "/c");
  EXPECT_EQ(top.other_count, 2U);
  EXPECT_EQ(top.rows[0].bytes + top.other_bytes, top.total_bytes);
}

}  // namespace
}  // namespace tidemark::analysis
