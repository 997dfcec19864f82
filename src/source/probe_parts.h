// What the files probe_*.cc share. Private to them.
//
// Every row of the report is one Question of the table in probe_questions.cc:
// what is asked, what it is good for, what would allow it, and the function
// that tries it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/capability.h"
#include "source/probe_target.h"
#include "source/roots.h"

namespace tidemark::source {

struct ProbeContext {
  const Roots& roots;
  const Targets& targets;
  const TouchedPage& page;
};

struct Question;
using Probe = model::Capability (*)(const ProbeContext&, const Question&);

struct Question {
  std::string_view name;
  std::string_view gives;
  model::Tier tier = model::Tier::None;
  std::vector<std::string> needs;  // see model::Capability
  // The line that brings it when it is missing.
  std::string_view grant_if_missing;
  Probe probe = nullptr;
  // For probes that read one file: its name below proc, or below PID.
  std::string_view file;
};

std::vector<Question> questions();

model::Capability works(const Question& question, std::string detail);
model::Capability missing(const Question& question, std::string detail);
model::Capability denied(const Question& question, std::string detail);
model::Capability not_tried(const Question& question, std::string why);

// Missing, Denied or NotTried by the kind of error; an error that says nothing
// about the feature (too many open files) is not an answer.
model::Capability failed(const Question& question, const base::Error& error);
model::Capability failed_errno(const Question& question, std::string what,
                               int err);

// Reads the first bytes: enough to know, and cheap on files that walk memory.
// 64 unless told, since kpageflags and pagemap want a multiple of 8.
base::Result<std::string> read_start_at(const base::Directory& directory,
                                        const std::string& name,
                                        size_t byte_count = 64);

// The one probe that also makes sense on a copied tree.
model::Capability probe_proc_file(const ProbeContext&, const Question&);

// probe_process.cc: our own process, then those of others.
model::Capability probe_own_smaps(const ProbeContext&, const Question&);
model::Capability probe_own_pagemap(const ProbeContext&, const Question&);
model::Capability probe_pagemap_scan(const ProbeContext&, const Question&);
model::Capability probe_procmap_query(const ProbeContext&, const Question&);
model::Capability probe_own_stack(const ProbeContext&, const Question&);
model::Capability probe_cachestat(const ProbeContext&, const Question&);
model::Capability probe_cachestat_of_others(const ProbeContext&,
                                            const Question&);
model::Capability probe_page_frames(const ProbeContext&, const Question&);
model::Capability probe_map_files(const ProbeContext&, const Question&);
model::Capability probe_other(const ProbeContext&, const Question&);
model::Capability probe_other_descriptors(const ProbeContext&, const Question&);

// probe_kernel.cc: tables and events of the kernel.
model::Capability probe_vmalloc_addresses(const ProbeContext&, const Question&);
model::Capability probe_kernel_symbols(const ProbeContext&, const Question&);
model::Capability probe_page_owner(const ProbeContext&, const Question&);
model::Capability probe_process_events(const ProbeContext&, const Question&);

// probe_tracing.cc: perf and BPF.
model::Capability probe_tracefs(const ProbeContext&, const Question&);
model::Capability probe_perf_own(const ProbeContext&, const Question&);
model::Capability probe_perf_machine(const ProbeContext&, const Question&);
model::Capability probe_perf_tracepoint(const ProbeContext&, const Question&);
model::Capability probe_btf(const ProbeContext&, const Question&);
model::Capability probe_bpf_map(const ProbeContext&, const Question&);
model::Capability probe_bpf_program(const ProbeContext&, const Question&);
model::Capability probe_user_stacks(const ProbeContext&, const Question&);
model::Capability probe_debug_files(const ProbeContext&, const Question&);

// probe_cgroup.cc
model::Capability probe_cgroup_memory(const ProbeContext&, const Question&);
model::Capability probe_cgroup_peak(const ProbeContext&, const Question&);
model::Capability probe_cgroup_create(const ProbeContext&, const Question&);
// "hybrid, memory on v1 at /sys/fs/cgroup/memory".
std::string cgroup_layout(const Roots& roots);

}  // namespace tidemark::source
