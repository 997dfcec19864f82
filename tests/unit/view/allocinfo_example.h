// A report of allocinfo with one of each thing a renderer must get right.
#pragma once

#include "analysis/allocinfo_report.h"
#include "unit/view/examples.h"

namespace tidemark::view {

inline analysis::AllocinfoReport allocinfo_example(bool has_growth) {
  analysis::AllocinfoReport report;
  report.realtime_ns = kExampleTimeNs;
  analysis::AllocinfoRow cache;
  cache.file = "mm/readahead.c";
  cache.line = 263;
  cache.function = "page_cache_ra_unbounded";
  cache.bytes = 22151168;
  cache.calls = 5408;
  cache.site_count = 1;
  analysis::AllocinfoRow strange;
  strange.file = "drivers/\x1b[31m,\"x\".c";
  strange.line = 7;
  strange.function = "f\n";
  strange.module = "mod\xff";
  strange.bytes = -4096;
  strange.calls = 1;
  strange.site_count = 1;
  strange.is_inexact = true;
  report.rows = {cache, strange};
  report.folded_count = 3;
  report.folded_bytes = 1024;
  report.totals.held_bytes = 22148096;
  report.totals.slab_page_bytes = 5693440;
  report.totals.noise_bytes = 1310400;
  report.totals.noise_count = 1;
  report.totals.listed_bytes = 22148096 + 5693440 + 1310400;
  report.totals.used_bytes = 31457280;
  report.totals.residue_bytes = 31457280 - 22148096;
  report.notes = {"a note\x1b"};
  if (!has_growth) return report;
  report.since_realtime_ns = kExampleTimeNs - 1'000'000'000;
  report.rows[0].grown_bytes = 4096;
  report.rows[0].grown_calls = 1;
  report.rows[1].grown_bytes = -8192;
  report.rows[1].grown_calls = 0;
  report.totals.grown_bytes = -4096;
  report.folded_grown_bytes = 0;
  return report;
}

}  // namespace tidemark::view
