#include "analysis/diff_report.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace tidemark::analysis {
namespace {

using model::Category;
using DiffKey = std::pair<Category, std::string>;
using DiffRows = std::map<DiffKey, DiffRow>;

DiffRow& row_of(DiffRows& rows, Category category, const std::string& name) {
  DiffRow& row = rows[{category, name}];
  row.category = category;
  row.name = name;
  return row;
}

std::vector<DiffRow> sorted(const DiffRows& rows) {
  std::vector<DiffRow> list;
  for (const auto& [key, row] : rows)
    list.push_back(row);
  std::ranges::stable_sort(list, std::greater<>(), [](const DiffRow& row) {
    return std::llabs(row.change());
  });
  return list;
}

struct AllRows {
  DiffRows categories;
  DiffRows parts;
  DiffRows processes;
  DiffRows holdings;
};

void add(const Composition& composition, bool is_after, AllRows& all) {
  const auto count_in = [&](DiffRow& row, const Bytes& bytes, uint64_t count) {
    (is_after ? row.after : row.before).add(bytes);
    (is_after ? row.after_count : row.before_count) += count;
  };
  for (const Part& part : composition.parts) {
    count_in(row_of(all.categories, part.category, {}), part.bytes,
             part.mapping_count);
    count_in(row_of(all.parts, part.category, part.name), part.bytes,
             part.mapping_count);
  }
  for (const Holder& holder : composition.processes) {
    count_in(row_of(all.processes, Category::Anon, holder.name), holder.bytes,
             1);
    for (const auto& [category, bytes] : holder.kinds)
      count_in(row_of(all.holdings, category, holder.name), bytes, 1);
  }
}

}  // namespace

DiffReport make_diff_report(Composition before, Composition after) {
  DiffReport report;
  AllRows rows;
  add(before, false, rows);
  add(after, true, rows);
  report.categories = sorted(rows.categories);
  report.parts = sorted(rows.parts);
  report.processes = sorted(rows.processes);
  report.holdings = sorted(rows.holdings);
  report.before = std::move(before);
  report.after = std::move(after);
  return report;
}

DiffReport compare_samples(const model::Sample& before,
                           const model::Sample& after) {
  ByCounters chosen = by_counters(before, after);
  DiffReport report = make_diff_report(compose(before, chosen.before),
                                       compose(after, chosen.after));
  report.is_unsplit_before = chosen.is_unsplit_before;
  report.is_unsplit_after = chosen.is_unsplit_after;
  report.by_counters = std::move(chosen.names);
  return report;
}

}  // namespace tidemark::analysis
