// `treemap`: the machine as boxes.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/treemap.h"
#include "cli/commands.h"
#include "cli/graph_capture.h"
#include "cli/graph_input.h"
#include "cli/output.h"
#include "cli/page.h"
#include "parse/graph_records.h"
#include "view/json/graph.h"
#include "view/json/treemap.h"
#include "view/text/treemap.h"

namespace tidemark::cli {
namespace {

using analysis::TreemapMeasure;
using base::ErrorKind;

// A picture narrower than this has no room for names, one beyond the most is
// a mistyped number.
constexpr uint64_t kLeastColumns = 40;
constexpr uint64_t kLeastRows = 5;
constexpr uint64_t kMostCells = 1000;

struct TreemapCommandOptions {
  std::string path;       // empty: the machine, now
  std::string base_path;  // an earlier capture, to compare with
  TreemapMeasure measure = TreemapMeasure::Pss;
  analysis::TreemapLimits limits;
  std::string zoom;      // the box to draw; empty: the outermost
  uint64_t columns = 0;  // 0: as wide as the terminal
  uint64_t rows = 0;     // 0: as fits the width
  CommonOptions common;
};

base::Status check_range(uint64_t number, uint64_t least,
                         const std::string& option) {
  if (number == 0 || (number >= least && number <= kMostCells)) {
    return base::Ok{};
  }
  return base::fail(
      ErrorKind::Misused,
      option + " " + std::to_string(number) + " cannot be drawn",
      "from " + std::to_string(least) + " to " + std::to_string(kMostCells));
}

struct TreemapInput {
  model::GraphRecords records;
  bool is_whole = true;  // no process failed
};

// The machine goes the way of a file, so that a capture and the live picture
// cannot differ.
base::Result<TreemapInput> read_input(const TreemapCommandOptions& options) {
  TreemapInput input;
  if (!options.path.empty()) {
    base::Result<model::GraphRecords> records = read_graph_file(options.path);
    if (!records) return records.error();
    input.records = std::move(*records);
    return input;
  }
  watch::GraphOptions detail;
  detail.objects = true;
  base::Result<analysis::Graph> graph = capture_graph(options.common, detail);
  if (!graph) return graph.error();
  base::Result<model::GraphRecords> records =
      parse::parse_graph_records(view::graph_json(*graph));
  if (!records) return records.error();
  input.records = std::move(*records);
  input.is_whole = graph->failed_process_count == 0;
  return input;
}

base::Status zoom_in(const std::string& word, analysis::Treemap& map) {
  if (word.empty()) return base::Ok{};
  const analysis::TreemapNode* found =
      analysis::find_treemap_box(map.root, word);
  if (!found) {
    return base::fail(ErrorKind::NotFound, "no box is '" + word + "'",
                      "an id (kernel/vmo, j/1), a pid, or a whole name");
  }
  analysis::TreemapNode chosen = *found;  // a part of what it replaces
  map.root = std::move(chosen);
  return base::Ok{};
}

std::string picture(const analysis::Treemap& map,
                    const TreemapCommandOptions& options,
                    view::TextStyle style) {
  if (options.columns > 0) style.width = options.columns;
  // A COLUMNS of the environment is not checked by anyone.
  style.width = std::min<size_t>(style.width, kMostCells);
  view::TreemapTextOptions text;
  text.limits = options.limits;
  // 80 columns have 24 rows.
  text.rows = options.rows > 0 ? options.rows : style.width * 3 / 10;
  return view::treemap_text(map, text, style);
}

// With every size, since who looks at it may choose another.
base::Result<analysis::Treemap> make_map(const model::GraphRecords& records,
                                         const TreemapCommandOptions& options) {
  base::Result<analysis::Treemap> map =
      analysis::make_treemap(records, options.measure);
  if (!map) return map.error();
  const bool is_picture =
      options.common.format == Format::Text && !wants_page(options.common);
  if (!is_picture) analysis::add_treemap_sizes(records, *map);
  base::Status status = zoom_in(options.zoom, *map);
  if (!status) return status.error();
  return map;
}

base::Result<ExitCode> write_map_page(const analysis::Treemap& map,
                                      const TreemapCommandOptions& options,
                                      Output& output) {
  constexpr auto kLayout = base::JsonWriter::Layout::OneLine;
  const std::string json = view::treemap_json(map, options.limits, kLayout);
  std::string base_json;
  std::vector<view::PageReport> reports = {{"treemap", json}};
  if (!options.base_path.empty()) {
    base::Result<model::GraphRecords> records =
        read_graph_file(options.base_path);
    if (!records) return base::within("--base", records.error());
    base::Result<analysis::Treemap> base = make_map(*records, options);
    if (!base) return base::within("--base", base.error());
    base_json = view::treemap_json(*base, options.limits, kLayout);
    reports.push_back({"treemapbase", base_json});
  }
  return write_page(output, reports);
}

base::Result<ExitCode> write_map(const analysis::Treemap& map,
                                 const TreemapCommandOptions& options,
                                 Output& output) {
  if (wants_page(options.common)) return write_map_page(map, options, output);
  return write_report(
      output, options.common,
      [&](const view::TextStyle& style) {
        return picture(map, options, style);
      },
      [&](base::JsonWriter::Layout layout) {
        return view::treemap_json(map, options.limits, layout);
      });
}

base::Result<ExitCode> run_treemap(const TreemapCommandOptions& options) {
  base::Status status = check_range(options.columns, kLeastColumns, "--width");
  if (status) status = check_range(options.rows, kLeastRows, "--height");
  if (!status) return status.error();
  if (!options.path.empty() && !options.common.proc_path.empty()) {
    return base::fail(ErrorKind::Misused,
                      "a file and --proc are two captures of memory",
                      "leave one of them out");
  }
  if (wants_page(options.common)) {
    status = check_page_output(options.common, "tidemark treemap -o out.html");
    if (!status) return status.error();
  } else if (!options.base_path.empty()) {
    return base::fail(ErrorKind::Misused, "--base is for pages",
                      "tidemark treemap now.json --base then.json -o out.html");
  }
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  base::Result<TreemapInput> input = read_input(options);
  if (!input) return input.error();
  base::Result<analysis::Treemap> map = make_map(input->records, options);
  if (!map) return map.error();
  base::Result<ExitCode> code = write_map(*map, options, *output);
  if (!code) return code.error();
  return input->is_whole ? *code : ExitCode::Failed;
}

}  // namespace

Command treemap_command() {
  auto options = std::make_shared<TreemapCommandOptions>();
  Command command;
  command.name = "treemap";
  command.summary = "all RAM as boxes in boxes: parts, groups, processes";
  command.description =
      "Draws the JSON of `tidemark graph`, or of Fuchsia's memgraph, from a "
      "file or from standard input (-); without a file, the machine as it is "
      "now. A box is as large as the memory it stands for: RAM, in it its "
      "parts, in that of the programs (vmo) the control groups, in them "
      "processes and their memory objects. Below the picture a table has the "
      "boxes largest first, each in the one it is in; boxes too small to draw "
      "are together in one called other, so that every box is as large as "
      "what is in it. JSON has the whole tree; a page (-o FILE.html) lets one "
      "walk through it, and loads nothing.";
  command.examples = {
      {"tidemark treemap", "this machine, now"},
      {"tidemark treemap now.json", "a capture; `graph -v` makes one"},
      {"tidemark treemap --depth 3 --top 9", "groups, the largest of each"},
      {"tidemark treemap --zoom j/1", "programs alone, without free memory"},
      {"tidemark treemap -o now.html", "to look at in a browser, and to mail"},
      {"tidemark treemap --by private", "what each has alone"},
      {"tidemark treemap --base then.json -o now.html", "coloured by growth"},
  };
  OptionTable& table = command.options;
  table.positional("FILE", "a capture; - is standard input", options->path,
                   false);
  table.choice("--by", {"pss", "private", "charged", "swap"},
               "what a process is as large as: its share (default), what is "
               "its alone, or what it has swapped out; charged is of groups",
               [o = options.get()](const std::string& word) -> base::Status {
                 for (TreemapMeasure measure : analysis::kTreemapMeasures) {
                   if (treemap_measure_token(measure) == word) {
                     o->measure = measure;
                   }
                 }
                 return base::Ok{};
               });
  table.value("--base", "FILE",
              "an earlier capture: a page tells what grew since",
              options->base_path);
  table.value("--zoom", "BOX",
              "draw this one alone: its id in the capture, a pid, or a name",
              options->zoom);
  table.count("--depth",
              "levels of boxes below the outermost (default as many as fit)",
              [o = options.get()](uint64_t count) { o->limits.depth = count; });
  table.count("--top",
              "boxes in each box at most (default as many as fit; JSON: all)",
              [o = options.get()](uint64_t count) { o->limits.top = count; });
  table.count("--width", "columns of the picture (default the terminal's)",
              [o = options.get()](uint64_t count) { o->columns = count; });
  table.count("--height", "rows of the picture (default 3 for 10 columns)",
              [o = options.get()](uint64_t count) { o->rows = count; });
  add_common_options(table, options->common, {"text", "json", "jsonl", "html"});
  command.run = [options] { return run_treemap(*options); };
  return command;
}

}  // namespace tidemark::cli
