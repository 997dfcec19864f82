#include "watch/top_digest.h"

#include <algorithm>
#include <optional>

namespace tidemark::watch {
namespace {

using analysis::TopSnapshot;
using model::Process;
using model::ProcessState;

// Two values for each cell of the widest trend.
constexpr size_t kDigestPoints = 120;
// Objects of each kind that are kept of a process.
constexpr size_t kDigestLargest = 6;

std::string why_no_detail(const Process& process) {
  if (!process.mappings.unknown_because.empty()) {
    return process.mappings.unknown_because;
  }
  if (process.state == ProcessState::Denied) return "denied";
  return "not read yet";
}

// As it was decided when they were recorded, or as it looks now.
std::vector<model::Region> regions_in(const model::Sample& sample,
                                      const Process& process) {
  if (process.kinds.size() != process.mappings->size()) {
    return model::find_regions(
        *process.mappings, model::region_hints(process, sample.memory_devices));
  }
  std::vector<model::Region> regions;
  regions.reserve(process.kinds.size());
  for (size_t i = 0; i < process.kinds.size(); ++i)
    regions.push_back({process.kinds[i], i, 1, {}, 0});
  return regions;
}

// What has not grown is left out: it is copied with every snapshot.
std::vector<analysis::KindGrowth> grown_of(
    const std::map<model::Category, analysis::GrowthTrack>& growth,
    uint64_t now_ns) {
  std::vector<analysis::KindGrowth> grown;
  for (const auto& [kind, track] : growth) {
    const int64_t bytes = track.grown(now_ns);
    if (bytes > 0) grown.push_back({kind, bytes});
  }
  return grown;
}

// Shared memory by object, over all processes that map it: PSS adds up to what
// is mapped of it. Of each process the largest objects are known.
std::map<std::string, analysis::NamedGrowth::Value> shared_objects(
    const TopSnapshot& snapshot) {
  struct Sum {
    uint64_t bytes = 0;
    uint64_t most = 0;
    size_t holder = 0;
  };
  std::map<std::string, Sum> sums;
  for (size_t i = 0; i < snapshot.details.size(); ++i) {
    if (!snapshot.details[i].largest) continue;
    for (const analysis::TopMapping& one : *snapshot.details[i].largest) {
      if (one.use.category != model::Category::Shm) continue;
      Sum& sum = sums[one.name];
      sum.bytes += one.use.pss_bytes;
      if (one.use.pss_bytes <= sum.most) continue;
      sum.most = one.use.pss_bytes;
      sum.holder = i;
    }
  }
  std::map<std::string, analysis::NamedGrowth::Value> values;
  for (const auto& [name, sum] : sums)
    values[name] = {sum.bytes, snapshot.sample.processes[sum.holder].id};
  return values;
}

std::map<std::string, analysis::NamedGrowth::Value> slab_caches(
    const TopSnapshot& snapshot) {
  std::map<std::string, analysis::NamedGrowth::Value> values;
  const model::Sample& sample = snapshot.sample;
  if (!sample.kernel || !sample.kernel->slab || !sample.machine) return values;
  for (const model::SlabCache& cache : *sample.kernel->slab) {
    values[cache.name].bytes =
        cache.slabs * cache.pages_per_slab * sample.machine->page_size_bytes;
  }
  return values;
}

void add_kinds(const analysis::TopDetail& detail, model::BestShares& sums) {
  for (const analysis::CategoryUse& use : detail.kinds) {
    sums[static_cast<size_t>(use.category)].add(
        {use.rss_bytes, use.pss_bytes, use.private_bytes, use.swap_pss_bytes,
         use.bounded_bytes, 0});
  }
}

// What processes share is in the bound of each of them, and here once.
analysis::TopKinds kinds_of(const model::Sample& sample,
                            model::BestShares sums) {
  if (sample.machine) {
    model::count_shared_once({sample.machine->meminfo.mapped_bytes,
                              sample.machine->meminfo.shmem_bytes},
                             sums);
  }
  analysis::TopKinds kinds;
  for (size_t i = 0; i < sums.size(); ++i) {
    kinds.pss_bytes[i] = sums[i].pss;
    kinds.swap_bytes += sums[i].swap;
    kinds.bounded_bytes += sums[i].bounded;
  }
  return kinds;
}

analysis::TopKinds kinds_of(const TopSnapshot& snapshot) {
  model::BestShares sums{};
  for (const analysis::TopDetail& detail : snapshot.details)
    add_kinds(detail, sums);
  return kinds_of(snapshot.sample, sums);
}

// Of the kinds that were read, by the counters they follow.
model::SplitShares split_of(const Process& process,
                            const std::vector<model::Region>& regions) {
  model::SplitShares split{};
  for (const model::Region& region : regions) {
    const auto at = static_cast<size_t>(model::region_category(region.kind));
    for (size_t i = 0; i < region.mapping_count; ++i) {
      const model::SmapsFields& fields =
          (*process.mappings)[region.first_index + i].fields;
      analysis::CategoryUse use;
      analysis::add_mapping((*process.mappings)[region.first_index + i], use);
      split[at].add(model::SplitShare::of(
          {use.rss_bytes, use.pss_bytes, use.private_bytes, use.swap_pss_bytes,
           use.bounded_bytes, 0},
          fields.get_or_zero(model::SmapsField::Anonymous)));
    }
  }
  return split;
}

// As smaps would have it, where it was not read.
model::SmapsFields fields_of(const model::BestProcess& best,
                             bool is_ever_read) {
  const model::BestShares shares = best.shares();
  model::BestShare sum;
  for (const model::BestShare& share : shares)
    sum.add(share);
  const uint64_t huge = shares[static_cast<size_t>(model::Category::Huge)].pss;
  const uint64_t pss = sum.pss - std::min(sum.pss, huge);
  model::SmapsFields fields;
  fields.set(model::SmapsField::Rss, sum.rss - std::min(sum.rss, huge));
  fields.set(model::SmapsField::Pss, pss);
  const uint64_t anonymous = std::min(best.anonymous(), pss);
  const uint64_t shmem = std::min(
      shares[static_cast<size_t>(model::Category::Shm)].pss, pss - anonymous);
  fields.set(model::SmapsField::PssAnon, anonymous);
  fields.set(model::SmapsField::PssShmem, shmem);
  fields.set(model::SmapsField::PssFile, pss - anonymous - shmem);
  fields.set(model::SmapsField::SwapPss, sum.swap);
  fields.set(model::SmapsField::SharedHugetlb, huge);
  fields.set(model::SmapsField::PrivateHugetlb, 0);
  if (!is_ever_read) return fields;
  fields.set(model::SmapsField::PrivateClean, 0);
  fields.set(model::SmapsField::PrivateDirty, sum.uss);
  fields.set(model::SmapsField::SharedClean, 0);
  fields.set(model::SmapsField::SharedDirty,
             sum.rss - std::min(sum.rss, sum.uss));
  return fields;
}

// The numbers of the kinds; what else is known of them stays as it was read.
void set_kinds(const model::BestShares& shares,
               std::vector<analysis::CategoryUse>& kinds) {
  std::vector<analysis::CategoryUse> now;
  for (model::Category category : model::kCategories) {
    const model::BestShare& share = shares[static_cast<size_t>(category)];
    if (share == model::BestShare()) continue;
    auto known =
        std::ranges::find(kinds, category, &analysis::CategoryUse::category);
    analysis::CategoryUse use;
    if (known != kinds.end()) use = *known;
    use.category = category;
    use.rss_bytes = share.rss;
    use.pss_bytes = share.pss;
    use.private_bytes = share.uss;
    use.swap_pss_bytes = share.swap;
    use.bounded_bytes = share.bounded;
    now.push_back(use);
  }
  kinds = std::move(now);
}

analysis::TopTimeline timeline_of(const analysis::TopHistory& history) {
  analysis::TopTimeline timeline;
  if (!history.times_ns.empty()) timeline.start_ns = history.times_ns.front();
  for (size_t i = 0; i < history.times_ns.size(); ++i) {
    analysis::TopTimelinePoint point;
    point.elapsed_ns = history.times_ns[i] - history.times_ns.front();
    point.kinds = history.kinds[i].pss_bytes;
    point.swap_bytes = history.kinds[i].swap_bytes;
    point.bounded_bytes = history.kinds[i].bounded_bytes;
    timeline.points.push_back(point);
  }
  analysis::find_peaks(timeline);
  return timeline;
}

// A copy without its mappings, which are the large part: they are set aside
// while it is made.
Process copy_without_mappings(Process& process) {
  auto mappings = std::exchange(process.mappings, {});
  auto threads = std::exchange(process.threads, {});
  auto images = std::exchange(process.images, {});
  Process copy = process;
  process.mappings = std::move(mappings);
  process.threads = std::move(threads);
  process.images = std::move(images);
  return copy;
}

}  // namespace

TopDigest::TopDigest(std::string target, std::vector<analysis::UserLabel> users,
                     uint64_t period_ns)
    : target_(std::move(target)),
      users_(std::move(users)),
      period_ns_(period_ns),
      keeper_(analysis::kTopHistoryNs, kDigestPoints) {}

void TopDigest::set_kernel(model::KernelReadings kernel) {
  kernel_ = std::move(kernel);
}

void TopDigest::learn(const model::Sample& sample, const Process& process,
                      Known& known) const {
  if (!process.mappings) {
    learn_counters(sample, process, known);
    return;
  }
  model::SmapsFields sum;
  for (const model::Mapping& mapping : *process.mappings)
    sum.add(mapping.fields);
  known.rollup = model::known(sum);
  known.detail.read_ns =
      sample.started_monotonic_ns -
      std::min(sample.started_monotonic_ns, process.split_age_ns);
  const std::vector<model::Region> regions = regions_in(sample, process);
  known.detail.kinds = analysis::categories_of(*process.mappings, regions);
  known.best.set_counters(model::resident_counters(
      process, sample.machine ? sample.machine->page_size_bytes : 4096));
  known.best.split() = split_of(process, regions);
  known.best.mark_split();
  known.is_estimated = process.is_estimated;
  known.unsplit = process.unsplit;
  add_unsplit(known);
  const bool is_scanned =
      !process.mappings->empty() && !sum.has(model::SmapsField::Pss);
  if (is_scanned) known.rollup = model::known(fields_of(known.best, false));
  known.detail.is_bound =
      is_scanned || known.unsplit != model::ResidentCounters();
  // What has only a bound would look like growth, or a fall, once it is read.
  if (known.detail.is_bound) {
    known.growth.clear();
  } else {
    for (const analysis::CategoryUse& use : known.detail.kinds) {
      known.growth[use.category].add(sample.started_monotonic_ns,
                                     use.pss_bytes);
    }
  }
  known.detail.largest =
      std::make_shared<const std::vector<analysis::TopMapping>>(
          analysis::largest_mappings(*process.mappings, regions,
                                     kDigestLargest));
}

// Mappings of an earlier moment are brought to this one where these are of a
// recording; then some kinds may have had nothing that was read.
void TopDigest::add_unsplit(Known& known) {
  const model::BestShares shares = model::bounded_shares(known.unsplit, 1);
  for (model::Category category : model::kCategories) {
    const model::BestShare& share = shares[static_cast<size_t>(category)];
    if (share.rss == 0) continue;
    analysis::CategoryUse use;
    use.category = category;
    use.rss_bytes = use.pss_bytes = use.bounded_bytes = share.rss;
    analysis::add_categories(known.detail.kinds, {use});
  }
}

// Not read now: the last split at the counters of now, or these alone.
void TopDigest::learn_counters(const model::Sample& sample,
                               const Process& process, Known& known) {
  const std::optional<model::ResidentCounters> now = model::resident_counters(
      process, sample.machine ? sample.machine->page_size_bytes : 4096);
  const bool has_memory = process.state != ProcessState::Zombie &&
                          process.state != ProcessState::KernelThread;
  if (!now || !has_memory) {
    if (!known.rollup)
      known.rollup = model::unknown<model::SmapsFields>(why_no_detail(process));
    return;
  }
  known.best.set_counters(now);
  const bool is_ever_read = known.detail.read_ns.has_value();
  const std::optional<model::SplitScale> scale = known.best.scale();
  if (!scale && is_ever_read && !known.is_estimated) return;
  known.unsplit = scale ? scale->unsplit() : model::ResidentCounters();
  known.is_estimated = scale && is_ever_read;
  const model::BestShares shares = known.best.shares();
  set_kinds(shares, known.detail.kinds);
  known.rollup = model::known(fields_of(known.best, is_ever_read));
  known.detail.is_bound = std::ranges::any_of(
      shares, [](const auto& share) { return share.bounded > 0; });
}

void TopDigest::follow(const analysis::TopTimelineOf& of) {
  const bool is_same = followed_.is_same_wish(of);
  followed_ = of;
  if (is_same) return;
  followed_history_ = {};
  followed_name_ = of.filter;
}

// What they were made of is kept from when they are followed on: of all
// processes, each for itself, that would be megabytes.
void TopDigest::add_followed(const TopSnapshot& snapshot) {
  analysis::TopHistory& history = followed_history_;
  const std::vector<Process>& processes = snapshot.sample.processes;
  model::BestShares sums{};
  bool is_there = !followed_.filter.empty();
  for (size_t i = 0; i < processes.size(); ++i) {
    if (!followed_.has(processes[i].id)) continue;
    is_there = true;
    if (followed_.filter.empty())
      followed_name_ = analysis::display_name(processes[i]);
    add_kinds(snapshot.details[i], sums);
  }
  if (!is_there && history.times_ns.empty()) return;  // it had ended before
  // Of one that has ended nothing is left, which is no gap.
  history.times_ns.push_back(snapshot.sample.started_monotonic_ns);
  history.kinds.push_back(kinds_of(snapshot.sample, sums));
  while (history.span_ns() > analysis::kTopHistoryNs) {
    history.times_ns.erase(history.times_ns.begin());
    history.kinds.erase(history.kinds.begin());
  }
}

void TopDigest::add_growers(const TopSnapshot& snapshot) {
  constexpr size_t kMost = 20;
  const uint64_t now = snapshot.sample.started_monotonic_ns;
  objects_.add(now, shared_objects(snapshot));
  caches_.add(now, slab_caches(snapshot));
  growers_ = objects_.growers(now, kMost);
  const std::vector<analysis::TopGrower> caches = caches_.growers(now, kMost);
  growers_.insert(growers_.end(), caches.begin(), caches.end());
}

void TopDigest::add_history(TopSnapshot& snapshot) {
  analysis::TopMoment moment;
  moment.time_ns = snapshot.sample.started_monotonic_ns;
  moment.machine = snapshot.machine;
  moment.kinds = kinds_of(snapshot);
  if (snapshot.sample.machine) {
    moment.pressure = snapshot.sample.machine->pressure;
  }
  for (const Process& process : snapshot.sample.processes) {
    // Once what has only a bound is read it would look like a fall.
    const model::Amount in_ram = analysis::use_of(process, {}).in_ram();
    moment.processes.emplace_back(
        process.id, in_ram.has_bound ? std::nullopt : in_ram.known_bytes());
  }
  events_.add(snapshot.sample, analysis::kTopHistoryNs);
  const bool is_kept = keeper_.add(moment) || !history_;
  if (is_kept) {
    history_ = std::make_shared<const analysis::TopHistory>(keeper_.history());
    add_growers(snapshot);
  }
  snapshot.growers = growers_;
  if (!followed_.is_all()) add_followed(snapshot);
  const bool is_of_some = !followed_history_.times_ns.empty();
  const analysis::TopHistory& shown =
      is_of_some ? followed_history_ : *history_;
  // That of some goes on each time; that of all comes back at once.
  if (is_kept || is_of_some || !timeline_->of.empty()) {
    analysis::TopTimeline timeline = timeline_of(shown);
    if (is_of_some) {
      timeline.of = followed_name_;
      timeline.chosen = followed_;
    }
    timeline.events =
        events_.since(shown.times_ns.front(),
                      is_of_some ? followed_ : analysis::TopTimelineOf());
    timeline.limit_bytes = analysis::limit_of(snapshot.sample, followed_);
    timeline_ =
        std::make_shared<const analysis::TopTimeline>(std::move(timeline));
  }
  snapshot.history = history_;
  snapshot.timeline = timeline_;
}

TopSnapshot TopDigest::digest(model::Sample& sample) {
  TopSnapshot snapshot = digest_alone(sample);
  add_history(snapshot);
  return snapshot;
}

TopSnapshot TopDigest::digest_alone(model::Sample& sample) {
  ++round_;
  TopSnapshot snapshot;
  snapshot.target = target_;
  snapshot.period_ns = period_ns_;
  snapshot.users = users_;
  model::Sample& copy = snapshot.sample;
  copy.started_realtime_ns = sample.started_realtime_ns;
  copy.started_monotonic_ns = sample.started_monotonic_ns;
  copy.ended_monotonic_ns = sample.ended_monotonic_ns;
  copy.reader_is_root = sample.reader_is_root;
  copy.machine = sample.machine;
  copy.cgroups = sample.cgroups;
  copy.kernel = kernel_;
  copy.processes.reserve(sample.processes.size());
  for (Process& process : sample.processes) {
    Known& known = known_[{process.id.pid, process.id.start_ticks}];
    known.round = round_;
    learn(sample, process, known);
    copy.processes.push_back(copy_without_mappings(process));
    copy.processes.back().rollup = known.rollup;
    copy.processes.back().is_estimated = known.is_estimated;
    copy.processes.back().unsplit = known.unsplit;
    known.detail.grown = grown_of(known.growth, sample.started_monotonic_ns);
    snapshot.details.push_back(known.detail);
  }
  std::erase_if(
      known_, [&](const auto& entry) { return entry.second.round != round_; });
  if (copy.machine) {
    const std::optional<analysis::SystemReport> report =
        analysis::make_system_report(copy);
    if (report) {
      snapshot.machine = analysis::top_machine(*report, copy.machine->meminfo);
    }
  }
  return snapshot;
}

}  // namespace tidemark::watch
