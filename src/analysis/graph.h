// A capture of the whole machine as a tree: RAM, in it what programs have, in
// it groups, in them processes and their memory objects. It closes: the parts
// of RAM add up to RAM, and the processes never to more than the part they are
// in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/graph_kernel.h"
#include "analysis/graph_objects.h"
#include "base/result.h"
#include "model/ledger.h"
#include "model/object.h"
#include "model/process.h"
#include "model/sample.h"

namespace tidemark::analysis {

struct GraphInput {
  model::Sample sample;
  std::optional<model::Ledger> ledger;       // empty: the counters must do
  std::optional<model::ObjectScan> objects;  // with who holds what open
  SlabCaches slab;
  bool with_objects = false;
  bool with_threads = false;       // wanted, and not only to tell stacks by
  std::vector<std::string> notes;  // what could not be looked at, and why
};

// A control group.
struct GraphJob {
  uint64_t koid = 0;
  uint64_t parent_koid = 0;  // 0: it is the root
  std::string name;
  std::string path;
  std::optional<uint64_t> charged_bytes;
  std::optional<uint64_t> peak_bytes;
};

struct GraphThread {
  uint64_t koid = 0;
  model::Thread thread;
};

struct GraphProcess {
  uint64_t koid = 0;
  uint64_t job_koid = 0;
  std::string name;
  std::string command;
  std::string cgroup_path;
  model::ProcessId id;
  std::string comm;
  model::ProcessState state = model::ProcessState::Ok;
  // Zero where they are unknown; `unknown` then says so, and why. Huge pages of
  // its own are in them, those it shares in `shared_bytes` alone: the kernel
  // does not say among how many.
  uint64_t private_bytes = 0;
  uint64_t shared_bytes = 0;
  uint64_t pss_bytes = 0;
  std::optional<uint64_t> rss_bytes;
  std::optional<uint64_t> swap_pss_bytes;
  bool is_exact = false;  // to the page
  std::vector<GraphReference> references;
  std::vector<GraphThread> threads;
  std::optional<std::vector<model::DescriptorCount>> descriptors;
  std::vector<std::pair<std::string, std::string>> unknown;
};

struct Graph {
  uint64_t realtime_ns = 0;
  uint64_t read_ns = 0;
  bool is_of_ledger = false;
  bool reader_is_root = false;
  KernelShares kernel;
  // Anonymous memory that is of nobody who could be read; empty where all
  // could.
  std::optional<uint64_t> unread_bytes;
  std::vector<GraphJob> jobs;           // the root first, parents first
  std::vector<GraphProcess> processes;  // by pid
  std::vector<GraphObject> objects;     // where mappings were read
  uint64_t kernel_thread_count = 0;     // they have no memory of their own
  uint64_t unknown_process_count = 0;   // those that may not be read
  uint64_t failed_process_count = 0;    // and those that could not be
  std::vector<std::string> notes;
};

// Gives koids, integers that are unique in the capture and mean nothing beyond
// it: jobs first, then processes, their threads, and objects.
base::Result<Graph> make_graph(const GraphInput& input);

}  // namespace tidemark::analysis
