// A line on the terminal for work that takes over a second.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::cli {

// Silent when standard error is no terminal, when quiet, and for the first
// second. Wiped on destruction.
class Progress {
 public:
  Progress(std::string doing, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void update(size_t done, size_t total);

 private:
  std::string doing_;
  bool is_enabled_;
  bool is_shown_ = false;
  uint64_t next_ns_;
};

}  // namespace tidemark::cli
