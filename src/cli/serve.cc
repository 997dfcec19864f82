// `serve`: the front end over HTTP, for recordings and for what happens now.
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/answers.h"
#include "cli/commands.h"
#include "cli/metrics_answers.h"
#include "cli/output.h"
#include "cli/output_file.h"
#include "cli/page.h"
#include "cli/recording_list.h"
#include "cli/serve_options.h"
#include "cli/token_file.h"
#include "source/probe.h"
#include "store/recording.h"
#include "view/html/page.h"
#include "view/web/routes.h"
#include "watch/live_recording.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using base::HttpAnswer;
using base::HttpReply;
using base::HttpRequest;
using view::Route;

// What answers the questions. The link works also when its file was replaced,
// but names the process "exe".
std::string this_program() {
  base::Result<std::string> path = source::own_binary_path();
  return path && ::access(path->c_str(), X_OK) == 0 ? *path : "/proc/self/exe";
}

constexpr const char* kKeepExample = "tidemark serve --pid PID -o FILE.tdm";
constexpr std::chrono::milliseconds kLookPeriod{500};
// A folder is not looked through for each of many requests.
constexpr uint64_t kFreshNs = 100'000'000;

base::Result<std::string> random_token() {
  std::array<unsigned char, 20> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) !=
      static_cast<ssize_t>(bytes.size())) {
    return base::fail_errno("getrandom", errno);
  }
  std::string token;
  for (unsigned char byte : bytes)
    token += fmt::format("{:02x}", byte);
  return token;
}

base::Result<std::string> choose_token(const ServeOptions& options) {
  if (options.token_path.empty()) return random_token();
  return read_token(options.token_path);
}

// One that is asked for with a file name of its own stays where it is.
base::Result<std::optional<watch::LiveRecording>> start_live(
    const ServeOptions& options) {
  std::optional<watch::LiveRecording> none;
  if (!options.is_live()) return none;
  watch::LiveRecordingOptions live;
  live.program = this_program();
  live.arguments = record_arguments(options);
  live.kept_path = options.kept_path;
  base::Result<watch::LiveRecording> started =
      watch::LiveRecording::start(live);
  if (!started) return started.error();
  return std::optional<watch::LiveRecording>(std::move(*started));
}

// A process that is not there is known at once, and an option that `record`
// does not take; a name may come yet. What it ended with, when it failed: it
// has said why itself.
std::optional<ExitCode> early_failure(watch::LiveRecording& live) {
  constexpr int kLooks = 30;
  constexpr useconds_t kPauseUs = 10'000;
  for (int i = 0; i < kLooks; ++i) {
    if (const std::optional<int> status = live.ending()) {
      if (*status == 0) return std::nullopt;
      const bool is_misused =
          WIFEXITED(*status) &&
          WEXITSTATUS(*status) == static_cast<int>(ExitCode::Misused);
      return is_misused ? ExitCode::Misused : ExitCode::Failed;
    }
    if (::access(live.path().c_str(), F_OK) == 0) return std::nullopt;
    ::usleep(kPauseUs);
  }
  return std::nullopt;
}

// Of a folder those that cannot be read are listed as such; whoever names one
// wants to see it.
base::Status check_named(const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    struct stat status {};
    if (::stat(place.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) {
      continue;
    }
    base::Result<store::Recording> opened =
        store::Recording::open_at(place, 0, 0);
    if (!opened) return opened.error();
  }
  return base::Ok{};
}

std::string served_words(size_t count, bool is_live) {
  const std::string recordings =
      count == 0 ? "" : base::counted(count, "recording", "recordings");
  if (!is_live) return count == 0 ? "no recording yet" : recordings;
  return count == 0 ? "what happens now" : recordings + " and what happens now";
}

class WebServer {
 public:
  WebServer(view::WebGuard guard, RecordingList list)
      : guard_(std::move(guard)),
        list_(std::move(list)),
        answers_(this_program(), AnswerLimits()) {}

  base::Status listen(const base::HttpAddress& address) {
    base::Result<std::unique_ptr<base::HttpServer>> server =
        base::HttpServer::listen(
            address, limits_,
            [this](const HttpRequest& request, const HttpReply& reply) {
              handle(request, reply);
            });
    if (!server) return server.error();
    server_ = std::move(*server);
    // Of cookies browsers look at the name of the host alone: two servers on
    // one machine would take each other's away.
    guard_.cookie_name = "tidemark" + std::to_string(server_->port());
    return base::Ok{};
  }

  uint16_t port() const { return server_->port(); }

  int run() {
    read_ahead();
    server_->every(kLookPeriod, [this] {
      if (server_->stream_count() > 0) look();
    });
    return server_->run();
  }

 private:
  // Whoever serves one recording wants to see it: what the page asks for first
  // is read while the browser is on its way. Not more: it needs the processor
  // to get there.
  void read_ahead() {
    if (list_.recordings().size() != 1) return;
    const view::ServedRecording& only = list_.recordings()[0];
    HttpRequest request;
    request.method = "GET";
    request.host = "localhost";
    request.authorization = "Bearer " + guard_.token;
    request.target = "/api/recordings/" + view::percent_encoded(only.name) +
                     (only.is_live ? "/report" : "/kinds");
    run_command(find_route(request, guard_, list_.recordings()),
                {[](const HttpAnswer&) {}, nullptr});
  }

  // Whoever finds the change tells all: it is found only once.
  void look() {
    if (!list_.look()) return;
    base::JsonWriter json(base::JsonWriter::Layout::OneLine);
    json.begin_object();
    json.key("changed");
    json.begin_array();
    for (const std::string& name : list_.changed_names())
      json.string(name);
    json.end_array();
    json.end_object();
    std::string text = json.take();
    while (text.ends_with('\n'))
      text.pop_back();
    server_->publish("recordings", text);
  }

  static void send(const HttpReply& reply, HttpAnswer answer) {
    view::add_guarding_headers(answer);
    reply.send(std::move(answer));
  }

  void handle(const HttpRequest& request, const HttpReply& reply) {
    if (base::monotonic_ns() >= next_look_ns_) {
      next_look_ns_ = base::monotonic_ns() + kFreshNs;
      look();
    }
    Route route = find_route(request, guard_, list_.recordings());
    switch (route.kind) {
      case Route::Kind::Refuse:
        return send(reply, std::move(route.answer));
      case Route::Kind::Page:
        return send(reply, page());
      case Route::Kind::Recordings:
        return send(reply, json_answer());
      case Route::Kind::Events:
        return begin_events(reply);
      case Route::Kind::Run:
        return run_command(std::move(route), reply);
      case Route::Kind::Metrics:
        return metrics_.ask(
            std::move(route.scraper), route.metrics_format,
            [reply](HttpAnswer answer) { send(reply, std::move(answer)); });
    }
  }

  HttpAnswer json_answer() const {
    HttpAnswer answer;
    answer.type = "application/json";
    answer.body = view::recordings_json(list_.recordings());
    return answer;
  }

  // With the cookie that lets the page ask for the rest.
  HttpAnswer page() const {
    const std::string list = view::recordings_json(list_.recordings());
    base::Result<std::string> html =
        browser_page(std::array<view::PageReport, 1>{{{"served", list}}});
    if (!html) return view::error_answer(501, html.error().what);
    HttpAnswer answer;
    answer.type = "text/html; charset=utf-8";
    answer.body = std::move(*html);
    answer.headers.emplace_back("Set-Cookie",
                                guard_.cookie_name + "=" + guard_.token +
                                    "; HttpOnly; SameSite=Strict; Path=/");
    return answer;
  }

  void begin_events(const HttpReply& reply) {
    if (server_->stream_count() >= limits_.stream_count) {
      return send(reply, view::error_answer(503, "too many look on already"));
    }
    HttpAnswer head;
    head.type = "text/event-stream";
    view::add_guarding_headers(head);
    reply.stream(std::move(head));
  }

  void run_command(Route route, const HttpReply& reply) {
    Question question;
    question.arguments = std::move(route.arguments);
    question.type = std::move(route.type);
    for (const std::string& name : route.recording_names) {
      for (const view::ServedRecording& one : list_.recordings()) {
        if (one.name == name) question.state += state_of(one) + "\n";
      }
    }
    answers_.ask(std::move(question), [reply](HttpAnswer answer) {
      send(reply, std::move(answer));
    });
  }

  base::HttpLimits limits_;
  view::WebGuard guard_;
  RecordingList list_;
  uint64_t next_look_ns_ = 0;
  std::unique_ptr<base::HttpServer> server_;
  // These end first: what they still tell goes nowhere then.
  LazyMetrics metrics_;
  Answers answers_;
};

std::string url_of(const ServeOptions& options,
                   const base::HttpAddress& address, uint16_t port,
                   const std::string& token) {
  if (address.host.empty()) {
    return fmt::format("http://localhost/?token={}  (socket {})", token,
                       base::visible(address.socket_path));
  }
  std::string host = address.host;
  // It listens on all of them; one that works from here is told.
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  if (!options.host_names.empty()) host = options.host_names.front();
  return fmt::format("http://{}:{}/?token={}", host, port, token);
}

// Where somebody sits in front of it. It is not waited for.
void open_browser(const std::string& url) {
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") && !is_set("BROWSER")) {
    return;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    // Twice, so that nobody has to wait for it.
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    const char* browser = std::getenv("BROWSER");
    if (browser != nullptr && *browser != '\0') {
      ::execlp(browser, browser, url.c_str(), nullptr);
    }
    ::execlp("xdg-open", "xdg-open", url.c_str(), nullptr);
    ::_exit(127);
  }
  if (child > 0) static_cast<void>(::waitpid(child, nullptr, 0));
}

base::Status check_options(const ServeOptions& options,
                           const base::HttpAddress& address) {
  if (!address.is_loopback() && !options.allows_remote) {
    return base::fail(ErrorKind::Misused,
                      "others could reach " + options.listen,
                      "add --allow-remote if they shall; the token is still "
                      "needed, but nothing is encrypted");
  }
  if (!options.kept_path.empty() && !options.is_live()) {
    return base::fail(ErrorKind::Misused,
                      "-o keeps a live recording, and none is made",
                      kKeepExample);
  }
  if (options.kept_path.empty()) return base::Ok{};
  // `record` would refuse it too, but only after we have begun.
  return check_room(options.kept_path, options.overwrites, kKeepExample);
}

base::Result<ExitCode> run_serve(const ServeOptions& options) {
  base::Result<base::HttpAddress> address =
      base::parse_http_address(options.listen);
  if (!address) return address.error();
  base::Status status = check_options(options, *address);
  if (!status) return status.error();
  status = make_browser_page();
  if (!status) return status.error();
  if (!browser_page({})) {
    print_note(options.common,
               "built without the front end: only /api answers");
  }
  base::Result<std::string> token = choose_token(options);
  if (!token) return token.error();
  base::Result<RecordingList> list = RecordingList::of(options.places);
  if (!list) return list.error();
  status = check_named(options.places);
  if (!status) return status.error();
  base::Result<std::optional<watch::LiveRecording>> live = start_live(options);
  if (!live) return live.error();
  if (*live) {
    const std::optional<ExitCode> failure = early_failure(**live);
    if (failure) return *failure;
    list->add_live((*live)->path(), "live");
  }
  view::WebGuard guard;
  guard.token = *token;
  guard.host_names = options.host_names;
  const size_t count = list->recordings().size();
  WebServer server(std::move(guard), std::move(*list));
  status = server.listen(*address);
  if (!status) return status.error();
  const std::string url = url_of(options, *address, server.port(), *token);
  base::Result<Output> output = Output::open("");
  if (!output) return output.error();
  status = output->write(url + "\n");
  if (!status) return status.error();
  print_note(options.common,
             served_words(count, live->has_value()) + "; Ctrl-C ends it");
  if (!options.without_browser && !address->host.empty()) open_browser(url);
  server.run();
  return ExitCode::Done;
}

}  // namespace

Command serve_command() {
  auto options = std::make_shared<ServeOptions>();
  Command command;
  command.name = "serve";
  command.summary = "look at recordings, or at what happens now, in a browser";
  command.description =
      "Serves the pages of `report`, `treemap`, `ledger` and `diff` to a "
      "browser: of recordings in files or folders, also while they are "
      "written, and of the running machine. With a process, a name or --all "
      "it records while one looks (--all when nothing is named); that "
      "recording goes when it ends, unless -o keeps it. Everything is only "
      "read: /api answers what the commands print with --json. It listens on "
      "this machine alone, and each answer needs the token in the printed "
      "URL.";
  command.examples = {
      {"tidemark serve", "this machine, live"},
      {"tidemark serve --pid 1234", "a process and what it starts, live"},
      {"tidemark serve web.tdm", "a recording"},
      {"tidemark serve runs/", "all recordings of a folder"},
      {"tidemark serve --listen unix:/run/tm.sock runs/", "through ssh -L"},
  };
  add_serve_options(command.options, *options);
  command.run = [options] { return run_serve(*options); };
  return command;
}

}  // namespace tidemark::cli
