#include "view/json/doctor.h"

#include <string_view>
#include <vector>

namespace tidemark::view {
namespace {

using analysis::Grant;
using base::JsonWriter;

void member_list(JsonWriter& json, std::string_view name,
                 const std::vector<std::string>& items) {
  json.key(name);
  json.begin_array();
  for (const std::string& item : items)
    json.string(item);
  json.end_array();
}

// Nothing to say is null, so that a test for presence needs no length.
void member_text(JsonWriter& json, std::string_view name,
                 const std::string& text) {
  json.key(name);
  if (text.empty()) {
    json.null();
  } else {
    json.string(text);
  }
}

void member_grant(JsonWriter& json, const Grant& grant) {
  member_text(json, "grant", grant.line);
  member_text(json, "systemd_unit_line", grant.unit_line);
  member_text(json, "note", grant.note);
}

void write_facts(JsonWriter& json, const model::DoctorFacts& facts) {
  member_text(json, "kernel_release", facts.kernel_release);
  member_text(json, "machine", facts.machine);
  json.member("proc", facts.proc_path);
  json.member("live", facts.is_live);
  json.member("user_id", facts.user_id);
  member_list(json, "effective_capabilities", facts.effective);
  member_list(json, "bounding_capabilities", facts.bounding);
  json.member("no_new_privs", facts.no_new_privs);
  json.member("in_user_namespace", facts.in_user_namespace);
}

void write_row(JsonWriter& json, const analysis::DoctorRow& row) {
  const model::Capability& capability = row.capability;
  json.begin_object();
  json.member("name", capability.name);
  json.member("gives", capability.gives);
  json.member("state", model::capability_state_name(capability.state));
  json.member("detail", capability.detail);
  member_list(json, "needs_capabilities", capability.needs);
  member_grant(json, row.grant);
  json.end_object();
}

void write_tier(JsonWriter& json, const analysis::TierReport& tier) {
  json.begin_object();
  json.member("tier", model::tier_name(tier.tier));
  json.member("reached", tier.is_reached);
  json.member("adds", tier.adds);
  json.member("works_count", tier.works_count);
  json.member("row_count", tier.rows.size());
  member_grant(json, tier.grant);
  json.key("rows");
  json.begin_array();
  for (const analysis::DoctorRow& row : tier.rows)
    write_row(json, row);
  json.end_array();
  json.end_object();
}

void write_next(JsonWriter& json, const analysis::DoctorReport& report) {
  json.key("next");
  if (!report.next) return json.null();
  json.begin_object();
  json.member("tier", model::tier_name(report.next->tier));
  json.member("adds", report.next->adds);
  member_grant(json, report.next->grant);
  json.end_object();
}

void write_kernel(JsonWriter& json, const model::DoctorFacts& facts) {
  json.key("kernel");
  json.begin_array();
  for (const model::KernelFact& fact : facts.kernel) {
    json.begin_object();
    json.member("name", fact.name);
    json.member("value", fact.value);
    member_text(json, "means", fact.means);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string doctor_json(const analysis::DoctorReport& report,
                        JsonWriter::Layout layout) {
  JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.doctor/1");
  write_facts(json, report.facts);
  json.member("binary", report.binary_path);
  json.member("reached", model::tier_name(report.reached));
  json.member("sentence", report.sentence);
  write_next(json, report);
  json.key("tiers");
  json.begin_array();
  for (const analysis::TierReport& tier : report.tiers)
    write_tier(json, tier);
  json.end_array();
  write_kernel(json, report.facts);
  json.key("built_in");
  json.begin_object();
  for (const model::BuildFeature& feature : report.built_in) {
    json.member(feature.name, feature.built_in);
  }
  json.end_object();
  json.end_object();
  return json.take();
}

}  // namespace tidemark::view
