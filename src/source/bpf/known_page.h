// A page of our own, by which the array of the kernel's page structs is found:
// we can ask for its frame, and a BPF program finds its struct through our
// descriptor (bpf/known_page.h).
#pragma once

#include <cstdint>

#include "base/fd.h"
#include "base/result.h"

struct tm_known_page;

namespace tidemark::source {

class KnownPage {
 public:
  // Denied where the frame is hidden from us.
  static base::Result<KnownPage> make();

  uint32_t fd() const { return static_cast<uint32_t>(file_.get()); }
  uint64_t frame() const { return frame_; }
  // Of the struct of frame 0, from what the program found.
  base::Result<uint64_t> array_address(const tm_known_page& found) const;

 private:
  base::Fd file_;
  uint64_t frame_ = 0;
};

base::Error page_structs_are_strange();

}  // namespace tidemark::source
