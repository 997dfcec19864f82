#include "cli/record_words.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "analysis/process_use.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/recording_folder.h"
#include "cli/recording_head.h"

namespace tidemark::cli {
namespace {

std::string tally_words(const watch::DetailTally& tally) {
  if (tally.unreadable_count + tally.seldom_count == 0) return "";
  std::string words =
      "; of " + base::counted(tally.process_count, "process", "processes");
  const char* comma = "";
  if (tally.unreadable_count > 0) {
    words += fmt::format(" only counters of {}",
                         base::grouped(tally.unreadable_count));
    comma = ",";
  }
  if (tally.seldom_count > 0) {
    words += fmt::format("{} {} not in full at every tick", comma,
                         base::grouped(tally.seldom_count));
  }
  return words;
}

}  // namespace

std::string record_rule(const watch::BudgetOptions& budget) {
  if (!budget.is_limited) {
    return "reading in full at every tick, without a budget";
  }
  if (budget.prefers_whole) {
    return "reading in full at every tick, up to 10 % of a core";
  }
  return "reading within " + watch::budget_words(budget) +
         "; --budget none: in full";
}

RecordLine::RecordLine(const CommonOptions& common, std::string path)
    : path_(std::move(path)),
      is_terminal_(!common.quiet && ::isatty(STDERR_FILENO) != 0),
      is_quiet_(common.quiet) {}

void RecordLine::show(const watch::RecordProgress& progress) {
  if (progress.is_paused != was_paused_) say_pause(progress);
  const uint64_t now = base::monotonic_ns();
  constexpr uint64_t kLineNs = 200'000'000;
  if (!is_terminal_ || now < next_ns_) return;
  next_ns_ = now + kLineNs;
  is_shown_ = true;
  std::string line = fmt::format(
      "\r\x1b[Ktidemark: recording  {}  {} samples  {}  {} cpu  peak {}",
      base::clock_duration(progress.elapsed_ns),
      base::grouped(progress.sample_count),
      base::short_size(recording_bytes(path_)),
      base::percent(progress.cpu_ns,
                    std::max<uint64_t>(progress.elapsed_ns, 1)) +
          " %",
      base::long_size(progress.peak_pss_bytes));
  if (progress.missed_count > 0) {
    line += fmt::format("  {} missed", base::grouped(progress.missed_count));
  }
  write_stderr(line);
}

void RecordLine::wipe() {
  if (std::exchange(is_shown_, false)) write_stderr("\r\x1b[K");
}

void RecordLine::say_pause(const watch::RecordProgress& progress) {
  was_paused_ = progress.is_paused;
  wipe();
  if (is_quiet_) return;
  const std::string when = base::clock_duration(progress.elapsed_ns);
  write_stderr(was_paused_
                   ? fmt::format("tidemark: {}; recording paused at {}, the "
                                 "file is valid so far\n",
                                 has_disk_room(path_)
                                     ? "the file is at its limit"
                                     : "disk full",
                                 when)
                   : fmt::format("tidemark: recording goes on at {}\n", when));
}

void RemarkPrinter::print(const model::Sample& sample) {
  for (const model::ObserverNote& note : sample.notes) {
    // Numbers differ; what stands before the first is the kind.
    const std::string kind =
        note.text.substr(0, note.text.find_first_of("0123456789"));
    if (!kinds_.insert(kind).second) continue;
    std::string text = base::visible(note.text);
    if (note.process.pid > 0) {
      text = fmt::format("process {}: {}", note.process.pid, text);
    }
    print_note(common_, text);
  }
  const bool is_denied =
      std::ranges::any_of(sample.processes, [](const model::Process& process) {
        return process.state == model::ProcessState::Denied;
      });
  if (is_denied && !std::exchange(has_hinted_, true)) print_hint(sample);
}

void RemarkPrinter::print_hint(const model::Sample& sample) const {
  const std::string hint = analysis::denied_hint(sample);
  if (!hint.empty() && !common_.quiet) {
    write_stderr("  hint: " + hint + "\n");
  }
}

void print_record_end(const CommonOptions& common,
                      const watch::RecordResult& result,
                      const watch::DetailTally& tally) {
  const watch::RecordProgress& last = result.last;
  std::string text = fmt::format(
      "recorded {} sample{} in {} to {} ({}); {} missed, {} % cpu, "
      "reading {} % of the time{}",
      base::grouped(last.sample_count), last.sample_count == 1 ? "" : "s",
      base::long_duration(last.elapsed_ns), base::visible(common.output_path),
      base::long_size(recording_bytes(common.output_path)),
      base::grouped(last.missed_count),
      base::percent(last.cpu_ns, std::max<uint64_t>(last.elapsed_ns, 1)),
      base::percent(last.read_ns, std::max<uint64_t>(last.elapsed_ns, 1)),
      tally_words(tally));
  print_note(common, text);
}

}  // namespace tidemark::cli
