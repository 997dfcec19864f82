// What `metrics` can be told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "model/metrics.h"
#include "view/exchange/openmetrics.h"
#include "watch/metrics_sampler.h"

namespace tidemark::cli {

struct MetricsCommandOptions {
  CommonOptions common;
  watch::MetricsOptions sampling;
  std::string listen;
  bool allows_remote = false;
  std::string token_path;
  std::string textfile;
  std::string push_url;
  std::string push_token_path;
  std::string queue_path;
  uint64_t queue_bytes = uint64_t{64} << 20;
  uint64_t interval_ns = uint64_t{15} * 1'000'000'000;
  std::vector<model::MetricLabel> labels;
  std::optional<view::MetricsFormat> format;  // of what is printed
  bool once = false;
  bool with_trace = false;
};

void add_metrics_options(OptionTable& table, MetricsCommandOptions& options);

// What contradicts itself, or lacks a part.
base::Status check_metrics_options(const MetricsCommandOptions& options);

}  // namespace tidemark::cli
