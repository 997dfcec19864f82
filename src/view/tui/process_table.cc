#include "view/tui/process_table.h"

#include "base/escape.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {

TableLayout table_layout(int columns) {
  TableLayout layout;
  layout.has_task = columns >= 60;
  if (columns >= 132) {
    layout.name = 13;
    layout.indent = 2;
    layout.ends = {columns - 68, columns - 59, columns - 50,
                   columns - 42, columns - 33, columns - 24};
    layout.trend = columns - 23;
    layout.trend_cells = 22;
    return layout;
  }
  layout.name = layout.has_task ? 11 : 1;
  int end = columns - 1;
  const auto take = [&](TopColumn column, int width) {
    layout.ends[static_cast<size_t>(column)] = end;
    end -= width;
  };
  if (columns >= 80) {
    layout.trend = columns - 7;
    layout.trend_cells = 6;
    end = columns - 8;
  }
  take(TopColumn::Growth, 8);
  if (columns >= 66) take(TopColumn::Swap, 7);
  if (columns >= 74) take(TopColumn::Shared, 7);
  if (columns >= 60) take(TopColumn::Private, 8);
  take(TopColumn::Pss, 6);
  return layout;
}

std::string task_id(const TreeRow& row, const ProcessTree& tree) {
  if (row.kind == TreeRowKind::Group) {
    return "j:" + std::to_string(tree.row_of(tree.nodes()[row.node]).id);
  }
  if (row.kind == TreeRowKind::Process) {
    return "p:" + std::to_string(tree.row_of(tree.nodes()[row.node]).id);
  }
  return {};
}

void ProcessTable::draw_head(int at, const TreeOptions& options) const {
  const bool is_wide = canvas_.columns() >= 132;
  const auto ink = [&](TopColumn column) {
    return paint(options.sort == column ? Role::Strong : Role::Dim);
  };
  if (layout_.has_task) canvas_.put(1, at, "TASK", ink(TopColumn::Task));
  canvas_.put(layout_.name, at, "NAME", ink(TopColumn::Name));
  const std::string span = growth_head(*scene_.snapshot);
  for (const ColumnWords& words : kTableColumns) {
    if (static_cast<size_t>(words.column) >= layout_.ends.size()) continue;
    const int end = layout_.end_of(words.column);
    if (end == 0) continue;
    std::string head(words.head);
    if (words.column == TopColumn::Growth) head = span;
    if (words.column == options.sort && is_wide)
      head += options.is_reversed ? "↑" : "↓";
    canvas_.put_right(end, at, head, ink(words.column));
  }
  if (layout_.trend == 0) return;
  canvas_.put(layout_.trend, at, is_wide ? "LAST " + span : "TREND",
              paint(Role::Dim));
}

void ProcessTable::draw_name(int at, const TreeRow& row) const {
  int column = layout_.name + static_cast<int>(row.depth) * layout_.indent;
  Role role = Role::Plain;
  if (row.kind == TreeRowKind::Group || row.kind == TreeRowKind::Sum) {
    role = Role::Strong;
  } else if (row.kind == TreeRowKind::Folded || row.kind == TreeRowKind::Head ||
             row.use.pss.is_unknown()) {
    role = Role::Dim;
  }
  if (row.kind == TreeRowKind::Part) {
    canvas_.set(column, at, band_glyph(scene_.look, row.kind_of_memory),
                paint(role_of(row.kind_of_memory)));
    column += 2;
  }
  const int room = layout_.end_of(TopColumn::Pss) - 7 - column;
  // Of a path the end tells more, and there is room for that alone.
  std::string_view name = row.name;
  if (row.kind == TreeRowKind::Mapping)
    name.remove_prefix(name.find_last_of('/') + 1);
  canvas_.put_within(column, at, room, base::visible(name), paint(role));
}

void ProcessTable::put(TopColumn column, int at, const model::Amount& amount,
                       Role role) const {
  const int end = layout_.end_of(column);
  if (end > 0) put_amount(canvas_, scene_.look, end, at, amount, paint(role));
}

void ProcessTable::draw_amounts(int at, const TreeRow& row) const {
  if (row.kind == TreeRowKind::Head) return;
  const bool is_sum =
      row.kind == TreeRowKind::Group || row.kind == TreeRowKind::Sum;
  put(TopColumn::Pss, at, row.use.in_ram(),
      is_sum ? Role::Strong : Role::Plain);
  if (row.kind == TreeRowKind::Outside || row.kind == TreeRowKind::Sum) return;
  put(TopColumn::Private, at, row.use.uss, Role::Plain);
  put(TopColumn::Swap, at, row.use.swap_pss,
      row.use.swap_pss.bytes == 0 ? Role::Dim : Role::Plain);
  // As a sum it would count pages repeatedly.
  if (is_sum || row.kind == TreeRowKind::Folded) return;
  put(TopColumn::Shared, at, row.use.shared, Role::Plain);
}

void ProcessTable::draw_history(int at, const TreeRow& row) const {
  const bool has_history = row.kind == TreeRowKind::Group ||
                           row.kind == TreeRowKind::Process ||
                           row.kind == TreeRowKind::Folded;
  if (!has_history) return;
  put_growth(canvas_, layout_.end_of(TopColumn::Growth), at, row.growth_bytes);
  if (row.kind != TreeRowKind::Folded && tree_.nodes()[row.node].peak_bytes) {
    put(TopColumn::Peak, at,
        model::amount_of(tree_.nodes()[row.node].peak_bytes), Role::Plain);
  }
  if (layout_.trend == 0) return;
  const std::u32string picture = trend(
      scene_.look, tree_.series(row), static_cast<size_t>(layout_.trend_cells));
  for (size_t i = 0; i < picture.size(); ++i) {
    canvas_.set(layout_.trend + static_cast<int>(i), at, picture[i],
                paint(Role::Dim));
  }
}

void ProcessTable::draw_row(int at, const TreeRow& row, bool is_marked,
                            bool is_chosen) const {
  if (layout_.has_task) {
    if (row.kind == TreeRowKind::Group)
      canvas_.put(1, at, row.is_open ? "▾" : "▸", paint(Role::Dim));
    canvas_.put(2, at, task_id(row, tree_), paint(Role::Dim));
  }
  draw_name(at, row);
  draw_amounts(at, row);
  draw_history(at, row);
  if (is_marked) canvas_.set(0, at, U'●', paint(Role::Strong));
  if (!is_chosen) return;
  const bool has_color = scene_.look.has_color();
  if (has_color) canvas_.repaint_row(at, Role::Chosen);
  canvas_.set(0, at, has_color ? U'▌' : U'>', paint(Role::Strong));
}

}  // namespace tidemark::view::tui
