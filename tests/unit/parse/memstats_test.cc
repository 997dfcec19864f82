#include "parse/memstats.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/fixture.h"

namespace tidemark::parse {
namespace {

using model::MemstatsRecord;
using model::SmapsField;
using Records = std::vector<MemstatsRecord>;

constexpr const char* kRecord =
    R"({"timestamp":3,"stats":[{"pid":7,"name":"crosvm",)"
    R"("smaps":{"Rss":12,"Pss":8,"Pss_Anon":5,"Novelty":1}}],)"
    R"("balloon_stats":{"stats":{"free_memory":100,"swap_in":null},)"
    R"("balloon_actual":50}})";

base::Result<Records> parse_one(std::string record) {
  return parse_memstats("[" + record + "]");
}

// The record with one piece of it replaced.
base::Result<Records> parse_with(std::string_view piece,
                                 std::string_view other) {
  std::string record = kRecord;
  const size_t at = record.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return parse_one(record.replace(at, piece.size(), other));
}

TEST(Memstats, ReadsARecordingOfTheCollector) {
  base::Result<Records> records =
      parse_memstats(test::read_fixture("memstats/sample.json"));
  ASSERT_TRUE(records) << records.error().what;
  ASSERT_EQ(records->size(), 2U);
  const MemstatsRecord& second = (*records)[1];
  EXPECT_EQ(second.elapsed_seconds, 1U);
  ASSERT_EQ(second.processes.size(), 2U);
  EXPECT_EQ(second.processes[0].pid, 745);
  EXPECT_EQ(second.processes[0].name, "crosvm");
  EXPECT_EQ((*records)[0].processes[0].totals.get(SmapsField::Pss),
            uint64_t{296260} * 1024);
  ASSERT_TRUE(second.balloon);
  EXPECT_EQ(second.balloon->balloon_bytes, 134217728U);
}

TEST(Memstats, KeepsWhatIsMissingApartFromZero) {
  base::Result<Records> records = parse_one(kRecord);
  ASSERT_TRUE(records) << records.error().what;
  const MemstatsRecord& record = records->front();
  EXPECT_FALSE(record.processes[0].totals.has(SmapsField::Swap));
  EXPECT_EQ(record.processes[0].totals.get(SmapsField::PssAnon), 5U * 1024);
  EXPECT_FALSE(record.balloon->values[0]) << "null";
  EXPECT_EQ(record.balloon->values[4], 100U);
}

TEST(Memstats, TheMonitorMayNotAnswer) {
  base::Result<Records> records =
      parse_one(R"({"timestamp":0,"stats":[],"balloon_stats":null})");
  ASSERT_TRUE(records) << records.error().what;
  EXPECT_FALSE(records->front().balloon);
}

TEST(Memstats, AnythingOfAnotherTypeIsRefusedByName) {
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {"\"timestamp\":3", "\"timestamp\":-3"},
      {"\"timestamp\":3", "\"timestamp\":\"3\""},
      {"\"timestamp\":3", "\"timestamp\":99999999999999"},
      {"\"pid\":7", "\"pid\":7.5"},
      {"\"pid\":7", "\"pid\":4294967296"},
      {"\"crosvm\"", "null"},
      {"\"Rss\":12", "\"Rss\":\"12\""},
      {"\"Rss\":12", "\"Rss\":18446744073709551615"},
      {"\"Rss\":12,", ""},
      {"\"free_memory\":100", "\"free_memory\":[]"},
      {"\"balloon_actual\":50", "\"balloon_actual\":null"},
  };
  for (const auto& [piece, other] : wrong) {
    base::Result<Records> records = parse_with(piece, other);
    ASSERT_FALSE(records) << other;
    EXPECT_EQ(records.error().kind, base::ErrorKind::Malformed);
    EXPECT_TRUE(records.error().what.starts_with("memstats: record 0: "))
        << records.error().what;
  }
}

TEST(Memstats, AProcessTwiceIsRefused) {
  EXPECT_FALSE(parse_with(
      "\"stats\":[",
      R"("stats":[{"pid":7,"name":"x","smaps":{"Rss":1,"Pss":1}},)"));
}

TEST(Memstats, TimeDoesNotGoBackwards) {
  const std::string earlier =
      R"({"timestamp":2,"stats":[],"balloon_stats":null})";
  EXPECT_FALSE(
      parse_memstats("[" + std::string(kRecord) + "," + earlier + "]"));
}

TEST(Memstats, OtherJsonIsRefused) {
  for (const char* text : {"", "{}", "3", "null", "[3]", "[[]]", "[{}]", "[",
                           "{\"a\":", "\"text\"", "[1,]", "garbage"}) {
    base::Result<Records> records = parse_memstats(text);
    ASSERT_FALSE(records) << text;
    EXPECT_EQ(records.error().kind, base::ErrorKind::Malformed) << text;
  }
}

TEST(Memstats, EveryBeginningIsRefused) {
  const std::string text = "[" + std::string(kRecord) + "]";
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(parse_memstats(text.substr(0, length))) << length;
}

TEST(Memstats, DeepNestingIsNoDanger) {
  EXPECT_FALSE(parse_memstats(std::string(200'000, '[')));
}

}  // namespace
}  // namespace tidemark::parse
