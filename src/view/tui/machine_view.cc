#include "view/tui/machine_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/census.h"
#include "view/tui/class_words.h"
#include "view/tui/frame.h"
#include "view/tui/ledger_page.h"
#include "view/tui/machine_pictures.h"
#include "view/tui/numbers.h"
#include "view/tui/row_list.h"
#include "view/tui/stack_picture.h"
#include "view/tui/text_page.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopMachine;
using analysis::TopSnapshot;
using model::Category;

// Where stalls and growers begin on a wide screen; owners have what is left.
int right_column(int columns) {
  return std::max(80, columns / 2);
}
constexpr int kWideColumns = 132;
constexpr int kWideRows = 28;
// Of a class on a narrow screen, where several stand side by side.
constexpr int kLegendCell = 26;

std::string_view kind_name(Category kind) {
  // Shorter than elsewhere: three stand side by side.
  if (kind == Category::Code) return "program, libs";
  if (kind == Category::Swap) return "zram, swap";
  return class_name(kind);
}

// Where a class stands, with the column before it that says it is chosen.
struct KindPlace {
  int column = 0;
  int row = 0;
  int columns = 0;
};

bool is_wide(int columns, const Area& area) {
  return columns >= kWideColumns && area.rows >= kWideRows;
}

// On a wide screen a table; else as many side by side as fit, read downwards,
// and the smallest are left out where there are not so many rows.
std::vector<KindPlace> kind_places(int columns, const Area& area,
                                   size_t count) {
  std::vector<KindPlace> places;
  if (is_wide(columns, area)) {
    for (size_t i = 0; i < count; ++i)
      places.push_back(
          {0, area.top + 5 + static_cast<int>(i), right_column(columns) - 1});
    return places;
  }
  const int across = std::max(1, (columns - 2) / kLegendCell);
  const int lines =
      std::min((static_cast<int>(count) + across - 1) / across, area.rows - 2);
  if (lines <= 0) return places;
  for (size_t i = 0; i < std::min(count, static_cast<size_t>(lines * across));
       ++i) {
    const int at = static_cast<int>(i);
    places.push_back(
        {at / lines * kLegendCell, area.top + 2 + at % lines, kLegendCell - 1});
  }
  return places;
}

class MachineView : public View {
 public:
  char32_t number() const override { return U'2'; }
  std::string_view name() const override { return "Machine"; }
  std::string_view filter_words() const override { return " (who grows)"; }
  bool has_ledger_line() const override { return false; }
  void arrange(const Scene& scene, int columns, const Area& area) override;
  Answer press(const Key& key, const Scene& scene) override;
  Answer tell(Prompt prompt, const std::string& text, bool is_final,
              const Scene& scene) override;
  void need(bool is_shown, analysis::TopNeeds& needs) const override {
    needs.ledger = is_shown;
    needs.ledger_by = page_.by();
    needs.ledger_recounts = recounts_;
  }
  std::string copy(const Scene& scene) const override;
  void draw(Canvas& canvas, const Scene& scene,
            const Area& area) const override;
  std::string status(const Scene& scene) const override;
  std::vector<KeyHint> hints(const Scene& scene) const override;
  std::vector<HelpSection> help(const Scene& scene) const override;

 private:
  enum class Page : uint8_t { None, Owners, Explanation };

  Answer press_class(const Key& key, const Scene& scene);
  Answer press_page(const Key& key, const Scene& scene);
  Answer open_owners(const Scene& scene);
  Answer click(const Key& key);
  std::string owner_words(const Scene& scene) const;
  void explain(const Scene& scene);
  std::optional<Category> chosen_kind() const;

  void draw_title(Canvas& canvas, const TopMachine& account, int row) const;
  int draw_kinds(Canvas& canvas, const Scene& scene) const;
  int draw_table(Canvas& canvas, const Scene& scene,
                 const TopMachine& account) const;
  void draw_class(Canvas& canvas, const Scene& scene, const KindRow& kind,
                  const TopMachine& account, int row) const;
  void draw_narrow(Canvas& canvas, const Scene& scene) const;
  void draw_wide(Canvas& canvas, const Scene& scene) const;

  int columns_ = 80;
  Area area_;
  Census census_;
  bool is_counted_ = false;  // what is shown is the count, not counters
  std::vector<KindRow> rows_;
  RowList kinds_;  // parallel to those of the rows that are shown
  LedgerPage page_;
  TextPage text_;
  Page open_ = Page::None;
  uint64_t recounts_ = 0;
};

void MachineView::arrange(const Scene& scene, int columns, const Area& area) {
  columns_ = columns;
  area_ = area;
  census_.look_at(scene.snapshot->slow.ledger);
  is_counted_ = census_.is_counted() && !scene.snapshot->playback;
  rows_ = kind_rows(*scene.snapshot, census_);
  rows_.resize(kind_places(columns, area, rows_.size()).size());
  std::vector<ListedRow> listed;
  for (const KindRow& row : rows_) {
    listed.push_back({std::string(model::category_token(row.kind)),
                      std::string(class_name(row.kind))});
  }
  kinds_.list(std::move(listed), static_cast<int>(rows_.size()));
  const bool is_by_class = page_.by() == analysis::LedgerBy::Class;
  page_.arrange(is_by_class && census_.ledger()
                    ? census_.ledger()
                    : scene.snapshot->slow.ledger.value,
                area);
  if (open_ == Page::Explanation) explain(scene);
}

std::optional<Category> MachineView::chosen_kind() const {
  if (kinds_.chosen() >= rows_.size()) return std::nullopt;
  return rows_[kinds_.chosen()].kind;
}

void MachineView::explain(const Scene& scene) {
  const std::optional<Category> kind = chosen_kind();
  if (!kind) return;
  std::vector<std::string> lines =
      explain_kind(*scene.snapshot, census_, *kind, columns_ - 2);
  for (std::string& line : lines)
    line = bounds_for(scene.look, std::move(line));
  text_.show(std::move(lines), area_);
}

Answer MachineView::open_owners(const Scene& scene) {
  // What a recording does not hold cannot be listed.
  if (!census_.ledger() || scene.snapshot->playback) {
    const std::string& failure = scene.snapshot->slow.ledger.failure;
    return taken(failure.empty() ? "the pages are still being counted …"
                                 : base::visible(failure));
  }
  open_ = Page::Owners;
  if (const std::optional<Category> kind = chosen_kind()) page_.show(*kind);
  return taken();
}

Answer MachineView::click(const Key& key) {
  const std::vector<KindPlace> places =
      kind_places(columns_, area_, rows_.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const int from = key.column - places[i].column;
    if (key.row != places[i].row || from < 0 || from >= places[i].columns)
      continue;
    kinds_.choose_line(static_cast<int>(i));
    return taken();
  }
  return {};
}

Answer MachineView::press_class(const Key& key, const Scene& scene) {
  if (key.code == KeyCode::Enter) return open_owners(scene);
  if (key.code == KeyCode::Click) return click(key);
  if (kinds_.move(key)) return taken();
  const std::optional<Category> kind = chosen_kind();
  if (!kind) return {};
  if (key == typed(U'w'))
    return taken(come_back_words(*scene.snapshot, census_, *kind));
  if (key == typed(U'e')) {
    open_ = Page::Explanation;
    explain(scene);
    return taken();
  }
  return {};
}

// Of one owner where it is certain, else of the class.
std::string MachineView::owner_words(const Scene& scene) const {
  std::string words = page_.come_back_words();
  const std::optional<Category> kind = page_.chosen_kind();
  if (!words.empty() || !kind) return words;
  return come_back_words(*scene.snapshot, census_, *kind);
}

Answer MachineView::press_page(const Key& key, const Scene& scene) {
  const bool is_text = open_ == Page::Explanation;
  if (key.code == KeyCode::Escape || key.code == KeyCode::Backspace ||
      (is_text && (key.code == KeyCode::Enter || key == typed(U'e')))) {
    open_ = Page::None;
    // The classes are what is shown then, and `Enter` is for their owners.
    page_.go_by_class();
    return taken();
  }
  if (is_text) return text_.press(key) ? taken() : Answer{};
  if (key == typed(U'w')) return taken(owner_words(scene));
  return page_.press(key);
}

Answer MachineView::press(const Key& key, const Scene& scene) {
  // What a recording does not hold cannot be counted now.
  const bool has_ledger = !scene.snapshot->playback;
  if (key == typed(U'c') && has_ledger) {
    ++recounts_;
    return taken("counting every page again …");
  }
  if (key == typed(U'b') && has_ledger) {
    open_ = Page::Owners;
    return taken("counting " + std::string(page_.next_by()) + " …");
  }
  return open_ == Page::None ? press_class(key, scene) : press_page(key, scene);
}

Answer MachineView::tell(Prompt prompt, const std::string& text,
                         bool /*is_final*/, const Scene& scene) {
  if (prompt != Prompt::Find) return {};
  if (scene.snapshot->playback) return kinds_.find(text);
  open_ = Page::Owners;
  return page_.find(text);
}

std::string MachineView::copy(const Scene& scene) const {
  if (open_ == Page::Owners) return page_.copy();
  if (open_ == Page::Explanation) return text_.text();
  const std::optional<Category> kind = chosen_kind();
  if (!kind || !scene.snapshot->machine) return "";
  const int64_t bytes = rows_[kinds_.chosen()].bytes;
  return std::string(class_name(*kind)) + "\t" +
         signed_size(bytes).substr(bytes > 0);
}

// What is counted page by page is said to be; counters are named as such.
void MachineView::draw_title(Canvas& canvas, const TopMachine& account,
                             int row) const {
  const int left = canvas.put(
      1, row,
      is_counted_ ? "Every page of RAM, once" : "All of RAM, by counters",
      paint(Role::Strong));
  const int64_t unnamed = bytes_of(account, Category::Unnamed);
  const uint64_t named =
      account.total_bytes -
      std::min(account.total_bytes,
               static_cast<uint64_t>(std::max<int64_t>(unnamed, 0)));
  const std::string total = base::short_size(account.total_bytes);
  const std::string share =
      " · " + base::percent(named, account.total_bytes) + " % named";
  const auto put = [&](const std::string& words) {
    const int columns = canvas.columns() - 1;
    const int width = static_cast<int>(base::display_width(words));
    if (left + 2 + width > columns) return false;
    canvas.put_right(columns, row, words, paint(Role::Dim));
    return true;
  };
  const std::string pages =
      is_counted_ ? " = " +
                        base::grouped(account.total_bytes /
                                      census_.ledger()->page_bytes) +
                        " pages"
                  : "";
  if (!put(total + pages + share)) put(total + share);
}

int MachineView::draw_kinds(Canvas& canvas, const Scene& scene) const {
  int end = area_.top + 2;
  const std::vector<KindPlace> places =
      kind_places(columns_, area_, rows_.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const KindPlace& place = places[i];
    const KindRow& row = rows_[i];
    canvas.set(place.column + 1, place.row, band_glyph(scene.look, row.kind),
               paint(role_of(row.kind)));
    canvas.put_within(place.column + 3, place.row, 16, kind_name(row.kind),
                      paint(Role::Plain));
    canvas.put_right(place.column + 24, place.row,
                     signed_size(row.bytes).substr(row.bytes > 0),
                     paint(Role::Strong));
    if (kinds_.is_chosen(i)) {
      draw_chosen(canvas, scene.look, place.column, place.row, place.columns);
    }
    end = std::max(end, place.row + 1);
  }
  return end;
}

void MachineView::draw_class(Canvas& canvas, const Scene& scene,
                             const KindRow& kind, const TopMachine& account,
                             int row) const {
  canvas.set(1, row, band_glyph(scene.look, kind.kind),
             paint(role_of(kind.kind)));
  canvas.put_within(3, row, 20, class_name(kind.kind), paint(Role::Plain));
  canvas.put_right(30, row, signed_size(kind.bytes).substr(kind.bytes > 0),
                   paint(Role::Strong));
  canvas.put_right(
      37, row,
      fmt::format("{:.1f}", static_cast<double>(kind.bytes) * 100.0 /
                                static_cast<double>(account.total_bytes)),
      paint(Role::Plain));
  put_growth(canvas, 46, row, kind.growth_bytes);
  if (!census_.ledger() || scene.snapshot->playback) return;
  canvas.put_within(49, row, right_column(columns_) - 50,
                    mostly_words(*census_.ledger(), kind.kind),
                    paint(Role::Dim));
}

int MachineView::draw_table(Canvas& canvas, const Scene& scene,
                            const TopMachine& account) const {
  int row = area_.top + 4;
  canvas.put(3, row, "CLASS", paint(Role::Dim));
  canvas.put_right(30, row, "BYTES", paint(Role::Strong));
  canvas.put_right(37, row, "%", paint(Role::Dim));
  canvas.put_right(46, row, growth_head(*scene.snapshot), paint(Role::Dim));
  const bool has_owners = census_.ledger() && !scene.snapshot->playback;
  if (has_owners) canvas.put(49, row, "MOSTLY", paint(Role::Dim));
  uint64_t left = account.total_bytes;
  for (size_t i = 0; i < rows_.size(); ++i) {
    ++row;
    draw_class(canvas, scene, rows_[i], account, row);
    if (kinds_.is_chosen(i))
      draw_chosen(canvas, scene.look, 0, row, right_column(columns_) - 1);
    left -= static_cast<uint64_t>(rows_[i].bytes);
  }
  ++row;
  canvas.put(3, row, "all", paint(Role::Strong));
  canvas.put_right(30, row, base::short_size(account.total_bytes),
                   paint(Role::Strong));
  canvas.put_right(37, row, "100", paint(Role::Plain));
  if (is_counted_) {
    canvas.put(
        49, row,
        base::counted(left / census_.ledger()->page_bytes, "page", "pages") +
            " left over",
        paint(Role::Dim));
  }
  return row + 1;
}

void MachineView::draw_narrow(Canvas& canvas, const Scene& scene) const {
  const int columns = canvas.columns();
  const TopMachine account = account_of(*scene.snapshot, census_);
  draw_title(canvas, account, area_.top);
  draw_ledger_bar(canvas, scene.look, account, 1, area_.top + 1, columns - 2);
  int end = area_.top + area_.rows;
  int row = draw_kinds(canvas, scene);
  if (end - row < 5) return;
  draw_rule(canvas, row++);
  if (end - row >= 8) {
    --end;
    draw_residue(canvas, scene, census_, {1, end, columns - 2, 1});
  }
  const int rows = end - row;
  if (columns < 60) {
    draw_machine_history(canvas, scene, {1, row, columns - 2, rows});
    return;
  }
  const int half = columns / 2 - 1;
  draw_machine_history(canvas, scene, {1, row, half - 1, rows});
  draw_stalls(canvas, scene, {half + 2, row, 21, rows});
  if (columns >= 80) {
    draw_growing(canvas, scene, {half + 24, row, columns - half - 25, rows});
  }
}

void MachineView::draw_wide(Canvas& canvas, const Scene& scene) const {
  const int columns = canvas.columns();
  const TopMachine account = account_of(*scene.snapshot, census_);
  draw_title(canvas, account, area_.top);
  for (int line = 1; line <= 2; ++line) {
    draw_ledger_bar(canvas, scene.look, account, 1, area_.top + line,
                    columns - 2);
  }
  const int table_end = draw_table(canvas, scene, account);
  const int right = right_column(columns_);
  const int room = columns - right - 1;
  draw_stalls(canvas, scene, {right, area_.top + 4, room, 6});
  const int rule = std::max(table_end, area_.top + 19);
  draw_growing(canvas, scene,
               {right, area_.top + 11, room, rule - area_.top - 13});
  draw_residue(canvas, scene, census_, {right, rule - 2, room, 2});
  draw_rule(canvas, rule);
  draw_machine_history(
      canvas, scene,
      {1, rule + 1, columns - 2, area_.top + area_.rows - rule - 1});
}

void MachineView::draw(Canvas& canvas, const Scene& scene,
                       const Area& area) const {
  if (!scene.snapshot->machine) {
    canvas.put(1, area.top, "the machine was not read", paint(Role::Unknown));
    return;
  }
  if (open_ == Page::Owners) {
    page_.draw(canvas, scene);
  } else if (open_ == Page::Explanation) {
    text_.draw(canvas);
  } else if (is_wide(columns_, area_)) {
    draw_wide(canvas, scene);
  } else {
    draw_narrow(canvas, scene);
  }
}

std::string MachineView::status(const Scene& scene) const {
  const TopSnapshot& snapshot = *scene.snapshot;
  if (!snapshot.machine) return "the machine was not read";
  const TopMachine& machine = *snapshot.machine;
  const bool is_by_class = page_.by() == analysis::LedgerBy::Class;
  std::string words =
      snapshot.playback
          ? ""
          : census_words(snapshot, is_by_class ? census_.reading()
                                               : snapshot.slow.ledger);
  // Half a word more says nothing.
  const bool has_room = columns_ >= kWideColumns || words.empty();
  if (open_ != Page::None || !has_room) return words;
  const auto say = [&](const char* what, std::optional<uint64_t> bytes) {
    words += (words.empty() ? "" : " · ") + std::string(what) + " " +
             (bytes ? base::short_size(*bytes) : "?");
  };
  say("available", machine.available_bytes);
  say("swapped out", machine.swap_used_bytes);
  return words;
}

std::vector<KeyHint> MachineView::hints(const Scene& scene) const {
  const bool is_recorded = scene.snapshot->playback.has_value();
  if (open_ == Page::Explanation)
    return {{"↑↓", "move"}, {"Esc", "back"}, {"y", "copy"}};
  if (open_ == Page::Owners && !is_recorded) {
    return {{"↑↓", "move"},           {"→", "open"}, {"b", "by"},
            {"c", "count again"},     {"/", "find"}, {"Esc", "back"},
            {"w", "would come back"}, {"y", "copy"}};
  }
  if (is_recorded) {
    return {{"↑↓", "class"},  {"w", "would come back"},
            {"e", "explain"}, {"p", "peak"},
            {"t", "time"},    {"z", "freeze"}};
  }
  return {{"↑↓", "class"},      {"Enter", "owners"},      {"b", "by"},
          {"c", "count again"}, {"w", "would come back"}, {"e", "explain"},
          {"r", "record"},      {"z", "freeze"}};
}

std::vector<HelpSection> MachineView::help(const Scene& scene) const {
  HelpSection classes = {"CLASSES",
                         {{"↑ ↓  Home End", "class"},
                          {"w", "what of it would come back"},
                          {"e", "what it is and how it is known"}}};
  // What a recording does not hold cannot be counted.
  if (scene.snapshot->playback) return {classes};
  classes.lines.push_back({"Enter  Esc", "who owns it, back"});
  return {classes,
          {"PAGES",
           {{"b", "by class, control group, process, file"},
            {"c", "count again: about a second of a core"}}},
          {"OWNERS",
           {{"↑ ↓ PgUp PgDn Home End", "row, page, ends"},
            {"→ ← Enter", "open, close"},
            {"/  n N", "find, next, previous"},
            {"y", "copy this row"}}}};
}

}  // namespace

std::unique_ptr<View> make_machine_view() {
  return std::make_unique<MachineView>();
}

}  // namespace tidemark::view::tui
