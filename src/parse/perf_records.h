// Parses records of a perf ring. Only of events as source/perf_feeds.cc opens
// them: IDENTIFIER, TID, TIME, then CALLCHAIN for some, then RAW; other records
// have the first three behind them. Lengths inside a record are not believed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::parse {

enum class PerfRecordKind : uint8_t {
  Sample,
  Fork,  // also of a new thread: then thread_id differs from pid
  Exit,  // of one thread
  Comm,
  Lost,
  Other,
};

struct PerfRecord {
  PerfRecordKind kind = PerfRecordKind::Other;
  uint64_t time_ns = 0;
  uint64_t event_id = 0;  // Sample
  int32_t pid = 0;        // the process (thread group); -1: it is ending
  int32_t thread_id = 0;
  int32_t parent_pid = 0;       // Fork: the process that forked
  uint64_t lost_count = 0;      // Lost
  bool is_exec = false;         // Comm: by exec
  std::string_view name;        // Comm
  std::string_view call_chain;  // Sample: addresses, 8 bytes each
  std::string_view raw;         // Sample: the event's own fields
};

// The bytes of one record, its header among them. `has_call_chain` tells by the
// event's id. Empty when the record is not as long as it must be.
template <typename HasCallChain>
std::optional<PerfRecord> parse_perf_record(std::string_view bytes,
                                            HasCallChain has_call_chain);

// The two halves of it.
std::optional<PerfRecord> parse_perf_head(std::string_view bytes);
bool parse_perf_body(std::string_view bytes, bool has_call_chain,
                     PerfRecord& record);

template <typename HasCallChain>
std::optional<PerfRecord> parse_perf_record(std::string_view bytes,
                                            HasCallChain has_call_chain) {
  std::optional<PerfRecord> record = parse_perf_head(bytes);
  if (!record || record->kind != PerfRecordKind::Sample) return record;
  if (!parse_perf_body(bytes, has_call_chain(record->event_id), *record)) {
    return std::nullopt;
  }
  return record;
}

}  // namespace tidemark::parse
