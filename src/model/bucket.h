// A rule that says what memory belongs together under a name people know.
#pragma once

#include <string>

#include "base/pattern.h"

namespace tidemark::model {

struct BucketRule {
  std::string name;
  base::Pattern process;  // of the process, as `ps` shows it or as comm
  base::Pattern vmo;      // of the memory object
  base::Pattern cgroup;   // of the path of the process's control group
};

}  // namespace tidemark::model
