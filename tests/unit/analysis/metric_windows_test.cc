#include "analysis/metric_windows.h"

#include <gtest/gtest.h>

namespace tidemark::analysis {
namespace {

const std::string kKey = peak_key(PeakScope::Program, "web");

TEST(MetricWindows, KeepTheHighestBetweenTwoScrapes) {
  MetricWindows windows;
  windows.take("a", 0, {});
  for (uint64_t bytes : {10U, 900U, 20U})
    windows.note(kKey, bytes);
  const PeakWindow window = windows.take("a", 15, {});
  EXPECT_EQ(window.length_ns, 15);
  ASSERT_NE(window.find(PeakScope::Program, "web"), nullptr);
  EXPECT_EQ(*window.find(PeakScope::Program, "web"), 900);
  windows.note(kKey, 20);
  EXPECT_EQ(*windows.take("a", 30, {}).find(PeakScope::Program, "web"), 20)
      << "a spike belongs to one window";
}

TEST(MetricWindows, AnOpenWindowIsSeenAsFarAsItHasCome) {
  MetricWindows windows;
  EXPECT_EQ(windows.open_window("a"), nullptr);
  windows.take("a", 0, {});
  windows.note(kKey, 900);
  windows.note(peak_key(PeakScope::Program, "small"), 899);
  windows.note(peak_key(PeakScope::Cgroup, "/group"), 1000);
  const PeakWindow* open = windows.open_window("a");
  ASSERT_NE(open, nullptr);
  EXPECT_EQ(open->names_from(PeakScope::Program, 900),
            std::vector<std::string>{"web"});
  EXPECT_EQ(*windows.take("a", 15, {}).find(PeakScope::Program, "web"), 900)
      << "looking takes nothing away";
}

TEST(MetricWindows, OneScraperTakesNothingFromAnother) {
  MetricWindows windows;
  windows.take("a", 0, {});
  windows.take("b", 0, {});
  windows.note(kKey, 900);
  windows.take("a", 5, {});
  windows.note(kKey, 10);
  EXPECT_EQ(*windows.take("b", 9, {}).find(PeakScope::Program, "web"), 900);
}

TEST(MetricWindows, AFirstScrapeHasNoWindow) {
  MetricWindows windows;
  windows.note(kKey, 900);
  const PeakWindow window = windows.take("a", 7, {});
  EXPECT_EQ(window.length_ns, 0);
  EXPECT_EQ(window.find(PeakScope::Program, "web"), nullptr);
}

TEST(MetricWindows, AMarkThatRoseTellsASpikeThatNoReadingSaw) {
  MetricWindows windows;
  const std::string key = peak_key(PeakScope::Cgroup, "/a");
  windows.take("a", 0, {{key, 500}});
  windows.note(key, 100);
  EXPECT_EQ(*windows.take("a", 1, {{key, 700}}).find(PeakScope::Cgroup, "/a"),
            700);
  windows.note(key, 100);
  EXPECT_EQ(*windows.take("a", 2, {{key, 700}}).find(PeakScope::Cgroup, "/a"),
            100)
      << "an old mark tells nothing of this window";
  windows.note(key, 90);
  EXPECT_EQ(*windows.take("a", 3, {{key, 600}}).find(PeakScope::Cgroup, "/a"),
            90)
      << "a mark that somebody has reset neither";
}

TEST(MetricWindows, TheScraperThatAskedLongestAgoIsForgotten) {
  MetricWindows windows({2, 10});
  windows.take("old", 1, {});
  windows.take("a", 2, {});
  windows.take("b", 3, {});
  EXPECT_EQ(windows.scraper_count(), 2);
  windows.note(kKey, 5);
  EXPECT_EQ(windows.take("a", 9, {}).length_ns, 7);
  EXPECT_EQ(windows.take("old", 9, {}).length_ns, 0);
}

TEST(MetricWindows, TheSmallestMakesRoomForAHigherPeak) {
  MetricWindows windows({2, 2});
  windows.take("a", 0, {});
  windows.note(peak_key(PeakScope::Program, "x"), 10);
  windows.note(peak_key(PeakScope::Program, "y"), 20);
  windows.note(peak_key(PeakScope::Program, "z"), 30);
  windows.note(peak_key(PeakScope::Program, "tiny"), 1);
  const PeakWindow window = windows.take("a", 1, {});
  EXPECT_EQ(window.bytes.size(), 2);
  EXPECT_EQ(window.find(PeakScope::Program, "x"), nullptr);
  EXPECT_NE(window.find(PeakScope::Program, "z"), nullptr);
  EXPECT_EQ(window.forgotten_count, 2);
}

}  // namespace
}  // namespace tidemark::analysis
