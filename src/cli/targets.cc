#include "cli/targets.h"

#include <algorithm>

#include "base/escape.h"
#include "source/machine_reader.h"
#include "source/process_source.h"

namespace tidemark::cli {

base::Result<std::vector<model::ProcessId>> find_targets(
    const source::Roots& roots, const std::vector<std::string>& names) {
  if (names.empty()) {
    return base::fail(base::ErrorKind::Misused, "no process was named",
                      "give a pid or the name of a process; `tidemark ps` "
                      "lists them");
  }
  source::CgroupHierarchy no_cgroups;
  source::ProcessReader reader(roots, no_cgroups, {});
  std::vector<model::ProcessId> found;
  for (const std::string& name : names) {
    base::Result<model::ProcessId> id = source::find_process(roots, name);
    if (!id) return id.error();
    base::Result<model::ProcessStat> stat = reader.read_stat(id->pid);
    if (stat && stat->is_kernel_thread) {
      return base::fail(base::ErrorKind::Unsupported,
                        "process " + std::to_string(id->pid) + " (" +
                            base::visible(stat->comm) +
                            ") is a kernel thread: it has no address space");
    }
    if (std::ranges::find(found, *id) == found.end()) found.push_back(*id);
  }
  return found;
}

std::vector<analysis::UserLabel> user_labels(const source::Roots& roots) {
  std::vector<analysis::UserLabel> labels;
  for (parse::UserName& user : source::read_user_names(roots)) {
    labels.push_back({user.user_id, std::move(user.name)});
  }
  return labels;
}

}  // namespace tidemark::cli
