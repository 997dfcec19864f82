#include "cli/vms_page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/memstats_sections.h"
#include "unit/cli/harness.h"
#include "unit/fixture.h"

namespace tidemark::cli {
namespace {

using Json = nlohmann::json;

// What the original draws: its chart has a point for each process of a name,
// all with the sum, where one says the same.
std::vector<std::pair<uint64_t, double>> points_of(const Json& series) {
  std::vector<std::pair<uint64_t, double>> points;
  for (size_t i = 0; i < series["x"].size(); ++i) {
    std::pair<uint64_t, double> point(series["x"][i].get<uint64_t>(),
                                      series["y_gib"][i].get<double>());
    if (points.empty() || points.back() != point) points.push_back(point);
  }
  return points;
}

TEST(VmsPage, SectionsAreThoseThatMemstatsChartDraws) {
  base::Result<std::optional<MemstatsFile>> file =
      read_memstats_file(test::fixture_path("memstats/chart.json"));
  ASSERT_TRUE(file) << file.error().what;
  ASSERT_TRUE(*file);
  const std::vector<analysis::MemstatsSection> sections =
      analysis::memstats_sections((*file)->records);
  const Json expected =
      Json::parse(test::read_fixture("memstats/chart.expected.json"));
  ASSERT_EQ(sections.size(), expected.size());
  for (size_t i = 0; i < sections.size(); ++i) {
    const std::string name = expected[i]["name"].get<std::string>();
    EXPECT_EQ(sections[i].name, name);
    EXPECT_EQ(sections[i].is_stacked, expected[i]["stacked"].get<bool>());
    std::vector<std::pair<uint64_t, double>> drawn;
    for (const analysis::MemstatsPoint& point : sections[i].points)
      drawn.emplace_back(point.seconds, std::ldexp(point.bytes, -30));
    EXPECT_EQ(drawn, points_of(expected[i])) << name;
  }
}

}  // namespace
}  // namespace tidemark::cli
