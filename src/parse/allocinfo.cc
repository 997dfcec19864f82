#include "parse/allocinfo.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/escape.h"
#include "base/text.h"
#include "parse/malformed.h"

namespace tidemark::parse {
namespace {

using model::AllocationSite;

base::Status check_version(std::string_view line) {
  constexpr std::string_view kHead = "allocinfo - version: ";
  if (!line.starts_with(kHead)) return malformed("allocinfo", line);
  const std::string_view version = base::trim(line.substr(kHead.size()));
  std::string_view rest = version;
  const std::optional<uint64_t> major =
      base::parse_u64(base::take_until(rest, '.'));
  if (!major) return malformed("allocinfo", line);
  if (*major != 1 && *major != 2) {
    return base::fail(base::ErrorKind::Unsupported,
                      "allocinfo: version " + base::visible(version) +
                          " is not known here, only 1 and 2 are");
  }
  return base::Ok{};
}

// "drivers/block/loop.c:1972 [loop]".
bool parse_place(std::string_view place, AllocationSite& site) {
  place = base::trim(place);
  const size_t bracket = place.rfind(" [");
  if (bracket != std::string_view::npos && place.ends_with(']')) {
    site.module = place.substr(bracket + 2, place.size() - bracket - 3);
    place = base::trim(place.substr(0, bracket));
  }
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::optional<uint64_t> line = base::parse_u64(place.substr(colon + 1));
  if (!line || *line > std::numeric_limits<uint32_t>::max()) return false;
  site.file = place.substr(0, colon);
  site.line = static_cast<uint32_t>(*line);
  return true;
}

// More than any place can hold; within it thousands of places can be summed.
constexpr int64_t kMostBytes = int64_t{1} << 48;

bool is_possible(int64_t bytes, uint64_t calls) {
  return bytes >= -kMostBytes && bytes <= kMostBytes &&
         calls <= static_cast<uint64_t>(kMostBytes);
}

bool parse_site(std::string_view line, AllocationSite& site) {
  constexpr std::string_view kFunction = " func:";
  const std::optional<int64_t> bytes = base::parse_i64(base::take_word(line));
  const std::optional<uint64_t> calls = base::parse_u64(base::take_word(line));
  const size_t function = line.find(kFunction);
  if (!bytes || !calls || !is_possible(*bytes, *calls)) return false;
  if (function == std::string_view::npos) return false;
  site.bytes = *bytes;
  site.calls = *calls;
  std::string_view words = line.substr(function + kFunction.size());
  site.function = base::take_word(words);
  for (std::string_view word = base::take_word(words); !word.empty();
       word = base::take_word(words)) {
    if (word == "accurate:no") site.is_inexact = true;
  }
  return !site.function.empty() && parse_place(line.substr(0, function), site);
}

}  // namespace

base::Result<std::vector<AllocationSite>> parse_allocinfo(
    std::string_view text) {
  base::Status version = check_version(base::take_line(text));
  if (!version) return version.error();
  std::vector<AllocationSite> sites;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    // The names of the columns, with a hash before them or without.
    if (line.empty() || line.starts_with('#') || line.starts_with('<')) {
      continue;
    }
    AllocationSite site;
    if (!parse_site(line, site)) return malformed("allocinfo", line);
    sites.push_back(std::move(site));
  }
  return sites;
}

}  // namespace tidemark::parse
