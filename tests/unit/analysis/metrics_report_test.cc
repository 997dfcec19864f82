#include "analysis/metrics_report.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tidemark::analysis {
namespace {

using model::MetricFamily;
using model::MetricLabel;
using model::MetricSample;

const MetricSample* find_sample(const std::vector<MetricFamily>& families,
                                const std::string& name,
                                const std::vector<MetricLabel>& labels) {
  for (const MetricFamily& family : families) {
    if (family.name != name) continue;
    for (const MetricSample& sample : family.samples) {
      const bool has_all = std::ranges::all_of(labels, [&](const auto& label) {
        return std::ranges::find(sample.labels, label) != sample.labels.end();
      });
      if (has_all) return &sample;
    }
  }
  return nullptr;
}

Use use_with_pss(uint64_t pss) {
  Use use;
  use.pss = model::amount_of(pss);
  use.swap_pss = model::amount_of(5);
  return use;
}

model::Process named(const char* comm, std::string command) {
  model::Process process;
  process.stat.comm = comm;
  process.command_line = std::move(command);
  return process;
}

TEST(ProgramName, JoinsWhatTellsOfItsWork) {
  EXPECT_EQ(program_name(named("postgres", "postgres: checkpointer ")),
            "postgres");
  EXPECT_EQ(program_name(named("nginx", "/usr/sbin/nginx")), "nginx");
}

TEST(MetricsReport, ProgramsWithoutARowAreSummedAsOther) {
  MetricsInput input;
  input.processes = {{{1, 1}, "web", "/a", 100},
                     {{2, 1}, "web", "/a", 50},
                     {{3, 1}, "x", "/b", 7},
                     {{4, 1}, "y", "/b", 8}};
  input.programs = {"web"};
  const std::vector<MetricFamily> families = make_metrics(input, {});
  const MetricSample* web =
      find_sample(families, "tidemark_program_bytes",
                  {{"program", "web"}, {"measure", "rss"}});
  const MetricSample* other =
      find_sample(families, "tidemark_program_bytes",
                  {{"program", "(other)"}, {"measure", "rss"}});
  ASSERT_TRUE(web != nullptr && other != nullptr);
  EXPECT_EQ(web->value, 150);
  EXPECT_EQ(other->value, 15);
  EXPECT_EQ(
      find_sample(families, "tidemark_program_bytes", {{"measure", "pss"}}),
      nullptr)
      << "what nobody has read is no zero";
}

TEST(MetricsReport, SharesHaveTheirAgeAndSaySoWhenAPartIsUnknown) {
  ShareReading shares;
  shares.ended_ns = 4'000'000'000;
  Use denied;
  denied.pss.add(std::nullopt);
  shares.processes = {{{1, 1}, "web", "/a", use_with_pss(60)},
                      {{2, 1}, "web", "/a", denied}};
  shares.denied_count = 1;
  MetricsInput input;
  input.now_ns = 10'000'000'000;
  input.programs = {"web"};
  input.shares = &shares;
  const std::vector<MetricFamily> families = make_metrics(input, {});
  EXPECT_EQ(find_sample(families, "tidemark_shares_age_seconds", {})->value, 6);
  EXPECT_EQ(find_sample(families, "tidemark_program_bytes",
                        {{"measure", "footprint"}})
                ->value,
            65);
  EXPECT_EQ(find_sample(families, "tidemark_program_unread_processes",
                        {{"program", "web"}})
                ->value,
            1);
}

TEST(MetricsReport, AGroupHasTheSharesOfAllBelowIt) {
  ShareReading shares;
  shares.processes = {{{1, 1}, "web", "/a/b", use_with_pss(60)},
                      {{2, 1}, "x", "/a", use_with_pss(10)},
                      {{3, 1}, "y", "/ab", use_with_pss(1)}};
  MetricsInput input;
  input.shares = &shares;
  model::Cgroup group;
  group.path = "/a";
  group.charged_bytes = model::known<uint64_t>(100);
  input.cgroups = {group};
  input.peaks.bytes[peak_key(PeakScope::Cgroup, "/a")] = 170;
  const std::vector<MetricFamily> families = make_metrics(input, {});
  EXPECT_EQ(find_sample(families, "tidemark_cgroup_bytes",
                        {{"cgroup", "/a"}, {"measure", "pss"}})
                ->value,
            70);
  EXPECT_EQ(
      find_sample(families, "tidemark_cgroup_peak_bytes", {{"cgroup", "/a"}})
          ->value,
      170);
  EXPECT_EQ(
      find_sample(families, "tidemark_cgroup_bytes", {{"measure", "limit"}}),
      nullptr)
      << "no limit is no number";
}

TEST(MetricsReport, SeriesAreCutAtTheLimitAndTheRestIsTold) {
  MetricsInput input;
  for (int32_t i = 1; i <= 200; ++i) {
    input.processes.push_back({{i, 1}, "p" + std::to_string(i), "/", 1});
    input.programs.insert("p" + std::to_string(i));
  }
  MetricsLimits limits;
  limits.series_count = 100;
  std::vector<MetricFamily> families = make_metrics(input, limits);
  add_scrape_time(1, families);
  EXPECT_EQ(model::series_count(families), 100);
  EXPECT_EQ(find_sample(families, "tidemark_series", {})->value, 100);
  EXPECT_GT(find_sample(families, "tidemark_series_dropped", {})->value, 0);
}

TEST(MetricsReport, ALargePeakRanksLikeALargeProgram) {
  PeakWindow peaks;
  peaks.bytes[peak_key(PeakScope::Program, "spike")] = 900;
  const std::vector<RankedName> ranks = rank_programs(
      {{{1, 1}, "spike", "/", 3}, {{2, 1}, "calm", "/", 100}}, nullptr, peaks);
  ASSERT_EQ(ranks.size(), 2);
  EXPECT_EQ(std::ranges::max_element(ranks, {}, &RankedName::bytes)->name,
            "spike");
}

TEST(MetricsReport, AProgramThatCameAndWentHasItsPeakAlone) {
  MetricsInput input;
  input.processes = {{{1, 1}, "calm", "/", 100}};
  input.peaks.bytes[peak_key(PeakScope::Program, "burst")] =
      kLeastGonePeakBytes;
  input.peaks.bytes[peak_key(PeakScope::Program, "tiny")] =
      kLeastGonePeakBytes - 1;
  input.peaks.bytes[peak_key(PeakScope::Cgroup, "/burst")] =
      kLeastGonePeakBytes;
  const std::vector<RankedName> ranks =
      rank_programs(input.processes, nullptr, input.peaks);
  EXPECT_EQ(ranks, (std::vector<RankedName>{{"calm", 100},
                                            {"burst", kLeastGonePeakBytes}}));
  input.programs = {"calm", "burst"};
  const std::vector<MetricFamily> families = make_metrics(input, {});
  const MetricSample* peak = find_sample(
      families, "tidemark_program_peak_bytes", {{"program", "burst"}});
  ASSERT_NE(peak, nullptr);
  EXPECT_EQ(peak->value, static_cast<double>(kLeastGonePeakBytes));
  EXPECT_EQ(find_sample(families, "tidemark_program_processes",
                        {{"program", "burst"}})
                ->value,
            0);
  EXPECT_EQ(
      find_sample(families, "tidemark_program_bytes", {{"program", "burst"}}),
      nullptr)
      << "it has no memory now";
}

TEST(MetricsReport, AGroupThatCameAndWentHasItsPeakAlone) {
  MetricsInput input;
  input.peaks.bytes[peak_key(PeakScope::Cgroup, "/job")] = kLeastGonePeakBytes;
  input.peaks.bytes[peak_key(PeakScope::Cgroup, "/a")] = 900;
  EXPECT_EQ(
      rank_groups({{"/a", 7}}, &input.peaks),
      (std::vector<RankedName>{{"/a", 900}, {"/job", kLeastGonePeakBytes}}));
  EXPECT_EQ(rank_groups({{"/a", 7}}, nullptr),
            (std::vector<RankedName>{{"/a", 7}}));
  input.gone_cgroups = {"/job"};
  const std::vector<MetricFamily> families = make_metrics(input, {});
  const MetricSample* peak =
      find_sample(families, "tidemark_cgroup_peak_bytes", {{"cgroup", "/job"}});
  ASSERT_NE(peak, nullptr);
  EXPECT_EQ(peak->value, static_cast<double>(kLeastGonePeakBytes));
  EXPECT_EQ(find_sample(families, "tidemark_scope_rows", {{"scope", "cgroup"}})
                ->value,
            1);
  EXPECT_EQ(
      find_sample(families, "tidemark_cgroup_bytes", {{"cgroup", "/job"}}),
      nullptr);
}

}  // namespace
}  // namespace tidemark::analysis
