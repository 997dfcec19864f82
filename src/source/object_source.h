// The memory objects of the machine: who maps them, who holds them, what they
// have in RAM. A command of its own and no part of a Sample: it asks far more
// than a tick may cost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/object.h"
#include "source/roots.h"

namespace tidemark::source {

struct ObjectScanOptions {
  // Only objects this process refers to are measured, and what its private
  // mappings have written is listed. All processes are still walked: who else
  // has them is half of the answer.
  std::optional<int32_t> of_process;
  // Only by these means. Unset: BPF's iterators where one may, else /proc.
  std::optional<model::ObjectMeans> means;
  // Look for what nobody refers to as well.
  bool search = true;
  // And for what nothing but its pages tells of, where one may look at them:
  // takes about a second.
  bool search_pages = false;
  std::function<void(size_t, size_t)> progress;
};

base::Result<model::ObjectScan> scan_objects(const Roots& roots,
                                             const ObjectScanOptions& options);

}  // namespace tidemark::source
