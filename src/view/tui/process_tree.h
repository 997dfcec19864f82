// Groups and processes of a snapshot as a tree of rows that open and close.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/ps_report.h"
#include "analysis/top_snapshot.h"
#include "view/tui/process_choice.h"

namespace tidemark::view::tui {

enum class TopColumn : uint8_t {
  Pss,
  Private,
  Shared,
  Swap,
  Peak,
  Growth,
  Task,
  Name,
};

struct TreeOptions {
  analysis::GroupBy group_by = analysis::GroupBy::Cgroup;
  TopColumn sort = TopColumn::Pss;
  bool is_reversed = false;
  std::optional<ProcessChoice> choice;  // these alone
};

struct TreeNode {
  size_t row = 0;  // into the report
  std::optional<size_t> parent;
  std::vector<size_t> children;   // in order
  std::string key;                // the same at every reading
  std::optional<size_t> process;  // index into the sample
  std::optional<int64_t> growth_bytes;
  std::optional<uint64_t> peak_bytes;
  const analysis::TopSeries* series = nullptr;  // of a process, in the history
};

// What rows are open beyond the rule: groups are, the rest is not.
struct Openings {
  std::set<std::string> opened;
  std::set<std::string> closed;
};

enum class TreeRowKind : uint8_t {
  Group,
  Process,
  Part,     // one kind of memory of a process
  Mapping,  // an object of that kind
  Folded,   // rows too small to be listed
  Head,     // words over what no process has
  Outside,  // what none has
  Sum,
};

struct TreeRow {
  TreeRowKind kind = TreeRowKind::Process;
  uint32_t depth = 0;
  std::string key;
  std::string name;
  size_t node = 0;  // of groups and processes; of the others the one above
  bool can_open = false;
  bool is_open = false;
  analysis::Use use;
  std::optional<int64_t> growth_bytes;
  std::vector<size_t> members;  // nodes that are folded
  model::Category kind_of_memory = model::Category::Unnamed;
};

class ProcessTree {
 public:
  ProcessTree() = default;
  ProcessTree(const analysis::TopSnapshot& snapshot,
              const TreeOptions& options);

  const analysis::PsReport& report() const { return report_; }
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  const analysis::PsRow& row_of(const TreeNode& node) const {
    return report_.rows[node.row];
  }

  // In another order, which costs less than making it anew.
  void sort(const TreeOptions& options);
  // Rows as they are opened now.
  std::vector<TreeRow> rows(const analysis::TopSnapshot& snapshot,
                            const Openings& openings) const;
  // PSS over time of all processes of a row, on the grid of the history. Summed
  // when it is drawn for the first time: that of all processes takes longer
  // than the rest of a drawing.
  const analysis::TopSeries& series(const TreeRow& row) const;

 private:
  void add_nodes(const analysis::TopSnapshot& snapshot);
  void describe(const analysis::TopSnapshot& snapshot, TreeNode& node) const;
  void sum_growth();
  void add_rows(const analysis::TopSnapshot& snapshot, const Openings& openings,
                const std::vector<size_t>& children, uint64_t whole_bytes,
                const std::string& parent_key, std::vector<TreeRow>& out) const;
  void add_row(const analysis::TopSnapshot& snapshot, const Openings& openings,
               size_t index, std::vector<TreeRow>& out) const;
  void add_parts(const analysis::TopSnapshot& snapshot,
                 const Openings& openings, size_t index, uint32_t depth,
                 std::vector<TreeRow>& out) const;
  void add_outside(std::vector<TreeRow>& out) const;
  const analysis::TopSeries& series_of(size_t index) const;

  analysis::PsReport report_;
  // shared_ptr: nodes point into it.
  std::shared_ptr<const analysis::TopHistory> history_;
  mutable std::unordered_map<size_t, analysis::TopSeries> group_series_;
  mutable std::unordered_map<std::string, analysis::TopSeries> folded_series_;
  std::vector<TreeNode> nodes_;
  std::vector<size_t> roots_;
};

}  // namespace tidemark::view::tui
