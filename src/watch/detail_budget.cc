#include "watch/detail_budget.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/units.h"

namespace tidemark::watch {
namespace {

using model::DetailTier;

constexpr uint64_t kPageBytes = 4096;
// Measured: 9 to 50 for a page, and a mapping's line. The first is what holds
// until a reading of enough pages has told this machine's.
constexpr double kUsualNsPerPage = 25;
constexpr double kTellingPages = 4096;
constexpr uint64_t kNsPerMapping = 1500;
constexpr uint64_t kGuessedMappings = 100;

// Growth that is worth a look out of turn.
constexpr uint64_t kGrowthBytes = uint64_t{1} << 20;
constexpr uint64_t kGrowthShare = 16;

// What one target may cost that is read in full at each tick.
constexpr double kWholeShare = 0.1;

// A reading that stalls N times as long as is allowed is made each N times so
// long: 40 ms once a minute.
constexpr uint64_t kPauseNs = 8'000'000'000;

// Every process is read again within this time, at whatever cost.
constexpr uint64_t kLongestPauseNs = 60'000'000'000;
constexpr uint32_t kLeastLargestStep = 16;

constexpr uint64_t kPlanTicks = 16;
constexpr double kCreditSeconds = 10;

constexpr double kNsPerSecond = 1e9;

double pages_in(uint64_t bytes) {
  const uint64_t pages = bytes / kPageBytes;
  return static_cast<double>(pages);
}

uint64_t grown_bytes(const DetailState& state) {
  return state.resident_bytes -
         std::min(state.resident_bytes, state.detail_resident_bytes);
}

}  // namespace

std::string budget_words(const BudgetOptions& options) {
  if (!options.is_limited) return "none";
  const double percent = options.core_share * 100;
  std::string share = std::to_string(percent);
  share.erase(share.find_last_not_of('0') + 1);
  if (share.ends_with('.')) share.pop_back();
  return (options.prefers_whole ? "in full up to 10 %, else " : "") + share +
         " % of a core, stalls " +
         (options.allows_stall
              ? "allowed"
              : "up to " + base::long_duration(options.stall_ns));
}

DetailBudget::DetailBudget(const BudgetOptions& options) : options_(options) {
  // A second's worth to begin with: the first tick reads everything.
  credit_ns_ = options_.core_share * kNsPerSecond;
}

// The first tick is not charged: it reads everything, and much of what it costs
// is our own beginning. On a slow machine that was more than is earned in a
// minute.
void DetailBudget::begin_tick(uint64_t now_ns, uint64_t own_cpu_ns) {
  if (tick_index_ > 1) {
    const auto spent = static_cast<double>(own_cpu_ns - last_cpu_ns_);
    credit_ns_ +=
        options_.core_share * static_cast<double>(now_ns - now_ns_) - spent;
    credit_ns_ = std::min(credit_ns_,
                          options_.core_share * kCreditSeconds * kNsPerSecond);
    // What was allowed is no debt.
    if (is_whole_) credit_ns_ = std::max(credit_ns_, 0.0);
    const double other =
        std::max(0.0, spent - static_cast<double>(detail_cost_ns_));
    constexpr double kWeight = 0.2;
    other_cost_ns_ += kWeight * (other - other_cost_ns_);
  }
  now_ns_ = now_ns;
  last_cpu_ns_ = own_cpu_ns;
  detail_cost_ns_ = 0;
  ++tick_index_;
}

uint32_t DetailBudget::largest_step() const {
  const uint64_t ticks =
      kLongestPauseNs / std::max<uint64_t>(options_.period_ns, 1);
  const auto step = static_cast<uint32_t>(
      std::clamp<uint64_t>(ticks, kLeastLargestStep, 1U << 16));
  return std::bit_floor(step);
}

double DetailBudget::ns_for(uint64_t bytes) const {
  return pages_in(bytes) * ns_per_page_.value_or(kUsualNsPerPage);
}

// Before its mappings are known all of it may be one, and what has come since
// may be of the largest.
uint64_t DetailBudget::predicted_hold_ns(const DetailState& state) const {
  uint64_t bytes = state.resident_bytes;
  if (state.largest_bytes) {
    bytes = std::min(bytes, *state.largest_bytes + grown_bytes(state));
  }
  return static_cast<uint64_t>(ns_for(bytes));
}

uint64_t DetailBudget::full_cost_of(const DetailState& state) const {
  if (state.full_cost_ns > 0) {
    return state.full_cost_ns +
           static_cast<uint64_t>(ns_for(grown_bytes(state)));
  }
  const uint64_t mappings =
      state.mapping_count > 0 ? state.mapping_count : kGuessedMappings;
  return mappings * kNsPerMapping +
         static_cast<uint64_t>(ns_for(state.resident_bytes));
}

uint64_t DetailBudget::cost_of(const DetailState& state) const {
  return state.is_expensive && state.scan_cost_ns > 0 ? state.scan_cost_ns
                                                      : full_cost_of(state);
}

bool DetailBudget::is_due(const DetailState& state) const {
  return (tick_index_ + state.phase) % state.step == 0;
}

bool DetailBudget::has_changed(const DetailState& state) const {
  const auto differs = [](uint64_t now, uint64_t before) {
    const uint64_t threshold = std::max(kGrowthBytes, before / kGrowthShare);
    return now > before + threshold || now + threshold < before;
  };
  return differs(state.resident_bytes, state.detail_resident_bytes) ||
         differs(state.size_bytes, state.detail_size_bytes);
}

bool DetailBudget::may_try(const DetailState& state) const {
  constexpr uint64_t kGrowth = 10;  // a tenth
  if (state.resident_bytes > state.tried_bytes + state.tried_bytes / kGrowth) {
    return true;
  }
  const double pause =
      static_cast<double>(kPauseNs) *
      static_cast<double>(predicted_hold_ns(state)) /
      static_cast<double>(std::max<uint64_t>(options_.stall_ns, 1));
  return static_cast<double>(now_ns_ - *state.tried_ns) >=
         std::min(pause, static_cast<double>(kLongestPauseNs));
}

DetailTier DetailBudget::choose(DetailState& state, bool is_urgent) const {
  state.is_expensive = false;
  if (!options_.is_limited || is_whole_) return DetailTier::Full;
  if (!state.tried_ns) {
    state.tried_ns = now_ns_;
    state.tried_bytes = state.resident_bytes;
  }
  state.is_expensive =
      !options_.allows_stall && predicted_hold_ns(state) > options_.stall_ns;
  const bool is_tried = state.is_expensive && may_try(state);
  // What was read in full once is scaled to its counters in between: that knows
  // of sharing, which a scan does not.
  const bool can_scan = has_scan_ && state.full_cost_ns == 0;
  if (state.is_expensive && !is_tried && !can_scan) return DetailTier::Counters;
  const bool has_credit = credit_ns_ > static_cast<double>(detail_cost_ns_);
  // A deep debt stops even what is due, or a burst of new processes would cost
  // what it likes.
  const bool is_deep_in_debt =
      credit_ns_ - static_cast<double>(detail_cost_ns_) <
      -options_.core_share * kCreditSeconds * kNsPerSecond;
  const bool is_wanted =
      (is_due(state) && !is_deep_in_debt) ||
      ((is_urgent || is_tried || !state.has_detail || has_changed(state)) &&
       has_credit);
  if (!is_wanted) return DetailTier::Counters;
  return state.is_expensive && !is_tried ? DetailTier::Scan : DetailTier::Full;
}

void DetailBudget::measured(DetailState& state, DetailTier tier,
                            const DetailMeasure& measure) {
  detail_cost_ns_ += measure.cpu_ns;
  state.has_detail = true;
  state.detail_resident_bytes = state.resident_bytes;
  state.detail_size_bytes = state.size_bytes;
  state.largest_bytes = measure.largest_bytes;
  state.mapping_count = measure.mapping_count;
  uint64_t& cost =
      tier == DetailTier::Full ? state.full_cost_ns : state.scan_cost_ns;
  cost = cost == 0 ? measure.cpu_ns : (3 * cost + measure.cpu_ns) / 4;
  if (tier != DetailTier::Full) return;
  state.tried_ns = now_ns_;
  state.tried_bytes = state.resident_bytes;
  const double pages = pages_in(measure.small_bytes);
  // Few pages, or many mappings, say nothing about pages.
  if (pages < kTellingPages ||
      pages * kUsualNsPerPage <
          static_cast<double>(measure.mapping_count) * kNsPerMapping) {
    return;
  }
  const double ns_per_page = static_cast<double>(measure.cpu_ns) / pages;
  ns_per_page_ = std::min(ns_per_page_.value_or(ns_per_page), ns_per_page);
}

bool DetailBudget::is_plan_due(size_t process_count) const {
  if (!options_.is_limited) return false;
  const size_t change = process_count > planned_count_
                            ? process_count - planned_count_
                            : planned_count_ - process_count;
  return options_.prefers_whole || tick_index_ <= 2 ||
         tick_index_ - planned_index_ >= kPlanTicks ||
         change * 10 > planned_count_ + 10;
}

// Each process is given an equal share of the time; those that need less leave
// the rest to the larger ones.
void DetailBudget::plan(const std::vector<DetailState*>& processes) {
  planned_index_ = tick_index_;
  planned_count_ = processes.size();
  uint64_t whole_cost_ns = 0;
  for (const DetailState* state : processes)
    whole_cost_ns += full_cost_of(*state);
  is_whole_ = options_.prefers_whole &&
              static_cast<double>(whole_cost_ns) <=
                  kWholeShare * static_cast<double>(options_.period_ns);
  if (is_whole_) {
    for (DetailState* state : processes)
      state->step = 1;
    return;
  }
  std::vector<DetailState*> sorted = processes;
  std::ranges::sort(
      sorted, {}, [this](const DetailState* state) { return cost_of(*state); });
  const double whole =
      options_.core_share * static_cast<double>(options_.period_ns);
  // A debt, of the first tick for instance, is paid back until the next plan.
  const double debt = std::max(0.0, -credit_ns_) / kPlanTicks;
  double left = std::max(whole - other_cost_ns_ - debt, whole / 10);
  size_t rest = sorted.size();
  uint32_t phase = 0;
  for (DetailState* state : sorted) {
    const double share = left / static_cast<double>(rest--);
    const auto cost = static_cast<double>(cost_of(*state));
    const double wanted = std::ceil(cost / std::max(share, 1.0));
    // A step that is nearly right stays: a plan that changes costs a row.
    const bool is_kept =
        state->has_detail && wanted <= state->step && wanted * 4 > state->step;
    if (!is_kept) {
      state->step = std::min(std::bit_ceil(static_cast<uint32_t>(std::clamp(
                                 wanted, 1.0, static_cast<double>(1U << 16)))),
                             largest_step());
      state->phase = phase;
    }
    phase += 7;  // no power of two: neighbours fall on different ticks
    left = std::max(0.0, left - cost / state->step);
  }
}

}  // namespace tidemark::watch
