#include "cli/progress.h"

#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "cli/output.h"

namespace tidemark::cli {
namespace {

constexpr uint64_t kPatienceNs = 1'000'000'000;
constexpr uint64_t kRedrawNs = 100'000'000;

}  // namespace

Progress::Progress(std::string doing, bool quiet)
    : doing_(std::move(doing)),
      is_enabled_(!quiet && ::isatty(STDERR_FILENO) != 0),
      next_ns_(base::monotonic_ns() + kPatienceNs) {}

Progress::~Progress() {
  if (is_shown_) write_stderr("\r\x1b[K");
}

void Progress::update(size_t done, size_t total) {
  if (!is_enabled_ || base::monotonic_ns() < next_ns_) return;
  next_ns_ = base::monotonic_ns() + kRedrawNs;
  is_shown_ = true;
  write_stderr("\r\x1b[Ktidemark: " + doing_ + " " + std::to_string(done) +
               " of " + std::to_string(total));
}

}  // namespace tidemark::cli
