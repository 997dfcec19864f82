#include "source/allocinfo_source.h"

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "parse/allocinfo.h"
#include "parse/machine_files.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;

// "never" at boot takes the file away, as does a kernel without profiling.
base::Error explain(const base::Error& error) {
  if (error.kind == ErrorKind::NotFound) {
    return base::fail(ErrorKind::Unsupported,
                      error.what + ": this kernel does not count by place",
                      "CONFIG_MEM_ALLOC_PROFILING, sysctl vm.mem_profiling=1");
  }
  if (error.kind == ErrorKind::Denied) {
    return base::fail(error.kind, error.what, "run as root");
  }
  return error;
}

// MemTotal less MemFree; 0 when it cannot be told.
uint64_t read_used_bytes(const Roots& roots) {
  base::Result<std::string> text = base::read_file_at(roots.proc, "meminfo");
  if (!text) return 0;
  base::Result<model::MemInfo> info = parse::parse_meminfo(*text);
  if (!info || !info->total_bytes || !info->free_bytes) return 0;
  if (*info->total_bytes < *info->free_bytes) return 0;
  return *info->total_bytes - *info->free_bytes;
}

bool is_turned_off(const Roots& roots) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, "sys/vm/mem_profiling");
  return text && base::trim(*text) == "0";
}

}  // namespace

base::Result<model::AllocationReading> read_allocinfo(const Roots& roots) {
  model::AllocationReading reading;
  reading.realtime_ns = base::realtime_ns();
  const uint64_t started_ns = base::monotonic_ns();
  base::Result<std::string> text = base::read_file_at(roots.proc, "allocinfo");
  if (!text) return explain(text.error());
  reading.used_bytes = read_used_bytes(roots);
  reading.read_ns = base::monotonic_ns() - started_ns;
  base::Result<std::vector<model::AllocationSite>> sites =
      parse::parse_allocinfo(*text);
  if (!sites) return base::within(roots.proc.path, sites.error());
  reading.sites = std::move(*sites);
  if (is_turned_off(roots)) {
    reading.notes.emplace_back(
        "vm.mem_profiling is 0: what is taken now is not counted");
  }
  return reading;
}

}  // namespace tidemark::source
