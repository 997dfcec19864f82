#include "view/tui/process_words.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {

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
