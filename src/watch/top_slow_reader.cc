#include "watch/top_slow_reader.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "analysis/top_history.h"
#include "base/clock.h"
#include "source/object_source.h"
#include "watch/ledger_reader.h"
#include "watch/top_supply.h"

namespace tidemark::watch {
namespace {

// A reading is not repeated before so many times its cost have passed: one per
// cent of a core.
constexpr uint64_t kRestFactor = 100;
constexpr uint64_t kObjectsNs = 5 * base::kNsPerSecond;
constexpr uint64_t kShownVmsNs = 2 * base::kNsPerSecond;
constexpr uint64_t kHiddenVmsNs = 10 * base::kNsPerSecond;
// Who marks several processes wants the sum of all of them, not of each step.
constexpr uint64_t kMarkingNs = base::kNsPerSecond / 2;
// Names of files are asked for one by one, and the screen has room for few.
constexpr size_t kNamedFiles = 500;

template <typename T>
uint64_t next_ns(const analysis::SlowReading<T>& reading, uint64_t period_ns) {
  if (reading.read_ns == 0) return 0;
  return reading.read_ns + std::max(period_ns, kRestFactor * reading.cost_ns);
}

}  // namespace

TopSlowReader::TopSlowReader(const source::Roots& roots,
                             std::function<void()> news)
    : roots_(roots), news_(std::move(news)) {
  const AllSignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

TopSlowReader::~TopSlowReader() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void TopSlowReader::want(const analysis::TopNeeds& needs) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    needs_ = needs;
  }
  changed_.notify_one();
}

analysis::TopSlow TopSlowReader::current() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return slow_;
}

// Only this thread changes `slow_`, so it may look at it without the lock.
template <typename T, typename Read>
void TopSlowReader::update(analysis::SlowReading<T> analysis::TopSlow::*reading,
                           const Read& read) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    (slow_.*reading).is_under_way = true;
  }
  news_();
  const uint64_t started = base::monotonic_ns();
  base::Result<T> result = read();
  const uint64_t ended = base::monotonic_ns();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    analysis::SlowReading<T>& kept = slow_.*reading;
    kept.is_under_way = false;
    kept.read_ns = ended;
    kept.cost_ns = ended - started;
    kept.failure = result ? "" : result.error().what;
    if (result) kept.value = std::make_shared<const T>(std::move(*result));
  }
  // What a reading took goes back to the system: it may be twice what all else
  // of `top` takes.
  ::malloc_trim(0);
  news_();
}

base::Result<analysis::ObjectReport> TopSlowReader::read_objects() {
  base::Result<model::ObjectScan> scan = source::scan_objects(roots_, {});
  if (!scan) return scan.error();
  return analysis::make_object_report(*scan, {});
}

// A monitor may speak to one client alone: guests are asked only once somebody
// has opened the view.
base::Result<analysis::TopVms> TopSlowReader::read_vms(bool asks_guests) {
  if (!vm_source_ || asks_guests != asks_guests_) {
    source::VmScanOptions options;
    options.asks_guests = asks_guests;
    options.patience_ns = base::kNsPerSecond;
    vm_source_ = std::make_unique<source::VmSource>(roots_, options);
    asks_guests_ = asks_guests;
  }
  base::Result<model::VmScan> scan = vm_source_->scan();
  if (!scan) return scan.error();
  analysis::TopVms vms;
  vms.report = analysis::make_vm_report(std::move(*scan), vm_history_);
  vms.has_any =
      !vms.report.rows.empty() || (slow_.vms.value && slow_.vms.value->has_any);
  analysis::add_vm_points(vms.report, base::monotonic_ns(),
                          analysis::kTopHistoryNs, vm_points_);
  vms.history = vm_points_;
  return vms;
}

base::Result<analysis::TopLedger> TopSlowReader::read_ledger(
    analysis::LedgerBy by) {
  LedgerOptions options;
  options.by = by;
  options.named_file_count = kNamedFiles;
  options.is_unwanted = &is_stopping_;
  base::Result<LedgerReading> reading = watch::read_ledger(roots_, options);
  if (!reading) return reading.error();
  return analysis::make_top_ledger(reading->ledger, by);
}

base::Result<analysis::TopComeBack> TopSlowReader::read_come_back(
    const std::vector<model::ProcessId>& ending) {
  LedgerOptions options;
  options.by = analysis::LedgerBy::Process;
  options.is_unwanted = &is_stopping_;
  for (const model::ProcessId& process : ending)
    options.dying_pids.push_back(process.pid);
  base::Result<LedgerReading> reading = watch::read_ledger(roots_, options);
  if (!reading) return reading.error();
  return analysis::TopComeBack{ending, *reading->what_if};
}

TopSlowReader::Due TopSlowReader::objects_due(
    const analysis::TopNeeds& needs) const {
  if (!needs.objects) return std::nullopt;
  if (needs.object_recounts != served_.object_recounts) return 0;
  return next_ns(slow_.objects, kObjectsNs);
}

TopSlowReader::Due TopSlowReader::vms_due(
    const analysis::TopNeeds& needs) const {
  if (needs.vms && !asks_guests_) return 0;
  return next_ns(slow_.vms, needs.vms ? kShownVmsNs : kHiddenVmsNs);
}

TopSlowReader::Due TopSlowReader::ledger_due(
    const analysis::TopNeeds& needs) const {
  if (!needs.ledger) return std::nullopt;
  const bool is_served = has_ledger_ && needs.ledger_by == served_.ledger_by &&
                         needs.ledger_recounts == served_.ledger_recounts;
  return is_served ? std::nullopt : Due(0);
}

TopSlowReader::Due TopSlowReader::come_back_due(
    const analysis::TopNeeds& needs) const {
  if (needs.ending.empty() || needs.ending == served_.ending)
    return std::nullopt;
  return needs_since_ns_ + kMarkingNs;
}

bool TopSlowReader::read_one(const analysis::TopNeeds& needs) {
  const uint64_t now = base::monotonic_ns();
  const auto is_now = [&](const Due& due) { return due && *due <= now; };
  if (is_now(objects_due(needs))) {
    served_.object_recounts = needs.object_recounts;
    update(&analysis::TopSlow::objects, [&] { return read_objects(); });
    return true;
  }
  if (is_now(ledger_due(needs))) {
    served_.ledger_by = needs.ledger_by;
    served_.ledger_recounts = needs.ledger_recounts;
    has_ledger_ = true;
    update(&analysis::TopSlow::ledger,
           [&] { return read_ledger(needs.ledger_by); });
    return true;
  }
  if (is_now(come_back_due(needs))) {
    served_.ending = needs.ending;
    update(&analysis::TopSlow::come_back,
           [&] { return read_come_back(needs.ending); });
    return true;
  }
  if (!is_now(vms_due(needs))) return false;
  const bool asks = needs.vms || asks_guests_;
  update(&analysis::TopSlow::vms, [&] { return read_vms(asks); });
  return true;
}

TopSlowReader::Due TopSlowReader::next_due(
    const analysis::TopNeeds& needs) const {
  Due first;
  for (const Due& due : {objects_due(needs), vms_due(needs), ledger_due(needs),
                         come_back_due(needs)}) {
    if (due && (!first || *due < *first)) first = due;
  }
  return first;
}

void TopSlowReader::run() {
  analysis::TopNeeds known;
  while (true) {
    const bool has_read = read_one(known);
    const Due next = next_due(known);
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_new = [&] { return is_stopping_ || needs_ != known; };
    const uint64_t now = base::monotonic_ns();
    if (!has_read && next && *next > now) {
      changed_.wait_for(lock, std::chrono::nanoseconds(*next - now), is_new);
    } else if (!has_read && !next) {
      changed_.wait(lock, is_new);
    }
    if (is_stopping_) return;
    if (needs_.ending != known.ending) needs_since_ns_ = base::monotonic_ns();
    known = needs_;
  }
}

}  // namespace tidemark::watch
