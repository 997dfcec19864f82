// What the probes look at: processes and a page of memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "source/roots.h"

namespace tidemark::source {

// A child that sleeps as another user, for the case that every process here is
// ours. It ends with this object, and with us.
class OtherUserChild {
 public:
  // pid() is 0 when this process may not change users.
  static OtherUserChild start();
  static OtherUserChild none() { return OtherUserChild(0); }
  OtherUserChild(OtherUserChild&& other) noexcept;
  OtherUserChild& operator=(OtherUserChild&&) = delete;
  OtherUserChild(const OtherUserChild&) = delete;
  OtherUserChild& operator=(const OtherUserChild&) = delete;
  ~OtherUserChild();

  pid_t pid() const { return pid_; }

 private:
  explicit OtherUserChild(pid_t pid) : pid_(pid) {}
  pid_t pid_ = 0;
};

struct Targets {
  // One of ours besides ourselves: a process may always look at itself.
  std::optional<int32_t> own;
  // Processes of other users that have memory. Some, because one may be
  // guarded beyond capabilities, as the supervisor of a sandbox is.
  std::vector<int32_t> others;
  // Ours by user id and yet closed to us: they belong to an outer user
  // namespace, or guard themselves. Second choice, after a child of ours.
  std::vector<int32_t> guarded;
  std::string why_no_others;
  bool are_hidden = false;  // by the hidepid option of this /proc
};

// A page of our own that is certainly in RAM: what pagemap is asked about.
class TouchedPage {
 public:
  TouchedPage();
  TouchedPage(const TouchedPage&) = delete;
  TouchedPage& operator=(const TouchedPage&) = delete;
  ~TouchedPage();

  // 0 when there was no memory for it.
  uint64_t address() const { return reinterpret_cast<uint64_t>(page_); }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  size_t size_bytes_ = 0;
  void* page_ = nullptr;
};

// Looks at status files only.
Targets find_targets(const Roots& roots);

}  // namespace tidemark::source
