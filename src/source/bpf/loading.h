// How BPF programs are loaded: libbpf's manners, its errors as ours, and
// what is shared by those who read what programs leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

#include "base/result.h"

namespace tidemark::source {

// While one of these lives, libbpf keeps its warnings for bpf_error(), and the
// memory it takes goes back to the kernel: it reads the kernel's type
// information, 5 MB of it, four times over in turn. glibc learns from the first
// such block to keep the others, which made us 10 MB larger for good.
// Afterwards large ones are kept again: buffers of ours are made and dropped
// many times a second.
class BpfLoading {
 public:
  BpfLoading();
  BpfLoading(const BpfLoading&) = delete;
  BpfLoading& operator=(const BpfLoading&) = delete;
  ~BpfLoading();
};

// A name that a program left in an array, which it may fill to the end.
template <size_t N>
std::string text_of(const char (&bytes)[N]) {
  return {bytes, ::strnlen(bytes, N)};
}

// Events on top of one of these programs, which the kernel leaves out.
uint64_t recursion_misses(std::initializer_list<int> program_fds);

// Denied where rights are missing, else Unsupported with libbpf's own words.
base::Error bpf_error(const std::string& doing, int err);

}  // namespace tidemark::source
