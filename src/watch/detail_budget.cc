#include "watch/detail_budget.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/units.h"

namespace tidemark::watch {
namespace {

using model::DetailTier;

constexpr uint64_t kPageBytes = 4096;
// Measured on several machines: a page and a mapping's line.
constexpr double kNsPerPage = 25;
constexpr uint64_t kNsPerMapping = 1500;
constexpr uint64_t kGuessedMappings = 100;

// Growth that is worth a look out of turn.
constexpr uint64_t kGrowthBytes = uint64_t{1} << 20;
constexpr uint64_t kGrowthShare = 16;

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

}  // namespace

std::string budget_words(const BudgetOptions& options) {
  if (!options.is_limited) return "none";
  const double percent = options.core_share * 100;
  std::string share = std::to_string(percent);
  share.erase(share.find_last_not_of('0') + 1);
  if (share.ends_with('.')) share.pop_back();
  return share + " % of a core, stalls up to " +
         base::long_duration(options.stall_ns) +
         (options.allows_stall ? ", longer ones allowed" : "");
}

DetailBudget::DetailBudget(const BudgetOptions& options) : options_(options) {
  // A second's worth to begin with: the first tick reads everything.
  credit_ns_ = options_.core_share * kNsPerSecond;
}

void DetailBudget::begin_tick(uint64_t now_ns, uint64_t own_cpu_ns) {
  if (last_ns_) {
    const auto spent = static_cast<double>(own_cpu_ns - last_cpu_ns_);
    credit_ns_ +=
        options_.core_share * static_cast<double>(now_ns - *last_ns_) - spent;
    credit_ns_ = std::min(credit_ns_,
                          options_.core_share * kCreditSeconds * kNsPerSecond);
    const double other =
        std::max(0.0, spent - static_cast<double>(detail_cost_ns_));
    constexpr double kWeight = 0.2;
    other_cost_ns_ += kWeight * (other - other_cost_ns_);
  }
  last_ns_ = now_ns;
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

uint64_t DetailBudget::predicted_hold_ns(const DetailState& state) const {
  // Before its mappings are known all of it may be one.
  const uint64_t bytes = state.largest_bytes.value_or(state.resident_bytes);
  return static_cast<uint64_t>(pages_in(bytes) * state.hold_ns_per_page);
}

uint64_t DetailBudget::cost_of(const DetailState& state) const {
  if (state.is_barred) {
    return state.scan_cost_ns > 0
               ? state.scan_cost_ns
               : static_cast<uint64_t>(kNsPerPage *
                                       pages_in(state.resident_bytes));
  }
  if (state.full_cost_ns > 0) return state.full_cost_ns;
  const uint64_t mappings =
      state.mapping_count > 0 ? state.mapping_count : kGuessedMappings;
  return mappings * kNsPerMapping +
         static_cast<uint64_t>(kNsPerPage * pages_in(state.resident_bytes));
}

bool DetailBudget::is_due(const DetailState& state) const {
  return (tick_index_ + state.phase) % state.step == 0;
}

bool DetailBudget::has_grown(const DetailState& state) const {
  const auto differs = [](uint64_t now, uint64_t before) {
    const uint64_t threshold = std::max(kGrowthBytes, before / kGrowthShare);
    return now > before + threshold || now + threshold < before;
  };
  return differs(state.resident_bytes, state.detail_resident_bytes) ||
         differs(state.size_bytes, state.detail_size_bytes);
}

DetailTier DetailBudget::choose(DetailState& state, bool is_urgent) const {
  if (!options_.is_limited) return DetailTier::Full;
  state.is_barred =
      !options_.allows_stall && predicted_hold_ns(state) > options_.stall_ns;
  if (state.is_barred && !has_scan_) return DetailTier::Counters;
  const bool has_credit = credit_ns_ > static_cast<double>(detail_cost_ns_);
  // A deep debt stops even what is due, or a burst of new processes would cost
  // what it likes.
  const bool is_deep_in_debt =
      credit_ns_ - static_cast<double>(detail_cost_ns_) <
      -options_.core_share * kCreditSeconds * kNsPerSecond;
  const bool is_wanted =
      (is_due(state) && !is_deep_in_debt) ||
      ((is_urgent || !state.has_detail || has_grown(state)) && has_credit);
  if (!is_wanted) return DetailTier::Counters;
  return state.is_barred ? DetailTier::Scan : DetailTier::Full;
}

void DetailBudget::measured(DetailState& state, DetailTier tier,
                            const DetailMeasure& measure) const {
  detail_cost_ns_ += measure.total_ns;
  state.has_detail = true;
  state.detail_resident_bytes = state.resident_bytes;
  state.detail_size_bytes = state.size_bytes;
  state.largest_bytes = measure.largest_bytes;
  state.mapping_count = measure.mapping_count;
  uint64_t& cost =
      tier == DetailTier::Full ? state.full_cost_ns : state.scan_cost_ns;
  cost = cost == 0 ? measure.total_ns : (3 * cost + measure.total_ns) / 4;
  // Back to the usual price in time: one slow read may have been our own
  // misfortune.
  constexpr double kForget = 0.9;
  state.hold_ns_per_page =
      kNsPerPage + kForget * (state.hold_ns_per_page - kNsPerPage);
  const uint64_t pages = measure.largest_bytes / kPageBytes;
  // Short reads say nothing about pages.
  if (tier != DetailTier::Full || measure.longest_call_ns < options_.stall_ns ||
      pages == 0) {
    return;
  }
  state.hold_ns_per_page = std::max(
      state.hold_ns_per_page, static_cast<double>(measure.longest_call_ns) /
                                  static_cast<double>(pages));
}

bool DetailBudget::is_plan_due(size_t process_count) const {
  if (!options_.is_limited) return false;
  const size_t change = process_count > planned_count_
                            ? process_count - planned_count_
                            : planned_count_ - process_count;
  return tick_index_ <= 2 || tick_index_ - planned_index_ >= kPlanTicks ||
         change * 10 > planned_count_ + 10;
}

// Each process is given an equal share of the time; those that need less leave
// the rest to the larger ones.
void DetailBudget::plan(const std::vector<DetailState*>& processes) {
  planned_index_ = tick_index_;
  planned_count_ = processes.size();
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
