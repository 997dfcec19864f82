#include "analysis/run_tree.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tidemark::analysis {
namespace {

struct Node {
  const RunProcess* process = nullptr;
  std::vector<size_t> children;
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
      nodes_.push_back({&process, {}});
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      place(i, by_pid, index);
    }
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
      // A parent is older; whoever is not has only inherited the pid.
      if (shown != index.end() && shown->second != i &&
          nodes_[shown->second].process->life.started_ns <=
              nodes_[i].process->life.started_ns) {
        nodes_[shown->second].children.push_back(i);
        return;
      }
      auto known = by_pid.find(parent);
      if (known == by_pid.end()) break;
      parent = known->second->life.parent_pid;
    }
    roots_.push_back(i);
  }

  struct Line {
    size_t node = 0;
    uint64_t count = 1;
    uint64_t bytes = 0;
  };

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
        continue;
      }
      if (node.children.empty()) folded[node.process->name] = lines.size();
      lines.push_back({i, 1, bytes});
    }
    std::ranges::stable_sort(lines, std::greater<>(), &Line::bytes);
    return lines;
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the tree of processes
  void draw(const std::vector<size_t>& siblings, uint32_t depth,
            const std::vector<bool>& above) {
    const std::vector<Line> lines = lines_of(siblings);
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
