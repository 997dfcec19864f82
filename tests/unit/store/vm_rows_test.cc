// What goes into a recording of virtual machines comes out of it at every
// moment.
#include "store/vm_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "store/schema.h"
#include "store/thinning.h"
#include "store/vm_schema.h"
#include "unit/quantities.h"
#include "unit/store/full_disk.h"
#include "unit/store/samples.h"

namespace tidemark::store {
namespace {

using model::Sample;
using model::Vm;
using model::VmScan;
using test::RecordingFile;

using test::kMiB;

// VMs that come, change and go, with every kind of unknown.
class VmHistory {
 public:
  explicit VmHistory(uint32_t seed) : random_(seed) {}

  VmScan next() {
    const Sample times = test::sample_of(count_++, {});
    VmScan scan;
    scan.started_realtime_ns = times.started_realtime_ns;
    scan.started_monotonic_ns = times.started_monotonic_ns;
    scan.ended_monotonic_ns = times.ended_monotonic_ns;
    scan.unseen_count = below(2);
    if (below(3) == 0) vms_[below(vms_.size())] = new_vm();
    for (Vm& vm : vms_) {
      if (vm.id.pid == 0) continue;
      if (below(2) == 0) change(vm);
      scan.vms.push_back(vm);
    }
    return scan;
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }

  model::Reading<uint64_t> reading() {
    if (below(4) == 0) return model::unknown<uint64_t>("denied: no");
    return model::known(below(1000) * kMiB);
  }

  model::Reading<model::SmapsFields> fields() {
    if (below(8) == 0) return model::unknown<model::SmapsFields>("gone");
    model::SmapsFields found;
    for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
      if (below(5) == 0) continue;
      found.set(static_cast<model::SmapsField>(i), below(100) * 4096);
    }
    return model::known(found);
  }

  Vm new_vm() {
    Vm vm;
    if (below(3) == 0) return vm;  // gone
    // By pid, as a scan has them: each slot has its range.
    vm.id = {static_cast<int32_t>(100 + 100 * (++started_)), started_};
    vm.kind = static_cast<model::VmKind>(below(5));
    vm.name = "vm \xff" + std::to_string(below(3));
    vm.processes.push_back({vm.id, "monitor", model::VmRole::Monitor, fields(),
                            fields(), kMiB, std::nullopt});
    change(vm);
    return vm;
  }

  void change(Vm& vm) {
    vm.holds_kvm = below(2) == 0;
    vm.detail_monotonic_ns = below(1'000'000);
    vm.ram = {static_cast<model::RamMeans>(below(4)),
              static_cast<model::ResidentMeans>(below(2)),
              "memfd",
              reading(),
              reading(),
              reading(),
              reading(),
              reading(),
              reading(),
              reading()};
    vm.processes.front().own = fields();
    vm.processes.front().ram = fields();
    vm.processes.resize(1);
    if (below(2) == 0) {
      vm.processes.push_back({{vm.id.pid + 1, 7},
                              "virtiofsd",
                              model::VmRole::Sharer,
                              fields(),
                              fields(),
                              std::nullopt,
                              below(9) * 4096});
    }
    vm.images.clear();
    if (below(2) == 0) vm.images.push_back({"/disk \n1", kMiB, reading()});
    vm.guest = {};
    vm.guest.state = static_cast<model::GuestState>(below(8));
    vm.guest.because = below(2) == 0 ? "it is busy" : "";
    vm.guest.asked_ns = below(1'000'000'000);
    vm.guest.balloon_is_moving = below(2) == 0;
    if (below(2) == 0) vm.guest.deflates_on_oom = below(2) == 0;
    if (below(2) == 0) vm.guest.balloon_bytes = below(100) * kMiB;
    for (std::optional<uint64_t>& value : vm.guest.stats.values)
      if (below(2) == 0) value = below(100) * 512;
    // As no honest guest says.
    if (below(9) == 0) vm.guest.stats.values[0] = UINT64_MAX - 1;
  }

  std::mt19937 random_;
  uint64_t count_ = 0;
  uint64_t started_ = 0;
  std::array<Vm, 4> vms_;
};

Sample sample_with_scan(uint64_t index, VmScan scan) {
  Sample sample = test::sample_of(index, {});
  std::ranges::sort(scan.vms, {}, [](const Vm& vm) { return vm.id.pid; });
  sample.vms = std::move(scan);
  return sample;
}

std::vector<Sample> history_of(uint32_t seed, uint64_t count) {
  VmHistory history(seed);
  std::vector<Sample> samples;
  for (uint64_t i = 0; i < count; ++i)
    samples.push_back(sample_with_scan(i, history.next()));
  return samples;
}

std::vector<VmScan> scans_in(const Recording& recording, int64_t first,
                             int64_t last) {
  base::Result<std::vector<VmScan>> scans = recording.vm_scans(first, last);
  EXPECT_TRUE(scans) << scans.error().what;
  return scans ? std::move(*scans) : std::vector<VmScan>();
}

TEST(VmRows, GiveBackEveryMomentOfMadeUpHistories) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Sample> samples = history_of(seed, 60);
    const RecordingFile file;
    const Recording recording = test::recorded(file, samples);
    const std::vector<VmScan> scans = scans_in(recording, 0, 59);
    ASSERT_EQ(scans.size(), samples.size());
    for (size_t i = 0; i < scans.size(); ++i)
      ASSERT_EQ(scans[i], *samples[i].vms) << "seed " << seed << " at " << i;
  }
}

TEST(VmRows, GiveBackASpanAlone) {
  const std::vector<Sample> samples = history_of(3, 60);
  const RecordingFile file;
  const Recording recording = test::recorded(file, samples);
  const std::vector<VmScan> scans = scans_in(recording, 40, 42);
  ASSERT_EQ(scans.size(), 3U);
  for (size_t i = 0; i < scans.size(); ++i)
    EXPECT_EQ(scans[i], *samples[40 + i].vms);
}

TEST(VmRows, TellEverythingAgainNowAndThen) {
  const auto count = static_cast<uint64_t>(kTicksPerBase) + 40;
  const std::vector<Sample> samples = history_of(5, count);
  const RecordingFile file;
  const Recording recording = test::recorded(file, samples);
  const auto last = static_cast<int64_t>(count) - 1;
  const std::vector<VmScan> scans = scans_in(recording, last, last);
  ASSERT_EQ(scans.size(), 1U);
  EXPECT_EQ(scans[0], *samples.back().vms);
  base::Result<Database> database =
      Database::open(file.path(), OpenMode::ReadOnly);
  ASSERT_TRUE(database);
  EXPECT_EQ(*database->integer("SELECT sum(is_full) FROM vm_tick"), 2);
}

TEST(VmRows, AreNotWrittenWhereNothingChanged) {
  VmHistory history(7);
  VmScan scan;
  while (scan.vms.empty())
    scan = history.next();
  const RecordingFile file;
  (void)test::recorded(file,
                       {sample_with_scan(0, scan), sample_with_scan(1, scan),
                        sample_with_scan(2, scan)});
  base::Result<Database> database =
      Database::open(file.path(), OpenMode::ReadOnly);
  ASSERT_TRUE(database);
  for (const VmChangeTable& table : kVmChangeTables) {
    EXPECT_EQ(*database->integer("SELECT count(*) FROM " +
                                 std::string(table.name) + " WHERE tick > 0"),
              0)
        << table.name;
  }
}

TEST(VmRows, AreWholeAgainAfterAFullDisk) {
  const std::vector<Sample> samples = history_of(11, 60);
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder = test::make_recorder(file.path());
  std::vector<VmScan> kept;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i == 20) {
      ASSERT_TRUE(recorder->commit());
    }
    ASSERT_TRUE(recorder->accept(samples[i]));
    if (i < 20 || i >= 24) kept.push_back(*samples[i].vms);
    if (i != 23) continue;
    const test::FullDisk full(16384);
    EXPECT_FALSE(recorder->commit());
  }
  ASSERT_TRUE(recorder->finish());
  recorder.reset();
  const base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording) << recording.error().what;
  const base::Result<std::vector<VmScan>> scans = recording->vm_scans();
  ASSERT_TRUE(scans) << scans.error().what;
  EXPECT_EQ(*scans, kept);
}

TEST(VmRows, AreRightWhereTicksWereThinned) {
  const std::vector<Sample> samples = history_of(13, 100);
  const RecordingFile file;
  (void)test::recorded(file, samples);
  {
    base::Result<Database> database =
        Database::open(file.path(), OpenMode::ReadWrite);
    ASSERT_TRUE(database) << database.error().what;
    const base::Result<uint64_t> gone = thin_once(*database, 90);
    ASSERT_TRUE(gone) << gone.error().what;
    ASSERT_GT(*gone, 0U);
  }
  const base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording) << recording.error().what;
  ASSERT_LT(recording->ticks().size(), 100U);
  for (const model::RecordedTick& tick : recording->ticks()) {
    const std::vector<VmScan> scans = scans_in(*recording, tick.id, tick.id);
    ASSERT_EQ(scans.size(), 1U) << "at tick " << tick.id;
    EXPECT_EQ(scans[0], *samples[static_cast<size_t>(tick.id)].vms)
        << "at tick " << tick.id;
  }
}

TEST(RecordedVms, TellWhatTheSectionHolds) {
  const std::vector<Sample> samples = history_of(17, 30);
  std::set<int32_t> pids;
  for (const Sample& sample : samples)
    for (const Vm& vm : sample.vms->vms)
      pids.insert(vm.id.pid);
  const RecordingFile file;
  const Recording recording = test::recorded(file, samples);
  const base::Result<std::optional<model::RecordedVms>> vms = recording.vms();
  ASSERT_TRUE(vms) << vms.error().what;
  ASSERT_TRUE(*vms);
  EXPECT_EQ(**vms, (model::RecordedVms{0, 29, 30, pids.size()}));
}

TEST(RecordedVms, AreNotThereWhereNoneWereRecorded) {
  const RecordingFile file;
  const Recording recording = test::recorded(file, {test::sample_of(0, {})});
  const base::Result<std::optional<model::RecordedVms>> vms = recording.vms();
  ASSERT_TRUE(vms) << vms.error().what;
  EXPECT_FALSE(*vms);
  EXPECT_TRUE(scans_in(recording, 0, 0).empty());
}

TEST(RecordedVms, RefuseWhatContradictsItself) {
  for (const char* harm :
       {"UPDATE vm_change SET kind = 99999 WHERE kind IS NOT NULL",
        "UPDATE vm_change SET resident = -99999 WHERE kind IS NOT NULL",
        "UPDATE vm_tick SET is_full = 0", "DELETE FROM vm_machine",
        "DELETE FROM vm_memory_change WHERE memory % 2 = 1",
        "DROP TABLE vm_guest_change"}) {
    const RecordingFile file;
    (void)test::recorded(file, history_of(19, 30));
    {
      base::Result<Database> database =
          Database::open(file.path(), OpenMode::ReadWrite);
      ASSERT_TRUE(database);
      ASSERT_TRUE(database->execute(harm)) << harm;
    }
    const base::Result<Recording> recording = Recording::open(file.path());
    ASSERT_TRUE(recording) << recording.error().what;
    const base::Result<std::vector<VmScan>> scans = recording->vm_scans();
    ASSERT_FALSE(scans) << harm;
    EXPECT_EQ(scans.error().kind, base::ErrorKind::Malformed) << harm;
  }
}

TEST(VmViews, TellBytesAndReasons) {
  Vm vm;
  vm.id = {42, 7};
  vm.kind = model::VmKind::Crosvm;
  vm.name = "one";
  vm.ram.configured_bytes = model::known(96 * kMiB);
  vm.ram.resident_bytes = model::unknown<uint64_t>("denied: smaps");
  vm.guest.balloon_bytes = 16 * kMiB;
  VmScan scan;
  scan.vms.push_back(vm);
  const RecordingFile file;
  (void)test::recorded(file,
                       {sample_with_scan(0, scan), sample_with_scan(1, {})});
  base::Result<Database> database =
      Database::open(file.path(), OpenMode::ReadOnly);
  ASSERT_TRUE(database);
  const auto matching = [&](const char* condition) {
    return *database->integer("SELECT count(*) FROM " + std::string(condition));
  };
  EXPECT_EQ(matching("vm_changes WHERE tick = 0 AND pid = 42 AND kind = "
                     "'crosvm' AND configured_bytes = 100663296 AND "
                     "resident_bytes IS NULL AND resident_unknown_because = "
                     "'denied: smaps'"),
            1);
  EXPECT_EQ(matching("vm_guest_changes WHERE balloon_bytes = 16777216"), 1);
  EXPECT_EQ(matching("vm_changes WHERE tick = 1 AND kind IS NULL AND "
                     "configured_bytes IS NULL"),
            1);
}

}  // namespace
}  // namespace tidemark::store
