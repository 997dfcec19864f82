#include "view/csv/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/composition.h"
#include "analysis/process_use.h"
#include "base/clock.h"
#include "base/escape.h"

namespace tidemark::view {
namespace {

using model::Category;
using model::Moment;
using model::Process;
using model::SmapsField;

// Those that mappings can be of. All of them at every tick, so that a column of
// a chart has no holes.
constexpr Category kShown[] = {
    Category::Heap, Category::Anon, Category::Stack, Category::Shm,
    Category::File, Category::Code, Category::Huge,  Category::Unnamed,
};

std::string value_text(const std::optional<int64_t>& value) {
  return value ? std::to_string(*value) : "";
}

std::string names_of(const model::NamedValues& values) {
  std::string out;
  for (const auto& [name, value] : values)
    out += "," + std::string(name);
  return out;
}

std::string texts_of(const model::NamedValues& values) {
  std::string out;
  for (const auto& [name, value] : values)
    out += "," + value_text(value);
  return out;
}

std::string moment_fields(const Moment& moment) {
  return base::rfc3339(moment.tick.realtime_ns) + "," +
         std::to_string(moment.tick.id);
}

std::string detail_text(const Moment& moment, size_t process) {
  if (process >= moment.detail_ticks.size()) return "";
  return value_text(moment.detail_ticks[process]);
}

std::string process_rows(const Moment& moment) {
  const std::string head = moment_fields(moment);
  std::string out;
  for (size_t i = 0; i < moment.sample->processes.size(); ++i) {
    const Process& process = moment.sample->processes[i];
    out += fmt::format(
        "{},{},{},{},{},{},{}{},{},{}\n", head, process.id.pid,
        process.id.start_ticks, process.stat.parent_pid,
        base::csv_field(analysis::display_name(process)),
        model::process_state_name(process.state), detail_text(moment, i),
        texts_of(model::process_values(process, moment.page_size_bytes)),
        base::csv_field(process.cgroup_path),
        base::csv_field(analysis::command_text(process)));
  }
  return out;
}

std::string mapping_fields(const model::Mapping& mapping) {
  std::string out;
  for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
    const std::optional<uint64_t> bytes =
        mapping.fields.get(static_cast<SmapsField>(i));
    out += "," + (bytes ? std::to_string(*bytes) : std::string());
  }
  return out;
}

std::string mapping_rows(const Moment& moment) {
  const std::string head = moment_fields(moment);
  std::string out;
  for (size_t i = 0; i < moment.sample->processes.size(); ++i) {
    const Process& process = moment.sample->processes[i];
    if (!process.mappings) continue;
    const std::string name = base::csv_field(analysis::display_name(process));
    for (size_t at = 0; at < process.mappings->size(); ++at) {
      const model::Mapping& mapping = (*process.mappings)[at];
      const bool has_kind = at < process.kinds.size();
      out += fmt::format(
          "{},{},{},{},{},{:#x},{:#x},{},{},{:02x}:{:02x},{},{},{},{}{}\n",
          head, process.id.pid, process.id.start_ticks, name,
          detail_text(moment, i), mapping.start_address, mapping.end_address,
          model::permission_letters(mapping.permissions), mapping.offset_bytes,
          mapping.device_major, mapping.device_minor, mapping.inode_id,
          has_kind ? model::region_kind_token(process.kinds[at]) : "",
          has_kind
              ? model::category_token(model::region_category(process.kinds[at]))
              : "",
          base::csv_field(mapping.name), mapping_fields(mapping));
    }
  }
  return out;
}

// Other tools' recordings do not have it.
bool knows_swap(const Moment& moment) {
  const auto has_swap = [](const model::Mapping& mapping) {
    return mapping.fields.has(SmapsField::Swap);
  };
  return std::ranges::any_of(
      moment.sample->processes, [&](const Process& process) {
        return process.status.swap_bytes ||
               (process.mappings &&
                std::ranges::any_of(*process.mappings, has_swap));
      });
}

std::string category_rows(const Moment& moment) {
  std::array<analysis::Bytes, model::kCategoryCount> sums{};
  for (const analysis::Part& part : analysis::compose(*moment.sample).parts)
    sums[static_cast<size_t>(part.category)].add(part.bytes);
  const std::string head = moment_fields(moment);
  const bool swaps = knows_swap(moment);
  std::string out;
  for (Category category : kShown) {
    const analysis::Bytes& sum = sums[static_cast<size_t>(category)];
    out += fmt::format("{},{},{},{},{},{},{},{},{}\n", head,
                       model::category_token(category), sum.rss, sum.pss,
                       sum.lacks_uss ? "" : std::to_string(sum.uss),
                       swaps ? std::to_string(sum.swap) : "",
                       sum.pss - sum.bounded, sum.pss, sum.estimated);
  }
  return out;
}

}  // namespace

std::string export_csv_head(ExportTable table) {
  switch (table) {
    case ExportTable::Processes:
      return "time,tick,pid,start_ticks,parent_pid,name,state,detail_tick" +
             names_of(model::process_values({}, 1)) + ",cgroup,cmdline\n";
    case ExportTable::Mappings: {
      std::string head =
          "time,tick,pid,start_ticks,process,detail_tick,start,end,"
          "permissions,offset_bytes,device,inode,kind,category,name";
      for (const model::SmapsLabel& label : model::kSmapsLabels)
        head += "," + std::string(label.json_name);
      return head + "\n";
    }
    case ExportTable::Categories:
      return "time,tick,category,rss_bytes,pss_bytes,private_bytes,"
             "swap_bytes,pss_bytes_low,pss_bytes_high,estimated_bytes\n";
    case ExportTable::Machine:
      return "time,tick" + names_of(model::machine_values({})) + "\n";
  }
  return "";
}

std::string export_csv_rows(ExportTable table, const Moment& moment) {
  switch (table) {
    case ExportTable::Processes:
      return process_rows(moment);
    case ExportTable::Mappings:
      return mapping_rows(moment);
    case ExportTable::Categories:
      return category_rows(moment);
    case ExportTable::Machine:
      if (!moment.sample->machine) return "";
      return moment_fields(moment) +
             texts_of(model::machine_values(*moment.sample->machine)) + "\n";
  }
  return "";
}

}  // namespace tidemark::view
