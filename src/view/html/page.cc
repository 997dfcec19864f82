#include "view/html/page.h"

#include "view/embedded/page.h"
#include "view/html/packed.h"

namespace tidemark::view {
namespace {

constexpr std::string_view kPlace = "<!--tidemark:data-->";

// JSON has "<" in strings alone, where it can be written otherwise: nothing in
// it can then end the element it stands in.
void append_harmless(std::string_view json, std::string& page) {
  size_t from = 0;
  while (true) {
    const size_t at = json.find('<', from);
    page += json.substr(from, at - from);
    if (at == std::string_view::npos) return;
    page += "\\u003c";
    from = at + 1;
  }
}

// Long reports are packed; those of a short recording stay as they are, so that
// they can be read in the file, and by browsers that unpack nothing.
constexpr size_t kLongestPlain = size_t{256} * 1024;

base::Status append_report(const PageReport& report, std::string& page) {
  const bool is_packed = report.json.size() > kLongestPlain;
  page += "<script type=\"application/";
  page += is_packed ? "gzip" : "json";
  page += "\" id=\"data-";
  page += report.name;
  page += "\">";
  if (is_packed) {
    base::Result<std::string> text = packed(report.json);
    if (!text) return text.error();
    page += *text;
  } else {
    append_harmless(report.json, page);
  }
  page += "</script>\n";
  return base::Ok{};
}

}  // namespace

std::string embedded_page() {
  std::string page;
  for (std::string_view part : kPageParts)
    page += part;
  return page;
}

base::Result<std::string> page_html(std::string_view empty,
                                    std::span<const PageReport> reports) {
  const size_t place = empty.find(kPlace);
  if (place == std::string_view::npos) {
    return base::fail(base::ErrorKind::Unsupported,
                      "this tidemark was built without the browser front end",
                      "build it with -D TIDEMARK_WEB=ON");
  }
  std::string page(empty.substr(0, place));
  for (const PageReport& report : reports) {
    base::Status status = append_report(report, page);
    if (!status) return status.error();
  }
  page += empty.substr(place + kPlace.size());
  return page;
}

}  // namespace tidemark::view
