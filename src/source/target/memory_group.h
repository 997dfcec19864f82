// The account of a group made by make_group: what it is charged, its watermark,
// and its parts. Files stay open, because the charge is read a thousand times a
// second where nothing wakes us.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "model/run.h"
#include "source/target/group_place.h"

namespace tidemark::source {

class MemoryGroup {
 public:
  static base::Result<MemoryGroup> open(const GroupPlace& place);

  const GroupPlace& place() const { return place_; }

  std::optional<uint64_t> charged_bytes() const;
  // The watermark; empty on kernels without memory.peak (before 5.19).
  std::optional<uint64_t> peak_bytes() const;
  std::optional<uint64_t> swap_peak_bytes() const;
  // "memory.peak" or "memory.max_usage_in_bytes".
  std::string peak_name() const;
  model::GroupStat stat() const;

 private:
  GroupPlace place_;
  base::Directory directory_;
  base::Fd charged_;
};

}  // namespace tidemark::source
