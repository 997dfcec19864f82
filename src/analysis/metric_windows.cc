#include "analysis/metric_windows.h"

#include <algorithm>
#include <utility>

namespace tidemark::analysis {

std::string peak_key(PeakScope scope, const std::string& name) {
  return static_cast<char>('0' + static_cast<int>(scope)) + name;
}

const uint64_t* PeakWindow::find(PeakScope scope,
                                 const std::string& name) const {
  const auto found = bytes.find(peak_key(scope, name));
  return found == bytes.end() ? nullptr : &found->second;
}

std::vector<std::string> PeakWindow::names_from(PeakScope scope,
                                                uint64_t least_bytes) const {
  const char mark = peak_key(scope, "").front();
  std::vector<std::string> names;
  for (const auto& [key, peak] : bytes) {
    if (peak >= least_bytes && key.front() == mark) {
      names.push_back(key.substr(1));
    }
  }
  return names;
}

void MetricWindows::raise(PeakWindow& window, const std::string& key,
                          uint64_t bytes) const {
  const auto found = window.bytes.find(key);
  if (found != window.bytes.end()) {
    found->second = std::max(found->second, bytes);
    return;
  }
  if (window.bytes.size() >= limits_.key_count) {
    // The smallest makes room: peaks are asked for because they are high.
    const auto least = std::ranges::min_element(
        window.bytes, {}, [](const auto& entry) { return entry.second; });
    ++window.forgotten_count;
    if (least == window.bytes.end() || least->second >= bytes) return;
    window.bytes.erase(least);
  }
  window.bytes.emplace(key, bytes);
}

void MetricWindows::note(const std::string& key, uint64_t bytes) {
  for (auto& [name, scraper] : scrapers_)
    raise(scraper.window, key, bytes);
}

void MetricWindows::forget_oldest() {
  const auto oldest = std::ranges::min_element(
      scrapers_, {}, [](const auto& entry) { return entry.second.began_ns; });
  if (oldest != scrapers_.end()) scrapers_.erase(oldest);
}

const PeakWindow* MetricWindows::open_window(const std::string& scraper) const {
  const auto known = scrapers_.find(scraper);
  return known == scrapers_.end() ? nullptr : &known->second.window;
}

PeakWindow MetricWindows::take(const std::string& scraper, uint64_t now_ns,
                               Marks marks) {
  const auto known = scrapers_.find(scraper);
  if (known == scrapers_.end()) {
    if (scrapers_.size() >= limits_.scraper_count) forget_oldest();
    scrapers_.emplace(scraper, Scraper{now_ns, {}, std::move(marks)});
    return {};
  }
  PeakWindow window = std::exchange(known->second.window, {});
  for (const auto& [key, mark] : marks) {
    const auto before = known->second.marks.find(key);
    // One that fell was reset by somebody: it tells nothing of this window.
    const bool has_risen =
        before != known->second.marks.end() && mark > before->second;
    if (has_risen) raise(window, key, mark);
  }
  known->second.marks = std::move(marks);
  window.length_ns = now_ns - known->second.began_ns;
  known->second.began_ns = now_ns;
  return window;
}

}  // namespace tidemark::analysis
