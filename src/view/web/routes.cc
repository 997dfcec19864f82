#include "view/web/routes.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/text.h"

namespace tidemark::view {
namespace {

using base::HttpAnswer;
using base::HttpRequest;
using Query = std::map<std::string, std::string, std::less<>>;

// Every byte is looked at, however early they differ.
bool are_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size() || a.empty()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^
                                        static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_literal_address(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) return true;
  return !host.empty() &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

// A page of another site can make its name point to us and have the browser
// ask; but the browser then tells that name. Addresses cannot be made to point
// elsewhere.
bool is_our_host(std::string_view host, const WebGuard& guard) {
  if (guard.takes_any_host) return true;
  const size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && !host.ends_with(']')) {
    host = host.substr(0, colon);
  }
  if (host == "localhost" || is_literal_address(host)) return true;
  return std::find(guard.host_names.begin(), guard.host_names.end(), host) !=
         guard.host_names.end();
}

std::string_view cookie_value(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view one = cookies.substr(0, end);
    while (one.starts_with(' '))
      one.remove_prefix(1);
    if (one.size() > name.size() && one.starts_with(name) &&
        one[name.size()] == '=') {
      return one.substr(name.size() + 1);
    }
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
  }
  return {};
}

bool has_token(const HttpRequest& request, const Query& query,
               const WebGuard& guard) {
  if (!guard.needs_token) return true;
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view bearer = request.authorization;
  if (bearer.starts_with(kBearer) &&
      are_equal(bearer.substr(kBearer.size()), guard.token)) {
    return true;
  }
  const auto asked = query.find("token");
  if (asked != query.end() && are_equal(asked->second, guard.token)) {
    return true;
  }
  return are_equal(cookie_value(request.cookie, guard.cookie_name),
                   guard.token);
}

std::optional<Query> parse_query(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    const size_t equals = std::min(pair.find('='), pair.size());
    std::optional<std::string> name = percent_decoded(pair.substr(0, equals));
    std::optional<std::string> value =
        percent_decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return std::nullopt;
    query[*name] = *value;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return query;
}

std::optional<std::vector<std::string>> parse_path(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find('/'), text.size());
    if (end > 0) {
      std::optional<std::string> part = percent_decoded(text.substr(0, end));
      if (!part) return std::nullopt;
      parts.push_back(std::move(*part));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Route refusal(unsigned status, std::string_view what,
              std::string_view hint = {}) {
  Route route;
  route.answer = error_answer(status, what, hint);
  return route;
}

// Nobody can tell who sends what is no request.
std::optional<Route> refused_as_unread(const HttpRequest& request) {
  if (request.fault == base::HttpFault::TooLong) {
    return refusal(431, "the request is too long");
  }
  if (request.fault == base::HttpFault::Nonsense) {
    return refusal(400, "that is no HTTP request");
  }
  return std::nullopt;
}

// Browsers are told in a page: it is a person who has come without the token.
Route refused_without_token(const HttpRequest& request) {
  Route route =
      refusal(403, "this needs the token that `tidemark serve` printed",
              "open the whole URL, or send Authorization: Bearer TOKEN");
  if (request.accept.find("text/html") != std::string::npos) {
    route.answer.type = "text/html; charset=utf-8";
    route.answer.body =
        "<!doctype html><html lang=en><meta name=viewport "
        "content=width=device-width><title>tidemark</title><h1>tidemark</h1>"
        "<p>This needs the token that <code>tidemark serve</code> printed: "
        "open the whole address, with what stands behind its <code>?</code>."
        "\n";
  }
  return route;
}

Route running(std::vector<std::string> arguments) {
  Route route;
  route.kind = Route::Kind::Run;
  route.arguments = std::move(arguments);
  return route;
}

// Other names in the query are for whoever stands between: a scraper may send
// the parameters of its configuration.
Route metrics_route(const HttpRequest& request, const Query& query) {
  constexpr size_t kMostName = 100;
  const auto named = query.find("scraper");
  Route route;
  route.kind = Route::Kind::Metrics;
  route.scraper = named == query.end() || named->second.empty()
                      ? "address " + request.peer
                      : "name " + named->second.substr(0, kMostName);
  route.metrics_format = choose_metrics_format(request.accept);
  return route;
}

const ServedRecording* find_recording(
    std::span<const ServedRecording> recordings, std::string_view name) {
  for (const ServedRecording& one : recordings) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

// An option's value goes behind "=": it cannot be taken for another option.
void add_value(const Query& query, std::string_view key,
               std::string_view option, std::vector<std::string>& arguments) {
  const auto found = query.find(key);
  if (found == query.end() || found->second.empty()) return;
  arguments.push_back(std::string(option) + "=" + found->second);
}

// The command would refuse it as well, and name an option nobody wrote.
std::optional<Route> refused_choice(const Query& query, std::string_view key,
                                    std::string_view values) {
  const auto found = query.find(key);
  if (found == query.end() || found->second.empty()) return std::nullopt;
  std::string_view left = values;
  while (!left.empty()) {
    const std::string_view one = base::take_until(left, ' ');
    if (found->second == one) return std::nullopt;
  }
  return refusal(400,
                 "'" + base::visible(found->second) + "' is no value of " +
                     std::string(key),
                 "one of " + std::string(values));
}

Route recording_route(const ServedRecording& recording, std::string_view what,
                      const Query& query) {
  std::vector<std::string> arguments;
  if (std::optional<Route> refused =
          refused_choice(query, "by", "pss rss statm")) {
    return std::move(*refused);
  }
  if (what == "peak" || what == "info" || what == "trace") {
    arguments = {std::string(what), recording.path, "--format=jsonl"};
    if (what == "peak") add_value(query, "by", "--by", arguments);
    if (what == "peak") add_value(query, "top", "--top", arguments);
    if (what == "peak" || what == "trace") {
      add_value(query, "at", "--at", arguments);
    }
  } else if (what == "kinds" || what == "timeline" || what == "machine" ||
             what == "ps" || what == "vms" || what == "report" ||
             what == "rest") {
    arguments = {"report", recording.path, "--format=jsonl",
                 "--part=" + std::string(what == "report" ? "all" : what)};
  } else if (what == "page") {
    arguments = {"report", recording.path, "--format=html"};
  } else {
    return refusal(
        404, "a recording has no '" + std::string(what) + "'",
        "report, kinds, timeline, rest, machine, ps, vms, peak, info, trace, "
        "page");
  }
  if (what != "info" && what != "trace") {
    add_value(query, "pid", "--pid", arguments);
  }
  Route route = running(std::move(arguments));
  route.recording_names = {recording.name};
  if (what == "page") route.type = "text/html; charset=utf-8";
  return route;
}

// "NAME" or "NAME@MOMENT" to what `diff` takes; false for one there is not.
bool add_diff_side(std::span<const ServedRecording> recordings,
                   const Query& query, std::string_view key, Route& route) {
  const auto found = query.find(key);
  if (found == query.end()) return false;
  const std::string& word = found->second;
  const size_t at = std::min(word.rfind('@'), word.size());
  const ServedRecording* one = find_recording(recordings, word);
  std::string moment;
  if (one == nullptr) {
    one = find_recording(recordings, std::string_view(word).substr(0, at));
    moment = word.substr(at);
  }
  if (one == nullptr) return false;
  route.recording_names.push_back(one->name);
  route.arguments.push_back(one->path + moment);
  return true;
}

Route diff_route(std::span<const ServedRecording> recordings,
                 const Query& query) {
  Route route = running({"diff"});
  if (!add_diff_side(recordings, query, "before", route) ||
      !add_diff_side(recordings, query, "after", route)) {
    return refusal(404, "both sides must be recordings of this server",
                   "/api/diff?before=NAME@MOMENT&after=NAME@MOMENT");
  }
  route.arguments.emplace_back("--format=jsonl");
  add_value(query, "top", "--top", route.arguments);
  return route;
}

struct NowRoute {
  std::string_view name;
  std::vector<std::string> arguments;
};

Route now_route(std::string_view what, const Query& query) {
  static const std::array<NowRoute, 8> kRoutes = {{
      {"ps", {"ps", "--json"}},
      {"system", {"system", "--count=1", "--json"}},
      {"ledger", {"ledger", "--json"}},
      {"treemap", {"treemap", "--json"}},
      {"objects", {"objects", "--json"}},
      {"graph", {"graph", "-v"}},
      {"doctor", {"doctor", "--json"}},
      {"vm", {"vm", "--json"}},
  }};
  for (const NowRoute& one : kRoutes) {
    if (one.name != what) continue;
    if (std::optional<Route> refused =
            refused_choice(query, "by", "pss private charged swap")) {
      return std::move(*refused);
    }
    Route route = running(one.arguments);
    if (what == "ledger")
      add_value(query, "sample", "--sample", route.arguments);
    if (what == "treemap") add_value(query, "by", "--by", route.arguments);
    return route;
  }
  return refusal(404, "'" + std::string(what) + "' is not told of the machine",
                 "ps, system, ledger, treemap, objects, graph, doctor, vm");
}

Route api_route(std::span<const std::string> path, const Query& query,
                std::span<const ServedRecording> recordings) {
  Route route;
  if (path.size() == 1 && path[0] == "recordings") {
    route.kind = Route::Kind::Recordings;
    return route;
  }
  if (path.size() == 1 && path[0] == "events") {
    route.kind = Route::Kind::Events;
    return route;
  }
  if (path.size() == 1 && path[0] == "diff") {
    return diff_route(recordings, query);
  }
  if (path.size() == 2 && path[0] == "now") return now_route(path[1], query);
  if (path.size() == 3 && path[0] == "recordings") {
    const ServedRecording* one = find_recording(recordings, path[1]);
    if (one == nullptr) {
      return refusal(404, "there is no such recording",
                     "/api/recordings lists them");
    }
    return recording_route(*one, path[2], query);
  }
  return refusal(404, "there is no such route",
                 "/api/recordings, /api/now/ps, /api/events");
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+') c = ' ';
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return std::nullopt;
    decoded += c;
  }
  return decoded;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4U];
    encoded += kDigits[byte & 15U];
  }
  return encoded;
}

void add_guarding_headers(HttpAnswer& answer) {
  answer.headers.insert(answer.headers.end(),
                        {{"Cache-Control", "no-store"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"X-Frame-Options", "DENY"},
                         {"Referrer-Policy", "no-referrer"},
                         {"Cross-Origin-Resource-Policy", "same-origin"},
                         {"Cross-Origin-Opener-Policy", "same-origin"}});
}

HttpAnswer error_answer(unsigned status, std::string_view what,
                        std::string_view hint) {
  base::JsonWriter json(base::JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("schema", "tidemark.error/1");
  json.member("error", what);
  if (!hint.empty()) json.member("hint", hint);
  json.end_object();
  HttpAnswer answer;
  answer.status = status;
  answer.type = "application/json";
  answer.body = json.take();
  return answer;
}

std::string recordings_json(std::span<const ServedRecording> recordings) {
  base::JsonWriter json(base::JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("schema", "tidemark.recordings/1");
  json.key("recordings");
  json.begin_array();
  for (const ServedRecording& one : recordings) {
    json.begin_object();
    json.member("name", one.name);
    json.member("link", percent_encoded(one.name));
    json.member("file_bytes", one.bytes);
    json.member("changed", base::rfc3339(one.changed_ns));
    json.member("is_live", one.is_live);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

Route find_route(const HttpRequest& request, const WebGuard& guard,
                 std::span<const ServedRecording> recordings) {
  if (std::optional<Route> refused = refused_as_unread(request)) {
    return std::move(*refused);
  }
  const std::string_view target = request.target;
  const size_t mark = std::min(target.find('?'), target.size());
  const std::optional<Query> query =
      parse_query(target.substr(std::min(mark + 1, target.size())));
  const std::optional<std::vector<std::string>> path =
      parse_path(target.substr(0, mark));
  // Who may not ask is told nothing else, not even that the question is bad.
  if (!has_token(request, query.value_or(Query()), guard)) {
    return refused_without_token(request);
  }
  if (request.fault == base::HttpFault::HasBody) {
    return refusal(413, "nothing here takes a body", "GET and HEAD");
  }
  if (!is_our_host(request.host, guard)) {
    return refusal(
        403, "it is not served under this host name",
        "localhost or an address; `serve --host-name NAME` adds one");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    return refusal(405, "everything here is only read", "GET and HEAD");
  }
  if (!query || !path || !target.starts_with('/')) {
    return refusal(400, "the path is not encoded as URLs are");
  }
  if (path->empty()) {
    Route route;
    route.kind = Route::Kind::Page;
    return route;
  }
  if (path->front() == "api") {
    return api_route(std::span(*path).subspan(1), *query, recordings);
  }
  if (path->size() == 1 && path->front() == "metrics") {
    return metrics_route(request, *query);
  }
  return refusal(404, "there is nothing of that name", "/ is the page");
}

}  // namespace tidemark::view
