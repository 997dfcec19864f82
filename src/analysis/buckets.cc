#include "analysis/buckets.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "base/escape.h"

namespace tidemark::analysis {
namespace {

using model::BucketRule;

class Digest {
 public:
  Digest(const Graph& graph, const std::vector<BucketRule>& rules)
      : graph_(graph), rules_(rules), mappers_(graph.objects.size()) {
    for (size_t i = 0; i < graph.processes.size(); ++i) {
      for (const GraphReference& reference : graph.processes[i].references)
        mappers_[reference.object].push_back({i, reference.pss_bytes});
    }
    match_processes();
  }

  BucketReport make();

 private:
  struct Mapper {
    size_t process = 0;
    uint64_t pss_bytes = 0;
  };

  void match_processes();
  bool takes(size_t rule, size_t object);
  std::optional<size_t> rule_of(size_t object);
  void add(BucketLine& line, std::set<size_t>& processes, size_t object) const;
  UndigestedObject undigested(size_t object) const;

  const Graph& graph_;
  const std::vector<BucketRule>& rules_;
  std::vector<std::vector<Mapper>> mappers_;  // of each object
  // Of each rule: the processes whose name and group it wants.
  std::vector<std::vector<bool>> wants_;
  // A name occurs in many objects and costs microseconds a rule.
  std::vector<std::map<std::string, bool>> known_names_;
};

void Digest::match_processes() {
  known_names_.resize(rules_.size());
  wants_.resize(rules_.size());
  for (std::vector<bool>& wants : wants_)
    wants.reserve(graph_.processes.size());
  for (const GraphProcess& process : graph_.processes) {
    const std::string name = base::visible(process.name);
    const std::string comm = base::visible(process.comm);
    const std::string group = base::visible(process.cgroup_path);
    for (size_t i = 0; i < rules_.size(); ++i) {
      wants_[i].push_back((rules_[i].process.matches(name) ||
                           rules_[i].process.matches(comm)) &&
                          rules_[i].cgroup.matches(group));
    }
  }
}

bool Digest::takes(size_t rule, size_t object) {
  const bool is_wanted = std::ranges::any_of(
      mappers_[object],
      [&](const Mapper& mapper) { return wants_[rule][mapper.process]; });
  if (!is_wanted) return false;
  if (rules_[rule].vmo.matches_all()) return true;
  const std::string& name = graph_.objects[object].name;
  auto [known, is_new] = known_names_[rule].try_emplace(name, false);
  if (is_new) known->second = rules_[rule].vmo.matches(base::visible(name));
  return known->second;
}

std::optional<size_t> Digest::rule_of(size_t object) {
  for (size_t rule = 0; rule < rules_.size(); ++rule) {
    if (takes(rule, object)) return rule;
  }
  return std::nullopt;
}

void Digest::add(BucketLine& line, std::set<size_t>& processes,
                 size_t object) const {
  line.bytes += graph_.objects[object].committed_bytes;
  ++line.object_count;
  for (const Mapper& mapper : mappers_[object])
    processes.insert(mapper.process);
}

UndigestedObject Digest::undigested(size_t object) const {
  const GraphObject& from = graph_.objects[object];
  UndigestedObject one;
  one.name = from.name;
  one.bytes = from.committed_bytes;
  one.share_count = mappers_[object].size();
  const auto largest =
      std::ranges::max_element(mappers_[object], {}, &Mapper::pss_bytes);
  if (largest != mappers_[object].end()) {
    const GraphProcess& process = graph_.processes[largest->process];
    one.process = process.name;
    one.pid = process.id.pid;
    one.cgroup_path = process.cgroup_path;
  }
  return one;
}

BucketReport Digest::make() {
  BucketReport report;
  // Rules of one name share a line, where the first of them stands.
  std::map<std::string, size_t> places;
  std::vector<size_t> line_of;
  for (const BucketRule& rule : rules_) {
    auto [known, is_new] = places.try_emplace(rule.name, report.lines.size());
    if (is_new) report.lines.emplace_back().name = rule.name;
    line_of.push_back(known->second);
  }
  BucketLine rest = {"Undigested", BucketKind::Undigested};
  std::vector<std::set<size_t>> processes(report.lines.size());
  std::set<size_t> rest_processes;
  uint64_t seen = 0;
  for (size_t i = 0; i < graph_.objects.size(); ++i) {
    // Address space without memory behind it belongs to nobody's bill.
    if (graph_.objects[i].committed_bytes == 0) continue;
    seen += graph_.objects[i].committed_bytes;
    const std::optional<size_t> rule = rule_of(i);
    if (rule) {
      add(report.lines[line_of[*rule]], processes[line_of[*rule]], i);
    } else {
      add(rest, rest_processes, i);
      report.undigested.push_back(undigested(i));
    }
  }
  for (size_t i = 0; i < report.lines.size(); ++i)
    report.lines[i].process_count = processes[i].size();
  rest.process_count = rest_processes.size();
  std::ranges::stable_sort(report.lines, std::greater(), &BucketLine::bytes);
  std::ranges::stable_sort(report.undigested, std::greater(),
                           &UndigestedObject::bytes);
  report.lines.push_back(rest);
  // The graph has made room for all objects, so nothing is ever negative.
  const KernelShares& kernel = graph_.kernel;
  const uint64_t vmo = kernel.vmo_bytes();
  report.lines.push_back(
      {"Orphaned", BucketKind::Orphaned, vmo - std::min(vmo, seen)});
  report.lines.push_back({"Kernel", BucketKind::Kernel,
                          kernel.slab_bytes + kernel.boot_bytes +
                              kernel.page_table_bytes + kernel.other_bytes()});
  report.lines.push_back({"Free", BucketKind::Free, kernel.free_bytes});
  report.total_bytes = kernel.total_bytes;
  return report;
}

}  // namespace

std::string_view bucket_kind_token(BucketKind kind) {
  constexpr std::string_view kTokens[] = {"rule", "undigested", "orphaned",
                                          "kernel", "free"};
  return kTokens[static_cast<size_t>(kind)];
}

BucketReport make_buckets(const Graph& graph,
                          const std::vector<BucketRule>& rules) {
  BucketReport report = Digest(graph, rules).make();
  report.realtime_ns = graph.realtime_ns;
  report.read_ns = graph.read_ns;
  report.unknown_process_count =
      graph.unknown_process_count + graph.failed_process_count;
  report.notes = graph.notes;
  return report;
}

}  // namespace tidemark::analysis
