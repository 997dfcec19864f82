#include "view/tui/processes_view.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/style.h"
#include "view/tui/numbers.h"
#include "view/tui/process_table.h"
#include "view/tui/process_tree.h"
#include "view/tui/process_words.h"
#include "view/tui/row_list.h"

namespace tidemark::view::tui {
namespace {

using analysis::GroupBy;

struct GroupWords {
  GroupBy group;
  std::string_view words;
};
constexpr GroupWords kGroups[] = {
    {GroupBy::Cgroup, "by control group"},
    {GroupBy::Parent, "by parent"},
    {GroupBy::User, "by user"},
    {GroupBy::Exe, "by program"},
};

class ProcessesView : public View {
 public:
  char32_t number() const override { return U'1'; }
  std::string_view name() const override { return "Processes"; }

  void arrange(const Scene& scene, int columns, const Area& area) override {
    columns_ = columns;
    area_ = area;
    if (scene.serial == built_of_) {
      relist(scene);
    } else {
      rebuild(scene);
    }
  }
  Answer press(const Key& key, const Scene& scene) override;
  Answer tell(Prompt prompt, const std::string& text, bool is_final,
              const Scene& scene) override;
  void draw(Canvas& canvas, const Scene& scene,
            const Area& area) const override;
  std::string status(const Scene& scene) const override;
  std::vector<KeyHint> hints(const Scene& scene) const override;
  std::vector<HelpSection> help(const Scene& scene) const override;
  void need(bool is_shown, analysis::TopNeeds& needs) const override;
  std::string copy(const Scene& scene) const override;
  void prepare(const Scene& scene) override;

 private:
  const GroupWords& next_group() const;
  int table_rows() const;
  void rebuild(const Scene& scene);
  void resort(const Scene& scene) {
    tree_.sort(options_);
    relist(scene);
  }
  void relist(const Scene& scene);
  void choose_key(const std::string& key);
  void remember() {
    if (cursor_.chosen < rows_.size()) chosen_key_ = rows_[cursor_.chosen].key;
  }
  const TreeRow* chosen() const {
    return cursor_.chosen < rows_.size() ? &rows_[cursor_.chosen] : nullptr;
  }
  Answer press_letter(char32_t letter, const Scene& scene);
  Answer open(const Scene& scene);
  Answer close(const Scene& scene);
  Answer enter(const Scene& scene);
  Answer mark();
  Answer follow();
  std::optional<TopColumn> head_at(int column) const;
  Answer click(const Key& key, const Scene& scene);
  Answer sort_next(const Scene& scene);
  Answer group_next(const Scene& scene);
  Answer find(Search search);
  bool matches(const TreeRow& row) const;
  MarkedSum marked_sum() const;

  TreeOptions options_;
  Openings openings_;
  std::string find_;
  std::set<std::string> marked_;
  std::string chosen_key_;
  std::optional<model::ProcessId> followed_;
  bool is_following_row_ = false;  // the highlight waits for it to come back
  ListCursor cursor_;
  ProcessTree tree_;
  std::optional<uint64_t> built_of_;  // the snapshot's serial
  // The next grouping, made while nobody waits.
  ProcessTree next_tree_;
  std::optional<uint64_t> next_of_;
  std::vector<TreeRow> rows_;
  int columns_ = 80;
  Area area_;
};

int ProcessesView::table_rows() const {
  return area_.rows - 1 - (marked_.empty() ? 0 : 1);
}

void ProcessesView::rebuild(const Scene& scene) {
  options_.choice.reset();
  if (scene.choice != nullptr) options_.choice = *scene.choice;
  tree_ = ProcessTree(*scene.snapshot, options_);
  built_of_ = scene.serial;
  relist(scene);
}

// The highlight follows the item, not the row. Where it has gone, the row that
// took its place is chosen.
void ProcessesView::relist(const Scene& scene) {
  rows_ = tree_.rows(*scene.snapshot, openings_);
  const size_t before = cursor_.chosen;
  choose_key(chosen_key_);
  // It keeps its line on the screen as well, so the eye finds it.
  if (cursor_.chosen != before) {
    const size_t moved = cursor_.first + cursor_.chosen;
    cursor_.first = moved > before ? moved - before : 0;
  }
  cursor_.settle(rows_.size(), table_rows());
  if (!is_following_row_) remember();
}

void ProcessesView::choose_key(const std::string& key) {
  if (key.empty()) return;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].key != key) continue;
    cursor_.chosen = i;
    return;
  }
}

Answer ProcessesView::press(const Key& key, const Scene& scene) {
  if (cursor_.move(key, rows_.size(), table_rows())) {
    is_following_row_ = false;
    remember();
    return taken();
  }
  switch (key.code) {
    case KeyCode::Right:
      return open(scene);
    case KeyCode::Left:
      return close(scene);
    case KeyCode::Enter:
      return enter(scene);
    case KeyCode::Click:
      return click(key, scene);
    case KeyCode::Character:
      return press_letter(key.character, scene);
    default:
      return {};
  }
}

Answer ProcessesView::press_letter(char32_t letter, const Scene& scene) {
  switch (letter) {
    case U' ':
      return mark();
    case U's':
      return sort_next(scene);
    case U'S':
      options_.is_reversed = !options_.is_reversed;
      resort(scene);
      return taken();
    case U'g':
      return group_next(scene);
    case U'n':
      return find({true, false});
    case U'N':
      return find({false, false});
    case U'f':
      return follow();
    case U'u':
      marked_.clear();
      relist(scene);
      return taken("no marks");
    default:
      return {};
  }
}

Answer ProcessesView::open(const Scene& scene) {
  const TreeRow* row = chosen();
  if (row == nullptr || !row->can_open) return taken();
  if (row->is_open) {
    cursor_.chosen += 1;
    remember();
  } else {
    openings_.opened.insert(row->key);
    openings_.closed.erase(row->key);
  }
  relist(scene);
  return taken();
}

// Of what is closed already the parent is chosen.
Answer ProcessesView::close(const Scene& scene) {
  const TreeRow* row = chosen();
  if (row == nullptr) return taken();
  if (row->can_open && row->is_open) {
    openings_.closed.insert(row->key);
    openings_.opened.erase(row->key);
  } else {
    for (size_t i = cursor_.chosen; i-- > 0;) {
      if (rows_[i].depth >= row->depth) continue;
      chosen_key_ = rows_[i].key;
      break;
    }
  }
  relist(scene);
  return taken();
}

Answer ProcessesView::enter(const Scene& scene) {
  const TreeRow* row = chosen();
  if (row == nullptr) return taken();
  const bool has_process = row->kind == TreeRowKind::Process ||
                           row->kind == TreeRowKind::Part ||
                           row->kind == TreeRowKind::Mapping;
  if (!has_process) {
    return row->is_open ? close(scene) : open(scene);
  }
  Answer answer = asked(Wish::OpenMaps);
  answer.request.process = tree_.row_of(tree_.nodes()[row->node]).process;
  return answer;
}

// The highlight stays with it, and the timeline is its own.
Answer ProcessesView::follow() {
  const TreeRow* row = chosen();
  if (followed_) {
    followed_.reset();
    is_following_row_ = false;
    return taken("no longer following");
  }
  if (row == nullptr || row->kind != TreeRowKind::Process)
    return taken("only a process can be followed");
  followed_ = tree_.row_of(tree_.nodes()[row->node]).process;
  is_following_row_ = true;
  remember();
  return taken("following " + base::visible(row->name) +
               ": the timeline is its own; f ends it");
}

void ProcessesView::need(bool /*is_shown*/, analysis::TopNeeds& needs) const {
  needs.ending = marked_sum().ending;
  if (followed_) needs.timeline_of.processes = {*followed_};
}

std::string ProcessesView::copy(const Scene& /*scene*/) const {
  const TreeRow* row = chosen();
  if (row == nullptr) return {};
  const TextStyle style;
  return task_id(*row, tree_) + "\t" + base::visible(row->name) + "\t" +
         dense(style, row->use.in_ram()) + "\t" + dense(style, row->use.uss) +
         "\t" + dense(style, row->use.swap_pss) + "\t" +
         signed_size(row->growth_bytes);
}

Answer ProcessesView::mark() {
  const TreeRow* row = chosen();
  if (row == nullptr || row->kind != TreeRowKind::Process) {
    return taken("only processes can be marked");
  }
  if (marked_.erase(row->key) == 0) marked_.insert(row->key);
  cursor_.chosen += 1;
  cursor_.settle(rows_.size(), table_rows());
  remember();
  return taken();
}

// Numbers stand below their heads, names and ids from the left on.
std::optional<TopColumn> ProcessesView::head_at(int column) const {
  const TableLayout layout = table_layout(columns_);
  for (const ColumnWords& words : kTableColumns) {
    if (static_cast<size_t>(words.column) >= layout.ends.size()) continue;
    const int end = layout.end_of(words.column);
    if (column < end && column >= end - 7) return words.column;
  }
  if (column >= layout.end_of(TopColumn::Pss)) return std::nullopt;
  return column < layout.name ? TopColumn::Task : TopColumn::Name;
}

Answer ProcessesView::click(const Key& key, const Scene& scene) {
  const int line = key.row - area_.top - 1;
  if (line == -1) {
    // A head sorts by its column.
    const std::optional<TopColumn> column = head_at(key.column);
    if (!column) return taken();
    options_.is_reversed = options_.sort == *column && !options_.is_reversed;
    options_.sort = *column;
    resort(scene);
    return taken();
  }
  if (line < 0 || line >= table_rows()) return {};
  const size_t index = cursor_.first + static_cast<size_t>(line);
  if (index >= rows_.size()) return taken();
  const bool is_again = index == cursor_.chosen;
  cursor_.chosen = index;
  remember();
  if (!is_again) return taken();
  return rows_[index].is_open ? close(scene) : open(scene);
}

Answer ProcessesView::sort_next(const Scene& scene) {
  const TableLayout layout = table_layout(columns_);
  size_t at = 0;
  while (kTableColumns[at].column != options_.sort)
    ++at;
  // By what can be seen.
  for (size_t i = 1; i <= std::size(kTableColumns); ++i) {
    const ColumnWords& next =
        kTableColumns[(at + i) % std::size(kTableColumns)];
    const bool is_shown =
        next.column == TopColumn::Name ||
        (next.column == TopColumn::Task ? layout.has_task
                                        : layout.end_of(next.column) > 0);
    if (!is_shown) continue;
    options_.sort = next.column;
    options_.is_reversed = false;
    resort(scene);
    return taken("sorted by " + std::string(next.head));
  }
  return taken();
}

const GroupWords& ProcessesView::next_group() const {
  const auto at =
      std::ranges::find(kGroups, options_.group_by, &GroupWords::group);
  const size_t next = static_cast<size_t>(at - std::begin(kGroups)) + 1;
  return kGroups[next % std::size(kGroups)];
}

Answer ProcessesView::group_next(const Scene& scene) {
  const GroupWords& next = next_group();
  options_.group_by = next.group;
  if (next_of_ == scene.serial) {
    std::swap(tree_, next_tree_);
    next_of_.reset();
    resort(scene);
  } else {
    rebuild(scene);
  }
  return taken(std::string(next.words));
}

void ProcessesView::prepare(const Scene& scene) {
  if (next_of_ == scene.serial || built_of_ != scene.serial) return;
  TreeOptions options = options_;
  options.group_by = next_group().group;
  next_tree_ = ProcessTree(*scene.snapshot, options);
  next_of_ = scene.serial;
}

bool ProcessesView::matches(const TreeRow& row) const {
  return contains_letters(row.name, find_) ||
         contains_letters(task_id(row, tree_), find_);
}

Answer ProcessesView::find(Search search) {
  if (find_.empty()) return taken("nothing to find; / asks for it");
  const bool is_found =
      cursor_.find(rows_.size(), table_rows(), search,
                   [&](size_t i) { return matches(rows_[i]); });
  if (!is_found) return taken("'" + base::visible(find_) + "' is in no row");
  remember();
  return taken();
}

Answer ProcessesView::tell(Prompt prompt, const std::string& text,
                           bool /*is_final*/, const Scene& /*scene*/) {
  if (prompt == Prompt::Find) {
    find_ = text;
    return text.empty() ? taken() : find({true, true});
  }
  return {};
}

// Of those that are still there, in an order that stays.
MarkedSum ProcessesView::marked_sum() const {
  MarkedSum sum;
  if (marked_.empty()) return sum;
  for (const TreeNode& node : tree_.nodes()) {
    if (!marked_.contains(node.key)) continue;
    const analysis::PsRow& row = tree_.row_of(node);
    sum.use.add(row.use);
    sum.ending.push_back(row.process);
    if (sum.ending.size() <= 3)
      sum.names += (sum.names.empty() ? "" : ", ") + base::visible(row.name);
  }
  std::ranges::sort(sum.ending, {}, &model::ProcessId::pid);
  return sum;
}

void ProcessesView::draw(Canvas& canvas, const Scene& scene,
                         const Area& area) const {
  const ProcessTable table(canvas, scene, tree_);
  table.draw_head(area.top, options_);
  if (rows_.empty() && scene.choice != nullptr) {
    canvas.put_within(1, area.top + 1, columns_ - 2,
                      "no process is meant by this filter; F changes it",
                      paint(Role::Plain));
  }
  for (int line = 0; line < table_rows(); ++line) {
    const size_t index = cursor_.first + static_cast<size_t>(line);
    if (index >= rows_.size()) break;
    const TreeRow& row = rows_[index];
    table.draw_row(area.top + 1 + line, row, marked_.contains(row.key),
                   index == cursor_.chosen);
  }
  if (!marked_.empty()) {
    const int column = table_layout(columns_).name;
    canvas.put_within(column, area.top + area.rows - 1, columns_ - column - 1,
                      marked_words(marked_sum(), *scene.snapshot),
                      paint(Role::Strong));
  }
}

std::string ProcessesView::status(const Scene& scene) const {
  return base::counted(tree_.report().process_count, "task", "tasks") +
         reading_words(*scene.snapshot);
}

std::vector<KeyHint> ProcessesView::hints(const Scene& scene) const {
  std::vector<KeyHint> list = {
      {"↑↓", "move"}, {"→", "open"}, {"Enter", "maps"}, {"Space", "mark"},
      {"/", "find"},  {"s", "sort"}, {"g", "group"},    {"f", "follow"}};
  if (scene.snapshot->playback) {
    list.insert(list.end(), {{"p", "peak"}, {"t", "time"}});
  } else {
    list.push_back({"r", "record"});
  }
  list.insert(list.end(), {{"y", "copy"}, {"z", "freeze"}});
  return list;
}

std::vector<HelpSection> ProcessesView::help(const Scene& /*scene*/) const {
  return {
      {"MOVE",
       {{"↑ ↓ PgUp PgDn Home End", "row, page, ends"},
        {"→ ←", "open, close; again: to the parent"}}},
      {"LOOK",
       {{"/  n N", "find, next, previous"},
        {"s S", "sort by next column, reverse"},
        {"g", "group: cgroup, parent, user, program"},
        {"Enter", "maps of this process"}}},
      {"CHOOSE",
       {{"Space  u", "mark, no marks; below: what comes back"},
        {"f", "follow it, in the timeline too"},
        {"y", "copy this row"}}},
  };
}

}  // namespace

std::unique_ptr<View> make_processes_view() {
  return std::make_unique<ProcessesView>();
}

}  // namespace tidemark::view::tui
