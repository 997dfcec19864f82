// Small reports whose numbers are easy to follow, and names as a stranger
// would choose them, for all renderers.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/get_report.h"
#include "analysis/maps_report.h"
#include "analysis/ps_report.h"

namespace tidemark::view {

inline constexpr uint64_t kKiB = uint64_t{1} << 10;
inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kGiB = uint64_t{1} << 30;

// 2025-11-15T08:11:08.123456789Z.
inline constexpr uint64_t kExampleTimeNs = 1'763'194'268'123'456'789;

// 6 MiB in RAM, 2 MiB swapped out.
inline analysis::Use known_use() {
  analysis::Use use;
  use.pss = model::amount_of(6 * kMiB);
  use.uss = model::amount_of(4 * kMiB);
  use.shared = model::amount_of(3 * kMiB);
  use.rss = model::amount_of(7 * kMiB);
  use.pss_anon = model::amount_of(5 * kMiB);
  use.pss_file = model::amount_of(1 * kMiB);
  use.pss_shmem = model::amount_of(0);
  use.swap_pss = model::amount_of(2 * kMiB);
  use.hugetlb = model::amount_of(0);
  use.kernel = model::amount_of(64 * kKiB);
  return use;
}

// A process whose smaps may not be read: RSS from statm, kernel from status.
inline analysis::Use denied_use() {
  analysis::Use use;
  for (model::Amount* amount :
       {&use.pss, &use.uss, &use.shared, &use.pss_anon, &use.pss_file,
        &use.pss_shmem, &use.swap_pss, &use.hugetlb}) {
    *amount = model::amount_of(std::nullopt);
  }
  use.rss = model::amount_of(7 * kMiB);
  use.kernel = model::amount_of(64 * kKiB);
  return use;
}

// One known and one denied: most numbers are lower bounds.
inline analysis::Use bounded_use() {
  analysis::Use use = known_use();
  use.add(denied_use());
  return use;
}

inline analysis::GetProcess get_process(int32_t pid, std::string name) {
  analysis::GetProcess process;
  process.id = {pid, 1000};
  process.parent_pid = 1;
  process.name = name;
  process.comm = std::move(name);
  process.use = known_use();
  process.peak_rss_bytes = 9 * kMiB;
  return process;
}

inline analysis::GetProcess denied_get_process(int32_t pid, std::string name) {
  analysis::GetProcess process = get_process(pid, std::move(name));
  process.state = model::ProcessState::Denied;
  process.use = denied_use();
  for (const char* member :
       {"in_ram_bytes", "pss_bytes", "uss_bytes", "shared_bytes",
        "pss_anon_bytes", "pss_file_bytes", "pss_shmem_bytes", "swap_pss_bytes",
        "hugetlb_bytes"}) {
    process.unknown.emplace_back(member,
                                 "denied: /proc/43/smaps: Permission denied");
  }
  return process;
}

inline analysis::GetReport get_report(
    std::vector<analysis::GetProcess> processes) {
  analysis::GetReport report;
  report.realtime_ns = kExampleTimeNs;
  report.read_ns = 21'000'000;
  for (const analysis::GetProcess& process : processes) {
    report.total.add(process.use);
  }
  report.processes = std::move(processes);
  return report;
}

inline analysis::PsRow ps_process(int32_t pid, uint32_t depth,
                                  std::string name) {
  analysis::PsRow row;
  row.depth = depth;
  row.id = static_cast<uint64_t>(pid);
  row.process = {pid, 1000};
  row.parent_pid = 1;
  row.name = std::move(name);
  row.user = "ann";
  row.run_state = 'S';
  row.use = known_use();
  return row;
}

inline analysis::PsRow ps_group(uint64_t id, uint32_t depth, std::string name) {
  analysis::PsRow row;
  row.kind = analysis::RowKind::Group;
  row.depth = depth;
  row.id = id;
  row.key = "/" + name;
  row.name = std::move(name);
  row.use = known_use();
  row.process_count = 1;
  return row;
}

inline analysis::PsRow ps_thread(uint64_t id, uint32_t depth,
                                 std::string name) {
  analysis::PsRow row;
  row.kind = analysis::RowKind::Thread;
  row.depth = depth;
  row.id = id;
  row.name = std::move(name);
  row.run_state = 'S';
  row.use.kernel = model::amount_of(16 * kKiB);
  return row;
}

// As many processes as there are process rows, without an account.
inline analysis::PsReport ps_report(std::vector<analysis::PsRow> rows) {
  analysis::PsReport report;
  report.realtime_ns = kExampleTimeNs;
  report.read_ns = 21'000'000;
  for (const analysis::PsRow& row : rows) {
    if (row.kind != analysis::RowKind::Process) continue;
    report.total.add(row.use);
    ++report.process_count;
  }
  report.rows = std::move(rows);
  return report;
}

// 16 KiB of which 8 KiB are resident, all of it private.
inline model::Mapping mapping_at(uint64_t start, std::string name) {
  using model::SmapsField;
  model::Mapping mapping;
  mapping.start_address = start;
  mapping.end_address = start + 16 * kKiB;
  mapping.permissions = {.read = true, .write = true};
  mapping.name = std::move(name);
  mapping.fields.set(SmapsField::Size, 16 * kKiB);
  mapping.fields.set(SmapsField::Rss, 8 * kKiB);
  mapping.fields.set(SmapsField::Pss, 8 * kKiB);
  mapping.fields.set(SmapsField::PrivateDirty, 8 * kKiB);
  mapping.fields.set(SmapsField::SwapPss, 0);
  return mapping;
}

inline analysis::MapsRegion region_of(model::RegionKind kind, std::string name,
                                      std::vector<model::Mapping> mappings) {
  analysis::MapsRegion region;
  region.kind = kind;
  region.category = model::region_category(kind);
  region.name = std::move(name);
  region.start_address = mappings.front().start_address;
  region.end_address = mappings.back().end_address;
  region.sum.category = region.category;
  for (const model::Mapping& mapping : mappings) {
    region.sum.size_bytes += mapping.size_bytes();
    region.sum.rss_bytes += 8 * kKiB;
    region.sum.pss_bytes += 8 * kKiB;
    region.sum.private_bytes += 8 * kKiB;
    ++region.sum.mapping_count;
  }
  region.explanation = analysis::explain_region(region);
  region.mappings = std::move(mappings);
  return region;
}

inline analysis::MapsReport maps_report(
    std::vector<analysis::MapsRegion> regions) {
  analysis::MapsReport report;
  report.realtime_ns = kExampleTimeNs;
  report.read_ns = 21'000'000;
  report.process = {42, 1000};
  report.name = "postgres";
  report.command = "postgres -D /srv/db";
  report.start_address = regions.front().start_address;
  report.end_address = regions.back().end_address;
  for (const analysis::MapsRegion& region : regions) {
    report.total.add(region.sum);
    analysis::add_categories(report.categories, {region.sum});
  }
  report.status_rss_bytes = report.total.rss_bytes;
  report.peak_rss_bytes = report.total.rss_bytes;
  report.page_table_bytes = 52 * kKiB;
  report.regions = std::move(regions);
  return report;
}

// Pieces that mean something to a terminal, a decoder, JSON or CSV, between
// arbitrary bytes.
inline rc::Gen<std::string> hostile_name() {
  const rc::Gen<std::string> piece = rc::gen::oneOf(
      rc::gen::arbitrary<std::string>(),
      rc::gen::element<std::string>("\x1b[2J", "\n", "\r", "\t", "\xff",
                                    "\xc2\x85", "\xe2\x80\xae", "\xed\xa0\x80",
                                    "\xe5\xae\xbd", "\xcc\x81", "\x7f", "\\",
                                    "\"", "'", ",", " ", "<b>", "{}"));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string joined;
                        for (const std::string& one : pieces)
                          joined += one;
                        return joined;
                      });
}

// Every place of a report that a stranger can write into.
inline analysis::GetReport hostile_get_report(const std::string& name) {
  analysis::GetProcess denied = denied_get_process(43, name);
  denied.depth = 1;
  denied.command = name;
  denied.unknown[0].second = "denied: " + name;
  analysis::GetReport report =
      get_report({get_process(42, name), std::move(denied)});
  report.categories.push_back({.category = model::Category::Heap});
  return report;
}

inline analysis::PsReport hostile_ps_report(const std::string& name,
                                            char run_state) {
  analysis::PsRow process = ps_process(42, 1, name);
  process.comm = process.command = process.user = process.cgroup_path = name;
  process.run_state = run_state;
  process.descriptors = {{name, 3}};
  process.unknown = {{"pss_anon_bytes", name}};
  analysis::PsRow thread = ps_thread(43, 2, name);
  thread.run_state = run_state;
  analysis::PsRow group = ps_group(7, 0, name);
  group.charged_bytes = model::unknown<uint64_t>(name);
  group.peak_bytes = model::unknown<uint64_t>(name);
  analysis::PsReport report = ps_report({group, process, thread});
  report.cgroup_version = model::CgroupVersion::V2;
  report.denied = {"p:42 " + name};
  report.denied_because = "denied: " + name;
  report.cgroup_note = "none: " + name;
  return report;
}

inline analysis::MapsReport hostile_maps_report(const std::string& name) {
  model::Mapping stack = mapping_at(0x7f0000000000, name);
  model::Mapping nameless = mapping_at(0x7f0000004000, "");
  analysis::MapsRegion thread_stack =
      region_of(model::RegionKind::ThreadStack, name, {stack, nameless});
  thread_stack.thread_id = 43;
  analysis::MapsReport report = maps_report(
      {region_of(model::RegionKind::Image, name,
                 {mapping_at(0x400000, name), mapping_at(0x404000, "")}),
       thread_stack});
  report.name = name;
  report.command = name;
  return report;
}

}  // namespace tidemark::view
