#include "store/recorder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "store/database.h"
#include "store/recording.h"
#include "store/schema.h"
#include "store/thinning.h"
#include "unit/store/full_disk.h"
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
using test::accept_all;
using test::expect_same;
using test::full_mapping;
using test::FullDisk;
using test::make_recorder;
using test::process_of;
using test::recorded;
using test::RecordingFile;
using test::sample_at;
using test::sample_of;
using test::scanned_mapping;
using test::without_detail;

constexpr uint64_t kKib = 1024;
constexpr uint64_t kHere = 0x7f0000000000;

// One process with one mapping, through a file and back.
Mapping through_a_file(const Mapping& mapping) {
  const RecordingFile file;
  const Recording recording =
      recorded(file, {sample_of(0, {process_of(42, 7, {mapping})})});
  const Sample sample = sample_at(recording, 0);
  EXPECT_EQ(sample.processes.size(), 1U);
  EXPECT_EQ(sample.processes[0].mappings->size(), 1U);
  return (*sample.processes[0].mappings)[0];
}

int64_t count_of(const std::string& path, const std::string& sql) {
  base::Result<Database> database = Database::open(path, OpenMode::ReadOnly);
  EXPECT_TRUE(database) << database.error().what;
  base::Result<int64_t> count = database->integer(sql);
  EXPECT_TRUE(count) << count.error().what << " of " << sql;
  return count ? *count : -1;
}

TEST(Recorder, GivesBackEveryFieldOfSmaps) {
  Mapping mapping = full_mapping(kHere, 1000, 0, "/lib/x.so");
  uint64_t kib = 3;
  for (SmapsField field : test::all_fields()) {
    if (field == SmapsField::Size) continue;
    mapping.fields.set(field, kib * kKib);
    kib += 4;
  }
  expect_same({mapping}, {through_a_file(mapping)});
}

TEST(Recorder, GivesBackRssThatIsTheSumOfItsParts) {
  Mapping mapping = full_mapping(kHere, 1000, 0);
  mapping.fields.set(SmapsField::SharedClean, 8 * kKib);
  mapping.fields.set(SmapsField::SharedDirty, 4 * kKib);
  mapping.fields.set(SmapsField::PrivateClean, 12 * kKib);
  mapping.fields.set(SmapsField::PrivateDirty, 16 * kKib);
  mapping.fields.set(SmapsField::Rss, 40 * kKib);
  expect_same({mapping}, {through_a_file(mapping)});
}

TEST(Recorder, LeavesFieldsUnknownThatTheKernelDoesNotPrint) {
  Mapping old = full_mapping(kHere, 10, 5);
  Mapping fresh;
  fresh.start_address = old.start_address;
  fresh.end_address = old.end_address;
  fresh.permissions = old.permissions;
  for (SmapsField field : test::all_fields()) {
    // As 5.10 prints them.
    if (field == SmapsField::PssDirty || field == SmapsField::Ksm) continue;
    fresh.fields.set(field, *old.fields.get(field));
  }
  const Mapping back = through_a_file(fresh);
  EXPECT_FALSE(back.fields.has(SmapsField::PssDirty));
  EXPECT_FALSE(back.fields.has(SmapsField::Ksm));
  EXPECT_TRUE(back.fields.has(SmapsField::Locked));
  expect_same({fresh}, {back});
}

TEST(Recorder, GivesBackEveryFlagAndPermission) {
  Mapping mapping = full_mapping(kHere, 4, 1);
  mapping.is_thp_eligible = true;
  mapping.permissions = {true, false, true, true};
  mapping.vm_flags = model::kVmFlagOther;
  for (size_t i = 0; i < model::kVmFlagCount; ++i)
    mapping.vm_flags |= uint64_t{1} << i;
  expect_same({mapping}, {through_a_file(mapping)});
  mapping.permissions = {};
  mapping.vm_flags = 0;
  mapping.is_thp_eligible = false;
  expect_same({mapping}, {through_a_file(mapping)});
}

TEST(Recorder, GivesBackPageSizesOfEachMapping) {
  Mapping huge = full_mapping(kHere, 512, 0, "/anon_hugepage");
  huge.fields.set(SmapsField::KernelPageSize, 2048 * kKib);
  huge.fields.set(SmapsField::MmuPageSize, 2048 * kKib);
  huge.fields.set(SmapsField::PrivateHugetlb, 2048 * kKib);
  expect_same({huge}, {through_a_file(huge)});
}

TEST(Recorder, GivesBackAnyNameByteForByte) {
  for (const std::string& name : std::initializer_list<std::string>{
           "", "/opt/two words/data file", "/tmp/gone (deleted)",
           "/tmp/line\\012break", "[heap]", "[anon:my arena]",
           "/tmp/\xff\xfe\x80 not utf-8", "/tmp/'quoted\"; DROP TABLE tick;--",
           std::string("/long/") + std::string(4000, 'x')}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(through_a_file(full_mapping(kHere, 4, 1, name)).name, name);
  }
}

TEST(Recorder, GivesBackOffsetDeviceAndLargestInode) {
  Mapping mapping = full_mapping(kHere, 4, 1, "/file");
  mapping.offset_bytes = uint64_t{1} << 44;
  mapping.device_major = 0xfff;
  mapping.device_minor = 0xfffff;
  mapping.inode_id = UINT64_MAX - 1;
  expect_same({mapping}, {through_a_file(mapping)});
}

TEST(Recorder, GivesBackTheVsyscallPageAtTheTopOfTheAddressSpace) {
  Mapping mapping = full_mapping(0xffffffffff600000, 1, 0, "[vsyscall]");
  expect_same({mapping}, {through_a_file(mapping)});
}

TEST(Recorder, KeepsTheKindThatWasDecidedWhenItWasRecorded) {
  Process process = process_of(
      42, 7,
      {full_mapping(kHere, 4, 1), full_mapping(kHere + 0x10000, 4, 1),
       full_mapping(kHere + 0x20000, 4, 1)});
  process.kinds = {RegionKind::ThreadStack, RegionKind::Jit, RegionKind::Arena};
  const RecordingFile file;
  const Recording recording = recorded(file, {sample_of(0, {process})});
  EXPECT_EQ(sample_at(recording, 0).processes[0].kinds, process.kinds);
}

TEST(Recorder, DecidesTheKindItselfWhereNobodyHas) {
  Process process =
      process_of(42, 7, {full_mapping(0x555500000000, 4, 1, "[heap]")});
  process.kinds.clear();
  const RecordingFile file;
  const Recording recording = recorded(file, {sample_of(0, {process})});
  EXPECT_EQ(sample_at(recording, 0).processes[0].kinds,
            std::vector<RegionKind>{RegionKind::BrkHeap});
}

TEST(Recorder, NoticesThatAThreadHasMadeAStackOfPlainMemory) {
  Process process = process_of(42, 7, {full_mapping(kHere, 2048, 1)});
  Process later = process;
  process.kinds = {RegionKind::Anonymous};
  later.kinds = {RegionKind::ThreadStack};
  const RecordingFile file;
  const Recording recording =
      recorded(file, {sample_of(0, {process}), sample_of(1, {later})});
  EXPECT_EQ(sample_at(recording, 0).processes[0].kinds[0],
            RegionKind::Anonymous);
  EXPECT_EQ(sample_at(recording, 1).processes[0].kinds[0],
            RegionKind::ThreadStack);
}

TEST(Recorder, KeepsWhatAScanTellsAndNoMore) {
  Process process = process_of(42, 7, {scanned_mapping(kHere, 100, 31)});
  process.tier = DetailTier::Scan;
  const RecordingFile file;
  const Recording recording = recorded(file, {sample_of(0, {process})});
  const Sample sample = sample_at(recording, 0);
  expect_same(*process.mappings, *sample.processes[0].mappings);
  EXPECT_EQ(sample.processes[0].tier, DetailTier::Scan);
  EXPECT_EQ(recording.timeline({})->points[0].scanned_count, 1U);
}

TEST(Recorder, TellsScanAndFullApartAsTheyAlternate) {
  Process full = process_of(42, 7, {full_mapping(kHere, 100, 31)});
  Process scan = process_of(42, 7, {scanned_mapping(kHere, 100, 40)});
  scan.tier = DetailTier::Scan;
  const RecordingFile file;
  const Recording recording =
      recorded(file, {sample_of(0, {scan}), sample_of(1, {full}),
                      sample_of(2, {scan}), sample_of(3, {full})});
  for (int64_t tick = 0; tick < 4; ++tick) {
    SCOPED_TRACE(tick);
    const Process& given = tick % 2 == 0 ? scan : full;
    const Sample sample = sample_at(recording, tick);
    EXPECT_EQ(sample.processes[0].tier, given.tier);
    expect_same(*given.mappings, *sample.processes[0].mappings);
  }
}

TEST(Recorder, GivesBackTheWholeIdentity) {
  Process process = process_of(42, 7, {full_mapping(kHere, 4, 1)});
  process.stat.comm = "a b\xff)";
  process.command_line = std::string("/bin/x\0two words\0\0\xfe", 19);
  process.cgroup_path = "/user.slice/a b";
  process.status.user_id = 0xfffffffe;
  process.oom_score = 666;
  process.oom_score_adjustment = -1000;
  process.status.peak_rss_bytes = 1 << 20;
  process.status.swap_bytes = 4096;
  process.status.page_table_bytes = 8192;
  process.status.hugetlb_bytes = 2 << 20;
  process.status.locked_bytes = 12288;
  process.status.rss_anon_bytes = 40960;
  process.status.rss_file_bytes = 45056;
  process.status.rss_shmem_bytes = 0;
  process.stat.minor_fault_count = 123456789012;
  process.stat.major_fault_count = 3;
  process.stat.thread_count = 17;
  process.status.thread_count = 17;
  const RecordingFile file;
  const Recording recording = recorded(file, {sample_of(0, {process})});
  const Sample sample = sample_at(recording, 0);
  expect_same(process, sample.processes[0]);
  EXPECT_EQ(sample.processes[0].status.thread_count, 17U);
}

TEST(Recorder, NoticesAnExecByItsArgumentsAddress) {
  Process before = process_of(42, 7, {full_mapping(kHere, 4, 1)});
  Process after = before;
  after.stat.argument_address += 0x100;
  after.stat.comm = "other";
  after.command_line = std::string("other\0", 6);
  const RecordingFile file;
  const Recording recording =
      recorded(file, {sample_of(0, {before}), sample_of(1, {before}),
                      sample_of(2, {after}), sample_of(3, {after})});
  ASSERT_EQ(recording.processes().size(), 1U) << "exec keeps the process";
  const std::vector<model::RecordedImage>& images =
      recording.processes()[0].images;
  ASSERT_EQ(images.size(), 2U);
  EXPECT_EQ(images[1].from_tick, 2);
  EXPECT_EQ(images[1].image, images[0].image + 1);
  EXPECT_EQ(sample_at(recording, 1).processes[0].stat.comm, "worker");
  EXPECT_EQ(sample_at(recording, 2).processes[0].stat.comm, "other");
  EXPECT_EQ(count_of(file.path(),
                     "SELECT count(*) FROM events WHERE event = 'exec' AND "
                     "tick = 2 AND pid = 42"),
            1);
}

TEST(Recorder, TakesARenameForNoExec) {
  Process before = process_of(42, 7, {full_mapping(kHere, 4, 1)});
  Process after = before;
  after.stat.comm = "renamed";
  const RecordingFile file;
  const Recording recording =
      recorded(file, {sample_of(0, {before}), sample_of(1, {after})});
  EXPECT_EQ(recording.processes()[0].images.size(), 2U);
  EXPECT_EQ(recording.processes()[0].images[1].image, 0);
  EXPECT_EQ(
      count_of(file.path(), "SELECT count(*) FROM events WHERE event='exec'"),
      0);
}

TEST(Recorder, TakesAnEndForNoExec) {
  Process living = process_of(42, 7, {full_mapping(kHere, 4, 1)});
  Process zombie = without_detail(living);
  zombie.state = model::ProcessState::Zombie;
  zombie.stat.argument_address = 0;
  zombie.command_line.clear();
  zombie.executable = {};
  const RecordingFile file;
  const Recording recording =
      recorded(file, {sample_of(0, {living}), sample_of(1, {zombie})});
  const std::vector<model::RecordedImage>& images =
      recording.processes()[0].images;
  EXPECT_EQ(images.back().image, images.front().image);
  EXPECT_EQ(
      count_of(file.path(), "SELECT count(*) FROM events WHERE event='exec'"),
      0);
}

TEST(Recorder, TellsWhenAProcessHasGone) {
  const Process one = process_of(42, 7, {full_mapping(kHere, 4, 1)});
  const Process two = process_of(43, 7, {full_mapping(kHere, 4, 2)});
  const RecordingFile file;
  const Recording recording = recorded(
      file,
      {sample_of(0, {one, two}), sample_of(1, {two}), sample_of(2, {two})});
  EXPECT_EQ(recording.processes()[0].gone_at_tick, 1);
  EXPECT_FALSE(recording.processes()[1].gone_at_tick);
  EXPECT_EQ(sample_at(recording, 0).processes.size(), 2U);
  EXPECT_EQ(sample_at(recording, 1).processes.size(), 1U);
}

TEST(Recorder, TakesAReusedPidForAnotherProcess) {
  const Process first = process_of(42, 7, {full_mapping(kHere, 40, 1, "/a")});
  const Process second = process_of(42, 8, {full_mapping(kHere, 50, 2, "/b")});
  const RecordingFile file;
  const Recording recording =
      recorded(file, {sample_of(0, {first}), sample_of(1, {second})});
  ASSERT_EQ(recording.processes().size(), 2U);
  EXPECT_EQ(recording.processes()[0].gone_at_tick, 1);
  EXPECT_EQ(recording.processes()[1].first_tick, 1);
  expect_same(*first.mappings, *sample_at(recording, 0).processes[0].mappings);
  expect_same(*second.mappings, *sample_at(recording, 1).processes[0].mappings);
}

TEST(Recorder, TellsSiblingsOfOneClockTickApart) {
  std::vector<Process> siblings;
  for (int32_t i = 0; i < 8; ++i) {
    siblings.push_back(process_of(
        100 + i, 7, {full_mapping(kHere, 100, static_cast<uint64_t>(i) + 1)}));
  }
  const RecordingFile file;
  const Recording recording = recorded(file, {sample_of(0, siblings)});
  const Sample sample = sample_at(recording, 0);
  ASSERT_EQ(sample.processes.size(), 8U);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(sample.processes[i].id, siblings[i].id);
    expect_same(*siblings[i].mappings, *sample.processes[i].mappings);
  }
}

TEST(Recorder, TellsAnotherFileAtTheSameAddressApart) {
  Mapping first = full_mapping(kHere, 10, 5, "/data/a");
  first.inode_id = 11;
  Mapping second = full_mapping(kHere, 10, 5, "/data/b");
  second.inode_id = 12;
  const RecordingFile file;
  const Recording recording =
      recorded(file, {sample_of(0, {process_of(42, 7, {first})}),
                      sample_of(1, {process_of(42, 7, {second})})});
  expect_same({first}, *sample_at(recording, 0).processes[0].mappings);
  expect_same({second}, *sample_at(recording, 1).processes[0].mappings);
}

TEST(Recorder, SaysWhyMemoryWasNotRead) {
  Process process = without_detail(process_of(42, 7, {}));
  process.state = ProcessState::Denied;
  process.mappings =
      model::unknown<std::vector<Mapping>>("denied: /proc/42/smaps");
  const RecordingFile file;
  const Recording recording = recorded(file, {sample_of(0, {process})});
  const Sample sample = sample_at(recording, 0);
  EXPECT_EQ(sample.processes[0].state, ProcessState::Denied);
  EXPECT_FALSE(sample.processes[0].mappings);
  EXPECT_EQ(sample.processes[0].mappings.unknown_because,
            "denied: /proc/42/smaps");
  EXPECT_EQ(recording.ticks()[0].undetailed_count, 1U);
  EXPECT_EQ(recording.timeline({})->points[0].undetailed_count, 1U);
}

TEST(Recorder, TakesTheMemoryFromAProcessThatIsAZombieNow) {
  const Process alive = process_of(42, 7, {full_mapping(kHere, 100, 31)});
  Process dead = without_detail(alive);
  dead.state = ProcessState::Zombie;
  dead.statm = model::Statm();
  const RecordingFile file;
  const Recording recording = recorded(
      file,
      {sample_of(0, {alive}), sample_of(1, {dead}), sample_of(2, {dead})});
  const Sample sample = sample_at(recording, 2);
  EXPECT_EQ(sample.processes[0].state, ProcessState::Zombie);
  EXPECT_TRUE(!sample.processes[0].mappings ||
              sample.processes[0].mappings->empty());
  const base::Result<model::Timeline> timeline = recording.timeline({});
  EXPECT_EQ(timeline->points[0].pss_bytes, 31 * test::kPageBytes);
  EXPECT_EQ(timeline->points[1].pss_bytes, 0U);
  EXPECT_EQ(timeline->points[1].process_count, 0U);
  EXPECT_EQ(count_of(file.path(),
                     "SELECT sum(pss_bytes) FROM categories WHERE tick = 1"),
            0);
  EXPECT_EQ(count_of(file.path(),
                     "SELECT count(*) FROM mapping_spans WHERE size_bytes > 0 "
                     "AND (until_tick IS NULL OR until_tick > 1)"),
            0);
}

TEST(Recorder, WritesNothingForAProcessThatStaysAZombie) {
  const Process alive = process_of(42, 7, {full_mapping(kHere, 100, 31)});
  Process dead = without_detail(alive);
  dead.state = ProcessState::Zombie;
  std::vector<Sample> samples = {sample_of(0, {alive})};
  for (uint64_t i = 1; i < 200; ++i)
    samples.push_back(sample_of(i, {dead}));
  const RecordingFile file;
  const Recording recording = recorded(file, samples);
  EXPECT_LT(count_of(file.path(), "SELECT count(*) FROM proc_detail"), 4);
  const int64_t process = recording.processes()[0].id;
  EXPECT_EQ(*recording.detail_tick(process, 199), 0);
}

TEST(Recorder, KeepsKernelThreadsWithoutMemory) {
  Process thread = without_detail(process_of(2, 0, {}));
  thread.state = ProcessState::KernelThread;
  thread.statm.reset();
  const RecordingFile file;
  const Recording recording = recorded(file, {sample_of(0, {thread})});
  const Sample sample = sample_at(recording, 0);
  EXPECT_EQ(sample.processes[0].state, ProcessState::KernelThread);
  EXPECT_FALSE(sample.processes[0].statm);
  EXPECT_EQ(recording.ticks()[0].undetailed_count, 0U)
      << "it has nothing to read";
}

TEST(Recorder, ForgetsCountersThatCanNoLongerBeRead) {
  const Process known = process_of(42, 7, {full_mapping(kHere, 4, 1)});
  Process blind = known;
  blind.statm.reset();
  blind.oom_score.reset();
  const RecordingFile file;
  const Recording recording =
      recorded(file, {sample_of(0, {known}), sample_of(1, {blind})});
  EXPECT_TRUE(sample_at(recording, 0).processes[0].statm);
  EXPECT_FALSE(sample_at(recording, 1).processes[0].statm)
      << "unknown must not read as what it was before";
}

TEST(Recorder, GivesBackMachineAndPressure) {
  Sample sample = sample_of(0, {});
  model::Machine machine;
  machine.meminfo.total_bytes = uint64_t{16} << 30;
  machine.meminfo.free_bytes = 0;
  machine.meminfo.slab_unreclaimable_bytes = 77 * kKib;
  machine.meminfo.huge_page_size_bytes = 2 << 20;
  machine.zoneinfo = model::ZoneInfo{1, 2, 3};
  machine.vmstat.fault_count = 9'000'000'000'000;
  machine.vmstat.oom_kill_count = 1;
  machine.pressure.some_ns = 5'000'000;
  machine.zram = model::Zram{4096, 1024};
  sample.machine = machine;
  const RecordingFile file;
  const Recording recording = recorded(file, {sample, sample_of(1, {})});
  const Sample back = sample_at(recording, 0);
  ASSERT_TRUE(back.machine);
  EXPECT_EQ(back.machine->meminfo, machine.meminfo);
  EXPECT_EQ(back.machine->zoneinfo, machine.zoneinfo);
  EXPECT_EQ(back.machine->vmstat, machine.vmstat);
  EXPECT_EQ(back.machine->pressure, machine.pressure);
  EXPECT_EQ(back.machine->zram, machine.zram);
  EXPECT_FALSE(sample_at(recording, 1).machine);
}

TEST(Recorder, GivesBackControlGroups) {
  Sample sample = sample_of(0, {});
  model::Cgroup group;
  group.path = "/a b/\xff";
  group.inode_id = 99;
  group.charged_bytes = model::known<uint64_t>(40960);
  group.peak_bytes = model::unknown<uint64_t>("no memory.peak");
  group.limit_bytes = 1 << 30;
  group.stat.anon_bytes = 4096;
  group.stat.vmalloc_bytes = 0;
  sample.cgroups = {group};
  const RecordingFile file;
  const Recording recording = recorded(file, {sample, sample});
  for (int64_t tick : {0, 1}) {
    const Sample back = sample_at(recording, tick);
    ASSERT_EQ(back.cgroups.size(), 1U);
    EXPECT_EQ(back.cgroups[0].path, group.path);
    EXPECT_EQ(back.cgroups[0].inode_id, 99U);
    EXPECT_EQ(back.cgroups[0].charged_bytes.value, 40960U);
    EXPECT_FALSE(back.cgroups[0].peak_bytes);
    EXPECT_EQ(back.cgroups[0].limit_bytes, group.limit_bytes);
    EXPECT_EQ(back.cgroups[0].stat, group.stat);
  }
}

TEST(Recorder, LeavesOutAControlGroupThatIsNoLongerRead) {
  Sample with = sample_of(0, {});
  model::Cgroup group;
  group.path = "/brief";
  group.charged_bytes = model::known<uint64_t>(4096);
  with.cgroups = {group};
  const RecordingFile file;
  const Recording recording = recorded(file, {with, sample_of(1, {})});
  EXPECT_EQ(sample_at(recording, 0).cgroups.size(), 1U);
  EXPECT_TRUE(sample_at(recording, 1).cgroups.empty());
}

TEST(Recorder, TellsAControlGroupMadeAnewApart) {
  Sample first = sample_of(0, {});
  model::Cgroup group;
  group.path = "/job";
  group.inode_id = 1;
  group.charged_bytes = model::known<uint64_t>(4096);
  first.cgroups = {group};
  Sample second = sample_of(1, {});
  group.inode_id = 2;
  second.cgroups = {group};
  const RecordingFile file;
  const Recording recording = recorded(file, {first, second});
  EXPECT_EQ(sample_at(recording, 0).cgroups[0].inode_id, 1U);
  EXPECT_EQ(sample_at(recording, 1).cgroups[0].inode_id, 2U);
}

TEST(Recording, WalksTheMachineInOrderOfTime) {
  std::vector<Sample> samples;
  for (uint64_t second = 0; second < 40; ++second) {
    Sample& sample = samples.emplace_back(sample_of(second, {}));
    if (second % 3 == 1) continue;  // it was not read
    sample.machine = model::Machine();
    sample.machine->meminfo.free_bytes = second * kKib;
  }
  const RecordingFile file;
  const Recording recording = recorded(file, samples);
  std::vector<int64_t> ticks;
  const base::Status status =
      recording.walk_machine([&](int64_t tick, const model::Machine& machine) {
        ticks.push_back(tick);
        EXPECT_EQ(machine.meminfo.free_bytes,
                  static_cast<uint64_t>(tick) * kKib);
      });
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(ticks.size(), 27U);
  EXPECT_TRUE(std::ranges::is_sorted(ticks));
}

TEST(Recording, WalksOneControlGroupThroughItsEndAndAnew) {
  model::Cgroup group;
  group.path = "/job";
  group.inode_id = 1;
  group.charged_bytes = model::known<uint64_t>(4096);
  model::Cgroup other = group;
  other.path = "/other";
  std::vector<Sample> samples = {sample_of(0, {}), sample_of(1, {}),
                                 sample_of(2, {}), sample_of(3, {})};
  samples[0].cgroups = {group, other};
  group.inode_id = 2;
  group.charged_bytes = model::known<uint64_t>(8192);
  group.limit_bytes = 1 << 20;
  samples[1].cgroups = samples[2].cgroups = {group};
  const RecordingFile file;
  const Recording recording = recorded(file, samples);
  std::vector<std::pair<int64_t, std::optional<uint64_t>>> charges;
  const base::Status status = recording.walk_cgroup(
      "/job", [&](int64_t tick, const model::Cgroup& found) {
        charges.emplace_back(tick, found.charged_bytes.value);
        EXPECT_EQ(found.limit_bytes.has_value(),
                  found.charged_bytes.value == 8192U);
      });
  ASSERT_TRUE(status) << status.error().what;
  const std::vector<std::pair<int64_t, std::optional<uint64_t>>> wanted = {
      {0, 4096}, {1, std::nullopt}, {1, 8192}, {3, std::nullopt}};
  EXPECT_EQ(charges, wanted);
}

TEST(Recorder, KeepsMissedTicksAndNotes) {
  Sample sample = sample_of(0, {process_of(42, 7, {})});
  sample.missed_before = {{123, 4, "reading took longer than the interval"},
                          {456, 1, "disk \xff"}};
  sample.notes = {{{42, 7}, "smaps every 2 s"}, {{}, "about all"}};
  const RecordingFile file;
  const Recording recording = recorded(file, {sample});
  const base::Result<std::vector<model::RecordedGap>> gaps = recording.gaps();
  ASSERT_TRUE(gaps);
  ASSERT_EQ(gaps->size(), 2U);
  EXPECT_EQ((*gaps)[0].missed, sample.missed_before[0]);
  EXPECT_EQ((*gaps)[1].missed, sample.missed_before[1]);
  const base::Result<std::vector<model::RecordedNote>> notes =
      recording.notes();
  ASSERT_TRUE(notes);
  ASSERT_EQ(notes->size(), 2U);
  EXPECT_EQ((*notes)[0].process, recording.processes()[0].id);
  EXPECT_EQ((*notes)[0].text, "smaps every 2 s");
  EXPECT_FALSE((*notes)[1].process);
}

TEST(Recorder, KeepsTicksMissedBehindTheLastSample) {
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder = make_recorder(file.path());
  accept_all(*recorder, {sample_of(0, {process_of(42, 7, {})})});
  const model::MissedTick late{123, 4, "reading took longer"};
  recorder->miss({late});
  ASSERT_TRUE(recorder->finish());
  recorder.reset();
  const base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->ticks().size(), 1U);
  EXPECT_EQ(*recording->gaps(), (std::vector<model::RecordedGap>{{1, late}}));
}

TEST(Recorder, GivesBackWhatItSaysOfItself) {
  model::RecordingInfo info;
  info.tool = "tidemark 9";
  info.targets = "a \xff b";
  info.budget = "none";
  info.host = "box";
  info.kernel = "6.12";
  info.boot_id = "x";
  info.origin = "";
  info.page_size_bytes = 65536;
  info.ticks_per_second = 250;
  info.period_ns = 12345;
  info.smaps_fields = test::all_fields();
  const RecordingFile file;
  base::Result<std::unique_ptr<Recorder>> recorder =
      Recorder::create(file.path(), info, {});
  ASSERT_TRUE(recorder);
  ASSERT_TRUE((*recorder)->finish());
  recorder->reset();
  base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording) << recording.error().what;
  EXPECT_EQ(recording->info(), info);
  EXPECT_TRUE(recording->ticks().empty());
  EXPECT_TRUE(recording->timeline({})->points.empty());
}

TEST(Recorder, RefusesAFileThatExists) {
  const RecordingFile file;
  ASSERT_TRUE(make_recorder(file.path())->finish());
  const auto again = Recorder::create(file.path(), {}, {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, base::ErrorKind::Misused);
}

TEST(Recorder, LeavesOnePlainFile) {
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder = make_recorder(file.path());
  accept_all(*recorder, {sample_of(0, {process_of(42, 7, {})})});
  ASSERT_TRUE(recorder->finish());
  recorder.reset();
  EXPECT_FALSE(std::filesystem::exists(file.path() + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(file.path() + "-shm"));
  EXPECT_FALSE(std::filesystem::exists(file.path() + "-journal"));
}

TEST(Recorder, ShowsAReaderWhatIsCommittedWhileItGoesOn) {
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder = make_recorder(file.path());
  const Process process = process_of(42, 7, {full_mapping(kHere, 4, 1)});
  accept_all(*recorder, {sample_of(0, {process}), sample_of(1, {process})});
  ASSERT_TRUE(recorder->commit());
  base::Result<Recording> early = Recording::open(file.path());
  ASSERT_TRUE(early) << early.error().what;
  EXPECT_EQ(early->ticks().size(), 2U);
  accept_all(*recorder, {sample_of(2, {process})});
  ASSERT_TRUE(recorder->commit());
  EXPECT_EQ(early->ticks().size(), 2U);
  EXPECT_TRUE(early->sample_at(1, {})) << "one state for as long as it looks";
  EXPECT_EQ(Recording::open(file.path())->ticks().size(), 3U);
  EXPECT_TRUE(recorder->finish()) << "a reader must not fail the writer";
}

TEST(Recorder, CommitsOnceASecondOfSamples) {
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder = make_recorder(file.path());
  const Process process = process_of(42, 7, {full_mapping(kHere, 4, 1)});
  for (uint64_t i = 0; i < 100; ++i) {
    accept_all(*recorder, {sample_of(i, {process})});
    const RecorderState state = recorder->state();
    EXPECT_EQ(state.tick_count, i + 1);
    EXPECT_LE(state.tick_count - state.committed_tick_count, 10U);
  }
}

TEST(Recorder, KnowsTheHighestOfEachProcess) {
  Process low = process_of(42, 7, {});
  low.status.peak_rss_bytes = 400 * kKib;
  low.statm->resident_pages = 10;
  Process high = low;
  high.statm->resident_pages = 90;
  high.status.peak_rss_bytes = 480 * kKib;
  const RecordingFile file;
  const Recording recording = recorded(
      file, {sample_of(0, {low}), sample_of(1, {high}), sample_of(2, {low})});
  const base::Result<std::vector<model::ProcessMaxima>> maxima =
      recording.maxima();
  ASSERT_TRUE(maxima);
  ASSERT_EQ(maxima->size(), 1U);
  EXPECT_EQ((*maxima)[0].resident_bytes, 90 * test::kPageBytes);
  EXPECT_EQ((*maxima)[0].high_mark_bytes, 480 * kKib);
}

TEST(Recorder, FindsAnIdleProcessAgainBehindABase) {
  const Process idle = process_of(42, 7, {full_mapping(kHere, 4, 1, "/idle")});
  std::vector<Sample> samples = {sample_of(0, {idle})};
  const uint64_t count = static_cast<uint64_t>(kTicksPerBase) + 40;
  for (uint64_t i = 1; i < count; ++i)
    samples.push_back(sample_of(i, {without_detail(idle)}));
  Sample groups = sample_of(count, {without_detail(idle)});
  samples.push_back(groups);
  const RecordingFile file;
  const Recording recording = recorded(file, samples);
  for (const int64_t tick :
       {int64_t{0}, int64_t{1}, kTicksPerBase - 1, kTicksPerBase,
        kTicksPerBase + 1, kTicksPerBase + 40}) {
    SCOPED_TRACE(tick);
    const Sample sample = sample_at(recording, tick);
    ASSERT_EQ(sample.processes.size(), 1U);
    expect_same(idle, sample.processes[0]);
    expect_same(*idle.mappings, *sample.processes[0].mappings);
    EXPECT_EQ(*recording.detail_tick(1, tick), 0);
  }
  EXPECT_EQ(recording.ticks().back().oldest_detail_ticks, count);
}

// Ten ticks that are safe, four more in the open transaction when the disk is
// full, and one that is refused. Then `after`, from tick 10 on.
Recording recorded_with_loss(const RecordingFile& file, const Process& before,
                             const Process& during,
                             const std::vector<Process>& after) {
  std::unique_ptr<Recorder> recorder = make_recorder(file.path());
  for (uint64_t i = 0; i < 10; ++i)
    accept_all(*recorder, {sample_of(i, {before})});
  EXPECT_TRUE(recorder->commit());
  for (uint64_t i = 10; i < 14; ++i) {
    Sample sample = sample_of(i, {during});
    if (i == 12) sample.missed_before = {{99, 3, "slow"}};
    accept_all(*recorder, {sample});
  }
  {
    const FullDisk full(16384);
    EXPECT_FALSE(recorder->commit());
    EXPECT_FALSE(recorder->accept(sample_of(14, {during})));
  }
  for (uint64_t i = 0; i < after.size(); ++i) {
    accept_all(*recorder, {sample_of(15 + i, {after[i]})});
    if (i == 0) {
      EXPECT_EQ(recorder->state().committed_tick_count, 11U)
          << "the first after a loss must be safe at once";
    }
  }
  EXPECT_TRUE(recorder->finish());
  recorder.reset();
  base::Result<Recording> recording = Recording::open(file.path());
  EXPECT_TRUE(recording) << recording.error().what;
  return std::move(*recording);
}

TEST(RecorderOnAFullDisk, GoesOnWhenThereIsRoomAgain) {
  const Process before =
      process_of(42, 7,
                 {full_mapping(kHere, 40, 1, "/a"),
                  full_mapping(kHere + 0x100000, 40, 2, "/b")});
  const Process during = process_of(42, 7, {full_mapping(kHere, 40, 3, "/c")});
  const Process after = process_of(42, 7, {full_mapping(kHere, 40, 4, "/d")});
  const RecordingFile file;
  const Recording recording =
      recorded_with_loss(file, before, during, {after, after});
  ASSERT_EQ(recording.ticks().size(), 12U);
  ASSERT_EQ(recording.processes().size(), 1U) << "it is still the same process";
  expect_same(*before.mappings, *sample_at(recording, 9).processes[0].mappings);
  for (int64_t tick : {10, 11}) {
    expect_same(*after.mappings,
                *sample_at(recording, tick).processes[0].mappings);
    EXPECT_EQ(
        recording.timeline({})->points[static_cast<size_t>(tick)].pss_bytes,
        4 * test::kPageBytes);
    EXPECT_EQ(count_of(file.path(),
                       "SELECT sum(pss_bytes) FROM mapping_spans WHERE tick <= "
                       "10 AND (until_tick IS NULL OR until_tick > 10)"),
              static_cast<int64_t>(4 * test::kPageBytes));
  }
}

TEST(RecorderOnAFullDisk, TellsOfEveryTickThatWasLost) {
  const Process process = process_of(42, 7, {full_mapping(kHere, 40, 1)});
  Process changed = process_of(42, 7, {full_mapping(kHere, 40, 2)});
  const RecordingFile file;
  const Recording recording =
      recorded_with_loss(file, process, changed, {process});
  const base::Result<std::vector<model::RecordedGap>> gaps = recording.gaps();
  ASSERT_TRUE(gaps);
  ASSERT_EQ(gaps->size(), 2U);
  EXPECT_EQ((*gaps)[0].missed, (model::MissedTick{99, 3, "slow"}));
  EXPECT_EQ((*gaps)[1].missed.because, "disk full");
  EXPECT_EQ((*gaps)[1].missed.count, 4U)
      << "taken and not committed; the refused one is the caller's to tell";
  EXPECT_EQ((*gaps)[1].missed.due_monotonic_ns,
            sample_of(10, {}).started_monotonic_ns);
  EXPECT_EQ((*gaps)[1].before_tick, 10);
}

TEST(RecorderOnAFullDisk, TellsOfALossThatNoSampleFollows) {
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder = make_recorder(file.path());
  const Process process = process_of(42, 7, {full_mapping(kHere, 40, 1)});
  accept_all(*recorder, {sample_of(0, {process})});
  ASSERT_TRUE(recorder->commit());
  accept_all(*recorder, {sample_of(1, {process}), sample_of(2, {process})});
  {
    const FullDisk full(16384);
    EXPECT_FALSE(recorder->commit());
  }
  ASSERT_TRUE(recorder->finish());
  recorder.reset();
  const base::Result<std::vector<model::RecordedGap>> gaps =
      Recording::open(file.path())->gaps();
  ASSERT_EQ(gaps->size(), 1U);
  EXPECT_EQ((*gaps)[0].before_tick, 1);
  EXPECT_EQ((*gaps)[0].missed.count, 2U);
}

TEST(RecorderOnAFullDisk, ClaimsNoReadingThatWasNot) {
  const Process process = process_of(42, 7, {full_mapping(kHere, 40, 1)});
  const RecordingFile file;
  const Recording recording = recorded_with_loss(
      file, process, process,
      {without_detail(process), without_detail(process), process});
  EXPECT_EQ(*recording.detail_tick(1, 9), 9);
  EXPECT_EQ(*recording.detail_tick(1, 10), 9);
  EXPECT_EQ(*recording.detail_tick(1, 11), 9);
  EXPECT_EQ(*recording.detail_tick(1, 12), 12);
}

// Two processes; the second is not read again in the first ticks after a loss.
TEST(RecorderOnAFullDisk, ShowsNoFallWhereAProcessIsNotReadAtOnce) {
  const Process busy = process_of(42, 7, {full_mapping(kHere, 40, 4)});
  const Process idle = process_of(43, 7, {full_mapping(kHere, 90, 80, "/i")});
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder = make_recorder(file.path());
  accept_all(*recorder, {sample_of(0, {busy, idle})});
  ASSERT_TRUE(recorder->commit());
  accept_all(*recorder, {sample_of(1, {busy, without_detail(idle)})});
  {
    const FullDisk full(16384);
    EXPECT_FALSE(recorder->commit());
    EXPECT_FALSE(recorder->accept(sample_of(2, {busy, without_detail(idle)})));
  }
  for (uint64_t i = 3; i < 6; ++i)
    accept_all(*recorder, {sample_of(i, {busy, without_detail(idle)})});
  ASSERT_TRUE(recorder->finish());
  recorder.reset();
  const base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording);
  const base::Result<model::Timeline> all = recording->timeline({});
  const base::Result<model::Timeline> both = recording->timeline({1, 2});
  ASSERT_EQ(all->points.size(), 4U);
  for (size_t tick = 0; tick < 4; ++tick) {
    SCOPED_TRACE(tick);
    EXPECT_EQ(all->points[tick].pss_bytes, 84 * test::kPageBytes);
    EXPECT_EQ(both->points[tick].pss_bytes, 84 * test::kPageBytes);
    EXPECT_EQ(all->points[tick].undetailed_count, 0U);
    const Sample sample = sample_at(*recording, static_cast<int64_t>(tick));
    expect_same(*idle.mappings, *sample.processes[1].mappings);
    EXPECT_EQ(*recording->detail_tick(2, static_cast<int64_t>(tick)), 0);
  }
  EXPECT_EQ(recording->ticks()[3].oldest_detail_ticks, 3U);
}

TEST(RecorderOnAFullDisk, KeepsTheLastReadingThoughItsTickIsLost) {
  const Process before = process_of(42, 7, {full_mapping(kHere, 40, 1, "/a")});
  const Process during =
      process_of(42, 7, {full_mapping(kHere + 0x100000, 40, 30, "/b")});
  const RecordingFile file;
  const Recording recording = recorded_with_loss(
      file, before, during, {without_detail(during), without_detail(during)});
  for (int64_t tick : {10, 11}) {
    SCOPED_TRACE(tick);
    expect_same(*during.mappings,
                *sample_at(recording, tick).processes[0].mappings);
    EXPECT_EQ(
        recording.timeline({})->points[static_cast<size_t>(tick)].pss_bytes,
        30 * test::kPageBytes);
    EXPECT_EQ(*recording.detail_tick(1, tick), 9);
  }
}

TEST(RecorderOnAFullDisk, EndsAKindOfMemoryThatIsGoneMeanwhile) {
  Process before =
      process_of(42, 7,
                 {full_mapping(kHere, 40, 8),
                  full_mapping(kHere + 0x100000, 40, 9, "[heap]")});
  before.kinds[1] = RegionKind::BrkHeap;
  const Process after = process_of(42, 7, {full_mapping(kHere, 40, 8)});
  const RecordingFile file;
  const Recording recording =
      recorded_with_loss(file, before, before, {after, after});
  EXPECT_EQ(recording.timeline({})->points[9].pss_bytes, 17 * test::kPageBytes);
  EXPECT_EQ(recording.timeline({})->points[10].pss_bytes, 8 * test::kPageBytes);
}

TEST(RecorderOnAFullDisk, TakesTheMemoryFromWhatBecameAZombieMeanwhile) {
  const Process alive = process_of(42, 7, {full_mapping(kHere, 100, 31)});
  Process dead = without_detail(alive);
  dead.state = ProcessState::Zombie;
  const RecordingFile file;
  const Recording recording =
      recorded_with_loss(file, alive, dead, {dead, dead});
  const Sample sample = sample_at(recording, 11);
  EXPECT_TRUE(!sample.processes[0].mappings ||
              sample.processes[0].mappings->empty());
  for (const store::ProcessSet& chosen : {store::ProcessSet(), {1}}) {
    EXPECT_EQ(recording.timeline(chosen)->points[9].pss_bytes,
              31 * test::kPageBytes);
    EXPECT_EQ(recording.timeline(chosen)->points[10].pss_bytes, 0U);
  }
}

// A mapping's last row and the keyframe without it land on one tick.
TEST(RecorderOnAFullDisk, DoesNotBringBackByThinningWhatHadEnded) {
  const Process before =
      process_of(42, 7,
                 {full_mapping(kHere, 40, 1, "/a"),
                  full_mapping(kHere + 0x100000, 40, 20, "/ended")});
  Process grown = before;
  grown.mappings.value->at(1).fields.set(SmapsField::Referenced, 4 * kKib);
  const Process after = process_of(42, 7, {full_mapping(kHere, 40, 40, "/a")});
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder = make_recorder(file.path());
  accept_all(*recorder, {sample_of(0, {before}), sample_of(1, {grown})});
  ASSERT_TRUE(recorder->commit());
  accept_all(*recorder, {sample_of(2, {after})});
  {
    const FullDisk full(16384);
    EXPECT_FALSE(recorder->commit());
  }
  for (uint64_t i = 3; i < 60; ++i)
    accept_all(*recorder, {sample_of(i, {after})});
  ASSERT_TRUE(recorder->finish());
  recorder.reset();
  {
    base::Result<Database> database =
        Database::open(file.path(), OpenMode::ReadWrite);
    ASSERT_TRUE(database) << database.error().what;
    const base::Result<uint64_t> gone = thin_once(*database, 50);
    ASSERT_TRUE(gone) << gone.error().what;
    ASSERT_GT(*gone, 0U);
  }
  const base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording) << recording.error().what;
  // The first is a base and stays; the next has taken over what came after it.
  const int64_t next = recording->ticks()[1].id;
  ASSERT_GT(next, 1);
  expect_same(*after.mappings,
              *sample_at(*recording, next).processes[0].mappings);
  EXPECT_EQ(count_of(file.path(),
                     "SELECT count(*) FROM mapping_spans WHERE name = '/ended' "
                     "AND size_bytes > 0 AND tick > 0"),
            0);
}

TEST(Recorder, EndsAKindOfMemoryThatGoesAtABase) {
  Process with = process_of(42, 7,
                            {full_mapping(kHere, 40, 8),
                             full_mapping(kHere + 0x100000, 40, 9, "[heap]")});
  with.kinds[1] = RegionKind::BrkHeap;
  const Process without = process_of(42, 7, {full_mapping(kHere, 40, 8)});
  std::vector<Sample> samples = {sample_of(0, {with})};
  for (uint64_t i = 1; i < kTicksPerBase; ++i)
    samples.push_back(sample_of(i, {without_detail(with)}));
  samples.push_back(sample_of(kTicksPerBase, {without}));
  const RecordingFile file;
  const Recording recording = recorded(file, samples);
  EXPECT_EQ(recording.timeline({})->points.back().pss_bytes,
            8 * test::kPageBytes);
}

TEST(RecorderOnAFullDisk, DoesNotForgetHowOftenItHasExecuted) {
  Process first = process_of(42, 7, {full_mapping(kHere, 40, 1)});
  Process second = first;
  second.stat.argument_address += 16;
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder = make_recorder(file.path());
  accept_all(*recorder, {sample_of(0, {first}), sample_of(1, {second})});
  ASSERT_TRUE(recorder->commit());
  accept_all(*recorder, {sample_of(2, {second})});
  {
    const FullDisk full(16384);
    EXPECT_FALSE(recorder->commit());
  }
  accept_all(*recorder, {sample_of(3, {second})});
  ASSERT_TRUE(recorder->finish());
  recorder.reset();
  const base::Result<Recording> recording = Recording::open(file.path());
  EXPECT_EQ(recording->processes()[0].images.back().image, 1);
  EXPECT_EQ(
      count_of(file.path(), "SELECT count(*) FROM events WHERE event='exec'"),
      1);
}

}  // namespace
}  // namespace tidemark::store
