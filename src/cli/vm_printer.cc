#include "cli/vm_printer.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "cli/page.h"
#include "cli/vms_page.h"
#include "view/json/memstats.h"
#include "view/json/vm.h"
#include "view/text/vm.h"

namespace tidemark::cli {
namespace {

bool is_memstats(const CommonOptions& common) {
  return common.format == Format::Text && common.format_word == "memstats";
}

}  // namespace

VmPrinter::VmPrinter(const CommonOptions& common, VmPrinting printing,
                     Output& output)
    : common_(common),
      printing_(printing),
      is_page_(wants_page(common)),
      output_(output),
      style_(text_style(common, output.fd())) {}

bool VmPrinter::wants_totals() const {
  return is_memstats(common_);
}

base::Status VmPrinter::print(model::VmScan scan) {
  if (is_page_) {
    scans_.push_back(std::move(scan));
    return base::Ok{};
  }
  const analysis::VmReport report =
      analysis::make_vm_report(std::move(scan), history_);
  if (is_memstats(common_)) return print_record(report);
  return output_.write(rendered(report));
}

void VmPrinter::learn(model::VmScan scan) {
  (void)analysis::make_vm_report(std::move(scan), history_);
}

base::Status VmPrinter::finish(bool has_failed) {
  if (is_page_) {
    if (has_failed && scans_.empty()) return base::Ok{};
    base::Result<ExitCode> written = write_vms_page(scans_, output_);
    if (!written) return written.error();
    return base::Ok{};
  }
  const bool is_open = start_ns_ || !has_failed;
  if (!is_memstats(common_) || !is_open) return base::Ok{};
  return output_.write(start_ns_ ? "]\n" : "[]\n");
}

// The VM that the records tell of: the one of the first. Nothing when it has
// ended, or before it has begun in a recording; others that come are not it.
base::Result<const analysis::VmRow*> VmPrinter::row_of_record(
    const analysis::VmReport& report) {
  if (!subject_) {
    if (report.rows.empty() && printing_.is_recorded && printing_.is_watch) {
      return nullptr;
    }
    if (report.rows.size() != 1) {
      return base::fail(base::ErrorKind::Misused,
                        "memstats tells of one VM, and there are " +
                            std::to_string(report.rows.size()),
                        "name one: tidemark vm watch PID --format memstats");
    }
    subject_ = report.rows[0].vm.id;
  }
  const auto found =
      std::ranges::find(report.rows, *subject_,
                        [](const analysis::VmRow& row) { return row.vm.id; });
  return found == report.rows.end() ? nullptr : &*found;
}

// Each record as it comes, so that a kill costs the closing bracket alone.
base::Status VmPrinter::print_record(const analysis::VmReport& report) {
  base::Result<const analysis::VmRow*> row = row_of_record(report);
  if (!row) return row.error();
  if (*row == nullptr) return base::Ok{};
  const bool is_first = !start_ns_;
  if (is_first) start_ns_ = report.realtime_ns;
  // To the nearest: the collector counts its seconds, ours jitter.
  const uint64_t elapsed_ns = report.realtime_ns -
                              std::min(report.realtime_ns, *start_ns_) +
                              base::kNsPerSecond / 2;
  return output_.write(
      (is_first ? "[" : ",\n") +
      view::memstats_record(**row, elapsed_ns / base::kNsPerSecond));
}

std::string VmPrinter::rendered(const analysis::VmReport& report) const {
  if (common_.format != Format::Text) {
    return view::vm_json(report, printing_.is_watch
                                     ? base::JsonWriter::Layout::OneLine
                                     : json_layout(common_.format));
  }
  // One VM has room for all that is known of it.
  const bool with_bands = printing_.verbose || report.rows.size() == 1;
  return view::vm_text(
      report, {with_bands, printing_.is_watch, printing_.is_recorded}, style_);
}

}  // namespace tidemark::cli
