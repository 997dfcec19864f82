#include "parse/ftrace_page.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "parse/bytes.h"
#include "parse/malformed.h"

namespace tidemark::parse {
namespace {

constexpr uint32_t kPadding = 29;
constexpr uint32_t kTimeExtend = 30;
constexpr uint32_t kTimeStamp = 31;
constexpr uint32_t kTimeBits = 27;
constexpr size_t kEntryUnit = 4;
// Above the length stand flags: that events before this page are missing.
constexpr uint64_t kLengthBits = (uint64_t{1} << 30) - 1;
// An absolute time has 59 bits.
constexpr uint64_t kTimeStampTop = uint64_t{0x1f} << 59;

}  // namespace

base::Result<FtracePageLayout> parse_ftrace_page_layout(std::string_view text) {
  base::Result<std::vector<TraceField>> fields = parse_trace_fields(text);
  if (!fields) return fields.error();
  FtracePageLayout layout;
  bool has_data = false;
  for (const TraceField& field : *fields) {
    if (field.name == "timestamp") layout.time = field;
    if (field.name == "commit") layout.commit = field;
    if (field.name != "data") continue;
    layout.data_offset = field.offset;
    has_data = true;
  }
  if (layout.time.name.empty() || layout.commit.name.empty() || !has_data) {
    return malformed("header_page", text);
  }
  return layout;
}

FtracePage::FtracePage(std::string_view page, const FtracePageLayout& layout) {
  const std::optional<uint64_t> time = read_field(page, layout.time);
  const std::optional<uint64_t> commit = read_field(page, layout.commit);
  if (!time || !commit || layout.data_offset > page.size()) return;
  time_ns_ = *time;
  rest_ = page.substr(layout.data_offset, *commit & kLengthBits);
}

// A word with type and time, then what the type says.
struct FtracePage::Entry {
  uint32_t type = 0;
  uint64_t time = 0;  // since the one before, or since boot
  size_t data_offset = kEntryUnit;
  size_t size = kEntryUnit;  // of all of it
};

bool FtracePage::read_entry(Entry& entry) const {
  const std::optional<uint32_t> head = read_at<uint32_t>(rest_, 0);
  if (!head) return false;
  // Bit fields begin at the other end on machines of the other byte order.
  if constexpr (std::endian::native == std::endian::little) {
    entry.type = *head & 0x1f;
    entry.time = *head >> 5;
  } else {
    entry.type = *head >> kTimeBits;
    entry.time = *head & ((1U << kTimeBits) - 1);
  }
  if (entry.type > 0 && entry.type < kPadding) {
    entry.size = kEntryUnit + entry.type * kEntryUnit;
    return true;
  }
  if (entry.type == kPadding && entry.time == 0) return false;  // no more
  const std::optional<uint32_t> word = read_at<uint32_t>(rest_, kEntryUnit);
  if (!word) return false;
  entry.data_offset = 2 * kEntryUnit;
  if (entry.type == kTimeExtend || entry.type == kTimeStamp) {
    entry.time += uint64_t{*word} << kTimeBits;
    entry.size = 2 * kEntryUnit;
  } else {
    entry.size = kEntryUnit + size_t{*word};
  }
  return entry.size >= entry.data_offset;
}

bool FtracePage::next(FtraceRecord& record) {
  Entry entry;
  while (read_entry(entry) && entry.size <= rest_.size()) {
    if (entry.type == kTimeStamp) {
      time_ns_ = (time_ns_ & kTimeStampTop) | entry.time;
    } else {
      time_ns_ += entry.time;
    }
    const std::string_view data =
        rest_.substr(entry.data_offset, entry.size - entry.data_offset);
    rest_.remove_prefix(entry.size);
    if (entry.type < kPadding) {
      record = {time_ns_, data};
      return true;
    }
    entry = {};
  }
  rest_ = {};
  return false;
}

}  // namespace tidemark::parse
