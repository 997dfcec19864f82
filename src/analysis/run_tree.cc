#include "analysis/run_tree.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace tidemark::analysis {
namespace {

constexpr size_t kNone = SIZE_MAX;
// Nobody reads deeper, and a chain of forks goes on as long as pids last:
// whoever is further down stands at this level.
constexpr uint32_t kDeepest = 100;

struct Node {
  const RunProcess* process = nullptr;
  std::vector<size_t> children;
  size_t parent = kNone;
  uint64_t weight_bytes = 0;  // with all below it

  uint64_t started_ns() const { return process->life.started_ns; }
};

// The newest process of a pid: an ended namesake cannot be the parent of one
// that lives.
std::map<int32_t, const RunProcess*> newest_by_pid(
    const std::vector<RunProcess>& processes) {
  std::map<int32_t, const RunProcess*> newest;
  for (const RunProcess& process : processes) {
    const RunProcess*& known = newest[process.life.pid];
    if (known == nullptr || known->life.started_ns < process.life.started_ns) {
      known = &process;
    }
  }
  return newest;
}

class Drawing {
 public:
  explicit Drawing(const std::vector<RunProcess>& processes) {
    const auto by_pid = newest_by_pid(processes);
    std::map<int32_t, size_t> index;
    for (const RunProcess& process : processes) {
      if (!process.at_peak_bytes) continue;
      index[process.life.pid] = nodes_.size();
      nodes_.push_back({&process, {}, kNone, 0});
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      place(i, by_pid, index);
    }
    for (size_t i = 0; i < nodes_.size(); ++i)
      weigh(i);
  }

  std::vector<RunTreeRow> rows() {
    draw(roots_, 0, {});
    return std::move(rows_);
  }

 private:
  void place(size_t i, const std::map<int32_t, const RunProcess*>& by_pid,
             const std::map<int32_t, size_t>& index) {
    int32_t parent = nodes_[i].process->life.parent_pid;
    // Bounded: reused pids could form a ring.
    for (size_t step = 0; step <= by_pid.size(); ++step) {
      auto shown = index.find(parent);
      if (shown != index.end() && may_be_parent(shown->second, i)) {
        nodes_[shown->second].children.push_back(i);
        nodes_[i].parent = shown->second;
        return;
      }
      auto known = by_pid.find(parent);
      if (known == by_pid.end()) break;
      parent = known->second->life.parent_pid;
    }
    roots_.push_back(i);
  }

  void weigh(size_t i) {
    const uint64_t bytes = nodes_[i].process->at_peak_bytes.value_or(0);
    size_t at = i;
    // Only for the order of lines: not all the way up an endless chain.
    for (uint32_t level = 0; at != kNone && level < kDeepest; ++level) {
      nodes_[at].weight_bytes += bytes;
      at = nodes_[at].parent;
    }
  }

  // A parent is older; whoever is not has only inherited the pid. Those of one
  // look are of equal age, and reused pids among them could close a ring.
  bool may_be_parent(size_t parent, size_t i) const {
    const uint64_t age = nodes_[i].started_ns();
    if (nodes_[parent].started_ns() != age) {
      return nodes_[parent].started_ns() < age;
    }
    size_t at = parent;
    while (at != kNone && at != i)
      at = nodes_[at].parent;
    return at == kNone;
  }

  std::vector<size_t> with_all_below(std::vector<size_t> list) {
    for (size_t i = 0; i < list.size(); ++i) {
      const std::vector<size_t> below =
          std::exchange(nodes_[list[i]].children, {});
      list.insert(list.end(), below.begin(), below.end());
    }
    return list;
  }

  struct Line {
    size_t node = 0;
    uint64_t count = 1;
    uint64_t bytes = 0;
    uint64_t weight_bytes = 0;
  };

  // The heaviest branch first.
  std::vector<Line> lines_of(const std::vector<size_t>& siblings) const {
    std::vector<Line> lines;
    std::map<std::string, size_t> folded;
    for (size_t i : siblings) {
      const Node& node = nodes_[i];
      const uint64_t bytes = node.process->at_peak_bytes.value_or(0);
      auto at = folded.find(node.process->name);
      if (node.children.empty() && at != folded.end()) {
        ++lines[at->second].count;
        lines[at->second].bytes += bytes;
        lines[at->second].weight_bytes += bytes;
        continue;
      }
      if (node.children.empty()) folded[node.process->name] = lines.size();
      lines.push_back({i, 1, bytes, node.weight_bytes});
    }
    std::ranges::stable_sort(lines, std::greater<>(), &Line::weight_bytes);
    return lines;
  }

  // NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
  void draw(const std::vector<size_t>& siblings, uint32_t depth,
            const std::vector<bool>& above) {
    const std::vector<Line> lines =
        lines_of(depth < kDeepest ? siblings : with_all_below(siblings));
    for (size_t i = 0; i < lines.size(); ++i) {
      const Node& node = nodes_[lines[i].node];
      RunTreeRow row;
      row.name = node.process->name;
      row.count = lines[i].count;
      row.bytes = lines[i].bytes;
      row.pid = node.process->life.pid;
      row.depth = depth;
      row.has_more = above;
      row.has_more.push_back(i + 1 < lines.size());
      rows_.push_back(row);
      draw(node.children, depth + 1, row.has_more);
    }
  }

  std::vector<Node> nodes_;
  std::vector<size_t> roots_;
  std::vector<RunTreeRow> rows_;
};

}  // namespace

std::vector<RunTreeRow> draw_tree(const std::vector<RunProcess>& processes) {
  return Drawing(processes).rows();
}

}  // namespace tidemark::analysis
