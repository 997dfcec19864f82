#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/ledger.h"
#include "analysis/system_report.h"

namespace tidemark::analysis {
namespace {

using model::LedgerClass;

SystemReport report_of_bytes(uint64_t total) {
  SystemReport report;
  report.total_bytes = total;
  for (SystemValue& value : report.columns)
    value.bytes = model::known<int64_t>(0);
  return report;
}

void set(SystemReport& report, SystemColumn column, int64_t bytes) {
  report.columns[static_cast<size_t>(column)].bytes = model::known(bytes);
}

uint64_t sum_of_tops(const model::Ledger& ledger) {
  uint64_t sum = 0;
  for (const model::LedgerRow& row : ledger.rows) {
    if (row.parent.empty()) sum += row.bytes;
  }
  return sum;
}

TEST(CounterLedger, ColumnsOfOneClassAreItsParts) {
  SystemReport report = report_of_bytes(100);
  set(report, SystemColumn::SlabUsed, 30);
  set(report, SystemColumn::SlabSlack, 10);
  set(report, SystemColumn::Free, 50);
  const model::Ledger ledger = make_counter_ledger(report);
  EXPECT_EQ(ledger.tier, model::LedgerTier::Counters);
  ASSERT_GE(ledger.rows.size(), 3U);
  EXPECT_EQ(ledger.rows[0].ledger_class, LedgerClass::Slab);
  EXPECT_EQ(ledger.rows[0].bytes, 40U);
  EXPECT_EQ(ledger.rows[1].owner, "(in use)");
  EXPECT_EQ(ledger.rows[1].parent, "slab");
  EXPECT_EQ(ledger.rows.back().ledger_class, LedgerClass::Unnamed);
  EXPECT_EQ(ledger.rows.back().bytes, 10U) << "what no counter has";
  EXPECT_EQ(sum_of_tops(ledger), 100U);
}

TEST(CounterLedger, CountersThatOverlapTakeNoMoreThanThereIs) {
  SystemReport report = report_of_bytes(1 << 20);
  set(report, SystemColumn::Anon, 800 << 10);
  set(report, SystemColumn::File, 800 << 10);
  const model::Ledger ledger = make_counter_ledger(report);
  EXPECT_EQ(sum_of_tops(ledger), ledger.total_bytes);
  ASSERT_EQ(ledger.notes.size(), 1U);
  EXPECT_EQ(ledger.notes[0], "the counters overlap by 576 KiB");
}

TEST(CounterLedger, SaysWhatIsNotKnown) {
  SystemReport report = report_of_bytes(100);
  report.columns[static_cast<size_t>(SystemColumn::Vmalloc)].bytes =
      model::unknown<int64_t>("denied: vmallocinfo");
  const model::Ledger ledger = make_counter_ledger(report);
  ASSERT_EQ(ledger.notes.size(), 1U);
  EXPECT_NE(ledger.notes[0].find("is not known: denied: vmallocinfo"),
            std::string::npos)
      << ledger.notes[0];
}

}  // namespace
}  // namespace tidemark::analysis
