// What the kernel says of every page of RAM: /proc/kpageflags, kpagecount and
// kpagecgroup, and the pages' own structs where BPF may look. Half the pages of
// a machine are free; what nobody can say of them is not asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/kernel_memory.h"
#include "model/page_census.h"
#include "source/bpf/page_structs.h"

namespace tidemark::source {

class PageCensus {
 public:
  // Denied without CAP_SYS_ADMIN, NotFound where the kernel has no such files.
  static base::Result<PageCensus> open(const base::Directory& proc);

  // Why pages are not told apart by group; empty when they are.
  const std::string& group_note() const { return group_note_; }

  using Visitor = std::function<void(const model::PageChunk&)>;
  // Each frame of the ranges once, in order. `structs` may be null. What the
  // files do not cover (memory added meanwhile) is absent.
  base::Status walk(const std::vector<model::FrameRange>& ranges,
                    PageStructs* structs, const Visitor& visit);
  // The same without counts and groups, for whoever only asks what pages belong
  // to: those take half of the time.
  base::Status walk_owners(const std::vector<model::FrameRange>& ranges,
                           PageStructs& structs, const Visitor& visit);
  // One frame at a random place in each of `page_count` equal parts of RAM, a
  // chunk for each; all frames where that is as cheap. `needs` says what is
  // asked about a page with these flags; what is not is 0. Several threads call
  // it.
  using Needs = std::function<model::PageNeeds(uint64_t flags)>;
  base::Status walk_sample(const std::vector<model::FrameRange>& ranges,
                           uint64_t page_count, const Needs& needs,
                           const Visitor& visit);
  // The frames in the list alone, which ascend: chunks of neighbours.
  base::Status walk_frames(const std::vector<uint64_t>& frames,
                           const Visitor& visit);

  // Gives back the memory that a walk takes; the next one takes it again.
  void forget_chunk();

 private:
  base::Status read_owners(uint64_t first_frame, uint64_t count,
                           PageStructs* structs);
  base::Status read_chunk(uint64_t first_frame, uint64_t count,
                          PageStructs* structs);
  void visit_chunk(uint64_t first_frame, bool has_structs,
                   const Visitor& visit) const;
  base::Status read_rest(uint64_t first_frame, uint64_t count,
                         bool has_structs);
  // Places in the vectors below; those of `frames` are as many.
  base::Status read_pages(std::span<const uint64_t> frames, size_t begin,
                          size_t end, const Needs& needs);
  base::Status visit_pages(std::span<const uint64_t> frames, const Needs& needs,
                           const Visitor& visit);

  base::Fd flags_file_;
  base::Fd counts_file_;
  base::Fd groups_file_;
  std::string group_note_;
  std::vector<uint64_t> flags_;
  std::vector<uint64_t> counts_;
  std::vector<uint64_t> groups_;
  std::vector<model::PageStruct> structs_;
};

// Frames of System RAM, in whole pages.
std::vector<model::FrameRange> ram_frames(const model::IoMemory& iomem,
                                          uint64_t page_bytes);

}  // namespace tidemark::source
