#include "source/page_event_reader.h"

#include <string>

#include "source/tracefs.h"

namespace tidemark::source {
namespace {

using Kind = PageEvent::Kind;

base::Status find_field(const parse::TraceFormat& format, const char* name,
                        parse::TraceField& field) {
  const parse::TraceField* found = format.find(name);
  if (!found) {
    return base::fail(
        base::ErrorKind::Unsupported,
        "this kernel's event " + format.name + " does not tell " + name);
  }
  field = *found;
  return base::Ok{};
}

}  // namespace

base::Result<PageEventReader> PageEventReader::make(
    const base::Directory& tracefs) {
  base::Result<parse::TraceFormat> alloc =
      read_trace_format(tracefs, "kmem/mm_page_alloc");
  if (!alloc) return alloc.error();
  base::Result<parse::TraceFormat> free =
      read_trace_format(tracefs, "kmem/mm_page_free");
  if (!free) return free.error();
  PageEventReader reader;
  base::Status status = find_field(*alloc, "pfn", reader.alloc_.frame);
  if (status) status = find_field(*alloc, "order", reader.alloc_.order);
  if (status) status = find_field(*alloc, "gfp_flags", reader.alloc_.gfp);
  if (status) status = find_field(*alloc, "common_pid", reader.alloc_.thread);
  if (status) status = find_field(*free, "pfn", reader.free_.frame);
  if (status) status = find_field(*free, "order", reader.free_.order);
  if (!status) return status.error();
  reader.alloc_.id = alloc->id;
  reader.free_.id = free->id;
  reader.find_moves(tracefs);
  return reader;
}

void PageEventReader::find_moves(const base::Directory& tracefs) {
  if (!frame_in_migration_note(0)) return;
  Layout found[2];
  const char* const names[] = {"migrate/set_migration_pte",
                               "migrate/remove_migration_pte"};
  for (int i = 0; i < 2; ++i) {
    base::Result<parse::TraceFormat> format =
        read_trace_format(tracefs, names[i]);
    if (!format || !find_field(*format, "addr", found[i].address) ||
        !find_field(*format, "pte", found[i].frame) ||
        !find_field(*format, "common_pid", found[i].thread)) {
      return;
    }
    found[i].id = format->id;
  }
  unmap_ = found[0];
  remap_ = found[1];
}

uint32_t PageEventReader::event_id(Kind kind) const {
  switch (kind) {
    case Kind::Alloc:
      return alloc_.id;
    case Kind::Free:
      return free_.id;
    case Kind::Unmap:
      return unmap_.id;
    case Kind::Remap:
      return remap_.id;
    default:
      return 0;
  }
}

std::optional<PageEvent> PageEventReader::read(
    Kind kind, std::string_view record, const EventAccount& account) const {
  if (kind == Kind::Alloc || kind == Kind::Free) {
    return read_block(kind, record, account);
  }
  return read_move(kind, record);
}

std::optional<PageEvent> PageEventReader::read_block(
    Kind kind, std::string_view record, const EventAccount& account) const {
  const bool is_alloc = kind == Kind::Alloc;
  const Layout& layout = is_alloc ? alloc_ : free_;
  const std::optional<uint64_t> frame = parse::read_field(record, layout.frame);
  const std::optional<uint64_t> order = parse::read_field(record, layout.order);
  constexpr uint64_t kFailed = ~uint64_t{0};
  constexpr uint64_t kAbsurdOrder = 63;
  if (!frame || *frame == kFailed || !order || *order > kAbsurdOrder) {
    return std::nullopt;
  }
  PageEvent event;
  event.kind = kind;
  event.frame = *frame;
  event.order = static_cast<uint8_t>(*order);
  if (!account.is_followed({event.frame, event.order})) return std::nullopt;
  if (!is_alloc) return event;
  const uint64_t gfp = parse::read_field(record, layout.gfp).value_or(0);
  if (!account.is_asked_for(event.order, gfp)) return std::nullopt;
  event.pid = static_cast<int32_t>(
      parse::read_field(record, layout.thread).value_or(0));
  event.other_pid = event.pid;
  return event;
}

std::optional<PageEvent> PageEventReader::read_move(
    Kind kind, std::string_view record) const {
  const Layout& layout = kind == Kind::Unmap ? unmap_ : remap_;
  const std::optional<uint64_t> address =
      parse::read_field(record, layout.address);
  const std::optional<uint64_t> entry = parse::read_field(record, layout.frame);
  const std::optional<uint64_t> thread =
      parse::read_field(record, layout.thread);
  if (!address || !entry || !thread) return std::nullopt;
  PageEvent event;
  event.kind = kind;
  event.address = *address;
  event.frame = kind == Kind::Unmap
                    ? frame_in_migration_note(*entry).value_or(0)
                    : frame_in_mapping(*entry);
  event.other_pid = static_cast<int32_t>(*thread);
  return event;
}

#ifdef __x86_64__
// The bits of the frame are inverted and moved. Above it stand two bits about
// the page; where depends on the depth of the page tables, and only frames of
// more than 34 bits (64 TiB) need the deeper ones.
std::optional<uint64_t> frame_in_migration_note(uint64_t note) {
  constexpr uint64_t kFrameBits = (uint64_t{1} << 34) - 1;
  return ((~note << 5) >> 14) & kFrameBits;
}
#else
std::optional<uint64_t> frame_in_migration_note(uint64_t) {
  return std::nullopt;
}
#endif

uint64_t frame_in_mapping(uint64_t mapping) {
  return (mapping & 0x000ffffffffff000) >> 12;
}

}  // namespace tidemark::source
