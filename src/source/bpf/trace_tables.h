// The tables of bpf/trace.bpf.c: how large they are made, and how they are read
// while the kernel writes them.
#pragma once

#include <bpf/libbpf.h>
// The order matters: the shared header needs the kernel's integer names.
#include <bpf/trace.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "source/bpf/mapped_table.h"
#include "source/bpf/trace_modules.h"
#include "source/low_history.h"
#include "source/roots.h"

namespace tidemark::source {

// How many entries each table has, by the size of the machine: a small one that
// boots must not be filled by its observer.
struct TableSizes {
  uint32_t stacks = 0;
  uint32_t tasks = 0;
  uint32_t nodes = 0;
};

// Together at most a 32nd of what is available, where that is known: they must
// not fill a crash kernel.
TableSizes sizes_for(uint64_t ram_pages,
                     std::optional<uint64_t> available_bytes = {});

// The first chunk of each section that has RAM, counted from 1.
struct Sections {
  std::vector<uint32_t> first_chunk;
  uint32_t chunk_count = 0;
  uint64_t ram_pages = 0;
};
base::Result<Sections> find_sections(const Roots& roots, uint64_t page_size);

// What was counted, as the tables tell it.
struct TraceTables {
  MappedTable<tm_trace_stack> stacks;
  MappedTable<tm_trace_task> tasks;
  MappedTable<tm_trace_node> nodes;
  MappedTable<tm_frame_chunk> chunks;  // where owners are taken over
};

// What the tables do not tell of the run.
struct TraceRun {
  uint64_t sample_period = 1;
  uint64_t epoch = 0;   // of the machine's peak
  uint64_t now_ns = 0;  // or its end
  uint64_t folded_tasks = 0;
  bool has_ended = false;
  const LowHistory* lows = nullptr;
  const BpfTraceModules* modules = nullptr;

  uint64_t scaled(int64_t pages) const {
    return pages > 0 ? static_cast<uint64_t>(pages) * sample_period : 0;
  }
};

}  // namespace tidemark::source
