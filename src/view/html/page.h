// The page of the browser front end with reports inside, so that it can be
// opened from disk, mailed and kept.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::view {

struct PageReport {
  std::string_view name;  // "timeline": letters only
  std::string_view json;
};

// Without reports; empty when this tidemark was built without the front end.
std::string embedded_page();

// `empty` is the page without reports: Unsupported where it is none.
base::Result<std::string> page_html(std::string_view empty,
                                    std::span<const PageReport> reports);

}  // namespace tidemark::view
