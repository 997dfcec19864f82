// How BPF programs are loaded: libbpf's manners, and its errors as ours.
#pragma once

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

// Denied where rights are missing, else Unsupported with libbpf's own words.
base::Error bpf_error(const std::string& doing, int err);

}  // namespace tidemark::source
