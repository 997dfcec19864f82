#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/units.h"
#include "model/best_known.h"
#include "store/recording_moment.h"
#include "store/recording_reader.h"
#include "store/schema.h"

namespace tidemark::store {
namespace {

using model::Process;
using model::RecordedProcess;
using model::Sample;

}  // namespace

int64_t base_of(int64_t tick) {
  return tick / kTicksPerBase * kTicksPerBase;
}

void fill_times(const model::RecordedTick& tick, Sample& sample) {
  sample.started_realtime_ns = tick.realtime_ns;
  sample.started_monotonic_ns = tick.monotonic_ns;
  sample.ended_monotonic_ns = tick.monotonic_ns + tick.read_ns;
  sample.is_new_high = tick.is_new_high;
  sample.own_cpu_ns = tick.cpu_ns;
}

void fill_head(const RecordedProcess& recorded, int64_t tick,
               Process& process) {
  process.id = recorded.process;
  process.stat.pid = recorded.process.pid;
  process.stat.start_ticks = recorded.process.start_ticks;
  auto image = std::ranges::upper_bound(recorded.images, tick, {},
                                        &model::RecordedImage::from_tick);
  if (image == recorded.images.begin()) return;
  --image;
  process.stat.comm = image->comm;
  process.stat.parent_pid = image->parent_pid;
  process.executable = model::known(image->executable);
  process.command_line = image->command_line;
  process.cgroup_path = image->cgroup_path;
  process.status.user_id = image->user_id;
  process.tier = model::DetailTier::Counters;
}

bool lives_at(const RecordedProcess& process, int64_t tick) {
  return process.first_tick <= tick &&
         (!process.gone_at_tick || *process.gone_at_tick > tick);
}

base::Status Recording::Reader::fill_counters(
    int64_t base_tick, int64_t tick, std::map<int64_t, Process>& processes) {
  // The newest of each process is what counts, so they are read first and the
  // rest, once all are known, not at all.
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, epoch * 16 + tick, resident, shared, minor_faults, "
      "major_faults FROM proc_counter WHERE epoch BETWEEN ? AND ? "
      "ORDER BY epoch DESC, process DESC, tick DESC");
  if (!rows) return rows.error();
  rows->bind(0, base_tick / kTicksPerEpoch);
  rows->bind(1, tick / kTicksPerEpoch);
  const auto pages = [&](int column) {
    return static_cast<uint64_t>(rows->integer(column)) * base::kKib /
           info_.page_size_bytes;
  };
  std::unordered_set<int64_t> unknown;
  for (const auto& [id, process] : processes)
    unknown.insert(id);
  while (!unknown.empty()) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) break;
    const int64_t at = rows->integer(1);
    if (at > tick || at < base_tick) continue;
    const int64_t id = rows->integer(0);
    if (unknown.erase(id) == 0) continue;
    Process& process = processes.at(id);
    process.statm.reset();
    if (!rows->is_null(2)) {
      process.statm = model::Statm();
      process.statm->resident_pages = pages(2);
      process.statm->shared_pages = pages(3);
    }
    process.stat.minor_fault_count = static_cast<uint64_t>(rows->integer(4));
    process.stat.major_fault_count = static_cast<uint64_t>(rows->integer(5));
  }
  return base::Ok{};
}

base::Status Recording::Reader::fill_states(
    int64_t base_tick, int64_t tick, std::map<int64_t, Process>& processes) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, epoch * 16 + tick, state, t.value, size, text, data, "
      "threads, high_mark, swap, page_table, hugetlb, locked, rss_anon, "
      "rss_file, rss_shmem, oom_score, oom_score_adjustment FROM proc_status s "
      "LEFT JOIN text t ON t.id = s.because WHERE epoch BETWEEN ? AND ? "
      "ORDER BY epoch, process, tick");
  if (!rows) return rows.error();
  rows->bind(0, base_tick / kTicksPerEpoch);
  rows->bind(1, tick / kTicksPerEpoch);
  const auto pages = [&](int column) {
    return bytes_of(*rows, column).value_or(0) / info_.page_size_bytes;
  };
  return for_each(*rows, [&] {
    auto found = processes.find(rows->integer(0));
    if (found == processes.end() || rows->integer(1) > tick ||
        rows->integer(1) < base_tick) {
      return;
    }
    Process& process = found->second;
    process.state = static_cast<model::ProcessState>(rows->integer(2));
    process.mappings.unknown_because = rows->text(3);
    // Whether statm is known at all is told with the counters.
    if (process.statm && !rows->is_null(4)) {
      process.statm->size_pages = pages(4);
      process.statm->text_pages = pages(5);
      process.statm->data_pages = pages(6);
    }
    process.stat.thread_count = static_cast<uint64_t>(rows->integer(7));
    model::ProcessStatus& status = process.status;
    status.thread_count = process.stat.thread_count;
    status.peak_rss_bytes = bytes_of(*rows, 8);
    status.swap_bytes = bytes_of(*rows, 9);
    status.page_table_bytes = bytes_of(*rows, 10);
    status.hugetlb_bytes = bytes_of(*rows, 11);
    status.locked_bytes = bytes_of(*rows, 12);
    status.rss_anon_bytes = bytes_of(*rows, 13);
    status.rss_file_bytes = bytes_of(*rows, 14);
    status.rss_shmem_bytes = bytes_of(*rows, 15);
    process.oom_score = rows->maybe_integer(16);
    process.oom_score_adjustment = rows->maybe_integer(17);
  });
}

// The last reading of its mappings, by the tick that stands for it.
std::optional<DetailReading> Recording::Reader::reading_at(int64_t tick,
                                                           int64_t id) const {
  auto plan = plans_.find(id);
  if (plan == plans_.end()) return std::nullopt;
  std::optional<DetailReading> reading = plan->second.last(tick);
  if (reading) reading->tick = std::min(tick, kept_tick(reading->tick));
  return reading;
}

base::Result<uint64_t> Recording::Reader::age_at(int64_t tick,
                                                 int64_t read_tick) {
  base::Result<Statement> rows = database_.prepare(
      "SELECT (SELECT monotonic_ns FROM tick WHERE id = ?1) - (SELECT "
      "monotonic_ns FROM tick WHERE id <= ?2 ORDER BY id DESC LIMIT 1)");
  if (!rows) return rows.error();
  rows->bind(0, tick);
  rows->bind(1, read_tick);
  uint64_t age_ns = 0;
  base::Status status = for_each(*rows, [&] {
    age_ns = static_cast<uint64_t>(std::max<int64_t>(rows->integer(0), 0));
  });
  if (!status) return status.error();
  return age_ns;
}

// Mappings that were read before the tick are told as they are likely to be.
base::Status Recording::Reader::bring_to_tick(int64_t tick, int64_t id,
                                              Process& process) {
  const std::optional<DetailReading> reading = reading_at(tick, id);
  if (!reading) return base::Ok{};
  process.tier = reading->tier;
  if (reading->tick == tick) return base::Ok{};
  base::Result<std::optional<model::ResidentCounters>> then =
      counters_at(database_, info_.page_size_bytes, id, reading->tick);
  if (!then) return then.error();
  base::Result<uint64_t> age_ns = age_at(tick, reading->tick);
  if (!age_ns) return age_ns.error();
  if (*then) {
    model::bring_to_now(**then, *age_ns, info_.page_size_bytes, process);
  }
  return base::Ok{};
}

base::Result<Recording::Reader::Moment> Recording::Reader::begin_moment(
    int64_t tick, const ProcessSet& chosen) {
  auto found =
      std::ranges::lower_bound(ticks_, tick, {}, &model::RecordedTick::id);
  if (found == ticks_.end() || found->id != tick) {
    return base::fail(base::ErrorKind::NotFound,
                      database_.path() + ": no tick " + std::to_string(tick));
  }
  Moment moment;
  moment.tick = tick;
  fill_times(*found, moment.sample);
  for (const RecordedProcess& recorded : processes_) {
    if (!lives_at(recorded, tick)) continue;
    if (!chosen.empty() && !chosen.contains(recorded.id)) continue;
    fill_head(recorded, tick, moment.processes[recorded.id]);
  }
  base::Status status = fill_counters(base_of(tick), tick, moment.processes);
  if (status) status = fill_states(base_of(tick), tick, moment.processes);
  if (status) status = fill_machine_at(tick, moment.sample);
  if (status) status = fill_cgroups_at(tick, moment.sample);
  if (!status) return status.error();
  return moment;
}

base::Result<std::vector<Sample>> Recording::Reader::samples_at(
    std::span<const int64_t> ticks, const ProcessSet& chosen) {
  base::Status status = load_details();
  if (!status) return status.error();
  std::vector<Moment> moments;
  for (int64_t tick : ticks) {
    base::Result<Moment> moment = begin_moment(tick, chosen);
    if (!moment) return moment.error();
    moments.push_back(std::move(*moment));
  }
  status = fill_mappings(moments);
  if (!status) return status.error();
  std::vector<Sample> samples;
  for (Moment& moment : moments) {
    for (auto& [id, process] : moment.processes)
      moment.sample.processes.push_back(std::move(process));
    samples.push_back(std::move(moment.sample));
  }
  return samples;
}

base::Result<Sample> Recording::Reader::sample_at(int64_t tick,
                                                  const ProcessSet& chosen) {
  base::Result<std::vector<Sample>> samples =
      samples_at(std::array{tick}, chosen);
  if (!samples) return samples.error();
  return std::move(samples->front());
}

base::Result<Recording::Pair> Recording::Reader::pair_at(
    int64_t tick, int64_t earlier_tick, const ProcessSet& chosen) {
  base::Result<std::vector<Sample>> samples =
      samples_at(std::array{tick, earlier_tick}, chosen);
  if (!samples) return samples.error();
  return Pair{std::move((*samples)[0]), std::move((*samples)[1])};
}

}  // namespace tidemark::store
