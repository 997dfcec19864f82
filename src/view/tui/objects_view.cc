#include "view/tui/objects_view.h"

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/style.h"
#include "view/tui/numbers.h"
#include "view/tui/object_table.h"
#include "view/tui/row_list.h"

namespace tidemark::view::tui {
namespace {

using analysis::ObjectAccount;
using analysis::ObjectHolder;
using analysis::ObjectReport;
using analysis::ObjectRow;

// "shmem 12.5M = ≥1.46M named + 11.0M unreachable". The rest is unknown where
// not all that is named is known.
std::string account_words(const TextStyle& style, std::string_view what,
                          const ObjectAccount& account,
                          std::string_view rest_word) {
  const std::string total =
      std::string(what) + " " + base::short_size(account.total_bytes);
  // The one was read after the other, and memory moved meanwhile.
  if (account.rest_bytes < 0) {
    return total + ", " + dense(style, account.named) + " named: " +
           base::short_size(-static_cast<uint64_t>(account.rest_bytes)) +
           " came or went meanwhile";
  }
  std::string words = total + " = " + dense(style, account.named) + " named + ";
  words += account.named.is_lower_bound() ? "≤" : "";
  return words + dense_signed(style, account.rest_bytes) + " " +
         std::string(rest_word);
}

class ObjectsView : public View {
 public:
  char32_t number() const override { return U'3'; }
  std::string_view name() const override { return "Objects"; }
  void arrange(const Scene& scene, int columns, const Area& area) override;
  Answer press(const Key& key, const Scene& scene) override;
  Answer tell(Prompt prompt, const std::string& text, bool is_final,
              const Scene& scene) override;
  void draw(Canvas& canvas, const Scene& scene,
            const Area& area) const override;
  std::string status(const Scene& scene) const override;
  std::vector<KeyHint> hints(const Scene& scene) const override;
  std::vector<HelpSection> help(const Scene& scene) const override;
  void need(bool is_shown, analysis::TopNeeds& needs) const override {
    needs.objects = is_shown;
    needs.object_recounts = recounts_;
  }
  std::string copy(const Scene& scene) const override;

 private:
  // A row of the list: an object, or one that holds it.
  struct Line {
    size_t object = 0;
    std::optional<size_t> holder;
  };

  int list_rows() const {
    return area_.rows - 2 - (list_.marked().empty() ? 0 : 1);
  }
  void reorder();
  void relist();
  Answer press_letter(char32_t letter);
  Answer click(const Key& key);
  Answer set_open(bool is_open);
  Answer sort_by(ObjectColumn column);
  Answer sort_next();
  std::string marked_words() const;

  // shared_ptr: kept until another one came, to know it by its address.
  std::shared_ptr<const ObjectReport> report_;
  std::optional<ProcessChoice> choice_;  // those held by them alone
  std::vector<size_t> order_;
  std::vector<Line> lines_;  // parallel to the rows of the list
  RowList list_;
  ObjectColumn sort_ = ObjectColumn::Alloc;
  bool is_reversed_ = false;
  bool is_hidden_only_ = false;
  uint64_t recounts_ = 0;
  int columns_ = 80;
  Area area_;
};

void ObjectsView::arrange(const Scene& scene, int columns, const Area& area) {
  columns_ = columns;
  area_ = area;
  const auto& newest = scene.snapshot->slow.objects.value;
  std::optional<ProcessChoice> choice;
  if (scene.choice != nullptr) choice = *scene.choice;
  const bool is_chosen_anew = choice.has_value() || choice_.has_value();
  if (newest != report_ || is_chosen_anew) {
    report_ = newest;
    choice_ = std::move(choice);
    reorder();
  }
  relist();
}

void ObjectsView::reorder() {
  order_.clear();
  if (!report_) return;
  const std::vector<ObjectRow>& rows = report_->rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (is_hidden_only_ && !is_hidden(rows[i])) continue;
    const auto is_meant = [&](const ObjectHolder& holder) {
      return choice_->has(holder.process.pid);
    };
    if (choice_ && std::ranges::none_of(rows[i].holders, is_meant)) continue;
    order_.push_back(i);
  }
  std::ranges::stable_sort(order_, [&](size_t a, size_t b) {
    if (sort_ == ObjectColumn::Name) {
      const int order = rows[a].name.compare(rows[b].name);
      return is_reversed_ ? order > 0 : order < 0;
    }
    const uint64_t left = object_number(rows[a], sort_);
    const uint64_t right = object_number(rows[b], sort_);
    return is_reversed_ ? left < right : left > right;
  });
}

void ObjectsView::relist() {
  lines_.clear();
  std::vector<ListedRow> rows;
  for (size_t index : order_) {
    const ObjectRow& object = report_->rows[index];
    lines_.push_back({index, std::nullopt});
    rows.push_back(
        {object.id, object.name + " " + object.id + " " +
                        std::string(model::object_kind_name(object.kind))});
    if (!list_.is_open(object.id)) continue;
    for (size_t i = 0; i < object.holders.size(); ++i) {
      lines_.push_back({index, i});
      const ObjectHolder& holder = object.holders[i];
      rows.push_back(
          {object.id + " " + std::to_string(holder.process.pid),
           holder.name + " p:" + std::to_string(holder.process.pid)});
    }
  }
  list_.list(std::move(rows), list_rows());
}

Answer ObjectsView::set_open(bool is_open) {
  if (list_.chosen() >= lines_.size()) return taken();
  const ObjectRow& object = report_->rows[lines_[list_.chosen()].object];
  list_.set_open(object.id, is_open);
  relist();
  if (is_open && object.holders.empty())
    return taken("no process maps it or holds it open");
  return taken();
}

Answer ObjectsView::sort_by(ObjectColumn column) {
  is_reversed_ = sort_ == column && !is_reversed_;
  sort_ = column;
  reorder();
  relist();
  return taken();
}

Answer ObjectsView::sort_next() {
  const ObjectLayout layout = object_layout(columns_);
  size_t at = static_cast<size_t>(sort_);
  do {
    at = (at + 1) % std::size(kObjectColumns);
  } while (at < kObjectNumbers && layout.ends[at] == 0);
  is_reversed_ = false;
  sort_ = kObjectColumns[at].column;
  reorder();
  relist();
  return taken("sorted by " + std::string(kObjectColumns[at].head));
}

Answer ObjectsView::click(const Key& key) {
  const int line = key.row - area_.top - 2;
  if (line == -1) {
    const ObjectLayout layout = object_layout(columns_);
    for (size_t i = 0; i < kObjectNumbers; ++i) {
      const int end = layout.ends[i];
      if (end > 0 && key.column < end && key.column >= end - 6)
        return sort_by(static_cast<ObjectColumn>(i));
    }
    return key.column >= layout.name && key.column < layout.name_end
               ? sort_by(ObjectColumn::Name)
               : taken();
  }
  if (line < 0) return {};
  const std::string before = list_.chosen_key();
  if (!list_.choose_line(line)) return {};
  // A second click opens and closes.
  if (list_.chosen_key() != before) return taken();
  return set_open(!list_.is_open(before));
}

Answer ObjectsView::press(const Key& key, const Scene& /*scene*/) {
  if (list_.move(key)) return taken();
  switch (key.code) {
    case KeyCode::Right:
      return set_open(true);
    case KeyCode::Left:
      return set_open(false);
    case KeyCode::Enter:
      if (list_.chosen() >= lines_.size()) return taken();
      return set_open(
          !list_.is_open(report_->rows[lines_[list_.chosen()].object].id));
    case KeyCode::Click:
      return click(key);
    case KeyCode::Character:
      return press_letter(key.character);
    default:
      return {};
  }
}

Answer ObjectsView::press_letter(char32_t letter) {
  switch (letter) {
    case U's':
      return sort_next();
    case U'S':
      return sort_by(sort_);
    case U'h':
      is_hidden_only_ = !is_hidden_only_;
      reorder();
      relist();
      return taken(is_hidden_only_ ? "only what nobody maps" : "all objects");
    case U'c':
      ++recounts_;
      return taken("counting again …");
    case U'n':
      return list_.find_next(true);
    case U'N':
      return list_.find_next(false);
    case U' ':
      list_.toggle_mark();
      relist();
      return taken();
    case U'u':
      list_.clear_marks();
      relist();
      return taken("no marks");
    default:
      return {};
  }
}

Answer ObjectsView::tell(Prompt prompt, const std::string& text,
                         bool /*is_final*/, const Scene& /*scene*/) {
  if (prompt != Prompt::Find) return {};
  return list_.find(text);
}

std::string ObjectsView::marked_words() const {
  model::Amount all;
  model::Amount hidden;
  std::string names;
  size_t count = 0;
  for (const ObjectRow& object : report_->rows) {
    if (!list_.is_marked(object.id)) continue;
    all.add(object.alloc_bytes.value);
    if (is_hidden(object)) hidden.add(object.alloc_bytes.value);
    if (++count <= 3)
      names += (names.empty() ? "" : ", ") + object_name(object);
  }
  if (count > 3) names += ", …";
  const TextStyle style;
  return "marked " + std::to_string(count) + ": " + names + "   " +
         dense(style, all) + " in RAM, of which " + dense(style, hidden) +
         " nobody maps";
}

void ObjectsView::draw(Canvas& canvas, const Scene& scene,
                       const Area& area) const {
  const TextStyle style;
  const int width = canvas.columns() - 2;
  if (!report_) {
    const auto& reading = scene.snapshot->slow.objects;
    canvas.put_within(
        1, area.top, width,
        reading.failure.empty() ? "counting for the first time …"
                                : base::visible(reading.failure),
        paint(reading.failure.empty() ? Role::Dim : Role::Unknown));
    return;
  }
  std::string sums;
  if (report_->shmem)
    sums = account_words(style, "shmem", *report_->shmem, "unreachable");
  if (report_->file_cache && canvas.columns() >= 132) {
    sums += (sums.empty() ? "" : "    ") + account_words(style, "file cache",
                                                         *report_->file_cache,
                                                         "of closed files");
  }
  canvas.put_within(1, area.top, width, bounds_for(scene.look, std::move(sums)),
                    paint(Role::Plain));
  draw_object_head(canvas, area.top + 1, sort_, is_reversed_);
  for (int line = 0; line < list_rows(); ++line) {
    const size_t index = list_.first() + static_cast<size_t>(line);
    if (index >= lines_.size()) break;
    const int at = area.top + 2 + line;
    const ObjectRow& object = report_->rows[lines_[index].object];
    const bool is_object = !lines_[index].holder;
    if (is_object) {
      draw_object(canvas, scene.look, at, object);
    } else {
      draw_holder(canvas, at, object.holders[*lines_[index].holder]);
    }
    draw_row_marks(canvas, scene.look, at,
                   is_object && list_.is_marked(object.id),
                   list_.is_chosen(index));
  }
  if (!list_.marked().empty()) {
    canvas.put_within(1, area.top + area.rows - 1, width, marked_words(),
                      paint(Role::Strong));
  }
}

std::string ObjectsView::status(const Scene& scene) const {
  const auto& reading = scene.snapshot->slow.objects;
  if (!report_) {
    return reading.failure.empty() ? "who maps and holds what is being read …"
                                   : "no objects";
  }
  model::Amount hidden;
  size_t hidden_count = 0;
  for (const ObjectRow& object : report_->rows) {
    // One of which nobody may say how much is in RAM makes the sum a bound.
    const bool may_hide = object.map_count == 0 && !object.alloc_bytes &&
                          !object.alloc_bytes.unknown_because.empty();
    if (!is_hidden(object) && !may_hide) continue;
    if (!may_hide) ++hidden_count;
    hidden.add(object.alloc_bytes.value);
  }
  const uint64_t now = scene.snapshot->sample.started_monotonic_ns;
  std::string words =
      (choice_ ? base::grouped(order_.size()) + " of " : "") +
      base::counted(report_->rows.size(), "object", "objects") + ", " +
      base::grouped(hidden_count) + " hidden " + dense({}, hidden) + " · " +
      age_words(now > reading.read_ns ? now - reading.read_ns : 0) + " old";
  if (reading.is_under_way) words += ", counting …";
  if (!report_->unreadable.empty())
    words += " · " + base::grouped(report_->unreadable.size()) + " ? denied";
  if (is_hidden_only_) words = "only hidden · " + words;
  return words;
}

std::string ObjectsView::copy(const Scene& /*scene*/) const {
  if (list_.chosen() >= lines_.size()) return {};
  const Line& line = lines_[list_.chosen()];
  const ObjectRow& object = report_->rows[line.object];
  const TextStyle style;
  if (line.holder) {
    const ObjectHolder& holder = object.holders[*line.holder];
    return object.id + "\tp:" + std::to_string(holder.process.pid) + "\t" +
           base::visible(holder.name);
  }
  return object.id + "\t" + std::string(model::object_kind_name(object.kind)) +
         "\t" + object_name(object) + "\t" +
         dense(style, object.alloc_bytes.value) + "\t" +
         dense(style, object.size_bytes.value) + "\t" +
         std::to_string(object.map_count) + "\t" +
         std::to_string(object.process_count) + "\t" +
         std::to_string(object.fd_count);
}

std::vector<KeyHint> ObjectsView::hints(const Scene& /*scene*/) const {
  return {{"↑↓", "move"}, {"→", "holders"},     {"h", "hidden"},
          {"s", "sort"},  {"c", "count again"}, {"Space", "mark"},
          {"/", "find"},  {"y", "copy"},        {"z", "freeze"}};
}

std::vector<HelpSection> ObjectsView::help(const Scene& /*scene*/) const {
  return {{"MOVE",
           {{"↑ ↓ PgUp PgDn Home End", "row, page, ends"},
            {"→ ← Enter", "who maps and holds it"}}},
          {"LOOK",
           {{"/  n N", "find, next, previous"},
            {"h", "only what nobody maps, yet is in RAM"},
            {"s S", "sort by next column, reverse"},
            {"c", "count again"}}},
          {"CHOOSE",
           {{"Space  u", "mark, no marks; below: their sum"},
            {"y", "copy this row"}}}};
}

}  // namespace

std::unique_ptr<View> make_objects_view() {
  return std::make_unique<ObjectsView>();
}

}  // namespace tidemark::view::tui
