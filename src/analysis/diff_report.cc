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

void count_in(const Bytes& bytes, uint64_t count, bool is_after, DiffRow& row) {
  (is_after ? row.after : row.before).add(bytes);
  (is_after ? row.after_count : row.before_count) += count;
}

// Those of one name together.
struct Program {
  Kinds kinds;
  std::map<Category, uint64_t> counts;  // of processes
  uint64_t count = 0;
};

std::map<std::string, Program> programs_of(const Composition& composition) {
  std::map<std::string, Program> programs;
  for (const Holder& holder : composition.processes) {
    Program& program = programs[holder.name];
    ++program.count;
    for (const auto& [category, bytes] : holder.kinds) {
      program.kinds[category].add(bytes);
      ++program.counts[category];
    }
  }
  for (auto& [name, program] : programs) {
    if (program.count > 1) count_once(composition.limits, program.kinds);
  }
  return programs;
}

// Returns what the programs hold beyond the total: memory they share.
uint64_t add(const Composition& composition, bool is_after, AllRows& all) {
  for (const Part& part : composition.parts) {
    count_in(part.bytes, part.mapping_count, is_after,
             row_of(all.categories, part.category, {}));
    count_in(part.bytes, part.mapping_count, is_after,
             row_of(all.parts, part.category, part.name));
  }
  uint64_t sum = 0;
  for (const auto& [name, program] : programs_of(composition)) {
    const Bytes bytes = sum_of(program.kinds);
    sum += bytes.pss;
    count_in(bytes, program.count, is_after,
             row_of(all.processes, Category::Anon, name));
    for (const auto& [category, share] : program.kinds)
      count_in(share, program.counts.at(category), is_after,
               row_of(all.holdings, category, name));
  }
  return sum - std::min(sum, composition.total.pss);
}

}  // namespace

DiffReport make_diff_report(Composition before, Composition after) {
  DiffReport report;
  AllRows rows;
  report.before_again_bytes = add(before, false, rows);
  report.after_again_bytes = add(after, true, rows);
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
