// A table of the kernel's that is mapped here.
#pragma once

#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "source/bpf/loading.h"

namespace tidemark::source {

template <typename T>
class MappedTable {
 public:
  MappedTable() = default;
  MappedTable(const MappedTable&) = delete;
  MappedTable& operator=(const MappedTable&) = delete;
  ~MappedTable() {
    if (at_) ::munmap(at_, bytes_);
  }

  base::Status map(const bpf_map* map) {
    count_ = bpf_map__max_entries(map);
    stride_ = (sizeof(T) + 7) / 8 * 8;
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    bytes_ = (stride_ * count_ + page - 1) / page * page;
    void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED,
                      bpf_map__fd(map), 0);
    if (at == MAP_FAILED) return bpf_error("cannot map a BPF table", errno);
    at_ = static_cast<char*>(at);
    return base::Ok{};
  }
  uint32_t count() const { return count_; }
  const T& operator[](uint32_t index) const {
    return *reinterpret_cast<const T*>(at_ + stride_ * index);
  }
  // To be written while the kernel does so too.
  T& at(uint32_t index) { return *reinterpret_cast<T*>(at_ + stride_ * index); }

 private:
  char* at_ = nullptr;
  size_t bytes_ = 0;
  size_t stride_ = 0;
  uint32_t count_ = 0;
};

}  // namespace tidemark::source
