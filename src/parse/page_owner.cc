#include "parse/page_owner.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace tidemark::parse {
namespace {

using model::PageOwnerRecord;
using model::PageOwnerStack;

// Longer than a comm, so no task can write it into the middle of a record.
constexpr std::string_view kHead = "Page allocated via order ";
constexpr size_t kLongestComm = 15;
// More than a comm and the times behind it, which end the head.
constexpr size_t kLongestTail = 128;

// Takes words and numbers off the front; the front stays where one is missing.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  template <typename Number>
  bool take_number(Number& number, int radix = 10) {
    const char* begin = rest_.data();
    const std::from_chars_result result =
        std::from_chars(begin, begin + rest_.size(), number, radix);
    if (result.ec != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(result.ptr - begin));
    return true;
  }

  // What stands before `stop` in this line; the stop goes too.
  std::optional<std::string_view> take_until(char stop) {
    const size_t end = rest_.find(stop);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view taken = rest_.substr(0, end);
    if (taken.find('\n') != std::string_view::npos) return std::nullopt;
    rest_.remove_prefix(end + 1);
    return taken;
  }

  void skip(size_t count) { rest_.remove_prefix(count); }

 private:
  std::string_view rest_;
};

// ", ts 19612633823 ns, free_ts 0 ns". Only a known label is taken; a label
// without its number makes the head unreadable.
bool take_times(Cursor& cursor, PageOwnerRecord& record) {
  const auto take = [&](std::string_view label,
                        std::optional<uint64_t>& target) {
    if (!cursor.take(label)) return true;
    uint64_t ns = 0;
    if (!cursor.take_number(ns) || !cursor.take(" ns")) return false;
    target = ns;
    return true;
  };
  return take(", ts ", record.taken_ns) && take(", free_ts ", record.freed_ns);
}

// A comm holds whatever its task likes, brackets, times and newlines too, but
// not more than 15 bytes: the last bracket within reach that has times behind
// it is the one the kernel wrote.
bool take_comm(Cursor& cursor, PageOwnerRecord& record) {
  const std::string_view text = cursor.rest();
  if (text.empty()) return false;
  size_t end = std::min(kLongestComm, text.size() - 1) + 1;
  while (end-- > 0) {
    if (text[end] != ')') continue;
    Cursor behind(text.substr(end + 1));
    PageOwnerRecord times;
    if (!take_times(behind, times) || !times.taken_ns) continue;
    if (!behind.rest().starts_with('\n') && !behind.rest().starts_with(',')) {
      continue;
    }
    record.comm = text.substr(0, end);
    cursor.skip(end + 1);
    return true;
  }
  return false;
}

bool take_task(Cursor& cursor, PageOwnerRecord& record) {
  int32_t id = 0;
  if (!cursor.take(", pid ")) return true;
  if (!cursor.take_number(id)) return false;
  record.pid = id;
  if (!cursor.take(", tgid ")) return true;
  if (!cursor.take_number(id) || !cursor.take(" (")) return false;
  record.tgid = id;
  return take_comm(cursor, record);
}

// The first line, without which nothing else has a meaning. Returns its length
// with the newline, 0 when it cannot be read.
size_t parse_head(std::string_view text, PageOwnerRecord& record) {
  Cursor cursor(text.substr(kHead.size()));
  if (!cursor.take_number(record.order) ||
      record.order > model::kLargestPageOrder || !cursor.take(", mask 0x") ||
      !cursor.take_number(record.gfp_mask, 16)) {
    return 0;
  }
  if (cursor.take("(")) {
    const std::optional<std::string_view> names = cursor.take_until(')');
    if (!names) return 0;
    record.gfp_names = *names;
  }
  if (!take_task(cursor, record) || !take_times(cursor, record)) return 0;
  // What a later kernel may add begins as everything before it does.
  if (!cursor.rest().starts_with('\n') && !cursor.rest().starts_with(',')) {
    return 0;
  }
  const size_t end = cursor.rest().find('\n');
  if (end == std::string_view::npos) return 0;
  return text.size() - cursor.rest().size() + end + 1;
}

// "PFN 0x2ef0 type Unmovable Block 23 type Unmovable Flags 0x0(section=0)".
// Without the number nothing was read; the rest is there or not.
bool parse_pfn(std::string_view line, PageOwnerRecord& record) {
  Cursor cursor(line);
  if (!cursor.take("PFN ")) return false;
  const int radix = cursor.take("0x") ? 16 : 10;
  if (!cursor.take_number(record.pfn, radix)) return false;
  if (!cursor.rest().empty() && !cursor.rest().starts_with(' ')) return false;
  const auto take_type = [&](std::string_view& type) {
    if (!cursor.take(" type ")) return;
    type = cursor.rest().substr(0, cursor.rest().find(' '));
    cursor.skip(type.size());
  };
  uint64_t block = 0;
  take_type(record.migrate_type);
  if (cursor.take(" Block ")) (void)cursor.take_number(block);
  take_type(record.block_type);
  uint64_t flags = 0;
  if (cursor.take(" Flags 0x") && cursor.take_number(flags, 16) &&
      cursor.take("(")) {
    record.page_flags = cursor.rest().substr(0, cursor.rest().rfind(')'));
  }
  return true;
}

// "Charged (via objcg) to offline memcg NAME".
bool take_charge(std::string_view line, PageOwnerRecord& record) {
  Cursor cursor(line);
  if (!cursor.take("Charged ")) return false;
  const bool is_by_object = cursor.take("(via objcg) ");
  if (!cursor.take("to ")) return false;
  const bool is_offline = cursor.take("offline ");
  if (!cursor.take("memcg ")) return false;
  record.is_charged = true;
  record.is_charged_by_object = is_by_object;
  record.is_memcg_offline = is_offline;
  record.memcg = cursor.rest();
  return true;
}

// A line behind the frames. False: not one that is known.
bool take_remark(std::string_view line, PageOwnerRecord& record) {
  constexpr std::string_view kMigrated =
      "Page has been migrated, last migrate reason: ";
  if (line.starts_with(kMigrated)) {
    record.is_migrated = true;
    record.migrate_reason = line.substr(kMigrated.size());
    return true;
  }
  if (line == "Slab cache page") return record.is_slab = true;
  return take_charge(line, record);
}

// The lines of one record behind its head.
class Body {
 public:
  explicit Body(PageOwnerRecord& record) : record_(record) {}

  void take(std::string_view line) {
    if (!has_begun_) {
      has_begun_ = true;
      is_readable_ = parse_pfn(line, record_);
    } else if (line.starts_with(' ')) {
      if (record_.stack.empty()) record_.stack = line;
      // With what stands between two frames, and the newline.
      const char* begin = record_.stack.data();
      const char* end = line.data() + line.size() + 1;
      record_.stack = {begin, static_cast<size_t>(end - begin)};
    } else if (!take_remark(line, record_)) {
      ++stray_lines_;
    }
  }

  bool is_readable() const { return is_readable_; }
  uint64_t stray_lines() const { return stray_lines_; }

 private:
  PageOwnerRecord& record_;
  bool has_begun_ = false;
  bool is_readable_ = false;
  uint64_t stray_lines_ = 0;
};

}  // namespace

// The rest of a text that was given up goes line by line.
bool PageOwnerParser::take_stray_line(std::string_view& rest, bool at_end) {
  const size_t end = rest.find('\n');
  const bool is_whole = end != std::string_view::npos;
  if (!is_whole && !at_end && rest.size() <= kLongestRecordBytes) return false;
  const bool is_blank = end == 0 && !is_within_line_;
  if (is_blank) is_within_broken_ = false;
  if (!is_blank && !is_within_line_ && !is_within_broken_) {
    ++faults_.stray_lines;
  }
  is_within_line_ = !is_whole;
  rest.remove_prefix(is_whole ? end + 1 : rest.size());
  return true;
}

bool PageOwnerParser::give_up_record(std::string_view& rest, bool at_end) {
  ++faults_.broken_records;
  is_within_broken_ = true;
  // Its first line is there, or so long that it goes in pieces.
  return take_stray_line(rest, at_end);
}

bool PageOwnerParser::take_record(std::string_view& rest, bool at_end,
                                  const PageOwnerVisitor& visit) {
  const size_t line_end = rest.find('\n');
  const bool has_line = line_end != std::string_view::npos;
  if (!has_line && (at_end || rest.size() > kLongestRecordBytes)) {
    return give_up_record(rest, at_end);
  }
  const std::string_view head =
      rest.substr(0, has_line ? line_end + 1 + kLongestTail : 0);
  // The comm may hold that newline, and then the head goes on.
  if (!has_line || (!at_end && head.size() != line_end + 1 + kLongestTail)) {
    return false;
  }
  record_ = {};
  is_within_broken_ = false;
  size_t at = parse_head(head, record_);
  if (at == 0) return give_up_record(rest, at_end);
  Body body(record_);
  while (true) {
    if (at > kLongestRecordBytes) return give_up_record(rest, at_end);
    const std::string_view left = rest.substr(at);
    if (left.empty() && !at_end) return false;
    if (left.empty() || left.starts_with(kHead)) break;
    const size_t end = left.find('\n');
    if (end == std::string_view::npos) {
      const bool is_too_long = rest.size() > kLongestRecordBytes + kHead.size();
      if (!at_end && !is_too_long) return false;
      return give_up_record(rest, at_end);
    }
    at += end + 1;
    if (end == 0) break;
    body.take(left.substr(0, end));
  }
  rest.remove_prefix(at);
  if (!body.is_readable()) {
    ++faults_.broken_records;
    return true;
  }
  faults_.stray_lines += body.stray_lines();
  visit(record_);
  return true;
}

size_t PageOwnerParser::parse(std::string_view text, bool at_end,
                              const PageOwnerVisitor& visit) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const bool is_record = !is_within_line_ && rest.starts_with(kHead);
    if (!is_record && !at_end && !is_within_line_ && kHead.starts_with(rest)) {
      break;
    }
    const bool is_taken = is_record ? take_record(rest, at_end, visit)
                                    : take_stray_line(rest, at_end);
    if (!is_taken) break;
  }
  return text.size() - rest.size();
}

StackFrame parse_stack_frame(std::string_view line) {
  StackFrame frame;
  line = base::trim(line);
  // Before 4.12 an address stood before each: "[<ffffffff8115e3ed>] ".
  if (line.starts_with("[<")) {
    const size_t end = line.find(">] ");
    if (end != std::string_view::npos) line.remove_prefix(end + 3);
  }
  // " [module]", on some kernels " [module build-id]".
  const size_t bracket = line.rfind(" [");
  if (bracket != std::string_view::npos && line.ends_with(']')) {
    std::string_view inside =
        line.substr(bracket + 2, line.size() - bracket - 3);
    frame.module = base::take_word(inside);
    line = line.substr(0, bracket);
  }
  if (line.starts_with("0x")) {
    frame.address = base::parse_hex(line.substr(2)).value_or(0);
    if (frame.address != 0) return frame;
  }
  const size_t plus = line.rfind("+0x");
  frame.symbol = line.substr(0, plus);
  if (plus != std::string_view::npos) {
    std::string_view offset = line.substr(plus + 3);
    frame.offset = base::parse_hex(base::take_until(offset, '/')).value_or(0);
  }
  return frame;
}

std::optional<StackFrame> take_stack_frame(std::string_view& stack) {
  while (!stack.empty()) {
    const std::string_view line = base::take_line(stack);
    if (line.starts_with(' ')) return parse_stack_frame(line);
  }
  return std::nullopt;
}

namespace {

// Reads the files of page_owner_stacks block by block.
class StacksReader {
 public:
  explicit StacksReader(const std::function<void(const PageOwnerStack&)>& visit)
      : visit_(visit) {}

  void take(std::string_view line) {
    if (line.empty()) return finish();
    if (line.starts_with(' ')) return take_frame(line);
    if (!take_number(line)) ++faults_.stray_lines;
  }

  void cut() { is_broken_ = is_open_ = true; }

  // A block without any number tells nothing, nor does one whose number is not
  // known.
  void finish() {
    if (is_open_) {
      const bool tells = block_.handle || block_.pages || block_.blocks;
      if (tells && !is_broken_) {
        visit_(block_);
      } else {
        ++faults_.broken_records;
      }
    }
    block_ = {};
    is_open_ = is_broken_ = false;
  }

  const PageOwnerFaults& faults() const { return faults_; }

 private:
  void take_frame(std::string_view line) {
    // The numbers stand behind the frames: a frame behind a number begins
    // another block whose blank line was lost.
    if (block_.handle || block_.pages || block_.blocks) finish();
    if (block_.stack.empty()) block_.stack = line;
    const char* begin = block_.stack.data();
    const char* end = line.data() + line.size() + 1;
    block_.stack = {begin, static_cast<size_t>(end - begin)};
    is_open_ = true;
  }

  bool take_number(std::string_view line) {
    std::string_view number = line;
    const std::string_view label = base::take_until(number, ':');
    std::optional<uint64_t>* target = label == "nr_base_pages" ? &block_.pages
                                      : label == "handle"      ? &block_.handle
                                      : label == "stack_count" ? &block_.blocks
                                                               : nullptr;
    if (target == nullptr) return false;
    *target = base::parse_u64(base::trim(number));
    if (!*target) is_broken_ = true;
    is_open_ = true;
    return true;
  }

  const std::function<void(const PageOwnerStack&)>& visit_;
  PageOwnerStack block_;
  bool is_open_ = false;
  bool is_broken_ = false;
  PageOwnerFaults faults_;
};

}  // namespace

PageOwnerFaults parse_page_owner_stacks(
    std::string_view text,
    const std::function<void(const PageOwnerStack&)>& visit) {
  StacksReader reader(visit);
  while (!text.empty()) {
    // A last line without its newline may be half a number.
    if (text.find('\n') == std::string_view::npos) {
      reader.cut();
      break;
    }
    reader.take(base::take_line(text));
  }
  reader.finish();
  return reader.faults();
}

}  // namespace tidemark::parse
