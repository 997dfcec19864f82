#include "analysis/process_tree.h"

#include <unordered_map>

namespace tidemark::analysis {
namespace {

class Walker {
 public:
  explicit Walker(const std::vector<model::Process>& processes)
      : processes_(processes),
        children_(processes.size()),
        is_placed_(processes.size(), false) {
    std::unordered_map<int32_t, size_t> by_pid;
    for (size_t i = 0; i < processes.size(); ++i) {
      by_pid.emplace(processes[i].id.pid, i);
    }
    for (size_t i = 0; i < processes.size(); ++i) {
      auto parent = by_pid.find(processes[i].stat.parent_pid);
      if (parent == by_pid.end() || parent->second == i) {
        roots_.push_back(i);
      } else {
        children_[parent->second].push_back(i);
      }
    }
  }

  std::vector<TreeEntry> walk() {
    for (size_t root : roots_)
      place(root);
    for (size_t i = 0; i < processes_.size(); ++i)
      place(i);  // rings
    count_descendants();
    return std::move(entries_);
  }

 private:
  // With a stack of our own: a chain of forks can be thousands deep.
  void place(size_t root) {
    std::vector<TreeEntry> pending = {{root, 0, 0}};
    while (!pending.empty()) {
      const TreeEntry next = pending.back();
      pending.pop_back();
      if (is_placed_[next.index]) continue;
      is_placed_[next.index] = true;
      entries_.push_back(next);
      const std::vector<size_t>& below = children_[next.index];
      for (size_t i = below.size(); i-- > 0;) {
        pending.push_back({below[i], next.depth + 1, 0});
      }
    }
  }

  void count_descendants() {
    std::vector<size_t> open;
    for (size_t i = 0; i < entries_.size(); ++i) {
      while (!open.empty() &&
             entries_[open.back()].depth >= entries_[i].depth) {
        open.pop_back();
      }
      for (size_t ancestor : open)
        ++entries_[ancestor].descendant_count;
      open.push_back(i);
    }
  }

  const std::vector<model::Process>& processes_;
  std::vector<std::vector<size_t>> children_;
  std::vector<bool> is_placed_;
  std::vector<size_t> roots_;
  std::vector<TreeEntry> entries_;
};

}  // namespace

std::vector<TreeEntry> process_tree(
    const std::vector<model::Process>& processes) {
  return Walker(processes).walk();
}

}  // namespace tidemark::analysis
