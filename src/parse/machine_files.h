// Parses the files that describe the whole machine and its mounts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/machine.h"

namespace tidemark::parse {

// Unknown labels are skipped, since every release adds some; a known label
// with an unreadable number is an error, because a silent zero would look like
// free memory.
base::Result<model::MemInfo> parse_meminfo(std::string_view text);

// Sums over all zones. The per-CPU counts are pages that are free and yet in
// neither MemFree nor any other line of meminfo.
base::Result<model::ZoneInfo> parse_zoneinfo(std::string_view text);

base::Result<model::VmStat> parse_vmstat(std::string_view text);

// /proc/pressure/memory. "full" is missing on some kernels.
base::Result<model::Pressure> parse_pressure(std::string_view text);

// /sys/block/zramN/mm_stat: original size, compressed size, memory used, ….
base::Result<model::Zram> parse_zram(std::string_view text);

// One line of /proc/PID/mountinfo.
struct Mount {
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  std::string root;           // which part of the file system is mounted
  std::string mount_point;    // escapes undone
  std::string type;           // "tmpfs", "cgroup2", …
  std::string super_options;  // "rw,memory" for a v1 hierarchy
  bool operator==(const Mount&) const = default;
};
base::Result<std::vector<Mount>> parse_mountinfo(std::string_view text);

// memory.current, memory.usage_in_bytes and their like: one number, or "max"
// for no limit, which is the empty optional.
base::Result<std::optional<uint64_t>> parse_cgroup_number(
    std::string_view text);

// memory.stat of a group. v1 counts what groups below it hold in lines of their
// own (total_rss); those are meant. It tells nothing of kernel memory there.
base::Result<model::GroupStat> parse_group_stat(std::string_view text,
                                                model::CgroupVersion version);

// cgroup.controllers and "memory" in it.
bool lists_controller(std::string_view controllers, std::string_view name);

// Login names by user id, from /etc/passwd. Read as text because a static
// binary cannot use the name service; a network user shows as a number.
struct UserName {
  uint32_t user_id = 0;
  std::string name;
};
std::vector<UserName> parse_passwd(std::string_view text);

}  // namespace tidemark::parse
