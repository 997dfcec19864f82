#include "analysis/buckets.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "unit/analysis/graphs.h"

namespace tidemark::analysis {
namespace {

using model::BucketRule;
using test::in_cgroup;
using test::kKiB;
using test::mapping;
using test::process_named;

BucketRule rule(std::string name, std::string_view process,
                std::string_view vmo = "", std::string_view cgroup = "") {
  BucketRule made;
  made.name = std::move(name);
  made.process = *base::Pattern::compile(process);
  made.vmo = *base::Pattern::compile(vmo);
  made.cgroup = *base::Pattern::compile(cgroup);
  return made;
}

BucketReport report_of(std::vector<model::Process> processes,
                       const std::vector<BucketRule>& rules,
                       uint64_t anon_kib = 1 << 19) {
  base::Result<Graph> graph =
      make_graph(test::input_of(std::move(processes), 1 << 20, anon_kib));
  EXPECT_TRUE(graph);
  return make_buckets(*graph, rules);
}

uint64_t bytes_of(const BucketReport& report, std::string_view name) {
  for (const BucketLine& line : report.lines) {
    if (line.name == name) return line.bytes;
  }
  ADD_FAILURE() << "no line " << name;
  return 0;
}

uint64_t sum(const BucketReport& report) {
  uint64_t bytes = 0;
  for (const BucketLine& line : report.lines)
    bytes += line.bytes;
  return bytes;
}

TEST(Buckets, TheFirstRuleThatMatchesTakesTheObject) {
  const std::vector<model::Process> processes = {
      mapping(process_named(7, 1, "a"), {{"/x", 5, 10}, {"", 0, 3}})};
  const BucketReport report = report_of(
      processes, {rule("files", "", "/.*"), rule("a", "a"), rule("all", "")});
  EXPECT_EQ(bytes_of(report, "files"), 10 * kKiB);
  EXPECT_EQ(bytes_of(report, "a"), 3 * kKiB);
  EXPECT_EQ(bytes_of(report, "all"), 0U);
}

TEST(Buckets, ASharedObjectIsTakenWholeAndOnce) {
  const BucketReport report =
      report_of({mapping(process_named(7, 1, "a"), {{"/x", 5, 10}}),
                 mapping(process_named(8, 1, "b"), {{"/x", 5, 20}})},
                {rule("b", "b"), rule("a", "a")});
  EXPECT_EQ(bytes_of(report, "b"), 30 * kKiB);
  EXPECT_EQ(bytes_of(report, "a"), 0U);
}

TEST(Buckets, MatchByGroupToo) {
  const BucketReport report = report_of(
      {in_cgroup(mapping(process_named(7, 1, "a"), {{"", 0, 10}}), "/db/one"),
       in_cgroup(mapping(process_named(8, 1, "a"), {{"", 0, 5}}), "/web")},
      {rule("db", "a", "", "/db/.*")});
  EXPECT_EQ(bytes_of(report, "db"), 10 * kKiB);
  EXPECT_EQ(bytes_of(report, "Undigested"), 5 * kKiB);
}

TEST(Buckets, AreSortedBySizeWithTheFixedLinesLast) {
  const BucketReport report =
      report_of({mapping(process_named(7, 1, "a"), {{"", 0, 3}}),
                 mapping(process_named(8, 1, "b"), {{"", 0, 10}}),
                 mapping(process_named(9, 1, "c"), {{"", 0, 100}})},
                {rule("A", "a"), rule("B", "b")});
  std::vector<std::string> names;
  for (const BucketLine& line : report.lines)
    names.push_back(line.name);
  EXPECT_EQ(names, (std::vector<std::string>{"B", "A", "Undigested", "Orphaned",
                                             "Kernel", "Free"}));
  EXPECT_EQ(sum(report), report.total_bytes);
}

TEST(Buckets, RulesOfOneNameAreOneLine) {
  const BucketReport report =
      report_of({mapping(process_named(7, 1, "a"), {{"", 0, 3}}),
                 mapping(process_named(8, 1, "b"), {{"", 0, 10}})},
                {rule("X", "a"), rule("X", "b")});
  EXPECT_EQ(report.lines.size(), 5U);
  EXPECT_EQ(report.lines[0].bytes, 13 * kKiB);
  EXPECT_EQ(report.lines[0].process_count, 2U);
}

TEST(Buckets, ListsWhatNoRuleTook) {
  const BucketReport report =
      report_of({mapping(process_named(7, 1, "a"),
                         {{"/small", 5, 1}, {"/large", 6, 9}, {"/none", 7, 0}}),
                 mapping(process_named(8, 1, "b"), {{"/large", 6, 11}})},
                {});
  ASSERT_EQ(report.undigested.size(), 2U);
  EXPECT_EQ(report.undigested[0].name, "/large");
  EXPECT_EQ(report.undigested[0].pid, 8) << "it has the larger share";
  EXPECT_EQ(report.undigested[0].share_count, 2U);
}

TEST(Buckets, NamesAreMatchedAsTheyAreShown) {
  const BucketReport report =
      report_of({mapping(process_named(7, 1, "a\nb\xff"), {{"", 0, 3}})},
                {rule("odd", R"(a\\nb\\xff)")});
  EXPECT_EQ(bytes_of(report, "odd"), 3 * kKiB);
}

TEST(Buckets, LinesAddUpToRamWhateverWasRead) {
  rc::check([](const std::vector<uint16_t>& sizes, uint16_t anon_kib) {
    std::vector<test::MappingOf> mappings;
    for (size_t i = 0; i < sizes.size(); ++i) {
      mappings.push_back({i % 2 ? "/x" + std::to_string(i) : "", i % 2 ? i : 0,
                          sizes[i], sizes[i] / 2U});
    }
    const BucketReport report =
        report_of({mapping(process_named(7, 1, "a"), mappings)},
                  {rule("files", "", "/.*3")}, anon_kib);
    RC_ASSERT(sum(report) == report.total_bytes);
  });
}

}  // namespace
}  // namespace tidemark::analysis
