#include "cli/trace_options.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "analysis/trace_report.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/trace_words.h"
#include "source/gfp_filter.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

void add_filters(OptionTable& table, TraceCommandOptions& options) {
  source::TraceFilter& filter = options.watch.trace.filter;
  table.value("-p,--pid", "PID", "this process and its descendants alone",
              [&filter](const std::string& word) -> base::Status {
                filter.tree_pid = base::parse_pid(word);
                if (filter.tree_pid && *filter.tree_pid > 0) return base::Ok{};
                return base::fail(ErrorKind::Misused,
                                  "'" + word + "' is no pid");
              });
  table.value("--comm", "NAME", "processes of this name alone", filter.comm);
  table.value("--cgroup", "PATH", "processes of this control group alone",
              options.cgroup);
  table.value("--module", "NAME", "only stacks with code of this kernel module",
              filter.module);
  table.value(
      "--gfp", "LIST",
      "only allocations that are all of these: " + source::gfp_class_names() +
          ", or flags as the kernel names them (__GFP_ZERO)",
      options.gfp);
  table.value("--order", "N[-M]", "only blocks of 2^N (to 2^M) pages",
              [&filter](const std::string& word) -> base::Status {
                std::string_view rest = word;
                const std::optional<uint64_t> least =
                    base::parse_u64(base::take_until(rest, '-'));
                const std::optional<uint64_t> most =
                    rest.empty() ? least : base::parse_u64(rest);
                constexpr uint64_t kMost = 63;
                if (!least || !most || *least > *most || *most > kMost) {
                  return base::fail(ErrorKind::Misused,
                                    "'" + word + "' is no order",
                                    "0 to 10, or two of them: 3-10");
                }
                filter.least_order = static_cast<uint32_t>(*least);
                filter.most_order = static_cast<uint32_t>(*most);
                return base::Ok{};
              });
}

void add_backend(OptionTable& table, TraceCommandOptions& options) {
  table.choice("-b,--backend",
               {"auto", "bpf", "perf", "ftrace", "pageowner", "allocinfo"},
               "the means: counted in the kernel (bpf), by events (perf, "
               "ftrace), or from what the kernel itself notes of each page or "
               "line of code; the best that works unless given",
               [&options](const std::string& word) -> base::Status {
                 options.backend = word;
                 return base::Ok{};
               });
  table.value("-s,--buf-size", "MB",
              "room for events that wait to be read, for each CPU, where the "
              "means is perf or ftrace; 4 unless given, 0 is the least",
              [&options](const std::string& word) {
                return take_trace_buffer(word, options.watch.trace.ring_bytes);
              });
  table.flag("--debug", "taken for memstrack's sake: notes are in the report",
             [] {});
  table.value("--pageowner-file", "FILE",
              "a dump of page_owner, or of its show_stacks, instead of the "
              "running kernel",
              options.notes.page_owner_file);
  table.value("--group", "LIST",
              "pageowner: by stacktrace, pid, tgid, name, allocator; "
              "allocinfo: by line or module",
              options.notes.group_by);
  table.value("--sort", "LIST",
              "pageowner: -memory, +pid, name, times…; allocinfo: size, "
              "growth or calls",
              options.notes.sort_by);
}

void add_reports(OptionTable& table, TraceCommandOptions& options) {
  table.value(
      "-r,--report", "LIST",
      "reports to print: TYPE[:PARAM]…,… with the types " +
          fmt::format("{}", fmt::join(analysis::trace_report_tokens(), ", ")) +
          " and the parameters sort_by_alloc, sort_by_peak, "
          "throttle=N, top=N, by=task+stack",
      options.reports);
  table.value(
      "-t,--throttle", "N",
      "of each level the largest that hold N % of it; like --top it leaves "
      "memstrack's lists of modules and tasks whole",
      [&options](const std::string& word) -> base::Status {
        const std::optional<uint64_t> number = base::parse_u64(word);
        if (!number || *number > 100) {
          return base::fail(ErrorKind::Misused,
                            "'" + word + "' is no percentage", "0 to 100");
        }
        options.tree.throttle_percent = static_cast<uint32_t>(*number);
        return base::Ok{};
      });
  table.count("--top", "at each level at most N",
              [&options](uint64_t count) { options.tree.top = count; });
}

// How closely it is looked, and at what.
void add_depth(OptionTable& table, TraceCommandOptions& options) {
  table.value("--sample", "N",
              "follow one page frame in N (a power of two), for use all day",
              [&options](const std::string& word) {
                options.has_sample = true;
                return take_trace_sample(word,
                                         options.watch.trace.sample_period);
              });
  table.flag("--user",
             "through which code of programs, of the process of --pid or the "
             "command: what is resident of what each line touched first; of "
             "one page in 64 or fewer, as --sample and the cost of unwinding "
             "allow",
             options.watch.trace.with_user_stacks);
  table.flag("--unwind-all",
             "unwind every stack; by default one that was seen before is known "
             "by its return addresses, and one in 1024 verified",
             options.watch.trace.unwinds_all);
  table.flag("--slab",
             "follow objects of slab caches too, which costs several times as "
             "many events; the report slab does",
             options.watch.follows_slab);
  table.flag("-a,--all", "trace the whole machine while the command runs",
             options.everything);
}

}  // namespace

void add_trace_options(OptionTable& table, TraceCommandOptions& options) {
  add_reports(table, options);
  table.value("--duration", "DUR", "end after this time",
              [&options](const std::string& word) -> base::Status {
                base::Result<uint64_t> ns = base::parse_duration(word);
                if (!ns) return ns.error();
                options.watch.duration_ns = *ns;
                return base::Ok{};
              });
  table.value("-f,--interval,--period", "DUR|HZ",
              "time between readings where -o names a recording (default 1s)",
              [&options](const std::string& word) -> base::Status {
                base::Result<uint64_t> ns = base::parse_duration(word);
                if (!ns) return ns.error();
                options.watch.period_ns = *ns;
                return base::Ok{};
              });
  table.flag("--overwrite", "replace a recording that exists",
             options.overwrites);
  table.value("--at", "TIME",
              "of a recording: peak (as the kernel kept it), end (default), or "
              "another moment: 2026-11-15T09:55:12.481Z, 00:41:12 or 90s after "
              "the start, tick:17, start",
              options.at);
  table.value("--base", "FILE",
              "another recording: a page tells what changed since, at the same "
              "--at of both",
              options.base);
  add_depth(table, options);
  table.flag("--at-peak", "as it stood when the machine was at its peak",
             options.at_peak);
  table.flag("--pages", "count in pages instead of bytes",
             options.text.in_pages);
  table.flag("--notui",
             "no screen: on a terminal, without a command, the trace view of "
             "`top` is opened otherwise",
             options.has_no_screen);
  add_backend(table, options);
  add_trace_boot_options(table, options.boot, options.watch);
  add_filters(table, options);
  add_common_options(table, options.common,
                     {"text", "json", "jsonl", "csv", "folded", "pprof",
                      "speedscope", "html"});
  table.positional("FILE",
                   "a recording to report on, instead of tracing; with --user "
                   "a PID to trace",
                   options.recording, false);
  table.command_after_dashes("CMD", "a command to run; the trace ends with it",
                             options.watch.command);
}

}  // namespace tidemark::cli
