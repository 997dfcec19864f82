// Reads virtual machines, once or again and again: their processes out of
// /proc, and what their guests tell.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/guest_ram.h"
#include "model/vm.h"
#include "source/cgroups.h"
#include "source/file_systems.h"
#include "source/process_reader.h"
#include "source/roots.h"
#include "source/vm/guest_panel.h"
#include "source/vm/guest_question.h"
#include "source/vm/vm_finder.h"
#include "source/vm/vm_host.h"

namespace tidemark::source {

struct VmScanOptions {
  std::vector<std::string> targets;  // pids or names of VMs; empty: all
  bool asks_guests = true;
  QuestionOptions question;
  // How long a scan may wait for guests; who takes longer is told of by the
  // next. Without a limit it is the deadlines of the questions.
  uint64_t patience_ns = 3600 * base::kNsPerSecond;
};

class VmSource {
 public:
  VmSource(const Roots& roots, VmScanOptions options);

  // Guests are asked while the host is read, all at once. Processes that end
  // meanwhile are left out. NotFound when a target is no VM; Gone when targets
  // were named and all of them have ended since.
  base::Result<model::VmScan> scan();

  // Those a scan would read now.
  base::Result<std::vector<FoundVm>> choose();

 private:
  using Key = std::pair<int32_t, uint64_t>;

  base::Result<VmSearch> search(uint64_t now_ns);
  base::Status choose_targets(VmSearch& search);
  void read_hosts(const VmSearch& search, uint64_t now_ns);
  void read_sharers(const VmSearch& search, bool is_all);
  VmTools tools() { return {roots_, reader_, file_systems_}; }

  const Roots& roots_;
  VmScanOptions options_;
  CgroupHierarchy cgroups_;
  ProcessReader reader_;
  FileSystems file_systems_;
  VmFinder finder_;
  GuestPanel panel_;
  std::map<Key, VmHost> hosts_;
  bool has_found_targets_ = false;
};

}  // namespace tidemark::source
