// Posts a body over HTTP/1.1 to another machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/http_server.h"
#include "base/result.h"

namespace tidemark::base {

// "http://HOST[:PORT][/PATH]".
struct PushTarget {
  std::string host;
  uint16_t port = 80;
  std::string path = "/";

  std::string authority() const;  // for the Host header
};
// Misused for what is none; https is not spoken here.
Result<PushTarget> parse_push_target(std::string_view url);

// The whole answer, whatever its status. Gone when the time is over, which
// covers the search for the name only as far as the resolver keeps its own.
Result<HttpAnswer> http_post(
    const PushTarget& target,
    const std::vector<std::pair<std::string, std::string>>& headers,
    std::string_view body, uint64_t until_ns);

}  // namespace tidemark::base
