#include "parse/perf_records.h"

#include <linux/perf_event.h>

#include "parse/bytes.h"

namespace tidemark::parse {
namespace {

constexpr size_t kHeader = sizeof(perf_event_header);
constexpr size_t kWord = sizeof(uint64_t);
// Of a sample: its id, pid and thread, time.
constexpr size_t kPrelude = 3 * kWord;

int32_t pid_at(std::string_view bytes, uint64_t offset) {
  return read_at<int32_t>(bytes, offset).value_or(0);
}

uint64_t word_at(std::string_view bytes, uint64_t offset) {
  return read_at<uint64_t>(bytes, offset).value_or(0);
}

// Fork and exit: pid, parent, thread, parent's thread, time.
bool read_task(std::string_view bytes, PerfRecord& record) {
  if (bytes.size() < kHeader + 3 * kWord) return false;
  record.pid = pid_at(bytes, kHeader);
  record.parent_pid = pid_at(bytes, kHeader + 4);
  record.thread_id = pid_at(bytes, kHeader + 8);
  record.time_ns = word_at(bytes, kHeader + 16);
  return true;
}

// pid, thread, the name up to its zero; then what stands behind every record,
// the time second.
bool read_comm(std::string_view bytes, uint16_t flags, PerfRecord& record) {
  if (bytes.size() < kHeader + kWord + kPrelude) return false;
  record.pid = pid_at(bytes, kHeader);
  record.thread_id = pid_at(bytes, kHeader + 4);
  record.is_exec = (flags & PERF_RECORD_MISC_COMM_EXEC) != 0;
  record.time_ns = word_at(bytes, bytes.size() - 2 * kWord);
  const std::string_view name =
      bytes.substr(kHeader + kWord, bytes.size() - kHeader - kWord - kPrelude);
  record.name = name.substr(0, name.find('\0'));
  return true;
}

bool read_lost(std::string_view bytes, PerfRecord& record) {
  if (bytes.size() < kHeader + 2 * kWord) return false;
  record.lost_count = word_at(bytes, kHeader + kWord);
  return true;
}

bool read_prelude(std::string_view bytes, PerfRecord& record) {
  if (bytes.size() < kHeader + kPrelude) return false;
  record.event_id = word_at(bytes, kHeader);
  record.pid = pid_at(bytes, kHeader + kWord);
  record.thread_id = pid_at(bytes, kHeader + kWord + 4);
  record.time_ns = word_at(bytes, kHeader + 2 * kWord);
  return true;
}

bool read_known(std::string_view bytes, const perf_event_header& header,
                PerfRecord& record) {
  switch (header.type) {
    case PERF_RECORD_SAMPLE:
      record.kind = PerfRecordKind::Sample;
      return read_prelude(bytes, record);
    case PERF_RECORD_FORK:
      record.kind = PerfRecordKind::Fork;
      return read_task(bytes, record);
    case PERF_RECORD_EXIT:
      record.kind = PerfRecordKind::Exit;
      return read_task(bytes, record);
    case PERF_RECORD_COMM:
      record.kind = PerfRecordKind::Comm;
      return read_comm(bytes, header.misc, record);
    case PERF_RECORD_LOST:
      record.kind = PerfRecordKind::Lost;
      return read_lost(bytes, record);
    default:
      return true;
  }
}

}  // namespace

std::optional<PerfRecord> parse_perf_head(std::string_view bytes) {
  const std::optional<perf_event_header> header =
      read_at<perf_event_header>(bytes, 0);
  if (!header || header->size != bytes.size()) return std::nullopt;
  PerfRecord record;
  if (!read_known(bytes, *header, record)) return std::nullopt;
  return record;
}

bool parse_perf_body(std::string_view bytes, bool has_call_chain,
                     PerfRecord& record) {
  bytes.remove_prefix(kHeader + kPrelude);
  if (has_call_chain) {
    const std::optional<uint64_t> count = read_at<uint64_t>(bytes, 0);
    if (!count || *count > (bytes.size() - kWord) / kWord) return false;
    record.call_chain = bytes.substr(kWord, *count * kWord);
    bytes.remove_prefix(kWord + *count * kWord);
  }
  const std::optional<uint32_t> size = read_at<uint32_t>(bytes, 0);
  if (!size || *size > bytes.size() - sizeof *size) return false;
  record.raw = bytes.substr(sizeof *size, *size);
  return true;
}

}  // namespace tidemark::parse
