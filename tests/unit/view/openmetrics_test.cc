#include "view/exchange/openmetrics.h"

#include <gtest/gtest.h>

namespace tidemark::view {
namespace {

using model::MetricFamily;
using model::MetricType;

std::vector<MetricFamily> two_families() {
  MetricFamily bytes{"a_bytes", MetricType::Gauge, "bytes", "What it is.", {}};
  bytes.samples = {{{{"name", "a\"b\\c\nd"}, {"measure", "pss"}}, 4096},
                   {{}, -1.5}};
  MetricFamily count{
      "a_wait_seconds_total", MetricType::Counter, "seconds", "Waits.", {}};
  count.samples = {{{}, 17179869184.0}};
  return {bytes, count};
}

TEST(OpenMetrics, IsWrittenAsTheStandardHasIt) {
  EXPECT_EQ(metrics_text(two_families(), MetricsFormat::OpenMetrics),
            "# HELP a_bytes What it is.\n"
            "# TYPE a_bytes gauge\n"
            "# UNIT a_bytes bytes\n"
            "a_bytes{name=\"a\\\"b\\\\c\\nd\",measure=\"pss\"} 4096\n"
            "a_bytes -1.5\n"
            "# HELP a_wait_seconds Waits.\n"
            "# TYPE a_wait_seconds counter\n"
            "# UNIT a_wait_seconds seconds\n"
            "a_wait_seconds_total 17179869184\n"
            "# EOF\n");
}

TEST(OpenMetrics, TheOlderTextHasNoUnitAndNoEnd) {
  const std::string text =
      metrics_text(two_families(), MetricsFormat::PrometheusText);
  EXPECT_EQ(text.find("UNIT"), std::string::npos);
  EXPECT_EQ(text.find("EOF"), std::string::npos);
  EXPECT_NE(text.find("# TYPE a_wait_seconds_total counter\n"),
            std::string::npos);
}

TEST(OpenMetrics, IsGivenToWhoAsksForIt) {
  const auto format = [](const char* accept) {
    return choose_metrics_format(accept);
  };
  EXPECT_EQ(format("application/openmetrics-text;version=1.0.0,"
                   "application/openmetrics-text;version=0.0.1;q=0.75,"
                   "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            MetricsFormat::OpenMetrics)
      << "as Prometheus 2.42 asks";
  EXPECT_EQ(format("text/plain, application/openmetrics-text;q=0.5"),
            MetricsFormat::PrometheusText);
  EXPECT_EQ(format("application/openmetrics-text;q=0"),
            MetricsFormat::PrometheusText);
  EXPECT_EQ(format("*/*"), MetricsFormat::PrometheusText);
  EXPECT_EQ(format(""), MetricsFormat::PrometheusText);
}

TEST(OpenMetrics, NumbersAreWholeWhereTheyCanBe) {
  EXPECT_EQ(metric_number(0), "0");
  EXPECT_EQ(metric_number(25769803776.0), "25769803776");
  EXPECT_EQ(metric_number(0.0123), "0.0123");
}

}  // namespace
}  // namespace tidemark::view
