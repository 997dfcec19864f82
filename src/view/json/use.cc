#include "view/json/use.h"

#include "base/clock.h"

namespace tidemark::view {
namespace {

struct UseMember {
  const char* name;
  model::Amount analysis::Use::*amount;
};
constexpr UseMember kMembers[] = {
    {"pss_bytes", &analysis::Use::pss},
    {"uss_bytes", &analysis::Use::uss},
    {"shared_bytes", &analysis::Use::shared},
    {"rss_bytes", &analysis::Use::rss},
    {"pss_anon_bytes", &analysis::Use::pss_anon},
    {"pss_file_bytes", &analysis::Use::pss_file},
    {"pss_shmem_bytes", &analysis::Use::pss_shmem},
    {"swap_pss_bytes", &analysis::Use::swap_pss},
    {"hugetlb_bytes", &analysis::Use::hugetlb},
    {"kernel_bytes", &analysis::Use::kernel},
};

}  // namespace

void write_use(base::JsonWriter& json, const analysis::Use& use) {
  json.member("in_ram_bytes", use.in_ram().known_bytes());
  bool has_bounds = false;
  for (const UseMember& member : kMembers) {
    const model::Amount& amount = use.*member.amount;
    json.member(member.name, amount.known_bytes());
    has_bounds = has_bounds || amount.is_lower_bound();
  }
  if (!has_bounds) return;
  json.key("lower_bounds");
  json.begin_array();
  if (use.in_ram().is_lower_bound()) json.string("in_ram_bytes");
  for (const UseMember& member : kMembers) {
    if ((use.*member.amount).is_lower_bound()) json.string(member.name);
  }
  json.end_array();
}

void write_notes(base::JsonWriter& json,
                 const std::vector<std::string>& notes) {
  json.key("notes");
  json.begin_array();
  for (const std::string& note : notes)
    json.string(note);
  json.end_array();
}

void write_reading(base::JsonWriter& json, const char* name,
                   const model::Reading<uint64_t>& reading,
                   std::vector<std::pair<std::string, std::string>>& unknown) {
  json.member(name, reading.value);
  if (!reading) unknown.emplace_back(name, reading.unknown_because);
}

void write_unknown(
    base::JsonWriter& json,
    const std::vector<std::pair<std::string, std::string>>& unknown) {
  if (unknown.empty()) return;
  json.key("unknown");
  json.begin_object();
  for (const auto& [name, reason] : unknown)
    json.member(name, reason);
  json.end_object();
}

void write_categories(base::JsonWriter& json,
                      const std::vector<analysis::CategoryUse>& categories) {
  json.key("categories");
  json.begin_array();
  for (const analysis::CategoryUse& use : categories) {
    json.begin_object();
    json.member("category", model::category_token(use.category));
    json.member("mapping_count", use.mapping_count);
    json.member("size_bytes", use.size_bytes);
    json.member("rss_bytes", use.rss_bytes);
    json.member("pss_bytes", use.pss_bytes);
    json.member("uss_bytes", use.private_bytes);
    json.member("swap_pss_bytes", use.swap_pss_bytes);
    json.end_object();
  }
  json.end_array();
}

void write_head(base::JsonWriter& json, std::string_view schema,
                uint64_t realtime_ns, uint64_t read_ns) {
  json.member("schema", schema);
  json.member("time", base::rfc3339(realtime_ns));
  json.member("read_ns", read_ns);
}

}  // namespace tidemark::view
