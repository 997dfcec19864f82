// Metric families as text: OpenMetrics 1.0, or the older format of Prometheus
// (text 0.0.4), which node_exporter's textfile collector and old scrapers read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/metrics.h"

namespace tidemark::view {

enum class MetricsFormat { OpenMetrics, PrometheusText };

// By the Accept header of a scraper. OpenMetrics where it is asked for with at
// least the weight of the other; the older format for everybody else, since
// whoever names nothing may know nothing newer.
MetricsFormat choose_metrics_format(std::string_view accept);

// For the Content-Type header.
std::string_view metrics_content_type(MetricsFormat format);

std::string metrics_text(const std::vector<model::MetricFamily>& families,
                         MetricsFormat format);

// The number as both formats write it: whole numbers without an exponent.
std::string metric_number(double value);

}  // namespace tidemark::view
