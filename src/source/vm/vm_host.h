// The host's view of one VM over time. Reading smaps costs most and makes the
// monitor wait for a lock of its own, so it is read again after ten seconds, or
// when the resident size says that it has changed; in between statm and the
// blocks of a memfd, which cost next to nothing, are what is new.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "model/guest_ram.h"
#include "model/vm.h"
#include "source/file_systems.h"
#include "source/process_reader.h"
#include "source/roots.h"
#include "source/vm/vm_finder.h"

namespace tidemark::source {

// What all VMs are read with.
struct VmTools {
  const Roots& roots;
  ProcessReader& reader;
  const FileSystems& file_systems;
};

bool is_of_any(const model::Mapping& mapping,
               const std::vector<model::RamObject>& objects);

class VmHost {
 public:
  explicit VmHost(FoundVm found) : found_(std::move(found)) {}

  const model::ProcessId& id() const { return found_.id; }
  const FoundVm& found() const { return found_; }
  // What it is now: other descendants make it read in detail.
  void find_again(const FoundVm& found);

  // False when the monitor has ended.
  bool read(const VmTools& tools, uint64_t now_ns);

  // RAM as the monitor tells it, where it does: what was not found by name or
  // size is looked for once more, and so is what was plugged in since.
  void learn_ram(const VmTools& tools, const model::GuestAnswer& answer);

  // Who maps the same memory; `is_all`: nobody else does.
  void share_with(const VmTools& tools, const std::vector<int32_t>& pids,
                  bool is_all);

  // Without processes once the monitor has ended.
  const model::Vm& vm() const { return vm_; }
  // The memfds or files that are its RAM.
  const std::vector<model::RamObject>& objects() const { return objects_; }

 private:
  // A process stays itself behind an open directory; its pid may be reused.
  struct Handle {
    base::Directory directory;
    uint64_t detail_rss_bytes = 0;  // when its smaps was read
  };
  // A descriptor of the monitor that is guest RAM.
  struct Block {
    uint32_t number = 0;
    model::RamObject object;
  };

  bool read_detail(const VmTools& tools, uint64_t now_ns);
  bool read_monitor(const VmTools& tools);
  void measure_blocks();
  void find_blocks(const VmTools& tools);
  void learn_blocks(const VmTools& tools,
                    const std::vector<model::RamBlock>& blocks);
  void learn_size(const VmTools& tools, uint64_t bytes);
  void add_process(const VmTools& tools, int32_t pid, model::VmRole role);
  bool read_counters();
  bool is_detail_due(uint64_t now_ns) const;

  FoundVm found_;
  model::Vm vm_;
  std::vector<model::RamObject> objects_;
  std::vector<int32_t> sharer_pids_;
  std::vector<Handle> handles_;  // of vm_.processes, in their order
  std::vector<Block> blocks_;
  std::vector<model::RamBlock> areas_;  // that are RAM, by size or blocks
  std::optional<uint64_t> told_bytes_;  // the last size that was learned
  bool is_read_ = false;
  bool has_changed_ = false;  // who belongs to it
  uint64_t detail_cost_ns_ = 0;
};

}  // namespace tidemark::source
