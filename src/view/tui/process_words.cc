#include "view/tui/process_words.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "view/text/style.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {

std::string marked_words(const MarkedSum& marked,
                         const analysis::TopSnapshot& snapshot) {
  // Older than this is worth a word: they may have grown since.
  constexpr uint64_t kFreshNs = uint64_t{10} * 1'000'000'000;
  const size_t count = marked.ending.size();
  if (count == 0) return "what was marked is not there; u forgets it";
  const auto& pages = snapshot.slow.come_back;
  const TextStyle style;
  std::string words = "marked " + std::to_string(count) + ": " + marked.names +
                      (count > 3 ? ", …" : "") + "   " +
                      dense(style, marked.use.in_ram()) + " PSS, of which ";
  std::string age;
  if (pages.value && pages.value->ending == marked.ending) {
    words += base::short_size(pages.value->what_if.freed_bytes);
    const uint64_t now = snapshot.sample.started_monotonic_ns;
    if (now > pages.read_ns + kFreshNs)
      age = ", " + age_words(now - pages.read_ns) + " ago";
  } else {
    const bool is_bound = count > 1 && !marked.use.uss.has_unknown;
    words += (is_bound ? "≥" : "") + dense(style, marked.use.uss);
    if (pages.failure.empty()) words += " …";
  }
  return words + " would come back if " +
         (count == 1   ? "it"
          : count == 2 ? "both"
                       : "all") +
         " ended" + age;
}

std::string reading_words(const analysis::TopSnapshot& snapshot) {
  std::string words;
  uint64_t oldest = 0;
  size_t denied = 0;
  size_t unread = 0;
  size_t barred = 0;
  for (size_t i = 0; i < snapshot.sample.processes.size(); ++i) {
    const model::Process& process = snapshot.sample.processes[i];
    if (process.state == model::ProcessState::Denied) ++denied;
    if (process.state != model::ProcessState::Ok) continue;
    const std::optional<uint64_t>& read = snapshot.details[i].read_ns;
    // Its pages were counted without a look at who shares them.
    if (read && process.rollup && !process.rollup->has(model::SmapsField::Pss))
      ++barred;
    if (!read) {
      ++unread;
      continue;
    }
    oldest = std::max(oldest, snapshot.sample.started_monotonic_ns - *read);
  }
  if (snapshot.playback) oldest = snapshot.playback->oldest_detail_ns;
  if (denied > 0) words += ", " + base::grouped(denied) + " ? denied";
  if (unread > 0) words += ", " + base::grouped(unread) + " ? not read yet";
  if (barred > 0) words += ", " + base::grouped(barred) + " ? would stall";
  words += " · PSS " + age_words(oldest) + " old" +
           (snapshot.playback ? " then" : ", RSS now");
  return words;
}

}  // namespace tidemark::view::tui
