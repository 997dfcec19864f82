#include "view/tui/view.h"

#include <algorithm>

namespace tidemark::view::tui {

void ListCursor::settle(size_t count, int height) {
  const auto page = static_cast<size_t>(std::max(height, 1));
  chosen = count == 0 ? 0 : std::min(chosen, count - 1);
  if (chosen < first) first = chosen;
  if (chosen >= first + page) first = chosen + 1 - page;
  if (first + page > count) first = count > page ? count - page : 0;
}

bool ListCursor::move(const Key& key, size_t count, int height) {
  constexpr size_t kWheelRows = 3;
  const auto page = static_cast<size_t>(std::max(height - 1, 1));
  const auto up = [&](size_t rows) { chosen -= std::min(chosen, rows); };
  switch (key.code) {
    case KeyCode::Up:
      up(1);
      break;
    case KeyCode::Down:
      chosen += 1;
      break;
    case KeyCode::PageUp:
      up(page);
      break;
    case KeyCode::PageDown:
      chosen += page;
      break;
    case KeyCode::Home:
      chosen = 0;
      break;
    case KeyCode::End:
      chosen = count;
      break;
    case KeyCode::WheelUp:
      up(kWheelRows);
      break;
    case KeyCode::WheelDown:
      chosen += kWheelRows;
      break;
    default:
      return false;
  }
  settle(count, height);
  return true;
}

bool ListCursor::find(size_t count, int height, Search search,
                      const std::function<bool(size_t)>& is_meant) {
  if (count == 0) return false;
  for (size_t step = search.includes_chosen ? 0 : 1; step <= count; ++step) {
    const size_t at = search.is_forward
                          ? (chosen + step) % count
                          : (chosen + count - step % count) % count;
    if (!is_meant(at)) continue;
    chosen = at;
    settle(count, height);
    return true;
  }
  return false;
}

}  // namespace tidemark::view::tui
