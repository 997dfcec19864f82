// Parses the small files of /proc/PID. Each is a pure function of the text;
// kernels before and after ours may have more or fewer lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/process.h"

namespace tidemark::parse {

// comm stands in brackets and may itself contain brackets, blanks and
// newlines: it ends at the last closing one.
base::Result<model::ProcessStat> parse_stat(std::string_view text);

base::Result<model::Statm> parse_statm(std::string_view text);

// A known label with an unreadable value is an error; a missing label leaves
// its field empty (kernel threads have no Vm lines).
base::Result<model::ProcessStatus> parse_status(std::string_view text);

// oom_score and oom_score_adj: one number, which may be negative.
base::Result<int64_t> parse_oom_number(std::string_view text);

// /proc/PID/task/TID/children: pids parted by blanks.
base::Result<std::vector<int32_t>> parse_children(std::string_view text);

// The stack pointer in /proc/PID/task/TID/syscall. Empty for "running": the
// kernel tells it only of threads that sleep.
base::Result<std::optional<uint64_t>> parse_syscall_stack_pointer(
    std::string_view text);

// Arguments end in NUL. Programs overwrite them at will (postgres: writer) and
// leave NULs and blanks behind, which are dropped; the rest stays as it is.
std::string_view parse_command_line(std::string_view text);

// One line of /proc/PID/cgroup, "4:memory:/path" or "0::/path".
struct CgroupMembership {
  uint64_t hierarchy_id = 0;
  std::string controllers;  // "memory", "cpu,cpuacct"; empty for v2
  std::string path;
  bool operator==(const CgroupMembership&) const = default;
};
base::Result<std::vector<CgroupMembership>> parse_cgroup(std::string_view text);

// What an open descriptor refers to, from the target of its link: "file",
// "deleted file", "device", "socket", "pipe", "memfd", "dma-buf", "namespace",
// or the name of the anonymous inode ("eventfd", "bpf-map", …).
std::string descriptor_kind(std::string_view link_target);

// "memlock:" in the fdinfo of a BPF map or program: its kernel memory in bytes.
// Empty when there is no such line.
base::Result<std::optional<uint64_t>> parse_fdinfo_memlock(
    std::string_view text);

}  // namespace tidemark::parse
