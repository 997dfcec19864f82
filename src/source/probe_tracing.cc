// Probes on perf and BPF, through the bare system calls: a build without
// libbpf still says whether this machine would let one with it work. Events are
// opened disabled and closed at once; programs and maps are never attached.
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "source/mount_points.h"
#include "source/probe_parts.h"

namespace tidemark::source {
namespace {

using model::Capability;

constexpr const char* kEventIdFile = "events/kmem/mm_page_alloc/id";

perf_event_attr disabled_event(uint32_t type, uint64_t config) {
  perf_event_attr attr{};
  attr.type = type;
  attr.size = sizeof(attr);
  attr.config = config;
  attr.disabled = 1;
  return attr;
}

struct PerfScope {
  pid_t pid = -1;
  int cpu = -1;
};
// The whole machine is watched one CPU at a time; the one we run on is online.
PerfScope whole_cpu() {
  return {-1, ::sched_getcpu()};
}

Capability try_perf_event(const Question& question, perf_event_attr attr,
                          PerfScope scope, const std::string& what) {
  base::Fd event(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, scope.pid,
                                 scope.cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event) return failed_errno(question, what, errno);
  return works(question, what);
}

base::Result<base::Directory> open_tracefs(const ProbeContext& context) {
  const std::optional<std::string> place =
      mount_point_of(context.roots, "tracefs");
  if (!place) {
    return base::fail(base::ErrorKind::NotFound, "tracefs is not mounted");
  }
  return base::open_directory(*place);
}

long bpf_call(int command, bpf_attr& attr) {
  return ::syscall(SYS_bpf, command, &attr, sizeof(attr));
}

// The union has padding between its members that the kernel wants zero.
bpf_attr empty_bpf_attr() {
  bpf_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  return attr;
}

constexpr bpf_insn kReturnZero = {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0};
constexpr bpf_insn kExit = {BPF_JMP | BPF_EXIT, 0, 0, 0, 0};

constexpr bpf_insn call_of(int helper) {
  return {BPF_JMP | BPF_CALL, 0, 0, 0, helper};
}

// Empty, with errno, where it is refused.
base::Fd load_raw_tracepoint(const std::vector<bpf_insn>& code) {
  constexpr char kLicense[] = "Dual BSD/GPL";
  bpf_attr attr = empty_bpf_attr();
  attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
  attr.insns = reinterpret_cast<uint64_t>(code.data());
  attr.insn_cnt = static_cast<uint32_t>(code.size());
  attr.license = reinterpret_cast<uint64_t>(kLicense);
  return base::Fd(static_cast<int>(bpf_call(BPF_PROG_LOAD, attr)));
}

}  // namespace

Capability probe_tracefs(const ProbeContext& context,
                         const Question& question) {
  base::Result<base::Directory> tracefs = open_tracefs(context);
  if (!tracefs) return failed(question, tracefs.error());
  base::Result<std::string> id = base::read_file_at(*tracefs, kEventIdFile);
  if (!id) return failed(question, id.error());
  return works(question, tracefs->path);
}

Capability probe_perf_own(const ProbeContext&, const Question& question) {
  perf_event_attr attr =
      disabled_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  Capability row = try_perf_event(question, attr, {0, -1},
                                  "page-faults event of our process");
  if (row.state == model::CapabilityState::Denied) {
    // What upstream kernels start with; Debian and Android raise it to 3.
    row.grant = "sudo sysctl kernel.perf_event_paranoid=2";
  }
  return row;
}

Capability probe_perf_machine(const ProbeContext&, const Question& question) {
  return try_perf_event(
      question, disabled_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS),
      whole_cpu(), "page-faults event of a cpu");
}

Capability probe_perf_tracepoint(const ProbeContext& context,
                                 const Question& question) {
  base::Result<base::Directory> tracefs = open_tracefs(context);
  if (!tracefs) return failed(question, tracefs.error());
  base::Result<std::string> text = base::read_file_at(*tracefs, kEventIdFile);
  if (!text) return failed(question, text.error());
  const std::optional<uint64_t> id = base::parse_u64(base::trim(*text));
  if (!id)
    return not_tried(question, tracefs->join(kEventIdFile) + ": " + *text);
  perf_event_attr attr = disabled_event(PERF_TYPE_TRACEPOINT, *id);
  // The fields of the event and not only its count: that is what is guarded.
  attr.sample_type = PERF_SAMPLE_RAW;
  attr.sample_period = 1;
  return try_perf_event(question, attr, whole_cpu(),
                        "kmem:mm_page_alloc event of a cpu");
}

Capability probe_btf(const ProbeContext&, const Question& question) {
  base::Result<base::Directory> btf = base::open_directory("/sys/kernel/btf");
  if (!btf) return failed(question, btf.error());
  base::Result<std::string> start = read_start_at(*btf, "vmlinux");
  if (!start) return failed(question, start.error());
  constexpr uint16_t kBtfMagic = 0xeb9f;  // in the byte order of the machine
  uint16_t magic = 0;
  if (start->size() >= sizeof(magic)) {
    std::memcpy(&magic, start->data(), sizeof(magic));
  }
  if (magic != kBtfMagic) return missing(question, btf->join("vmlinux"));
  return works(question, btf->join("vmlinux"));
}

Capability probe_bpf_map(const ProbeContext&, const Question& question) {
  bpf_attr attr = empty_bpf_attr();
  attr.map_type = BPF_MAP_TYPE_HASH;
  attr.key_size = sizeof(uint32_t);
  attr.value_size = sizeof(uint64_t);
  attr.max_entries = 1;
  const base::Fd map(static_cast<int>(bpf_call(BPF_MAP_CREATE, attr)));
  if (!map) return failed_errno(question, "creating a map", errno);
  return works(question, "a map was created and closed");
}

// Loading proves more than the right to: the verifier and, where it is on, the
// compiler ran.
Capability probe_bpf_program(const ProbeContext&, const Question& question) {
  const base::Fd program = load_raw_tracepoint({kReturnZero, kExit});
  if (!program) {
    return failed_errno(question, "loading a raw tracepoint program", errno);
  }
  return works(question, "a raw tracepoint program was loaded and closed");
}

// What stacks of programs take beyond that: the registers with which a thread
// came into the kernel.
Capability probe_user_stacks(const ProbeContext&, const Question& question) {
#ifndef __x86_64__
  return missing(question, "registers are known of x86-64 alone");
#else
  constexpr bpf_insn kFirstIsResult = {BPF_ALU64 | BPF_MOV | BPF_X, 1, 0, 0, 0};
  const base::Fd program = load_raw_tracepoint(
      {call_of(BPF_FUNC_get_current_task_btf), kFirstIsResult,
       call_of(BPF_FUNC_task_pt_regs), kReturnZero, kExit});
  if (!program && errno == EINVAL) {
    return missing(question, "BPF of this kernel has no bpf_task_pt_regs");
  }
  if (!program) {
    return failed_errno(question, "loading a program that reads registers",
                        errno);
  }
  return works(question, "a program that reads registers was loaded");
#endif
}

// Stripped programs have addresses instead of names; those of libraries that
// are exported have names all the same.
Capability probe_debug_files(const ProbeContext&, const Question& question) {
  constexpr const char* kFolder = "/usr/lib/debug/.build-id";
  base::Result<base::Directory> folder = base::open_directory(kFolder);
  if (!folder) return failed(question, folder.error());
  return works(question, kFolder);
}

}  // namespace tidemark::source
