// The table of objects: which columns fit, and how a row is drawn.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/object_report.h"
#include "view/tui/canvas.h"
#include "view/tui/look.h"

namespace tidemark::view::tui {

enum class ObjectColumn : uint8_t {
  Alloc,
  Size,
  Swap,
  Mappings,
  Processes,
  Descriptors,
  Name,
};
inline constexpr size_t kObjectNumbers = 6;  // those before the name

struct ObjectColumnWords {
  ObjectColumn column;
  std::string_view head;  // as in `objects`
};
inline constexpr ObjectColumnWords kObjectColumns[] = {
    {ObjectColumn::Alloc, "ALLOC"},    {ObjectColumn::Size, "SIZE"},
    {ObjectColumn::Swap, "SWAP"},      {ObjectColumn::Mappings, "#MAP"},
    {ObjectColumn::Processes, "#SHR"}, {ObjectColumn::Descriptors, "#FD"},
    {ObjectColumn::Name, "NAME"},
};

// Where columns end; 0: not shown.
struct ObjectLayout {
  int name = 3;
  int name_end = 0;
  bool has_kind = false;
  std::array<int, kObjectNumbers> ends{};
  int end_of(ObjectColumn column) const {
    return ends[static_cast<size_t>(column)];
  }
};
ObjectLayout object_layout(int columns);

// Mapped by nobody, and yet with memory.
bool is_hidden(const analysis::ObjectRow& row);
// What a column but NAME is sorted by.
uint64_t object_number(const analysis::ObjectRow& row, ObjectColumn column);
std::string object_name(const analysis::ObjectRow& row);

void draw_object_head(Canvas& canvas, int at, ObjectColumn sort,
                      bool is_reversed);
void draw_object(Canvas& canvas, const Look& look, int at,
                 const analysis::ObjectRow& object);
void draw_holder(Canvas& canvas, int at, const analysis::ObjectHolder& holder);

}  // namespace tidemark::view::tui
