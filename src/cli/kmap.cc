// `kmap`: the kernel's own address space.
#include "cli/commands.h"

#include <memory>
#include <utility>

#include "analysis/kmap_report.h"
#include "base/clock.h"
#include "cli/output.h"
#include "source/kernel_files.h"
#include "source/machine_reader.h"
#include "view/json/kmap.h"
#include "view/text/kmap.h"

namespace tidemark::cli {
namespace {

struct KmapOptions {
  CommonOptions common;
  view::KmapTextOptions text;
};

base::Result<analysis::KmapInput> read_input(const source::Roots& roots) {
  analysis::KmapInput input;
  input.realtime_ns = base::realtime_ns();
  const uint64_t start = base::monotonic_ns();
  input.iomem = source::read_iomem(roots);
  input.modules = source::read_modules(roots);
  input.symbols = source::read_section_symbols(roots);
  input.counters = source::read_page_counters(roots);
  input.space = source::read_kernel_space(roots);
  input.segments = source::read_kernel_segments(roots);
  // These two are compared, so nothing comes between them.
  input.vmalloc = source::read_vmallocinfo(roots);
  base::Result<model::Machine> machine =
      source::read_machine(roots, source::CgroupHierarchy::find(roots));
  if (!machine) return machine.error();
  input.meminfo = machine->meminfo;
  input.page_size_bytes = machine->page_size_bytes;
  input.read_ns = base::monotonic_ns() - start;
  return input;
}

base::Result<ExitCode> run_kmap(const KmapOptions& options) {
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  base::Result<analysis::KmapInput> input = read_input(*roots);
  if (!input) return input.error();
  const analysis::KmapReport report =
      analysis::make_kmap_report(std::move(*input));
  base::Status status = output->write(
      options.common.format == Format::Text
          ? view::kmap_text(report, options.text,
                            text_style(options.common, output->fd()))
          : view::kmap_json(report, json_layout(options.common.format),
                            options.text.all_areas));
  if (!status) return status.error();
  return ExitCode::Done;
}

}  // namespace

Command kmap_command() {
  auto options = std::make_shared<KmapOptions>();
  Command command;
  command.name = "kmap";
  command.summary = "the kernel's own address space, and the physical map";
  command.description =
      "Prints the regions (R) the kernel has divided its addresses into, with "
      "the addresses they take (:sz) and the RAM behind them (:mem; a dash "
      "where the memory is somebody else's): the direct map, vmalloc, page "
      "structs, the kernel image, modules. Areas of vmalloc stand in groups "
      "(G) by the function that asked for them. Below is the physical map. "
      "Addresses the kernel hides or hashes are question marks, and what "
      "would show them is said; tidemark turns no switch.";
  command.examples = {
      {"sudo tidemark kmap", "who holds what of vmalloc, by caller"},
      {"sudo tidemark kmap --all", "every single area"},
      {"sudo tidemark kmap --json", "the same for a program"},
  };
  OptionTable& table = command.options;
  table.flag("--all", "each area of vmalloc instead of one line per caller",
             options->text.all_areas);
  add_common_options(table, options->common, {"text", "json", "jsonl"});
  command.run = [options] { return run_kmap(*options); };
  return command;
}

}  // namespace tidemark::cli
