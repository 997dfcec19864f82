// `doctor`: what works here, what is missing, how to get it.
#include "cli/commands.h"

#include <memory>
#include <utility>

#include "analysis/doctor.h"
#include "cli/build_info.h"
#include "cli/output.h"
#include "source/probe.h"
#include "view/json/doctor.h"
#include "view/text/doctor.h"

namespace tidemark::cli {
namespace {

base::Result<ExitCode> run_doctor(const CommonOptions& options) {
  base::Result<source::Roots> roots = source::open_roots(options.proc_path);
  if (!roots) return roots.error();
  base::Result<Output> output = Output::open(options.output_path);
  if (!output) return output.error();

  analysis::DoctorInput input;
  input.facts = source::probe_facts(*roots);
  input.capabilities = source::probe_capabilities(*roots);
  base::Result<std::string> binary = source::own_binary_path();
  input.binary_path = binary ? *binary : "tidemark";
  for (const BuildFeature& feature : kBuildFeatures) {
    input.built_in.push_back({std::string(feature.name), feature.built_in});
  }
  const analysis::DoctorReport report =
      analysis::doctor_report(std::move(input));
  return write_report(
      *output, options,
      [&](const auto& style) { return view::doctor_text(report, style); },
      [&](auto layout) { return view::doctor_json(report, layout); });
}

}  // namespace

Command doctor_command() {
  auto options = std::make_shared<CommonOptions>();
  Command command;
  command.name = "doctor";
  command.summary = "what works here, what is missing, how to get it";
  command.description =
      "Tries what tidemark could use on this machine, by tier: no privilege, "
      "the right to look into other processes, root, BPF. For what is missing "
      "it prints the line that would grant it. Nothing is changed.";
  command.examples = {
      {"tidemark doctor", "what works for this user"},
      {"sudo tidemark doctor", "what would work for root"},
      {"tidemark doctor --json", "the same for a program"},
  };
  add_common_options(command.options, *options, {"text", "json"});
  command.run = [options] { return run_doctor(*options); };
  return command;
}

}  // namespace tidemark::cli
