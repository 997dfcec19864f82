// The count of every page as a list whose rows open: classes with their owners,
// or owners with their classes. A page of the Machine view.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/top_ledger.h"
#include "view/tui/row_list.h"
#include "view/tui/view.h"

namespace tidemark::view::tui {

class LedgerPage {
 public:
  void arrange(std::shared_ptr<const analysis::TopLedger> ledger,
               const Area& area);
  // Not taken: a key of another.
  Answer press(const Key& key);
  Answer find(const std::string& text) { return list_.find(text); }
  void draw(Canvas& canvas, const Scene& scene) const;
  std::string copy() const;
  // The owners of this kind of memory are open and chosen; by class, whatever
  // it went by before.
  void show(model::Category kind);
  void go_by_class() { by_ = analysis::LedgerBy::Class; }
  std::optional<model::Category> chosen_kind() const;
  // What of the chosen row would come back if its owner ended; empty: that is
  // not known of one owner.
  std::string come_back_words() const;

  analysis::LedgerBy by() const { return by_; }
  std::string_view next_by();  // in words

 private:
  struct Line {
    size_t row = 0;
    std::optional<size_t> part;
  };
  void relist();
  Answer set_open(bool is_open);
  Answer click(const Key& key);
  bool is_chosen_open() const;

  // shared_ptr: many snapshots carry it, and it is drawn between them.
  std::shared_ptr<const analysis::TopLedger> ledger_;
  analysis::LedgerBy by_ = analysis::LedgerBy::Class;
  std::vector<Line> lines_;
  RowList list_;
  Area area_;
};

}  // namespace tidemark::view::tui
