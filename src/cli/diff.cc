#include "analysis/diff_report.h"

#include <unistd.h>
#include <array>

#include <memory>
#include <set>
#include <utility>

#include "analysis/process_use.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/moments.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/recorded_side.h"
#include "source/machine_reader.h"
#include "source/process_source.h"
#include "view/json/diff.h"
#include "view/text/diff.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

struct DiffCommandOptions {
  std::vector<std::string> sides;
  std::string pid;
  size_t row_limit = 15;
  CommonOptions common;
};

// "web.tdm@00:10:00" to the file and the moment; a file that is really called
// so wins.
std::pair<std::string, std::string> split_side(const std::string& word) {
  const size_t at = word.rfind('@');
  if (at == std::string::npos || ::access(word.c_str(), F_OK) == 0) {
    return {word, "peak"};
  }
  return {word.substr(0, at), word.substr(at + 1)};
}

base::Result<Side> side_of_file(const DiffCommandOptions& options,
                                const std::string& path,
                                const std::string& moment) {
  base::Result<store::Recording> recording = open_recording(path);
  if (!recording) return recording.error();
  base::Result<store::ProcessSet> chosen =
      choose_processes(*recording, options.pid, "");
  if (!chosen) return chosen.error();
  const bool is_text =
      options.common.format == Format::Text && !wants_page(options.common);
  return recorded_side(*recording, *chosen, moment,
                       is_text ? SideCourse::LeftOut : SideCourse::Told);
}

// The running processes of the names the recording knows.
base::Result<Side> living_side(const DiffCommandOptions& options,
                               const std::set<std::string>& names) {
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  source::CollectOptions collect;
  collect.detail.mappings = true;
  collect.detail.rollup = false;
  collect.detail.threads = true;
  source::ProcessSource source(*roots, collect);
  base::Result<std::vector<int32_t>> pids = source.choose_pids();
  if (!pids) return pids.error();
  // Only those that are meant are read in full: it is not free for them.
  source::CgroupHierarchy no_cgroups;
  source::ProcessDetail light;
  light.rollup = false;
  light.cgroup = false;
  source::ProcessReader lookup(*roots, no_cgroups, light);
  model::Sample sample;
  sample.started_realtime_ns = base::realtime_ns();
  sample.memory_devices = source::read_memory_devices(*roots, 1);
  for (int32_t pid : *pids) {
    base::Result<model::Process> process = lookup.read(pid);
    if (!process || !names.contains(analysis::display_name(*process))) continue;
    process = source.reader().read(pid);
    if (process) sample.processes.push_back(std::move(*process));
  }
  if (sample.processes.empty()) {
    return base::fail(ErrorKind::NotFound,
                      "no process of the recording runs now");
  }
  Side side;
  side.label = "now, " + base::rfc3339(sample.started_realtime_ns);
  side.sample = std::move(sample);
  return side;
}

base::Result<std::pair<Side, Side>> both_sides(
    const DiffCommandOptions& options) {
  const auto [first_path, first_moment] = split_side(options.sides[0]);
  base::Result<Side> before = side_of_file(options, first_path, first_moment);
  if (!before) return before.error();
  const std::string& second = options.sides[1];
  if (second == "now") {
    base::Result<Side> after = living_side(options, before->names);
    if (!after) return after.error();
    return std::pair(std::move(*before), std::move(*after));
  }
  // "@end" is of the same recording.
  const auto [path, moment] = second.starts_with('@')
                                  ? std::pair(first_path, second.substr(1))
                                  : split_side(second);
  base::Result<Side> after = side_of_file(options, path, moment);
  if (!after) return after.error();
  return std::pair(std::move(*before), std::move(*after));
}

base::Result<ExitCode> run_diff(const DiffCommandOptions& options) {
  if (options.sides.size() != 2) {
    return base::fail(ErrorKind::Misused, "diff compares two moments",
                      "tidemark diff A.tdm B.tdm, A.tdm@00:10:00 @end, "
                      "A.tdm now");
  }
  if (wants_page(options.common)) {
    base::Status status = check_page_output(
        options.common, "tidemark diff A.tdm B.tdm -o out.html");
    if (!status) return status.error();
  }
  base::Result<std::pair<Side, Side>> sides = both_sides(options);
  if (!sides) return sides.error();
  const analysis::DiffReport report =
      compare_sides(std::move(sides->first), std::move(sides->second));
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  if (wants_page(options.common)) {
    const std::string json =
        view::diff_json(report, base::JsonWriter::Layout::OneLine);
    return write_page(*output,
                      std::array<view::PageReport, 1>{{{"diff", json}}});
  }
  return write_report(
      *output, options.common,
      [&](const auto& style) {
        return view::diff_text(report, {options.row_limit}, style);
      },
      [&](auto layout) { return view::diff_json(report, layout); });
}

}  // namespace

Command diff_command() {
  auto options = std::make_shared<DiffCommandOptions>();
  Command command;
  command.name = "diff";
  command.summary = "what changed between two recordings or moments";
  command.description =
      "Compares two moments: of two recordings (their peaks), of one, or of a "
      "recording and the same processes now. Memory is matched by what it is, "
      "a file, a heap, a program's stacks, and not by address or pid, so two "
      "runs can be compared; each table adds up to the whole change.";
  command.examples = {
      {"tidemark diff before.tdm after.tdm", "the peaks of two recordings"},
      {"tidemark diff web.tdm@start @end", "two moments of one"},
      {"tidemark diff web.tdm now", "then and now"},
      {"tidemark diff a.tdm b.tdm -o ab.html", "to look at in a browser"},
  };
  OptionTable& table = command.options;
  table.positional("FILE[@TIME]", "the two sides; the second may be now",
                   options->sides, true);
  table.value("-p,--pid", "PID", "of this process alone", options->pid);
  table.count("--top", "rows of each table (default 15)",
              [o = options.get()](uint64_t count) { o->row_limit = count; });
  add_common_options(table, options->common, {"text", "json", "jsonl", "html"});
  command.run = [options] { return run_diff(*options); };
  return command;
}

}  // namespace tidemark::cli
