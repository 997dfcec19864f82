#include <array>
#include <memory>
#include <utility>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/page.h"
#include "source/roots.h"
#include "view/json/ledger.h"
#include "view/text/ledger.h"
#include "watch/ledger_reader.h"

namespace tidemark::cli {
namespace {

using analysis::LedgerBy;
using base::ErrorKind;

struct LedgerCommandOptions {
  watch::LedgerOptions ledger;
  view::LedgerTextOptions text;
  bool is_what_if = false;
  std::vector<std::string> dying;
  CommonOptions common;
};

// A pid, or the path of a control group.
base::Status take_dying(LedgerCommandOptions& options) {
  if (options.is_what_if && options.dying.empty()) {
    return base::fail(ErrorKind::Misused, "--what-if needs somebody",
                      "tidemark ledger --what-if 1234 /system.slice");
  }
  if (!options.is_what_if && !options.dying.empty()) {
    return base::fail(ErrorKind::Misused,
                      "'" + options.dying[0] + "' is one word too many",
                      "did you mean --what-if " + options.dying[0] + "?");
  }
  for (const std::string& word : options.dying) {
    const std::optional<uint64_t> pid = base::parse_u64(word);
    if (pid && *pid <= INT32_MAX) {
      options.ledger.dying_pids.push_back(static_cast<int32_t>(*pid));
    } else if (word.starts_with("/")) {
      options.ledger.dying_groups.push_back(word);
    } else {
      return base::fail(ErrorKind::Misused,
                        "'" + word + "' is neither a pid nor a control group",
                        "tidemark ledger --what-if 1234 /system.slice");
    }
  }
  return base::Ok{};
}

// A page is looked at: that of all files would be megabytes.
constexpr size_t kPageFiles = 1000;

base::Result<ExitCode> write_ledger_page(const watch::LedgerReading& reading,
                                         Output& output) {
  std::string json;
  base::Status status = view::write_ledger_json(
      reading.ledger, reading.what_if, base::JsonWriter::Layout::OneLine,
      [&](std::string_view part) -> base::Status {
        json += part;
        return base::Ok{};
      });
  if (!status) return status.error();
  return write_page(output,
                    std::array<view::PageReport, 1>{{{"ledger", json}}});
}

// What cannot be asked for together.
base::Status check_together(const LedgerCommandOptions& options) {
  const bool asks_whose =
      options.ledger.by != LedgerBy::Class || options.is_what_if;
  const bool is_sample = options.ledger.sample_pages > 0;
  if (is_sample && asks_whose) {
    return base::fail(ErrorKind::Misused,
                      "a sample tells classes, not who maps a page",
                      "leave --sample or the other option out");
  }
  if ((is_sample || asks_whose) &&
      options.ledger.most == model::LedgerTier::Counters) {
    return base::fail(ErrorKind::Misused,
                      "the counters tell classes and nothing else",
                      "leave --tier or the other option out");
  }
  if (!wants_page(options.common)) return base::Ok{};
  if (asks_whose) {
    return base::fail(ErrorKind::Misused, "a page is of all RAM by class",
                      "leave --by and --what-if out");
  }
  return check_page_output(options.common, "tidemark ledger -o out.html");
}

// Names of files that nobody sees would be asked for in vain.
void limit_names(LedgerCommandOptions& options) {
  if (wants_page(options.common)) {
    options.ledger.named_file_count = kPageFiles;
  } else if (options.common.format == Format::Text) {
    options.ledger.named_file_count = options.ledger.by == LedgerBy::File
                                          ? options.text.row_limit
                                          : options.text.part_limit;
  }
}

base::Result<ExitCode> run_ledger(LedgerCommandOptions options) {
  base::Status status = take_dying(options);
  if (status) status = check_together(options);
  if (!status) return status.error();
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  limit_names(options);
  base::Result<watch::LedgerReading> reading =
      watch::read_ledger(*roots, options.ledger);
  if (!reading) return reading.error();
  if (wants_page(options.common)) return write_ledger_page(*reading, *output);
  if (options.common.format != Format::Text) {
    status = view::write_ledger_json(
        reading->ledger, reading->what_if, json_layout(options.common.format),
        [&](std::string_view part) { return output->write(part); },
        reading->other_files);
    if (!status) return status.error();
    return ExitCode::Done;
  }
  const view::TextStyle style = text_style(options.common, output->fd());
  status = output->write(
      reading->what_if
          ? view::what_if_text(*reading->what_if, style)
          : view::ledger_text(reading->ledger, options.text, style));
  if (!status) return status.error();
  return ExitCode::Done;
}

}  // namespace

Command ledger_command() {
  auto options = std::make_shared<LedgerCommandOptions>();
  Command command;
  command.name = "ledger";
  command.summary = "every page of RAM in exactly one named row";
  command.description =
      "Walks all pages of the machine and says whose each one is: anonymous "
      "memory by the processes that map it, files by path, slab by cache, the "
      "kernel's own by what took it, and what is free. The rows add up to the "
      "machine's RAM to the byte; what has no name stands in a row that says "
      "so. With root it looks at every page; with BPF it also reads what the "
      "kernel notes of each; without either it shows the kernel's counters.";
  command.examples = {
      {"tidemark ledger", "the machine by class"},
      {"tidemark ledger --by cgroup", "who is charged for what"},
      {"tidemark ledger --by file --top 100", "the page cache, by file"},
      {"tidemark ledger --what-if 1234", "what would come back if it ended"},
      {"tidemark ledger -o ram.html", "to look at in a browser"},
  };
  OptionTable& table = command.options;
  table.choice("--by", {"class", "cgroup", "process", "file"},
               "what the rows are (default class)",
               [o = options.get()](const std::string& word) -> base::Status {
                 const std::pair<std::string_view, LedgerBy> known[] = {
                     {"class", LedgerBy::Class},
                     {"cgroup", LedgerBy::Cgroup},
                     {"process", LedgerBy::Process},
                     {"file", LedgerBy::File}};
                 for (const auto& [name, by] : known) {
                   if (name == word) o->ledger.by = by;
                 }
                 return base::Ok{};
               });
  table.choice("--tier", {"counters", "pages", "structs"},
               "look no further than this (default as far as one may)",
               [o = options.get()](const std::string& word) -> base::Status {
                 for (model::LedgerTier tier :
                      {model::LedgerTier::Counters, model::LedgerTier::Pages,
                       model::LedgerTier::Structs}) {
                   if (model::ledger_tier_token(tier) == word) {
                     o->ledger.most = tier;
                   }
                 }
                 return base::Ok{};
               });
  table.count(
      "--sample",
      "look at about N pages at random: 20000 take some 20 ms and tell "
      "classes to a fraction of a per cent",
      [o = options.get()](uint64_t count) { o->ledger.sample_pages = count; });
  table.count("--top", "owners with a line of their own in each row",
              [o = options.get()](uint64_t count) {
                o->text.part_limit = o->text.row_limit = count;
              });
  table.positional("PID|CGROUP", "of --what-if", options->dying, false);
  table.flag("--what-if", "what would come back if these ended",
             options->is_what_if);
  add_common_options(table, options->common, {"text", "json", "jsonl", "html"});
  command.run = [options] { return run_ledger(*options); };
  return command;
}

}  // namespace tidemark::cli
