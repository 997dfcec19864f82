// Where the kernel's files are. A captured tree, an sshfs mount or a fixture
// is just another root: everything below is opened relative to these.
#pragma once

#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace tidemark::source {

struct Roots {
  base::Directory proc;
  // The running kernel's own procfs, seen from here. A copied tree or the
  // host's /proc mounted into a container is not.
  bool is_live = false;
  // A procfs of the running kernel, be it another than /proc: whose files we
  // read waits for us. No reading of a copy or an sshfs mount stalls anybody.
  bool is_local = false;
};

// `proc_path` empty: the variable PROCFS, then /proc. Refuses a directory that
// holds neither a process nor meminfo, because every command would otherwise
// report an empty machine.
base::Result<Roots> open_roots(const std::string& proc_path);

}  // namespace tidemark::source
