#include "source/perf_ring.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/page_size.h"

namespace tidemark::source {

base::Result<PerfRing> PerfRing::map(int event_fd, size_t bytes) {
  const auto page_bytes = base::page_bytes();
  void* at = ::mmap(nullptr, page_bytes + bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED, event_fd, 0);
  if (at != MAP_FAILED) return PerfRing(at, page_bytes, bytes);
  base::Error error = base::fail_errno("cannot map a ring for events", errno);
  error.hint =
      "it needs CAP_IPC_LOCK, a smaller --buf-size or a larger "
      "kernel.perf_event_mlock_kb";
  return error;
}

PerfRing::PerfRing(void* at, size_t page_bytes, size_t bytes)
    : control_(static_cast<perf_event_mmap_page*>(at)),
      data_(static_cast<const char*>(at) + page_bytes),
      page_bytes_(page_bytes),
      bytes_(bytes) {}

PerfRing::PerfRing(PerfRing&& other) noexcept
    : control_(std::exchange(other.control_, nullptr)),
      data_(other.data_),
      page_bytes_(other.page_bytes_),
      bytes_(other.bytes_),
      tail_(other.tail_),
      joined_(std::move(other.joined_)) {}

PerfRing::~PerfRing() {
  if (control_) ::munmap(control_, page_bytes_ + bytes_);
}

// What the kernel wrote before the head is seen by whoever has seen the head;
// and it writes over nothing that we have not read before the tail.
uint64_t PerfRing::head() const {
  return __atomic_load_n(&control_->data_head, __ATOMIC_ACQUIRE);
}

void PerfRing::give_back(uint64_t tail) {
  __atomic_store_n(&control_->data_tail, tail, __ATOMIC_RELEASE);
}

std::string_view PerfRing::record_at(uint64_t tail, uint64_t head) {
  const size_t at = tail & (bytes_ - 1);
  // A header never goes over the end: all lengths are multiples of its own.
  perf_event_header header{};
  std::memcpy(&header, data_ + at, sizeof header);
  if (header.size < sizeof header || header.size > head - tail) return {};
  if (at + header.size <= bytes_) return {data_ + at, header.size};
  joined_.assign(data_ + at, bytes_ - at);
  joined_.append(data_, header.size - (bytes_ - at));
  return joined_;
}

}  // namespace tidemark::source
