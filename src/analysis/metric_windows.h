// The highest value of each thing between two scrapes, for every scraper on its
// own: one that asks each 15 s sees a spike of 100 ms, and another that asks in
// between takes nothing away from it. What is kept is bounded in scrapers and
// in things. Pure: time and values are handed in.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace tidemark::analysis {

// What a window is of.
enum class PeakScope : uint8_t { Machine, Cgroup, Program, Process };

std::string peak_key(PeakScope scope, const std::string& name);

struct PeakWindow {
  // 0 for a scraper that has not asked before: its peaks are the values now.
  uint64_t length_ns = 0;
  uint64_t forgotten_count = 0;  // things there was no room for
  std::unordered_map<std::string, uint64_t> bytes;

  const uint64_t* find(PeakScope scope, const std::string& name) const;
  // Whose peak is at least that, in any order.
  std::vector<std::string> names_from(PeakScope scope,
                                      uint64_t least_bytes) const;
};

struct WindowLimits {
  size_t scraper_count = 16;
  size_t key_count = 4096;  // of one window
};

class MetricWindows {
 public:
  explicit MetricWindows(const WindowLimits& limits = {}) : limits_(limits) {}

  // The values of one reading, one after the other.
  void note(const std::string& key, uint64_t bytes);

  // Ends the window of this scraper and begins the next. The scraper that has
  // not asked for longest is forgotten when there are too many.
  //
  // A mark is the highest value ever, as the kernel keeps it and nobody resets.
  // Where one has risen since this scraper saw it last, the highest of the
  // window is the mark, also when no reading fell on it.
  using Marks = std::unordered_map<std::string, uint64_t>;
  PeakWindow take(const std::string& scraper, uint64_t now_ns, Marks marks);

  // The window that the next take() will end, as far as it has come; null for a
  // scraper that has not asked before.
  const PeakWindow* open_window(const std::string& scraper) const;

  size_t scraper_count() const { return scrapers_.size(); }

 private:
  struct Scraper {
    uint64_t began_ns = 0;
    PeakWindow window;
    Marks marks;
  };
  void raise(PeakWindow& window, const std::string& key, uint64_t bytes) const;
  void forget_oldest();

  WindowLimits limits_;
  std::unordered_map<std::string, Scraper> scrapers_;
};

}  // namespace tidemark::analysis
