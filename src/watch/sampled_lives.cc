#include "watch/sampled_lives.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/page_size.h"

namespace tidemark::watch {

SampledLives::SampledLives(const source::Roots& roots)
    : roots_(roots),
      reader_(roots, no_cgroups_, {}),
      page_bytes_(base::page_bytes()) {}

// Orphans come to us, who asked to be their reaper: our children are the other
// roots of the tree.
std::vector<int32_t> SampledLives::walk() {
  std::vector<int32_t> found;
  std::set<int32_t> known;
  const auto add = [&](int32_t pid) {
    if (pid != left_out_pid_ && known.insert(pid).second) found.push_back(pid);
  };
  base::Result<std::vector<int32_t>> ours = reader_.children(::getpid());
  if (ours) std::ranges::for_each(*ours, add);
  if (found.empty()) add(root_pid_);
  for (size_t i = 0; i < found.size(); ++i) {
    base::Result<std::vector<int32_t>> children = reader_.children(found[i]);
    if (children) std::ranges::for_each(*children, add);
  }
  return found;
}

void SampledLives::note(int32_t pid, uint64_t now_ns) {
  base::Result<model::ProcessStat> stat = reader_.read_stat(pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return;
  Seen& seen = seen_[pid];
  if (seen.life.pid != 0 && seen.start_ticks != stat->start_ticks) {
    seen.life.ended_ns = seen.last_seen_ns;
    replaced_.push_back(std::exchange(seen, Seen()).life);
  }
  model::ProcessLife& life = seen.life;
  if (life.pid == 0) {
    life.pid = pid;
    life.parent_pid = stat->parent_pid;
    life.started_ns = now_ns;
    life.peak_source = model::PeakSource::Sampled;
    seen.start_ticks = stat->start_ticks;
    // Also of one that is gone before its size is read.
    seen.last_seen_ns = now_ns;
  }
  if (life.comm != stat->comm) {
    life.comm = stat->comm;
    base::Result<std::string> path =
        base::read_link_at(roots_.proc, std::to_string(pid) + "/exe");
    if (path) life.path = *path;
  }
  base::Result<model::Statm> statm = reader_.read_statm(pid);
  if (!statm) return;
  seen.rss_bytes = statm->resident_pages * page_bytes_;
  seen.last_seen_ns = now_ns;
  life.peak_rss_bytes =
      std::max(life.peak_rss_bytes.value_or(0), seen.rss_bytes);
}

uint64_t SampledLives::look(uint64_t now_ns,
                            const std::vector<int32_t>& members) {
  last_look_ns_ = now_ns;
  for (int32_t pid : members.empty() ? walk() : members)
    note(pid, now_ns);
  uint64_t sum = 0;
  for (const auto& [pid, seen] : seen_) {
    if (seen.last_seen_ns == now_ns) sum += seen.rss_bytes;
  }
  return sum;
}

void SampledLives::learn(int32_t pid, uint64_t rss_bytes, uint64_t time_ns) {
  auto found = seen_.find(pid);
  if (found == seen_.end()) return;
  Seen& seen = found->second;
  seen.last_seen_ns = std::max(seen.last_seen_ns, time_ns);
  seen.life.peak_rss_bytes =
      std::max(seen.life.peak_rss_bytes.value_or(0), rss_bytes);
}

std::vector<source::TreeMember> SampledLives::members() const {
  std::vector<source::TreeMember> present;
  for (const auto& [pid, seen] : seen_) {
    if (seen.last_seen_ns < last_look_ns_) continue;
    // Whether it has forked is not known here, so it is read in full.
    present.push_back({pid, seen.rss_bytes, true});
  }
  std::ranges::sort(present, std::greater<>(), &source::TreeMember::rss_bytes);
  return present;
}

std::vector<model::ProcessLife> SampledLives::lives() const {
  std::vector<model::ProcessLife> list = replaced_;
  for (const auto& [pid, seen] : seen_) {
    model::ProcessLife life = seen.life;
    const bool is_alive =
        ::access(("/proc/" + std::to_string(pid)).c_str(), F_OK) == 0 &&
        seen.last_seen_ns >= last_look_ns_;
    if (!is_alive) life.ended_ns = seen.last_seen_ns;
    list.push_back(std::move(life));
  }
  return list;
}

}  // namespace tidemark::watch
