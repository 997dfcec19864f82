// What a view of `top` is. One file each; the table in top.cc lists them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/top_snapshot.h"
#include "view/tui/canvas.h"
#include "view/tui/key.h"
#include "view/tui/look.h"
#include "view/tui/process_choice.h"

namespace tidemark::view::tui {

// What views draw from. The snapshot is never null.
struct Scene {
  const analysis::TopSnapshot* snapshot = nullptr;
  Look look;
  // Another one for each snapshot, for an address may be used again, and for
  // each filter.
  uint64_t serial = 0;
  // Whom a filter means; null: all.
  const ProcessChoice* choice = nullptr;
};

// Rows of the screen that belong to the view.
struct Area {
  int top = 0;
  int rows = 0;
};

enum class Wish : uint8_t {
  None,
  Quit,
  OpenMaps,  // of `process`
  CloseMaps,
  Record,     // begin, or end
  MoveTicks,  // of a recording, by `count`
  GoTo,       // the moment `text` says
  NextPeak,
  PreviousPeak,
  PlayOrPause,
  Faster,
  Slower,
  Copy,      // `text`, to the clipboard of the terminal
  Trace,     // begin to follow page allocations, or end it
  NameCode,  // look for names of code again
  WriteReport,
  Freeze,  // the display, or let it go on
};

struct Request {
  Wish wish = Wish::None;
  model::ProcessId process;
  int64_t count = 0;
  std::string text;
};

// What came of a key.
struct Answer {
  bool is_taken = false;
  Request request;
  std::string message;  // for the status line
};
inline Answer taken(std::string message = {}) {
  return {true, {}, std::move(message)};
}
inline Answer asked(Wish wish) {
  return {true, {wish, {}, 0, {}}, {}};
}

// "↑↓", "move".
struct KeyHint {
  std::string_view keys;
  std::string_view does;
};
struct HelpSection {
  std::string_view title;
  std::vector<KeyHint> lines;
};

// A question that is answered in the status line.
enum class Prompt : uint8_t { None, Find, Filter, Time };

class View {
 public:
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  virtual ~View() = default;

  virtual char32_t number() const = 0;
  virtual std::string_view name() const = 0;
  // Rows and columns that can be drawn on have changed, or there is something
  // new to show.
  virtual void arrange(const Scene& scene, int columns, const Area& area) = 0;
  virtual Answer press(const Key& key, const Scene& scene) = 0;
  // A question was answered, or is being: `is_final` on Enter.
  virtual Answer tell(Prompt /*prompt*/, const std::string& /*text*/,
                      bool /*is_final*/, const Scene& /*scene*/) {
    return {};
  }
  virtual void draw(Canvas& canvas, const Scene& scene,
                    const Area& area) const = 0;
  // The left part of the status line.
  virtual std::string status(const Scene& scene) const = 0;
  // Its right part, where that is not what we cost.
  virtual std::string status_end(const Scene& /*scene*/) const { return {}; }
  virtual std::vector<KeyHint> hints(const Scene& scene) const = 0;
  virtual std::vector<HelpSection> help(const Scene& scene) const = 0;
  // Nobody waits: what a key may ask for next can be made ready.
  virtual void prepare(const Scene& /*scene*/) {}
  // Whether there is anything it could show; else it has no tab.
  virtual bool is_there(const Scene& /*scene*/) const { return true; }
  // What it needs that is not read every second. `is_shown`: it is on the
  // screen.
  virtual void need(bool /*is_shown*/, analysis::TopNeeds& /*needs*/) const {}
  // The chosen row as one line, its columns parted by tabs.
  virtual std::string copy(const Scene& /*scene*/) const { return {}; }
  // The right end of the row of views, where it has something of its own.
  virtual std::string state(const Scene& /*scene*/) const { return {}; }
  // Whether r, p and t mean something else here than in the other views.
  virtual bool has_own_letters() const { return false; }
  // What of the view a filter is for, where that is not all of it.
  virtual std::string_view filter_words() const { return {}; }
  // Whether the line of the machine's memory stands in the first row.
  virtual bool has_ledger_line() const { return true; }
};

struct Search {
  bool is_forward = true;
  bool includes_chosen = false;
};

// Where one is in a list of rows that is longer than the screen.
struct ListCursor {
  size_t chosen = 0;
  size_t first = 0;  // row of the list at the top

  // Keeps the chosen row in sight.
  void settle(size_t count, int height);
  // Whether the key was one that moves.
  bool move(const Key& key, size_t count, int height);
  // To the next row that is meant, round the ends of the list; false: none is,
  // also where there is no row at all.
  bool find(size_t count, int height, Search search,
            const std::function<bool(size_t)>& is_meant);
};

}  // namespace tidemark::view::tui
