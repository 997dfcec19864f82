// Answers scrapes in a thread of its own: reading a machine takes longer than
// the thread of a server has.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/http_server.h"
#include "base/result.h"
#include "source/roots.h"
#include "view/exchange/openmetrics.h"
#include "watch/metrics_sampler.h"

namespace tidemark::cli {

class MetricsAnswers {
 public:
  explicit MetricsAnswers(watch::MetricsSampler& sampler);
  MetricsAnswers(const MetricsAnswers&) = delete;
  MetricsAnswers& operator=(const MetricsAnswers&) = delete;
  ~MetricsAnswers();  // those that still wait are not answered

  using Tell = std::function<void(base::HttpAnswer)>;
  // `tell` is called once, on some thread.
  void ask(std::string scraper, view::MetricsFormat format, Tell tell);

 private:
  struct Waiting {
    std::string scraper;
    view::MetricsFormat format;
    Tell tell;
  };
  void work();
  base::HttpAnswer answer(const Waiting& question);

  watch::MetricsSampler& sampler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool is_ending_ = false;
  std::thread thread_;
};

// For a server that may never be scraped: nothing is read before it is.
class LazyMetrics {
 public:
  void ask(std::string scraper, view::MetricsFormat format,
           MetricsAnswers::Tell tell);

 private:
  base::Status begin();

  std::optional<source::Roots> roots_;
  std::unique_ptr<watch::MetricsSampler> sampler_;
  std::unique_ptr<MetricsAnswers> answers_;
};

}  // namespace tidemark::cli
