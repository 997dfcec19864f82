#include "cli/memstats_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "unit/fixture.h"

namespace tidemark::cli {
namespace {

base::Result<MemstatsFile> read(std::string_view text) {
  return memstats_in("m.json", text, 0, std::nullopt);
}

// The original writes one line, so a cut may be anywhere in it.
TEST(MemstatsInput, OfACutFileWholeRecordsAreTaken) {
  const std::string whole = test::read_fixture("memstats/chart.json");
  base::Result<MemstatsFile> all = read(whole);
  ASSERT_TRUE(all) << all.error().what;
  ASSERT_EQ(all->records.size(), 5U);
  EXPECT_FALSE(all->is_cut);
  size_t most = 0;
  for (size_t length = 1; length + 1 < whole.size(); length += 97) {
    base::Result<MemstatsFile> cut = read(whole.substr(0, length));
    if (!cut) {
      EXPECT_EQ(most, 0U) << length;
      continue;
    }
    EXPECT_TRUE(cut->is_cut);
    EXPECT_GE(cut->records.size(), most);
    most = cut->records.size();
    EXPECT_TRUE(
        std::ranges::equal(cut->records, std::span(all->records).first(most)));
  }
  EXPECT_GE(most, 4U);
}

TEST(MemstatsInput, NamesCannotLookLikeAnEnd) {
  const std::string first =
      R"([{"timestamp":0,"stats":[{"pid":1,"name":"a}]\\","smaps":{"Rss":1,"Pss":1}}],)"
      R"("balloon_stats":null})";
  base::Result<MemstatsFile> file =
      read(first + R"(,{"timestamp":1,"stats":[{"pid":1,"name":"b\"}]})");
  ASSERT_TRUE(file) << file.error().what;
  ASSERT_EQ(file->records.size(), 1U);
  EXPECT_EQ(file->records[0].processes.at(0).name, "a}]\\");
}

TEST(MemstatsInput, WhatIsBrokenElsewhereIsRefused) {
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("[]"));
  EXPECT_FALSE(read(R"([{"timestamp":0,"stats":[}],"balloon_stats":null}])"));
  EXPECT_FALSE(read(R"([{"timestamp":"zero"},{"timestamp":1)"));
  EXPECT_FALSE(read(R"({"a":{},"b":{)"));
}

}  // namespace
}  // namespace tidemark::cli
