#include "view/tui/object_table.h"

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {
namespace {

using analysis::ObjectHolder;
using analysis::ObjectRow;
using model::ObjectKind;

// The kind of memory whose colour an object has.
model::Category object_category(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::File:
    case ObjectKind::DeletedFile:
      return model::Category::File;
    case ObjectKind::Tmpfs:
    case ObjectKind::Memfd:
    case ObjectKind::SharedAnon:
    case ObjectKind::Sysv:
      return model::Category::Shm;
    case ObjectKind::Hugetlb:
      return model::Category::Huge;
    case ObjectKind::PrivateCopy:
      return model::Category::Anon;
    default:
      return model::Category::Kern;
  }
}

}  // namespace

ObjectLayout object_layout(int columns) {
  ObjectLayout layout;
  int end = columns - 1;
  const auto take = [&](ObjectColumn column, int width) {
    layout.ends[static_cast<size_t>(column)] = end;
    end -= width;
  };
  if (columns >= 60) take(ObjectColumn::Descriptors, 6);
  if (columns >= 60) take(ObjectColumn::Processes, 6);
  if (columns >= 72) take(ObjectColumn::Mappings, 7);
  if (columns >= 80) take(ObjectColumn::Swap, 7);
  if (columns >= 60) take(ObjectColumn::Size, 7);
  take(ObjectColumn::Alloc, 7);
  layout.name_end = end;
  layout.has_kind = columns >= 80;
  if (layout.has_kind) layout.name = columns >= 132 ? 24 : 17;
  return layout;
}

bool is_hidden(const ObjectRow& row) {
  return row.process_count == 0 && row.map_count == 0 &&
         row.alloc_bytes.value.value_or(0) > 0;
}

uint64_t object_number(const ObjectRow& row, ObjectColumn column) {
  switch (column) {
    case ObjectColumn::Size:
      return row.size_bytes.value.value_or(0);
    case ObjectColumn::Swap:
      return row.swap_bytes.value.value_or(0);
    case ObjectColumn::Mappings:
      return row.map_count;
    case ObjectColumn::Processes:
      return row.process_count;
    case ObjectColumn::Descriptors:
      return row.fd_count;
    default:
      return row.alloc_bytes.value.value_or(0);
  }
}

std::string object_name(const ObjectRow& row) {
  return base::visible(row.name.empty() ? row.id : row.name);
}

void draw_object_head(Canvas& canvas, int at, ObjectColumn sort,
                      bool is_reversed) {
  const ObjectLayout layout = object_layout(canvas.columns());
  const auto ink = [&](ObjectColumn column) {
    return paint(sort == column ? Role::Strong : Role::Dim);
  };
  if (layout.has_kind) canvas.put(3, at, "KIND", paint(Role::Dim));
  canvas.put(layout.name, at, "NAME", ink(ObjectColumn::Name));
  for (size_t i = 0; i < kObjectNumbers; ++i) {
    if (layout.ends[i] == 0) continue;
    std::string head(kObjectColumns[i].head);
    if (sort == kObjectColumns[i].column && canvas.columns() >= 132)
      head += is_reversed ? "↑" : "↓";
    canvas.put_right(layout.ends[i], at, head, ink(kObjectColumns[i].column));
  }
}

void draw_object(Canvas& canvas, const Look& look, int at,
                 const ObjectRow& object) {
  const ObjectLayout layout = object_layout(canvas.columns());
  const model::Category category = object_category(object.kind);
  canvas.set(1, at, band_glyph(look, category), paint(role_of(category)));
  if (layout.has_kind) {
    canvas.put_within(3, at, layout.name - 4,
                      std::string(model::object_kind_name(object.kind)),
                      paint(Role::Dim));
  }
  const bool hides = is_hidden(object);
  canvas.put_within(layout.name, at, layout.name_end - layout.name - 1,
                    object_name(object),
                    paint(hides ? Role::Strong : Role::Plain));
  const auto size = [&](ObjectColumn column,
                        const model::Reading<uint64_t>& reading, Role role) {
    const int end = layout.end_of(column);
    if (end == 0) return;
    // Device memory is not RAM, and a handle has no size: neither is unknown.
    if (object.kind == ObjectKind::Handle ||
        object.kind == ObjectKind::Device) {
      canvas.put_right(end, at, "-", paint(Role::Dim));
      return;
    }
    put_amount(canvas, look, end, at, model::amount_of(reading.value),
               paint(reading.value == uint64_t{0} ? Role::Dim : role));
  };
  const auto count = [&](ObjectColumn column, uint64_t number) {
    const int end = layout.end_of(column);
    if (end == 0) return;
    canvas.put_right(end, at, number == 0 ? "-" : base::grouped(number),
                     paint(number == 0 ? Role::Dim : Role::Plain));
  };
  size(ObjectColumn::Alloc, object.alloc_bytes, Role::Strong);
  size(ObjectColumn::Size, object.size_bytes, Role::Plain);
  size(ObjectColumn::Swap, object.swap_bytes, Role::Plain);
  count(ObjectColumn::Mappings, object.map_count);
  count(ObjectColumn::Processes, object.process_count);
  count(ObjectColumn::Descriptors, object.fd_count);
}

void draw_holder(Canvas& canvas, int at, const ObjectHolder& holder) {
  const ObjectLayout layout = object_layout(canvas.columns());
  const std::string words = "p:" + std::to_string(holder.process.pid) + "  " +
                            base::visible(holder.name);
  canvas.put_within(layout.name + 2, at, layout.name_end - layout.name - 3,
                    words, paint(Role::Plain));
  const auto count = [&](ObjectColumn column, uint64_t number) {
    const int end = layout.end_of(column);
    if (end == 0) return;
    canvas.put_right(end, at, number == 0 ? "-" : base::grouped(number),
                     paint(Role::Dim));
  };
  canvas.put_right(layout.end_of(ObjectColumn::Alloc), at,
                   model::rights_letters(holder.rights), paint(Role::Dim));
  count(ObjectColumn::Mappings, holder.map_count);
  count(ObjectColumn::Descriptors, holder.fd_count);
}

}  // namespace tidemark::view::tui
