// `system` as text: a line per reading, and the sums in words.
#pragma once

#include <string>
#include <vector>

#include "analysis/system_report.h"
#include "view/text/style.h"

namespace tidemark::view {

// Which columns a line has. Those that share one because the screen is narrow
// are summed in it, so that a line always sums to the total.
struct SystemLayout {
  struct Group {
    std::string head;
    std::vector<analysis::SystemColumn> columns;
    bool operator==(const Group&) const = default;
  };
  std::vector<Group> groups;
  bool with_time = false;
  bool operator==(const SystemLayout&) const = default;
};

// Columns of seldom things appear with their first byte and stay: `before` is
// the layout of the line before, or an empty one.
SystemLayout system_layout(const analysis::SystemReport& report,
                           const SystemLayout& before, bool with_time,
                           const TextStyle& style);

std::string system_head(const SystemLayout& layout, const TextStyle& style);
std::string system_line(const analysis::SystemReport& report,
                        const SystemLayout& layout, const TextStyle& style);

// Each column with the figures it is made of, and what is left.
std::string system_explanation(const analysis::SystemReport& report,
                               const TextStyle& style);
// The same of the columns that are of one kind of memory.
std::string system_explanation_of(const analysis::SystemReport& report,
                                  model::Category kind, const TextStyle& style);

}  // namespace tidemark::view
