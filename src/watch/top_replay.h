// A recording for `top`: any moment of it as the snapshot that a live reading
// would have been.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/top_events.h"
#include "analysis/top_snapshot.h"
#include "base/result.h"
#include "store/recording.h"
#include "watch/top_supply.h"

namespace tidemark::watch {

class TopReplay : public TopSupply {
 public:
  // The moment a word means, as an index of its ticks.
  using FindMoment = std::function<base::Result<size_t>(const store::Recording&,
                                                        const std::string&)>;

  // The recording must have a tick; the thread owns it from here on.
  static base::Result<std::unique_ptr<TopReplay>> start(
      store::Recording recording, size_t first_index, FindMoment find);
  TopReplay(const TopReplay&) = delete;
  TopReplay& operator=(const TopReplay&) = delete;
  ~TopReplay() override;

  int fd() const override { return wake_.fd(); }
  Snapshot take() override;
  void want_maps(std::optional<model::ProcessId> process) override;
  void want(const analysis::TopNeeds& needs) override;

  void move_by(int64_t ticks);
  void go_to(std::string word);
  // False when there is none in that direction.
  bool go_to_peak(bool is_next);
  void play_or_pause();
  void change_speed(bool is_faster);

 private:
  TopReplay(store::Recording recording, size_t first_index, FindMoment find,
            WakeUp wake);

  struct Wishes {
    size_t index = 0;
    std::string word;  // a moment to look for
    std::optional<model::ProcessId> maps;
    analysis::TopNeeds needs;
    bool is_playing = false;
    double speed = 1;
    bool is_stopping = false;
    bool operator==(const Wishes&) const = default;
  };

  void run();
  void load();
  void make_timeline(const analysis::TopTimelineOf& of);
  // Whom a filter means at any moment of the recording.
  store::ProcessSet matching(const std::string& filter) const;
  std::optional<uint64_t> group_mark(const model::Timeline& timeline,
                                     size_t highest,
                                     const store::ProcessSet& chosen) const;
  void fill_slow(const Wishes& wishes, analysis::TopSnapshot& snapshot) const;
  base::Result<analysis::TopVms> vms_at(size_t index) const;
  // What is wrong with the file since it was opened; empty: nothing.
  std::string file_trouble() const;
  void wait(Wishes& known);
  void advance(Wishes& wishes);
  void look_up(Wishes& wishes);
  void show(const Wishes& wishes);
  // And what grew in it.
  void add_history(size_t index, analysis::TopSnapshot& snapshot) const;
  void add_processes(const std::vector<int64_t>& ticks,
                     const model::Bands& bands,
                     analysis::TopHistory& history) const;
  void add_growth(const model::Bands& bands, size_t tick_count,
                  analysis::TopSnapshot& snapshot) const;
  void fill_maps(const model::Sample& sample, const Wishes& wishes,
                 analysis::TopSnapshot& snapshot) const;
  void add_trace(size_t index, analysis::TopSnapshot& snapshot);
  uint64_t time_of(size_t index) const;

  store::Recording recording_;  // of the thread alone
  FindMoment find_;
  WakeUp wake_;
  size_t tick_count_;
  std::vector<std::optional<analysis::TopMachine>> machines_;
  std::vector<analysis::TopMachineTick> machine_ticks_;
  analysis::TopTimelineOf timeline_of_;
  bool has_vms_ = false;
  uint64_t file_id_ = 0;  // its inode when it was opened; 0: not known
  std::optional<model::RecordedTrace> recorded_trace_;
  // Shared with snapshots: it is the same until another tick is shown.
  std::shared_ptr<const analysis::TopTrace> trace_;
  std::optional<size_t> trace_index_;
  std::string note_;
  // Where play began, of ours and of the recording.
  uint64_t began_ns_ = 0;
  uint64_t began_at_ns_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  Wishes wishes_;
  Snapshot newest_;
  // shared_ptr: every snapshot carries it.
  std::shared_ptr<const analysis::TopTimeline> timeline_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace tidemark::watch
