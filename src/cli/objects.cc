// `objects`: what has the memory, whoever uses it.
#include "cli/commands.h"

#include <memory>
#include <utility>

#include "analysis/object_report.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/targets.h"
#include "source/object_source.h"
#include "view/csv/objects.h"
#include "view/json/objects.h"
#include "view/text/objects.h"

namespace tidemark::cli {
namespace {

using analysis::ObjectOptions;
using analysis::ObjectSelection;

// What fits a screen; `all` and programs get every row.
constexpr uint64_t kUsualRows = 40;

struct ObjectsCommandOptions {
  CommonOptions common;
  std::string target;
  std::optional<uint64_t> top;
  std::optional<model::ObjectMeans> means;
};

// "hidden", "all", an id (which has a colon), a pid or the name of a process.
base::Result<ObjectOptions> choose(const source::Roots& roots,
                                   const ObjectsCommandOptions& options) {
  ObjectOptions chosen;
  chosen.top = options.top;
  const bool is_text = options.common.format == Format::Text;
  if (options.target.empty()) {
    if (!chosen.top && is_text) chosen.top = kUsualRows;
  } else if (options.target == "hidden") {
    chosen.selection = ObjectSelection::Hidden;
    if (!chosen.top && is_text) chosen.top_by_pages = kUsualRows;
  } else if (options.target.find(':') != std::string::npos) {
    chosen.selection = ObjectSelection::One;
    chosen.id = options.target;
  } else if (options.target != "all") {
    base::Result<std::vector<model::ProcessId>> found =
        find_targets(roots, {options.target});
    if (!found) return found.error();
    chosen.selection = ObjectSelection::Process;
    chosen.pid = found->front().pid;
  }
  return chosen;
}

// A copy is one process's, and only that one's are looked for.
std::optional<int32_t> process_of_copy(const std::string& id) {
  std::string_view rest = id;
  if (base::take_until(rest, ':') != "copy") return std::nullopt;
  return base::parse_pid(base::take_until(rest, ':'));
}

source::ObjectScanOptions scan_options_of(const ObjectOptions& chosen) {
  source::ObjectScanOptions options;
  switch (chosen.selection) {
    case ObjectSelection::Process:
      options.of_process = chosen.pid;
      options.search = false;
      break;
    case ObjectSelection::One:
      options.of_process = process_of_copy(chosen.id);
      break;
    case ObjectSelection::Hidden:
      options.search_pages = true;
      break;
    case ObjectSelection::All:
      break;
  }
  return options;
}

base::Result<analysis::ObjectReport> read_report(
    const source::Roots& roots, const ObjectOptions& chosen,
    source::ObjectScanOptions scan_options, bool is_quiet) {
  Progress progress("reading processes", is_quiet);
  scan_options.progress = [&](size_t done, size_t total) {
    progress.update(done, total);
  };
  base::Result<model::ObjectScan> scan =
      source::scan_objects(roots, scan_options);
  if (!scan) return scan.error();
  return analysis::make_object_report(*scan, chosen);
}

std::string rendered(const analysis::ObjectReport& report,
                     const CommonOptions& options, int output) {
  switch (options.format) {
    case Format::Text:
      return view::objects_text(report, text_style(options, output));
    case Format::Csv:
      return view::objects_csv(report);
    default:
      return view::objects_json(report, json_layout(options.format));
  }
}

base::Result<ExitCode> run_objects(const ObjectsCommandOptions& options) {
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  base::Result<ObjectOptions> chosen = choose(*roots, options);
  if (!chosen) return chosen.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();

  source::ObjectScanOptions scan_options = scan_options_of(*chosen);
  scan_options.means = options.means;
  base::Result<analysis::ObjectReport> report =
      read_report(*roots, *chosen, scan_options, options.common.quiet);
  // An id that `hidden` has printed may lead to something only pages tell of.
  if (!report && report.error().kind == base::ErrorKind::NotFound &&
      chosen->selection == ObjectSelection::One && roots->is_live) {
    scan_options.search_pages = true;
    report = read_report(*roots, *chosen, scan_options, options.common.quiet);
  }
  if (!report) return report.error();
  base::Status written =
      output->write(rendered(*report, options.common, output->fd()));
  if (!written) return written.error();
  return ExitCode::Done;
}

}  // namespace

Command objects_command() {
  auto options = std::make_shared<ObjectsCommandOptions>();
  Command command;
  command.name = "objects";
  command.summary = "files, memfds, segments, sockets: what has the memory";
  command.description =
      "Prints memory objects, most memory first: files, deleted files, tmpfs "
      "files, memfds, SysV segments, shared anonymous memory, huge pages, "
      "dma-bufs, devices, BPF maps and programs, sockets, pipes, io_uring. "
      "RIGHTS is what mappings and descriptors allow: r, w, x; the m, d and t "
      "of Fuchsia's vmos have no meaning on Linux. PARENT and #CHLD tell of "
      "copy on write: a private mapping that may be written is a child of its "
      "file, and `objects PID` lists what each has written of its own. #MAP "
      "counts mappings, #SHR the processes they are in, #FD descriptors. SIZE "
      "is how long it is, ALLOC what of it is in RAM (phys: device memory, "
      "which is none), SWAP what of it is swapped out. Without an argument the "
      "largest; `hidden` is what nobody maps, with what only its pages in RAM "
      "tell of: closed files, memfds on their way through a socket (by root, "
      "in about a second); an id lists who maps it and who holds it. The last "
      "lines hold the sums against meminfo.";
  command.examples = {
      {"tidemark objects", "the largest objects of the machine"},
      {"tidemark objects 1234", "what one process refers to"},
      {"tidemark objects hidden", "memory that no address space shows"},
      {"tidemark objects memfd:1054", "who maps it, who holds it"},
      {"tidemark objects hidden --csv", "closed files and all, for a sheet"},
      {"tidemark objects all --json | jq .shmem", "is any of it unreachable?"},
  };
  OptionTable& table = command.options;
  table.positional("PID|hidden|ID|all", "which objects", options->target, false,
                   {"hidden", "all"});
  table.value(
      "--top", "N", "at most N rows, the rest in one",
      [options = options.get()](const std::string& word) -> base::Status {
        options->top = base::parse_u64(word);
        if (!options->top || *options->top == 0) {
          return base::fail(base::ErrorKind::Misused,
                            "'" + word + "' is not a count");
        }
        return base::Ok{};
      });
  table.choice("--source", {"auto", "bpf", "proc"},
               "what tells of descriptors and mappings: BPF's iterators where "
               "one may use them (auto), or one of the two; the answer is the "
               "same",
               [o = options.get()](const std::string& word) -> base::Status {
                 o->means.reset();
                 for (model::ObjectMeans means :
                      {model::ObjectMeans::Proc, model::ObjectMeans::Bpf}) {
                   if (model::object_means_token(means) == word) {
                     o->means = means;
                   }
                 }
                 return base::Ok{};
               });
  add_common_options(table, options->common, {"text", "json", "jsonl", "csv"});
  command.run = [options] { return run_objects(*options); };
  return command;
}

}  // namespace tidemark::cli
