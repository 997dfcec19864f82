#include "view/tui/vms_view.h"

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/style.h"
#include "view/tui/frame.h"
#include "view/tui/numbers.h"
#include "view/tui/row_list.h"
#include "view/tui/stack_picture.h"
#include "view/tui/vm_table.h"

namespace tidemark::view::tui {
namespace {

using analysis::RamBands;
using analysis::TopVmPoint;
using analysis::TopVms;
using analysis::VmBand;
using analysis::VmRow;

std::string vm_key(const VmRow& row) {
  return std::to_string(row.vm.id.pid) + ":" +
         std::to_string(row.vm.id.start_ticks);
}

class VmsView : public View {
 public:
  char32_t number() const override { return U'6'; }
  std::string_view name() const override { return "VMs"; }
  bool is_there(const Scene& scene) const override {
    const auto& vms = scene.snapshot->slow.vms.value;
    return vms && vms->has_any;
  }
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
    needs.vms = is_shown;
  }
  std::string copy(const Scene& scene) const override;

 private:
  struct Line {
    size_t vm = 0;
    std::optional<size_t> band;
  };

  // Below 20 rows the picture halves, below 14 it goes.
  int picture_rows() const {
    const int screen = area_.rows + 5;
    if (screen < 14) return 0;
    return screen < 20 ? 4 : std::max(area_.rows / 3, 6);
  }
  int list_top() const { return area_.top + picture_rows() + 1; }
  int list_rows() const { return area_.rows - picture_rows() - 1; }
  const std::vector<VmRow>& rows() const { return vms_->report.rows; }
  const VmRow* chosen() const;
  void reorder();
  void relist();
  Answer set_open(bool is_open);
  Answer sort_by(size_t column);
  Answer sort_next();
  Answer click(const Key& key);
  Answer press_letter(char32_t letter);
  void draw_picture(Canvas& canvas, const Scene& scene) const;

  std::shared_ptr<const TopVms> vms_;  // null: none yet
  std::optional<ProcessChoice> choice_;
  std::vector<size_t> order_;
  std::vector<Line> lines_;
  RowList list_;
  VmColumn sort_ = VmColumn::Cost;
  bool is_reversed_ = false;
  int columns_ = 80;
  Area area_;
};

const VmRow* VmsView::chosen() const {
  if (!vms_ || list_.chosen() >= lines_.size()) return nullptr;
  return &rows()[lines_[list_.chosen()].vm];
}

void VmsView::arrange(const Scene& scene, int columns, const Area& area) {
  columns_ = columns;
  area_ = area;
  vms_ = scene.snapshot->slow.vms.value;
  choice_.reset();
  if (scene.choice != nullptr) choice_ = *scene.choice;
  reorder();
  relist();
}

void VmsView::reorder() {
  order_.clear();
  if (!vms_) return;
  for (size_t i = 0; i < rows().size(); ++i) {
    if (!choice_ || choice_->has(rows()[i].vm.id.pid)) order_.push_back(i);
  }
  std::ranges::stable_sort(order_, [&](size_t a, size_t b) {
    if (sort_ == VmColumn::Name) {
      const int order = rows()[a].vm.name.compare(rows()[b].vm.name);
      return is_reversed_ ? order > 0 : order < 0;
    }
    const uint64_t left = vm_number(rows()[a], sort_);
    const uint64_t right = vm_number(rows()[b], sort_);
    return is_reversed_ ? left < right : left > right;
  });
}

void VmsView::relist() {
  lines_.clear();
  std::vector<ListedRow> listed;
  for (size_t index : order_) {
    const VmRow& row = rows()[index];
    lines_.push_back({index, std::nullopt});
    const std::string key = vm_key(row);
    listed.push_back({key, row.vm.name + " p:" + std::to_string(row.vm.id.pid) +
                               " " +
                               std::string(model::vm_kind_name(row.vm.kind))});
    if (!list_.is_open(key)) continue;
    for (size_t i = 0; i < row.bands.size(); ++i) {
      lines_.push_back({index, i});
      listed.push_back({key + " " + row.bands[i].name, row.bands[i].name});
    }
  }
  list_.list(std::move(listed), list_rows());
}

Answer VmsView::set_open(bool is_open) {
  if (const VmRow* row = chosen()) list_.set_open(vm_key(*row), is_open);
  relist();
  return taken();
}

Answer VmsView::sort_by(size_t column) {
  is_reversed_ = sort_ == kVmColumns[column].column && !is_reversed_;
  sort_ = kVmColumns[column].column;
  reorder();
  relist();
  return taken();
}

Answer VmsView::sort_next() {
  const VmLayout layout = vm_layout(columns_);
  size_t at = static_cast<size_t>(sort_);
  do {
    at = (at + 1) % std::size(kVmColumns);
  } while (at < kVmNumbers && layout.ends[at] == 0);
  is_reversed_ = false;
  sort_ = kVmColumns[at].column;
  reorder();
  relist();
  return taken("sorted by " + std::string(kVmColumns[at].head));
}

Answer VmsView::click(const Key& key) {
  const int line = key.row - list_top();
  if (line == -1) {
    const VmLayout layout = vm_layout(columns_);
    for (size_t i = 0; i < kVmNumbers; ++i) {
      const int end = layout.ends[i];
      if (end > 0 && key.column < end && key.column >= end - 7)
        return sort_by(i);
    }
    return taken();
  }
  const std::string before = list_.chosen_key();
  if (!list_.choose_line(line)) return {};
  if (list_.chosen_key() != before) return taken();
  return set_open(!list_.is_open(before));
}

Answer VmsView::press(const Key& key, const Scene& /*scene*/) {
  if (list_.move(key)) return taken();
  switch (key.code) {
    case KeyCode::Right:
      return set_open(true);
    case KeyCode::Left:
      return set_open(false);
    case KeyCode::Enter:
      return set_open(chosen() != nullptr && !list_.is_open(vm_key(*chosen())));
    case KeyCode::Click:
      return click(key);
    case KeyCode::Character:
      return press_letter(key.character);
    default:
      return {};
  }
}

Answer VmsView::press_letter(char32_t letter) {
  switch (letter) {
    case U's':
      return sort_next();
    case U'S':
      return sort_by(static_cast<size_t>(sort_));
    case U'n':
      return list_.find_next(true);
    case U'N':
      return list_.find_next(false);
    default:
      return {};
  }
}

Answer VmsView::tell(Prompt prompt, const std::string& text, bool /*is_final*/,
                     const Scene& /*scene*/) {
  if (prompt != Prompt::Find) return {};
  return list_.find(text);
}

// One column for each stretch of the last ten minutes, the last reading in it.
std::vector<StackColumn> band_columns(const std::vector<TopVmPoint>& points,
                                      int columns) {
  std::vector<StackColumn> out(static_cast<size_t>(std::max(columns, 0)));
  if (points.empty() || out.empty()) return out;
  for (const TopVmPoint& point : points) {
    const uint64_t age = points.back().time_ns - point.time_ns;
    const auto back =
        static_cast<size_t>(static_cast<double>(age) /
                            static_cast<double>(analysis::kTopHistoryNs) *
                            static_cast<double>(out.size()));
    if (back >= out.size()) continue;
    out[out.size() - 1 - back].parts.assign(point.bytes.begin(),
                                            point.bytes.end());
  }
  for (size_t i = 1; i < out.size(); ++i) {
    if (out[i].parts.empty()) out[i].parts = out[i - 1].parts;
  }
  return out;
}

void VmsView::draw_picture(Canvas& canvas, const Scene& scene) const {
  const VmRow* row = chosen();
  if (row == nullptr || picture_rows() < 3) return;
  const auto found =
      vms_->history.find({row->vm.id.pid, row->vm.id.start_ticks});
  uint64_t top = 1;
  if (found != vms_->history.end()) {
    for (const TopVmPoint& point : found->second) {
      uint64_t sum = 0;
      for (uint64_t bytes : point.bytes)
        sum += bytes;
      top = std::max(top, sum);
    }
  }
  canvas.put_within(1, area_.top, canvas.columns() - 2,
                    base::visible(row->vm.name) +
                        ": what it costs, last 10 min, up to " +
                        base::short_size(top),
                    paint(Role::Dim));
  const PictureBox box = {6, area_.top + 1, canvas.columns() - 7,
                          picture_rows() - 2};
  canvas.put_right(5, box.row, base::short_size(top), paint(Role::Dim));
  canvas.put_right(5, box.row + box.rows - 1, "0", paint(Role::Dim));
  if (found != vms_->history.end()) {
    draw_stack(canvas, scene.look, box, kBandColours,
               band_columns(found->second, box.columns), top);
  }
  draw_rule(canvas, box.row + box.rows);
}

void VmsView::draw(Canvas& canvas, const Scene& scene, const Area& area) const {
  if (!vms_ || rows().empty()) {
    const std::string& failure = scene.snapshot->slow.vms.failure;
    canvas.put_within(
        1, area.top, canvas.columns() - 2,
        failure.empty() ? "no VM is running" : base::visible(failure),
        paint(failure.empty() ? Role::Dim : Role::Unknown));
    return;
  }
  draw_picture(canvas, scene);
  draw_vm_head(canvas, list_top() - 1, sort_, is_reversed_);
  for (int line = 0; line < list_rows(); ++line) {
    const size_t index = list_.first() + static_cast<size_t>(line);
    if (index >= lines_.size()) break;
    const int at = list_top() + line;
    const VmRow& row = rows()[lines_[index].vm];
    if (lines_[index].band) {
      draw_vm_band(canvas, scene.look, at, row, row.bands[*lines_[index].band]);
    } else {
      draw_vm(canvas, scene.look, at, row, list_.is_open(vm_key(row)));
    }
    draw_row_marks(canvas, scene.look, at, false, list_.is_chosen(index));
  }
}

std::string VmsView::status(const Scene& scene) const {
  if (!vms_) return "no VM was seen";
  const analysis::VmReport& report = vms_->report;
  const TextStyle style;
  std::string words = base::counted(report.rows.size(), "VM", "VMs") + ": " +
                      dense(style, report.cost);
  if (report.held.has_known)
    words += ", " + dense(style, report.held) + " could come back";
  words += "; " + base::grouped(report.answering_count) + " of " +
           base::grouped(report.rows.size()) + " guests tell";
  const uint64_t now = scene.snapshot->sample.started_monotonic_ns;
  const uint64_t read = scene.snapshot->slow.vms.read_ns;
  words += " · " + age_words(now > read ? now - read : 0) + " old";
  // What the chosen one's numbers lack.
  const VmRow* row = chosen();
  if (row != nullptr && !row->guest)
    words = "? " + base::visible(row->guest.unknown_because);
  return words;
}

std::string VmsView::copy(const Scene& /*scene*/) const {
  const VmRow* row = chosen();
  if (row == nullptr) return {};
  const TextStyle style;
  std::string text =
      base::visible(row->vm.name) + "\tp:" + std::to_string(row->vm.id.pid);
  const Line& line = lines_[list_.chosen()];
  if (line.band) {
    const VmBand& band = row->bands[*line.band];
    return text + "\t" + band.name + "\t" + base::short_size(band.bytes);
  }
  return text + "\t" + dense(style, row->cost) + "\t" +
         dense(style, band_bytes(*row, &RamBands::used_bytes)) + "\t" +
         dense(style, band_bytes(*row, &RamBands::held_bytes));
}

std::vector<KeyHint> VmsView::hints(const Scene& /*scene*/) const {
  return {{"↑↓", "move"}, {"→", "bands"}, {"s", "sort"},
          {"/", "find"},  {"y", "copy"},  {"z", "freeze"}};
}

std::vector<HelpSection> VmsView::help(const Scene& /*scene*/) const {
  return {{"MOVE",
           {{"↑ ↓ PgUp PgDn Home End", "row, page, ends"},
            {"→ ← Enter", "what it is made of"}}},
          {"LOOK",
           {{"/  n N", "find, next, previous"},
            {"s S", "sort by next column, reverse"},
            {"y", "copy this row"}}}};
}

}  // namespace

std::unique_ptr<View> make_vms_view() {
  return std::make_unique<VmsView>();
}

}  // namespace tidemark::view::tui
