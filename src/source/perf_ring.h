// The ring through which the kernel hands over events of one CPU.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace tidemark::source {

class PerfRing {
 public:
  // `bytes` is a power of two, and a page or more.
  static base::Result<PerfRing> map(int event_fd, size_t bytes);
  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&&) = delete;
  PerfRing(const PerfRing&) = delete;
  PerfRing& operator=(const PerfRing&) = delete;
  ~PerfRing();

  // Hands over the bytes of each record that is there now.
  template <typename Visit>
  void drain(Visit visit);

 private:
  PerfRing(void* at, size_t page_bytes, size_t bytes);
  uint64_t head() const;
  void give_back(uint64_t tail);
  // The record at `tail`, empty when there is none that makes sense. One that
  // goes over the end is put together in a buffer.
  std::string_view record_at(uint64_t tail, uint64_t head);

  perf_event_mmap_page* control_ = nullptr;
  const char* data_ = nullptr;
  size_t page_bytes_ = 0;
  size_t bytes_ = 0;
  uint64_t tail_ = 0;
  std::string joined_;
};

template <typename Visit>
void PerfRing::drain(Visit visit) {
  // Room is given back in steps: the kernel waits for none of us.
  constexpr uint64_t kStep = 65536;
  const uint64_t end = head();
  uint64_t given = tail_;
  while (tail_ < end) {
    const std::string_view record = record_at(tail_, end);
    if (record.empty()) {
      tail_ = end;
      break;
    }
    visit(record);
    tail_ += record.size();
    if (tail_ - given < kStep) continue;
    give_back(tail_);
    given = tail_;
  }
  give_back(tail_);
}

}  // namespace tidemark::source
