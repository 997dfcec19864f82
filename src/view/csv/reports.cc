#include "view/csv/reports.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/escape.h"

namespace tidemark::view {
namespace {

using analysis::Use;
using model::Amount;

constexpr std::string_view kUseHead =
    "in_ram_bytes,pss_bytes,uss_bytes,shared_bytes,rss_bytes,pss_anon_bytes,"
    "pss_file_bytes,pss_shmem_bytes,swap_pss_bytes,hugetlb_bytes,kernel_bytes";

// An empty field for unknown; a lower bound is written as its number, and the
// total's completeness is told by the count of unknown processes in JSON.
std::string number(std::optional<uint64_t> bytes) {
  return bytes ? std::to_string(*bytes) : "";
}

std::string use_fields(const Use& use) {
  std::string out = number(use.in_ram().known_bytes());
  for (const Amount& amount :
       {use.pss, use.uss, use.shared, use.rss, use.pss_anon, use.pss_file,
        use.pss_shmem, use.swap_pss, use.hugetlb, use.kernel}) {
    out += "," + number(amount.known_bytes());
  }
  return out;
}

std::string_view row_kind(analysis::RowKind kind) {
  switch (kind) {
    case analysis::RowKind::Group:
      return "group";
    case analysis::RowKind::Process:
      return "process";
    case analysis::RowKind::Thread:
      return "thread";
    case analysis::RowKind::Folded:
      return "folded";
  }
  return "";
}

}  // namespace

std::string get_csv_head() {
  return fmt::format("time,pid,name,{}\n", kUseHead);
}

std::string get_csv_rows(const analysis::GetReport& report,
                         bool with_processes) {
  const std::string time = base::rfc3339(report.realtime_ns);
  std::string out =
      fmt::format("{},,total,{}\n", time, use_fields(report.total));
  if (!with_processes) return out;
  for (const analysis::GetProcess& process : report.processes) {
    out += fmt::format("{},{},{},{}\n", time, process.id.pid,
                       base::csv_field(process.name), use_fields(process.use));
  }
  return out;
}

std::string ps_csv(const analysis::PsReport& report) {
  std::string out = fmt::format(
      "kind,id,depth,{},charged_bytes,unseen_bytes,peak_bytes,"
      "descriptor_count,user,cgroup,name\n",
      kUseHead);
  for (const analysis::PsRow& row : report.rows) {
    const auto reading =
        [](const std::optional<model::Reading<uint64_t>>& value) {
          return value ? number(value->value) : std::string();
        };
    const std::optional<int64_t> unseen = row.unseen_bytes();
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{}\n", row_kind(row.kind), row.id,
        row.depth, use_fields(row.use), reading(row.charged_bytes),
        unseen ? std::to_string(*unseen) : "", reading(row.peak_bytes),
        number(row.descriptor_total()), base::csv_field(row.user),
        base::csv_field(row.cgroup_path), base::csv_field(row.name));
  }
  return out;
}

std::string maps_csv(const analysis::MapsReport& report) {
  std::string out = "start,end,permissions,offset_bytes,inode,kind,category";
  for (const model::SmapsLabel& label : model::kSmapsLabels) {
    out += "," + std::string(label.json_name);
  }
  out += ",name\n";
  for (const analysis::MapsRegion& region : report.regions) {
    for (const model::Mapping& m : region.mappings) {
      out += fmt::format(
          "{:#x},{:#x},{},{},{},{},{}", m.start_address, m.end_address,
          model::permission_letters(m.permissions), m.offset_bytes, m.inode_id,
          model::region_kind_token(region.kind),
          model::category_token(region.category));
      for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
        out += "," + number(m.fields.get(static_cast<model::SmapsField>(i)));
      }
      out += "," + base::csv_field(m.name) + "\n";
    }
  }
  return out;
}

}  // namespace tidemark::view
