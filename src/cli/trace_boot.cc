#include "cli/trace_boot.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/durable_file.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/page.h"
#include "cli/trace_recording.h"
#include "source/kernel_files.h"
#include "source/machine_reader.h"

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

std::optional<analysis::MemoryMoment> read_memory_moment(
    const source::Roots& roots) {
  const base::Result<model::MemInfo> memory = source::read_meminfo(roots);
  if (!memory || !memory->total_bytes || !memory->free_bytes) {
    return std::nullopt;
  }
  analysis::MemoryMoment moment;
  moment.total_bytes = *memory->total_bytes;
  moment.free_bytes = *memory->free_bytes;
  const model::Reading<model::IoMemory> iomem = source::read_iomem(roots);
  if (!iomem) return moment;
  for (const model::IoResource& resource : iomem->resources) {
    if (model::is_system_ram(resource)) {
      moment.ram_bytes += resource.last - resource.first + 1;
    }
  }
  return moment;
}

model::Reading<analysis::CrashKernel> advise_crash_kernel(
    const TraceBootOptions& options, const model::Trace& trace) {
  const base::Result<source::Roots> roots = source::open_roots("");
  if (!roots) {
    return model::unknown<analysis::CrashKernel>(roots.error().what);
  }
  const std::optional<analysis::MemoryMoment> now = read_memory_moment(*roots);
  if (!now) {
    return model::unknown<analysis::CrashKernel>("meminfo cannot be read");
  }
  return analysis::make_crash_kernel(trace, *options.at_start, *now, ::getpid(),
                                     options.seen_bytes);
}

void see_others(const model::Trace& trace, TraceBootOptions& options) {
  options.seen_bytes =
      std::max(options.seen_bytes, analysis::bytes_without(trace, ::getpid()));
}

namespace {

base::Status check_refreshed(const CommonOptions& common) {
  const std::string& path = common.output_path;
  if (path.empty() || path == "-" || !base::can_replace_file(path)) {
    return base::fail(base::ErrorKind::Misused,
                      "--refresh needs a file to keep up to date", "-o FILE");
  }
  if (is_recording_name(path) || wants_page(common)) {
    return base::fail(base::ErrorKind::Misused,
                      "--refresh is for reports that are text",
                      "a recording is up to date by itself: -f 1s");
  }
  return base::Ok{};
}

}  // namespace

base::Status arrange_trace_boot(const CommonOptions& common,
                                TraceBootOptions& options) {
  if (!options.refreshes && !options.refreshes_unasked) return base::Ok{};
  base::Status status = check_refreshed(common);
  if (options.refreshes) return status;
  options.refreshes = static_cast<bool>(status);
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
