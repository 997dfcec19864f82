#include "view/csv/reports.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "unit/utf8.h"
#include "unit/view/examples.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

// The fields of one record after RFC 4180, quotes undone.
std::vector<std::string> fields_of(const std::string& record) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    if (c == '"' && is_quoted && i + 1 < record.size() &&
        record[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// What stands under `head` in the record of that line; line 0 is the head.
std::string field(const std::string& csv, size_t line,
                  const std::string& head) {
  const std::vector<std::string> lines = lines_of(csv);
  const std::vector<std::string> heads = fields_of(lines.at(0));
  const std::vector<std::string> fields = fields_of(lines.at(line));
  for (size_t i = 0; i < heads.size(); ++i) {
    if (heads[i] == head) return fields.at(i);
  }
  ADD_FAILURE() << "no column " << head;
  return {};
}

bool rows_are_alike(const std::string& csv) {
  const std::vector<std::string> lines = lines_of(csv);
  for (const std::string& line : lines) {
    if (fields_of(line).size() != fields_of(lines[0]).size()) return false;
  }
  return true;
}

// ---- get --------------------------------------------------------------------

std::string get_csv(const analysis::GetReport& report) {
  return get_csv_head() + get_csv_rows(report, true);
}

TEST(GetCsv, TheTotalIsARowWithoutPid) {
  const std::string csv =
      get_csv_head() +
      get_csv_rows(get_report({get_process(42, "postgres")}), false);
  EXPECT_EQ(csv,
            "time,pid,name,in_ram_bytes,pss_bytes,uss_bytes,shared_bytes,"
            "rss_bytes,pss_anon_bytes,pss_file_bytes,pss_shmem_bytes,"
            "swap_pss_bytes,hugetlb_bytes,kernel_bytes\n"
            "2025-11-15T08:11:08.123456789Z,,total,6291456,6291456,4194304,"
            "3145728,7340032,5242880,1048576,0,2097152,0,65536\n");
}

TEST(GetCsv, AnUnknownIsEmptyAndAZeroIsNot) {
  const std::string csv = get_csv(
      get_report({denied_get_process(43, "sshd"), get_process(42, "x")}));
  EXPECT_EQ(field(csv, 2, "pss_bytes"), "");
  EXPECT_EQ(field(csv, 2, "in_ram_bytes"), "");
  EXPECT_EQ(field(csv, 2, "rss_bytes"), "7340032");
  EXPECT_EQ(field(csv, 3, "hugetlb_bytes"), "0");
}

TEST(GetCsv, ANameWithCommaAndQuoteIsQuoted) {
  const std::string csv = get_csv(get_report({get_process(42, "a,\"b\"")}));
  EXPECT_NE(csv.find(",42,\"a,\"\"b\"\"\",6291456"), std::string::npos) << csv;
}

RC_GTEST_PROP(GetCsvProperty, HostileNamesKeepRowsAndFieldsInPlace, ()) {
  const std::string csv = get_csv(hostile_get_report(*hostile_name()));
  RC_ASSERT(rows_are_alike(csv));
  RC_ASSERT(line_count(csv) == 4U);
  RC_ASSERT(is_harmless(csv));
}

// ---- ps ---------------------------------------------------------------------

TEST(PsCsv, NamesTheKindOfEachRow) {
  analysis::PsRow folded = ps_group(0, 1, "2 smaller");
  folded.kind = analysis::RowKind::Folded;
  const std::string csv =
      ps_csv(ps_report({ps_group(7, 0, "app"), ps_process(42, 1, "postgres"),
                        ps_thread(43, 2, "pool"), folded}));
  EXPECT_EQ(field(csv, 1, "kind"), "group");
  EXPECT_EQ(field(csv, 2, "kind"), "process");
  EXPECT_EQ(field(csv, 3, "kind"), "thread");
  EXPECT_EQ(field(csv, 4, "kind"), "folded");
}

TEST(PsCsv, UnseenMayBeNegative) {
  analysis::PsRow group = ps_group(7, 0, "app");
  group.charged_bytes = model::known<uint64_t>(5 * kMiB);
  group.peak_bytes = model::known<uint64_t>(9 * kMiB);
  EXPECT_EQ(field(ps_csv(ps_report({group})), 1, "unseen_bytes"), "-1048576");
}

TEST(PsCsv, AnUnknownChargeIsEmpty) {
  analysis::PsRow group = ps_group(7, 0, "app");
  group.charged_bytes = model::unknown<uint64_t>("no memory.current");
  group.peak_bytes = model::unknown<uint64_t>("no memory.peak");
  const std::string csv = ps_csv(ps_report({group}));
  EXPECT_EQ(field(csv, 1, "charged_bytes"), "");
  EXPECT_EQ(field(csv, 1, "unseen_bytes"), "");
  EXPECT_EQ(field(csv, 1, "peak_bytes"), "");
}

TEST(PsCsv, AProcessHasItsUserAndGroup) {
  analysis::PsRow row = ps_process(42, 0, "postgres");
  row.cgroup_path = "/system.slice";
  const std::string csv = ps_csv(ps_report({row}));
  EXPECT_EQ(field(csv, 1, "user"), "ann");
  EXPECT_EQ(field(csv, 1, "cgroup"), "/system.slice");
}

RC_GTEST_PROP(PsCsvProperty, HostileNamesKeepRowsAndFieldsInPlace, ()) {
  const std::string csv = ps_csv(hostile_ps_report(*hostile_name(), 'S'));
  RC_ASSERT(rows_are_alike(csv));
  RC_ASSERT(line_count(csv) == 4U);
  RC_ASSERT(is_harmless(csv));
}

// ---- maps -------------------------------------------------------------------

TEST(MapsCsv, HasAColumnForEveryFieldOfTheKernel) {
  const std::vector<std::string> heads = fields_of(lines_of(maps_csv(
      maps_report({region_of(model::RegionKind::BrkHeap, "[heap]",
                             {mapping_at(0x1000000, "[heap]")})})))[0]);
  for (const model::SmapsLabel& label : model::kSmapsLabels) {
    EXPECT_NE(std::ranges::find(heads, label.json_name), heads.end())
        << label.json_name;
  }
}

TEST(MapsCsv, AFieldTheKernelDidNotPrintIsEmpty) {
  const std::string csv =
      maps_csv(maps_report({region_of(model::RegionKind::BrkHeap, "[heap]",
                                      {mapping_at(0x1000000, "[heap]")})}));
  EXPECT_EQ(field(csv, 1, "ksm_bytes"), "");
  EXPECT_EQ(field(csv, 1, "swap_pss_bytes"), "0");
}

TEST(MapsCsv, AMappingHasTheKindOfItsRegion) {
  const std::string csv = maps_csv(maps_report({region_of(
      model::RegionKind::Arena, "", {mapping_at(0x7f0000000000, "")})}));
  EXPECT_EQ(field(csv, 1, "kind"), "arena");
  EXPECT_EQ(field(csv, 1, "category"), "heap");
}

RC_GTEST_PROP(MapsCsvProperty, HostileNamesKeepRowsAndFieldsInPlace, ()) {
  const std::string csv = maps_csv(hostile_maps_report(*hostile_name()));
  RC_ASSERT(rows_are_alike(csv));
  RC_ASSERT(line_count(csv) == 5U);
  RC_ASSERT(is_harmless(csv));
}

RC_GTEST_PROP(CsvProperty, AVisibleNameComesBackAsItIs, ()) {
  // Only what visible() leaves alone: the rest is escaped before it is quoted.
  const std::string name =
      *rc::gen::container<std::string>(rc::gen::element('a', ',', '"', ' '));
  RC_ASSERT(field(get_csv(get_report({get_process(42, name)})), 2, "name") ==
            name);
}

}  // namespace
}  // namespace tidemark::view
