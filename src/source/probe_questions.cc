// Everything doctor asks, in the order it is shown.
//
// The capabilities in `needs` are measured on 6.18, one by one, and written so
// that older kernels accept them too: 6.18 lets cap_perfmon read smaps, others
// want cap_sys_ptrace. Files of mode 0400 need cap_dac_read_search besides.
#include "source/probe_parts.h"

namespace tidemark::source {
namespace {

using model::Tier;

constexpr std::string_view kPageMonitor =
    "kernel option CONFIG_PROC_PAGE_MONITOR=y";
constexpr std::string_view kCachestat = "a kernel with cachestat (linux 6.5)";
constexpr std::string_view kTraceHook =
    "kernel option CONFIG_HAVE_ARCH_TRACEHOOK=y";
constexpr std::string_view kPerf = "kernel option CONFIG_PERF_EVENTS=y";
constexpr std::string_view kBpf = "kernel option CONFIG_BPF_SYSCALL=y";
constexpr std::string_view kMountTracefs =
    "sudo mount -t tracefs tracefs /sys/kernel/tracing";

// Tables, two lines a row: clang-format would give each field its own.
// clang-format off
std::vector<Question> unprivileged_questions() {
  const Tier tier = Tier::None;
  const std::vector<std::string> dac = {"dac_read_search"};
  return {
      {"meminfo", "totals of the machine", tier,
       {}, {}, probe_proc_file, "meminfo"},
      {"zoneinfo", "free pages meminfo leaves out", tier,
       {}, {}, probe_proc_file, "zoneinfo"},
      {"statm_of_others", "RSS of every process", tier,
       {"sys_ptrace"}, {}, probe_other, "statm"},
      {"smaps_own", "PSS of your own processes", tier,
       {}, kPageMonitor, probe_own_smaps, {}},
      {"pagemap_own", "which pages are yours alone", tier,
       dac, kPageMonitor, probe_own_pagemap, {}},
      {"pagemap_scan", "resident ranges in one call", tier,
       dac, "a kernel with PAGEMAP_SCAN (linux 6.7)", probe_pagemap_scan, {}},
      {"procmap_query", "one mapping in one call", tier,
       {}, "a kernel with PROCMAP_QUERY (linux 6.11)", probe_procmap_query, {}},
      {"stack_pointers_own", "which mapping is a stack", tier,
       {"sys_ptrace"}, kTraceHook, probe_own_stack, {}},
      {"task_children", "process trees without a scan", tier,
       {}, "kernel option CONFIG_PROC_CHILDREN=y",
       probe_proc_file, "thread-self/children"},
      {"cachestat", "how much of your file is cached", tier,
       {}, kCachestat, probe_cachestat, {}},
      {"cgroup_memory", "what a group is charged", tier,
       {}, "kernel option CONFIG_MEMCG=y and a mounted cgroup hierarchy",
       probe_cgroup_memory, {}},
      {"cgroup_peak", "high-water mark of a group", tier,
       {}, "a kernel with memory.peak (linux 5.19)", probe_cgroup_peak, {}},
      {"cgroup_create", "a private group for a command", tier,
       {}, {}, probe_cgroup_create, {}},
      {"pressure", "how long tasks wait for memory", tier,
       {}, "psi=1 on the kernel command line (CONFIG_PSI=y)",
       probe_proc_file, "pressure/memory"},
      {"perf_own", "page faults of your processes", tier,
       {"perfmon"}, kPerf, probe_perf_own, {}},
  };
}

std::vector<Question> ptrace_questions() {
  const Tier tier = Tier::Ptrace;
  const std::vector<std::string> closed = {"sys_ptrace", "dac_read_search"};
  return {
      {"smaps_of_others", "PSS and mappings of all", tier,
       {"sys_ptrace"}, kPageMonitor, probe_other, "smaps"},
      {"pagemap_of_others", "resident pages of all", tier,
       closed, kPageMonitor, probe_other, "pagemap"},
      {"stack_pointers_of_others", "thread stacks of all", tier,
       closed, kTraceHook, probe_other, "syscall"},
      {"descriptors_of_others", "open files of all", tier,
       closed, {}, probe_other_descriptors, {}},
      {"perf_machine", "page faults of all", tier,
       {"perfmon"}, kPerf, probe_perf_machine, {}},
      {"tracefs", "names of kernel events", tier,
       {"dac_read_search"}, kMountTracefs, probe_tracefs, {}},
      {"perf_tracepoint", "page allocations as they happen", tier,
       {"perfmon", "dac_read_search"}, kMountTracefs,
       probe_perf_tracepoint, {}},
  };
}

std::vector<Question> root_questions() {
  const Tier tier = Tier::Root;
  const std::vector<std::string> dac = {"dac_read_search"};
  return {
      {"pagemap_pfns", "which page of RAM is where", tier,
       {"sys_admin"}, kPageMonitor, probe_page_frames, {}},
      {"kpageflags", "what each page of RAM is", tier,
       dac, kPageMonitor, probe_proc_file, "kpageflags"},
      {"kpagecount", "how often each page is mapped", tier,
       dac, kPageMonitor, probe_proc_file, "kpagecount"},
      {"kpagecgroup", "which group pays for each page", tier,
       dac, "kernel options CONFIG_PROC_PAGE_MONITOR=y CONFIG_MEMCG=y",
       probe_proc_file, "kpagecgroup"},
      {"slabinfo", "kernel objects by type", tier,
       dac, "kernel option CONFIG_SLUB_DEBUG=y", probe_proc_file, "slabinfo"},
      {"vmallocinfo", "kernel mappings by caller", tier,
       dac, {}, probe_proc_file, "vmallocinfo"},
      {"vmalloc_addresses", "where those mappings lie", tier,
       {"dac_read_search", "syslog"}, {}, probe_vmalloc_addresses, {}},
      {"pagetypeinfo", "free pages by mobility", tier,
       dac, {}, probe_proc_file, "pagetypeinfo"},
      {"map_files", "deleted files still mapped", tier,
       {"sys_admin"}, {}, probe_map_files, {}},
      {"cachestat_of_others", "how much of any file is cached", tier,
       {"fowner"}, kCachestat, probe_cachestat_of_others, {}},
      {"process_events", "starts and ends of processes", tier,
       {"net_admin"}, "kernel option CONFIG_PROC_EVENTS=y",
       probe_process_events, {}},
      {"page_owner", "the stack behind each page", tier,
       dac, "page_owner=on on the kernel command line (CONFIG_PAGE_OWNER=y)",
       probe_page_owner, {}},
      {"allocinfo", "kernel memory by line of code", tier,
       dac, "sysctl.vm.mem_profiling=1 on the kernel command line "
            "(CONFIG_MEM_ALLOC_PROFILING=y)",
       probe_proc_file, "allocinfo"},
  };
}

std::vector<Question> bpf_questions() {
  const Tier tier = Tier::Bpf;
  return {
      {"btf", "BPF programs that fit this kernel", tier,
       {}, "kernel option CONFIG_DEBUG_INFO_BTF=y", probe_btf, {}},
      {"bpf_map", "sums kept in the kernel", tier,
       {"bpf"}, kBpf, probe_bpf_map, {}},
      {"bpf_program", "page allocations summed by stack", tier,
       {"bpf", "perfmon"}, kBpf, probe_bpf_program, {}},
      {"kernel_symbols", "names for kernel addresses", tier,
       {"syslog"}, "kernel option CONFIG_KALLSYMS=y", probe_kernel_symbols, {}},
      {"user_stacks", "memory by function of programs", tier,
       {"bpf", "perfmon", "sys_admin"}, "x86-64 and a kernel since 5.17",
       probe_user_stacks, {}},
      {"debug_files", "lines of programs as installed", tier,
       {}, "the -dbgsym packages of the programs (Debian), or -g",
       probe_debug_files, {}},
  };
}
// clang-format on

}  // namespace

std::vector<Question> questions() {
  std::vector<Question> all = unprivileged_questions();
  for (const std::vector<Question>& tier :
       {ptrace_questions(), root_questions(), bpf_questions()}) {
    all.insert(all.end(), tier.begin(), tier.end());
  }
  return all;
}

}  // namespace tidemark::source
