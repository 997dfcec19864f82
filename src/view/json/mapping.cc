#include "view/json/mapping.h"

#include <fmt/format.h>

namespace tidemark::view {
namespace {

void write_flags(base::JsonWriter& json, uint64_t flags) {
  json.key("vm_flags");
  json.begin_array();
  for (size_t i = 0; i < model::kVmFlagCount; ++i) {
    if ((flags >> i) & 1) json.string(model::kVmFlagNames[i]);
  }
  if (flags & model::kVmFlagOther) json.string("other");
  json.end_array();
}

}  // namespace

std::string json_address(uint64_t address) {
  return fmt::format("{:#x}", address);
}

void write_mapping_members(base::JsonWriter& json,
                           const model::Mapping& mapping) {
  json.member("start", json_address(mapping.start_address));
  json.member("end", json_address(mapping.end_address));
  json.member("permissions", model::permission_letters(mapping.permissions));
  json.member("offset_bytes", mapping.offset_bytes);
  json.member("device", fmt::format("{:02x}:{:02x}", mapping.device_major,
                                    mapping.device_minor));
  json.member("inode", mapping.inode_id);
  json.member("name", mapping.name);
  for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
    const auto field = static_cast<model::SmapsField>(i);
    if (!mapping.fields.has(field)) continue;
    json.member(model::kSmapsLabels[i].json_name,
                mapping.fields.get_or_zero(field));
  }
  json.member("thp_eligible", mapping.is_thp_eligible);
  write_flags(json, mapping.vm_flags);
}

}  // namespace tidemark::view
