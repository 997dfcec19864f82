#include "watch/top_feed.h"

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/page_size.h"
#include "source/machine_reader.h"
#include "source/process_reader.h"
#include "source/process_source.h"
#include "source/system_source.h"
#include "watch/process_maps.h"

namespace tidemark::watch {
namespace {

// What costs more than counters and changes slowly.
constexpr uint64_t kSlowNs = 5 * base::kNsPerSecond;

}  // namespace

base::Result<std::unique_ptr<TopFeed>> TopFeed::start(
    const source::Roots& roots, TopFeedOptions options) {
  base::Result<WakeUp> wake = WakeUp::make();
  if (!wake) return wake.error();
  std::unique_ptr<TopFeed> feed(
      new TopFeed(roots, std::move(options), std::move(*wake)));
  TopFeed* raw_feed = feed.get();
  feed->slow_ = std::make_unique<TopSlowReader>(roots, [raw_feed] {
    {
      const std::lock_guard<std::mutex> lock(raw_feed->mutex_);
      ++raw_feed->wishes_.news;
    }
    raw_feed->changed_.notify_one();
  });
  const AllSignalsBlocked blocked;
  feed->thread_ = std::thread([raw = feed.get()] { raw->run(); });
  return feed;
}

TopFeed::TopFeed(const source::Roots& roots, TopFeedOptions options,
                 WakeUp wake)
    : roots_(roots),
      options_(std::move(options)),
      wake_(std::move(wake)),
      source_(roots, options_.selection, options_.budget),
      digest_(options_.target, options_.users, options_.budget.period_ns) {}

TopFeed::~TopFeed() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.is_stopping = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

TopFeed::Snapshot TopFeed::take() {
  wake_.clear();
  const std::lock_guard<std::mutex> lock(mutex_);
  return newest_;
}

void TopFeed::want_maps(std::optional<model::ProcessId> process) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.maps = process;
  }
  changed_.notify_one();
}

void TopFeed::want(const analysis::TopNeeds& needs) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.timeline_of = needs.timeline_of;
  }
  changed_.notify_one();
  slow_->want(needs);
}

void TopFeed::record_to(std::string path) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.record_path = std::move(path);
  }
  changed_.notify_one();
}

void TopFeed::publish() {
  current_.slow = slow_->current();
  auto made = std::make_shared<const analysis::TopSnapshot>(current_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    newest_ = std::move(made);
  }
  wake_.raise();
}

TopFeed::Wishes TopFeed::wait_until(uint64_t monotonic_ns,
                                    const Wishes& known) {
  const uint64_t now = base::monotonic_ns();
  const uint64_t left = monotonic_ns > now ? monotonic_ns - now : 0;
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, std::chrono::nanoseconds(left),
                    [&] { return wishes_ != known; });
  return wishes_;
}

void TopFeed::start_or_stop_trace() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes_.is_tracing = !wishes_.is_tracing;
  }
  changed_.notify_one();
}

void TopFeed::name_code() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++wishes_.naming_count;
  }
  changed_.notify_one();
}

void TopFeed::serve_trace(const Wishes& wishes) {
  if (trace_ && named_count_ != wishes.naming_count) trace_->name_code();
  named_count_ = wishes.naming_count;
  if (wishes.is_tracing && !trace_) {
    base::Result<std::unique_ptr<TraceFeed>> started =
        TraceFeed::start(roots_, options_.trace, [] {});
    if (!started) {
      current_.note = started.error().what;
      return;
    }
    ended_trace_.reset();
    trace_ = std::move(*started);
  } else if (!wishes.is_tracing && trace_) {
    // What failed has told why.
    static_cast<void>(trace_->finish());
    ended_trace_ = trace_->state().trace;
    trace_.reset();
  }
  add_trace(current_);
}

void TopFeed::add_trace(analysis::TopSnapshot& snapshot) {
  snapshot.trace = ended_trace_;
  snapshot.tracing =
      ended_trace_ ? analysis::Tracing::Ended : analysis::Tracing::None;
  if (!trace_) return;
  TraceFeed::State state = trace_->state();
  snapshot.trace = std::move(state.trace);
  snapshot.tracing = state.tracing;
  if (!state.note.empty()) snapshot.note = std::move(state.note);
  if (state.tracing != analysis::Tracing::Ended) return;
  // It could not be started, or failed: the key begins another.
  ended_trace_ = snapshot.trace;
  if (!ended_trace_) snapshot.tracing = analysis::Tracing::None;
  trace_.reset();
  const std::lock_guard<std::mutex> lock(mutex_);
  wishes_.is_tracing = false;
}

void TopFeed::read_kernel() {
  const uint64_t now = base::monotonic_ns();
  if (kernel_read_ns_ != 0 && now < kernel_read_ns_ + kSlowNs) return;
  kernel_read_ns_ = now;
  model::Sample sample;
  base::Status status = source::SystemSource(roots_).collect(sample);
  if (status && sample.kernel) digest_.set_kernel(std::move(*sample.kernel));
}

void TopFeed::serve_maps(const Wishes& wishes) {
  const uint64_t now = base::monotonic_ns();
  if (!wishes.maps) {
    maps_of_.reset();
    current_.maps.reset();
    current_.maps_failure.clear();
    return;
  }
  if (maps_of_ == wishes.maps && now < maps_read_ns_ + kSlowNs) return;
  maps_of_ = wishes.maps;
  maps_read_ns_ = now;
  base::Result<analysis::MapsReport> report =
      read_process_maps(roots_, *wishes.maps, analysis::MapsSort::Pss);
  current_.maps_failure = report ? "" : report.error().what;
  if (report) {
    current_.maps =
        std::make_shared<const analysis::MapsReport>(std::move(*report));
  }
}

void TopFeed::serve_recording(const Wishes& wishes) {
  if (recorded_path_ == wishes.record_path) return;
  if (recorder_) {
    base::Status finished = recorder_->end();
    current_.note =
        finished ? "recorded to " + recorded_path_ : finished.error().what;
    recorder_.reset();
    current_.recording.reset();
  }
  recorded_path_ = wishes.record_path;
  if (recorded_path_.empty()) return;
  base::Result<std::unique_ptr<TopRecorder>> made =
      TopRecorder::begin(recorded_path_, options_.recording_info);
  if (!made) {
    current_.note = made.error().what;
    return;
  }
  recorder_ = std::move(*made);
  current_.recording = analysis::TopRecording{recorded_path_, 0};
}

// Into a sample that goes to the disk afterwards, or into our own.
base::Status TopFeed::collect(const Ticker::Tick& tick) {
  std::unique_ptr<model::Sample> lent;
  if (recorder_) {
    recorder_->note_missed(tick, options_.budget.period_ns);
    lent = recorder_->borrow(tick.due_ns);
  }
  model::Sample& sample = lent ? *lent : sample_;
  base::Status status = source_.collect(sample);
  if (!status) {
    if (lent) recorder_->give_back(std::move(lent));
    return status;
  }
  read_kernel();
  std::string note = std::move(current_.note);
  analysis::TopSnapshot made = digest_.digest(sample);
  made.has_all_processes = options_.selection.everything;
  made.maps = std::move(current_.maps);
  made.maps_failure = std::move(current_.maps_failure);
  made.note = std::move(note);
  current_ = std::move(made);
  if (lent) recorder_->give(std::move(lent));
  return base::Ok{};
}

void TopFeed::tick(const Ticker::Tick& tick, const Wishes& wishes) {
  digest_.follow(wishes.timeline_of);
  base::Status status = collect(tick);
  if (!status) {
    current_.note = status.error().what;
    publish();
    return;
  }
  if (recorder_) {
    current_.recording =
        analysis::TopRecording{recorded_path_, recorder_->file_bytes()};
    const std::string trouble = recorder_->trouble();
    if (!trouble.empty()) current_.note = trouble;
  }
  add_trace(current_);
  cost_.add_to(roots_, current_);
  serve_maps(wishes);
  publish();
}

void TopFeed::run() {
  Ticker ticker(base::monotonic_ns(), options_.budget.period_ns);
  Wishes wishes;
  while (!wishes.is_stopping) {
    const Ticker::Tick next = ticker.next(base::monotonic_ns());
    while (!wishes.is_stopping && base::monotonic_ns() < next.due_ns) {
      const Wishes before = wishes;
      wishes = wait_until(next.due_ns, before);
      if (wishes == before || wishes.is_stopping) continue;
      serve_recording(wishes);
      serve_maps(wishes);
      serve_trace(wishes);
      publish();
    }
    if (!wishes.is_stopping) tick(next, wishes);
  }
  serve_recording({});
}

}  // namespace tidemark::watch
