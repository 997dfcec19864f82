#include "source/kernel_files.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "parse/elf.h"
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

model::Reading<std::vector<model::KernelSegment>> read_kernel_segments(
    const Roots& roots) {
  using Segments = std::vector<model::KernelSegment>;
  base::Result<base::Fd> file = base::open_file_at(roots.proc, "kcore");
  if (!file) return model::unknown<Segments>(reason_of(file.error()));
  // A header for each piece of RAM and one for its page structs: a thousand
  // fit. The file goes on for as many bytes as there are addresses.
  std::string head(size_t{64} << 10, '\0');
  size_t size = 0;
  while (size < head.size()) {
    const ssize_t got = ::pread(file->get(), head.data() + size,
                                head.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return model::unknown<Segments>(
          reason_of(base::fail_errno(roots.proc.join("kcore"), errno)));
    }
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  head.resize(size);
  base::Result<Segments> segments = parse::parse_kcore_segments(head);
  if (!segments) {
    return model::unknown<Segments>(
        reason_of(base::within(roots.proc.join("kcore"), segments.error())));
  }
  return model::known(std::move(*segments));
}

}  // namespace tidemark::source
