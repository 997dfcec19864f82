#include "cli/metrics_push.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "cli/token_file.h"
#include "view/exchange/remote_write.h"

namespace tidemark::cli {
namespace {

using base::kNsPerSecond;
using model::MetricFamily;
using model::MetricLabel;

constexpr uint64_t kAnswerNs = 10 * kNsPerSecond;
constexpr uint64_t kFirstPauseNs = kNsPerSecond;
constexpr uint64_t kLongestPauseNs = 30 * kNsPerSecond;

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

// As a scrape would name them.
std::vector<MetricLabel> labels_with_defaults(std::vector<MetricLabel> given) {
  const MetricLabel defaults[] = {{"instance", host_name()},
                                  {"job", "tidemark"}};
  for (const MetricLabel& label : defaults) {
    if (std::ranges::find(given, label.name, &MetricLabel::name) ==
        given.end()) {
      given.push_back(label);
    }
  }
  return given;
}

MetricFamily push_family(const char* name, std::string_view unit,
                         std::string_view help, bool is_counter) {
  return {name,
          is_counter ? model::MetricType::Counter : model::MetricType::Gauge,
          unit,
          help,
          {}};
}

// 429 asks for patience; the other 4xx will not get better by waiting.
bool is_worth_retrying(unsigned status) {
  constexpr unsigned kTooMany = 429;
  return status >= 500 || status == kTooMany;
}

}  // namespace

MetricsPush::MetricsPush(const MetricsCommandOptions& options,
                         watch::MetricsSampler& sampler,
                         base::PushTarget target, store::PushQueue queue)
    : options_(options),
      sampler_(sampler),
      target_(std::move(target)),
      labels_(labels_with_defaults(options.labels)),
      queue_(std::move(queue)) {}

base::Result<std::unique_ptr<MetricsPush>> MetricsPush::make(
    const MetricsCommandOptions& options, watch::MetricsSampler& sampler) {
  base::Result<base::PushTarget> target =
      base::parse_push_target(options.push_url);
  if (!target) return target.error();
  std::string token;
  if (!options.push_token_path.empty()) {
    base::Result<std::string> read = read_token(options.push_token_path);
    if (!read) return read.error();
    token = std::move(*read);
  }
  base::Result<store::PushQueue> queue =
      store::PushQueue::open(options.queue_path, options.queue_bytes);
  if (!queue) return queue.error();
  auto push = std::unique_ptr<MetricsPush>(
      new MetricsPush(options, sampler, std::move(*target), std::move(*queue)));
  push->token_ = std::move(token);
  return push;
}

MetricsPush::~MetricsPush() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  reader_.reset();
  if (sender_.joinable()) sender_.join();
}

void MetricsPush::start() {
  reader_ = std::make_unique<watch::PeriodicThread>(
      watch::PeriodicOptions{options_.interval_ns, 1, true}, [this] {
        base::Status status = store_reading();
        if (!status) say_once(status.error());
        changed_.notify_all();
      });
  sender_ = std::thread([this] { send_until_end(); });
}

void MetricsPush::add_own(std::vector<MetricFamily>& families) {
  const std::lock_guard lock(mutex_);
  MetricFamily waiting = push_family("tidemark_push_queue_bytes", "bytes",
                                     "What waits to be sent.", false);
  waiting.samples.push_back({{}, static_cast<double>(queue_.bytes())});
  families.push_back(std::move(waiting));
  MetricFamily batches = push_family("tidemark_push_batches_total", "",
                                     "Readings by what became of them, and "
                                     "tries that failed.",
                                     true);
  const std::pair<const char*, uint64_t> counts[] = {
      {"sent", counts_.sent},
      {"refused", counts_.refused},
      {"unstored", counts_.unstored},
      {"failed_try", counts_.failed_tries},
  };
  for (const auto& [result, count] : counts) {
    batches.samples.push_back(
        {{{"result", result}}, static_cast<double>(count)});
  }
  families.push_back(std::move(batches));
}

base::Status MetricsPush::store_reading() {
  const uint64_t realtime = base::realtime_ns();
  base::Result<std::vector<MetricFamily>> families = sampler_.scrape("push");
  if (!families) return families.error();
  add_own(*families);
  const std::string batch =
      view::remote_write_request(*families, labels_, realtime);
  const std::lock_guard lock(mutex_);
  base::Status status = queue_.append(batch);
  if (!status) ++counts_.unstored;
  return status;
}

MetricsPush::Sent MetricsPush::send(const std::string& batch,
                                    base::Error& why) {
  std::vector<std::pair<std::string, std::string>> headers = {
      {"User-Agent", "tidemark"},
      {"Content-Type", "application/x-protobuf"},
      {"Content-Encoding", "snappy"},
      {"X-Prometheus-Remote-Write-Version", "0.1.0"},
  };
  if (!token_.empty())
    headers.emplace_back("Authorization", "Bearer " + token_);
  base::Result<base::HttpAnswer> answer = base::http_post(
      target_, headers, batch, base::monotonic_ns() + kAnswerNs);
  if (!answer) {
    why = answer.error();
    return Sent::Later;
  }
  constexpr unsigned kFirstError = 300;
  if (answer->status < kFirstError) return Sent::Taken;
  why = base::fail(base::ErrorKind::System,
                   target_.authority() + " answers " +
                       std::to_string(answer->status) + ": " +
                       answer->body.substr(0, answer->body.find('\n')));
  return is_worth_retrying(answer->status) ? Sent::Later : Sent::Refused;
}

// What is wrong is told when it begins and when it is over, not each time.
void MetricsPush::say_once(const base::Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (last_complaint_ == error.what) return;
    last_complaint_ = error.what;
  }
  print_error(error);
}

bool MetricsPush::pause(uint64_t ns) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::nanoseconds(ns),
                    [this] { return is_ending_; });
  return !is_ending_;
}

// The next batch, once there is one; nothing at the end.
std::optional<store::QueuedBatch> MetricsPush::next_batch() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [this] { return is_ending_ || queue_.batch_count() > 0; });
  if (is_ending_) return std::nullopt;
  base::Result<std::optional<store::QueuedBatch>> batch = queue_.front();
  return batch ? *batch : std::nullopt;
}

base::Status MetricsPush::settle(int64_t id, Sent sent) {
  const std::lock_guard lock(mutex_);
  base::Status status = queue_.remove(id);
  if (!status) return status;
  ++(sent == Sent::Taken ? counts_.sent : counts_.refused);
  if (sent == Sent::Taken) last_complaint_.clear();
  return base::Ok{};
}

void MetricsPush::send_until_end() {
  uint64_t pause_ns = kFirstPauseNs;
  while (true) {
    const std::optional<store::QueuedBatch> batch = next_batch();
    if (!batch) {
      // The end, or a queue that cannot be read now.
      if (!pause(kFirstPauseNs)) return;
      continue;
    }
    base::Error why;
    const Sent sent = send(batch->bytes, why);
    if (sent != Sent::Taken) say_once(why);
    if (sent == Sent::Later) {
      {
        const std::lock_guard lock(mutex_);
        ++counts_.failed_tries;
      }
      if (!pause(pause_ns)) return;
      pause_ns = std::min(2 * pause_ns, kLongestPauseNs);
      continue;
    }
    pause_ns = kFirstPauseNs;
    base::Status status = settle(batch->id, sent);
    if (!status) {
      // It will be sent again: receivers take the same sample twice.
      say_once(status.error());
      if (!pause(kFirstPauseNs)) return;
    }
  }
}

base::Status MetricsPush::push_once() {
  base::Status status = store_reading();
  if (!status) return status;
  while (queue_.batch_count() > 0) {
    const std::optional<store::QueuedBatch> batch = next_batch();
    if (!batch) return base::fail(base::ErrorKind::System, "no queue");
    base::Error why;
    const Sent sent = send(batch->bytes, why);
    if (sent == Sent::Later) return why;
    status = settle(batch->id, sent);
    if (!status) return status;
    if (sent == Sent::Refused) return why;
  }
  return base::Ok{};
}

}  // namespace tidemark::cli
