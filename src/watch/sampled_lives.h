// The processes of a tree as far as looking now and then shows them: for
// machines where nothing tells of forks and ends. Who lived between two looks
// is not here, and the record says so.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/run.h"
#include "source/cgroups.h"
#include "source/process_reader.h"
#include "source/roots.h"
#include "source/tree_camera.h"

namespace tidemark::watch {

class SampledLives {
 public:
  explicit SampledLives(const source::Roots& roots);

  void set_root(int32_t pid) { root_pid_ = pid; }
  // A child of ours that is not of the tree: the guardian.
  void leave_out(int32_t pid) { left_out_pid_ = pid; }

  // Looks at the members, or walks from the root when there are none given, and
  // returns the sum of their RSS.
  uint64_t look(uint64_t now_ns, const std::vector<int32_t>& members);

  // A picture counted the pages of a process, which statm may lag behind.
  void learn(int32_t pid, uint64_t rss_bytes, uint64_t time_ns);

  // Those seen last, largest first.
  std::vector<source::TreeMember> members() const;
  // All that were ever seen; who was not there any more has ended.
  std::vector<model::ProcessLife> lives() const;

 private:
  struct Seen {
    model::ProcessLife life;
    uint64_t start_ticks = 0;
    uint64_t last_seen_ns = 0;
    uint64_t rss_bytes = 0;
  };
  std::vector<int32_t> walk();
  void note(int32_t pid, uint64_t now_ns);

  const source::Roots& roots_;
  source::CgroupHierarchy no_cgroups_;
  source::ProcessReader reader_;
  int32_t root_pid_ = 0;
  int32_t left_out_pid_ = 0;
  uint64_t last_look_ns_ = 0;
  uint64_t page_bytes_;
  std::map<int32_t, Seen> seen_;
  std::vector<model::ProcessLife> replaced_;  // their pid went to another
};

}  // namespace tidemark::watch
