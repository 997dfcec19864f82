// Makes a trace of the tables of bpf/trace.bpf.c, as often as it is asked to.
//
// Most of a reading says what the last one said: the same frames, stacks, tasks
// and names. So what an entry of a table became is kept and only numbers are
// read again, until an entry has passed to another, code has got a name or a
// module has come or gone; then everything is made anew.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/trace_builder.h"
#include "source/bpf/trace_tables.h"
#include "source/roots.h"
#include "source/trace_stacks.h"

namespace tidemark::source {

class TraceReader {
 public:
  // All that the tables tell, also while more is counted; without the head.
  // Names that cannot be told are said in the notes.
  model::Trace read(const TraceTables& tables, const TraceRun& run,
                    const Roots& roots, std::vector<std::string>& notes);

 private:
  // What the entry of a task became.
  struct Task {
    uint64_t key = 0;  // 0: nothing yet
    uint32_t generation = 0;
    uint32_t index = 0;
    bool was_asked = false;  // for the arguments of one that was there before
    std::string arguments;   // as the program left them
  };
  // And that of a node.
  struct Node {
    uint64_t key = 0;
    uint32_t leaf = 0;
    bool is_folded = false;
  };
  // A node with its place in the table.
  using PlacedNode = std::pair<uint32_t, tm_trace_node>;

  static std::vector<PlacedNode> copy_nodes(
      const MappedTable<tm_trace_node>& table);
  bool has_passed_on(const TraceTables& tables,
                     const std::vector<PlacedNode>& nodes) const;
  void start_over(const TraceTables& tables, const TraceRun& run);
  bool learn_names(const TraceTables& tables, const TraceRun& run,
                   const Roots& roots, std::vector<std::string>& notes);

  void add_stacks(const TraceTables& tables, const TraceRun& run);
  uint32_t add_stack(const TraceTables& tables, const TraceRun& run,
                     const ModuleHistory& history, uint32_t place);
  void add_tasks(const TraceTables& tables, const TraceRun& run,
                 const Roots& roots);
  void add_task(const tm_trace_task& entry, const Roots& roots, Task& known);
  std::string group_of(uint64_t id, const Roots& roots);
  static void name_task(const tm_trace_task& entry, const Roots& roots,
                        Task& known, model::TraceTask& task);
  void add_leaves(const TraceTables& tables, const TraceRun& run,
                  const std::vector<PlacedNode>& nodes);
  bool add_leaf(const TraceTables& tables, const TraceRun& run, uint32_t place,
                const tm_trace_node& node);
  void add_lows(const TraceRun& run, const std::vector<PlacedNode>& nodes);
  void add_folded(const TraceTables& tables, const TraceRun& run);
  // Stands for all whose entries others have now. Made when it is first asked
  // for: most traces have none.
  uint32_t folded_task(const TraceRun& run);

  FrameNames names_;
  model::TraceBuilder builder_;
  // By places in the tables.
  std::vector<std::optional<uint32_t>> stacks_;
  std::vector<Task> tasks_;
  std::vector<Node> nodes_;
  std::optional<uint32_t> folded_task_;
  std::map<uint64_t, std::string> groups_;
  bool has_listed_groups_ = false;  // in this reading
  uint64_t modules_version_ = 0;
  std::optional<uint64_t> lows_version_;
};

}  // namespace tidemark::source
