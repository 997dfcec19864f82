#include "view/tui/ledger_page.h"

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"

namespace tidemark::view::tui {
namespace {

using analysis::LedgerBy;
using analysis::TopLedger;
using analysis::TopLedgerPart;
using analysis::TopLedgerRow;

struct ByWords {
  LedgerBy by;
  std::string_view words;
  std::string_view head;
};
constexpr ByWords kLedgerBys[] = {
    {LedgerBy::Class, "by class", "CLASS"},
    {LedgerBy::Cgroup, "by control group", "CONTROL GROUP"},
    {LedgerBy::Process, "by process", "PROCESS"},
    {LedgerBy::File, "by file", "FILE"},
};

const ByWords& words_of(LedgerBy by) {
  return *std::ranges::find(kLedgerBys, by, &ByWords::by);
}

// Of a path the end tells files apart.
std::string short_owner(const std::string& name) {
  return base::visible(name.starts_with('/') ? base::base_name(name) : name);
}

std::string first_parts(const TopLedgerRow& row) {
  std::string words;
  for (size_t i = 0; i < std::min<size_t>(row.parts.size(), 2); ++i)
    words += (i == 0 ? "" : ", ") + short_owner(row.parts[i].name);
  if (row.part_count > 2)
    words += ", " + base::grouped(row.part_count - 2) + " others";
  return words;
}

}  // namespace

std::string_view LedgerPage::next_by() {
  const auto at = std::ranges::find(kLedgerBys, by_, &ByWords::by);
  const size_t next = static_cast<size_t>(at - std::begin(kLedgerBys)) + 1;
  by_ = kLedgerBys[next % std::size(kLedgerBys)].by;
  return words_of(by_).words;
}

void LedgerPage::show(model::Category kind) {
  by_ = LedgerBy::Class;
  if (!ledger_ || ledger_->by != by_) return;
  const auto row =
      std::ranges::find(ledger_->rows, kind, &TopLedgerRow::category);
  if (row == ledger_->rows.end()) return;
  list_.set_open(row->name, true);
  relist();
  list_.choose(row->name);
}

std::optional<model::Category> LedgerPage::chosen_kind() const {
  if (list_.chosen() >= lines_.size()) return std::nullopt;
  return ledger_->rows[lines_[list_.chosen()].row].category;
}

std::string LedgerPage::come_back_words() const {
  if (list_.chosen() >= lines_.size()) return {};
  const Line& line = lines_[list_.chosen()];
  const TopLedgerRow& row = ledger_->rows[line.row];
  if (ledger_->by != LedgerBy::Class) {
    return base::visible(row.name) +
           ": marked with Space in 1 Processes, what its end gives is counted";
  }
  const bool is_alone =
      line.part &&
      row.name == model::ledger_class_label(model::LedgerClass::AnonPrivate);
  if (!is_alone) return {};
  const TopLedgerPart& part = row.parts[*line.part];
  return base::visible(part.name) + ": " + base::short_size(part.bytes) +
         " of anonymous memory if it ended";
}

void LedgerPage::arrange(std::shared_ptr<const TopLedger> ledger,
                         const Area& area) {
  ledger_ = std::move(ledger);
  area_ = area;
  relist();
}

void LedgerPage::relist() {
  lines_.clear();
  std::vector<ListedRow> listed;
  for (size_t i = 0; ledger_ && i < ledger_->rows.size(); ++i) {
    const TopLedgerRow& row = ledger_->rows[i];
    lines_.push_back({i, std::nullopt});
    listed.push_back({row.name, row.name});
    if (!list_.is_open(row.name)) continue;
    for (size_t k = 0; k < row.parts.size(); ++k) {
      lines_.push_back({i, k});
      listed.push_back(
          {row.name + "\n" + row.parts[k].name, row.parts[k].name});
    }
  }
  list_.list(std::move(listed), area_.rows - 2);
}

bool LedgerPage::is_chosen_open() const {
  return list_.chosen() < lines_.size() &&
         list_.is_open(ledger_->rows[lines_[list_.chosen()].row].name);
}

Answer LedgerPage::set_open(bool is_open) {
  if (list_.chosen() < lines_.size())
    list_.set_open(ledger_->rows[lines_[list_.chosen()].row].name, is_open);
  relist();
  return taken();
}

Answer LedgerPage::click(const Key& key) {
  const std::string before = list_.chosen_key();
  if (!list_.choose_line(key.row - area_.top - 1)) return {};
  return list_.chosen_key() == before ? set_open(!is_chosen_open()) : taken();
}

Answer LedgerPage::press(const Key& key) {
  if (list_.move(key)) return taken();
  switch (key.code) {
    case KeyCode::Right:
      return set_open(true);
    case KeyCode::Left:
      return set_open(false);
    case KeyCode::Enter:
      return set_open(!is_chosen_open());
    case KeyCode::Click:
      return click(key);
    default:
      break;
  }
  if (key == typed(U'n')) return list_.find_next(true);
  if (key == typed(U'N')) return list_.find_next(false);
  return {};
}

void LedgerPage::draw(Canvas& canvas, const Scene& scene) const {
  const int columns = canvas.columns();
  const int bytes_end = std::max(columns / 2, 30);
  canvas.put(3, area_.top, words_of(ledger_ ? ledger_->by : by_).head,
             paint(Role::Dim));
  canvas.put_right(bytes_end, area_.top, "BYTES", paint(Role::Strong));
  canvas.put_right(bytes_end + 7, area_.top, "%", paint(Role::Dim));
  canvas.put(bytes_end + 9, area_.top, "MOSTLY", paint(Role::Dim));
  for (int line = 0; line < area_.rows - 2; ++line) {
    const size_t index = list_.first() + static_cast<size_t>(line);
    if (index >= lines_.size()) break;
    const int at = area_.top + 1 + line;
    const TopLedgerRow& row = ledger_->rows[lines_[index].row];
    const bool is_part = lines_[index].part.has_value();
    const std::string& name =
        is_part ? row.parts[*lines_[index].part].name : row.name;
    const uint64_t bytes =
        is_part ? row.parts[*lines_[index].part].bytes : row.bytes;
    if (!is_part) {
      canvas.set(1, at, band_glyph(scene.look, row.category),
                 paint(role_of(row.category)));
      canvas.put_within(bytes_end + 9, at, columns - bytes_end - 10,
                        first_parts(row), paint(Role::Dim));
    }
    const int column = is_part ? 5 : 3;
    canvas.put_within(column, at, bytes_end - 7 - column, base::visible(name),
                      paint(Role::Plain));
    canvas.put_right(bytes_end, at, base::short_size(bytes),
                     paint(is_part ? Role::Plain : Role::Strong));
    canvas.put_right(bytes_end + 7, at,
                     base::percent(bytes, ledger_->total_bytes),
                     paint(Role::Plain));
    draw_row_marks(canvas, scene.look, at, false, list_.is_chosen(index));
  }
  if (!ledger_) return;
  std::string sum = "all " + base::short_size(ledger_->total_bytes);
  if (ledger_->other_count > 0) {
    sum += ", of it " + base::short_size(ledger_->other_bytes) + " in " +
           base::counted(ledger_->other_count, "smaller row", "smaller rows");
  }
  canvas.put_within(3, area_.top + area_.rows - 1, columns - 4, sum,
                    paint(Role::Strong));
}

std::string LedgerPage::copy() const {
  if (list_.chosen() >= lines_.size()) return {};
  const Line& line = lines_[list_.chosen()];
  const TopLedgerRow& row = ledger_->rows[line.row];
  if (!line.part)
    return base::visible(row.name) + "\t" + base::short_size(row.bytes);
  const TopLedgerPart& part = row.parts[*line.part];
  return base::visible(row.name) + "\t" + base::visible(part.name) + "\t" +
         base::short_size(part.bytes);
}

}  // namespace tidemark::view::tui
