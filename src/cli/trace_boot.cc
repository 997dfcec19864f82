#include "cli/trace_boot.h"

#include <unistd.h>

#include <string>

#include "base/durable_file.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/page.h"
#include "cli/trace_recording.h"

namespace tidemark::cli {

void add_trace_boot_options(OptionTable& table, TraceBootOptions& options,
                            watch::TraceWatchOptions& watch) {
  table.flag("--early",
             "begin at once by events, and go on by BPF when that is loaded: "
             "for a boot, and where loading takes seconds",
             watch.starts_early);
  table.value("--ready", "FILE",
              "make this file, with our pid, when everything is seen",
              options.ready_path);
  table.value("--refresh", "DUR",
              "keep the report in the file of -o up to date while it traces, "
              "for machines that are reset or killed (1s: at most the last "
              "second is lost)",
              [&](const std::string& word) -> base::Status {
                base::Result<uint64_t> ns = base::parse_duration(word);
                if (!ns) return ns.error();
                options.refreshes = true;
                watch.running_period_ns = *ns;
                return base::Ok{};
              });
}

base::Status check_trace_boot(const TraceBootOptions& options,
                              const CommonOptions& common) {
  if (!options.refreshes) return base::Ok{};
  if (common.output_path.empty() || common.output_path == "-") {
    return base::fail(base::ErrorKind::Misused,
                      "--refresh needs a file to keep up to date", "-o FILE");
  }
  if (is_recording_name(common.output_path) || wants_page(common)) {
    return base::fail(base::ErrorKind::Misused,
                      "--refresh is for reports that are text",
                      "a recording is up to date by itself: -f 1s");
  }
  return base::Ok{};
}

void say_ready(const TraceBootOptions& options, const CommonOptions& common) {
  if (options.ready_path.empty()) return;
  base::Status status =
      base::replace_file(options.ready_path, std::to_string(::getpid()) + "\n");
  if (!status) print_note(common, status.error().what);
}

base::Status keep_report(const CommonOptions& common, std::string_view report) {
  return base::replace_file_durably(common.output_path, report);
}

}  // namespace tidemark::cli
