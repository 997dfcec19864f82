// Makes snapshots of samples: keeps what was read of each process last, and the
// last minutes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/top_events.h"
#include "analysis/top_growth.h"
#include "analysis/top_history.h"
#include "analysis/top_snapshot.h"
#include "model/best_known.h"
#include "model/sample.h"

namespace tidemark::watch {

class TopDigest {
 public:
  TopDigest(std::string target, std::vector<analysis::UserLabel> users,
            uint64_t period_ns);

  // The mappings that the sample has are taken into account; it stays as it is.
  // `kernel`, which is read less often, is used until there is a newer one.
  analysis::TopSnapshot digest(model::Sample& sample);
  // The same of a moment that stands alone: without the last minutes.
  analysis::TopSnapshot digest_alone(model::Sample& sample);
  void set_kernel(model::KernelReadings kernel);
  // The timeline is of these processes from now on.
  void follow(const analysis::TopTimelineOf& of);

 private:
  using Key = std::pair<int32_t, uint64_t>;
  struct Known {
    model::Reading<model::SmapsFields> rollup;
    analysis::TopDetail detail;
    model::BestProcess best{1};  // in bytes
    model::ResidentCounters unsplit;
    bool is_estimated = false;
    std::map<model::Category, analysis::GrowthTrack> growth;
    uint64_t round = 0;  // when it was last seen
  };

  void learn(const model::Sample& sample, const model::Process& process,
             Known& known) const;
  static void learn_counters(const model::Sample& sample,
                             const model::Process& process, Known& known);
  static void add_unsplit(Known& known);
  void add_history(analysis::TopSnapshot& snapshot);
  void add_growers(const analysis::TopSnapshot& snapshot);
  void add_followed(const analysis::TopSnapshot& snapshot);

  std::string target_;
  std::vector<analysis::UserLabel> users_;
  uint64_t period_ns_;
  std::map<Key, Known> known_;
  uint64_t round_ = 0;
  std::optional<model::KernelReadings> kernel_;
  analysis::TopHistoryKeeper keeper_;
  std::shared_ptr<const analysis::TopHistory> history_;
  std::shared_ptr<const analysis::TopTimeline> timeline_;
  analysis::NamedGrowth objects_;
  analysis::NamedGrowth caches_;
  std::vector<analysis::TopGrower> growers_;
  analysis::TopEventKeeper events_;
  analysis::TopTimelineOf followed_;
  analysis::TopHistory followed_history_;  // times and kinds of those
  std::string followed_name_;
};

}  // namespace tidemark::watch
