#include "cli/metrics_options.h"

#include <algorithm>

#include "base/text.h"
#include "base/units.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

// Fewer could not even tell of the limit.
constexpr uint64_t kLeastSeries = 10;

Take duration_into(uint64_t& target) {
  return [&target](const std::string& word) -> base::Status {
    base::Result<uint64_t> ns = base::parse_duration(word);
    if (!ns) return ns.error();
    target = *ns;
    return base::Ok{};
  };
}

Take count_into(size_t& target, uint64_t least = 0) {
  return [&target, least](const std::string& word) -> base::Status {
    constexpr uint64_t kMost = 10'000;
    const std::optional<uint64_t> count = base::parse_u64(word);
    if (!count || *count < least || *count > kMost) {
      return base::fail(ErrorKind::Misused, "'" + word + "' is no count from " +
                                                std::to_string(least) +
                                                " to 10000");
    }
    target = static_cast<size_t>(*count);
    return base::Ok{};
  };
}

bool is_label_name(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  return !name.empty() && !name.starts_with("__") &&
         kLetters.find(name.front()) != std::string_view::npos &&
         std::ranges::all_of(name, [&](char letter) {
           return kLetters.find(letter) != std::string_view::npos ||
                  (letter >= '0' && letter <= '9');
         });
}

Take label_into(std::vector<model::MetricLabel>& labels) {
  return [&labels](const std::string& word) -> base::Status {
    const size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equals);
    if (equals == word.size() || !is_label_name(name)) {
      return base::fail(ErrorKind::Misused, "'" + word + "' is no label",
                        "--label rack=b12");
    }
    labels.push_back({name, word.substr(equals + 1)});
    return base::Ok{};
  };
}

void add_outputs(OptionTable& table, MetricsCommandOptions& options) {
  table.value("--listen", "ADDRESS",
              "answer scrapes of /metrics here: 127.0.0.1:9740, unix:/PATH",
              options.listen);
  table.flag("--allow-remote", "let --listen be where others can reach it",
             options.allows_remote);
  table.value("--token-file", "FILE",
              "ask scrapers for this bearer token (default none)",
              options.token_path);
  table.value("--textfile", "FILE",
              "write this file again and again, for node_exporter",
              options.textfile);
  table.value("--push", "URL",
              "send to this receiver of Prometheus's remote write",
              options.push_url);
  table.value("--push-token-file", "FILE",
              "name this bearer token to the receiver",
              options.push_token_path);
  table.value("--queue", "FILE",
              "keep here what is not yet sent (needed with --push)",
              options.queue_path);
  table.value("--queue-limit", "SIZE",
              "and this much of it at most (default 64MiB)",
              [&options](const std::string& word) -> base::Status {
                base::Result<uint64_t> bytes = base::parse_size(word);
                if (!bytes) return bytes.error();
                options.queue_bytes = *bytes;
                return base::Ok{};
              });
  table.value("--label", "NAME=VALUE",
              "add this to what is pushed (instance is the host's name)",
              label_into(options.labels));
  table.value("-f,--interval,--period", "DUR",
              "time between two texts or pushes (default 15s)",
              duration_into(options.interval_ns));
  table.flag("--once", "write or push once and end", options.once);
  table.choice("--format", {"prometheus", "openmetrics"},
               "how it is printed: text 0.0.4 (default), which tools take, or "
               "OpenMetrics 1.0",
               [&options](const std::string& word) -> base::Status {
                 options.format = word == "openmetrics"
                                      ? view::MetricsFormat::OpenMetrics
                                      : view::MetricsFormat::PrometheusText;
                 return base::Ok{};
               });
}

void add_bounds(OptionTable& table, watch::MetricsOptions& sampling) {
  table.value("--sample", "DUR",
              "time between two readings that peaks are made of (default "
              "100ms)",
              duration_into(sampling.sample_period_ns));
  table.value("--pss-interval", "DUR|never",
              "time between two readings of shares and VMs (default 1min)",
              [&sampling](const std::string& word) -> base::Status {
                sampling.share_period_ns.reset();
                if (word == "never") return base::Ok{};
                base::Result<uint64_t> ns = base::parse_duration(word);
                if (!ns) return ns.error();
                sampling.share_period_ns = *ns;
                return base::Ok{};
              });
  table.value("--stall", "DUR",
              "read no shares of a process that would wait longer (default "
              "50ms)",
              duration_into(sampling.shares.stall_ns));
  table.value("--scrape-limit", "DUR",
              "leave out what is not read after this time (default 500ms)",
              duration_into(sampling.scrape_limit_ns));
  table.value("--programs", "N", "programs with series (default 30)",
              count_into(sampling.limits.program_count));
  table.value("--cgroups", "N", "control groups with series (default 100)",
              count_into(sampling.limits.cgroup_count));
  table.value("--processes", "N",
              "processes with series, by RSS (default 0: their pids are ever "
              "new)",
              count_into(sampling.limits.process_count));
  table.value("--series-limit", "N", "series in all (default 5000)",
              count_into(sampling.limits.series_count, kLeastSeries));
  table.flag("--no-vms", "leave VMs and their guests alone",
             [&sampling] { sampling.shares.with_vms = false; });
}

}  // namespace

void add_metrics_options(OptionTable& table, MetricsCommandOptions& options) {
  add_outputs(table, options);
  add_bounds(table, options.sampling);
  table.choice("--with", {"trace"},
               "also follow what the kernel gives out: trace (root)",
               [&options](const std::string&) -> base::Status {
                 options.with_trace = true;
                 return base::Ok{};
               });
  table.value("--proc", "DIR", "read this proc tree instead of /proc",
              options.common.proc_path);
  table.flag("-q,--quiet", "no remarks", options.common.quiet);
  table.flag("-h,--help", "show this help", options.common.help);
}

base::Status check_metrics_options(const MetricsCommandOptions& options) {
  if (options.listen.empty() &&
      (options.allows_remote || !options.token_path.empty())) {
    return base::fail(ErrorKind::Misused,
                      "--allow-remote and --token-file are for --listen",
                      "tidemark metrics --listen 127.0.0.1:9740");
  }
  if (!options.push_url.empty() && options.queue_path.empty()) {
    return base::fail(ErrorKind::Misused,
                      "--push needs a file for what is not yet sent",
                      "add --queue /var/lib/tidemark/push.queue");
  }
  if (options.push_url.empty() && !options.queue_path.empty()) {
    return base::fail(ErrorKind::Misused, "--queue is for --push");
  }
  if (options.once && !options.listen.empty()) {
    return base::fail(ErrorKind::Misused,
                      "--once and --listen exclude each other");
  }
  const bool prints = options.listen.empty() && options.textfile.empty() &&
                      options.push_url.empty();
  if (options.format && !prints) {
    return base::fail(ErrorKind::Misused, "--format is of what is printed",
                      "scrapers say themselves what they want");
  }
  return base::Ok{};
}

}  // namespace tidemark::cli
