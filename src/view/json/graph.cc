#include "view/json/graph.h"

#include "base/clock.h"
#include "base/json.h"
#include "view/json/use.h"

namespace tidemark::view {
namespace {

using analysis::Graph;
using analysis::GraphObject;
using analysis::GraphProcess;
using analysis::GraphReference;
using analysis::KernelShares;
using base::JsonWriter;

constexpr const char* kPhysmem = "kernel/physmem";

// The words memgraph has for it.
std::string_view thread_state(char letter) {
  switch (letter) {
    case 'R':
      return "RUNNING";
    case 'S':
    case 'D':
    case 'I':
    case 'P':
      return "BLOCKED";
    case 'T':
    case 't':
      return "SUSPENDED";
    case 'Z':
      return "DYING";
    case 'X':
    case 'x':
      return "DEAD";
    default:
      return "UNKNOWN";
  }
}

std::string id_of(char type, uint64_t koid) {
  return std::string(1, type) + "/" + std::to_string(koid);
}

// One record a line, in an array.
class Records {
 public:
  JsonWriter& begin(const std::string& id, std::string_view type,
                    const std::string& parent, std::string_view name) {
    json_.begin_object();
    json_.member("id", id);
    json_.member("type", type);
    json_.member("parent", parent);
    json_.member("name", name);
    return json_;
  }
  JsonWriter& begin_meta() {
    json_.begin_object();
    json_.member("type", "__META");
    return json_;
  }
  void end() {
    json_.end_object();
    std::string record = json_.take();
    record.pop_back();  // the newline
    text_ += text_.empty() ? "[\n" : ",\n";
    text_ += record;
  }
  std::string take() { return std::move(text_) + "\n]\n"; }

 private:
  JsonWriter json_{JsonWriter::Layout::OneLine};
  std::string text_;
};

void write_kernel(Records& records, const Graph& graph) {
  const KernelShares& kernel = graph.kernel;
  const auto record = [&](const std::string& name, const std::string& parent,
                          uint64_t bytes) {
    records.begin("kernel/" + name, "kernel", parent, name)
        .member("size_bytes", bytes);
    records.end();
  };
  record("physmem", "", kernel.total_bytes);
  record("free", kPhysmem, kernel.free_bytes);
  JsonWriter& vmo = records.begin("kernel/vmo", "kernel", kPhysmem, "vmo");
  vmo.member("size_bytes", kernel.vmo_bytes());
  vmo.member("anon_bytes", kernel.anon_bytes);
  vmo.member("file_bytes", kernel.file_bytes);
  vmo.member("shmem_bytes", kernel.shmem_bytes);
  vmo.member("hugetlb_bytes", kernel.hugetlb_bytes);
  vmo.member("kernel_mapped_bytes", kernel.kernel_mapped_bytes);
  vmo.member("moved_bytes", kernel.moved_bytes);
  if (graph.unread_bytes) vmo.member("unread_bytes", *graph.unread_bytes);
  records.end();
  record("heap", kPhysmem, kernel.slab_bytes);
  const uint64_t used = kernel.slab_used_bytes.value_or(kernel.slab_bytes);
  record("heap/allocated", "kernel/heap", used);
  record("heap/free", "kernel/heap", kernel.slab_bytes - used);
  record("wired", kPhysmem, kernel.boot_bytes);
  record("mmu", kPhysmem, kernel.page_table_bytes);
  record("other", kPhysmem, kernel.other_bytes());
  for (const auto& [name, bytes] : kernel.others)
    record("other/" + name, "kernel/other", bytes);
}

void write_jobs(Records& records, const Graph& graph) {
  for (const analysis::GraphJob& job : graph.jobs) {
    JsonWriter& json = records.begin(
        id_of('j', job.koid), "j",
        job.parent_koid == 0 ? "kernel/vmo" : id_of('j', job.parent_koid),
        job.name);
    json.member("koid", job.koid);
    json.member("cgroup", job.path);
    if (job.charged_bytes) json.member("charged_bytes", *job.charged_bytes);
    if (job.peak_bytes) json.member("peak_bytes", *job.peak_bytes);
    records.end();
  }
}

void write_object(JsonWriter& json, const GraphObject& object) {
  json.begin_object();
  json.member("koid", object.koid);
  json.member("name", object.name);
  json.member("size_bytes", object.size_bytes);
  json.member("parent_koid", object.parent_koid);
  json.member("num_children", object.child_count);
  json.member("num_mappings", object.mapping_count);
  json.member("share_count", object.share_count);
  json.member("committed_bytes", object.committed_bytes);
  json.member("swap_pss_bytes", object.swap_bytes);
  json.member("kind", model::region_kind_token(object.kind));
  json.member("category",
              model::category_token(model::region_category(object.kind)));
  if (object.inode_id != 0) {
    json.member("device", std::to_string(object.device_major) + ":" +
                              std::to_string(object.device_minor));
    json.member("inode", object.inode_id);
  }
  json.end_object();
}

void write_reference(JsonWriter& json, const GraphReference& reference,
                     const GraphObject& object) {
  json.begin_object();
  json.member("vmo_koid", object.koid);
  json.key("via");
  json.begin_array();
  if (reference.descriptor_count > 0) json.string("HANDLE");
  if (reference.mapping_count > 0) json.string("MAPPING");
  json.end_array();
  json.member("num_mappings", reference.mapping_count);
  if (reference.descriptor_count > 0) {
    json.member("num_handles", reference.descriptor_count);
  }
  json.member("pss_bytes", reference.pss_bytes);
  json.member("rss_bytes", reference.rss_bytes);
  json.key(reference.mapping_count > 0 ? "mapping_rights" : "handle_rights");
  json.begin_array();
  if (reference.can_read) json.string("READ");
  if (reference.can_write) json.string("WRITE");
  if (reference.can_execute) json.string("EXECUTE");
  json.end_array();
  json.end_object();
}

void write_objects(JsonWriter& json, const Graph& graph,
                   const GraphProcess& process) {
  // memgraph leaves both out where there is none.
  if (process.references.empty()) return;
  json.key("vmos");
  json.begin_array();
  for (const GraphReference& reference : process.references)
    write_object(json, graph.objects[reference.object]);
  json.end_array();
  json.key("vmo_refs");
  json.begin_array();
  for (const GraphReference& reference : process.references)
    write_reference(json, reference, graph.objects[reference.object]);
  json.end_array();
}

void write_process(Records& records, const Graph& graph,
                   const GraphProcess& process) {
  const std::string id = id_of('p', process.koid);
  JsonWriter& json =
      records.begin(id, "p", id_of('j', process.job_koid), process.name);
  json.member("koid", process.koid);
  json.member("private_bytes", process.private_bytes);
  json.member("shared_bytes", process.shared_bytes);
  json.member("pss_bytes", process.pss_bytes);
  json.member("pid", process.id.pid);
  json.member("start_ticks", process.id.start_ticks);
  json.member("comm", process.comm);
  json.member("cmdline", process.command);
  json.member("cgroup", process.cgroup_path);
  json.member("state", model::process_state_name(process.state));
  json.member("rss_bytes", process.rss_bytes);
  json.member("swap_pss_bytes", process.swap_pss_bytes);
  json.member("is_exact", process.is_exact);
  write_objects(json, graph, process);
  if (process.descriptors) {
    json.key("handle_stats");
    json.begin_object();
    for (const model::DescriptorCount& kind : *process.descriptors)
      json.member(kind.kind, kind.count);
    json.end_object();
  }
  write_unknown(json, process.unknown);
  records.end();
  for (const analysis::GraphThread& one : process.threads) {
    JsonWriter& thread =
        records.begin(id_of('t', one.koid), "t", id, one.thread.comm);
    thread.member("koid", one.koid);
    thread.member("state", thread_state(one.thread.state));
    thread.member("thread_id", one.thread.thread_id);
    thread.member("run_state", std::string(1, one.thread.state));
    records.end();
  }
}

void write_meta(Records& records, const Graph& graph) {
  JsonWriter& json = records.begin_meta();
  json.member("timestamp", base::rfc3339(graph.realtime_ns));
  json.member("schema", "tidemark.graph/1");
  json.member("read_ns", graph.read_ns);
  json.member("kernel_by", graph.is_of_ledger ? "pages" : "counters");
  json.member("heap_is_split", graph.kernel.slab_used_bytes.has_value());
  json.member("kernel_thread_count", graph.kernel_thread_count);
  json.member("unknown_process_count", graph.unknown_process_count);
  json.member("failed_process_count", graph.failed_process_count);
  json.key("notes");
  json.begin_array();
  for (const std::string& note : graph.notes)
    json.string(note);
  json.end_array();
  records.end();
}

}  // namespace

std::string graph_json(const Graph& graph) {
  Records records;
  write_kernel(records, graph);
  write_jobs(records, graph);
  for (const GraphProcess& process : graph.processes)
    write_process(records, graph, process);
  write_meta(records, graph);
  return records.take();
}

}  // namespace tidemark::view
