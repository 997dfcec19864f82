#include "cli/metrics_answers.h"

#include <utility>

#include "cli/build_info.h"
#include "view/web/routes.h"

namespace tidemark::cli {
namespace {

// Scrapers ask each few seconds: more than these have something else in mind.
constexpr size_t kMostWaiting = 32;

}  // namespace

MetricsAnswers::MetricsAnswers(watch::MetricsSampler& sampler)
    : sampler_(sampler), thread_([this] { work(); }) {}

MetricsAnswers::~MetricsAnswers() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void MetricsAnswers::ask(std::string scraper, view::MetricsFormat format,
                         Tell tell) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < kMostWaiting) {
      waiting_.push_back({std::move(scraper), format, std::move(tell)});
      changed_.notify_all();
      return;
    }
  }
  tell(view::error_answer(503, "too many scrapes wait already"));
}

base::HttpAnswer MetricsAnswers::answer(const Waiting& question) {
  base::Result<std::vector<model::MetricFamily>> families =
      sampler_.scrape(question.scraper);
  if (!families) return view::error_answer(500, families.error().what);
  base::HttpAnswer answer;
  answer.type = view::metrics_content_type(question.format);
  answer.body = view::metrics_text(*families, question.format);
  return answer;
}

void MetricsAnswers::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
    if (is_ending_) return;
    const Waiting question = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    question.tell(answer(question));
    lock.lock();
  }
}

base::Status LazyMetrics::begin() {
  base::Result<source::Roots> roots = source::open_roots("");
  if (!roots) return roots.error();
  roots_.emplace(std::move(*roots));
  watch::MetricsOptions options;
  options.version = kVersion;
  auto sampler = std::make_unique<watch::MetricsSampler>(*roots_, options);
  base::Status status = sampler->read_counters();
  if (!status) return status;
  sampler->start();
  sampler_ = std::move(sampler);
  answers_ = std::make_unique<MetricsAnswers>(*sampler_);
  return base::Ok{};
}

void LazyMetrics::ask(std::string scraper, view::MetricsFormat format,
                      MetricsAnswers::Tell tell) {
  if (!answers_) {
    base::Status status = begin();
    if (!status) return tell(view::error_answer(500, status.error().what));
  }
  answers_->ask(std::move(scraper), format, std::move(tell));
}

}  // namespace tidemark::cli
