// `vm`: what virtual machines cost their host, and what could come back.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/vm_report.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/vm_polling.h"
#include "cli/vm_record.h"
#include "cli/vms_page.h"
#include "source/vm/vm_source.h"
#include "view/json/memstats.h"
#include "view/json/vm.h"
#include "view/text/vm.h"
#include "watch/loop.h"
#include "watch/stop_signals.h"

namespace tidemark::cli {
namespace {

struct VmOptions {
  CommonOptions common;
  std::vector<std::string> words;  // what to do, then VMs
  watch::LoopOptions loop;
  bool verbose = false;
  source::VmScanOptions scan;
  std::optional<uint64_t> poll_ns;
};

enum class VmAction { List, Watch, Record };

// The first word may be what to do; a VM of that name is reached by its pid.
VmAction take_action(std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 3> kActions = {"list", "watch",
                                                        "record"};
  const auto found =
      words.empty() ? kActions.end() : std::ranges::find(kActions, words[0]);
  if (found == kActions.end()) return VmAction::List;
  words.erase(words.begin());
  return static_cast<VmAction>(found - kActions.begin());
}

bool is_memstats(const CommonOptions& common) {
  return common.format == Format::Text && common.format_word == "memstats";
}

class VmPrinter {
 public:
  VmPrinter(const VmOptions& options, bool is_watch, Output& output)
      : options_(options),
        is_watch_(is_watch),
        is_page_(wants_page(options.common)),
        output_(output),
        style_(text_style(options.common, output.fd())) {}

  base::Status print(model::VmScan scan) {
    if (is_page_) {
      scans_.push_back(std::move(scan));
      return base::Ok{};
    }
    const analysis::VmReport report =
        analysis::make_vm_report(std::move(scan), history_);
    if (is_memstats(options_.common)) return print_record(report);
    return output_.write(rendered(report));
  }

  // An array has an end, and a page is written when all is there; a list of
  // objects has none.
  base::Status finish(bool has_failed) {
    if (is_page_) {
      if (has_failed && scans_.empty()) return base::Ok{};
      base::Result<ExitCode> written = write_vms_page(scans_, output_);
      if (!written) return written.error();
      return base::Ok{};
    }
    const bool is_open = start_ns_ || !has_failed;
    if (!is_memstats(options_.common) || !is_open) return base::Ok{};
    return output_.write(start_ns_ ? "]\n" : "[]\n");
  }

 private:
  // Each record as it comes, so that a kill costs the closing bracket alone.
  base::Status print_record(const analysis::VmReport& report) {
    if (report.rows.size() != 1) {
      return base::fail(base::ErrorKind::Misused,
                        "memstats tells of one VM, and there are " +
                            std::to_string(report.rows.size()),
                        "name one: tidemark vm watch PID --format memstats");
    }
    const bool is_first = !start_ns_;
    if (is_first) start_ns_ = report.realtime_ns;
    // To the nearest: the collector counts its seconds, ours jitter.
    const uint64_t elapsed_ns = report.realtime_ns -
                                std::min(report.realtime_ns, *start_ns_) +
                                base::kNsPerSecond / 2;
    return output_.write(
        (is_first ? "[" : ",\n") +
        view::memstats_record(report.rows[0], elapsed_ns / base::kNsPerSecond));
  }

  std::string rendered(const analysis::VmReport& report) const {
    if (options_.common.format != Format::Text) {
      return view::vm_json(report, is_watch_
                                       ? base::JsonWriter::Layout::OneLine
                                       : json_layout(options_.common.format));
    }
    // One VM has room for all that is known of it.
    const bool with_bands = options_.verbose || report.rows.size() == 1;
    return view::vm_text(report, {with_bands, is_watch_}, style_);
  }

  const VmOptions& options_;
  bool is_watch_;
  bool is_page_;
  Output& output_;
  view::TextStyle style_;
  analysis::VmHistory history_;
  std::vector<model::VmScan> scans_;  // of a page
  std::optional<uint64_t> start_ns_;  // of the first record of memstats
};

base::Status read_once(source::VmSource& source, VmPrinter& printer) {
  base::Result<model::VmScan> scan = source.scan();
  if (!scan) return scan.error();
  return printer.print(std::move(*scan));
}

// Not watch::run_loop: that hands on samples of the machine.
base::Status read_repeatedly(source::VmSource& source, VmPrinter& printer,
                             const watch::LoopOptions& loop,
                             watch::StopSignals& signals) {
  const uint64_t start_ns = base::monotonic_ns();
  watch::Ticker ticker(start_ns, loop.period_ns);
  for (uint64_t done = 0; !loop.count || done < *loop.count; ++done) {
    const watch::Ticker::Tick tick = ticker.next(base::monotonic_ns());
    if (loop.duration_ns && tick.due_ns - start_ns > *loop.duration_ns) break;
    if (signals.wait_until(tick.due_ns) == watch::WaitEnd::Stop) break;
    base::Status status = read_once(source, printer);
    if (!status) return status;
  }
  return base::Ok{};
}

// Reads as asked, between the start of polling and its end.
base::Status read_vms(const VmOptions& options, VmAction action,
                      source::VmSource& source, const VmPolling& polling,
                      watch::StopSignals& signals, Output& output) {
  VmPrinter printer(options, action == VmAction::Watch, output);
  base::Status status = base::Ok{};
  if (action == VmAction::Watch) {
    status = read_repeatedly(source, printer, options.loop, signals);
  } else if (polling.wait_for_first(signals)) {
    status = read_once(source, printer);
  }
  base::Status finished = printer.finish(!status);
  return status ? finished : status;
}

base::Result<ExitCode> run_vm(const VmOptions& given) {
  VmOptions options = given;
  const VmAction action = take_action(options.words);
  options.scan.targets = options.words;
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  const bool records = action == VmAction::Record;
  base::Result<Output> output =
      Output::open(records ? "" : options.common.output_path);
  if (!output) return output.error();
  // Blocked before anything is changed, so that it is undone whatever comes.
  base::Result<watch::StopSignals> signals = watch::StopSignals::block();
  if (!signals) return signals.error();
  source::VmSource source(*roots, options.scan);
  base::Result<VmPolling> polling =
      VmPolling::start(*roots, source, options.scan.question, options.poll_ns);
  if (!polling) return polling.error();
  for (const std::string& note : polling->notes())
    print_note(options.common, note);
  base::Status status =
      records
          ? record_vms(*roots, source,
                       {options.common, options.loop, options.scan}, *signals)
          : read_vms(options, action, source, *polling, *signals, *output);
  for (const std::string& note : polling->stop())
    print_note(options.common, note);
  if (!status) return status.error();
  return ExitCode::Done;
}

Take into_duration(uint64_t& target) {
  return [&target](const std::string& word) -> base::Status {
    base::Result<uint64_t> ns = base::parse_duration(word);
    if (!ns) return ns.error();
    target = *ns;
    return base::Ok{};
  };
}

Take into_duration(std::optional<uint64_t>& target) {
  return [&target](const std::string& word) -> base::Status {
    base::Result<uint64_t> ns = base::parse_duration(word);
    if (!ns) return ns.error();
    target = *ns;
    return base::Ok{};
  };
}

void add_vm_options(OptionTable& table, VmOptions& options) {
  table.positional("list|watch|record|VM",
                   "what to do (default list), then names, uuids or pids of "
                   "VMs (default all)",
                   options.words, false);
  table.flag("-v,--verbose", "the bands of each VM and how each is known",
             options.verbose);
  table.value("-d,--interval,--period", "DUR|HZ",
              "time between readings of a watch: 2, 100ms, 10Hz (default 1s)",
              into_duration(options.loop.period_ns));
  table.count("-n,--count", "end a watch after N readings",
              [&options](uint64_t count) { options.loop.count = count; });
  table.value("--duration", "DUR", "end a watch after this time",
              into_duration(options.loop.duration_ns));
  table.flag("--host-only", "read /proc alone and ask no guest",
             [&options] { options.scan.asks_guests = false; });
  table.value("--qmp,--socket", "PATH",
              "the control socket of the one VM named, where its command line "
              "does not tell it",
              options.scan.question.control_path);
  table.value("--timeout", "DUR",
              "how long a monitor may take for an answer (default 500ms)",
              into_duration(options.scan.question.deadline_ns));
  table.value("--poll", "DUR",
              "have QEMU ask its guests so often, in whole seconds, until we "
              "end; without it nothing in a VM is changed",
              into_duration(options.poll_ns));
  add_common_options(table, options.common,
                     {"text", "json", "jsonl", "memstats", "html"});
}

base::Status check_vm_options(const VmOptions& options) {
  std::vector<std::string> words = options.words;
  const VmAction action = take_action(words);
  if (!options.scan.question.control_path.empty() && words.size() != 1) {
    return base::fail(base::ErrorKind::Misused,
                      "a control socket belongs to one VM, which must be named",
                      "tidemark vm PID --qmp PATH");
  }
  if (action == VmAction::Record && options.common.output_path.empty()) {
    return base::fail(base::ErrorKind::Misused, "no file to record to",
                      "tidemark vm record -o FILE.tdm");
  }
  if (wants_page(options.common)) {
    base::Status status =
        check_page_output(options.common, "tidemark vm -o vms.html");
    if (!status) return status;
  }
  if (options.poll_ns && !options.scan.asks_guests) {
    return base::fail(base::ErrorKind::Misused,
                      "--poll and --host-only exclude each other");
  }
  return base::Ok{};
}

}  // namespace

Command vm_command() {
  auto options = std::make_shared<VmOptions>();
  Command command;
  command.name = "vm";
  command.summary = "what VMs cost this host, and what could come back";
  command.description =
      "Finds virtual machines by their kvm-vm descriptors and by program "
      "(QEMU, crosvm, Firecracker, Cloud Hypervisor), with their device "
      "processes and whoever maps the same guest memory. COST is what the host "
      "gives for one: guest RAM in memory, the monitor and its helpers. RAM is "
      "what the guest was given, USED, CACHES and RESERV what it does with it, "
      "HELD what is free in the guest and still held by the host, BALLOON what "
      "was taken back, VMM the monitor and its helpers without guest RAM. "
      "Guests are asked through their monitors, with questions that change "
      "nothing; what a guest does not tell is a ? with the reason. One "
      "VM is shown with how each number is known.";
  command.examples = {
      {"tidemark vm", "all VMs, most costly first"},
      {"tidemark vm debian-ci", "one, with its bands"},
      {"tidemark vm watch -d 5 --format jsonl", "an object per 5 seconds"},
      {"tidemark vm --poll 1s", "with statistics of QEMU on meanwhile"},
      {"tidemark vm record debian-ci -o vm.tdm", "with the guest's figures"},
      {"tidemark vm watch 3310 --format memstats", "for memstats_chart"},
      {"tidemark vm watch --duration 5min -o vms.html", "a chart of all"},
      {"tidemark vm 3310 --qmp /run/q.sock", "the socket told by hand"},
  };
  add_vm_options(command.options, *options);
  command.run = [options]() -> base::Result<ExitCode> {
    base::Status status = check_vm_options(*options);
    if (!status) return status.error();
    return run_vm(*options);
  };
  return command;
}

}  // namespace tidemark::cli
