#include "view/tui/trace_view.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "view/tui/numbers.h"
#include "view/tui/row_list.h"
#include "view/tui/trace_details.h"
#include "view/tui/trace_rows.h"
#include "view/tui/trace_table.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopTrace;
using analysis::TraceGroup;
using analysis::Tracing;

constexpr TraceGroup kGroupings[] = {TraceGroup::Module, TraceGroup::Task,
                                     TraceGroup::Cgroup};
constexpr std::string_view kGroupingWords[] = {"module", "task", "cgroup"};
constexpr TraceMeasure kMeasures[] = {TraceMeasure::Now, TraceMeasure::Peak,
                                      TraceMeasure::Growth};
constexpr std::string_view kMeasureWords[] = {"now", "at peak", "growth"};
constexpr TraceColumn kSorts[] = {TraceColumn::Held, TraceColumn::Peak,
                                  TraceColumn::Rate, TraceColumn::Name};
constexpr std::string_view kSortWords[] = {"pages", "peak", "pages/s", "name"};

// Where in a row of choices one is.
template <typename T, size_t N>
size_t place_of(const T (&choices)[N], T chosen) {
  return static_cast<size_t>(
      std::find(std::begin(choices), std::end(choices), chosen) - choices);
}

class TraceView : public View {
 public:
  char32_t number() const override { return U'4'; }
  std::string_view name() const override { return "Trace"; }
  bool has_ledger_line() const override { return false; }
  bool has_own_letters() const override { return true; }

  void arrange(const Scene& scene, int columns, const Area& area) override {
    columns_ = columns;
    area_ = area;
    take(scene);
    relist();
  }
  Answer press(const Key& key, const Scene& scene) override;
  Answer tell(Prompt prompt, const std::string& text, bool is_final,
              const Scene& scene) override;
  void draw(Canvas& canvas, const Scene& scene,
            const Area& area) const override;
  std::string state(const Scene& scene) const override;
  std::string status(const Scene& scene) const override;
  std::vector<KeyHint> hints(const Scene& scene) const override;
  std::vector<HelpSection> help(const Scene& scene) const override;

 private:
  bool is_tall() const { return columns_ >= 100 && area_.rows >= 30; }
  int picture_rows() const { return is_tall() ? 4 : 0; }
  int detail_rows() const {
    if (is_tall()) return kTraceDetailRows + 1;
    return area_.rows >= 12 ? 1 : 0;
  }
  int first_row() const { return area_.top + 2 + picture_rows(); }
  int table_rows() const {
    return std::max(area_.rows - 2 - picture_rows() - detail_rows(), 0);
  }
  void take(const Scene& scene);
  void relist();
  void remember() {
    if (cursor_.chosen < rows_.size())
      chosen_key_ = rows_[cursor_.chosen].node.key;
  }
  const TraceRow* chosen() const {
    return cursor_.chosen < rows_.size() ? &rows_[cursor_.chosen] : nullptr;
  }
  Answer press_letter(char32_t letter, const Scene& scene);
  Answer press_tracing(char32_t letter, const Scene& scene) const;
  Answer toggle();
  Answer open();
  Answer close();
  Answer click(const Key& key);
  Answer group_next();
  Answer measure_next();
  Answer sort_by(TraceColumn column);
  Answer sort_next();
  Answer find(Search search);
  Answer find_closed();
  bool is_found(const std::string& name) const {
    return contains_letters(name, find_);
  }

  // shared_ptr: what is drawn of it outlives the reading. Of the tasks that a
  // filter means.
  std::shared_ptr<const TopTrace> trace_;
  std::optional<uint64_t> serial_;  // of the scene it is of
  TraceListing listing_;
  bool has_chosen_grouping_ = false;
  std::set<std::string> opened_;
  std::string find_;
  std::string chosen_key_;
  ListCursor cursor_;
  std::vector<TraceRow> rows_;
  int columns_ = 80;
  Area area_;
};

// Keys are many, readings few.
void TraceView::take(const Scene& scene) {
  if (scene.serial == serial_) return;
  serial_ = scene.serial;
  trace_ = scene.snapshot->trace;
  if (!trace_ || scene.choice == nullptr) return;
  std::vector<bool> is_meant;
  is_meant.reserve(trace_->trace->tasks.size());
  for (const model::TraceTask& task : trace_->trace->tasks)
    is_meant.push_back(scene.choice->has_task(task));
  trace_ = of_tasks(*trace_, is_meant);
}

// The highlight follows the item, not the row, and keeps its line on the
// screen. Where it has gone, the row that took its place is chosen.
void TraceView::relist() {
  // Most code of programs that takes pages is that of their allocator: who
  // asked is in the stacks.
  if (trace_ && trace_->trace->user && !has_chosen_grouping_)
    listing_.by = TraceGroup::Task;
  rows_ =
      trace_ ? trace_rows(*trace_, listing_, opened_) : std::vector<TraceRow>();
  const size_t before = cursor_.chosen;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].node.key != chosen_key_) continue;
    cursor_.chosen = i;
    const size_t moved = cursor_.first + i;
    cursor_.first = moved > before ? moved - before : 0;
    break;
  }
  cursor_.settle(rows_.size(), table_rows());
  remember();
}

Answer TraceView::press(const Key& key, const Scene& scene) {
  if (cursor_.move(key, rows_.size(), table_rows())) {
    remember();
    return taken();
  }
  switch (key.code) {
    case KeyCode::Right:
      return open();
    case KeyCode::Left:
      return close();
    case KeyCode::Enter:
      return toggle();
    case KeyCode::Click:
      return click(key);
    case KeyCode::Character:
      return press_letter(key.character, scene);
    default:
      return {};
  }
}

Answer TraceView::press_letter(char32_t letter, const Scene& scene) {
  switch (letter) {
    case U' ':
      return toggle();
    case U'm':
    case U'M':
      return group_next();
    case U'v':
      return measure_next();
    case U's':
      return sort_next();
    case U'S':
      listing_.is_reversed = !listing_.is_reversed;
      relist();
      return taken();
    case U'n':
      return find({true, false});
    case U'N':
      return find({false, false});
    case U'Q':
      return asked(Wish::Quit);
    default:
      return press_tracing(letter, scene);
  }
}

// Of a recording these letters move in time, as in every view.
Answer TraceView::press_tracing(char32_t letter, const Scene& scene) const {
  if (scene.snapshot->playback) return {};
  switch (letter) {
    case U't':
      if (scene.snapshot->tracing == Tracing::Still)
        return taken("this was read from a file: nothing is traced");
      return asked(Wish::Trace);
    case U'p':
    case U'P':
      return asked(Wish::Freeze);
    case U'r':
    case U'R': {
      Answer answer = asked(Wish::NameCode);
      answer.message = "symbols are read again";
      return answer;
    }
    case U'w':
      return trace_ ? asked(Wish::WriteReport)
                    : taken("there is nothing to write yet");
    default:
      return {};
  }
}

Answer TraceView::toggle() {
  const TraceRow* row = chosen();
  if (row == nullptr || !row->node.has_children) return taken();
  if (!row->is_open) return open();
  opened_.erase(row->node.key);
  relist();
  return taken();
}

Answer TraceView::open() {
  const TraceRow* row = chosen();
  if (row == nullptr || !row->node.has_children) return taken();
  if (row->is_open) {
    cursor_.chosen += 1;
    cursor_.settle(rows_.size(), table_rows());
    remember();
    return taken();
  }
  open_way(*trace_, listing_, row->node, opened_);
  relist();
  return taken();
}

// Of what is closed already the parent is chosen.
Answer TraceView::close() {
  const TraceRow* row = chosen();
  if (row == nullptr) return taken();
  if (row->is_open) {
    opened_.erase(row->node.key);
  } else {
    const size_t end = row->node.key.rfind('\n');
    if (end != std::string::npos) chosen_key_ = row->node.key.substr(0, end);
  }
  relist();
  return taken();
}

Answer TraceView::click(const Key& key) {
  const int line = key.row - first_row();
  if (line == -1) return sort_by(head_at(key.column, columns_));
  if (line < 0 || line >= table_rows()) return {};
  const size_t index = cursor_.first + static_cast<size_t>(line);
  if (index >= rows_.size()) return taken();
  const bool is_again = index == cursor_.chosen;
  cursor_.chosen = index;
  remember();
  return is_again ? toggle() : taken();
}

Answer TraceView::group_next() {
  const size_t next =
      (place_of(kGroupings, listing_.by) + 1) % std::size(kGroupings);
  listing_.by = kGroupings[next];
  has_chosen_grouping_ = true;
  // They are other items altogether.
  cursor_ = {};
  chosen_key_.clear();
  relist();
  return taken();
}

Answer TraceView::measure_next() {
  if (trace_ && !trace_->trace->has_peaks)
    return taken("of these pages only what is held now is known");
  const size_t next =
      (place_of(kMeasures, listing_.measure) + 1) % std::size(kMeasures);
  listing_.measure = kMeasures[next];
  relist();
  return taken();
}

// Once more turns the order round.
Answer TraceView::sort_by(TraceColumn column) {
  listing_.is_reversed = listing_.sort == column && !listing_.is_reversed;
  listing_.sort = column;
  relist();
  return taken("sorted by " +
               std::string(kSortWords[place_of(kSorts, column)]));
}

Answer TraceView::sort_next() {
  const size_t next = (place_of(kSorts, listing_.sort) + 1) % std::size(kSorts);
  listing_.sort = kSorts[next];
  listing_.is_reversed = false;
  relist();
  return taken("sorted by " + std::string(kSortWords[next]));
}

// What no row has may be in a stack that is closed. Not while somebody types:
// that would open many.
Answer TraceView::find_closed() {
  const std::string key = open_to(
      *trace_, listing_,
      [&](const std::string& name) { return is_found(name); }, opened_);
  if (key.empty())
    return taken("'" + base::visible(find_) + "' is in no stack");
  chosen_key_ = key;
  relist();
  return taken();
}

Answer TraceView::find(Search search) {
  if (find_.empty()) return taken("nothing to find; / asks for it");
  const bool is_there = cursor_.find(
      rows_.size(), table_rows(), search,
      [&](size_t i) { return is_found(row_name(rows_[i].node, true)); });
  if (!is_there) return taken("'" + base::visible(find_) + "' is in no row");
  remember();
  return taken();
}

Answer TraceView::tell(Prompt prompt, const std::string& text, bool is_final,
                       const Scene& /*scene*/) {
  if (prompt == Prompt::Find) {
    find_ = text;
    if (text.empty()) return taken();
    const auto is_listed = [&](const TraceRow& row) {
      return is_found(row_name(row.node, true));
    };
    const bool is_closed = is_final && trace_ &&
                           std::none_of(rows_.begin(), rows_.end(), is_listed);
    return is_closed ? find_closed() : find({true, true});
  }
  return {};
}

void TraceView::draw(Canvas& canvas, const Scene& scene,
                     const Area& area) const {
  const TopTrace* trace = trace_.get();
  if (trace == nullptr) {
    const bool is_none = scene.snapshot->tracing == Tracing::None;
    canvas.put_within(
        1, area.top + 1, columns_ - 2,
        scene.snapshot->playback ? "page allocations were not followed here"
        : is_none ? "nothing is traced; t follows page allocations from now on"
                  : "reading for the first time …",
        paint(Role::Plain));
    return;
  }
  const TraceTable table(canvas, scene.look, *trace, listing_);
  table.draw_sums(area.top);
  table.draw_picture(area.top + 1, picture_rows());
  table.draw_head(first_row() - 1);
  for (int line = 0; line < table_rows(); ++line) {
    const size_t index = cursor_.first + static_cast<size_t>(line);
    if (index >= rows_.size()) break;
    table.draw_row(first_row() + line, rows_[index], index == cursor_.chosen);
  }
  if (rows_.empty()) {
    canvas.put_within(1, first_row(), columns_ - 2,
                      scene.choice != nullptr
                          ? "nothing is held by tasks that the filter means"
                      : listing_.measure == TraceMeasure::Growth
                          ? "nothing only rises so far"
                          : "nothing is held of what was taken since it began",
                      paint(Role::Plain));
  }
  const TraceRow* row = chosen();
  if (row == nullptr || detail_rows() == 0) return;
  if (is_tall()) {
    draw_trace_details(canvas, *trace, listing_, row->node,
                       area.top + area.rows - kTraceDetailRows);
    return;
  }
  canvas.put_within(1, area.top + area.rows - 1, columns_ - 2,
                    row_name(row->node, false) + ": " +
                        holders_words(*trace, listing_, row->node, ", "),
                    paint(Role::Dim));
}

std::string TraceView::state(const Scene& scene) const {
  switch (scene.snapshot->tracing) {
    case Tracing::Starting:
      return "starting …";
    case Tracing::On:
      if (!scene.snapshot->trace) return "tracing";
      return "tracing " + age_words(scene.snapshot->trace->trace->elapsed_ns);
    case Tracing::Ended:
      return "trace ended";
    case Tracing::Still:
      return scene.snapshot->playback ? "" : "read from a file";
    default:
      return {};
  }
}

std::string TraceView::status(const Scene& /*scene*/) const {
  const auto others = [](const auto& words, size_t at) {
    std::string list;
    for (size_t i = 1; i < std::size(words); ++i) {
      list += (i == 1 ? "" : ", ") +
              std::string(words[(at + i) % std::size(words)]);
    }
    return list;
  };
  const size_t group = place_of(kGroupings, listing_.by);
  const size_t measure = place_of(kMeasures, listing_.measure);
  return "by " + std::string(kGroupingWords[group]) + " · " +
         std::string(kMeasureWords[measure]) + " (m " +
         others(kGroupingWords, group) + " · v " +
         others(kMeasureWords, measure) + ")";
}

std::vector<KeyHint> TraceView::hints(const Scene& scene) const {
  constexpr std::string_view kByNext[] = {"by task", "by cgroup", "by module"};
  constexpr std::string_view kMeasureNext[] = {"at peak", "growth", "now"};
  std::vector<KeyHint> list = {
      {"↑↓", "move"},
      {"Space", "open"},
      {"m", kByNext[place_of(kGroupings, listing_.by)]},
      {"v", kMeasureNext[place_of(kMeasures, listing_.measure)]},
      {"/", "find"}};
  if (scene.snapshot->playback) return list;
  if (scene.snapshot->tracing != Tracing::Still) {
    const bool is_on = scene.snapshot->tracing == Tracing::On;
    list.push_back({"t", is_on ? "stop trace" : "trace"});
    list.push_back({"p", "pause"});
    list.push_back({"r", "symbols"});
  }
  list.push_back({"w", "write report"});
  return list;
}

std::vector<HelpSection> TraceView::help(const Scene& scene) const {
  std::vector<HelpSection> sections = {
      {"MOVE",
       {{"↑ ↓ PgUp PgDn Home End", "row, page, ends"},
        {"Space", "open, close"},
        {"→ ←", "open, close; again: to the parent"}}},
      {"LOOK",
       {{"m", "by module, task, control group"},
        {"v", "now, at the machine's peak, what only rises"},
        {"s S", "sort by next column, reverse"},
        {"/  n N", "find, next, previous"}}},
  };
  // Of a recording these letters move in time.
  if (scene.snapshot->playback) return sections;
  sections.push_back({"TRACE",
                      {{"t", "start or stop tracing"},
                       {"p", "pause the display; tracing goes on"},
                       {"r", "read symbols again"},
                       {"w", "write the report to a file"}}});
  return sections;
}

}  // namespace

std::unique_ptr<View> make_trace_view() {
  return std::make_unique<TraceView>();
}

}  // namespace tidemark::view::tui
