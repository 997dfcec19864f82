// A machine whose numbers are easy to follow, as `top` would see it: two
// control groups, a denied process, ten minutes of history.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "analysis/top_snapshot.h"
#include "analysis/top_timeline.h"

namespace tidemark::view::tui {

inline constexpr uint64_t kMb = uint64_t{1} << 20;
inline constexpr uint64_t kSecondNs = 1'000'000'000;
inline constexpr uint64_t kNowNs = 5000 * kSecondNs;

struct ExampleProcess {
  int32_t pid;
  std::string name;
  std::string cgroup;
  uint64_t pss_mb;
  uint64_t private_mb;
  uint64_t shared_mb;
  uint64_t swap_mb;
  int64_t growth_mb;
};

inline model::Process example_process(const ExampleProcess& example) {
  using model::SmapsField;
  model::Process process;
  process.id = {example.pid, static_cast<uint64_t>(example.pid) * 10};
  process.stat.pid = example.pid;
  process.stat.comm = example.name.substr(0, 15);
  process.stat.thread_count = 1;
  process.command_line = example.name;
  process.cgroup_path = example.cgroup;
  process.status.user_id = 1000;
  process.status.peak_rss_bytes = (example.pss_mb + 9) * kMb;
  model::SmapsFields fields;
  fields.set(SmapsField::Pss, example.pss_mb * kMb);
  fields.set(SmapsField::Rss, (example.private_mb + example.shared_mb) * kMb);
  fields.set(SmapsField::PrivateClean, 0);
  fields.set(SmapsField::PrivateDirty, example.private_mb * kMb);
  fields.set(SmapsField::SharedClean, example.shared_mb * kMb);
  fields.set(SmapsField::SharedDirty, 0);
  fields.set(SmapsField::Swap, example.swap_mb * kMb);
  fields.set(SmapsField::SwapPss, example.swap_mb * kMb);
  process.rollup = model::known(fields);
  return process;
}

inline analysis::CategoryUse example_kind(model::Category kind,
                                          uint64_t pss_mb) {
  analysis::CategoryUse use;
  use.category = kind;
  use.pss_bytes = use.rss_bytes = use.private_bytes = pss_mb * kMb;
  use.mapping_count = 1;
  return use;
}

inline analysis::TopMachine example_machine(uint64_t anon_mb) {
  using model::Category;
  analysis::TopMachine machine;
  machine.total_bytes = 24'576 * kMb;
  const auto set = [&](Category kind, uint64_t mb) {
    machine.kinds[static_cast<size_t>(kind)] = static_cast<int64_t>(mb * kMb);
  };
  set(Category::Anon, anon_mb);
  set(Category::Shm, 1966);
  set(Category::File, 6871);
  set(Category::Slab, 742);
  set(Category::Ptab, 190);
  set(Category::Kern, 198);
  set(Category::Wired, 471);
  set(Category::Unnamed, 25);
  set(Category::Free,
      24'576 - anon_mb - 1966 - 6871 - 742 - 190 - 198 - 471 - 25);
  machine.available_bytes = 11'000 * kMb;
  machine.swap_used_bytes = 199 * kMb;
  return machine;
}

inline void add_history(analysis::TopSnapshot& snapshot,
                        const std::vector<ExampleProcess>& examples) {
  auto history = std::make_shared<analysis::TopHistory>();
  constexpr size_t kPoints = 121;
  for (size_t i = 0; i < kPoints; ++i) {
    history->times_ns.push_back(kNowNs - (kPoints - 1 - i) * 5 * kSecondNs);
    history->machine.emplace_back(example_machine(7000 + i * 10));
    history->kinds.emplace_back();
    history->stalled_some.emplace_back(i > 60 && i < 80 ? 40'000 : 1'000);
    history->stalled_full.emplace_back(0);
    for (const ExampleProcess& one : examples) {
      const int64_t before = static_cast<int64_t>(one.pss_mb) - one.growth_mb;
      const int64_t mb = before + one.growth_mb * static_cast<int64_t>(i) /
                                      static_cast<int64_t>(kPoints - 1);
      history->processes[{one.pid, static_cast<uint64_t>(one.pid) * 10}]
          .emplace_back(static_cast<uint64_t>(mb) * kMb);
    }
  }
  snapshot.history = std::move(history);
}

inline std::shared_ptr<const analysis::TopTimeline> example_timeline() {
  auto timeline = std::make_shared<analysis::TopTimeline>();
  for (size_t i = 0; i < 720; ++i) {
    analysis::TopTimelinePoint point;
    point.elapsed_ns = i * 6 * kSecondNs;
    // Up to a peak at 00:41:12, down, and a smaller one near the end.
    const uint64_t height = i <= 412  ? i * 6
                            : i < 500 ? 2472 - (i - 412) * 20
                            : i < 600 ? 712 + (i - 500) * 8
                                      : 1512 - (i - 600) * 4;
    point.kinds[static_cast<size_t>(model::Category::Heap)] = height * kMb;
    point.kinds[static_cast<size_t>(model::Category::Anon)] = height * kMb / 2;
    point.kinds[static_cast<size_t>(model::Category::Shm)] = 900 * kMb;
    point.swap_bytes = i > 350 ? 199 * kMb : 0;
    point.is_after_gap = i == 250;
    timeline->points.push_back(point);
  }
  timeline->gap_count = 3;
  timeline->limit_bytes = 6144 * kMb;
  timeline->mark_bytes = 4692 * kMb;
  using analysis::TopEventKind;
  timeline->events = {
      {12 * kSecondNs, TopEventKind::Start, "psql (41880)"},
      {uint64_t{300} * kSecondNs, TopEventKind::Exec, "osm2pgsql (41877)"},
      {uint64_t{1800} * kSecondNs, TopEventKind::Pressure, "waiting"},
      {uint64_t{2472} * kSecondNs, TopEventKind::Exit, "osm2pgsql (41877)"},
      {uint64_t{3600} * kSecondNs, TopEventKind::OutOfMemory, "1 killed"},
  };
  analysis::find_peaks(*timeline);
  return timeline;
}

inline analysis::ObjectRow example_object(std::string id,
                                          model::ObjectKind kind,
                                          std::string name, uint64_t alloc_mb,
                                          uint64_t size_mb) {
  analysis::ObjectRow row;
  row.id = std::move(id);
  row.kind = kind;
  row.name = std::move(name);
  row.alloc_bytes = model::known(alloc_mb * kMb);
  row.size_bytes = model::known(size_mb * kMb);
  row.swap_bytes = model::known(uint64_t{0});
  return row;
}

// A segment that three map, a memfd that one holds and nobody maps, a file of
// which nobody may say how much is in RAM.
inline std::shared_ptr<const analysis::ObjectReport> example_objects() {
  using model::ObjectKind;
  auto report = std::make_shared<analysis::ObjectReport>();
  analysis::ObjectRow segment = example_object(
      "sysv:4026531839:3", ObjectKind::Sysv, "shared_buffers", 1608, 2048);
  segment.map_count = segment.process_count = 3;
  for (int32_t pid : {41898, 41902, 41869}) {
    segment.holders.push_back({{pid, static_cast<uint64_t>(pid) * 10},
                               "postgres",
                               1,
                               0,
                               {true, true, false}});
  }
  analysis::ObjectRow hidden =
      example_object("memfd:1054", ObjectKind::Memfd, "frames", 700, 700);
  hidden.fd_count = 2;
  hidden.holders.push_back(
      {{2217, 22170}, "firefox", 0, 2, {true, true, false}});
  analysis::ObjectRow file =
      example_object("file:fe:00:77", ObjectKind::File,
                     "/srv/osm/a folder with a long name/nodes.bin", 0, 600);
  file.alloc_bytes = model::unknown<uint64_t>("denied");
  file.map_count = 4;
  file.process_count = 1;
  file.swap_bytes = model::unknown<uint64_t>("denied");
  report->rows = {segment, hidden, file};
  report->process_count = 9;
  report->unreadable.emplace_back();
  analysis::ObjectAccount shmem;
  shmem.total_bytes = 2320 * kMb;
  shmem.named = model::amount_of(2308 * kMb);
  shmem.named.has_unknown = true;
  shmem.rest_bytes = 12 * static_cast<int64_t>(kMb);
  report->shmem = shmem;
  report->file_cache = shmem;
  return report;
}

// One whose guest tells, one whose guest does not.
inline std::shared_ptr<const analysis::TopVms> example_vms() {
  using analysis::VmBandKind;
  auto vms = std::make_shared<analysis::TopVms>();
  vms->has_any = true;
  analysis::VmRow told;
  told.vm.id = {5001, 50010};
  told.vm.name = "web-1";
  told.vm.ram.configured_bytes = model::known(4096 * kMb);
  told.vm.guest.state = model::GuestState::Told;
  told.vm.guest.balloon_bytes = 512 * kMb;
  told.guest = model::known(analysis::GuestView());
  told.ram_bands = model::known(
      analysis::RamBands{1500 * kMb, 900 * kMb, 100 * kMb, 600 * kMb, 0});
  told.bands = {
      {VmBandKind::GuestUsed, "guest used", "by its balloon", 1500 * kMb, 0},
      {VmBandKind::GuestCaches, "guest caches", "by its balloon", 900 * kMb, 0},
      {VmBandKind::GuestReserved, "guest reserved", "the rest", 100 * kMb, 0},
      {VmBandKind::GuestHeld, "free in the guest", "RAM less these", 600 * kMb,
       0},
      {VmBandKind::Monitor, "QEMU itself", "PSS without guest RAM", 116 * kMb,
       1},
  };
  told.bands_sum = told.cost = model::amount_of(3216 * kMb);
  analysis::VmRow silent;
  silent.vm.id = {5002, 50020};
  silent.vm.name = "build-7";
  silent.vm.ram.configured_bytes = model::known(2048 * kMb);
  silent.vm.guest.state = model::GuestState::NoBalloon;
  silent.guest = model::unknown<analysis::GuestView>("it has no balloon");
  silent.ram_bands = model::unknown<analysis::RamBands>("it has no balloon");
  silent.bands = {
      {VmBandKind::GuestUnsplit, "guest RAM", "smaps", 800 * kMb, 0}};
  silent.bands_sum = silent.cost = model::amount_of(800 * kMb);
  vms->report.rows = {told, silent};
  vms->report.cost = model::amount_of(4016 * kMb);
  vms->report.held = model::amount_of(600 * kMb);
  vms->report.held.has_unknown = true;
  vms->report.answering_count = 1;
  for (size_t i = 0; i < 120; ++i) {
    analysis::TopVmPoint point;
    point.time_ns = kNowNs - (119 - i) * 5 * kSecondNs;
    point.bytes = {(300 + i * 10) * kMb,
                   900 * kMb,
                   100 * kMb,
                   600 * kMb,
                   0,
                   116 * kMb,
                   0,
                   0};
    vms->history[{5001, 50010}].push_back(point);
  }
  return vms;
}

inline std::shared_ptr<const analysis::TopLedger> example_ledger() {
  using model::Category;
  auto ledger = std::make_shared<analysis::TopLedger>();
  ledger->tier = model::LedgerTier::Structs;
  ledger->total_bytes = 24'576 * kMb;
  ledger->changed_pages = 23;
  ledger->elapsed_ns = 1'100'000'000;
  ledger->rows = {
      {"files",
       Category::File,
       6871 * kMb,
       31'210,
       {{"/srv/osm/nodes.bin", 3000 * kMb},
        {"/srv/osm/europe.osm.pbf", 1200 * kMb}}},
      {"free",
       Category::Free,
       5900 * kMb,
       2,
       {{"(buddy lists)", 5688 * kMb}, {"(lists of each CPU)", 212 * kMb}}},
      {"anonymous, one process",
       Category::Anon,
       8200 * kMb,
       3,
       {{"osm2pgsql (41877)", 3600 * kMb}, {"firefox (2217)", 960 * kMb}}},
      {"shared memory",
       Category::Shm,
       1966 * kMb,
       2,
       {{"shared_buffers", 1608 * kMb}}},
      {"slab",
       Category::Slab,
       742 * kMb,
       132,
       {{"ext4_inode_cache", 300 * kMb}, {"dentry", 200 * kMb}}},
      {"taken at boot",
       Category::Wired,
       471 * kMb,
       2,
       {{"page structs", 384 * kMb}, {"kernel image", 30 * kMb}}},
      {"page tables", Category::Ptab, 190 * kMb, 0, {}},
      {"vmalloc", Category::Kern, 120 * kMb, 0, {}},
      {"per-CPU", Category::Kern, 78 * kMb, 0, {}},
      {"compressed swap", Category::Swap, 13 * kMb, 0, {}},
      {"unnamed", Category::Unnamed, 25 * kMb, 0, {}},
  };
  return ledger;
}

inline void add_slow(analysis::TopSnapshot& snapshot) {
  snapshot.slow.objects.value = example_objects();
  snapshot.slow.objects.read_ns = kNowNs - 3 * kSecondNs;
  snapshot.slow.vms.value = example_vms();
  snapshot.slow.vms.read_ns = kNowNs - 2 * kSecondNs;
  snapshot.slow.ledger.value = example_ledger();
  snapshot.slow.ledger.read_ns = kNowNs - 14 * kSecondNs;
  snapshot.slow.ledger.cost_ns = 1'100'000'000;
}

inline std::shared_ptr<const analysis::TopSnapshot> example_snapshot() {
  const std::vector<ExampleProcess> examples = {
      {41877, "osm2pgsql", "/import.scope", 3686, 3615, 67, 181, 398},
      {41898, "postgres: checkpointer", "/import.scope", 668, 13, 655, 0, 2},
      {41902, "postgres: writer", "/import.scope", 474, 62, 412, 0, 8},
      {41869, "python3", "/import.scope", 64, 60, 4, 18, 0},
      {41871, "tee", "/import.scope", 2, 1, 1, 0, 0},
      {41872, "gzip", "/import.scope", 3, 2, 1, 0, 0},
      {2217, "firefox", "/user.slice", 1167, 961, 211, 0, 31},
      {3120, "Isolated Web Content with a long name", "/user.slice", 559, 470,
       89, 0, -12},
      {901, "dockerd", "/system.slice", 195, 188, 7, 0, 0},
  };
  auto snapshot = std::make_shared<analysis::TopSnapshot>();
  snapshot->target = "build-07";
  snapshot->period_ns = kSecondNs;
  // 2026-11-15T10:31:08Z.
  snapshot->sample.started_realtime_ns = 1'794'738'668 * kSecondNs;
  snapshot->sample.started_monotonic_ns = kNowNs;
  snapshot->sample.machine.emplace();
  model::MemInfo& meminfo = snapshot->sample.machine->meminfo;
  meminfo.total_bytes = 24'576 * kMb;
  meminfo.free_bytes = 5'900 * kMb;
  meminfo.cached_bytes = 8'837 * kMb;
  meminfo.shmem_bytes = 1'966 * kMb;
  meminfo.anon_pages_bytes = 8'200 * kMb;
  for (const ExampleProcess& one : examples) {
    snapshot->sample.processes.push_back(example_process(one));
    analysis::TopDetail detail;
    detail.read_ns = kNowNs - 8 * kSecondNs;
    detail.kinds = {example_kind(model::Category::Heap, one.pss_mb / 2),
                    example_kind(model::Category::Code, one.pss_mb / 2)};
    if (one.growth_mb > 0) {
      detail.grown = {
          {model::Category::Heap, one.growth_mb * static_cast<int64_t>(kMb)}};
    }
    snapshot->details.push_back(detail);
  }
  model::Process denied =
      example_process({733, "sshd", "/system.slice", 1, 1, 1, 0, 0});
  denied.state = model::ProcessState::Denied;
  denied.rollup = model::unknown<model::SmapsFields>("denied");
  snapshot->sample.processes.push_back(denied);
  snapshot->details.emplace_back();
  snapshot->users = {{1000, "ann"}};
  snapshot->machine = example_machine(8200);
  snapshot->own_cpu_millionths = 14'000;
  snapshot->own_bytes = 18 * kMb;
  add_history(*snapshot, examples);
  snapshot->growers = {
      {"/dev/shm/shared_buffers", model::ProcessId{41902, 419020},
       61 * static_cast<int64_t>(kMb)},
      {"ext4_inode_cache", std::nullopt, 7 * static_cast<int64_t>(kMb)},
  };
  add_slow(*snapshot);
  snapshot->timeline = example_timeline();
  return snapshot;
}

// Who had what at the peak of the timeline.
inline std::vector<analysis::TopDetail> details_at_the_peak() {
  using model::Category;
  std::vector<analysis::TopDetail> details(10);
  for (analysis::TopDetail& detail : details)
    detail.read_ns = kNowNs - 8 * kSecondNs;
  details[0].kinds = {example_kind(Category::Heap, 2423),
                      example_kind(Category::Anon, 1000)};
  details[0].kinds[0].swap_pss_bytes = 199 * kMb;
  for (size_t postgres : {1U, 2U}) {
    details[postgres].kinds = {example_kind(Category::Anon, 118),
                               example_kind(Category::Shm, 450)};
    details[postgres].kinds[0].private_bytes = 100 * kMb;
    details[postgres].kinds[1].private_bytes = 0;
  }
  details[3].kinds = {example_kind(Category::Heap, 49)};
  return details;
}

inline std::shared_ptr<const analysis::TopSnapshot> example_replay() {
  auto snapshot = std::make_shared<analysis::TopSnapshot>(*example_snapshot());
  snapshot->target = "import-europe.tdm";
  snapshot->details = details_at_the_peak();
  analysis::TopPlayback playback;
  playback.tick_index = 412;
  playback.elapsed_ns = uint64_t{412} * 6 * kSecondNs;
  playback.end_ns = uint64_t{719} * 6 * kSecondNs;
  snapshot->playback = playback;
  return snapshot;
}

}  // namespace tidemark::view::tui
