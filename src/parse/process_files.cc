#include "parse/process_files.h"

#include <array>

#include "base/text.h"
#include "parse/malformed.h"

namespace tidemark::parse {
namespace {

using base::parse_u64;
using base::take_word;

// PF_KTHREAD of include/linux/sched.h; the bit has not moved since 2.6.
constexpr uint64_t kKernelThreadFlag = 0x00200000;

// Numbers of stat after comm, by their place in proc(5). The state letter is
// field 3.
constexpr size_t kFirstField = 3;
constexpr size_t kLastField = 48;
constexpr size_t kFieldsKept = kLastField - kFirstField + 1;

using StatFields = std::array<std::string_view, kFieldsKept>;

std::string_view field(const StatFields& fields, size_t number) {
  return fields[number - kFirstField];
}

struct StatusLine {
  std::string_view label;
  std::optional<uint64_t> model::ProcessStatus::*target;
};
constexpr StatusLine kStatusLines[] = {
    {"VmPeak", &model::ProcessStatus::peak_size_bytes},
    {"VmSize", &model::ProcessStatus::size_bytes},
    {"VmLck", &model::ProcessStatus::locked_bytes},
    {"VmHWM", &model::ProcessStatus::peak_rss_bytes},
    {"VmRSS", &model::ProcessStatus::rss_bytes},
    {"RssAnon", &model::ProcessStatus::rss_anon_bytes},
    {"RssFile", &model::ProcessStatus::rss_file_bytes},
    {"RssShmem", &model::ProcessStatus::rss_shmem_bytes},
    {"VmPTE", &model::ProcessStatus::page_table_bytes},
    {"VmSwap", &model::ProcessStatus::swap_bytes},
    {"HugetlbPages", &model::ProcessStatus::hugetlb_bytes},
};

// A pid or a session. Both can be -1 in a process that is being torn down.
std::optional<int32_t> parse_i32(std::string_view token) {
  std::optional<int64_t> number = base::parse_i64(token);
  if (!number || *number < INT32_MIN || *number > INT32_MAX) {
    return std::nullopt;
  }
  return static_cast<int32_t>(*number);
}

const StatusLine* find_status_line(std::string_view label) {
  for (const StatusLine& line : kStatusLines) {
    if (line.label == label) return &line;
  }
  return nullptr;
}

base::Status read_status_line(std::string_view line,
                              model::ProcessStatus& status) {
  std::string_view value = line;
  const std::string_view label = base::take_until(value, ':');
  if (label == "Uid") {
    std::optional<uint64_t> uid = parse_u64(take_word(value));
    if (!uid || *uid > UINT32_MAX) return malformed("status", line);
    status.user_id = static_cast<uint32_t>(*uid);
  } else if (label == "Threads") {
    status.thread_count = parse_u64(base::trim(value));
    if (!status.thread_count) return malformed("status", line);
  } else if (const StatusLine* known = find_status_line(label)) {
    std::optional<uint64_t> bytes = base::parse_kib(value);
    if (!bytes) return malformed("status", line);
    status.*known->target = bytes;
  }
  return base::Ok{};
}

}  // namespace

base::Result<model::ProcessStat> parse_stat(std::string_view text) {
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos ||
      close < open) {
    return malformed("stat", text);
  }
  std::optional<int32_t> pid =
      base::parse_pid(base::trim(text.substr(0, open)));
  StatFields fields;
  std::string_view rest = base::trim(text.substr(close + 1));
  for (std::string_view& word : fields)
    word = take_word(rest);

  std::optional<int32_t> parent = parse_i32(field(fields, 4));
  std::optional<int32_t> session = parse_i32(field(fields, 6));
  std::optional<uint64_t> flags = parse_u64(field(fields, 9));
  std::optional<uint64_t> minor_faults = parse_u64(field(fields, 10));
  std::optional<uint64_t> major_faults = parse_u64(field(fields, 12));
  std::optional<uint64_t> threads = parse_u64(field(fields, 20));
  std::optional<uint64_t> start = parse_u64(field(fields, 22));
  if (!pid || field(fields, 3).size() != 1 || !parent || !session || !flags ||
      !minor_faults || !major_faults || !threads || !start) {
    return malformed("stat", text);
  }
  model::ProcessStat stat;
  stat.pid = *pid;
  stat.comm = text.substr(open + 1, close - open - 1);
  stat.state = field(fields, 3)[0];
  stat.parent_pid = *parent;
  stat.session_id = *session;
  stat.is_kernel_thread = (*flags & kKernelThreadFlag) != 0;
  stat.minor_fault_count = *minor_faults;
  stat.major_fault_count = *major_faults;
  stat.thread_count = *threads;
  stat.start_ticks = *start;
  // Absent before 3.5, 0 of processes we may not look into.
  stat.argument_address = parse_u64(field(fields, 48)).value_or(0);
  return stat;
}

base::Result<model::Statm> parse_statm(std::string_view text) {
  // size resident shared text lib data dt; lib and dt are always 0.
  std::array<uint64_t, 7> pages{};
  std::string_view rest = base::trim(text);
  for (uint64_t& count : pages) {
    std::optional<uint64_t> number = parse_u64(take_word(rest));
    if (!number) return malformed("statm", text);
    count = *number;
  }
  return model::Statm{pages[0], pages[1], pages[2], pages[3], pages[5]};
}

base::Result<model::ProcessStatus> parse_status(std::string_view text) {
  model::ProcessStatus status;
  while (!text.empty()) {
    base::Status read = read_status_line(base::take_line(text), status);
    if (!read) return read.error();
  }
  return status;
}

base::Result<int64_t> parse_oom_number(std::string_view text) {
  std::optional<int64_t> number = base::parse_i64(base::trim(text));
  if (!number) return malformed("oom_score", text);
  return *number;
}

base::Result<std::vector<int32_t>> parse_children(std::string_view text) {
  std::vector<int32_t> children;
  std::string_view rest = base::trim(text);
  while (!rest.empty()) {
    std::optional<int32_t> pid = base::parse_pid(take_word(rest));
    if (!pid) return malformed("children", text);
    children.push_back(*pid);
  }
  return children;
}

base::Result<std::optional<uint64_t>> parse_syscall_stack_pointer(
    std::string_view text) {
  std::string_view rest = base::trim(text);
  if (rest == "running") return std::optional<uint64_t>();
  // "nr a1 … a6 sp pc" inside a system call, "-1 sp pc" outside one. Kernel
  // threads print "0 0x0 …" with a pointer of 0.
  std::string_view before_last;
  std::string_view last;
  while (!rest.empty()) {
    before_last = last;
    last = take_word(rest);
  }
  if (!before_last.starts_with("0x")) return malformed("syscall", text);
  std::optional<uint64_t> pointer = base::parse_hex(before_last.substr(2));
  if (!pointer) return malformed("syscall", text);
  if (*pointer == 0) return std::optional<uint64_t>();
  return pointer;
}

std::string_view parse_command_line(std::string_view text) {
  const size_t end = text.find_last_not_of(std::string_view("\0 ", 2));
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

base::Result<std::vector<CgroupMembership>> parse_cgroup(
    std::string_view text) {
  std::vector<CgroupMembership> memberships;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view rest = line;
    std::optional<uint64_t> id = parse_u64(base::take_until(rest, ':'));
    // Only two colons part the fields: a path may contain more.
    const std::string_view controllers = base::take_until(rest, ':');
    if (!id || !rest.starts_with('/')) return malformed("cgroup", line);
    memberships.push_back({*id, std::string(controllers), std::string(rest)});
  }
  return memberships;
}

base::Result<std::optional<uint64_t>> parse_fdinfo_memlock(
    std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view value = line;
    if (base::take_until(value, ':') != "memlock") continue;
    std::optional<uint64_t> bytes = parse_u64(base::trim(value));
    if (!bytes) return malformed("fdinfo", line);
    return bytes;
  }
  return std::optional<uint64_t>();
}

std::string descriptor_kind(std::string_view target) {
  constexpr std::string_view kAnonInode = "anon_inode:";
  if (target.starts_with(kAnonInode)) {
    std::string_view name = target.substr(kAnonInode.size());
    if (name.starts_with('[') && name.ends_with(']')) {
      name = name.substr(1, name.size() - 2);
    }
    return std::string(name.substr(0, name.find_first_of(":[")));
  }
  if (target.starts_with("/memfd:")) return "memfd";
  if (target.starts_with("/dmabuf:")) return "dma-buf";
  if (target.starts_with("/SYSV")) return "sysv";
  if (!target.starts_with('/')) {
    // socket:[123], pipe:[1], net:[4026531840]
    std::string_view rest = target;
    const std::string_view type = base::take_until(rest, ':');
    if (type == "socket" || type == "pipe") return std::string(type);
    return rest.starts_with('[') ? "namespace" : "other";
  }
  if (target.starts_with("/dev/") && !target.starts_with("/dev/shm/")) {
    return "device";
  }
  if (target.ends_with(" (deleted)")) return "deleted file";
  return "file";
}

}  // namespace tidemark::parse
