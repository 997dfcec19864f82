#include "watch/record_watch.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "watch/writer_thread.h"

namespace tidemark::watch {
namespace {

class RecordLoop {
 public:
  RecordLoop(RecordSource& source, WriterThread& writer,
             const LoopOptions& options, const RecordHooks& hooks)
      : source_(source), writer_(writer), options_(options), hooks_(hooks) {}

  base::Result<RecordResult> run() {
    start_ns_ = hooks_.now_ns();
    start_cpu_ns_ = base::own_cpu_ns();
    Ticker ticker(start_ns_, options_.period_ns, options_.duration_ns);
    uint64_t tick_count = 0;
    while (!ticker.is_over() &&
           (!options_.count || tick_count < *options_.count)) {
      const Ticker::Tick tick = ticker.next(hooks_.now_ns());
      note_missed(tick);
      base::Result<bool> goes_on = take_tick(tick.due_ns);
      if (!goes_on) return goes_on.error();
      if (!*goes_on) break;
      ++tick_count;
    }
    return result_;
  }

  // The end of what is added. Processes are looked at once more; where those
  // that were chosen are gone nobody knows what the others do. Should that
  // sample fall on a base, their counters are unknown in it.
  base::Status take_last() {
    if (!hooks_.add_last || writer_.failure()) return base::Ok{};
    auto sample = std::make_unique<model::Sample>();
    base::Status status = source_.collect(*sample);
    if (!status && status.error().kind != base::ErrorKind::Gone) return status;
    if (!status) {
      sample->has_processes = false;
      sample->processes.clear();
      sample->cgroups.clear();
    }
    status = hooks_.add_last(*sample);
    if (!status) return status;
    sample->ended_monotonic_ns = base::monotonic_ns();
    sample->missed_before = std::exchange(missed_, {});
    sample->own_cpu_ns = base::own_cpu_ns() - start_cpu_ns_;
    writer_.give(std::move(sample));
    ++result_.last.sample_count;
    return base::Ok{};
  }

  uint64_t sample_count() const { return result_.last.sample_count; }

  // Since the last sample.
  std::vector<model::MissedTick> take_missed() {
    return std::exchange(missed_, {});
  }

 private:
  void note_missed(const Ticker::Tick& tick) {
    result_.last.missed_count += tick.missed_count;
    for (model::MissedTick& missed : missed_ticks(tick, options_.period_ns))
      missed_.push_back(std::move(missed));
  }

  void miss(uint64_t due_ns, uint64_t count, std::string because) {
    missed_.push_back({due_ns, count, std::move(because)});
  }

  // False when there is nothing more to come.
  base::Result<bool> take_tick(uint64_t due_ns) {
    WaitEnd end = hooks_.wait_until(due_ns);
    while (end == WaitEnd::Wake) {
      source_.expect_new_high();
      base::Result<bool> goes_on = take_sample(due_ns);
      if (!goes_on || !*goes_on) return goes_on;
      end = hooks_.wait_until(due_ns);
    }
    if (end == WaitEnd::Stop) {
      result_.end = LoopEnd::Stopped;
      return false;
    }
    return take_sample(due_ns);
  }

  base::Result<bool> take_sample(uint64_t due_ns) {
    if (std::optional<base::Error> failure = writer_.failure()) return *failure;
    std::unique_ptr<model::Sample> sample = writer_.borrow();
    if (!sample) {
      miss(due_ns, 1, "the disk is too slow");
      ++result_.last.missed_count;
      return true;
    }
    base::Status status = source_.collect(*sample);
    if (!status) {
      writer_.give_back(std::move(sample));
      if (status.error().kind != base::ErrorKind::Gone) return status.error();
      result_.end = LoopEnd::TargetGone;
      return false;
    }
    if (hooks_.add) status = hooks_.add(*sample);
    if (!status) {
      writer_.give_back(std::move(sample));
      return status.error();
    }
    if (hooks_.add) sample->ended_monotonic_ns = base::monotonic_ns();
    const uint64_t cost_ns =
        sample->ended_monotonic_ns - sample->started_monotonic_ns;
    sample->missed_before = std::exchange(missed_, {});
    sample->own_cpu_ns = base::own_cpu_ns() - start_cpu_ns_;
    if (hooks_.read) hooks_.read(*sample);
    writer_.give(std::move(sample));
    ++result_.last.sample_count;
    tell(cost_ns);
    return true;
  }

  void tell(uint64_t cost_ns) {
    RecordProgress& last = result_.last;
    last.elapsed_ns = hooks_.now_ns() - start_ns_;
    last.cpu_ns = base::own_cpu_ns() - start_cpu_ns_;
    last.read_ns += cost_ns;
    last.peak_pss_bytes = std::max(last.peak_pss_bytes, source_.pss_bytes());
    last.is_paused = writer_.is_paused();
    if (hooks_.sampled) hooks_.sampled(cost_ns);
    if (hooks_.progress) hooks_.progress(last);
  }

  RecordSource& source_;
  WriterThread& writer_;
  const LoopOptions& options_;
  const RecordHooks& hooks_;
  RecordResult result_;
  std::vector<model::MissedTick> missed_;
  uint64_t start_ns_ = 0;
  uint64_t start_cpu_ns_ = 0;
};

}  // namespace

base::Result<RecordResult> record(RecordSource& source, model::Sink& sink,
                                  const LoopOptions& options,
                                  const RecordHooks& hooks) {
  WriterThread writer(sink);
  RecordLoop loop(source, writer, options, hooks);
  base::Result<RecordResult> result = loop.run();
  base::Status last = loop.take_last();
  if (result) result->last.sample_count = loop.sample_count();
  base::Status stopped = writer.stop(loop.take_missed());
  if (result && !last) return last.error();
  if (result && !stopped) return stopped.error();
  return result;
}

}  // namespace tidemark::watch
