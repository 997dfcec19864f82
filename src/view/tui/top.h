// `top` without a terminal: what is shown, what keys do to it, what they ask
// for. Live and recorded look the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/top_snapshot.h"
#include "view/tui/canvas.h"
#include "view/tui/frame.h"
#include "view/tui/key.h"
#include "view/tui/look.h"
#include "view/tui/view.h"

namespace tidemark::view::tui {

class Top {
 public:
  // Shared with who reads: it may be made while this one is still drawn.
  using Snapshot = std::shared_ptr<const analysis::TopSnapshot>;

  // The view with this number first; alone where the others would have nothing
  // to show.
  struct Start {
    char32_t view = U'1';
    bool is_alone = false;
  };

  Top(const Look& look, int columns, int rows);
  Top(const Look& look, int columns, int rows, const Start& start);

  void resize(int columns, int rows);
  // Shown at once, or when the display is no longer frozen.
  void take(Snapshot snapshot);
  Request press(const Key& key, uint64_t now_ns);
  // A message for the status line.
  void say(std::string message, uint64_t now_ns);
  Canvas draw(uint64_t now_ns) const;
  // While nobody waits.
  void prepare() { active().prepare(scene()); }
  // What is to be read on slower clocks for what is on the screen.
  analysis::TopNeeds needs() const;
  // When something on it changes by itself; 0: never.
  uint64_t message_until_ns() const { return message_until_ns_; }

 private:
  Request press_anywhere(const Key& key, uint64_t now_ns);
  Request press_letter(char32_t letter);
  Request press_prompt(const Key& key, uint64_t now_ns);
  Request obey(Answer answer, uint64_t now_ns);
  void freeze_or_go_on();
  void set_filter(const std::string& text, uint64_t now_ns);
  std::string status_words(const Scene& now) const;
  std::vector<HelpSection> help_sections() const;
  Request press_help(const Key& key);
  void choose_view(size_t index);
  void step_view(bool is_forward);
  void arrange();
  View& active() const;
  Scene scene() const {
    return {shown_.get(), look_, serial_, choice_ ? &*choice_ : nullptr};
  }
  std::string state_words() const;
  std::vector<Tab> tabs() const;

  Look look_;
  int columns_;
  int rows_;
  Snapshot shown_;       // never null
  uint64_t serial_ = 0;  // of the one that is shown
  Snapshot newest_;      // while frozen
  std::optional<ProcessChoice> choice_;
  std::vector<std::unique_ptr<View>> views_;
  std::unique_ptr<View> maps_;
  size_t view_ = 0;
  bool is_maps_open_ = false;
  bool is_frozen_ = false;
  bool is_help_open_ = false;
  int help_first_ = 0;  // line of it at the top
  Prompt prompt_ = Prompt::None;
  std::string typed_;
  std::string message_;
  uint64_t message_until_ns_ = 0;
};

}  // namespace tidemark::view::tui
