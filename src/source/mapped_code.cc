#include "source/mapped_code.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

namespace tidemark::source {
namespace {

// Behind each record, by the sample type below.
struct RecordEnd {
  uint32_t pid;
  uint32_t tid;
  uint64_t time_ns;
};

// PERF_RECORD_MMAP2 up to the name.
struct MappedHead {
  perf_event_header header;
  uint32_t pid;
  uint32_t tid;
  uint64_t address;
  uint64_t size_bytes;
  uint64_t offset_bytes;
  uint32_t device_major;
  uint32_t device_minor;
  uint64_t inode;
  uint64_t inode_generation;
  uint32_t protection;
  uint32_t flags;
};

perf_event_attr attributes() {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_SW_DUMMY;  // its side records are what is wanted
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.sample_id_all = 1;
  attr.mmap = 1;  // of code alone
  attr.mmap2 = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.inherit = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;  // as BPF tells times
  attr.watermark = 1;
  attr.wakeup_watermark = UINT32_MAX;  // it is looked at when it is needed
  return attr;
}

template <typename T>
bool copy_from(std::string_view bytes, T& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  return true;
}

}  // namespace

base::Result<std::unique_ptr<MappedCode>> MappedCode::follow(
    std::span<const int32_t> thread_ids) {
  std::unique_ptr<MappedCode> code(new MappedCode());
  // An inherited event has a ring for one CPU alone.
  const auto cpu_count = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  for (int32_t thread_id : thread_ids) {
    for (int cpu = 0; cpu < cpu_count; ++cpu) {
      base::Status status = code->open(thread_id, cpu);
      if (!status) return status.error();
    }
  }
  return code;
}

base::Status MappedCode::open(int32_t thread_id, int cpu) {
  perf_event_attr attr = attributes();
  base::Fd fd(static_cast<int>(::syscall(SYS_perf_event_open, &attr, thread_id,
                                         cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  // A CPU that is switched off, a thread that has ended.
  if (!fd && (errno == ENODEV || errno == ESRCH)) return base::Ok{};
  if (!fd) return base::fail_errno("cannot open a perf event", errno);
  base::Result<PerfRing> ring = PerfRing::map(fd.get(), kRingBytes);
  if (!ring) return ring.error();
  feeds_.push_back({std::move(fd), std::move(*ring)});
  return base::Ok{};
}

void MappedCode::take(std::string_view record) {
  perf_event_header header{};
  RecordEnd end{};
  if (!copy_from(record, header) ||
      record.size() < sizeof header + sizeof end) {
    return;
  }
  copy_from(record.substr(record.size() - sizeof end), end);
  Told told;
  told.time_ns = end.time_ns;
  told.pid = static_cast<int32_t>(end.pid);
  if (header.type == PERF_RECORD_COMM) {
    told.is_exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
    if (told.is_exec) waiting_.push_back(std::move(told));
    return;
  }
  if (header.type == PERF_RECORD_LOST) ++lost_count_;
  MappedHead head{};
  if (header.type != PERF_RECORD_MMAP2 || !copy_from(record, head)) return;
  std::string_view name =
      record.substr(sizeof head, record.size() - sizeof head - sizeof end);
  name = name.substr(0, name.find('\0'));
  told.pid = static_cast<int32_t>(head.pid);
  model::Mapping& mapping = told.mapping;
  mapping.start_address = head.address;
  mapping.end_address = head.address + head.size_bytes;
  mapping.offset_bytes = head.offset_bytes;
  mapping.device_major = head.device_major;
  mapping.device_minor = head.device_minor;
  mapping.inode_id = head.inode;
  mapping.permissions.execute = (head.protection & PROT_EXEC) != 0;
  mapping.name = name;
  waiting_.push_back(std::move(told));
}

void MappedCode::drain() {
  for (Feed& feed : feeds_)
    feed.ring.drain([this](std::string_view record) { take(record); });
  std::ranges::stable_sort(waiting_, {}, &Told::time_ns);
  for (Told& told : std::exchange(waiting_, {}))
    book(std::move(told));
  // Who ended while this was under way is never forgotten by name.
  constexpr size_t kMostProcesses = 65536;
  if (images_.size() > kMostProcesses) images_.clear();
}

void MappedCode::book(Told told) {
  std::vector<Image>& images = images_[told.pid];
  if (told.is_exec) {
    images.push_back({told.time_ns, {}});
    return;
  }
  // Until it executes something a child has its parent's, which others know.
  if (!images.empty()) images.back().mapped.push_back(std::move(told));
}

size_t MappedCode::mapped_count(int32_t pid) const {
  const auto found = images_.find(pid);
  if (found == images_.end() || found->second.empty()) return 0;
  return found->second.back().mapped.size();
}

bool MappedCode::has_executed_since(int32_t pid, uint64_t time_ns) const {
  const auto found = images_.find(pid);
  return found != images_.end() && !found->second.empty() &&
         found->second.back().since_ns > time_ns;
}

std::vector<model::Mapping> MappedCode::code_of(int32_t pid,
                                                uint64_t time_ns) const {
  std::vector<model::Mapping> code;
  const auto found = images_.find(pid);
  if (found == images_.end()) return code;
  const Image* image = nullptr;
  for (const Image& each : found->second) {
    if (each.since_ns <= time_ns) image = &each;
  }
  if (image == nullptr) return code;
  for (const Told& told : image->mapped) {
    if (told.time_ns <= time_ns) code.push_back(told.mapping);
  }
  std::ranges::stable_sort(code, {}, &model::Mapping::start_address);
  return code;
}

}  // namespace tidemark::source
