// What goes into a recording comes out of it, whatever happened: made-up
// histories of processes are written and every tick is read back.
#include "store/recording.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <random>

#include "store/database.h"
#include "store/schema.h"
#include "unit/store/samples.h"

namespace tidemark::store {
namespace {

using model::DetailTier;
using model::Mapping;
using model::Process;
using model::ProcessState;
using model::RegionKind;
using model::Sample;
using model::SmapsField;
using test::expect_same;
using test::recorded;
using test::RecordingFile;
using test::sample_at;
using test::sample_of;

// A machine whose processes do at random what processes do.
class History {
 public:
  explicit History(uint32_t seed) : random_(seed) {}

  // The processes of the next tick.
  std::vector<Process> next() {
    if (processes_.size() < 12 && (processes_.empty() || chance(12))) start();
    if (chance(20) && !processes_.empty()) {
      processes_.erase(processes_.begin() +
                       static_cast<ptrdiff_t>(below(processes_.size())));
    }
    std::vector<Process> seen;
    for (Alive& alive : processes_) {
      live(alive);
      seen.push_back(look(alive));
    }
    return seen;
  }

 private:
  struct Alive {
    Process process;
    std::optional<model::Statm> read_statm;  // when its mappings were read last
    std::vector<Mapping> mappings;
    std::vector<RegionKind> kinds;
  };

  size_t below(size_t end) { return random_() % end; }
  bool chance(size_t one_in) { return below(one_in) == 0; }

  void start() {
    Alive alive;
    // Few pids, so that they are used again.
    const auto pid = static_cast<int32_t>(100 + below(16));
    if (std::ranges::any_of(processes_, [&](const Alive& other) {
          return other.process.id.pid == pid;
        })) {
      return;
    }
    alive.process = test::process_of(pid, started_++ / 3, {});
    for (size_t i = below(8); i > 0; --i)
      add_mapping(alive);
    processes_.push_back(std::move(alive));
  }

  void add_mapping(Alive& alive) {
    // Slots apart from each other: mappings of one process do not overlap.
    const uint64_t start = 0x10000000 + below(40) * 0x1000000;
    if (std::ranges::any_of(alive.mappings, [&](const Mapping& mapping) {
          return mapping.start_address == start;
        })) {
      return;
    }
    static constexpr const char* kNames[] = {
        "", "[heap]", "/lib/a b.so", "/tmp/x (deleted)", "\xff\x01", "/data"};
    Mapping mapping = test::full_mapping(start, 1 + below(200), 0,
                                         kNames[below(std::size(kNames))]);
    mapping.inode_id = mapping.name.starts_with('/') ? 1 + below(3) : 0;
    mapping.offset_bytes = below(3) * test::kPageBytes;
    fill(mapping);
    const auto at = std::ranges::lower_bound(alive.mappings, start, {},
                                             &Mapping::start_address);
    const ptrdiff_t index = at - alive.mappings.begin();
    alive.mappings.insert(at, std::move(mapping));
    alive.kinds.insert(alive.kinds.begin() + index,
                       static_cast<RegionKind>(below(18)));
  }

  void fill(Mapping& mapping) {
    for (SmapsField field : {SmapsField::SharedClean, SmapsField::SharedDirty,
                             SmapsField::PrivateClean, SmapsField::PrivateDirty,
                             SmapsField::Referenced, SmapsField::Anonymous,
                             SmapsField::Swap, SmapsField::PssDirty}) {
      mapping.fields.set(field, below(50) * test::kPageBytes);
    }
    uint64_t rss = 0;
    for (SmapsField part :
         {SmapsField::SharedClean, SmapsField::SharedDirty,
          SmapsField::PrivateClean, SmapsField::PrivateDirty}) {
      rss += *mapping.fields.get(part);
    }
    // The kernel reads them one after the other: they may disagree.
    if (chance(4)) rss += test::kPageBytes;
    mapping.fields.set(SmapsField::Rss, rss);
    mapping.fields.set(SmapsField::Pss, below(rss / 1024 + 1) * 1024);
    for (SmapsField rare :
         {SmapsField::Ksm, SmapsField::LazyFree, SmapsField::AnonHugePages,
          SmapsField::SharedHugetlb, SmapsField::PrivateHugetlb,
          SmapsField::SwapPss, SmapsField::Locked}) {
      mapping.fields.set(rare, chance(6) ? below(9) * 1024 : 0);
    }
  }

  void live(Alive& alive) {
    Process& process = alive.process;
    if (chance(5)) add_mapping(alive);
    if (!alive.mappings.empty() && chance(7)) {
      const auto at = static_cast<ptrdiff_t>(below(alive.mappings.size()));
      alive.mappings.erase(alive.mappings.begin() + at);
      alive.kinds.erase(alive.kinds.begin() + at);
    }
    for (size_t i = 0; i < alive.mappings.size(); ++i) {
      Mapping& mapping = alive.mappings[i];
      if (chance(3)) fill(mapping);
      if (chance(15)) {
        mapping.end_address =
            mapping.start_address + (1 + below(300)) * test::kPageBytes;
        mapping.fields.set(SmapsField::Size, mapping.size_bytes());
      }
      if (chance(20)) mapping.permissions.write = !mapping.permissions.write;
      if (chance(20)) mapping.vm_flags ^= uint64_t{1} << below(39);
      if (chance(20)) mapping.is_thp_eligible = !mapping.is_thp_eligible;
      if (chance(30)) alive.kinds[i] = static_cast<RegionKind>(below(18));
      // Another file at the same place.
      if (chance(40)) mapping.inode_id += 100;
    }
    if (chance(3)) process.stat.minor_fault_count += below(1000);
    if (chance(4)) process.statm->resident_pages = below(5000);
    if (chance(9)) process.status.peak_rss_bytes = below(5000) * 1024;
    if (chance(9)) process.oom_score = static_cast<int64_t>(below(2000));
    if (chance(30)) {  // exec
      process.stat.argument_address += 16;
      process.stat.comm = "image" + std::to_string(below(5));
      alive.mappings.clear();
      alive.kinds.clear();
      add_mapping(alive);
    }
    if (chance(40)) process.cgroup_path = "/group" + std::to_string(below(3));
    if (process.state == ProcessState::Ok && chance(60)) {
      process.state = ProcessState::Zombie;
      process.statm = model::Statm();
    }
    if (chance(25)) process.detail_step = 1U << below(4);
  }

  // Its counters move only while its mappings are read, or before that: what
  // was read is then what it still is. How it is scaled elsewise has tests of
  // its own.
  Process look(Alive& alive) {
    Process process = alive.process;
    const bool is_zombie = process.state == ProcessState::Zombie;
    const auto unread = [&] {
      if (alive.read_statm && !is_zombie) process.statm = alive.read_statm;
      return test::without_detail(std::move(process));
    };
    if (is_zombie || chance(3)) return unread();
    if (chance(25)) {
      process = unread();
      process.state = ProcessState::Denied;
      process.mappings = model::unknown<std::vector<Mapping>>("denied: x");
      return process;
    }
    alive.read_statm = process.statm;
    std::vector<Mapping> mappings = alive.mappings;
    if (chance(8)) {
      process.tier = DetailTier::Scan;
      for (Mapping& mapping : mappings) {
        const Mapping scan = test::scanned_mapping(
            mapping.start_address, mapping.size_bytes() / test::kPageBytes,
            below(100));
        mapping.fields = scan.fields;
        mapping.vm_flags = 0;
        mapping.is_thp_eligible = false;
      }
    }
    process.mappings = model::known(std::move(mappings));
    process.kinds = alive.kinds;
    return process;
  }

  std::mt19937 random_;
  std::vector<Alive> processes_;
  uint64_t started_ = 0;
};

// What is known of one process at a tick: the counters of now, the mappings of
// when they were last read.
struct Known {
  Process process;
  std::vector<Mapping> mappings;
  std::vector<RegionKind> kinds;
  DetailTier tier = DetailTier::Counters;
  std::optional<int64_t> detail_tick;
};
using KnownProcesses = std::map<std::pair<int32_t, uint64_t>, Known>;

KnownProcesses advance(const KnownProcesses& before, const Sample& sample,
                       int64_t tick) {
  KnownProcesses now;
  for (const Process& process : sample.processes) {
    const std::pair key(process.id.pid, process.id.start_ticks);
    auto old = before.find(key);
    Known& known = now[key];
    if (old != before.end()) known = old->second;
    known.process = process;
    if (process.mappings) {
      known.mappings = *process.mappings;
      known.kinds = process.kinds;
      known.tier = process.tier;
      known.detail_tick = tick;
    } else if (!test::has_memory(process.state)) {
      known.mappings.clear();
      known.kinds.clear();
    }
  }
  return now;
}

void expect_known(const KnownProcesses& expected, const Sample& back) {
  ASSERT_EQ(back.processes.size(), expected.size());
  for (const Process& process : back.processes) {
    SCOPED_TRACE("pid " + std::to_string(process.id.pid) + " started " +
                 std::to_string(process.id.start_ticks));
    auto found = expected.find({process.id.pid, process.id.start_ticks});
    ASSERT_NE(found, expected.end());
    const Known& known = found->second;
    expect_same(known.process, process);
    if (!known.detail_tick) {
      EXPECT_FALSE(process.mappings);
      continue;
    }
    if (known.mappings.empty()) {
      EXPECT_TRUE(!process.mappings || process.mappings->empty());
      continue;
    }
    ASSERT_TRUE(process.mappings);
    EXPECT_EQ(process.tier, known.tier);
    expect_same(known.mappings, *process.mappings);
    EXPECT_EQ(process.kinds, known.kinds);
  }
}

// What was never read is no more than what is resident.
void add_bound(const model::Statm& statm, model::TimelinePoint& sums) {
  const uint64_t file =
      std::min(statm.shared_pages, statm.resident_pages) * test::kPageBytes;
  const uint64_t all = statm.resident_pages * test::kPageBytes;
  const auto add = [&](model::Category category, uint64_t bytes) {
    sums.category_rss_bytes[static_cast<size_t>(category)] += bytes;
    sums.category_pss_bytes[static_cast<size_t>(category)] += bytes;
  };
  add(model::Category::Anon, all - file);
  add(model::Category::File, file);
  sums.rss_bytes += all;
  sums.pss_bytes += all;
  sums.bounded_bytes += all;
}

// The sums of a tick, added up from the mappings.
model::TimelinePoint sums_of(const KnownProcesses& processes) {
  model::TimelinePoint sums;
  for (const auto& [key, known] : processes) {
    if (known.process.statm) {
      sums.resident_bytes +=
          known.process.statm->resident_pages * test::kPageBytes;
    }
    if (test::has_memory(known.process.state)) {
      ++sums.process_count;
      if (known.mappings.empty()) ++sums.undetailed_count;
    }
    if (!known.detail_tick && test::has_memory(known.process.state)) {
      add_bound(*known.process.statm, sums);
    }
    bool is_scanned = false;
    for (size_t i = 0; i < known.mappings.size(); ++i) {
      const model::SmapsFields& fields = known.mappings[i].fields;
      const uint64_t huge = model::hugetlb_bytes(fields).value_or(0);
      const uint64_t rss = fields.get_or_zero(SmapsField::Rss) + huge;
      const uint64_t bounded = fields.has(SmapsField::Pss) ? 0 : rss - huge;
      const uint64_t pss = fields.get_or_zero(SmapsField::Pss) + bounded + huge;
      const auto at =
          static_cast<size_t>(model::region_category(known.kinds[i]));
      sums.rss_bytes += rss;
      sums.pss_bytes += pss;
      sums.bounded_bytes += bounded;
      sums.category_rss_bytes[at] += rss;
      sums.category_pss_bytes[at] += pss;
      sums.private_bytes += model::uss_bytes(fields).value_or(0) +
                            fields.get_or_zero(SmapsField::PrivateHugetlb);
      sums.swap_bytes += fields.get(SmapsField::SwapPss)
                             .value_or(fields.get_or_zero(SmapsField::Swap));
      is_scanned |= !fields.has(SmapsField::Pss);
    }
    if (is_scanned) ++sums.scanned_count;
  }
  return sums;
}

void expect_sums(const model::TimelinePoint& expected,
                 const model::TimelinePoint& point) {
  EXPECT_EQ(point.rss_bytes, expected.rss_bytes);
  EXPECT_EQ(point.pss_bytes, expected.pss_bytes);
  EXPECT_EQ(point.private_bytes, expected.private_bytes);
  EXPECT_EQ(point.bounded_bytes, expected.bounded_bytes);
  EXPECT_EQ(point.estimated_bytes, 0U);
  EXPECT_EQ(point.swap_bytes, expected.swap_bytes);
  EXPECT_EQ(point.resident_bytes, expected.resident_bytes);
  EXPECT_EQ(point.process_count, expected.process_count);
  EXPECT_EQ(point.undetailed_count, expected.undetailed_count);
  EXPECT_EQ(point.scanned_count, expected.scanned_count);
  EXPECT_EQ(point.category_pss_bytes, expected.category_pss_bytes);
  EXPECT_EQ(point.category_rss_bytes, expected.category_rss_bytes);
}

// The sums of all bands at a tick, each of which holds from change to change.
uint64_t band_sum(const std::vector<model::Band>& bands, size_t index) {
  uint64_t sum = 0;
  for (const model::Band& band : bands) {
    uint64_t value = 0;
    for (const model::BandPoint& point : band.points) {
      if (point.tick_index <= index) value = point.shares.pss_bytes;
    }
    sum += value;
  }
  return sum;
}

// The view is of mappings: what was never read has none.
void expect_view_sums(const std::string& path, int64_t tick,
                      const KnownProcesses& known) {
  const model::TimelinePoint sums = sums_of(known);
  model::TimelinePoint unread;
  for (const auto& [key, one] : known) {
    if (!one.detail_tick && test::has_memory(one.process.state))
      add_bound(*one.process.statm, unread);
  }
  const uint64_t unread_bytes = unread.rss_bytes;
  base::Result<Database> database = Database::open(path, OpenMode::ReadOnly);
  ASSERT_TRUE(database);
  const std::string at = std::to_string(tick);
  const auto sum = [&](const std::string& column) {
    return database->integer("SELECT coalesce(sum(" + column +
                             "), 0) FROM mapping_spans WHERE tick <= " + at +
                             " AND (until_tick IS NULL OR until_tick > " + at +
                             ")");
  };
  const auto huge = [&](const std::string& label) {
    return *sum("coalesce(json_extract(rare_kib, '$.\"" + label +
                "\"'), 0) * 1024");
  };
  const int64_t huge_sum = huge("Shared_Hugetlb") + huge("Private_Hugetlb");
  EXPECT_EQ(*sum("rss_bytes") + huge_sum,
            static_cast<int64_t>(sums.rss_bytes - unread_bytes));
  EXPECT_EQ(*sum("pss_bytes") + huge_sum,
            static_cast<int64_t>(sums.pss_bytes - sums.bounded_bytes));
}

struct HistoryOptions {
  uint32_t seed = 0;
  size_t tick_count = 0;
  size_t checked_from = 0;
  size_t checked_every = 1;
  RecorderOptions recorder;
};

void check_history(const HistoryOptions& options) {
  History history(options.seed);
  std::vector<Sample> samples;
  for (size_t i = 0; i < options.tick_count; ++i)
    samples.push_back(sample_of(i, history.next()));
  const RecordingFile file;
  const Recording recording = recorded(file, samples, options.recorder);
  const std::vector<model::RecordedTick>& ticks = recording.ticks();
  if (options.recorder.most_bytes) {
    ASSERT_LT(ticks.size(), samples.size());
  } else {
    ASSERT_EQ(ticks.size(), samples.size());
  }
  const base::Result<model::Timeline> timeline = recording.timeline({});
  ASSERT_TRUE(timeline) << timeline.error().what;
  std::vector<int64_t> tick_ids;
  for (const model::RecordedTick& tick : ticks)
    tick_ids.push_back(tick.id);
  const base::Result<model::Bands> bands = recording.bands({}, tick_ids);
  ASSERT_TRUE(bands) << bands.error().what;
  KnownProcesses known;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto tick = static_cast<int64_t>(i);
    known = advance(known, samples[i], tick);
    const auto at =
        std::ranges::lower_bound(ticks, tick, {}, &model::RecordedTick::id);
    const auto index = static_cast<size_t>(at - ticks.begin());
    const bool is_kept = at != ticks.end() && at->id == tick;
    if (!is_kept || i < options.checked_from ||
        index % options.checked_every != 0) {
      continue;
    }
    SCOPED_TRACE("tick " + std::to_string(i) + " of seed " +
                 std::to_string(options.seed));
    expect_known(known, sample_at(recording, tick));
    const model::TimelinePoint sums = sums_of(known);
    expect_sums(sums, timeline->points[index]);
    EXPECT_EQ(band_sum(bands->by_process, index), sums.pss_bytes);
    EXPECT_EQ(band_sum(bands->by_object, index), sums.pss_bytes);
    for (const model::RecordedProcess& process : recording.processes()) {
      auto found =
          known.find({process.process.pid, process.process.start_ticks});
      const bool lives =
          process.first_tick <= tick &&
          (!process.gone_at_tick || *process.gone_at_tick > tick);
      if (!lives || found == known.end()) continue;
      EXPECT_EQ(*recording.detail_tick(process.id, tick),
                found->second.detail_tick);
    }
    if (index % 16 == 0) expect_view_sums(file.path(), tick, known);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Recording, GivesBackEveryTickOfAnyHistory) {
  const bool holds = rc::check([] {
    HistoryOptions options;
    options.seed = *rc::gen::arbitrary<uint32_t>();
    options.tick_count = *rc::gen::inRange<size_t>(1, 50);
    check_history(options);
    RC_ASSERT(!testing::Test::HasFailure());
  });
  EXPECT_TRUE(holds);
}

// Long enough for a base and for many keyframes of each process.
TEST(Recording, GivesBackALongHistoryAcrossABase) {
  HistoryOptions options;
  options.seed = 7;
  options.tick_count = static_cast<size_t>(kTicksPerBase) + 100;
  options.checked_from = static_cast<size_t>(kTicksPerBase) - 20;
  options.checked_every = 3;
  check_history(options);
}

// What a limit takes are whole ticks; those that stay are what they were.
TEST(Recording, GivesBackEveryTickThatALimitHasLeft) {
  HistoryOptions options;
  options.seed = 9;
  options.tick_count = 3000;
  options.checked_every = 7;
  options.recorder.most_bytes = 1'450'000;
  check_history(options);
}

TEST(Recording, SumsOnlyTheChosenProcesses) {
  const Process one = test::process_of(
      1, 1,
      {test::full_mapping(0x10000, 10, 3), test::full_mapping(0x90000, 10, 4)});
  const Process two =
      test::process_of(2, 1, {test::full_mapping(0x10000, 10, 5)});
  const RecordingFile file;
  const Recording recording = recorded(file, {sample_of(0, {one, two})});
  const auto pages = [&](const ProcessSet& chosen) {
    return recording.timeline(chosen)->points[0].pss_bytes / test::kPageBytes;
  };
  EXPECT_EQ(pages({1}), 7U);
  EXPECT_EQ(pages({2}), 5U);
  EXPECT_EQ(pages({1, 2}), 12U);
  EXPECT_EQ(recording.sample_at(0, {2})->processes.size(), 1U);
}

TEST(Recording, RefusesATickItDoesNotHave) {
  const RecordingFile file;
  const Recording recording = recorded(file, {sample_of(0, {})});
  for (int64_t tick : {int64_t{-1}, int64_t{1}, INT64_MAX}) {
    const base::Result<Sample> sample = recording.sample_at(tick, {});
    ASSERT_FALSE(sample);
    EXPECT_EQ(sample.error().kind, base::ErrorKind::NotFound);
  }
}

// So many that threads share them where there are several CPUs.
TEST(Recording, GivesBackManyProcessesAtTwoMoments) {
  constexpr int32_t kProcesses = 150;
  std::vector<Sample> samples;
  for (uint64_t i = 0; i < 40; ++i) {
    std::vector<Process> processes;
    for (int32_t pid = 1; pid <= kProcesses; ++pid) {
      const uint64_t pages = (static_cast<uint64_t>(pid) * 7 + i) % 80;
      processes.push_back(test::process_of(
          pid, 1, {test::full_mapping(0x10000, 90, pages, "[heap]")}));
    }
    samples.push_back(sample_of(i, processes));
  }
  const RecordingFile file;
  const Recording recording = recorded(file, samples);
  const base::Result<Recording::Pair> pair = recording.pair_at(39, 11, {});
  ASSERT_TRUE(pair) << pair.error().what;
  ASSERT_EQ(pair->at.processes.size(), size_t{kProcesses});
  ASSERT_EQ(pair->earlier.processes.size(), size_t{kProcesses});
  for (size_t i = 0; i < pair->at.processes.size(); ++i) {
    EXPECT_EQ(*pair->at.processes[i].mappings,
              *samples[39].processes[i].mappings);
    EXPECT_EQ(*pair->earlier.processes[i].mappings,
              *samples[11].processes[i].mappings);
  }
}

TEST(Recording, OpensForOneMomentWithWhatThatNeeds) {
  std::vector<Sample> samples;
  for (uint64_t i = 0; i < 50; ++i) {
    samples.push_back(sample_of(
        i, {test::process_of(1, 1, {test::full_mapping(0x10000, 90, i)})}));
  }
  const RecordingFile file;
  const Recording whole = recorded(file, samples);
  const std::vector<model::RecordedTick>& all = whole.ticks();
  const uint64_t before_ns = all[40].monotonic_ns - all[30].monotonic_ns;
  const base::Result<Recording> at_40 =
      Recording::open_at(whole.path(), 40, before_ns);
  ASSERT_TRUE(at_40) << at_40.error().what;
  const std::vector<model::RecordedTick> expected = {all[0], all[30], all[40],
                                                     all[49]};
  EXPECT_EQ(at_40->ticks(), expected);
  EXPECT_EQ(*at_40->sample_at(40, {})->processes[0].mappings,
            *whole.sample_at(40, {})->processes[0].mappings);
  EXPECT_FALSE(at_40->timeline({})) << "most ticks are not there";
  EXPECT_FALSE(at_40->bands({}, {}));
}

TEST(Recording, OpensForAMomentWithNothingBeforeIt) {
  const RecordingFile file;
  const Recording whole =
      recorded(file, {sample_of(0, {}), sample_of(1, {}), sample_of(2, {})});
  for (int64_t tick : {int64_t{1}, int64_t{-7}, INT64_MAX}) {
    const base::Result<Recording> part =
        Recording::open_at(whole.path(), tick, UINT64_MAX / 4);
    ASSERT_TRUE(part) << part.error().what;
    EXPECT_EQ(part->ticks().size(), tick == 1 ? 3U : 2U) << tick;
  }
}

TEST(Recording, CountsTheRowsOfItsTables) {
  const RecordingFile file;
  const Recording recording =
      recorded(file, {sample_of(0, {}), sample_of(1, {})});
  const base::Result<std::vector<TableSize>> sizes = recording.table_sizes();
  ASSERT_TRUE(sizes) << sizes.error().what;
  const auto tick = std::ranges::find(*sizes, "tick", &TableSize::name);
  ASSERT_NE(tick, sizes->end());
  EXPECT_EQ(tick->row_count, 2U);
}

}  // namespace
}  // namespace tidemark::store
