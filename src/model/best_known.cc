#include "model/best_known.h"

#include <algorithm>
#include <utility>

#include "model/region.h"

namespace tidemark::model {
namespace {

constexpr std::pair<Category, CounterKind> kCounted[] = {
    {Category::Anon, CounterKind::Anon},
    {Category::Shm, CounterKind::Shmem},
    {Category::File, CounterKind::File},
    {Category::Huge, CounterKind::Huge},
};

// `amount` * `part` / `whole`, where the product may be beyond 64 bits.
uint64_t in_proportion(uint64_t amount, uint64_t part, uint64_t whole) {
  if (part == whole || whole == 0) return amount;
  return static_cast<uint64_t>(static_cast<double>(amount) *
                               static_cast<double>(part) /
                               static_cast<double>(whole));
}

BestShare scaled_by(const SplitScale& scale, CounterKind kind,
                    const BestShare& share) {
  BestShare now = {scale.scaled(kind, share.rss),
                   scale.scaled(kind, share.pss),
                   scale.scaled(kind, share.uss),
                   scale.scaled(CounterKind::Swap, share.swap),
                   scale.scaled(kind, share.bounded),
                   0};
  now.estimated = now.pss - std::min(now.pss, now.bounded);
  return now;
}

// What stands in smaps for a number of resident pages.
constexpr SmapsField kResidentFields[] = {
    SmapsField::Rss,           SmapsField::Pss,
    SmapsField::PssDirty,      SmapsField::SharedClean,
    SmapsField::SharedDirty,   SmapsField::PrivateClean,
    SmapsField::PrivateDirty,  SmapsField::Referenced,
    SmapsField::Ksm,           SmapsField::LazyFree,
    SmapsField::AnonHugePages,
};

void bring_to_now(const SplitScale& scale, RegionKind kind, Mapping& mapping) {
  SmapsFields& fields = mapping.fields;
  const CounterKind other = counter_kind(region_category(kind));
  const uint64_t anonymous = fields.get_or_zero(SmapsField::Anonymous);
  const uint64_t rss = fields.get_or_zero(SmapsField::Rss);
  for (SmapsField field : kResidentFields) {
    const std::optional<uint64_t> bytes = fields.get(field);
    if (!bytes || *bytes == 0) continue;
    const SplitShare parts = SplitShare::of(
        {*bytes, 0, 0, 0, 0, 0}, in_proportion(*bytes, anonymous, rss));
    fields.set(field, scale.scaled(CounterKind::Anon, parts.anonymous.rss) +
                          scale.scaled(other, parts.other.rss));
  }
  fields.set(SmapsField::Anonymous, scale.scaled(CounterKind::Anon, anonymous));
  for (SmapsField field : {SmapsField::Swap, SmapsField::SwapPss}) {
    if (const std::optional<uint64_t> bytes = fields.get(field)) {
      fields.set(field, scale.scaled(CounterKind::Swap, *bytes));
    }
  }
  for (SmapsField field :
       {SmapsField::SharedHugetlb, SmapsField::PrivateHugetlb}) {
    if (const std::optional<uint64_t> bytes = fields.get(field)) {
      fields.set(field, scale.scaled(CounterKind::Huge, *bytes));
    }
  }
}

void take_from(BestShare& share, uint64_t less) {
  const uint64_t of_bounded = std::min(share.bounded, less);
  const uint64_t of_estimated = std::min(share.estimated, less - of_bounded);
  const uint64_t before = share.pss;
  share.bounded -= of_bounded;
  share.estimated -= of_estimated;
  share.pss -= of_bounded + of_estimated;
  share.uss = in_proportion(share.uss, share.pss, before);
}

}  // namespace

CounterKind counter_kind(Category category) {
  switch (category) {
    case Category::Heap:
    case Category::Anon:
    case Category::Stack:
      return CounterKind::Anon;
    case Category::File:
    case Category::Code:
      return CounterKind::File;
    case Category::Shm:
      return CounterKind::Shmem;
    case Category::Huge:
      return CounterKind::Huge;
    default:
      return CounterKind::All;
  }
}

uint64_t counter_bytes(const ResidentCounters& counters, CounterKind kind) {
  switch (kind) {
    case CounterKind::Anon:
      return counters.anon_bytes;
    case CounterKind::File:
      return counters.file_bytes;
    case CounterKind::Shmem:
      return counters.shmem_bytes;
    case CounterKind::Huge:
      return counters.huge_bytes;
    case CounterKind::Swap:
      return counters.swap_bytes;
    case CounterKind::All:
      break;
  }
  return counters.anon_bytes + counters.file_bytes + counters.shmem_bytes;
}

bool has_memory(ProcessState state) {
  return state == ProcessState::Ok || state == ProcessState::Denied ||
         state == ProcessState::Failed;
}

std::optional<ResidentCounters> resident_counters(
    const ProcessStatus& status, const std::optional<Statm>& statm,
    uint64_t page_size_bytes) {
  ResidentCounters counters;
  counters.huge_bytes = status.hugetlb_bytes.value_or(0);
  counters.swap_bytes = status.swap_bytes.value_or(0);
  if (statm && statm->resident_pages == 0) return counters;
  if (status.rss_anon_bytes && status.rss_file_bytes &&
      status.rss_shmem_bytes) {
    counters.anon_bytes = *status.rss_anon_bytes;
    counters.file_bytes = *status.rss_file_bytes;
    counters.shmem_bytes = *status.rss_shmem_bytes;
    return counters;
  }
  if (!statm) return std::nullopt;
  const uint64_t shared = std::min(statm->shared_pages, statm->resident_pages);
  counters.anon_bytes = (statm->resident_pages - shared) * page_size_bytes;
  counters.file_bytes = shared * page_size_bytes;
  return counters;
}

std::optional<ResidentCounters> resident_counters(const Process& process,
                                                  uint64_t page_size_bytes) {
  if (!has_memory(process.state)) return ResidentCounters();
  return resident_counters(process.status, process.statm, page_size_bytes);
}

SplitScale::SplitScale(const ResidentCounters& then,
                       const ResidentCounters& split,
                       const ResidentCounters& now)
    : then_{std::max(then.anon_bytes, split.anon_bytes),
            std::max(then.file_bytes, split.file_bytes),
            std::max(then.shmem_bytes, split.shmem_bytes),
            std::max(then.huge_bytes, split.huge_bytes), then.swap_bytes},
      now_(now) {}

ResidentCounters resident_of(Category category, const SplitShare& share,
                             uint64_t unit_bytes) {
  ResidentCounters counters;
  counters.anon_bytes = share.anonymous.rss * unit_bytes;
  const uint64_t other = share.other.rss * unit_bytes;
  switch (counter_kind(category)) {
    case CounterKind::Anon:
      counters.anon_bytes += other;
      break;
    case CounterKind::File:
      counters.file_bytes = other;
      break;
    case CounterKind::Shmem:
      counters.shmem_bytes = other;
      break;
    case CounterKind::Huge:
      counters.huge_bytes = other;
      break;
    case CounterKind::Swap:
    case CounterKind::All:
      break;
  }
  return counters;
}

uint64_t SplitScale::scaled(CounterKind kind, uint64_t amount) const {
  const uint64_t then = counter_bytes(then_, kind);
  return in_proportion(amount, counter_bytes(now_, kind), then);
}

ResidentCounters SplitScale::unsplit() const {
  const auto rest = [](uint64_t then, uint64_t now) {
    return then == 0 ? now : 0;
  };
  return {rest(then_.anon_bytes, now_.anon_bytes),
          rest(then_.file_bytes, now_.file_bytes),
          rest(then_.shmem_bytes, now_.shmem_bytes),
          rest(then_.huge_bytes, now_.huge_bytes),
          rest(then_.swap_bytes, now_.swap_bytes)};
}

void BestShare::add(const BestShare& other) {
  rss += other.rss;
  pss += other.pss;
  uss += other.uss;
  swap += other.swap;
  bounded += other.bounded;
  estimated += other.estimated;
}

void BestShare::subtract(const BestShare& other) {
  rss -= other.rss;
  pss -= other.pss;
  uss -= other.uss;
  swap -= other.swap;
  bounded -= other.bounded;
  estimated -= other.estimated;
}

SplitShare SplitShare::of(const BestShare& whole, uint64_t anonymous_rss) {
  SplitShare parts;
  const uint64_t part = std::min(anonymous_rss, whole.rss);
  const auto share = [&](uint64_t amount) {
    return part == 0 ? 0 : in_proportion(amount, part, whole.rss);
  };
  parts.anonymous = {part, share(whole.pss),     share(whole.uss),
                     0,    share(whole.bounded), 0};
  parts.other = whole;
  parts.other.subtract(parts.anonymous);
  return parts;
}

void SplitShare::add(const SplitShare& more) {
  anonymous.add(more.anonymous);
  other.add(more.other);
}

void SplitShare::subtract(const SplitShare& less) {
  anonymous.subtract(less.anonymous);
  other.subtract(less.other);
}

BestShare SplitShare::whole() const {
  BestShare sum = anonymous;
  sum.add(other);
  return sum;
}

BestShare SplitShare::scaled(Category category, const SplitScale& scale) const {
  BestShare sum = scaled_by(scale, CounterKind::Anon, anonymous);
  sum.add(scaled_by(scale, counter_kind(category), other));
  return sum;
}

BestShares bounded_shares(const ResidentCounters& unsplit,
                          uint64_t unit_bytes) {
  BestShares shares{};
  for (const auto& [category, kind] : kCounted) {
    const uint64_t amount = counter_bytes(unsplit, kind) / unit_bytes;
    shares[static_cast<size_t>(category)] = {amount, amount, 0, 0, amount, 0};
  }
  shares[static_cast<size_t>(Category::Anon)].swap =
      unsplit.swap_bytes / unit_bytes;
  return shares;
}

void BestProcess::clear() {
  split_ = {};
  then_ = ResidentCounters();
  now_.reset();
}

std::optional<SplitScale> BestProcess::scale() const {
  if (!then_ || !now_ || *then_ == *now_) return std::nullopt;
  ResidentCounters split;
  for (Category category : kCategories)
    split.add(resident_of(category, split_[static_cast<size_t>(category)],
                          unit_bytes_));
  return SplitScale(*then_, split, *now_);
}

BestShares BestProcess::shares() const {
  BestShares sums{};
  const std::optional<SplitScale> by = scale();
  if (by) sums = bounded_shares(by->unsplit(), unit_bytes_);
  for (Category category : kCategories) {
    const auto at = static_cast<size_t>(category);
    sums[at].add(by ? split_[at].scaled(category, *by) : split_[at].whole());
  }
  return sums;
}

uint64_t BestProcess::anonymous() const {
  BestShare sum;
  for (const SplitShare& share : split_)
    sum.add(share.anonymous);
  const std::optional<SplitScale> by = scale();
  if (!by) return sum.pss;
  return scaled_by(*by, CounterKind::Anon, sum).pss +
         by->unsplit().anon_bytes / unit_bytes_;
}

void bring_to_now(const ResidentCounters& then, uint64_t age_ns,
                  uint64_t page_size_bytes, Process& process) {
  if (!process.mappings || process.kinds.size() != process.mappings->size()) {
    return;
  }
  process.split_age_ns = age_ns;
  const std::optional<ResidentCounters> now =
      resident_counters(process, page_size_bytes);
  if (!now || *now == then) return;
  process.is_estimated = true;
  ResidentCounters split;
  for (size_t i = 0; i < process.kinds.size(); ++i) {
    const SmapsFields& fields = (*process.mappings)[i].fields;
    const BestShare rss = {fields.get_or_zero(SmapsField::Rss), 0, 0, 0, 0, 0};
    split.add(resident_of(
        region_category(process.kinds[i]),
        SplitShare::of(rss, fields.get_or_zero(SmapsField::Anonymous)), 1));
  }
  const SplitScale scale(then, split, *now);
  process.unsplit = scale.unsplit();
  SmapsFields sum;
  for (size_t i = 0; i < process.kinds.size(); ++i) {
    Mapping& mapping = (*process.mappings.value)[i];
    bring_to_now(scale, process.kinds[i], mapping);
    sum.add(mapping.fields);
  }
  const uint64_t unsplit = counter_bytes(process.unsplit, CounterKind::All);
  if (process.rollup && unsplit > 0) {
    for (SmapsField field : {SmapsField::Rss, SmapsField::Pss})
      sum.set(field, sum.get_or_zero(field) + unsplit);
  }
  if (process.rollup) process.rollup = known(sum);
}

void count_shared_once(const SharedLimits& limits, BestShares& shares) {
  BestShare& shm = shares[static_cast<size_t>(Category::Shm)];
  if (limits.shmem && shm.pss > *limits.shmem) {
    take_from(shm, shm.pss - *limits.shmem);
  }
  // Images have anonymous pages as well, so what was read of them is no part of
  // what page cache bounds.
  BestShare& file = shares[static_cast<size_t>(Category::File)];
  BestShare& code = shares[static_cast<size_t>(Category::Code)];
  const uint64_t bounded = file.bounded + code.bounded;
  if (!limits.file || bounded <= *limits.file) return;
  const uint64_t left = in_proportion(code.bounded, *limits.file, bounded);
  take_from(code, code.bounded - left);
  take_from(file, file.bounded - (*limits.file - left));
}

}  // namespace tidemark::model
