// Free pages on the lists of CPUs: they look like others without a type, and
// come and go by the hundred MiB while all pages are walked. What a walk meets
// of them is what there was on average.
#pragma once

#include <cstdint>

#include "source/roots.h"

namespace tidemark::watch {

class CpuLists {
 public:
  explicit CpuLists(const source::Roots& roots) : roots_(roots) {}

  void look();
  // Of all looks; 0 when none told of any.
  uint64_t mean_pages() const { return looks_ == 0 ? 0 : sum_pages_ / looks_; }
  // How far the mean may be off, as far as the looks tell.
  uint64_t error_pages() const { return (most_pages_ - least_pages_ + 1) / 2; }

 private:
  const source::Roots& roots_;
  uint64_t sum_pages_ = 0;
  uint64_t looks_ = 0;
  uint64_t least_pages_ = 0;
  uint64_t most_pages_ = 0;
};

}  // namespace tidemark::watch
