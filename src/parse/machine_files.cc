#include "parse/machine_files.h"

#include "base/text.h"
#include "parse/malformed.h"

namespace tidemark::parse {
namespace {

using base::parse_u64;
using base::take_word;
using model::MemInfo;

struct MemInfoLine {
  std::string_view label;
  std::optional<uint64_t> MemInfo::*target;
};
constexpr MemInfoLine kMemInfoLines[] = {
    {"MemTotal", &MemInfo::total_bytes},
    {"MemFree", &MemInfo::free_bytes},
    {"MemAvailable", &MemInfo::available_bytes},
    {"Buffers", &MemInfo::buffers_bytes},
    {"Cached", &MemInfo::cached_bytes},
    {"SwapCached", &MemInfo::swap_cached_bytes},
    {"SwapTotal", &MemInfo::swap_total_bytes},
    {"SwapFree", &MemInfo::swap_free_bytes},
    {"Zswap", &MemInfo::zswap_bytes},
    {"AnonPages", &MemInfo::anon_pages_bytes},
    {"Mapped", &MemInfo::mapped_bytes},
    {"Shmem", &MemInfo::shmem_bytes},
    {"SReclaimable", &MemInfo::slab_reclaimable_bytes},
    {"SUnreclaim", &MemInfo::slab_unreclaimable_bytes},
    {"KernelStack", &MemInfo::kernel_stack_bytes},
    {"PageTables", &MemInfo::page_tables_bytes},
    {"SecPageTables", &MemInfo::secondary_page_tables_bytes},
    {"VmallocUsed", &MemInfo::vmalloc_used_bytes},
    {"Percpu", &MemInfo::percpu_bytes},
    {"Hugetlb", &MemInfo::hugetlb_bytes},
    {"Hugepagesize", &MemInfo::huge_page_size_bytes},
};

const MemInfoLine* find_line(std::string_view label) {
  for (const MemInfoLine& line : kMemInfoLines) {
    if (line.label == label) return &line;
  }
  return nullptr;
}

struct VmStatLine {
  std::string_view label;
  std::optional<uint64_t> model::VmStat::*target;
  bool is_family = false;  // all labels that begin so, summed
};
constexpr VmStatLine kVmStatLines[] = {
    {"pgfault", &model::VmStat::fault_count},
    {"pgmajfault", &model::VmStat::major_fault_count},
    {"pswpin", &model::VmStat::swapped_in_pages},
    {"pswpout", &model::VmStat::swapped_out_pages},
    {"pgscan_", &model::VmStat::scanned_pages, true},
    {"pgsteal_", &model::VmStat::reclaimed_pages, true},
    {"allocstall_", &model::VmStat::stall_count, true},
    {"workingset_refault_anon", &model::VmStat::refault_anon_pages},
    {"workingset_refault_file", &model::VmStat::refault_file_pages},
    {"thp_fault_alloc", &model::VmStat::huge_fault_count},
    {"compact_stall", &model::VmStat::compact_stall_count},
    {"oom_kill", &model::VmStat::oom_kill_count},
};

// The families list the same pages twice: by who reclaimed them (kswapd,
// direct, …) and by what they were. pgscan_direct_throttle counts waits.
bool is_part_of_others(std::string_view label) {
  return label.ends_with("_anon") || label.ends_with("_file") ||
         label.ends_with("_throttle");
}

// mountinfo writes blank, tab, newline and backslash as \040 and the like.
std::string undo_octal(std::string_view text) {
  const auto is_octal = [&](size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '7';
  };
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && is_octal(i + 1) && is_octal(i + 2) &&
        is_octal(i + 3) && text[i + 1] <= '3') {
      plain += static_cast<char>((text[i + 1] - '0') * 64 +
                                 (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool take_device(std::string_view word, Mount& mount) {
  std::optional<uint64_t> major = parse_u64(base::take_until(word, ':'));
  std::optional<uint64_t> minor = parse_u64(word);
  if (!major || !minor || *major > UINT32_MAX || *minor > UINT32_MAX) {
    return false;
  }
  mount.device_major = static_cast<uint32_t>(*major);
  mount.device_minor = static_cast<uint32_t>(*minor);
  return true;
}

base::Result<Mount> parse_mount(std::string_view line) {
  std::string_view rest = line;
  Mount mount;
  take_word(rest);  // id
  take_word(rest);  // parent
  if (!take_device(take_word(rest), mount)) return malformed("mountinfo", line);
  mount.root = undo_octal(take_word(rest));
  mount.mount_point = undo_octal(take_word(rest));
  // Optional fields of any number end in a lone dash.
  std::string_view word;
  do {
    word = take_word(rest);
    if (word.empty()) return malformed("mountinfo", line);
  } while (word != "-");
  mount.type = take_word(rest);
  base::take_until(rest, ' ');
  base::take_until(rest, ' ');  // source, which may be empty: two blanks
  mount.super_options = take_word(rest);
  if (mount.type.empty()) return malformed("mountinfo", line);
  return mount;
}

}  // namespace

base::Result<MemInfo> parse_meminfo(std::string_view text) {
  MemInfo info;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view value = line;
    const MemInfoLine* known = find_line(base::take_until(value, ':'));
    if (!known) continue;
    std::optional<uint64_t> bytes = base::parse_kib(value);
    if (!bytes) return malformed("meminfo", line);
    info.*known->target = bytes;
  }
  return info;
}

base::Result<model::ZoneInfo> parse_zoneinfo(std::string_view text) {
  model::ZoneInfo info;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view rest = line;
    std::string_view label = take_word(rest);
    if (label == "pages") label = take_word(rest);
    uint64_t* target = label == "free"      ? &info.free_pages
                       : label == "managed" ? &info.managed_pages
                       : label == "count:"  ? &info.per_cpu_free_pages
                                            : nullptr;
    if (!target) continue;
    std::optional<uint64_t> pages = parse_u64(base::trim(rest));
    if (!pages) return malformed("zoneinfo", line);
    *target += *pages;
  }
  return info;
}

base::Result<model::VmStat> parse_vmstat(std::string_view text) {
  model::VmStat stat;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view rest = line;
    const std::string_view label = take_word(rest);
    for (const VmStatLine& known : kVmStatLines) {
      const bool is_meant = known.is_family ? label.starts_with(known.label) &&
                                                  !is_part_of_others(label)
                                            : label == known.label;
      if (!is_meant) continue;
      std::optional<uint64_t> count = parse_u64(base::trim(rest));
      if (!count) return malformed("vmstat", line);
      stat.*known.target = (stat.*known.target).value_or(0) + *count;
    }
  }
  return stat;
}

base::Result<model::Pressure> parse_pressure(std::string_view text) {
  model::Pressure pressure;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view rest = line;
    const std::string_view label = take_word(rest);
    std::optional<uint64_t>* target = label == "some"   ? &pressure.some_ns
                                      : label == "full" ? &pressure.full_ns
                                                        : nullptr;
    if (target == nullptr) continue;
    const size_t at = rest.find("total=");
    if (at == std::string_view::npos) return malformed("pressure", line);
    constexpr uint64_t kNsPerUs = 1000;
    std::optional<uint64_t> us = parse_u64(rest.substr(at + 6));
    if (!us || *us > UINT64_MAX / kNsPerUs) return malformed("pressure", line);
    *target = *us * kNsPerUs;
  }
  return pressure;
}

base::Result<model::Zram> parse_zram(std::string_view text) {
  std::string_view rest = text;
  std::optional<uint64_t> stored = parse_u64(take_word(rest));
  take_word(rest);  // compressed, without the allocator's overhead
  std::optional<uint64_t> memory = parse_u64(take_word(rest));
  if (!stored || !memory) return malformed("mm_stat", text);
  return model::Zram{*stored, *memory};
}

base::Result<std::vector<Mount>> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  while (!text.empty()) {
    base::Result<Mount> mount = parse_mount(base::take_line(text));
    if (!mount) return mount.error();
    mounts.push_back(std::move(*mount));
  }
  return mounts;
}

base::Result<std::optional<uint64_t>> parse_cgroup_number(
    std::string_view text) {
  const std::string_view word = base::trim(text);
  if (word == "max") return std::optional<uint64_t>();
  std::optional<uint64_t> number = parse_u64(word);
  if (!number) return malformed("cgroup value", text);
  // v1 says "no limit" as the largest multiple of the page size below 2^63.
  constexpr uint64_t kNoLimit = uint64_t{1} << 62;
  if (*number >= kNoLimit) return std::optional<uint64_t>();
  return number;
}

base::Result<model::GroupStat> parse_group_stat(std::string_view text,
                                                model::CgroupVersion version) {
  struct Line {
    std::string_view v1_name;
    std::string_view v2_name;
    std::optional<uint64_t> model::GroupStat::*target;
  };
  using model::GroupStat;
  constexpr Line kLines[] = {
      {"total_rss", "anon", &GroupStat::anon_bytes},
      {"total_cache", "file", &GroupStat::file_bytes},
      {"total_shmem", "shmem", &GroupStat::shmem_bytes},
      {"total_mapped_file", "file_mapped", &GroupStat::file_mapped_bytes},
      {"total_swap", "", &GroupStat::swap_bytes},
      {"", "kernel", &GroupStat::kernel_bytes},
      {"", "slab", &GroupStat::slab_bytes},
      {"", "pagetables", &GroupStat::page_tables_bytes},
      {"", "kernel_stack", &GroupStat::kernel_stack_bytes},
      {"", "percpu", &GroupStat::percpu_bytes},
      {"", "sock", &GroupStat::socket_bytes},
      {"", "vmalloc", &GroupStat::vmalloc_bytes},
  };
  GroupStat stat;
  const bool is_v1 = version == model::CgroupVersion::V1;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view rest = line;
    const std::string_view name = take_word(rest);
    for (const Line& known : kLines) {
      if (name.empty() || name != (is_v1 ? known.v1_name : known.v2_name)) {
        continue;
      }
      std::optional<uint64_t> bytes = parse_u64(base::trim(rest));
      if (!bytes) return malformed("memory.stat", line);
      stat.*known.target = bytes;
    }
  }
  return stat;
}

bool lists_controller(std::string_view controllers, std::string_view name) {
  std::string_view rest = base::trim(controllers);
  while (!rest.empty()) {
    if (take_word(rest) == name) return true;
  }
  return false;
}

std::vector<UserName> parse_passwd(std::string_view text) {
  std::vector<UserName> users;
  while (!text.empty()) {
    std::string_view line = base::take_line(text);
    const std::string_view name = base::take_until(line, ':');
    base::take_until(line, ':');
    std::optional<uint64_t> uid = parse_u64(base::take_until(line, ':'));
    if (name.empty() || !uid || *uid > UINT32_MAX) continue;
    users.push_back({static_cast<uint32_t>(*uid), std::string(name)});
  }
  return users;
}

}  // namespace tidemark::parse
