#include "analysis/allocinfo_report.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace tidemark::analysis {
namespace {

using model::AllocationReading;
using model::AllocationSite;

// A place in a header has a line for each file that uses it, so that lines
// with the same place are one row.
using SiteKey =
    std::tuple<std::string_view, std::string_view, uint32_t, std::string_view>;

SiteKey key_of(const AllocationSite& site, AllocinfoGrouping group_by) {
  if (group_by == AllocinfoGrouping::Module) return {site.module, {}, 0, {}};
  return {site.module, site.file, site.line, site.function};
}

class SiteRows {
 public:
  explicit SiteRows(const AllocinfoOptions& options) : options_(options) {}

  void add_now(const AllocationSite& site) {
    AllocinfoRow& row = row_of(site);
    row.bytes += site.bytes;
    row.calls += site.calls;
    row.is_inexact = row.is_inexact || site.is_inexact;
    if (site.calls > 0) ++row.site_count;
    grow(row, site.bytes, static_cast<int64_t>(site.calls));
  }

  void add_before(const AllocationSite& site) {
    grow(row_of(site), -site.bytes, -static_cast<int64_t>(site.calls));
  }

  // Those that hold something or changed.
  std::vector<AllocinfoRow> take(bool has_growth) {
    std::vector<AllocinfoRow> rows;
    for (auto& [key, row] : rows_) {
      if (row.bytes == 0 && row.calls == 0 && row.grown_bytes == 0) continue;
      if (!has_growth) {
        row.grown_bytes.reset();
        row.grown_calls.reset();
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  static void grow(AllocinfoRow& row, int64_t bytes, int64_t calls) {
    row.grown_bytes = row.grown_bytes.value_or(0) + bytes;
    row.grown_calls = row.grown_calls.value_or(0) + calls;
  }

  AllocinfoRow& row_of(const AllocationSite& site) {
    auto [at, is_new] = rows_.try_emplace(key_of(site, options_.group_by));
    AllocinfoRow& row = at->second;
    if (!is_new) return row;
    row.module = site.module;
    if (options_.group_by == AllocinfoGrouping::Line) {
      row.file = site.file;
      row.line = site.line;
      row.function = site.function;
    }
    return row;
  }

  const AllocinfoOptions& options_;
  std::map<SiteKey, AllocinfoRow> rows_;
};

// Pages of slabs are memory, and would be counted twice; noise is none.
bool is_counted(const AllocationSite& site) {
  return !site.is_slab_pages() && !site.is_noise();
}

void add_to(AllocinfoTotals& totals, const AllocationSite& site) {
  totals.listed_bytes += site.bytes;
  if (site.is_noise()) {
    totals.noise_bytes += site.bytes;
    ++totals.noise_count;
  } else if (site.is_slab_pages()) {
    totals.slab_page_bytes += site.bytes;
  } else {
    totals.held_bytes += site.bytes;
    if (site.calls == 0) ++totals.unused_count;
  }
}

// Most first. SiteRows come in the order of their places, which decides ties.
void sort_rows(std::vector<AllocinfoRow>& rows, AllocinfoSort by) {
  const auto weight = [by](const AllocinfoRow& row) {
    if (by == AllocinfoSort::Growth && row.grown_bytes) {
      return std::pair(*row.grown_bytes, row.bytes);
    }
    if (by == AllocinfoSort::Calls) {
      return std::pair(static_cast<int64_t>(row.calls), row.bytes);
    }
    return std::pair(row.bytes, static_cast<int64_t>(row.calls));
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const AllocinfoRow& a, const AllocinfoRow& b) {
                     return weight(a) > weight(b);
                   });
}

void fold(AllocinfoReport& report, uint64_t top) {
  if (report.rows.size() <= top) return;
  for (size_t i = top; i < report.rows.size(); ++i) {
    const AllocinfoRow& row = report.rows[i];
    report.folded_bytes += row.bytes;
    if (row.grown_bytes) {
      report.folded_grown_bytes =
          report.folded_grown_bytes.value_or(0) + *row.grown_bytes;
    }
  }
  report.folded_count = report.rows.size() - top;
  report.rows.resize(top);
}

void add_machine(AllocinfoTotals& totals, uint64_t used_bytes) {
  if (used_bytes == 0) return;
  totals.used_bytes = used_bytes;
  totals.residue_bytes = static_cast<int64_t>(used_bytes) - totals.held_bytes;
}

}  // namespace

AllocinfoReport make_allocinfo_report(const AllocationReading& now,
                                      const AllocationReading* before,
                                      const AllocinfoOptions& options) {
  AllocinfoReport report;
  report.realtime_ns = now.realtime_ns;
  report.read_ns = now.read_ns;
  report.group_by = options.group_by;
  report.sort_by = options.sort_by;
  report.notes = now.notes;
  SiteRows rows(options);
  for (const AllocationSite& site : now.sites) {
    add_to(report.totals, site);
    if (is_counted(site)) rows.add_now(site);
  }
  if (before != nullptr) {
    report.since_realtime_ns = before->realtime_ns;
    AllocinfoTotals earlier;
    for (const AllocationSite& site : before->sites) {
      add_to(earlier, site);
      if (is_counted(site)) rows.add_before(site);
    }
    report.totals.grown_bytes = report.totals.held_bytes - earlier.held_bytes;
  }
  add_machine(report.totals, now.used_bytes);
  report.rows = rows.take(before != nullptr);
  sort_rows(report.rows, options.sort_by);
  if (options.top) fold(report, *options.top);
  return report;
}

}  // namespace tidemark::analysis
