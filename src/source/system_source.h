// A Source of what the kernel tells about the whole machine and its own memory,
// without looking at any process.
#pragma once

#include "model/sample.h"
#include "source/cgroups.h"
#include "source/roots.h"

namespace tidemark::source {

class SystemSource : public model::Source {
 public:
  explicit SystemSource(const Roots& roots);
  base::Status collect(model::Sample& sample) override;

 private:
  const Roots& roots_;
  CgroupHierarchy cgroups_;
};

}  // namespace tidemark::source
