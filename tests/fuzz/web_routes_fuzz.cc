// Requests of anybody: without the token nothing but 403, with it no file is
// named that is not in the list, and no option that was not meant.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "view/web/routes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace)
  std::string text(data, data + size);
  base::HttpRequest request;
  request.method = "GET";
  request.target = text.substr(0, text.find('\n'));
  request.host = text.size() > 7 ? text.substr(text.size() - 7) : "localhost";
  request.cookie = text;
  view::WebGuard guard;
  guard.token = "0123456789abcdef0123456789abcdef";
  guard.cookie_name = "tidemark1";
  const std::vector<view::ServedRecording> recordings = {
      {"a.tdm", "/runs/a.tdm", 1, 1, false},
      {"b c.tdm", "/runs/b c.tdm", 1, 1, true}};
  const bool has_token = text.find(guard.token) != std::string::npos;
  view::Route route = view::find_route(request, guard, recordings);
  if (!has_token && route.answer.status != 403) std::abort();
  request.authorization = "Bearer " + guard.token;
  request.host = "localhost";
  route = view::find_route(request, guard, recordings);
  for (size_t i = 1; i < route.arguments.size(); ++i) {
    const std::string& word = route.arguments[i];
    if (word.starts_with("/runs/a.tdm") || word.starts_with("/runs/b c.tdm")) {
      continue;
    }
    if (!word.starts_with("-")) std::abort();
  }
  return 0;
}
