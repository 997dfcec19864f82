#include "view/text/trace_boot.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/escape.h"
#include "base/units.h"

namespace tidemark::view {
namespace {

std::string line(const TextStyle& style, uint64_t bytes,
                 std::string_view what) {
  return fmt::format("  {:>12}  {}\n", base::long_size(bytes, style.unit),
                     what);
}

}  // namespace

std::string module_shares_text(const std::vector<analysis::ModuleShare>& shares,
                               const model::Trace& trace) {
  const auto mebibytes = [&](uint64_t pages) {
    return static_cast<double>(pages * trace.page_size_bytes) / (1 << 20);
  };
  std::string text;
  for (const analysis::ModuleShare& share : shares) {
    text += fmt::format("Module {} on the stacks of {:.1f}MB ({} pages), ",
                        base::visible(share.name), mebibytes(share.pages),
                        share.pages);
    text += trace.has_peaks
                ? fmt::format("{:.1f}MB ({} pages) at the machine's peak\n",
                              mebibytes(share.machine_peak_pages),
                              share.machine_peak_pages)
                : "peak not known\n";
  }
  return text;
}

std::string crash_kernel_text(
    const model::Reading<analysis::CrashKernel>& crash,
    const TextStyle& style) {
  if (!crash) return "crash kernel: unknown, " + crash.unknown_because + "\n";
  const uint64_t mebibytes = crash->size_bytes >> 20;
  std::string text = fmt::format(
      "crashkernel={}M would do for a kernel that boots as this one did\n",
      mebibytes);
  text += line(style, crash->kept_bytes, "kept by the kernel before it counts");
  text += line(style, crash->before_bytes, "in use when the trace began");
  text += line(style, crash->peak_bytes, "more at the highest since");
  text += line(style, crash->spare_bytes, "spare");
  text += line(style, crash->size_bytes, "together, in steps of 16 MiB");
  const bool is_more = crash->unseen_bytes >= 0;
  text += line(style, static_cast<uint64_t>(std::llabs(crash->unseen_bytes)),
               is_more ? "in use now that was not traced, and is not in it"
                       : "of what was there before is given back by now");
  text += line(style, crash->tracer_bytes,
               "was the tracer's own at the highest, and is not in it");
  text += line(style, crash->table_bytes,
               "its tables in the kernel, which are not in it either");
  return text;
}

}  // namespace tidemark::view
