// Measures a tree of processes by the best means this machine allows, and keeps
// the means apart from what they are used for: the height now, who is in the
// tree, who has ended. Whatever it arranges for that (control groups, a
// guardian) is undone with it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/run.h"
#include "source/bpf/tree_follower.h"
#include "source/cgroups.h"
#include "source/netlink/process_events.h"
#include "source/roots.h"
#include "source/target/group_place.h"
#include "source/target/guardian.h"
#include "source/target/memory_group.h"
#include "source/tree_camera.h"
#include "watch/sampled_lives.h"

namespace tidemark::watch {

struct GaugeOptions {
  bool may_use_group = true;
  bool may_use_bpf = true;
  bool freezes = false;
  bool stops_at_crossing = false;
  bool sees_page_cache = false;
  bool times_bpf = false;
};

class TreeGauge {
 public:
  // Fails only when something was asked for that cannot be had; without groups
  // and BPF it samples, and the notes say why.
  static base::Result<TreeGauge> arrange(const source::Roots& roots,
                                         const GaugeOptions& options);
  TreeGauge(TreeGauge&&) noexcept = default;
  TreeGauge& operator=(TreeGauge&&) = delete;
  TreeGauge(const TreeGauge&) = delete;
  TreeGauge& operator=(const TreeGauge&) = delete;
  ~TreeGauge();

  model::RunMethod method() const;
  const std::vector<std::string>& notes() const { return notes_; }

  // Right before the fork of the root.
  void expect_child();
  // While it waits to be released.
  base::Status take_in(int32_t pid);

  // Readable at new highs; -1 where they are found by looking.
  int wake_fd() const;
  // How often to look where nothing wakes us; empty where something does.
  std::optional<uint64_t> poll_period_ns() const;

  // The height now. In sampling it walks the tree. With what processes hold
  // that left the group, some of which it may be charged for all the same.
  uint64_t height_bytes();
  // Whether any process did: the group's account is not of the whole tree then.
  bool has_left() const;
  void set_mark(uint64_t bytes);
  void set_step_permille(uint64_t permille);
  void drain(const std::function<void(const source::NewHigh&)>& new_high,
             const std::function<void(model::ProcessLife)>& ended);

  // Largest first where sizes are known.
  std::vector<source::TreeMember> members();
  const source::MemoryGroup* group() const;

  // The whole tree stands still until thaw(); false when it did not in time.
  bool freeze();
  void thaw();

  // What a picture shows is seen, too, where there is nothing but looking.
  void learn(const model::Sample& picture);

  // The maxima, the lists and the error bounds; the tree has ended or is left.
  void fill(model::RunRecord& record);
  // Sends home who is left and removes the groups.
  base::Status undo();

 private:
  TreeGauge() = default;
  void arrange_group(const source::Roots& roots);
  base::Status arrange_freezer(const source::Roots& roots);
  base::Status make_groups();
  void arrange_bpf(const GaugeOptions& options);
  void arrange_without_bpf(const source::Roots& roots);
  uint64_t outside_bytes(uint64_t now_ns);
  void find_outside(uint64_t now_ns);
  std::vector<int32_t> living_without_follower(uint64_t now_ns);
  std::vector<int32_t> pids_without_follower() const;
  void fill_charge(model::RunRecord& record);
  void fill_from_follower(model::RunRecord& record);
  void fill_without_follower(model::RunRecord& record);

  std::vector<std::string> notes_;
  std::vector<source::GroupPlace> places_;
  std::optional<source::Guardian> guardian_;
  std::optional<source::MemoryGroup> group_;
  std::optional<source::GroupPlace> freezer_;
  std::optional<source::TreeFollower> follower_;
  std::optional<source::ProcessEvents> events_;  // in place of the follower
  std::optional<SampledLives> sampled_;          // the same
  bool wants_group_ = false;
  int32_t root_pid_ = 0;
  // Without BPF, who is in another group is found by looking.
  const source::Roots* roots_ = nullptr;
  source::CgroupHierarchy hierarchy_;
  std::string group_path_;
  std::set<int32_t> suspects_;    // at the last look
  std::vector<int32_t> outside_;  // and at the one before
  std::set<int32_t> left_;        // ever
  uint64_t next_outside_look_ns_ = 0;
  model::Maximum highest_seen_;
};

}  // namespace tidemark::watch
