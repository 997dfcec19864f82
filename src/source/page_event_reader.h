// Takes what is told of pages out of the records of the kernel's events, which
// are the same whether they come through perf or a trace buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "parse/trace_format.h"
#include "source/event_account.h"

namespace tidemark::source {

class PageEventReader {
 public:
  static constexpr const char* kBlindToMoves =
      "pages that are moved lose their owners: this kernel does not tell where "
      "they go";

  PageEventReader() = default;
  // The formats of kmem's events must be there; those of migrate need not.
  static base::Result<PageEventReader> make(const base::Directory& tracefs);

  bool sees_moves() const { return unmap_.id != 0; }
  // Of Alloc, Free, Unmap and Remap; 0 when the kernel has none.
  uint32_t event_id(PageEvent::Kind kind) const;

  // An event without its time and stack, with its thread for a pid. Empty when
  // it is of no use: it failed, or `account` does not ask for it.
  std::optional<PageEvent> read(PageEvent::Kind kind, std::string_view record,
                                const EventAccount& account) const;

 private:
  struct Layout {
    uint32_t id = 0;
    parse::TraceField frame;  // Unmap, Remap: an entry of a page table
    parse::TraceField order;
    parse::TraceField gfp;
    parse::TraceField address;
    parse::TraceField thread;
  };
  void find_moves(const base::Directory& tracefs);
  std::optional<PageEvent> read_block(PageEvent::Kind kind,
                                      std::string_view record,
                                      const EventAccount& account) const;
  std::optional<PageEvent> read_move(PageEvent::Kind kind,
                                     std::string_view record) const;

  Layout alloc_;
  Layout free_;
  Layout unmap_;
  Layout remap_;
};

// The frame that a page had, from the note that stands for it while it moves;
// only x86's are known. Empty: it cannot be told.
std::optional<uint64_t> frame_in_migration_note(uint64_t note);
// The one it has then.
uint64_t frame_in_mapping(uint64_t mapping);

}  // namespace tidemark::source
