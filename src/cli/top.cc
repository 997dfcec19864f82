// `top`: what people keep open.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/moments.h"
#include "cli/recording_head.h"
#include "cli/targets.h"
#include "cli/top_screen.h"
#include "cli/trace_screen.h"
#include "source/roots.h"
#include "view/tui/screen.h"
#include "view/tui/top.h"
#include "watch/stop_signals.h"
#include "watch/top_feed.h"
#include "watch/top_replay.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using view::tui::Wish;

// Longer than a recording may stall a process: somebody sits there and wants
// the largest in numbers as well. 25 ms are about 4 GiB in one mapping.
constexpr uint64_t kStallNs = 25'000'000;

struct TopCommandOptions {
  std::vector<std::string> targets;
  uint64_t period_ns = base::kNsPerSecond;
  std::string at = "start";  // of a recording
  watch::BudgetOptions budget;
  view::tui::ScreenOptions screen;
  CommonOptions common;
};

std::string recording_name() {
  std::string time = base::local_time(base::realtime_ns()).substr(0, 19);
  for (char& c : time) {
    if (c == ':') c = '-';
  }
  return "top-" + time + ".tdm";
}

// Draws and reads keys; all else happens in the feed's thread.
class TopLoop {
 public:
  // One of `feed` and `replay` is the supply, the other null.
  TopLoop(view::tui::Screen& screen, watch::StopSignals& signals,
          watch::TopSupply& supply, watch::TopFeed* feed,
          watch::TopReplay* replay, const view::tui::Top::Start& start = {})
      : screen_(screen),
        signals_(signals),
        supply_(supply),
        feed_(feed),
        replay_(replay),
        top_(screen.look(), screen.columns(), screen.rows(), start) {}

  base::Result<ExitCode> run() {
    while (!is_over_) {
      const uint64_t now = base::monotonic_ns();
      if (is_dirty_) {
        base::Status drawn = screen_.flush(top_.draw(now));
        // Nobody is left to look at it.
        if (!drawn) return ExitCode::Done;
        is_dirty_ = false;
        if (!is_key_waiting()) top_.prepare();
      }
      wait();
    }
    return ExitCode::Done;
  }

 private:
  bool is_key_waiting() const {
    pollfd keys = {screen_.key_fd(), POLLIN, 0};
    return ::poll(&keys, 1, 0) > 0;
  }

  int timeout_ms() const {
    const uint64_t until = top_.message_until_ns();
    const uint64_t now = base::monotonic_ns();
    if (until <= now) return -1;
    return static_cast<int>((until - now) / 1'000'000 + 1);
  }

  void wait() {
    std::array<pollfd, 4> waiting = {{{screen_.key_fd(), POLLIN, 0},
                                      {screen_.signal_fd(), POLLIN, 0},
                                      {supply_.fd(), POLLIN, 0},
                                      {signals_.fd(), POLLIN, 0}}};
    const int ready = ::poll(waiting.data(), waiting.size(), timeout_ms());
    if (ready <= 0) {
      is_dirty_ = true;  // a message has had its time
      return;
    }
    // Taken, so that it does not come once more when signals are let in again.
    if (waiting[3].revents != 0) {
      is_over_ = signals_.wait_until(0) == watch::WaitEnd::Stop;
    }
    if (waiting[2].revents != 0) {
      take_snapshot();
      is_dirty_ = true;
    }
    if (waiting[1].revents != 0) {
      screen_.take_signals();
      top_.resize(screen_.columns(), screen_.rows());
      is_dirty_ = true;
    }
    if ((waiting[0].revents & POLLIN) != 0) {
      read_keys();
    } else if (waiting[0].revents != 0) {
      is_over_ = true;  // the terminal was closed
    }
  }

  void tell_needs() {
    analysis::TopNeeds needs = top_.needs();
    if (needs == needs_) return;
    supply_.want(needs);
    needs_ = std::move(needs);
  }

  void take_snapshot() {
    const watch::TopSupply::Snapshot snapshot = supply_.take();
    if (!snapshot) return;
    if (snapshot->note != note_) {
      note_ = snapshot->note;
      top_.say(base::visible(note_), base::monotonic_ns());
    }
    top_.take(snapshot);
    tell_needs();
    latest_ = snapshot;
    if (supply_.is_over()) is_over_ = true;
  }

  // All that are there: one frame answers them together.
  void read_keys() {
    bool is_any = false;
    while (!is_over_) {
      const view::tui::Key key = screen_.next_key();
      if (key.code == view::tui::KeyCode::None) break;
      is_any = true;
      obey(top_.press(key, base::monotonic_ns()));
    }
    tell_needs();
    // Readable, yet nothing there: its other end is closed.
    if (!is_any && ++empty_count_ > kMostEmpty) is_over_ = true;
    if (is_any) empty_count_ = 0;
    is_dirty_ = true;
  }

  void obey(const view::tui::Request& request) {
    switch (request.wish) {
      case Wish::Quit:
        is_over_ = true;
        break;
      case Wish::OpenMaps:
        supply_.want_maps(request.process);
        break;
      case Wish::CloseMaps:
        supply_.want_maps(std::nullopt);
        break;
      case Wish::Copy:
        copy(request.text);
        break;
      case Wish::Record:
        if (feed_ == nullptr) break;
        is_recording_ = !is_recording_;
        feed_->record_to(is_recording_ ? recording_name() : "");
        break;
      case Wish::Trace:
        supply_.start_or_stop_trace();
        break;
      case Wish::NameCode:
        supply_.name_code();
        break;
      case Wish::WriteReport:
        if (latest_ && latest_->trace) {
          top_.say(write_trace_report(*latest_->trace->trace),
                   base::monotonic_ns());
        }
        break;
      default:
        if (replay_ != nullptr) steer(request);
    }
  }

  // Whether the terminal takes it cannot be asked: it is said what was sent.
  void copy(const std::string& text) {
    const base::Status sent = screen_.copy(text);
    top_.say(sent ? "sent to the clipboard: " + base::visible(text)
                  : sent.error().what,
             base::monotonic_ns());
  }

  void steer(const view::tui::Request& request) {
    switch (request.wish) {
      case Wish::MoveTicks:
        replay_->move_by(request.count);
        break;
      case Wish::GoTo:
        replay_->go_to(request.text);
        break;
      case Wish::NextPeak:
      case Wish::PreviousPeak: {
        const bool is_next = request.wish == Wish::NextPeak;
        if (!replay_->go_to_peak(is_next)) {
          top_.say(is_next ? "no later peak" : "no earlier peak",
                   base::monotonic_ns());
        }
        break;
      }
      case Wish::PlayOrPause:
        replay_->play_or_pause();
        break;
      case Wish::Faster:
      case Wish::Slower:
        replay_->change_speed(request.wish == Wish::Faster);
        break;
      default:
        break;
    }
  }

  // A key the terminal sends in pieces may be readable and not yet a key.
  static constexpr int kMostEmpty = 100;

  view::tui::Screen& screen_;
  watch::StopSignals& signals_;
  watch::TopSupply& supply_;
  watch::TopFeed* feed_;
  watch::TopReplay* replay_;
  view::tui::Top top_;
  watch::TopSupply::Snapshot latest_;  // null: none was taken
  std::string note_;
  analysis::TopNeeds needs_;
  bool is_recording_ = false;
  bool is_dirty_ = true;
  bool is_over_ = false;
  int empty_count_ = 0;
};

base::Result<watch::TopFeedOptions> feed_options(
    const TopCommandOptions& options, const source::Roots& roots) {
  watch::TopFeedOptions feed;
  feed.budget = options.budget;
  feed.budget.period_ns = options.period_ns;
  feed.budget.stall_ns = kStallNs;
  feed.budget.allows_stall |= !roots.is_local;
  feed.users = user_labels(roots);
  feed.trace.tells_before = true;
  std::string targets = "every process";
  if (options.targets.empty()) {
    feed.selection.everything = true;
  } else {
    base::Result<std::vector<model::ProcessId>> found =
        find_targets(roots, options.targets);
    if (!found) return found.error();
    // A trace that is begun is of the same, where it can be of one alone.
    if (found->size() == 1) feed.trace.trace.filter.tree_pid = (*found)[0].pid;
    feed.selection.targets = std::move(*found);
    targets.clear();
    for (const std::string& target : options.targets)
      targets += (targets.empty() ? "" : ", ") + target;
  }
  feed.recording_info = recording_head(roots, targets, options.period_ns);
  feed.target =
      options.targets.empty() ? feed.recording_info.host : std::move(targets);
  return feed;
}

base::Result<ExitCode> run_replay_top(const TopCommandOptions& options,
                                      const std::string& path,
                                      const view::tui::Top::Start& start) {
  base::Result<store::Recording> recording = open_recording(path);
  if (!recording) return recording.error();
  base::Result<size_t> first = find_moment_or_peak(*recording, options.at);
  if (!first) return first.error();
  base::Result<watch::StopSignals> signals = watch::StopSignals::block();
  if (!signals) return signals.error();
  base::Result<view::tui::Screen> screen =
      view::tui::Screen::open(options.screen);
  if (!screen) return screen.error();
  base::Result<std::unique_ptr<watch::TopReplay>> replay =
      watch::TopReplay::start(std::move(*recording), *first,
                              find_moment_or_peak);
  if (!replay) return replay.error();
  return TopLoop(*screen, *signals, **replay, nullptr, replay->get(), start)
      .run();
}

base::Result<ExitCode> run_live_top(const TopCommandOptions& options) {
  base::Result<source::Roots> roots =
      source::open_roots(options.common.proc_path);
  if (!roots) return roots.error();
  base::Result<watch::TopFeedOptions> wanted = feed_options(options, *roots);
  if (!wanted) return wanted.error();
  base::Result<watch::StopSignals> signals = watch::StopSignals::block();
  if (!signals) return signals.error();
  // Before the screen, so that it ends after it: a reading that is under way
  // must not keep the terminal.
  base::Result<std::unique_ptr<watch::TopFeed>> feed =
      watch::TopFeed::start(*roots, std::move(*wanted));
  if (!feed) return feed.error();
  base::Result<view::tui::Screen> screen =
      view::tui::Screen::open(options.screen);
  if (!screen) return screen.error();
  return TopLoop(*screen, *signals, **feed, feed->get(), nullptr).run();
}

base::Result<ExitCode> run_top(const TopCommandOptions& options) {
  const auto is_recording = [](const std::string& target) {
    return target.ends_with(".tdm");
  };
  if (std::ranges::none_of(options.targets, is_recording))
    return run_live_top(options);
  if (options.targets.size() > 1) {
    return base::fail(ErrorKind::Misused, "a recording is looked at alone",
                      "tidemark top FILE.tdm");
  }
  return run_replay_top(options, options.targets.front(), {});
}

void add_top_options(OptionTable& table, TopCommandOptions& o) {
  table.value("-d,--interval,--period", "DUR|HZ",
              "how often to read (default 1s)",
              [&o](const std::string& word) -> base::Status {
                base::Result<uint64_t> ns = base::parse_duration(word);
                if (!ns) return ns.error();
                o.period_ns = *ns;
                return base::Ok{};
              });
  table.value("--at", "TIME",
              "where in a recording to begin (as in peak --at; default start)",
              o.at);
  table.flag("--allow-stall",
             "read smaps also where that stalls longer than 25 ms",
             o.budget.allows_stall);
  table.choice("--glyphs", {"auto", "braille", "block", "ascii"},
               "what the terminal's font can show (default auto)",
               [&o](const std::string& word) -> base::Status {
                 using view::tui::GlyphSet;
                 if (word == "braille") o.screen.glyphs = GlyphSet::Full;
                 if (word == "block") o.screen.glyphs = GlyphSet::Blocks;
                 if (word == "ascii") o.screen.glyphs = GlyphSet::Ascii;
                 return base::Ok{};
               });
  table.choice("--theme", {"auto", "dark", "light"},
               "the terminal's background (default auto)",
               [&o](const std::string& word) -> base::Status {
                 if (word != "auto") o.screen.is_dark = word == "dark";
                 return base::Ok{};
               });
  table.choice("--color", {"auto", "always", "never"},
               "colour on the terminal; auto honours NO_COLOR",
               [&o](const std::string& word) -> base::Status {
                 o.common.color = word;
                 return base::Ok{};
               });
  table.value("--proc", "DIR",
              "read this tree instead of /proc (variable PROCFS): a copy, a "
              "mount of another machine's",
              o.common.proc_path);
  table.flag("-h,--help", "this text", o.common.help);
}

}  // namespace

base::Result<ExitCode> show_supply(view::tui::Screen& screen,
                                   watch::StopSignals& signals,
                                   watch::TopSupply& supply,
                                   const view::tui::Top::Start& start) {
  return TopLoop(screen, signals, supply, nullptr, nullptr, start).run();
}

base::Result<ExitCode> show_recording(const std::string& path,
                                      const std::string& at,
                                      const view::tui::ScreenOptions& options,
                                      const view::tui::Top::Start& start) {
  TopCommandOptions top;
  top.at = at;
  top.screen = options;
  return run_replay_top(top, path, start);
}

Command top_command() {
  auto options = std::make_shared<TopCommandOptions>();
  Command command;
  command.name = "top";
  command.summary = "keep an eye on memory: live, in the terminal";
  command.description =
      "Shows who has the machine's memory, and keeps it up to date, until q. "
      "RSS and counters are read at every interval; PSS, which costs the read "
      "process a wait, as often as a budget allows: its age stands in the last "
      "line but one. 10 MIN is what a process has grown by since it was first "
      "seen in the last ten minutes. ? lists the keys.";
  command.examples = {
      {"tidemark top", "the whole machine"},
      {"tidemark top postgres", "one process and what it starts"},
      {"tidemark top web.tdm --at peak", "a recording, as if it were now"},
      {"tidemark top -d 5s --glyphs ascii", "slowly, on a plain terminal"},
  };
  OptionTable& table = command.options;
  table.positional("PID|NAME|FILE.tdm",
                   "processes, with what they start; or a recording",
                   options->targets, false);
  add_top_options(table, *options);
  command.run = [options]() -> base::Result<ExitCode> {
    const view::TextStyle style = text_style(options->common, STDOUT_FILENO);
    options->screen.allows_color = style.color;
    options->screen.is_utf8 = style.utf8;
    return run_top(*options);
  };
  return command;
}

}  // namespace tidemark::cli
