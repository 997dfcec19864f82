#include "cli/trace_meaning.h"

#include <initializer_list>
#include <string>

#include "base/text.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

struct Asked {
  const char* name;
  bool is_asked;
};

base::Status refuse(std::initializer_list<Asked> options, const char* why,
                    const char* hint) {
  for (const Asked& option : options) {
    if (!option.is_asked) continue;
    return base::fail(ErrorKind::Misused, std::string(option.name) + why, hint);
  }
  return base::Ok{};
}

bool is_order_asked(const TraceCommandOptions& options) {
  const source::TraceFilter& filter = options.watch.trace.filter;
  const source::TraceFilter all;
  return filter.least_order != all.least_order ||
         filter.most_order != all.most_order;
}

// What is of the kernel's allocations alone.
base::Status refuse_with_user(const TraceCommandOptions& options) {
  const source::TraceFilter& filter = options.watch.trace.filter;
  return refuse(
      {
          {"--all", options.everything},
          {"--slab", options.watch.follows_slab},
          {"--comm", !filter.comm.empty()},
          {"--cgroup", !options.cgroup.empty()},
          {"--module", !filter.module.empty()},
          {"--gfp", !options.gfp.empty()},
          {"--order", is_order_asked(options)},
          {"--unwind-all", options.watch.trace.unwinds_all},
          {"--backend", options.backend != "auto" && options.backend != "bpf"},
      },
      " does not go with --user",
      "tidemark trace --user PID, or --user -- CMD");
}

}  // namespace

base::Status refuse_with_notes(const TraceCommandOptions& options) {
  return refuse(
      {
          {"--gfp", !options.gfp.empty()},
          {"--cgroup", !options.cgroup.empty()},
          {"--module", !options.watch.trace.filter.module.empty()},
          {"--order", is_order_asked(options)},
          {"--sample", options.watch.trace.sample_period != 1},
      },
      " is for a trace of what happens, not for notes",
      "--backend bpf, perf or ftrace");
}

base::Status arrange_user(TraceCommandOptions& options) {
  if (!options.watch.trace.with_user_stacks) return base::Ok{};
  base::Status status = refuse_with_user(options);
  if (!status) return status;
  source::TraceFilter& filter = options.watch.trace.filter;
  if (!options.recording.empty()) {
    filter.tree_pid = base::parse_pid(options.recording);
    if (!filter.tree_pid || *filter.tree_pid <= 0) {
      return base::fail(ErrorKind::Misused,
                        "'" + options.recording + "' is no pid",
                        "tidemark trace --user PID; a recording knows by "
                        "itself what it is of");
    }
    options.recording.clear();
  }
  if (!filter.tree_pid && options.watch.command.empty()) {
    return base::fail(ErrorKind::Misused, "--user needs a process",
                      "tidemark trace --user PID, or --user -- CMD");
  }
  constexpr uint64_t kPeriod = 64;
  if (!options.has_sample) options.watch.trace.sample_period = kPeriod;
  // What a command held is gone when it has ended.
  if (!options.watch.command.empty()) options.at_peak = true;
  return base::Ok{};
}

}  // namespace tidemark::cli
