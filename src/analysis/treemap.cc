#include "analysis/treemap.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/escape.h"
#include "base/units.h"

namespace tidemark::analysis {
namespace {

using base::ErrorKind;
using model::GraphRecord;
using model::GraphRecordKind;
using model::GraphRecordObject;

constexpr std::string_view kPrograms = "kernel/vmo";
// Groups nest some ten deep; the reader of a tree may use a frame for each.
constexpr size_t kDeepestNesting = 1000;
// An exbibyte: sums stay far from where they overflow.
constexpr uint64_t kMostBytes = uint64_t{1} << 60;

// Beyond that it stays at one more, for the check that refuses it.
uint64_t capped_sum(uint64_t a, uint64_t b) {
  return a > kMostBytes || b > kMostBytes - a ? kMostBytes + 1 : a + b;
}

base::Error malformed(const std::string& what) {
  return base::fail(ErrorKind::Malformed, "graph: " + what);
}

std::string shown(std::string_view id) {
  constexpr size_t kShownBytes = 80;
  return "'" + base::visible(id.substr(0, kShownBytes)) + "'";
}

bool may_hold(GraphRecordKind above, GraphRecordKind below) {
  switch (below) {
    case GraphRecordKind::Kernel:
      return above == GraphRecordKind::Kernel;
    case GraphRecordKind::Job:
      return above == GraphRecordKind::Kernel || above == GraphRecordKind::Job;
    case GraphRecordKind::Process:
      return above == GraphRecordKind::Job;
    case GraphRecordKind::Thread:
      return above == GraphRecordKind::Process;
  }
  return false;
}

// How the records hang together.
struct Order {
  std::vector<size_t> parents;   // of each record; of the root its own place
  std::vector<size_t> top_down;  // parents before children; the root first
};

base::Result<std::vector<size_t>> find_parents(
    const std::vector<GraphRecord>& records) {
  std::unordered_map<std::string_view, size_t> places;
  places.reserve(records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    if (!places.emplace(records[i].id, i).second) {
      return malformed(shown(records[i].id) + " comes twice");
    }
  }
  std::vector<size_t> parents(records.size());
  std::optional<size_t> root;
  for (size_t i = 0; i < records.size(); ++i) {
    const GraphRecord& record = records[i];
    if (record.parent.empty()) {
      if (root) {
        return malformed("both " + shown(records[*root].id) + " and " +
                         shown(record.id) + " have no parent");
      }
      if (record.kind != GraphRecordKind::Kernel) {
        return malformed("the root, " + shown(record.id) + ", is no memory");
      }
      root = i;
      parents[i] = i;
      continue;
    }
    const auto found = places.find(record.parent);
    if (found == places.end()) {
      return malformed("the parent of " + shown(record.id) + ", " +
                       shown(record.parent) + ", is not there");
    }
    if (!may_hold(records[found->second].kind, record.kind)) {
      return malformed(shown(record.id) + " cannot be in " +
                       shown(record.parent));
    }
    parents[i] = found->second;
  }
  if (!root) return malformed("no record is the root");
  if (!places.contains(kPrograms)) {
    return malformed("there is no " + shown(kPrograms));
  }
  return parents;
}

base::Result<Order> put_in_order(const std::vector<GraphRecord>& records) {
  base::Result<std::vector<size_t>> parents = find_parents(records);
  if (!parents) return parents.error();
  Order order;
  order.parents = std::move(*parents);
  std::vector<std::vector<size_t>> children(records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    if (order.parents[i] == i && records[i].parent.empty()) {
      order.top_down.push_back(i);
    } else {
      children[order.parents[i]].push_back(i);
    }
  }
  std::vector<size_t> depth(records.size());
  for (size_t next = 0; next < order.top_down.size(); ++next) {
    const size_t place = order.top_down[next];
    for (size_t child : children[place]) {
      depth[child] = depth[place] + 1;
      if (depth[child] > kDeepestNesting) {
        return malformed(shown(records[child].id) + " is nested too deep");
      }
      order.top_down.push_back(child);
    }
  }
  if (order.top_down.size() == records.size()) return order;
  // Whatever has a parent and cannot be reached from the root is in a circle,
  // or below one.
  std::vector<bool> is_reached(records.size());
  for (size_t place : order.top_down)
    is_reached[place] = true;
  const auto lost = std::ranges::find(is_reached, false) - is_reached.begin();
  return malformed(shown(records[static_cast<size_t>(lost)].id) +
                   " is above itself, or in something that is");
}

base::Status check_root_job(const std::vector<GraphRecord>& records,
                            const Order& order) {
  const GraphRecord* root_job = nullptr;
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].kind != GraphRecordKind::Job) continue;
    const GraphRecord& above = records[order.parents[i]];
    if (above.kind != GraphRecordKind::Kernel) continue;
    if (root_job) {
      return malformed("both " + shown(root_job->id) + " and " +
                       shown(records[i].id) + " are the root of all groups");
    }
    root_job = &records[i];
  }
  if (!root_job) return malformed("no group is the root of all");
  return base::Ok{};
}

TreemapNode made_node(TreemapKind kind, std::string name, uint64_t bytes) {
  TreemapNode node;
  node.kind = kind;
  node.name = std::move(name);
  node.bytes = bytes;
  return node;
}

// Whether RAM as a whole is the root.
bool is_of_ram(TreemapMeasure measure) {
  return measure == TreemapMeasure::Pss || measure == TreemapMeasure::Private;
}

class Builder {
 public:
  Builder(const std::vector<GraphRecord>& records, TreemapMeasure measure)
      : records_(records), measure_(measure), nodes_(records.size()) {}

  // From the leaves up, so that no depth of groups costs stack.
  base::Status build(const Order& order, Treemap& map) {
    for (auto at = order.top_down.rbegin(); at != order.top_down.rend(); ++at) {
      const GraphRecord& record = records_[*at];
      if (!has_box(record)) continue;
      TreemapNode& node = nodes_[*at];
      node.id = record.id;
      node.name = record.name;
      base::Status status = fill(record, node, map);
      if (!status) return status.error();
      if (order.parents[*at] == *at) continue;
      const GraphRecord& above = records_[order.parents[*at]];
      const bool is_root_job = record.kind == GraphRecordKind::Job &&
                               above.kind == GraphRecordKind::Kernel;
      if (is_root_job && !is_of_ram(measure_)) {
        map.root = std::move(node);
        return base::Ok{};
      }
      nodes_[order.parents[*at]].children.push_back(std::move(node));
    }
    map.root = std::move(nodes_[order.top_down.front()]);
    return base::Ok{};
  }

 private:
  base::Status fill(const GraphRecord& record, TreemapNode& node,
                    Treemap& map) {
    if (record.kind == GraphRecordKind::Process) {
      ++map.process_count;
      if (record.is_unknown) ++map.unknown_process_count;
      fill_process(record, node);
    }
    base::Result<uint64_t> sum = sum_of(node);
    if (!sum) return sum.error();
    switch (record.kind) {
      case GraphRecordKind::Kernel:
        node.kind = TreemapKind::Kernel;
        return close_kernel(record, *sum, node, map);
      case GraphRecordKind::Job:
        node.kind = TreemapKind::Job;
        node.bytes = *sum;
        if (measure_ == TreemapMeasure::Charged) {
          return close_group(record, *sum, node, map);
        }
        break;
      default:
        node.kind = TreemapKind::Process;
        if (!node.children.empty()) node.bytes = *sum;
        if (node.bytes > kMostBytes) return too_much(node);
    }
    sort_treemap(node.children);
    return base::Ok{};
  }

  static base::Error too_much(const TreemapNode& node) {
    return malformed(shown(node.id) + " has more than any machine");
  }

  static base::Result<uint64_t> sum_of(const TreemapNode& node) {
    uint64_t sum = 0;
    for (const TreemapNode& child : node.children)
      sum = capped_sum(sum, child.bytes);
    if (sum > kMostBytes) return too_much(node);
    return sum;
  }

  base::Status close_kernel(const GraphRecord& record, uint64_t sum,
                            TreemapNode& node, Treemap& map) {
    if (record.size_bytes > kMostBytes) return too_much(node);
    node.bytes = std::max(sum, record.size_bytes);
    if (sum > record.size_bytes) {
      map.notes.push_back(record.id + " should be " +
                          base::long_size(record.size_bytes) +
                          ", but what is in it is " + base::long_size(sum));
    } else if (sum < record.size_bytes && !node.children.empty()) {
      add_rest(record, record.size_bytes - sum, node, map);
    }
    sort_treemap(node.children);
    return base::Ok{};
  }

  // What is of processes that may not be read is nobody else's.
  void add_rest(const GraphRecord& record, uint64_t bytes, TreemapNode& node,
                Treemap& map) const {
    const uint64_t unread = std::min(record.unread_bytes, bytes);
    if (unread > 0) {
      node.children.push_back(
          made_node(TreemapKind::Rest, "not readable", unread));
      map.notes.push_back(
          "not readable: " + base::long_size(unread) +
          " of anonymous memory is in processes that may not be read");
    }
    if (unread < bytes) {
      node.children.push_back(
          made_node(TreemapKind::Rest, rest_name(record), bytes - unread));
    }
  }

  // Processes are not charged: what of a group is in none below it is its own.
  static base::Status close_group(const GraphRecord& record, uint64_t sum,
                                  TreemapNode& node, Treemap& map) {
    const uint64_t charged = record.charged_bytes.value_or(sum);
    node.is_unknown = !record.charged_bytes && node.children.empty();
    if (charged > kMostBytes) return too_much(node);
    node.bytes = std::max(sum, charged);
    if (!record.charged_bytes && !node.children.empty()) {
      map.notes.push_back(record.id +
                          " itself has no charge: by charge it is as large as "
                          "the groups in it");
    } else if (sum > charged) {
      map.notes.push_back(record.id + " is charged for " +
                          base::long_size(charged) +
                          ", but the groups in it for " + base::long_size(sum));
    } else if (sum < charged && !node.children.empty()) {
      node.children.push_back(
          made_node(TreemapKind::Rest, "the group itself", charged - sum));
    }
    sort_treemap(node.children);
    return base::Ok{};
  }

  bool has_box(const GraphRecord& record) const {
    if (record.kind == GraphRecordKind::Thread) return false;
    return record.kind != GraphRecordKind::Process ||
           measure_ != TreemapMeasure::Charged;
  }

  std::string rest_name(const GraphRecord& record) const {
    if (record.id != kPrograms) return "the rest";
    if (measure_ == TreemapMeasure::Private) return "shared, or in no process";
    return record.unread_bytes > 0 ? "in no process that was read"
                                   : "in no process";
  }

  void fill_process(const GraphRecord& record, TreemapNode& node) const {
    node.pid = record.pid;
    node.is_unknown = record.is_unknown;
    switch (measure_) {
      case TreemapMeasure::Private:
        fill_private(record, node);
        return;
      case TreemapMeasure::Swap:
        fill_swap(record, node);
        return;
      case TreemapMeasure::Charged:
      case TreemapMeasure::Pss:
        break;
    }
    if (!record.objects.empty()) {
      add_objects(record, node);
      return;
    }
    const uint64_t shared =
        record.pss_bytes - std::min(record.pss_bytes, record.private_bytes);
    node.bytes = record.private_bytes + shared;
    if (record.private_bytes == 0 || shared == 0) return;
    node.children.push_back(
        made_node(TreemapKind::Portion, "private", record.private_bytes));
    node.children.push_back(
        made_node(TreemapKind::Portion, "its share of shared", shared));
  }

  // Of objects that nobody else refers to all is private. Of the others a part
  // may be, by who touched what: it is not known of which.
  void fill_private(const GraphRecord& record, TreemapNode& node) const {
    node.bytes = record.private_bytes;
    add_objects(record, node);
    uint64_t sum = 0;
    for (const TreemapNode& child : node.children)
      sum = capped_sum(sum, child.bytes);
    if (sum > record.private_bytes) {
      // Numbers of different moments: better no parts than wrong ones.
      node.children.clear();
    } else if (!node.children.empty() && sum < record.private_bytes) {
      node.children.push_back(made_node(TreemapKind::Rest,
                                        "alone in what others map too",
                                        record.private_bytes - sum));
    }
  }

  void fill_swap(const GraphRecord& record, TreemapNode& node) const {
    node.is_unknown = !record.swap_pss_bytes;
    add_objects(record, node);
    uint64_t sum = 0;
    for (const TreemapNode& child : node.children)
      sum = capped_sum(sum, child.bytes);
    const uint64_t whole = record.swap_pss_bytes.value_or(0);
    if (node.children.empty()) {
      node.bytes = whole;
    } else if (whole > sum) {
      node.children.push_back(
          made_node(TreemapKind::Rest, "the rest", whole - sum));
    }
  }

  // Of an object that is mapped a process has the same share as each other, of
  // one that it only holds open the same as all who hold or map it.
  uint64_t share_of(const GraphRecordObject& object) const {
    const bool is_swap = measure_ == TreemapMeasure::Swap;
    const uint64_t bytes =
        is_swap ? object.swap_bytes.value_or(0) : object.committed_bytes;
    if (object.is_mapped) return bytes / object.share_count;
    const bool is_last =
        object.share_count == std::numeric_limits<uint64_t>::max();
    return is_last ? 0 : bytes / (object.share_count + 1);
  }

  void add_objects(const GraphRecord& record, TreemapNode& node) const {
    std::unordered_map<std::string_view, size_t> places;
    for (const GraphRecordObject& object : record.objects) {
      const bool is_alone = object.is_mapped && object.share_count == 1;
      if (measure_ == TreemapMeasure::Private && !is_alone) continue;
      const uint64_t bytes = share_of(object);
      if (bytes == 0 && measure_ == TreemapMeasure::Swap) continue;
      const auto [found, is_new] =
          places.emplace(object.name, node.children.size());
      if (is_new) {
        node.children.push_back(
            made_node(TreemapKind::Object, object.name, bytes));
        node.children.back().category = object.category;
        continue;
      }
      TreemapNode& same = node.children[found->second];
      same.bytes = capped_sum(same.bytes, bytes);
      ++same.count;
    }
  }

  const std::vector<GraphRecord>& records_;
  TreemapMeasure measure_;
  std::vector<TreemapNode> nodes_;
};

bool tells(const std::vector<GraphRecord>& records, TreemapMeasure measure) {
  return std::ranges::any_of(records, [measure](const GraphRecord& record) {
    switch (measure) {
      case TreemapMeasure::Swap:
        return record.swap_pss_bytes.has_value();
      case TreemapMeasure::Charged:
        return record.charged_bytes.has_value();
      default:
        return true;
    }
  });
}

}  // namespace

base::Result<Treemap> make_treemap(const model::GraphRecords& graph,
                                   TreemapMeasure measure) {
  const std::vector<GraphRecord>& records = graph.records;
  base::Result<Order> order = put_in_order(records);
  if (!order) return order.error();
  base::Status status = check_root_job(records, *order);
  if (!status) return status.error();
  if (!tells(records, measure)) {
    return base::fail(ErrorKind::Unsupported,
                      measure == TreemapMeasure::Swap
                          ? "graph: it does not tell what is swapped out"
                          : "graph: it does not tell what groups are charged");
  }
  Treemap map;
  map.measure = measure;
  map.timestamp = graph.timestamp;
  map.notes = graph.notes;
  status = Builder(records, measure).build(*order, map);
  if (!status) return status.error();
  return map;
}

}  // namespace tidemark::analysis
