// A report of page_owner with one of each thing a renderer must get right.
#pragma once

#include "analysis/page_owner_report.h"
#include "unit/view/examples.h"

namespace tidemark::view {

inline analysis::PageOwnerReport page_owner_example() {
  analysis::PageOwnerReport report;
  report.realtime_ns = kExampleTimeNs;
  report.group_by.by_stack = true;
  analysis::PageOwnerRow shared;
  shared.blocks = 3;
  shared.pages = 512;
  shared.oldest_ns = 1'500'000'000;
  shared.newest_ns = 2'500'000'000;
  shared.allocator = model::PageAllocator::Others;
  shared.frames = {"alloc_pages+0x1/0x2", "loop_add+0x17d/0x320 [loop]"};
  analysis::PageOwnerRow strange;
  strange.blocks = 1;
  strange.pages = 1;
  strange.pid = 21;
  strange.tgid = 20;
  strange.name = "\x1b[31m\"a,b\"\n\xff";
  strange.allocator = model::PageAllocator::Slab;
  strange.frames = {"bad\x1b[2Jframe\n"};
  report.rows = {shared, strange};
  report.folded_count = 4;
  report.folded_pages = 10;
  report.totals.records = 9;
  report.totals.pages = 523;
  report.totals.slab_pages = 256;
  report.totals.broken_records = 1;
  report.totals.stray_lines = 2;
  report.unselected_records = 1;
  report.unselected_pages = 2;
  report.notes = {"a note\x1b"};
  return report;
}

}  // namespace tidemark::view
