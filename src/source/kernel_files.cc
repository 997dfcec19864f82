#include "source/kernel_files.h"

#include <string>
#include <utility>

#include "parse/kernel_files.h"
#include "source/process_parts.h"

namespace tidemark::source {
namespace {

template <typename T>
model::Reading<T> read(const Roots& roots, const std::string& name,
                       base::Result<T> (*parse)(std::string_view)) {
  base::Result<std::string> text = base::read_file_at(roots.proc, name);
  if (!text) return model::unknown<T>(reason_of(text.error()));
  base::Result<T> parsed = parse(*text);
  if (!parsed) {
    return model::unknown<T>(
        reason_of(base::within(roots.proc.path, parsed.error())));
  }
  return model::known(std::move(*parsed));
}

}  // namespace

model::Reading<model::IoMemory> read_iomem(const Roots& roots) {
  return read(roots, "iomem", parse::parse_iomem);
}

model::Reading<model::VmallocInfo> read_vmallocinfo(const Roots& roots) {
  return read(roots, "vmallocinfo", parse::parse_vmallocinfo);
}

model::Reading<std::vector<model::SlabCache>> read_slabinfo(
    const Roots& roots) {
  return read(roots, "slabinfo", parse::parse_slabinfo);
}

model::Reading<model::SocketMemory> read_sockstat(const Roots& roots) {
  model::Reading<model::SocketMemory> sum =
      read(roots, "net/sockstat", parse::parse_sockstat);
  const model::Reading<model::SocketMemory> sixth =
      read(roots, "net/sockstat6", parse::parse_sockstat);
  if (sum && sixth && sixth->fragment_bytes) {
    sum.value->fragment_bytes =
        sum->fragment_bytes.value_or(0) + *sixth->fragment_bytes;
  }
  return sum;
}

model::Reading<std::vector<model::KernelModule>> read_modules(
    const Roots& roots) {
  return read(roots, "modules", parse::parse_modules);
}

model::Reading<model::KernelSymbols> read_section_symbols(const Roots& roots) {
  return read(roots, "kallsyms", parse::parse_section_symbols);
}

model::Reading<model::PageCounters> read_page_counters(const Roots& roots) {
  return read(roots, "vmstat", parse::parse_page_counters);
}

model::Reading<model::KernelSpace> read_kernel_space(const Roots& roots) {
  return read(roots, "meminfo", parse::parse_kernel_space);
}

}  // namespace tidemark::source
