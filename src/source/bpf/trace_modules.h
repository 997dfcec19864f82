// Reads what bpf/trace_modules.h tells of modules that come and go.
#pragma once

#include <bpf/libbpf.h>
// The order matters: the shared headers need the kernel's integer names.
#include <bpf/modules.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "source/bpf/mapped_table.h"
#include "source/module_history.h"

namespace tidemark::source {

// What of the loaded programs is about modules.
struct BpfModuleParts {
  const bpf_map* modules = nullptr;
  const bpf_map* symbols = nullptr;
  const bpf_program* on_load = nullptr;
  const bpf_program* on_free = nullptr;
  const __u32* module_count = nullptr;
  const __u64* lost_symbols = nullptr;
  const __u32* events = nullptr;  // comings and goings so far
};

class BpfTraceModules {
 public:
  static constexpr uint64_t kKernelBytes =
      TM_MODULES * sizeof(tm_module) + TM_SYMBOL_RING_BYTES;

  // Where they cannot be attached it costs a note, and nothing on a kernel
  // without modules.
  base::Status attach(const BpfModuleParts& parts,
                      std::vector<std::string>& notes);
  // Nothing comes from here on.
  void detach();

  // Takes symbols out of the ring; `fd` can be read when there are some, and is
  // -1 when there will be none.
  void drain();
  int fd() const;

  ModuleHistory history() const;
  // While it is the same, so are history() and all names.
  uint64_t version() const;
  // Of the entry of a load, counted from 1; empty: the kernel never told.
  std::string name_of(uint32_t number) const;
  // Loads and ends for which there was no entry, functions whose names found
  // no room.
  void add_losses(std::vector<std::string>& notes) const;

 private:
  struct Free {
    void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
  };
  struct Symbol {
    uint64_t address = 0;
    std::string name;
  };
  static int take(void* self, void* data, size_t bytes);
  uint32_t used() const;

  BpfModuleParts parts_;
  MappedTable<tm_module> modules_;
  std::unique_ptr<ring_buffer, Free> ring_;
  std::unique_ptr<bpf_link, Free> load_link_;
  std::unique_ptr<bpf_link, Free> free_link_;
  std::map<uint32_t, std::vector<Symbol>> symbols_;  // by number of the entry
  uint64_t symbol_count_ = 0;
};

}  // namespace tidemark::source
