#include "view/tui/screen.h"

#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <string_view>
#include <utility>

// Functions, not macros: ncurses calls them clear, move, timeout, ….
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>

#include "base/escape.h"
#include "base/fd.h"
#include "base/gzip.h"

namespace tidemark::view::tui {
namespace {

using base::ErrorKind;

bool is_environment(const char* name, std::string_view wanted) {
  const char* value = std::getenv(name);
  return value && std::string_view(value) == wanted;
}

// A string of terminfo; empty when this terminal has none.
std::string capability(const char* name) {
  const char* text = ::tigetstr(name);
  // -1 as a pointer: no such string at all.
  const auto* none = reinterpret_cast<const char*>(-1);  // NOLINT(*int-to-ptr)
  if (text == nullptr || text == none) return {};
  return text;
}

ColorDepth find_depth(const ScreenOptions& options) {
  if (!options.allows_color) return ColorDepth::None;
  const int colors = ::tigetnum("colors");
  if (colors < 8) return ColorDepth::None;
  if (is_environment("COLORTERM", "truecolor") ||
      is_environment("COLORTERM", "24bit") || colors > 256) {
    return ColorDepth::True;
  }
  return colors >= 256 ? ColorDepth::Indexed256 : ColorDepth::Ansi16;
}

// Where blocks, lines and `…` may take two cells: the terminal decides, and
// does not say how. By the name that was asked for: the locale itself may be
// missing here, behind ssh.
bool has_ambiguous_width() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view language = std::string_view(value).substr(0, 3);
    return language == "ja_" || language == "ko_" || language == "zh_";
  }
  return false;
}

GlyphSet find_glyphs(const ScreenOptions& options) {
  if (options.glyphs) return *options.glyphs;
  if (!options.is_utf8 || has_ambiguous_width()) return GlyphSet::Ascii;
  return is_environment("TERM", "linux") ? GlyphSet::Blocks : GlyphSet::Full;
}

// COLORFGBG is "foreground;background"; 7 and 15 are white paper.
bool find_dark(const ScreenOptions& options) {
  if (options.is_dark) return *options.is_dark;
  const char* value = std::getenv("COLORFGBG");
  if (value == nullptr) return true;
  const std::string_view colors = value;
  const std::string_view paper = colors.substr(colors.rfind(';') + 1);
  return paper != "7" && paper != "15";
}

struct NamedKey {
  int code;
  KeyCode key;
};
constexpr NamedKey kNamedKeys[] = {
    {KEY_UP, KeyCode::Up},         {KEY_DOWN, KeyCode::Down},
    {KEY_LEFT, KeyCode::Left},     {KEY_RIGHT, KeyCode::Right},
    {KEY_SLEFT, KeyCode::FarLeft}, {KEY_SRIGHT, KeyCode::FarRight},
    {KEY_PPAGE, KeyCode::PageUp},  {KEY_NPAGE, KeyCode::PageDown},
    {KEY_HOME, KeyCode::Home},     {KEY_END, KeyCode::End},
    {KEY_ENTER, KeyCode::Enter},   {KEY_BACKSPACE, KeyCode::Backspace},
    {KEY_BTAB, KeyCode::BackTab},
};

// ncurses tells once of all that came together, a quick press and its release
// or turns of the wheel, and gives the last of them first. In the order in
// which they came, without releases.
std::deque<Key> mouse_keys() {
  std::deque<Key> keys;
  MEVENT event{};
  while (::getmouse(&event) == OK) {
    Key key;
    key.column = event.x;
    key.row = event.y;
    if ((event.bstate & BUTTON4_PRESSED) != 0) key.code = KeyCode::WheelUp;
    if ((event.bstate & BUTTON5_PRESSED) != 0) key.code = KeyCode::WheelDown;
    if ((event.bstate & BUTTON1_PRESSED) != 0) key.code = KeyCode::Click;
    if (key.code != KeyCode::None) keys.push_front(key);
  }
  return keys;
}

Key named_key(int code) {
  for (const NamedKey& named : kNamedKeys) {
    if (named.code == code) return {named.key, 0, 0, 0};
  }
  return {};
}

Key character_key(char32_t character) {
  switch (character) {
    case U'\r':
    case U'\n':
      return {KeyCode::Enter, 0, 0, 0};
    case U'\t':
      return {KeyCode::Tab, 0, 0, 0};
    case 0x1b:
      return {KeyCode::Escape, 0, 0, 0};
    case 0x7f:
    case 0x08:
      return {KeyCode::Backspace, 0, 0, 0};
    default:
      return character < 0x20 ? Key{} : typed(character);
  }
}

}  // namespace

class Screen::Terminal {
 public:
  Terminal() = default;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (screen_ != nullptr) {
      // It may be gone; then nothing is left to tidy.
      static_cast<void>(write_all(strings_.plain + strings_.wrap));
      ::endwin();
      ::delscreen(screen_);
    }
    if (has_mask_) ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
  }

  base::Status open(const ScreenOptions& options);
  void measure();
  Key next_key();
  base::Status flush(const Canvas& canvas);
  void take_signals();
  base::Status write_all(std::string_view bytes);

  Look look;
  int columns = 80;
  int rows = 24;
  base::Fd signals;

 private:
  base::Status block_signals();
  void append_paint(std::string& out, const Paint& paint) const;
  void append_color(std::string& out, const Ink& ink, bool is_fore) const;

  struct Strings {
    std::string cup, plain, bold, dim, reverse, fore, back, no_wrap, wrap,
        clear;
  };
  Strings strings_;
  std::deque<Key> mouse_keys_;  // that came and were not taken yet
  SCREEN* screen_ = nullptr;
  sigset_t old_mask_{};
  bool has_mask_ = false;
  std::optional<Canvas> shown_;  // empty: draw everything
};

base::Status Screen::Terminal::block_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGWINCH);
  sigaddset(&wanted, SIGCONT);
  signals = base::Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return base::fail_errno("signalfd", errno);
  if (::sigprocmask(SIG_BLOCK, &wanted, &old_mask_) != 0) {
    return base::fail_errno("sigprocmask", errno);
  }
  has_mask_ = true;
  return base::Ok{};
}

base::Status Screen::Terminal::open(const ScreenOptions& options) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
    return base::fail(ErrorKind::Unsupported,
                      "standard input and output are not a terminal",
                      "`tidemark ps` prints the same table once");
  }
  // Names are UTF-8 on their way in as well.
  std::setlocale(LC_CTYPE, "");
  base::Status status = block_signals();
  if (!status) return status;
  screen_ = ::newterm(nullptr, stdout, stdin);
  if (screen_ == nullptr) {
    return base::fail(ErrorKind::Unsupported,
                      "this terminal is not known (TERM)",
                      "TERM=xterm-256color suits most of them");
  }
  strings_ = {capability("cup"),   capability("sgr0"), capability("bold"),
              capability("dim"),   capability("rev"),  capability("setaf"),
              capability("setab"), capability("rmam"), capability("smam"),
              capability("clear")};
  if (strings_.cup.empty()) {
    return base::fail(ErrorKind::Unsupported,
                      "this terminal cannot place its cursor",
                      "`tidemark ps` needs no more than lines");
  }
  look = {find_depth(options), find_glyphs(options), find_dark(options)};
  look.has_bright = ::tigetnum("colors") >= 16;
  ::cbreak();
  ::noecho();
  ::nonl();
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  ::set_escdelay(25);
  ::curs_set(0);
  ::mouseinterval(0);
  // Releases too, though nothing comes of them: one that is not asked for keeps
  // the key behind it waiting.
  ::mousemask(
      BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED,
      nullptr);
  ::refresh();  // enters the other screen of the terminal
  measure();
  return write_all(strings_.no_wrap);
}

void Screen::Terminal::measure() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
      size.ws_row > 0) {
    columns = size.ws_col;
    rows = size.ws_row;
  }
  ::resizeterm(rows, columns);
  // ncurses must have nothing of its own to draw when a key is read.
  ::clearok(curscr, FALSE);
  ::refresh();
  shown_.reset();
}

void Screen::Terminal::take_signals() {
  signalfd_siginfo info{};
  bool is_any = false;
  while (::read(signals.get(), &info, sizeof info) == sizeof info)
    is_any = true;
  if (!is_any) return;
  measure();
  static_cast<void>(write_all(strings_.no_wrap));
}

// What is no key of ours is passed over: ncurses may already hold the next one,
// of which no descriptor tells.
Key Screen::Terminal::next_key() {
  while (true) {
    if (!mouse_keys_.empty()) {
      const Key key = mouse_keys_.front();
      mouse_keys_.pop_front();
      return key;
    }
    wint_t character = 0;
    const int kind = ::get_wch(&character);
    if (kind == ERR) return {};
    if (kind == KEY_CODE_YES && character == KEY_MOUSE) {
      mouse_keys_ = mouse_keys();
      continue;
    }
    const Key key = kind == KEY_CODE_YES
                        ? named_key(static_cast<int>(character))
                        : character_key(static_cast<char32_t>(character));
    if (key.code != KeyCode::None) return key;
  }
}

void Screen::Terminal::append_color(std::string& out, const Ink& ink,
                                    bool is_fore) const {
  if (look.depth == ColorDepth::True) {
    const uint32_t rgb = look.is_dark ? ink.dark_rgb : ink.light_rgb;
    out += is_fore ? "\x1b[38;2;" : "\x1b[48;2;";
    out += std::to_string(rgb >> 16) + ";" + std::to_string(rgb >> 8 & 255U) +
           ";" + std::to_string(rgb & 255U) + "m";
    return;
  }
  int number = look.depth == ColorDepth::Indexed256 ? ink.indexed : ink.ansi;
  constexpr int kBright = 8;
  if (!look.has_bright && number >= kBright) {
    // Such terminals draw bold letters bright, and know no number above 7.
    // Bold black is black on some: the terminal's own colour is readable.
    number -= kBright;
    if (number == 0) return;
    if (is_fore) out += strings_.bold;
  }
  const std::string& setter = is_fore ? strings_.fore : strings_.back;
  if (!setter.empty()) out += ::tparm(setter.c_str(), number);
}

void Screen::Terminal::append_paint(std::string& out,
                                    const Paint& paint) const {
  out += strings_.plain;
  if (paint.is_bold) out += strings_.bold;
  // Sixteen colours have none for a quiet background.
  const bool is_chosen =
      paint.back == Role::Chosen && look.depth == ColorDepth::Ansi16;
  if (paint.is_reversed || is_chosen) out += strings_.reverse;
  if (!look.has_color()) return;
  const std::optional<Ink> fore = ink_of(paint.fore);
  const std::optional<Ink> back = ink_of(paint.back);
  if (fore && !is_chosen) append_color(out, *fore, true);
  if (back && !is_chosen) append_color(out, *back, false);
}

base::Status Screen::Terminal::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return base::fail_errno("writing to the terminal", errno);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return base::Ok{};
}

base::Status Screen::Terminal::flush(const Canvas& canvas) {
  std::string out;
  const bool is_whole = !shown_ || shown_->columns() != canvas.columns() ||
                        shown_->rows() != canvas.rows();
  if (is_whole) out += strings_.plain + strings_.clear;
  std::optional<Paint> inked;
  for (int row = 0; row < canvas.rows(); ++row) {
    int cursor = -1;  // where the terminal's is, in this row
    for (int column = 0; column < canvas.columns(); ++column) {
      const Cell& cell = canvas.at(column, row);
      if (!is_whole && shown_->at(column, row) == cell) continue;
      if (cell.glyph == 0) continue;  // drawn with its left half
      if (cursor != column) out += ::tparm(strings_.cup.c_str(), row, column);
      if (inked != cell.paint) append_paint(out, cell.paint);
      inked = cell.paint;
      base::append_utf8(out, cell.glyph);
      cursor = column + 1;
      // What follows a wide character is drawn anew: its width is the
      // terminal's to decide.
      if (canvas.is_inside(column + 1, row) &&
          canvas.at(column + 1, row).glyph == 0) {
        cursor = -1;
      }
    }
  }
  if (out.empty()) return base::Ok{};
  shown_ = canvas;
  return write_all(out + strings_.plain);
}

base::Result<Screen> Screen::open(const ScreenOptions& options) {
  auto terminal = std::make_unique<Terminal>();
  base::Status status = terminal->open(options);
  if (!status) return status.error();
  return Screen(std::move(terminal));
}

Screen::Screen(std::unique_ptr<Terminal> terminal)
    : terminal_(std::move(terminal)) {}
Screen::Screen(Screen&&) noexcept = default;
Screen::~Screen() = default;

const Look& Screen::look() const {
  return terminal_->look;
}
int Screen::columns() const {
  return terminal_->columns;
}
int Screen::rows() const {
  return terminal_->rows;
}
int Screen::key_fd() const {
  return STDIN_FILENO;
}
int Screen::signal_fd() const {
  return terminal_->signals.get();
}
void Screen::take_signals() {
  terminal_->take_signals();
}
Key Screen::next_key() {
  return terminal_->next_key();
}
base::Status Screen::flush(const Canvas& canvas) {
  return terminal_->flush(canvas);
}
base::Status Screen::copy(const std::string& text) {
  return terminal_->write_all("\x1b]52;c;" + base::base64(text) + "\a");
}

}  // namespace tidemark::view::tui
