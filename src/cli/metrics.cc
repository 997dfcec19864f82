// `metrics`: the machine's numbers for engines that keep series of them.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/http_server.h"
#include "cli/build_info.h"
#include "cli/commands.h"
#include "cli/metrics_answers.h"
#include "cli/metrics_options.h"
#include "cli/metrics_push.h"
#include "cli/output.h"
#include "cli/token_file.h"
#include "source/roots.h"
#include "view/exchange/openmetrics.h"
#include "view/web/routes.h"
#include "watch/metrics_sampler.h"
#include "watch/periodic_thread.h"
#include "watch/stop_signals.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using base::HttpReply;
using base::HttpRequest;
using view::MetricsFormat;
using view::Route;

// Answers /metrics and nothing else.
class MetricsServer {
 public:
  MetricsServer(view::WebGuard guard, watch::MetricsSampler& sampler)
      : guard_(std::move(guard)), answers_(sampler) {}

  base::Status listen(const base::HttpAddress& address) {
    base::Result<std::unique_ptr<base::HttpServer>> server =
        base::HttpServer::listen(
            address, base::HttpLimits(),
            [this](const HttpRequest& request, const HttpReply& reply) {
              handle(request, reply);
            });
    if (!server) return server.error();
    server_ = std::move(*server);
    return base::Ok{};
  }

  uint16_t port() const { return server_->port(); }
  void run() { server_->run(); }

 private:
  void handle(const HttpRequest& request, const HttpReply& reply) {
    Route route = view::find_route(request, guard_, {});
    if (route.kind == Route::Kind::Metrics) {
      return answers_.ask(std::move(route.scraper), route.metrics_format,
                          reply.send);
    }
    constexpr unsigned kNotFound = 404;
    if (route.kind != Route::Kind::Refuse || route.answer.status == kNotFound) {
      route.answer =
          view::error_answer(kNotFound, "there is nothing of that name",
                             "/metrics has the numbers");
    }
    view::add_guarding_headers(route.answer);
    reply.send(std::move(route.answer));
  }

  view::WebGuard guard_;
  std::unique_ptr<base::HttpServer> server_;
  MetricsAnswers answers_;  // ends first: what it still tells goes nowhere then
};

base::Result<base::HttpAddress> checked_address(
    const MetricsCommandOptions& options) {
  base::Result<base::HttpAddress> address =
      base::parse_http_address(options.listen);
  if (!address || address->is_loopback() || options.allows_remote) {
    return address;
  }
  return base::fail(ErrorKind::Misused, "others could reach " + options.listen,
                    "add --allow-remote if they shall, and --token-file if "
                    "not all of them; nothing is encrypted");
}

base::Result<view::WebGuard> make_guard(const MetricsCommandOptions& options,
                                        const base::HttpAddress& address) {
  view::WebGuard guard;
  guard.needs_token = !options.token_path.empty();
  // Scrapers know hosts by any name. On this machine alone a page of another
  // site could lead a browser here by a name of its own.
  guard.takes_any_host = guard.needs_token || !address.is_loopback();
  if (!guard.needs_token) return guard;
  base::Result<std::string> token = read_token(options.token_path);
  if (!token) return token.error();
  guard.token = std::move(*token);
  return guard;
}

base::Status write_textfile(const std::string& path,
                            watch::MetricsSampler& sampler) {
  base::Result<std::vector<model::MetricFamily>> families =
      sampler.scrape("textfile");
  if (!families) return families.error();
  return base::replace_file(
      path, view::metrics_text(*families, MetricsFormat::PrometheusText));
}

std::string series_words(const std::vector<model::MetricFamily>& families,
                         const watch::MetricsOptions& sampling) {
  return fmt::format("{} series, at most {}", model::series_count(families),
                     sampling.limits.series_count);
}

base::Result<ExitCode> print_once(const MetricsCommandOptions& options,
                                  watch::MetricsSampler& sampler) {
  base::Result<Output> output = Output::open("");
  if (!output) return output.error();
  base::Result<std::vector<model::MetricFamily>> families =
      sampler.scrape("stdout");
  if (!families) return families.error();
  // Whoever prints it hands it on, and hardly a tool reads the newer format.
  base::Status status = output->write(view::metrics_text(
      *families, options.format.value_or(MetricsFormat::PrometheusText)));
  if (!status) return status.error();
  print_note(options.common, series_words(*families, options.sampling));
  return ExitCode::Done;
}

base::Result<ExitCode> run_once(const MetricsCommandOptions& options,
                                watch::MetricsSampler& sampler,
                                MetricsPush* push) {
  sampler.read_shares();
  if (options.textfile.empty() && push == nullptr) {
    return print_once(options, sampler);
  }
  if (!options.textfile.empty()) {
    base::Status status = write_textfile(options.textfile, sampler);
    if (!status) return status.error();
  }
  if (push != nullptr) {
    base::Status status = push->push_once();
    if (!status) return status.error();
  }
  return ExitCode::Done;
}

std::string scrape_url(const base::HttpAddress& address, uint16_t port) {
  if (address.host.empty()) return "unix:" + base::visible(address.socket_path);
  const bool is_v6 = address.host.find(':') != std::string::npos;
  const std::string host = is_v6 ? "[" + address.host + "]" : address.host;
  return fmt::format("http://{}:{}/metrics", host, port);
}

// A file that cannot be written is told once, not each time; it may be possible
// again.
class Textfile {
 public:
  Textfile(const MetricsCommandOptions& options, watch::MetricsSampler& sampler)
      : options_(options), sampler_(sampler) {}

  void write() {
    base::Status status = write_textfile(options_.textfile, sampler_);
    if (!status && !has_failed_) print_error(status.error());
    has_failed_ = !status;
  }

 private:
  const MetricsCommandOptions& options_;
  watch::MetricsSampler& sampler_;
  bool has_failed_ = false;
};

base::Status serve_scrapes(const MetricsCommandOptions& options,
                           MetricsServer& server,
                           const base::HttpAddress& address) {
  base::Result<Output> output = Output::open("");
  if (!output) return output.error();
  base::Status status =
      output->write(scrape_url(address, server.port()) + "\n");
  if (!status) return status.error();
  print_note(options.common, "Ctrl-C ends it");
  server.run();
  return base::Ok{};
}

base::Result<ExitCode> run_on(const MetricsCommandOptions& options,
                              watch::MetricsSampler& sampler,
                              MetricsPush* push) {
  std::optional<MetricsServer> server;
  base::HttpAddress address;
  if (!options.listen.empty()) {
    base::Result<base::HttpAddress> checked = checked_address(options);
    if (!checked) return checked.error();
    address = *checked;
    base::Result<view::WebGuard> guard = make_guard(options, address);
    if (!guard) return guard.error();
    server.emplace(std::move(*guard), sampler);
    base::Status status = server->listen(address);
    if (!status) return status.error();
  }
  if (!options.textfile.empty()) {
    base::Status status = write_textfile(options.textfile, sampler);
    if (!status) return status.error();
  }
  // Before the first thread, so that none of them takes a signal. A server
  // takes them itself.
  std::optional<watch::StopSignals> signals;
  if (!server) {
    base::Result<watch::StopSignals> blocked = watch::StopSignals::block();
    if (!blocked) return blocked.error();
    signals.emplace(std::move(*blocked));
  }
  sampler.start();
  Textfile textfile(options, sampler);
  std::unique_ptr<watch::PeriodicThread> writer;
  if (!options.textfile.empty()) {
    writer = std::make_unique<watch::PeriodicThread>(
        watch::PeriodicOptions{options.interval_ns, 1, false},
        [&] { textfile.write(); });
  }
  if (push != nullptr) push->start();
  if (server) {
    base::Status status = serve_scrapes(options, *server, address);
    if (!status) return status.error();
    return ExitCode::Done;
  }
  constexpr uint64_t kHourNs = 3600 * base::kNsPerSecond;
  while (signals->wait_until(base::monotonic_ns() + kHourNs) !=
         watch::WaitEnd::Stop) {
  }
  return ExitCode::Done;
}

base::Result<ExitCode> run_metrics(MetricsCommandOptions& options) {
  base::Status status = check_metrics_options(options);
  if (!status) return status.error();
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  options.sampling.version = kVersion;
  watch::MetricsSampler sampler(*roots, options.sampling);
  status = sampler.read_counters();
  if (!status) return status.error();
  if (options.with_trace) {
    status = sampler.begin_trace();
    if (!status) return status.error();
  }
  std::unique_ptr<MetricsPush> push;
  if (!options.push_url.empty()) {
    base::Result<std::unique_ptr<MetricsPush>> made =
        MetricsPush::make(options, sampler);
    if (!made) return made.error();
    push = std::move(*made);
  }
  const bool has_output =
      !options.listen.empty() || !options.textfile.empty() || push != nullptr;
  if (options.once || !has_output) {
    return run_once(options, sampler, push.get());
  }
  return run_on(options, sampler, push.get());
}

}  // namespace

Command metrics_command() {
  auto options = std::make_shared<MetricsCommandOptions>();
  Command command;
  command.name = "metrics";
  command.summary = "numbers for Prometheus and its like: scraped or pushed";
  command.description =
      "Feeds engines that keep series. --listen answers scrapes in OpenMetrics "
      "or in Prometheus's text, --textfile writes a file for node_exporter, "
      "--push sends by remote write and keeps in a file what the receiver does "
      "not take; they go together. Without any it prints once. Families are "
      "few: the machine, its ledger, control groups, the largest programs, "
      "VMs; `measure` tells what is measured. Peaks are the highest since the "
      "same scraper (its address, or ?scraper=NAME) asked last. What cannot be "
      "read has no sample, and tidemark_unknown says why. Series, time and "
      "the cost to other processes are bounded, and the bounds are exported.";
  command.examples = {
      {"tidemark metrics --listen 127.0.0.1:9740", "for Prometheus"},
      {"tidemark metrics --textfile /var/lib/node/tidemark.prom",
       "for node_exporter"},
      {"tidemark metrics --push http://vm:8428/api/v1/write --queue q",
       "elsewhere"},
      {"tidemark metrics | promtool check metrics", "once"},
  };
  add_metrics_options(command.options, *options);
  command.run = [options] { return run_metrics(*options); };
  return command;
}

}  // namespace tidemark::cli
