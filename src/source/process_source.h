// A Source over processes: all of them, or some with or without descendants.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/sample.h"
#include "source/cgroups.h"
#include "source/process_reader.h"
#include "source/roots.h"

namespace tidemark::source {

struct ProcessSelection {
  std::vector<model::ProcessId> targets;  // empty: every process
  bool with_descendants = false;
};

struct CollectOptions {
  ProcessSelection selection;
  ProcessDetail detail;
  bool machine = true;
  bool cgroups = false;  // the account of every group a process is in
  // Called now and then during a long walk: processes done, of how many.
  std::function<void(size_t, size_t)> progress;
};

class ProcessSource : public model::Source {
 public:
  ProcessSource(const Roots& roots, CollectOptions options);

  // Targets are told apart by pid and start time, so a reused pid is not
  // followed. Gone once none of the chosen targets is left.
  base::Status collect(model::Sample& sample) override;

  // Who would be read now, descendants included where asked for.
  base::Result<std::vector<int32_t>> choose_pids();

  ProcessReader& reader() { return reader_; }

 private:
  bool is_expected(const model::Process& process) const;
  base::Status collect_processes(model::Sample& sample);
  void collect_cgroups(model::Sample& sample) const;

  const Roots& roots_;
  CollectOptions options_;
  CgroupHierarchy cgroups_;
  ProcessReader reader_;
};

// Resolves what a user typed: a pid, or the exact name of one process (comm or
// the base name of its program). A name with several bearers is refused with a
// list of them.
base::Result<model::ProcessId> find_process(const Roots& roots,
                                            const std::string& pid_or_name);

// Whether that is a name of this process, in any of these ways.
bool is_called(const Roots& roots, int32_t pid, const std::string& name);

}  // namespace tidemark::source
