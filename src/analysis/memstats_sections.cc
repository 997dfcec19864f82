#include "analysis/memstats_sections.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

#include "model/smaps_fields.h"
#include "model/vm.h"

namespace tidemark::analysis {
namespace {

using model::GuestField;
using model::MemstatsProcess;
using model::MemstatsRecord;
using model::SmapsField;

constexpr std::array<std::string_view, 5> kSectionNames = {
    "guest disk caches", "guest shared memory", "guest unevictable",
    "guest used", "host"};
constexpr const char* kLimitName = "(total memory) - (balloon size)";

// More than any machine has is nonsense, and must not make a sum wrap.
int64_t bounded_bytes(uint64_t bytes) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 52;
  return static_cast<int64_t>(std::min(bytes, kMostBytes));
}

int64_t told(const model::BalloonStats& balloon, GuestField field) {
  const auto at = std::ranges::find(model::kBalloonFields, field);
  const auto index = static_cast<size_t>(at - model::kBalloonFields.begin());
  return bounded_bytes(balloon.values[index].value_or(0));
}

int64_t sum_of(const MemstatsRecord& record, std::string_view name,
               SmapsField field) {
  int64_t sum = 0;
  for (const MemstatsProcess& process : record.processes) {
    if (process.name == name)
      sum += bounded_bytes(process.totals.get_or_zero(field));
  }
  return sum;
}

std::array<int64_t, kSectionNames.size()> sections_of(
    const MemstatsRecord& record, std::string_view monitor) {
  const int64_t rss = sum_of(record, monitor, SmapsField::Rss);
  if (!record.balloon) return {0, 0, 0, 0, rss};
  const model::BalloonStats& balloon = *record.balloon;
  const int64_t caches = told(balloon, GuestField::Caches);
  const int64_t shared = told(balloon, GuestField::Shared);
  const int64_t unevictable = told(balloon, GuestField::Unevictable);
  const int64_t used =
      told(balloon, GuestField::Total) - told(balloon, GuestField::Free) -
      bounded_bytes(balloon.balloon_bytes) - caches - shared - unevictable;
  return {caches, shared, unevictable, used,
          rss - used - caches - shared - unevictable};
}

MemstatsSection& section_named(std::vector<MemstatsSection>& sections,
                               const std::string& name) {
  const auto found = std::ranges::find(sections, name, &MemstatsSection::name);
  if (found != sections.end()) return *found;
  sections.push_back({name, true, {}});
  return sections.back();
}

void add_others(const MemstatsRecord& record, std::string_view monitor,
                std::vector<MemstatsSection>& others) {
  for (const MemstatsProcess& process : record.processes) {
    if (process.name == monitor) continue;
    MemstatsSection& section = section_named(others, process.name);
    const bool is_there =
        !section.points.empty() &&
        section.points.back().seconds == record.elapsed_seconds;
    if (is_there) continue;
    section.points.push_back(
        {record.elapsed_seconds,
         sum_of(record, process.name, SmapsField::PrivateDirty)});
  }
}

// Where a guest is silent the original has the total of the last record, and
// ends where that one has none; so here it is the last that there is.
MemstatsSection limit_of(std::span<const MemstatsRecord> records) {
  std::optional<int64_t> last_total;
  for (const MemstatsRecord& record : records)
    if (record.balloon) last_total = told(*record.balloon, GuestField::Total);
  MemstatsSection limit{kLimitName, false, {}};
  if (!last_total) return limit;
  for (const MemstatsRecord& record : records) {
    const int64_t bytes = record.balloon
                              ? told(*record.balloon, GuestField::Total) -
                                    bounded_bytes(record.balloon->balloon_bytes)
                              : *last_total;
    limit.points.push_back({record.elapsed_seconds, bytes});
  }
  return limit;
}

}  // namespace

std::vector<MemstatsSection> memstats_sections(
    std::span<const MemstatsRecord> records) {
  std::vector<MemstatsSection> sections;
  const auto first = std::ranges::find_if(
      records,
      [](const MemstatsRecord& record) { return !record.processes.empty(); });
  if (first == records.end()) return sections;
  // The collector lists the monitor first; of crosvm it is "crosvm".
  const std::string monitor = first->processes.front().name;
  for (std::string_view name : kSectionNames)
    sections.push_back({monitor + " (" + std::string(name) + ")", true, {}});
  std::vector<MemstatsSection> others;
  for (const MemstatsRecord& record : records) {
    if (record.processes.empty()) continue;
    const auto values = sections_of(record, monitor);
    for (size_t i = 0; i < values.size(); ++i)
      sections[i].points.push_back({record.elapsed_seconds, values[i]});
    add_others(record, monitor, others);
  }
  std::ranges::move(others, std::back_inserter(sections));
  sections.push_back(limit_of(records));
  return sections;
}

}  // namespace tidemark::analysis
