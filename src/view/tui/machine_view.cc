#include "view/tui/machine_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/frame.h"
#include "view/tui/ledger_page.h"
#include "view/tui/machine_pictures.h"
#include "view/tui/numbers.h"
#include "view/tui/stack_picture.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopMachine;
using analysis::TopSnapshot;
using model::Category;

// Where stalls and growers begin on a wide screen.
constexpr int kRightColumn = 80;

struct KindRow {
  Category kind = Category::Unnamed;
  int64_t bytes = 0;
  std::optional<int64_t> growth_bytes;
};

std::string_view kind_name(Category kind) {
  // Shorter than elsewhere: three stand side by side.
  if (kind == Category::Code) return "program, libs";
  if (kind == Category::Swap) return "zram, swap cache";
  return model::category_name(kind);
}

// Largest first; what is nothing is left out, but never what is unnamed.
std::vector<KindRow> kind_rows(const TopSnapshot& snapshot) {
  std::vector<KindRow> rows;
  if (!snapshot.machine) return rows;
  for (Category kind : model::kCategories) {
    KindRow row{kind, bytes_of(*snapshot.machine, kind), {}};
    if (row.bytes == 0 && kind != Category::Unnamed) continue;
    row.growth_bytes = growth_of(snapshot, kind);
    rows.push_back(row);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &KindRow::bytes);
  return rows;
}

class MachineView : public View {
 public:
  char32_t number() const override { return U'2'; }
  std::string_view name() const override { return "Machine"; }
  std::string_view filter_words() const override { return " (who grows)"; }
  bool has_ledger_line() const override { return false; }
  void arrange(const Scene& scene, int /*columns*/, const Area& area) override {
    page_.arrange(scene.snapshot->slow.ledger.value, area);
  }
  Answer press(const Key& key, const Scene& scene) override;
  Answer tell(Prompt prompt, const std::string& text, bool is_final,
              const Scene& scene) override;
  void need(bool is_shown, analysis::TopNeeds& needs) const override {
    needs.ledger = is_shown;
    needs.ledger_by = page_.by();
    needs.ledger_recounts = recounts_;
  }
  std::string copy(const Scene& /*scene*/) const override {
    return is_page_open_ ? page_.copy() : "";
  }
  void draw(Canvas& canvas, const Scene& scene,
            const Area& area) const override;
  std::string status(const Scene& scene) const override;
  std::vector<KeyHint> hints(const Scene& scene) const override;
  std::vector<HelpSection> help(const Scene& scene) const override;

 private:
  static void draw_title(Canvas& canvas, const TopMachine& machine, int row);
  static int draw_legend(Canvas& canvas, const Scene& scene, int row, int end);
  static int draw_table(Canvas& canvas, const Scene& scene, int row);
  static void draw_narrow(Canvas& canvas, const Scene& scene, const Area& area);
  static void draw_wide(Canvas& canvas, const Scene& scene, const Area& area);

  LedgerPage page_;
  bool is_page_open_ = false;
  uint64_t recounts_ = 0;
};

Answer MachineView::press(const Key& key, const Scene& scene) {
  // What a recording does not hold cannot be counted now.
  const bool has_ledger = !scene.snapshot->playback;
  if (key == typed(U'c') && has_ledger) {
    ++recounts_;
    return taken("counting every page again …");
  }
  if (key == typed(U'b') && has_ledger) {
    is_page_open_ = true;
    return taken("counting " + std::string(page_.next_by()) + " …");
  }
  if (!is_page_open_) {
    if (key.code != KeyCode::Enter) return {};
    if (!scene.snapshot->slow.ledger.value) {
      const std::string& failure = scene.snapshot->slow.ledger.failure;
      return taken(failure.empty() ? "the pages are still being counted …"
                                   : base::visible(failure));
    }
    is_page_open_ = true;
    return taken();
  }
  if (key.code == KeyCode::Escape || key.code == KeyCode::Backspace) {
    is_page_open_ = false;
    return taken();
  }
  return page_.press(key);
}

Answer MachineView::tell(Prompt prompt, const std::string& text,
                         bool /*is_final*/, const Scene& /*scene*/) {
  if (prompt != Prompt::Find) return {};
  is_page_open_ = true;
  return page_.find(text);
}

void MachineView::draw_title(Canvas& canvas, const TopMachine& machine,
                             int row) {
  canvas.put(1, row, "All of RAM, by counters", paint(Role::Strong));
  const int64_t unnamed = bytes_of(machine, Category::Unnamed);
  const uint64_t named =
      machine.total_bytes -
      std::min(machine.total_bytes,
               static_cast<uint64_t>(std::max<int64_t>(unnamed, 0)));
  if (canvas.columns() < 60) return;
  canvas.put_right(canvas.columns() - 1, row,
                   base::short_size(machine.total_bytes) + " · " +
                       base::percent(named, machine.total_bytes) + " % named",
                   paint(Role::Dim));
}

// As many kinds side by side as fit, read downwards; the smallest are left out
// where there are not so many rows.
int MachineView::draw_legend(Canvas& canvas, const Scene& scene, int row,
                             int end) {
  constexpr int kCell = 26;
  std::vector<KindRow> rows = kind_rows(*scene.snapshot);
  const int across = std::max(1, (canvas.columns() - 2) / kCell);
  const int lines = std::min(
      (static_cast<int>(rows.size()) + across - 1) / across, end - row);
  if (lines <= 0) return row;
  rows.resize(std::min(rows.size(), static_cast<size_t>(lines * across)));
  for (size_t i = 0; i < rows.size(); ++i) {
    const int column = 1 + static_cast<int>(i) / lines * kCell;
    const int line = row + static_cast<int>(i) % lines;
    canvas.set(column, line, band_glyph(scene.look, rows[i].kind),
               paint(role_of(rows[i].kind)));
    canvas.put_within(column + 2, line, 16, kind_name(rows[i].kind),
                      paint(Role::Plain));
    canvas.put_right(column + 23, line,
                     signed_size(rows[i].bytes).substr(rows[i].bytes > 0),
                     paint(Role::Strong));
  }
  return row + lines;
}

int MachineView::draw_table(Canvas& canvas, const Scene& scene, int row) {
  const TopMachine& machine = *scene.snapshot->machine;
  canvas.put(3, row, "CLASS", paint(Role::Dim));
  canvas.put_right(30, row, "BYTES", paint(Role::Strong));
  canvas.put_right(37, row, "%", paint(Role::Dim));
  canvas.put_right(46, row, span_words(*scene.snapshot), paint(Role::Dim));
  const analysis::TopLedger* ledger = scene.snapshot->slow.ledger.value.get();
  if (ledger != nullptr) canvas.put(48, row, "MOSTLY", paint(Role::Dim));
  for (const KindRow& kind : kind_rows(*scene.snapshot)) {
    ++row;
    canvas.set(1, row, band_glyph(scene.look, kind.kind),
               paint(role_of(kind.kind)));
    canvas.put_within(3, row, 20, model::category_name(kind.kind),
                      paint(Role::Plain));
    canvas.put_right(30, row, signed_size(kind.bytes).substr(kind.bytes > 0),
                     paint(Role::Strong));
    canvas.put_right(
        37, row,
        fmt::format("{:.1f}", static_cast<double>(kind.bytes) * 100.0 /
                                  static_cast<double>(machine.total_bytes)),
        paint(Role::Plain));
    put_growth(canvas, 46, row, kind.growth_bytes);
    if (ledger != nullptr) {
      canvas.put_within(48, row, kRightColumn - 50,
                        mostly_words(*ledger, kind.kind), paint(Role::Dim));
    }
  }
  ++row;
  canvas.put(3, row, "all", paint(Role::Strong));
  canvas.put_right(30, row, base::short_size(machine.total_bytes),
                   paint(Role::Strong));
  canvas.put_right(37, row, "100", paint(Role::Plain));
  return row + 1;
}

void MachineView::draw_narrow(Canvas& canvas, const Scene& scene,
                              const Area& area) {
  const int columns = canvas.columns();
  draw_title(canvas, *scene.snapshot->machine, area.top);
  draw_ledger_bar(canvas, scene.look, *scene.snapshot->machine, 1, area.top + 1,
                  columns - 2);
  int end = area.top + area.rows;
  int row = draw_legend(canvas, scene, area.top + 2, end);
  if (end - row < 5) return;
  draw_rule(canvas, row++);
  if (end - row >= 8) draw_residue(canvas, scene, 1, --end, columns - 2);
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

void MachineView::draw_wide(Canvas& canvas, const Scene& scene,
                            const Area& area) {
  const int columns = canvas.columns();
  draw_title(canvas, *scene.snapshot->machine, area.top);
  for (int line = 1; line <= 2; ++line) {
    draw_ledger_bar(canvas, scene.look, *scene.snapshot->machine, 1,
                    area.top + line, columns - 2);
  }
  const int table_end = draw_table(canvas, scene, area.top + 4);
  const int right = kRightColumn;
  const int room = columns - right - 1;
  draw_stalls(canvas, scene, {right, area.top + 4, room, 6});
  const int rule = std::max(table_end, area.top + 15);
  draw_growing(canvas, scene,
               {right, area.top + 11, room, rule - area.top - 12});
  draw_residue(canvas, scene, right, rule - 1, room);
  draw_rule(canvas, rule);
  draw_machine_history(
      canvas, scene,
      {1, rule + 1, columns - 2, area.top + area.rows - rule - 1});
}

void MachineView::draw(Canvas& canvas, const Scene& scene,
                       const Area& area) const {
  if (!scene.snapshot->machine) {
    canvas.put(1, area.top, "the machine was not read", paint(Role::Unknown));
    return;
  }
  if (is_page_open_) {
    page_.draw(canvas, scene);
  } else if (canvas.columns() >= 132 && area.rows >= 28) {
    draw_wide(canvas, scene, area);
  } else {
    draw_narrow(canvas, scene, area);
  }
}

// "census 14 s ago, 1.1 s · 23 pages changed meanwhile": how old what was
// counted is, and what it cost.
std::string census_words(const TopSnapshot& snapshot) {
  const auto& reading = snapshot.slow.ledger;
  if (reading.is_under_way) return "counting every page …";
  if (!reading.failure.empty()) return base::visible(reading.failure);
  if (!reading.value) return "";
  const uint64_t now = snapshot.sample.started_monotonic_ns;
  std::string words =
      "census " + age_words(now > reading.read_ns ? now - reading.read_ns : 0) +
      " ago";
  if (reading.value->tier == model::LedgerTier::Counters)
    return words +
           ", counters alone: " + base::visible(reading.value->tier_note);
  return words + fmt::format(", {:.1f} s · {} changed meanwhile",
                             static_cast<double>(reading.cost_ns) / 1e9,
                             base::counted(reading.value->changed_pages, "page",
                                           "pages"));
}

std::string MachineView::status(const Scene& scene) const {
  const TopSnapshot& snapshot = *scene.snapshot;
  if (!snapshot.machine) return "the machine was not read";
  const TopMachine& machine = *snapshot.machine;
  std::string words = snapshot.playback ? "" : census_words(snapshot);
  if (is_page_open_) return words;
  const auto say = [&](const char* what, std::optional<uint64_t> bytes) {
    words += (words.empty() ? "" : " · ") + std::string(what) + " " +
             (bytes ? base::short_size(*bytes) : "?");
  };
  say("available", machine.available_bytes);
  say("swapped out", machine.swap_used_bytes);
  const int64_t unnamed = bytes_of(machine, Category::Unnamed);
  words += " · unnamed " + signed_size(unnamed).substr(unnamed > 0);
  return words;
}

std::vector<KeyHint> MachineView::hints(const Scene& scene) const {
  if (scene.snapshot->playback)
    return {{"p", "peak"}, {"t", "time"}, {"Tab", "view"}, {"z", "freeze"}};
  if (is_page_open_) {
    return {{"↑↓", "move"}, {"→", "open"},   {"b", "by"},  {"c", "count again"},
            {"/", "find"},  {"Esc", "back"}, {"y", "copy"}};
  }
  return {{"Enter", "owners"}, {"b", "by"},     {"c", "count again"},
          {"Tab", "view"},     {"r", "record"}, {"z", "freeze"}};
}

std::vector<HelpSection> MachineView::help(const Scene& scene) const {
  // What a recording does not hold cannot be counted.
  if (scene.snapshot->playback) return {};
  return {{"PAGES",
           {{"Enter  Esc", "who owns them, back"},
            {"b", "by class, control group, process, file"},
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
