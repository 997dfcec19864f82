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
  base::Result<model::Machine> read_at_rest() const;

  const Roots& roots_;
  CgroupHierarchy cgroups_;
};

}  // namespace tidemark::source
