// The terminal, and the only file that knows it: ncurses for its set-up, its
// keys and what it can do; cells that changed are written in one piece.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "view/tui/canvas.h"
#include "view/tui/key.h"
#include "view/tui/look.h"

namespace tidemark::view::tui {

// What the terminal is asked to be; the rest is found out.
struct ScreenOptions {
  std::optional<GlyphSet> glyphs;
  std::optional<bool> is_dark;
  bool allows_color = true;  // no NO_COLOR
  bool is_utf8 = true;       // the locale
};

// While it lives the terminal is ours; it is given back as it was at its end.
// SIGWINCH and SIGCONT are blocked meanwhile and wait in a descriptor, so
// threads must be started after it. One at a time.
class Screen {
 public:
  // Unsupported when this is no terminal, or one that cannot place a cursor.
  static base::Result<Screen> open(const ScreenOptions& options);
  Screen(Screen&&) noexcept;
  Screen& operator=(Screen&&) = delete;
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  const Look& look() const;
  int columns() const;
  int rows() const;

  // Readable when a key was pressed, or the size has changed.
  int key_fd() const;
  int signal_fd() const;
  // Takes the size as it is now; all is drawn again.
  void take_signals();
  // None when there is none.
  Key next_key();

  // Fails when the terminal is gone.
  base::Status flush(const Canvas& canvas);
  // To the clipboard of whoever sits at the terminal (OSC 52), also through
  // ssh; a terminal that knows nothing of it ignores it.
  base::Status copy(const std::string& text);

 private:
  class Terminal;
  explicit Screen(std::unique_ptr<Terminal> terminal);
  std::unique_ptr<Terminal> terminal_;
};

}  // namespace tidemark::view::tui
