#include "source/bpf/kernel_functions.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <array>

#include "base/fd.h"

namespace tidemark::source {
namespace {

bool can_hook(int function) {
  // return 0;
  std::array<bpf_insn, 2> nothing{};
  nothing[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  nothing[1].code = BPF_JMP | BPF_EXIT;
  bpf_prog_load_opts options{};
  options.sz = sizeof options;
  options.expected_attach_type = BPF_TRACE_FEXIT;
  options.attach_btf_id = static_cast<uint32_t>(function);
  const base::Fd program(bpf_prog_load(BPF_PROG_TYPE_TRACING, "tidemark_probe",
                                       "Dual BSD/GPL", nothing.data(),
                                       nothing.size(), &options));
  return static_cast<bool>(program);
}

}  // namespace

KernelFunctions::KernelFunctions() : types_(btf__load_vmlinux_btf()) {}

const char* KernelFunctions::find(
    std::initializer_list<const char*> names) const {
  if (!types_) return nullptr;
  for (const char* name : names) {
    const int id = btf__find_by_name_kind(types_.get(), name, BTF_KIND_FUNC);
    if (id > 0) return can_hook(id) ? name : nullptr;
  }
  return nullptr;
}

}  // namespace tidemark::source
