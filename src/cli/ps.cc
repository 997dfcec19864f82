// `ps`: who has the machine's memory.
#include "cli/commands.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include "analysis/ps_report.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/targets.h"
#include "source/process_source.h"
#include "view/csv/reports.h"
#include "view/json/ps.h"
#include "view/text/ps.h"
#include "watch/exact_source.h"

namespace tidemark::cli {
namespace {

using analysis::GroupBy;
using analysis::SortBy;

struct PsCommandOptions {
  CommonOptions common;
  analysis::PsOptions report;
  view::PsTextOptions text;
  bool is_exact = false;
};

template <typename Value>
struct Word {
  std::string_view word;
  Value value;
};
constexpr Word<GroupBy> kGroupWords[] = {
    {"cgroup", GroupBy::Cgroup},   {"parent", GroupBy::Parent},
    {"user", GroupBy::User},       {"exe", GroupBy::Exe},
    {"session", GroupBy::Session}, {"container", GroupBy::Container},
};
constexpr Word<SortBy> kSortWords[] = {
    {"pss", SortBy::Pss},       {"private", SortBy::Private},
    {"shared", SortBy::Shared}, {"swap", SortBy::Swap},
    {"kern", SortBy::Kernel},   {"rss", SortBy::Rss},
    {"pid", SortBy::Pid},       {"name", SortBy::Name},
};

// An option that takes one of the words of a table.
template <typename Value, size_t N>
void add_choice(OptionTable& table, const std::string& name,
                const std::string& help, const Word<Value> (&words)[N],
                Value& target) {
  std::vector<std::string> choices;
  for (const Word<Value>& word : words)
    choices.emplace_back(word.word);
  table.choice(name, std::move(choices), help,
               [&words, &target](const std::string& typed) -> base::Status {
                 for (const Word<Value>& word : words) {
                   if (word.word == typed) target = word.value;
                 }
                 return base::Ok{};
               });
}

std::string render(const analysis::PsReport& report,
                   const PsCommandOptions& options, int fd) {
  switch (options.common.format) {
    case Format::Json:
    case Format::JsonLines:
      return view::ps_json(report, json_layout(options.common.format),
                           options.text.groups_only);
    case Format::Csv:
      return view::ps_csv(report);
    case Format::Text:
      break;
  }
  return view::ps_text(report, options.text, text_style(options.common, fd));
}

base::Result<ExitCode> run_ps(PsCommandOptions& options) {
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  if (roots->is_live) options.report.own_pid = ::getpid();
  // Only the text folds: a program that reads wants every row.
  if (options.common.format != Format::Text) options.report.fold = false;

  model::Sample sample;
  {
    Progress progress("reading processes", options.common.quiet);
    source::CollectOptions collect;
    collect.detail.threads = options.report.with_threads;
    collect.detail.descriptors = options.text.with_descriptors;
    collect.detail.executable = options.report.group_by == GroupBy::Exe;
    collect.cgroups = options.report.group_by == GroupBy::Cgroup;
    collect.progress = [&](size_t done, size_t total) {
      progress.update(done, total);
    };
    source::ProcessSource source(*roots, std::move(collect));
    base::Status status = base::Ok{};
    if (options.is_exact) {
      base::Result<std::unique_ptr<watch::ExactSource>> exact =
          watch::ExactSource::open(*roots, source);
      if (!exact) return exact.error();
      status = (*exact)->collect(sample);
    } else {
      status = source.collect(sample);
    }
    if (!status) return status.error();
  }
  base::Result<analysis::PsReport> report =
      analysis::make_ps_report(sample, options.report, user_labels(*roots));
  if (!report) return report.error();
  base::Status written = output->write(render(*report, options, output->fd()));
  if (!written) return written.error();
  return ExitCode::Done;
}

}  // namespace

Command ps_command() {
  auto options = std::make_shared<PsCommandOptions>();
  Command command;
  command.name = "ps";
  command.summary = "processes and groups by memory, and what none of them has";
  command.description =
      "Prints the machine's processes as a tree of groups (j:) and processes "
      "(p:), largest first. PSS counts each page once over all processes, so "
      "the column adds up: huge pages are added to it. SHARED is blank for "
      "groups, where it would count pages repeatedly. KERN is page tables, "
      "kernel stacks and, with --fds, BPF maps and programs. Rows below one "
      "per cent of their group fold into one. "
      "The lines behind the table name what no process holds and close to the "
      "memory in use. -J prints the groups alone, with what the kernel charged "
      "to each (CHARGED), what of that no process maps (UNSEEN; negative when "
      "others were charged for its pages) and its highest charge (PEAK).";
  command.examples = {
      {"tidemark ps", "who has the memory"},
      {"tidemark ps -J", "by group, with the kernel's account"},
      {"tidemark ps --by user --sort swap", "who is swapped out"},
      {"tidemark ps --filter postgres --all", "every process of one service"},
      {"tidemark ps --json | jq .machine", "where the rest is, for a program"},
  };
  OptionTable& table = command.options;
  add_choice(table, "--by", "what the groups are (default cgroup)", kGroupWords,
             options->report.group_by);
  add_choice(table, "--sort", "largest first by this column (default pss)",
             kSortWords, options->report.sort_by);
  table.value("--filter", "TEXT",
              "only processes whose name, command line, user or group has it",
              options->report.filter);
  table.value("--job", "ID|NAME", "only this group and what is below it",
              options->report.job);
  table.flag("-J,--jobs", "groups only", options->text.groups_only);
  table.flag("-T,--threads", "threads too (t:)", options->report.with_threads);
  table.flag("--fds", "open descriptors by type",
             options->text.with_descriptors);
  table.flag("-a,--all", "fold nothing",
             [options = options.get()] { options->report.fold = false; });
  table.flag("--exact",
             "shares to the page, by who maps each; PRIVATE of a group is what "
             "only its processes map (root)",
             options->is_exact);
  table.count("--top", "at most N rows in each group, the rest folded",
              [o = options.get()](uint64_t count) { o->report.top = count; });
  add_common_options(table, options->common, {"text", "json", "jsonl", "csv"});
  command.run = [options] { return run_ps(*options); };
  return command;
}

}  // namespace tidemark::cli
