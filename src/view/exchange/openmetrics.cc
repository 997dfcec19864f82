#include "view/exchange/openmetrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace tidemark::view {
namespace {

using model::MetricFamily;
using model::MetricLabel;
using model::MetricType;

constexpr std::string_view kTotal = "_total";

std::string escaped(std::string_view text, bool is_label) {
  std::string safe;
  safe.reserve(text.size());
  for (char letter : text) {
    if (letter == '\\') {
      safe += "\\\\";
    } else if (letter == '\n') {
      safe += "\\n";
    } else if (letter == '"' && is_label) {
      safe += "\\\"";
    } else {
      safe += letter;
    }
  }
  return safe;
}

// OpenMetrics names a counter without its suffix; the older text with it.
std::string_view family_name(const MetricFamily& family, MetricsFormat format) {
  std::string_view name = family.name;
  if (format == MetricsFormat::OpenMetrics &&
      family.type == MetricType::Counter && name.ends_with(kTotal)) {
    name.remove_suffix(kTotal.size());
  }
  return name;
}

void add_head(const MetricFamily& family, MetricsFormat format,
              std::string& text) {
  const std::string_view name = family_name(family, format);
  const bool is_counter = family.type == MetricType::Counter;
  text +=
      fmt::format("# HELP {} {}\n# TYPE {} {}\n", name,
                  escaped(family.help, format == MetricsFormat::OpenMetrics),
                  name, is_counter ? "counter" : "gauge");
  if (format == MetricsFormat::OpenMetrics && !family.unit.empty()) {
    text += fmt::format("# UNIT {} {}\n", name, family.unit);
  }
}

void add_labels(const std::vector<MetricLabel>& labels, std::string& text) {
  if (labels.empty()) return;
  char before = '{';
  for (const MetricLabel& label : labels) {
    text += before;
    text += label.name;
    text += "=\"";
    text += escaped(label.value, true);
    text += '"';
    before = ',';
  }
  text += '}';
}

// The q of one part of an Accept header; 1 when it has none, 0 when it is
// no number.
double weight_of(std::string_view parameters) {
  for (std::string_view one : base::split(parameters, ';')) {
    one = base::trim(one);
    if (!one.starts_with("q=")) continue;
    one.remove_prefix(2);
    double weight = 0;
    std::from_chars(one.data(), one.data() + one.size(), weight);
    return weight;
  }
  return 1;
}

}  // namespace

MetricsFormat choose_metrics_format(std::string_view accept) {
  double open = 0;
  double plain = 0;
  for (std::string_view part : base::split(accept, ',')) {
    std::string_view rest = base::trim(part);
    const std::string_view type = base::trim(base::take_until(rest, ';'));
    if (type == "application/openmetrics-text") {
      open = std::max(open, weight_of(rest));
    } else if (type == "text/plain") {
      plain = std::max(plain, weight_of(rest));
    }
  }
  return open > 0 && open >= plain ? MetricsFormat::OpenMetrics
                                   : MetricsFormat::PrometheusText;
}

std::string_view metrics_content_type(MetricsFormat format) {
  return format == MetricsFormat::OpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string metric_number(double value) {
  // Up to here doubles hold every whole number.
  constexpr double kExact = 9007199254740992.0;
  if (std::floor(value) == value && std::abs(value) <= kExact) {
    return std::to_string(static_cast<int64_t>(value));
  }
  return fmt::format("{}", value);
}

std::string metrics_text(const std::vector<MetricFamily>& families,
                         MetricsFormat format) {
  std::string text;
  for (const MetricFamily& family : families) {
    add_head(family, format, text);
    for (const model::MetricSample& sample : family.samples) {
      text += family.name;
      add_labels(sample.labels, text);
      text += ' ';
      text += metric_number(sample.value);
      text += '\n';
    }
  }
  if (format == MetricsFormat::OpenMetrics) text += "# EOF\n";
  return text;
}

}  // namespace tidemark::view
