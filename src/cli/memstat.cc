#include "cli/memstat.h"

#include <sys/wait.h>

#include <optional>
#include <utility>

#include "analysis/get_report.h"
#include "base/clock.h"
#include "base/escape.h"
#include "cli/get.h"
#include "cli/output.h"
#include "cli/run.h"
#include "source/cgroups.h"
#include "source/process_reader.h"
#include "source/roots.h"
#include "view/text/get.h"
#include "watch/run_watch.h"

namespace tidemark::cli {
namespace {

constexpr std::string_view kHelp =
    "memstat: memory of a process (tidemark under another name)\n\n"
    "usage: memstat get [options] PID\n"
    "       memstat run [options] EXECUTABLE [ARGUMENT...]\n\n"
    "  memstat get 1234         PSS of process 1234\n"
    "  memstat get 1234 -rv     with all its descendants, one line each\n"
    "  memstat get 1234 -rvw    again and again, until it ends or Ctrl-C\n"
    "  memstat run sleep 2 -r   run a program, and measure it all the while\n\n"
    "options, before or after the sub-command:\n"
    "  -r, --recursively        count descendants too\n"
    "  -v, --verbose            a line for each process\n"
    "  -w, --watch              get: repeat\n"
    "  -f, --frequency HZ       readings per second (default 10)\n"
    "  --peak, --no-peak, --only-peak\n"
    "                           the highest reading, at the end\n"
    "  --bytes                  only the number, in bytes\n"
    "  -O, --redirect-process-stdout-to PATH\n"
    "  -E, --redirect-process-stderr-to PATH\n"
    "                           run: where the program's output goes\n"
    "                           (default /dev/null)\n\n"
    "an argument of the program that begins with a dash is written with a\n"
    "backslash before it, or behind a lone --. the exit status of run is the\n"
    "program's.\n"
    "huge pages are included; kB are 1024 bytes; errors have exit codes.\n";

constexpr uint64_t kTenthSecondNs = 100'000'000;

struct MemstatOptions {
  GetOptions get;
  std::string output_path = "/dev/null";
  std::string error_path = "/dev/null";
  bool help = false;
};

// "-f", "-rvwf", "--frequency": the word behind it is its value.
bool takes_next_word(const std::string& word) {
  if (word.starts_with("--")) {
    return word == "--frequency" || word == "--redirect-process-stdout-to" ||
           word == "--redirect-process-stderr-to";
  }
  return word.ends_with('f') || word.ends_with('O') || word.ends_with('E');
}

bool is_operand(const std::string& word) {
  if (!word.starts_with('-') || word == "-") return true;
  return word[1] >= '0' && word[1] <= '9';
}

struct Words {
  std::vector<std::string> options;
  std::vector<std::string> operands;
};

// Options may stand anywhere, also behind the program that is run; what shall
// be the program's own hides behind a backslash or a lone "--".
Words sort_words(const std::vector<std::string>& arguments) {
  Words words;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") {
      words.operands.insert(words.operands.end(),
                            arguments.begin() + static_cast<ptrdiff_t>(i) + 1,
                            arguments.end());
      break;
    }
    if (word.starts_with('\\')) {
      words.operands.push_back(word.substr(1));
    } else if (is_operand(word)) {
      words.operands.push_back(word);
    } else {
      words.options.push_back(word);
      if (takes_next_word(word) && i + 1 < arguments.size()) {
        words.options.push_back(arguments[++i]);
      }
    }
  }
  return words;
}

// Prints what memstat prints while a program runs, and remembers the highest.
class RunPrinter {
 public:
  RunPrinter(const GetOptions& options, const source::Roots& roots,
             Output& output)
      : options_(options), output_(output), reader_(roots, no_cgroups_, {}) {}

  void tick(int32_t root, const std::vector<int32_t>& members) {
    model::Sample sample;
    sample.started_realtime_ns = base::realtime_ns();
    for (int32_t pid :
         options_.with_descendants ? members : std::vector<int32_t>{root}) {
      base::Result<model::Process> process = reader_.read(pid);
      if (process && process->rollup) {
        sample.processes.push_back(std::move(*process));
      }
    }
    if (sample.processes.empty()) return;
    analysis::GetReport report = analysis::make_get_report(sample, {});
    if (options_.peak != PeakMode::Only) write(report, "");
    keep(std::move(report));
  }

  // The picture that was taken at a new high may beat all readings.
  void consider(const model::RunRecord& record) {
    if (!record.capture) return;
    model::Sample sample = record.capture->sample;
    std::erase_if(sample.processes, [&](const model::Process& process) {
      return !process.rollup ||
             (!options_.with_descendants && process.id.pid != record.root_pid);
    });
    if (!sample.processes.empty()) {
      keep(analysis::make_get_report(sample, {}));
    }
  }

  base::Status finish(const model::RunRecord& record) {
    if (peak_ && options_.peak != PeakMode::None) {
      write(*peak_, options_.peak == PeakMode::Only ? "" : "Peak:\n");
    }
    if (options_.verbose) {
      const int status = record.wait_status;
      write_text(WIFSIGNALED(status)
                     ? "Process was killed by signal\n"
                     : "Process exited with code " +
                           std::to_string(WEXITSTATUS(status)) + "\n");
    }
    return status_;
  }

 private:
  void keep(analysis::GetReport report) {
    if (peak_ && peak_->total.in_ram().bytes >= report.total.in_ram().bytes) {
      return;
    }
    peak_ = std::move(report);
  }

  void write(const analysis::GetReport& report, std::string head) {
    write_text(std::move(head) + view::get_memstat_text(report,
                                                        options_.verbose,
                                                        options_.in_bytes));
  }

  void write_text(const std::string& text) {
    if (status_) status_ = output_.write(text);
  }

  const GetOptions& options_;
  Output& output_;
  source::CgroupHierarchy no_cgroups_;
  source::ProcessReader reader_;
  std::optional<analysis::GetReport> peak_;
  base::Status status_ = base::Ok{};
};

base::Result<ExitCode> run_program(const MemstatOptions& options) {
  if (options.get.targets.empty()) {
    return base::fail(base::ErrorKind::Misused, "no program to run",
                      "memstat run EXECUTABLE [ARGUMENT...]");
  }
  base::Result<Output> output = Output::open("");
  if (!output) return output.error();
  base::Result<source::Roots> roots = source::open_roots("");
  if (!roots) return roots.error();
  RunPrinter printer(options.get, *roots, *output);
  watch::RunOptions run;
  run.command.arguments = options.get.targets;
  run.command.output_path = options.output_path;
  run.command.error_path = options.error_path;
  run.command.ignores_broken_pipe = were_broken_pipes_ignored();
  run.tick_period_ns = options.get.period_ns;
  run.tick = [&](int32_t root, const std::vector<int32_t>& members) {
    printer.tick(root, members);
  };
  const watch::RunOutcome outcome = watch::watch_command(*roots, run);
  if (outcome.failure) return run_failure(*outcome.failure);
  printer.consider(outcome.record);
  base::Status status = printer.finish(outcome.record);
  if (!status) return status.error();
  return run_status(outcome.record);
}

void add_options(OptionTable& table, MemstatOptions& options) {
  add_memstat_options(table, options.get);
  table.value("-O,--redirect-process-stdout-to", "PATH",
              "where the program's output goes", options.output_path);
  table.value("-E,--redirect-process-stderr-to", "PATH",
              "where the program's messages go", options.error_path);
  table.flag("-h,--help", "this text", options.help);
}

base::Error unknown_command(const std::string& name) {
  return base::fail(base::ErrorKind::Misused,
                    "memstat has no sub-command '" + base::visible(name) + "'",
                    "memstat get PID, memstat run EXECUTABLE");
}

}  // namespace

base::Result<ExitCode> run_memstat(const std::vector<std::string>& arguments) {
  MemstatOptions options;
  options.get.as_memstat = true;
  options.get.period_ns = kTenthSecondNs;
  OptionTable table;
  add_options(table, options);
  Words words = sort_words(arguments);
  base::Status status = parse_options(table, words.options);
  if (!status) {
    return base::fail(status.error().kind, status.error().what,
                      "what is meant for a program is written with a backslash "
                      "before it, or behind a lone --");
  }
  if (options.help || words.operands.empty()) {
    write_stderr(kHelp);
    return options.help ? ExitCode::Done : ExitCode::Misused;
  }
  const std::string name = words.operands.front();
  words.operands.erase(words.operands.begin());
  options.get.targets = std::move(words.operands);
  if (name == "get") return run_get(options.get);
  if (name != "run") return unknown_command(name);
  return run_program(options);
}

}  // namespace tidemark::cli
