#include "store/recording_info.h"

#include <algorithm>

#include "base/text.h"

namespace tidemark::store {
namespace {

using model::RecordingInfo;

struct TextEntry {
  std::string_view name;
  std::string RecordingInfo::*target;
};
constexpr TextEntry kTexts[] = {
    {"tool", &RecordingInfo::tool},     {"targets", &RecordingInfo::targets},
    {"budget", &RecordingInfo::budget}, {"host", &RecordingInfo::host},
    {"kernel", &RecordingInfo::kernel}, {"boot_id", &RecordingInfo::boot_id},
    {"origin", &RecordingInfo::origin},
};

struct NumberEntry {
  std::string_view name;
  uint64_t RecordingInfo::*target;
};
constexpr NumberEntry kNumberEntries[] = {
    {"page_size_bytes", &RecordingInfo::page_size_bytes},
    {"ticks_per_second", &RecordingInfo::ticks_per_second},
    {"period_ns", &RecordingInfo::period_ns},
};

constexpr std::string_view kFieldsName = "smaps_fields";

std::string field_list(const std::vector<model::SmapsField>& fields) {
  std::string list;
  for (model::SmapsField field : fields) {
    if (!list.empty()) list += ' ';
    list += model::kSmapsLabels[static_cast<size_t>(field)].kernel_label;
  }
  return list;
}

std::vector<model::SmapsField> fields_in(std::string_view list) {
  std::vector<model::SmapsField> fields;
  while (true) {
    const std::string_view label = base::take_word(list);
    if (label.empty()) return fields;
    auto found = std::ranges::find(model::kSmapsLabels, label,
                                   &model::SmapsLabel::kernel_label);
    if (found == model::kSmapsLabels.end()) continue;
    fields.push_back(
        static_cast<model::SmapsField>(found - model::kSmapsLabels.begin()));
  }
}

void take(std::string_view name, std::string_view value, RecordingInfo& info) {
  for (const TextEntry& entry : kTexts) {
    if (entry.name == name) info.*entry.target = value;
  }
  for (const NumberEntry& entry : kNumberEntries) {
    if (entry.name != name) continue;
    info.*entry.target = base::parse_u64(value).value_or(info.*entry.target);
  }
  if (name == kFieldsName) info.smaps_fields = fields_in(value);
}

}  // namespace

base::Status write_info(Database& database, const RecordingInfo& info) {
  base::Result<Statement> insert =
      database.prepare("INSERT OR REPLACE INTO recording VALUES(?,?)");
  if (!insert) return insert.error();
  const auto put = [&](std::string_view name, const std::string& value) {
    insert->bind(0, name);
    insert->bind(1, std::string_view(value));
    return insert->run();
  };
  for (const TextEntry& entry : kTexts) {
    base::Status status = put(entry.name, info.*entry.target);
    if (!status) return status;
  }
  for (const NumberEntry& entry : kNumberEntries) {
    base::Status status = put(entry.name, std::to_string(info.*entry.target));
    if (!status) return status;
  }
  return put(kFieldsName, field_list(info.smaps_fields));
}

base::Result<RecordingInfo> read_info(Database& database) {
  base::Result<Statement> rows =
      database.prepare("SELECT name, value FROM recording");
  if (!rows) return rows.error();
  RecordingInfo info;
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return info;
    take(rows->text(0), rows->text(1), info);
  }
}

}  // namespace tidemark::store
