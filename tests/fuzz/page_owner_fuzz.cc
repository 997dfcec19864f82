// Dumps of page_owner and the files of page_owner_stacks. However a dump is cut
// into pieces, the same records come out, the same faults are counted, and no
// more is kept back than a record may be long.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "parse/page_owner.h"

namespace {

using tidemark::model::PageOwnerRecord;
using tidemark::parse::PageOwnerFaults;
using tidemark::parse::PageOwnerParser;

// What of a record outlives its buffer.
struct Kept {
  uint64_t pages = 0;
  uint64_t pfn = 0;
  std::string texts;
  bool operator==(const Kept&) const = default;
};

struct Outcome {
  std::vector<Kept> records;
  PageOwnerFaults faults;
  bool operator==(const Outcome&) const = default;
};

void check(bool is_true) {
  if (!is_true) std::abort();
}

Kept keep(const PageOwnerRecord& record) {
  Kept kept{record.pages(), record.pfn, {}};
  check(record.comm.size() <= 15);
  for (std::string_view text :
       {record.gfp_names, record.comm, record.migrate_type, record.block_type,
        record.page_flags, record.stack, record.migrate_reason, record.memcg}) {
    kept.texts += text;
    kept.texts += '\0';
  }
  check(record.stack.empty() || record.stack.starts_with(' '));
  check(record.stack.empty() || record.stack.ends_with('\n'));
  std::string_view stack = record.stack;
  while (tidemark::parse::take_stack_frame(stack)) {
  }
  (void)page_allocator_of(record, tidemark::model::stack_traits(record.stack));
  return kept;
}

Outcome read_in_pieces(std::string_view text, size_t step) {
  Outcome outcome;
  PageOwnerParser parser;
  std::string kept;
  while (true) {
    const std::string_view piece = text.substr(0, step);
    text.remove_prefix(piece.size());
    kept += piece;
    const size_t taken =
        parser.parse(kept, piece.empty(), [&](const PageOwnerRecord& record) {
          outcome.records.push_back(keep(record));
        });
    check(taken <= kept.size());
    kept.erase(0, taken);
    check(kept.size() <= PageOwnerParser::kLongestRecordBytes + 256);
    if (piece.empty()) break;
  }
  check(kept.empty());
  outcome.faults = parser.faults();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t step = size_t{data[0]} * 5 + 1;
  const std::string text(data + 1, data + size);
  const Outcome whole = read_in_pieces(text, text.size() + 1);
  check(read_in_pieces(text, step) == whole);
  (void)tidemark::parse::parse_page_owner_stacks(
      text, [](const tidemark::model::PageOwnerStack& stack) {
        check(stack.handle || stack.pages || stack.blocks);
      });
  return 0;
}
