#include "parse/object_files.h"

#include "base/text.h"
#include "parse/malformed.h"

namespace tidemark::parse {
namespace {

using base::parse_u64;
using base::take_word;

// "[123]", all of it.
std::optional<uint64_t> bracketed_number(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  return parse_u64(text.substr(1, text.size() - 2));
}

struct FdInfoLine {
  std::string_view label;
  std::optional<uint64_t> ObjectFdInfo::*target;
};
constexpr FdInfoLine kFdInfoLines[] = {
    {"memlock", &ObjectFdInfo::memlock_bytes},
    {"map_id", &ObjectFdInfo::map_id},
    {"prog_id", &ObjectFdInfo::program_id},
    {"map_type", &ObjectFdInfo::map_type},
    {"key_size", &ObjectFdInfo::key_bytes},
    {"value_size", &ObjectFdInfo::value_bytes},
    {"max_entries", &ObjectFdInfo::entry_count},
    {"size", &ObjectFdInfo::size_bytes},
    {"SqMask", &ObjectFdInfo::submission_mask},
    {"CqMask", &ObjectFdInfo::completion_mask},
};

// Decimal, or hexadecimal behind 0x as io_uring writes it.
std::optional<uint64_t> parse_number(std::string_view word) {
  if (word.starts_with("0x")) return base::parse_hex(word.substr(2));
  return parse_u64(word);
}

enum class Column { Other, Key, Id, Size, Attached, Creator, Rss, Swap };

Column column_of(std::string_view head) {
  if (head == "key") return Column::Key;
  if (head == "shmid") return Column::Id;
  if (head == "size") return Column::Size;
  if (head == "nattch") return Column::Attached;
  if (head == "cpid") return Column::Creator;
  if (head == "rss") return Column::Rss;
  return head == "swap" ? Column::Swap : Column::Other;
}

// False when the word is no such number. Keys print as signed.
bool take_column(Column column, std::string_view word, SysvSegment& segment) {
  if (column == Column::Other) return true;
  const std::optional<int64_t> number = base::parse_i64(word);
  if (!number) return false;
  if (column == Column::Key) {
    if (*number < INT32_MIN || *number > UINT32_MAX) return false;
    segment.key = static_cast<uint32_t>(*number);
    return true;
  }
  if (*number < 0) return false;
  const auto value = static_cast<uint64_t>(*number);
  switch (column) {
    case Column::Id:
      segment.segment_id = value;
      return true;
    case Column::Size:
      segment.size_bytes = value;
      return true;
    case Column::Attached:
      segment.attach_count = value;
      return true;
    case Column::Creator:
      // 0 when it was made in another pid namespace.
      if (value > INT32_MAX) return false;
      segment.creator_pid = static_cast<int32_t>(value);
      return true;
    case Column::Rss:
      segment.rss_bytes = value;
      return true;
    default:
      segment.swap_bytes = value;
      return true;
  }
}

}  // namespace

DescriptorLink parse_descriptor_link(std::string_view target) {
  using Type = DescriptorLink::Type;
  if (target.starts_with('/')) return {Type::Path, 0, target};
  std::string_view rest = target;
  const std::string_view type = base::take_until(rest, ':');
  if (type == "anon_inode") {
    if (rest.starts_with('[') && rest.ends_with(']')) {
      rest = rest.substr(1, rest.size() - 2);
    }
    return {Type::AnonInode, 0, rest.substr(0, rest.find_first_of(":["))};
  }
  const std::optional<uint64_t> number = bracketed_number(rest);
  if (!number) return {Type::Other, 0, target};
  if (type == "socket") return {Type::Socket, *number, target};
  if (type == "pipe") return {Type::Pipe, *number, target};
  return {Type::Namespace, *number, type};
}

base::Result<ObjectFdInfo> parse_object_fdinfo(std::string_view text) {
  ObjectFdInfo info;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view value = line;
    const std::string_view label = base::take_until(value, ':');
    for (const FdInfoLine& known : kFdInfoLines) {
      if (known.label != label) continue;
      std::optional<uint64_t> number = parse_number(base::trim(value));
      if (!number) return malformed("fdinfo", line);
      info.*known.target = number;
    }
  }
  return info;
}

base::Result<std::vector<SysvSegment>> parse_sysvipc_shm(
    std::string_view text) {
  std::string_view head = base::take_line(text);
  std::vector<Column> columns;
  for (std::string_view word = take_word(head); !word.empty();
       word = take_word(head)) {
    columns.push_back(column_of(word));
  }
  std::vector<SysvSegment> segments;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view rest = line;
    SysvSegment segment;
    bool has_id = false;
    for (const Column column : columns) {
      if (!take_column(column, take_word(rest), segment)) {
        return malformed("sysvipc/shm", line);
      }
      has_id = has_id || column == Column::Id;
    }
    if (!has_id) return malformed("sysvipc/shm", line);
    segments.push_back(segment);
  }
  return segments;
}

}  // namespace tidemark::parse
