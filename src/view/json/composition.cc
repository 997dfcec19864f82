#include "view/json/composition.h"

#include <array>

#include "base/clock.h"

namespace tidemark::view {
namespace {

using analysis::Composition;
using analysis::Holder;
using analysis::Part;

void write_composition_parts(base::JsonWriter& json,
                             const Composition& composition) {
  std::array<analysis::Bytes, model::kCategoryCount> sums{};
  std::array<uint64_t, model::kCategoryCount> counts{};
  for (const Part& part : composition.parts) {
    sums[static_cast<size_t>(part.category)].add(part.bytes);
    counts[static_cast<size_t>(part.category)] += part.mapping_count;
  }
  json.key("categories");
  json.begin_array();
  for (model::Category category : model::kCategories) {
    const auto at = static_cast<size_t>(category);
    if (counts[at] == 0) continue;
    json.begin_object();
    json.member("category", model::category_token(category));
    write_bytes(json, sums[at]);
    json.member("mapping_count", counts[at]);
    json.end_object();
  }
  json.end_array();
}

void write_unread(base::JsonWriter& json, std::string_view because) {
  constexpr const char* kNames[] = {"pss_bytes", "rss_bytes", "private_bytes",
                                    "swap_pss_bytes"};
  for (const char* name : kNames) {
    json.key(name);
    json.null();
  }
  json.key("unknown");
  json.begin_object();
  for (const char* name : kNames)
    json.member(name, because.empty() ? "not read" : because);
  json.end_object();
}

void write_processes(base::JsonWriter& json, const Composition& composition) {
  json.key("processes");
  json.begin_array();
  for (const Holder& holder : composition.processes) {
    json.begin_object();
    json.member("pid", holder.id.pid);
    json.member("start_ticks", holder.id.start_ticks);
    json.member("name", holder.name);
    if (holder.is_unknown) {
      write_unread(json, holder.unknown_because);
    } else {
      write_bytes(json, holder.bytes, holder.unknown_because);
    }
    json.member("resident_bytes", holder.resident_bytes);
    json.member("peak_rss_bytes", holder.peak_rss_bytes);
    if (holder.bytes.estimated > 0)
      json.member("split_age_ns", holder.split_age_ns);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_best(base::JsonWriter& json, std::string_view name,
                const analysis::Bytes& bytes) {
  json.member(name, bytes.is_unsplit() ? std::optional<uint64_t>()
                                       : std::optional(bytes.pss));
}

void write_bound(base::JsonWriter& json, std::string_view name,
                 const analysis::Bytes& bytes) {
  if (bytes.bounded == 0) return;
  json.key(name);
  json.begin_array();
  json.number(bytes.pss - bytes.bounded);
  json.number(bytes.pss);
  json.end_array();
}

void write_bytes(base::JsonWriter& json, const analysis::Bytes& bytes,
                 std::string_view because) {
  const bool is_unsplit = bytes.is_unsplit();
  write_best(json, "pss_bytes", bytes);
  json.member("rss_bytes", bytes.rss);
  json.member("private_bytes", bytes.lacks_uss ? std::optional<uint64_t>()
                                               : std::optional(bytes.uss));
  json.member("swap_pss_bytes", bytes.swap);
  if (bytes.estimated > 0) json.member("estimated_bytes", bytes.estimated);
  if (bytes.bounded > 0) {
    json.key("bounds");
    json.begin_object();
    write_bound(json, "pss_bytes", bytes);
    json.end_object();
  }
  if (!is_unsplit && !bytes.lacks_uss) return;
  json.key("unknown");
  json.begin_object();
  if (is_unsplit) {
    json.member("pss_bytes",
                because.empty() ? "sharing was not read" : because);
  }
  if (bytes.lacks_uss) json.member("private_bytes", "not read of all of it");
  json.end_object();
}

void write_composition(base::JsonWriter& json, const Composition& composition) {
  json.key("total");
  json.begin_object();
  write_bytes(json, composition.total, composition.unsplit_because);
  json.member("page_table_bytes", composition.page_table_bytes);
  json.member("undetailed_count", composition.undetailed_count);
  json.member("undetailed_bytes", composition.undetailed_bytes);
  json.member("scanned_count", composition.scanned_count);
  json.member("unsplit_count", composition.unsplit_count);
  json.member("estimated_count", composition.estimated_count);
  json.member("counted_again_bytes", composition.counted_again_bytes);
  json.end_object();
  write_composition_parts(json, composition);
  json.key("mappings");
  json.begin_array();
  for (const Part& part : composition.parts) {
    json.begin_object();
    json.member("category", model::category_token(part.category));
    json.member("name", part.name);
    write_bytes(json, part.bytes);
    json.member("mapping_count", part.mapping_count);
    json.end_object();
  }
  json.end_array();
  write_processes(json, composition);
}

void write_trends(base::JsonWriter& json,
                  const std::vector<analysis::Trend>& trends) {
  json.key("growing");
  json.begin_array();
  for (const analysis::Trend& trend : trends) {
    json.begin_object();
    if (trend.is_resident) {
      json.member("measure", "rss");
    } else {
      json.member("category", model::category_token(trend.category));
    }
    if (!trend.name.empty()) json.member("name", trend.name);
    if (!trend.process.empty()) json.member("process", trend.process);
    json.member("bytes_per_second", trend.bytes_per_second);
    json.member("r_squared", trend.r_squared);
    json.member("rising_share", trend.rising_share);
    json.member("growth_bytes", trend.growth_bytes);
    json.member("first_bytes", trend.first_bytes);
    json.member("last_bytes", trend.last_bytes);
    json.member("span_ns", trend.span_ns);
    json.member("sample_count", trend.sample_count);
    json.member("ends_at_peak", trend.ends_at_peak);
    json.end_object();
  }
  json.end_array();
}

void write_tick(base::JsonWriter& json, const model::RecordedTick& tick) {
  json.begin_object();
  json.member("tick", tick.id);
  json.member("time", base::rfc3339(tick.realtime_ns));
  json.member("monotonic_ns", tick.monotonic_ns);
  json.member("read_ns", tick.read_ns);
  json.member("is_new_high", tick.is_new_high);
  json.member("oldest_detail_ticks", tick.oldest_detail_ticks);
  json.member("undetailed_count", tick.undetailed_count);
  json.end_object();
}

}  // namespace tidemark::view
