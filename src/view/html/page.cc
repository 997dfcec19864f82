#include "view/html/page.h"

#include "view/embedded/page.h"

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

}  // namespace

std::string empty_page() {
  std::string page;
  for (std::string_view part : kPageParts)
    page += part;
  return page;
}

base::Result<std::string> page_html(std::span<const PageReport> reports) {
  const std::string empty = empty_page();
  const size_t place = empty.find(kPlace);
  if (place == std::string::npos) {
    return base::fail(base::ErrorKind::Unsupported,
                      "this tidemark was built without the browser front end",
                      "build it with -D TIDEMARK_WEB=ON");
  }
  size_t bytes = empty.size();
  for (const PageReport& report : reports)
    bytes += report.json.size() + 128;
  std::string page;
  page.reserve(bytes);
  page.append(empty, 0, place);
  for (const PageReport& report : reports) {
    page += "<script type=\"application/json\" id=\"data-";
    page += report.name;
    page += "\">";
    append_harmless(report.json, page);
    page += "</script>\n";
  }
  page.append(empty, place + kPlace.size());
  return page;
}

}  // namespace tidemark::view
