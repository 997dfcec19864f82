// Books pages to whoever took them, one event after the other, as
// bpf/trace.bpf.c does in the kernel: for means that only tell what happened.
//
// Each allocation is booked to a node, which is a stack and a task; a table
// with an entry for every page frame remembers the node, and the free finds it
// there. The tree as it stood at the machine's peak costs a compare for each
// event: the first change of a node after a peak saves what it was.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/trace_builder.h"
#include "source/event_filter.h"
#include "source/low_history.h"

namespace tidemark::source {

// An entry of four bytes for each page frame, zero at first. Address space is
// reserved as far as the highest frame asked for, memory is used only where
// entries were touched.
class FrameTable {
 public:
  explicit FrameTable(uint64_t most_frames) : most_frames_(most_frames) {}
  FrameTable(const FrameTable&) = delete;
  FrameTable& operator=(const FrameTable&) = delete;
  ~FrameTable();

  // Null behind the bound, or when there is no room for it.
  uint32_t* entry(uint64_t frame) {
    if (frame >= frame_count_ && !grow(frame)) return nullptr;
    return entries_ + frame;
  }

  void clear();

  // Those that are not zero, as (frame, entry).
  template <typename Visit>
  void each(Visit visit) const {
    for (uint64_t i = 0; i < frame_count_; ++i)
      if (entries_[i] != 0) visit(i, entries_[i]);
  }

 private:
  bool grow(uint64_t frame);

  uint64_t most_frames_;
  uint32_t* entries_ = nullptr;
  uint64_t frame_count_ = 0;
};

// 2^order pages with successive frames.
struct PageBlock {
  uint64_t frame = 0;
  uint32_t order = 0;
};

// Whom a block is booked to; both are indices of whoever asks.
struct PageOwner {
  uint32_t stack = 0;
  uint32_t task = 0;
};

class PageAccount {
 public:
  struct Bounds {
    // 64 TiB of pages of 4 KiB: the table reserves 64 GiB of addresses then.
    uint64_t frames = uint64_t{1} << 34;
    uint32_t nodes = 1U << 20;
  };
  struct Node {
    PageOwner owner;
    int64_t pages = 0;
    int64_t peak_pages = 0;
    int64_t saved_pages = 0;  // at the machine's peak, if the epoch is its
    uint64_t epoch = 0;
    uint64_t allocation_count = 0;
    uint64_t held_since_ns = 0;
  };
  struct Sum {
    int64_t pages = 0;
    int64_t peak_pages = 0;
  };
  struct Faults {
    uint64_t untracked_freed = 0;
    uint64_t overwritten = 0;
    uint64_t out_of_range = 0;
    uint64_t table_full = 0;
  };

  // One page frame in `sample_period` is followed, a power of two.
  explicit PageAccount(uint64_t sample_period)
      : PageAccount(sample_period, {}) {}
  PageAccount(uint64_t sample_period, const Bounds& bounds);

  // Each page of the block counts as 2^weight_shift: for whoever tells of a
  // sample that is not as dense all the time.
  void alloc(PageBlock block, PageOwner owner, uint64_t time_ns,
             uint32_t weight_shift = 0);
  void free(PageBlock block);
  // Of 64 frames from this one on those whose bits are set.
  void free_each(uint64_t first_frame, uint64_t bits);
  // What is in one frame is in another from here on; whoever had the other
  // took it for this only.
  void move(uint64_t from, uint64_t to);

  // Whether any page of the block is followed.
  bool is_followed(PageBlock block) const {
    return sample_.has_any(block.frame, block.order);
  }

  // Visits each page that is held as (frame, number of its node from 1).
  template <typename Visit>
  void each_held(Visit visit) const {
    frames_.each([&](uint64_t frame, uint32_t entry) {
      const uint32_t number = entry & kNumberMask;
      if (number <= nodes_.size()) visit(frame, number);
    });
  }

  // --- when another has gone on with it ---
  // The tree of the peak is as it is from here on.
  void keep_peak();
  // Which frames are whose is known to the other from here on.
  void forget_frames() { frames_.clear(); }
  // What has become of a node, counted from 1, since.
  void restate(uint32_t number, int64_t pages,
               std::optional<int64_t> machine_peak_pages);

  // Notes what each node holds.
  void look(uint64_t elapsed_ns);

  std::span<const Node> nodes() const { return nodes_; }
  int64_t pages_at_machine_peak(const Node& node) const {
    return node.epoch == epoch_ ? node.saved_pages : node.pages;
  }
  // Of tasks that were never told of: nothing.
  Sum task(uint32_t index) const {
    return index < tasks_.size() ? tasks_[index] : Sum{};
  }
  const Sum& machine() const { return machine_; }
  uint64_t peak_ns() const { return peak_ns_; }
  const Faults& faults() const { return faults_; }

  // Adds leaves, sums, peaks and faults, with all numbers multiplied by the
  // sample period. The maps give the builder's index for each of ours.
  struct Names {
    std::span<const uint32_t> stack_of;
    std::span<const uint32_t> task_of;
  };
  void build(const Names& names, uint64_t now_ns,
             model::TraceBuilder& builder) const;

 private:
  uint32_t find_node(PageOwner owner);
  // `allocation_count` is of a change upwards.
  void book(uint32_t number, int64_t change, uint64_t time_ns,
            uint64_t allocation_count = 1);
  void book_machine(Node& node, int64_t change, uint64_t time_ns);
  uint64_t scaled(int64_t pages) const;

  // Successive pages of one node are booked together.
  class Release;
  void free_frame(uint64_t frame, Release& release);

  // An entry is the number of a node, and above it how much the page counts
  // for.
  static constexpr uint32_t kNumberBits = 24;
  static constexpr uint32_t kNumberMask = (1U << kNumberBits) - 1;

  static uint32_t number_of(uint32_t entry) { return entry & kNumberMask; }
  static int64_t weight_of(uint32_t entry) {
    return int64_t{1} << (entry >> kNumberBits);
  }

  FrameSample sample_;
  Bounds bounds_;
  FrameTable frames_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t> node_of_;  // by stack and task
  std::vector<Sum> tasks_;
  Sum machine_;
  uint64_t peak_ns_ = 0;
  uint64_t epoch_ = 1;
  bool has_changed_since_peak_ = false;
  Faults faults_;
  LowHistory lows_;
};

}  // namespace tidemark::source
