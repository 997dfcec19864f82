// `vm`: what virtual machines cost their host, and what could come back.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/trace_recording.h"
#include "cli/vm_polling.h"
#include "cli/vm_printer.h"
#include "cli/vm_record.h"
#include "cli/vm_recorded.h"
#include "source/vm/vm_source.h"
#include "watch/loop.h"
#include "watch/stop_signals.h"

namespace tidemark::cli {
namespace {

struct VmOptions {
  CommonOptions common;
  std::vector<std::string> words;  // what to do, then a recording, then VMs
  std::string at;
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

base::Status read_once(source::VmSource& source, VmPrinter& printer) {
  base::Result<model::VmScan> scan = source.scan();
  if (!scan) return scan.error();
  return printer.print(std::move(*scan));
}

// Not watch::run_loop: that hands on samples of the machine.
base::Status read_repeatedly(source::VmSource& source, VmPrinter& printer,
                             const watch::LoopOptions& loop,
                             watch::StopSignals& signals) {
  watch::Ticker ticker(base::monotonic_ns(), loop.period_ns, loop.duration_ns);
  for (uint64_t done = 0;
       !ticker.is_over() && (!loop.count || done < *loop.count); ++done) {
    const watch::Ticker::Tick tick = ticker.next(base::monotonic_ns());
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
  VmPrinter printer(options.common,
                    {options.verbose, action == VmAction::Watch, false},
                    output);
  base::Status status = base::Ok{};
  if (action == VmAction::Watch) {
    status = read_repeatedly(source, printer, options.loop, signals);
  } else if (polling.wait_for_first(signals)) {
    status = read_once(source, printer);
  }
  base::Status finished = printer.finish(!status);
  return status ? finished : status;
}

// What the words behind the action begin with, if it is a recording.
std::string take_recording(std::vector<std::string>& words) {
  if (words.empty() || !is_recording_name(words[0])) return "";
  std::string path = std::move(words[0]);
  words.erase(words.begin());
  return path;
}

base::Result<ExitCode> show_recorded(const VmOptions& options, VmAction action,
                                     const std::string& path) {
  const bool is_watch = action == VmAction::Watch;
  base::Result<Output> output = Output::open(options.common.output_path);
  if (!output) return output.error();
  VmPrinter printer(options.common, {options.verbose, is_watch, true}, *output);
  const VmRecordedOptions recorded = {path, options.words, options.at,
                                      options.loop.count};
  base::Status status = is_watch ? replay_recorded_vms(recorded, printer)
                                 : print_recorded_vms(recorded, printer);
  base::Status finished = printer.finish(!status);
  if (status) status = finished;
  if (!status) return status.error();
  return ExitCode::Done;
}

base::Result<ExitCode> run_vm(const VmOptions& given) {
  VmOptions options = given;
  const VmAction action = take_action(options.words);
  const std::string recording = take_recording(options.words);
  if (!recording.empty()) return show_recorded(options, action, recording);
  options.scan.targets = options.words;
  // Of a guest that is slow the next reading tells; one alone has no next.
  if (action != VmAction::List) {
    options.scan.patience_ns =
        std::min(options.scan.question.deadline_ns, options.loop.period_ns / 4);
  }
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
  table.positional("list|watch|record|FILE|VM",
                   "what to do (default list), a recording to read instead of "
                   "this machine, then names, uuids or pids of VMs (default "
                   "all)",
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
  table.value("--at", "TIME",
              "of a recording, another moment than its end: "
              "2026-11-15T09:55:12Z, 90s after the start, tick:17, start",
              options.at);
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

// What is said of a recording must be of one, and the other way round.
base::Status check_recorded_options(const VmOptions& options, VmAction action,
                                    bool is_recorded) {
  if (!is_recorded && !options.at.empty()) {
    return base::fail(base::ErrorKind::Misused, "--at is for recordings",
                      "tidemark vm list FILE.tdm --at 90s");
  }
  if (!is_recorded) return base::Ok{};
  const bool asks =
      options.poll_ns || !options.scan.question.control_path.empty();
  if (action == VmAction::Record || asks) {
    return base::fail(base::ErrorKind::Misused,
                      "a recording is read, and nobody is asked or recorded",
                      "tidemark vm list FILE.tdm");
  }
  if (action == VmAction::Watch && !options.at.empty()) {
    return base::fail(base::ErrorKind::Misused,
                      "watch shows all moments of a recording, --at one",
                      "tidemark vm list FILE.tdm --at 90s");
  }
  return base::Ok{};
}

base::Status check_vm_options(const VmOptions& options) {
  std::vector<std::string> words = options.words;
  const VmAction action = take_action(words);
  const bool is_recorded = !take_recording(words).empty();
  base::Status fits = check_recorded_options(options, action, is_recorded);
  if (!fits) return fits;
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
      {"tidemark vm list vm.tdm --at 90s", "a moment of a recording"},
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
