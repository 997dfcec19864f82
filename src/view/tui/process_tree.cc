#include "view/tui/process_tree.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/escape.h"

namespace tidemark::view::tui {
namespace {

using analysis::PsRow;
using analysis::RowKind;
using analysis::TopSeries;
using analysis::TopSnapshot;

// As in `ps`: what has less of its group folds.
constexpr uint64_t kFoldShare = 100;

std::string key_of(const PsRow& row) {
  if (row.kind == RowKind::Group) return "j:" + row.key;
  return "p:" + std::to_string(row.process.pid) + ":" +
         std::to_string(row.process.start_ticks);
}

// Where PSS is not known, what is resident tells how large it may be: the
// largest process of all must not stand last.
uint64_t weight(const analysis::Use& use) {
  const model::Amount in_ram = use.in_ram();
  return in_ram.is_unknown() ? use.rss.bytes : in_ram.bytes;
}

uint64_t sort_bytes(const PsRow& row, const TreeNode& node, TopColumn column) {
  switch (column) {
    case TopColumn::Private:
      return row.use.uss.bytes;
    case TopColumn::Shared:
      return row.use.shared.bytes;
    case TopColumn::Swap:
      return row.use.swap_pss.bytes;
    case TopColumn::Peak:
      return node.peak_bytes.value_or(0);
    default:
      return weight(row.use);
  }
}

std::optional<uint64_t> first_known(const TopSeries& series) {
  for (const std::optional<uint64_t>& value : series) {
    if (value) return value;
  }
  return std::nullopt;
}

// The kernel's own threads have no memory to look at.
bool opens_by_itself(const PsRow& row) {
  return row.kind == RowKind::Group && row.key != "kernel threads";
}

model::Sample filtered(const TopSnapshot& snapshot,
                       const ProcessChoice& choice) {
  model::Sample sample;
  sample.machine = snapshot.sample.machine;
  sample.cgroups = snapshot.sample.cgroups;
  for (const model::Process& process : snapshot.sample.processes) {
    if (choice.has(process.id.pid)) sample.processes.push_back(process);
  }
  return sample;
}

void add_series(const TopSeries& more, TopSeries& sum) {
  for (size_t i = 0; i < std::min(sum.size(), more.size()); ++i) {
    if (more[i]) sum[i] = sum[i].value_or(0) + *more[i];
  }
}

TreeRow plain_row(TreeRowKind kind, uint32_t depth, std::string key,
                  std::string name) {
  TreeRow row;
  row.kind = kind;
  row.depth = depth;
  row.key = std::move(key);
  row.name = std::move(name);
  return row;
}

// What was never divided has a bound, and nothing else.
analysis::Use use_of(const analysis::CategoryUse& part) {
  const auto share = [&](uint64_t bytes) {
    return model::amount_of(part.bounded_bytes > 0 ? std::nullopt
                                                   : std::optional(bytes));
  };
  analysis::Use use;
  use.pss = model::amount_of(part.pss_bytes);
  use.pss.has_bound = part.bounded_bytes > 0;
  use.uss = share(part.private_bytes);
  use.shared =
      share(part.rss_bytes - std::min(part.rss_bytes, part.private_bytes));
  use.swap_pss = model::amount_of(part.swap_pss_bytes);
  return use;
}

const std::vector<analysis::TopMapping>& mappings_in(
    const analysis::TopDetail& detail) {
  static const std::vector<analysis::TopMapping> kNone;
  return detail.largest ? *detail.largest : kNone;
}

// Below its kind, and as one what is too small to be kept: they add up to it.
void add_mappings(const TreeRow& part, const analysis::CategoryUse& kind,
                  const analysis::TopDetail& detail,
                  std::vector<TreeRow>& out) {
  analysis::CategoryUse rest = kind;
  const auto add = [&](const std::string& name,
                       const analysis::CategoryUse& use) {
    TreeRow row = plain_row(TreeRowKind::Mapping, part.depth + 1,
                            part.key + ":" + name, name);
    row.node = part.node;
    row.use = use_of(use);
    out.push_back(std::move(row));
  };
  for (const analysis::TopMapping& mapping : mappings_in(detail)) {
    if (mapping.use.category != kind.category) continue;
    rest.subtract(mapping.use);
    add(mapping.name, mapping.use);
  }
  if (rest.rss_bytes > 0 || rest.swap_pss_bytes > 0) add("smaller ones", rest);
}

}  // namespace

ProcessTree::ProcessTree(const TopSnapshot& snapshot,
                         const TreeOptions& options)
    : history_(snapshot.history) {
  analysis::PsOptions asked;
  asked.group_by = options.group_by;
  asked.fold = false;
  asked.with_texts = false;
  std::optional<model::Sample> chosen;
  if (options.choice) chosen = filtered(snapshot, *options.choice);
  base::Result<analysis::PsReport> report = analysis::make_ps_report(
      chosen ? *chosen : snapshot.sample, asked, snapshot.users);
  // It is misused only when a group is asked for by name.
  if (report) report_ = std::move(*report);
  // Some processes alone do not close to all RAM.
  if (options.choice || !snapshot.has_all_processes) report_.account.reset();
  add_nodes(snapshot);
  sum_growth();
  sort(options);
}

void ProcessTree::describe(const TopSnapshot& snapshot, TreeNode& node) const {
  const PsRow& row = report_.rows[node.row];
  node.key = key_of(row);
  if (row.kind == RowKind::Group) {
    if (row.peak_bytes && *row.peak_bytes) node.peak_bytes = **row.peak_bytes;
    return;
  }
  if (!node.process) return;
  const model::Process& process = snapshot.sample.processes[*node.process];
  node.peak_bytes = process.status.peak_rss_bytes;
  const TopSeries* series = history_ ? history_->of(process.id) : nullptr;
  node.series = series;
  const model::Amount in_ram = row.use.in_ram();
  const std::optional<uint64_t> now =
      in_ram.has_bound ? std::nullopt : in_ram.known_bytes();
  // One that came since the last point of the history has not grown yet.
  const std::optional<uint64_t> before = series ? first_known(*series) : now;
  if (now && before) {
    node.growth_bytes =
        static_cast<int64_t>(*now) - static_cast<int64_t>(*before);
  }
}

// Rows come parents first, with their depth.
void ProcessTree::add_nodes(const TopSnapshot& snapshot) {
  std::unordered_map<int32_t, size_t> by_pid;
  for (size_t i = 0; i < snapshot.sample.processes.size(); ++i)
    by_pid[snapshot.sample.processes[i].id.pid] = i;
  std::vector<size_t> above;
  nodes_.reserve(report_.rows.size());
  for (size_t i = 0; i < report_.rows.size(); ++i) {
    const PsRow& row = report_.rows[i];
    TreeNode node;
    node.row = i;
    if (row.kind == RowKind::Process) {
      auto found = by_pid.find(row.process.pid);
      if (found != by_pid.end()) node.process = found->second;
    }
    above.resize(std::min<size_t>(above.size(), row.depth));
    if (!above.empty()) {
      node.parent = above.back();
      nodes_[above.back()].children.push_back(i);
    } else {
      roots_.push_back(i);
    }
    describe(snapshot, node);
    nodes_.push_back(std::move(node));
    above.push_back(i);
  }
}

// Of those that are there now; one of which nothing is known makes the sum
// unknown. Children stand behind their parents.
void ProcessTree::sum_growth() {
  for (size_t i = nodes_.size(); i-- > 0;) {
    TreeNode& node = nodes_[i];
    if (report_.rows[node.row].kind != RowKind::Group) continue;
    node.growth_bytes = 0;
    for (size_t child : node.children) {
      const std::optional<int64_t>& growth = nodes_[child].growth_bytes;
      if (!growth) {
        node.growth_bytes.reset();
        break;
      }
      *node.growth_bytes += *growth;
    }
  }
}

void ProcessTree::sort(const TreeOptions& options) {
  const auto comes_before = [&](size_t a, size_t b) {
    const TreeNode& left = nodes_[a];
    const TreeNode& right = nodes_[b];
    const PsRow& left_row = report_.rows[left.row];
    const PsRow& right_row = report_.rows[right.row];
    if (options.sort == TopColumn::Name && left_row.name != right_row.name) {
      return (left_row.name < right_row.name) != options.is_reversed;
    }
    if (options.sort == TopColumn::Growth &&
        left.growth_bytes != right.growth_bytes) {
      // Unknown comes last: nothing is less than something.
      return (left.growth_bytes > right.growth_bytes) != options.is_reversed;
    }
    const uint64_t left_bytes = sort_bytes(left_row, left, options.sort);
    const uint64_t right_bytes = sort_bytes(right_row, right, options.sort);
    if (options.sort != TopColumn::Task && left_bytes != right_bytes) {
      return (left_bytes > right_bytes) != options.is_reversed;
    }
    return (left_row.id < right_row.id) !=
           (options.sort == TopColumn::Task && options.is_reversed);
  };
  std::ranges::sort(roots_, comes_before);
  for (TreeNode& node : nodes_)
    std::ranges::sort(node.children, comes_before);
}

void ProcessTree::add_parts(const TopSnapshot& snapshot,
                            const Openings& openings, size_t index,
                            uint32_t depth, std::vector<TreeRow>& out) const {
  const TreeNode& node = nodes_[index];
  if (!node.process || *node.process >= snapshot.details.size()) return;
  const analysis::TopDetail& detail = snapshot.details[*node.process];
  for (const analysis::CategoryUse& kind : detail.kinds) {
    TreeRow row = plain_row(
        TreeRowKind::Part, depth,
        node.key + ":" + std::string(model::category_token(kind.category)),
        std::string(model::category_name(kind.category)));
    row.node = index;
    row.kind_of_memory = kind.category;
    row.use = use_of(kind);
    row.can_open = std::ranges::any_of(mappings_in(detail), [&](const auto& m) {
      return m.use.category == kind.category;
    });
    row.is_open = row.can_open && openings.opened.contains(row.key);
    out.push_back(row);
    if (row.is_open) add_mappings(row, kind, detail, out);
  }
}

void ProcessTree::add_row(const TopSnapshot& snapshot, const Openings& openings,
                          size_t index, std::vector<TreeRow>& out) const {
  const TreeNode& node = nodes_[index];
  const PsRow& source = report_.rows[node.row];
  const bool is_group = source.kind == RowKind::Group;
  TreeRow row = plain_row(is_group ? TreeRowKind::Group : TreeRowKind::Process,
                          source.depth, node.key, source.name);
  row.node = index;
  row.use = source.use;
  row.growth_bytes = node.growth_bytes;
  const bool has_parts = node.process &&
                         *node.process < snapshot.details.size() &&
                         !snapshot.details[*node.process].kinds.empty();
  row.can_open = !node.children.empty() || has_parts;
  row.is_open = opens_by_itself(source) ? !openings.closed.contains(node.key)
                                        : openings.opened.contains(node.key);
  const bool shows_children = row.is_open && is_group;
  const bool shows_parts = row.is_open && has_parts;
  out.push_back(std::move(row));
  if (shows_parts) add_parts(snapshot, openings, index, source.depth + 1, out);
  if (shows_children) {
    add_rows(snapshot, openings, node.children, weight(source.use), node.key,
             out);
  }
}

void ProcessTree::add_rows(const TopSnapshot& snapshot,
                           const Openings& openings,
                           const std::vector<size_t>& children,
                           uint64_t whole_bytes, const std::string& parent_key,
                           std::vector<TreeRow>& out) const {
  const std::string fold_key = "s:" + parent_key;
  std::vector<size_t> small;
  for (size_t index : children) {
    const analysis::Use& use = report_.rows[nodes_[index].row].use;
    // What is unknown is never small.
    const bool is_small =
        !use.pss.has_unknown && weight(use) * kFoldShare < whole_bytes;
    if (is_small) {
      small.push_back(index);
    } else {
      add_row(snapshot, openings, index, out);
    }
  }
  if (small.empty()) return;
  // One alone is listed: a fold would save nothing.
  if (small.size() == 1) return add_row(snapshot, openings, small[0], out);
  TreeRow row =
      plain_row(TreeRowKind::Folded, report_.rows[nodes_[small[0]].row].depth,
                fold_key, std::to_string(small.size()) + " smaller");
  row.can_open = true;
  row.is_open = openings.opened.contains(fold_key);
  row.growth_bytes = 0;
  for (size_t index : small) {
    row.use.add(report_.rows[nodes_[index].row].use);
    const std::optional<int64_t>& growth = nodes_[index].growth_bytes;
    if (!growth) row.growth_bytes.reset();
    if (row.growth_bytes) *row.growth_bytes += *growth;
  }
  const bool is_open = row.is_open;
  row.node = nodes_[small[0]].parent.value_or(small[0]);
  row.members = small;
  out.push_back(std::move(row));
  if (!is_open) return;
  for (size_t index : small)
    add_row(snapshot, openings, index, out);
}

void ProcessTree::add_outside(std::vector<TreeRow>& out) const {
  if (!report_.account) return;
  const analysis::MachineAccount& account = *report_.account;
  out.push_back(plain_row(TreeRowKind::Head, 0, "o:", "not in any process"));
  const auto add = [&](TreeRowKind kind, uint32_t depth, const char* key,
                       std::string name, int64_t bytes) {
    TreeRow row = plain_row(kind, depth, key, std::move(name));
    // A part that shrank while the others were read may be less than nothing;
    // it is not shown as something else.
    row.use.pss = model::amount_of(
        bytes < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(bytes)));
    out.push_back(std::move(row));
  };
  for (const analysis::AccountLine& line : account.others) {
    add(TreeRowKind::Outside, 1, "o:line", line.name, line.bytes);
    out.back().key += line.token;
  }
  if (!account.processes.has_unknown) {
    add(TreeRowKind::Outside, 1, "o:unnamed", "unnamed",
        account.not_explained_bytes);
  }
  add(TreeRowKind::Outside, 1, "o:free", "free",
      static_cast<int64_t>(account.total_bytes - account.used_bytes));
  add(TreeRowKind::Sum, 0, "o:all", "all of RAM",
      static_cast<int64_t>(account.total_bytes));
}

std::vector<TreeRow> ProcessTree::rows(const TopSnapshot& snapshot,
                                       const Openings& openings) const {
  std::vector<TreeRow> out;
  add_rows(snapshot, openings, roots_, weight(report_.total), "", out);
  add_outside(out);
  return out;
}

// That of a group is the sum of those right below it, each of which is summed
// once however many groups stand above.
const TopSeries& ProcessTree::series_of(size_t index) const {
  static const TopSeries kNone;
  const TreeNode& node = nodes_[index];
  if (report_.rows[node.row].kind != RowKind::Group)
    return node.series != nullptr ? *node.series : kNone;
  auto [found, is_new] = group_series_.try_emplace(index);
  if (!is_new) return found->second;
  TopSeries sum(history_ ? history_->times_ns.size() : 0);
  for (size_t child : node.children)
    add_series(series_of(child), sum);
  // Those below may have moved the table.
  return group_series_[index] = std::move(sum);
}

const TopSeries& ProcessTree::series(const TreeRow& row) const {
  if (row.kind != TreeRowKind::Folded) return series_of(row.node);
  auto [found, is_new] = folded_series_.try_emplace(row.key);
  if (!is_new) return found->second;
  found->second.resize(history_ ? history_->times_ns.size() : 0);
  for (size_t member : row.members)
    add_series(series_of(member), found->second);
  return found->second;
}

}  // namespace tidemark::view::tui
