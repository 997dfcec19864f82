#include "view/tui/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/frame.h"
#include "view/tui/help_view.h"
#include "view/tui/machine_view.h"
#include "view/tui/maps_view.h"
#include "view/tui/numbers.h"
#include "view/tui/objects_view.h"
#include "view/tui/processes_view.h"
#include "view/tui/timeline_view.h"
#include "view/tui/trace_view.h"
#include "view/tui/vms_view.h"

namespace tidemark::view::tui {
namespace {

constexpr uint64_t kMessageNs = uint64_t{5} * 1'000'000'000;

// A view is one file and one row here.
using MakeView = std::unique_ptr<View> (*)();
constexpr MakeView kViews[] = {
    make_processes_view, make_machine_view,  make_objects_view,
    make_trace_view,     make_timeline_view, make_vms_view,
};

std::string_view prompt_words(Prompt prompt) {
  switch (prompt) {
    case Prompt::Find:
      return "find: ";
    case Prompt::Filter:
      return "filter: ";
    case Prompt::Time:
      return "go to time: ";
    case Prompt::None:
      break;
  }
  return "";
}

}  // namespace

Top::Top(const Look& look, int columns, int rows)
    : Top(look, columns, rows, Start()) {}

Top::Top(const Look& look, int columns, int rows, const Start& start)
    : look_(look),
      columns_(columns),
      rows_(rows),
      shown_(std::make_shared<const analysis::TopSnapshot>()),
      maps_(make_maps_view()) {
  for (MakeView make : kViews) {
    std::unique_ptr<View> view = make();
    const bool is_first = view->number() == start.view;
    if (start.is_alone && !is_first) continue;
    if (is_first) view_ = views_.size();
    views_.push_back(std::move(view));
  }
  arrange();
}

View& Top::active() const {
  return is_maps_open_ ? *maps_ : *views_[view_];
}

void Top::arrange() {
  active().arrange(scene(), columns_, view_area(rows_));
}

void Top::resize(int columns, int rows) {
  columns_ = columns;
  rows_ = rows;
  arrange();
}

void Top::take(Snapshot snapshot) {
  if (!snapshot) return;
  newest_ = std::move(snapshot);
  if (is_frozen_) return;
  shown_ = newest_;
  ++serial_;
  if (choice_) choice_->look_at(*shown_);
  arrange();
}

void Top::say(std::string message, uint64_t now_ns) {
  message_ = std::move(message);
  message_until_ns_ = message_.empty() ? 0 : now_ns + kMessageNs;
}

void Top::choose_view(size_t index) {
  view_ = index;
  is_maps_open_ = false;
  arrange();
}

Request Top::obey(Answer answer, uint64_t now_ns) {
  if (!answer.message.empty()) say(std::move(answer.message), now_ns);
  if (answer.request.wish == Wish::OpenMaps) {
    is_maps_open_ = true;
    arrange();
  }
  if (answer.request.wish == Wish::CloseMaps) {
    is_maps_open_ = false;
    arrange();
  }
  if (answer.request.wish == Wish::Freeze) freeze_or_go_on();
  return std::move(answer.request);
}

void Top::freeze_or_go_on() {
  is_frozen_ = !is_frozen_;
  if (!is_frozen_) take(newest_);
}

// One for all views, as time is.
void Top::set_filter(const std::string& text, uint64_t now_ns) {
  if (text.empty()) {
    choice_.reset();
    say("all processes", now_ns);
  } else {
    base::Result<ProcessChoice> choice = ProcessChoice::make(text);
    // What is no filter leaves the one before.
    if (!choice) {
      say(choice.error().what + ": " + choice.error().hint, now_ns);
      return;
    }
    choice_ = std::move(*choice);
    choice_->look_at(*shown_);
  }
  ++serial_;
  arrange();
}

// The question is answered letter by letter, so a search moves as one types.
Request Top::press_prompt(const Key& key, uint64_t now_ns) {
  const Prompt asked_for = prompt_;
  bool is_final = false;
  switch (key.code) {
    case KeyCode::Escape:
      prompt_ = Prompt::None;
      return {};
    case KeyCode::Enter:
      prompt_ = Prompt::None;
      is_final = true;
      break;
    case KeyCode::Backspace:
      while (!typed_.empty() && (typed_.back() & 0xc0) == 0x80)
        typed_.pop_back();
      if (!typed_.empty()) typed_.pop_back();
      break;
    case KeyCode::Character:
      base::append_utf8(typed_, key.character);
      break;
    default:
      return {};
  }
  if (asked_for == Prompt::Time) {
    if (!is_final || typed_.empty()) return {};
    return {Wish::GoTo, {}, 0, typed_};
  }
  if (asked_for == Prompt::Filter) {
    if (is_final) set_filter(typed_, now_ns);
    return {};
  }
  // What was not found while one typed may be there now.
  say({}, now_ns);
  return obey(active().tell(asked_for, typed_, is_final, scene()), now_ns);
}

// To the next that has something to show.
void Top::step_view(bool is_forward) {
  size_t index = view_;
  do {
    index = (index + (is_forward ? 1 : views_.size() - 1)) % views_.size();
  } while (index != view_ && !views_[index]->is_there(scene()));
  choose_view(index);
}

analysis::TopNeeds Top::needs() const {
  analysis::TopNeeds needs;
  for (size_t i = 0; i < views_.size(); ++i)
    views_[i]->need(i == view_ && !is_maps_open_, needs);
  // One that is followed is meant more than many that are not left out.
  if (choice_ && needs.timeline_of.is_all())
    needs.timeline_of = {choice_->text(), choice_->processes()};
  return needs;
}

Request Top::press_letter(char32_t letter) {
  for (size_t i = 0; i < views_.size(); ++i) {
    if (views_[i]->number() != letter || !views_[i]->is_there(scene()))
      continue;
    choose_view(i);
    return {};
  }
  switch (letter) {
    case U'q':
      return {Wish::Quit, {}, 0, {}};
    case U'?':
      is_help_open_ = true;
      help_first_ = 0;
      return {};
    case U'/':
    case U'F':
      prompt_ = letter == U'/' ? Prompt::Find : Prompt::Filter;
      typed_.clear();
      return {};
    case U't':
      if (!shown_->playback) return {};
      prompt_ = Prompt::Time;
      typed_.clear();
      return {};
    case U'z':
      freeze_or_go_on();
      return {};
    case U'y': {
      std::string text = active().copy(scene());
      if (text.empty()) return {};
      return {Wish::Copy, {}, 0, std::move(text)};
    }
    case U'r':
      return {shown_->playback ? Wish::None : Wish::Record, {}, 0, {}};
    case U'p':
      return {shown_->playback ? Wish::NextPeak : Wish::None, {}, 0, {}};
    case U'P':
      return {shown_->playback ? Wish::PreviousPeak : Wish::None, {}, 0, {}};
    default:
      return {};
  }
}

Request Top::press_anywhere(const Key& key, uint64_t /*now_ns*/) {
  switch (key.code) {
    case KeyCode::Tab:
      step_view(true);
      return {};
    case KeyCode::BackTab:
      step_view(false);
      return {};
    case KeyCode::Click:
      if (key.row == 1) {
        const char32_t number = tab_at(tabs(), columns_, key.column);
        return number == 0 ? Request{} : press_letter(number);
      }
      return {};
    case KeyCode::Character:
      return press_letter(key.character);
    default:
      return {};
  }
}

// What does not fit is moved to; any other key closes it.
Request Top::press_help(const Key& key) {
  const int last = std::max(help_lines(help_sections()) - help_room(rows_), 0);
  ListCursor cursor;
  cursor.chosen = static_cast<size_t>(help_first_);
  if (cursor.move(key, static_cast<size_t>(last) + 1, help_room(rows_))) {
    help_first_ = static_cast<int>(cursor.chosen);
    return {};
  }
  is_help_open_ = false;
  return key == typed(U'q') ? Request{Wish::Quit, {}, 0, {}} : Request{};
}

Request Top::press(const Key& key, uint64_t now_ns) {
  if (key.code == KeyCode::None) return {};
  if (is_help_open_) return press_help(key);
  if (prompt_ != Prompt::None) return press_prompt(key, now_ns);
  Answer answer = active().press(key, scene());
  if (answer.is_taken) return obey(std::move(answer), now_ns);
  return press_anywhere(key, now_ns);
}

std::vector<Tab> Top::tabs() const {
  std::vector<Tab> list;
  for (size_t i = 0; i < views_.size(); ++i) {
    if (i != view_ && !views_[i]->is_there(scene())) continue;
    list.push_back({views_[i]->number(), views_[i]->name(), i == view_});
  }
  return list;
}

std::string Top::state_words() const {
  std::string words;
  if (shown_->recording) {
    words = "recording " + base::short_size(shown_->recording->bytes);
  }
  const auto add = [&](const std::string& more) {
    words += (words.empty() ? "" : ", ") + more;
  };
  const std::string own = active().state(scene());
  if (!own.empty()) add(own);
  if (is_frozen_) {
    add("frozen");
  } else if (shown_->playback) {
    add(shown_->playback->is_playing
            ? fmt::format("replay {}x", shown_->playback->speed)
            : "replay, paused");
  } else if (words.empty() && shown_->period_ns > 0) {
    const std::string period = base::long_duration(shown_->period_ns);
    add("live " +
        (shown_->period_ns % 1'000'000'000 == 0
             ? std::to_string(shown_->period_ns / 1'000'000'000) + " s"
             : period));
  }
  return words;
}

std::string Top::status_words(const Scene& now) const {
  if (shown_->sample.started_monotonic_ns == 0)
    return "reading for the first time …";
  std::string words = active().status(now);
  if (!choice_) return words;
  return "filter " + base::visible(choice_->text()) +
         std::string(active().filter_words()) + " · " + words;
}

// Those of the view, and those that mean the same in all of them.
std::vector<HelpSection> Top::help_sections() const {
  std::vector<HelpSection> sections = active().help(scene());
  HelpSection time = {"TIME", {}};
  const bool is_timeline = active().number() == U'5';  // says so itself
  if (shown_->playback && !is_timeline) {
    time.lines = {{"p P", "next peak, previous"},
                  {"t", "go to a time: 00:41:12, peak, end"}};
  } else if (!shown_->playback && !active().has_own_letters()) {
    time.lines = {{"r", "record to a file, stop recording"}};
  }
  time.lines.push_back({"z", "freeze the display, go on measuring"});
  sections.push_back(std::move(time));
  sections.push_back({"ALL",
                      {{"1-6  Tab", "view"},
                       {"F", "filter, everywhere: pss>100M"},
                       {"Esc ?  q", "close this, quit"}}});
  return sections;
}

Canvas Top::draw(uint64_t now_ns) const {
  Canvas canvas(columns_, rows_);
  const Scene now = scene();
  Frame frame;
  frame.tabs = tabs();
  frame.state = state_words();
  frame.hints = active().hints(now);
  frame.status_end = active().status_end(now);
  frame.has_ledger_line = active().has_ledger_line();
  if (prompt_ != Prompt::None) {
    frame.status =
        std::string(prompt_words(prompt_)) + base::visible(typed_) + "▌";
    frame.is_message = true;
  } else if (now_ns < message_until_ns_) {
    frame.status = message_;
    frame.is_message = true;
  } else {
    frame.status = status_words(now);
  }
  frame.status = bounds_for(look_, std::move(frame.status));
  draw_frame(canvas, now, frame);
  active().draw(canvas, now, view_area(rows_));
  if (is_help_open_) {
    draw_help(canvas, active().name(), help_sections(), help_first_);
  }
  if (look_.is_ascii()) canvas.fold_to_ascii();
  return canvas;
}

}  // namespace tidemark::view::tui
