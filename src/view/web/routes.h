// What a request to `serve` may ask, and what is done about it. Pure: who may
// ask, which names there are and what each route runs is decided here, nothing
// is read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_server.h"
#include "view/exchange/openmetrics.h"

namespace tidemark::view {

// A recording that may be asked for; by its name alone, so that no request can
// name another file.
struct ServedRecording {
  std::string name;  // below the folder that was given
  std::string path;
  uint64_t bytes = 0;
  uint64_t changed_ns = 0;  // since 1970
  bool is_live = false;     // written by this server
};

struct WebGuard {
  std::string token;
  bool needs_token = true;
  bool takes_any_host = false;
  // Names beside literal addresses and localhost that a browser may have found
  // us under. Any other is one that somebody else made to point here.
  std::vector<std::string> host_names;
  std::string cookie_name;
};

struct Route {
  enum class Kind {
    Refuse,      // `answer` is all there is
    Page,        // the front end
    Recordings,  // the list
    Run,         // the output of tidemark with `arguments`
    Events,      // a stream
    Metrics,     // of the machine now, for `scraper` in `metrics_format`
  };
  Kind kind = Kind::Refuse;
  base::HttpAnswer answer;
  std::vector<std::string> arguments;
  std::string type = "application/json";
  // The answer changes with these alone, and can be kept.
  std::vector<std::string> recording_names;
  // Whose window peaks are of: the name it gives itself, or its address.
  std::string scraper;
  MetricsFormat metrics_format = MetricsFormat::PrometheusText;
};

Route find_route(const base::HttpRequest& request, const WebGuard& guard,
                 std::span<const ServedRecording> recordings);

// What every answer carries: nothing is kept by browsers, framed by pages, or
// taken for another type than it is.
void add_guarding_headers(base::HttpAnswer& answer);

// {"error": …, "hint": …}, as every refusal has it.
base::HttpAnswer error_answer(unsigned status, std::string_view what,
                              std::string_view hint = {});

std::string recordings_json(std::span<const ServedRecording> recordings);

// "%2e" and "+" undone; nothing for a bad escape or a NUL.
std::optional<std::string> percent_decoded(std::string_view text);
// So that it stands for itself in a path.
std::string percent_encoded(std::string_view text);

}  // namespace tidemark::view
