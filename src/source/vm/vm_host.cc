#include "source/vm/vm_host.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/page_size.h"
#include "parse/process_files.h"
#include "source/process_parts.h"
#include "source/vm/vm_descriptors.h"
#include "source/vm/vm_images.h"

namespace tidemark::source {
namespace {

using model::FoundRam;
using model::RamObject;
using model::Reading;
using model::SmapsField;
using model::SmapsFields;
using model::Vm;
using model::VmProcess;
using model::VmRole;

VmProcess process_of(const model::Process& process, VmRole role) {
  VmProcess found;
  found.id = process.id;
  found.name = process.stat.comm;
  found.role = role;
  // As other tools show it; huge pages are in no kernel's RSS.
  found.rss_bytes = process.status.rss_bytes;
  found.page_table_bytes = process.status.page_table_bytes;
  return found;
}

// Rss and Hugetlb are apart in the kernel's account.
uint64_t resident_of(const SmapsFields& fields) {
  return fields.get_or_zero(SmapsField::Rss) +
         fields.get_or_zero(SmapsField::SharedHugetlb) +
         fields.get_or_zero(SmapsField::PrivateHugetlb);
}

// `is_ram` tells of each mapping by its index.
template <typename IsRam>
void split(const model::Process& process, const IsRam& is_ram,
           VmProcess& found) {
  if (!process.mappings) {
    found.own = model::unknown<SmapsFields>(process.mappings.unknown_because);
    found.ram = model::unknown<SmapsFields>(process.mappings.unknown_because);
    return;
  }
  SmapsFields own;
  SmapsFields ram;
  for (size_t i = 0; i < process.mappings->size(); ++i) {
    const model::Mapping& mapping = (*process.mappings)[i];
    (is_ram(i) ? ram : own).add(mapping.fields);
  }
  found.own = model::known(own);
  found.ram = model::known(ram);
}

Reading<uint64_t> field_of(const SmapsFields& fields, SmapsField field,
                           const char* label) {
  if (const std::optional<uint64_t> bytes = fields.get(field)) {
    return model::known(*bytes);
  }
  return model::unknown<uint64_t>("this kernel has no " + std::string(label) +
                                  " in smaps");
}

void set_unknown_ram(model::GuestRam& ram, const std::string& because) {
  for (Reading<uint64_t>* reading :
       {&ram.configured_bytes, &ram.resident_bytes, &ram.swapped_bytes,
        &ram.hugetlb_bytes, &ram.thp_bytes, &ram.ksm_bytes,
        &ram.ksm_saved_bytes}) {
    *reading = model::unknown<uint64_t>(because);
  }
}

// Merged pages are anonymous and private; Pss has each of them divided by its
// users, which may all be of this VM.
Reading<uint64_t> saved_by_ksm(const SmapsFields& fields) {
  const std::optional<uint64_t> ksm = fields.get(SmapsField::Ksm);
  if (!ksm) return field_of(fields, SmapsField::Ksm, "KSM");
  if (*ksm == 0) return model::known(uint64_t{0});
  const uint64_t rss = fields.get_or_zero(SmapsField::Rss);
  const uint64_t pss = fields.get_or_zero(SmapsField::Pss);
  return model::known(std::min(*ksm, rss - std::min(rss, pss)));
}

void measure_ram(const FoundRam& found, const SmapsFields& fields,
                 model::GuestRam& ram) {
  ram.means = found.means;
  ram.backing = found.backing;
  ram.configured_bytes = found.configured_bytes
                             ? model::known(*found.configured_bytes)
                             : model::unknown<uint64_t>("RAM was not found");
  ram.resident_bytes = model::known(resident_of(fields));
  ram.swapped_bytes = field_of(fields, SmapsField::Swap, "Swap");
  ram.hugetlb_bytes =
      model::known(fields.get_or_zero(SmapsField::SharedHugetlb) +
                   fields.get_or_zero(SmapsField::PrivateHugetlb));
  ram.thp_bytes = model::known(fields.get_or_zero(SmapsField::AnonHugePages) +
                               fields.get_or_zero(SmapsField::ShmemPmdMapped));
  ram.ksm_bytes = field_of(fields, SmapsField::Ksm, "KSM");
  ram.ksm_saved_bytes = saved_by_ksm(fields);
}

bool are_all_shared(const std::vector<model::Mapping>& mappings,
                    const std::vector<size_t>& indices) {
  return std::ranges::all_of(indices, [&](size_t index) {
    return mappings[index].permissions.shared;
  });
}

std::string name_of(const FoundVm& found, const model::Process& monitor) {
  return found.arguments.name.empty() ? monitor.stat.comm
                                      : found.arguments.name;
}

bool is_that_file(const NumberedDescriptor& entry, const RamObject& object) {
  const std::optional<FileFacts>& facts = entry.found.target;
  return facts && facts->inode_id == object.inode_id &&
         facts->device_major == object.device_major &&
         facts->device_minor == object.device_minor;
}

uint64_t distance(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

}  // namespace

bool is_of_any(const model::Mapping& mapping,
               const std::vector<RamObject>& objects) {
  return std::ranges::any_of(objects, [&](const RamObject& object) {
    return model::is_of_object(mapping, object);
  });
}

void VmHost::find_again(const FoundVm& found) {
  has_changed_ =
      has_changed_ || found.descendant_pids != found_.descendant_pids;
  found_.descendant_pids = found.descendant_pids;
}

// What is new since, or might be, against what it costs to know.
bool VmHost::is_detail_due(uint64_t now_ns) const {
  constexpr uint64_t kOldNs = 10 * base::kNsPerSecond;
  constexpr uint64_t kShare = 50;  // of the time, at most one part of so many
  const uint64_t age_ns = now_ns - std::min(now_ns, vm_.detail_monotonic_ns);
  if (!is_read_ || age_ns >= std::max(kOldNs, kShare * detail_cost_ns_)) {
    return true;
  }
  if (age_ns < kShare * detail_cost_ns_) return false;
  if (has_changed_) return true;
  constexpr uint64_t kLeastBytes = uint64_t{1} << 20;
  constexpr uint64_t kPart = 128;
  for (size_t i = 0; i < handles_.size(); ++i) {
    const uint64_t then = handles_[i].detail_rss_bytes;
    const uint64_t now = vm_.processes[i].rss_bytes.value_or(then);
    if (distance(now, then) > std::max(kLeastBytes, then / kPart)) return true;
  }
  return false;
}

bool VmHost::read(const VmTools& tools, uint64_t now_ns) {
  if (is_read_ && !read_counters()) return false;
  if (is_detail_due(now_ns)) return read_detail(tools, now_ns);
  measure_blocks();
  return true;
}

bool VmHost::read_counters() {
  std::string text;
  for (size_t i = 0; i < handles_.size();) {
    base::Status read =
        base::read_file_at(handles_[i].directory, "statm", text);
    base::Result<model::Statm> statm =
        read ? parse::parse_statm(text)
             : base::Result<model::Statm>(read.error());
    // A zombie has no memory either.
    const bool is_there = statm && statm->size_pages > 0;
    if (!is_there && i == 0) return false;
    if (!is_there) {
      handles_.erase(handles_.begin() + static_cast<ptrdiff_t>(i));
      vm_.processes.erase(vm_.processes.begin() + static_cast<ptrdiff_t>(i));
      continue;
    }
    vm_.processes[i].rss_bytes = statm->resident_pages * base::page_bytes();
    ++i;
  }
  return !handles_.empty();
}

bool VmHost::read_detail(const VmTools& tools, uint64_t now_ns) {
  const uint64_t start_ns = base::monotonic_ns();
  vm_.processes.clear();
  handles_.clear();
  if (!read_monitor(tools)) return false;
  for (int32_t pid : found_.descendant_pids)
    add_process(tools, pid, VmRole::Child);
  for (int32_t pid : sharer_pids_)
    add_process(tools, pid, VmRole::Sharer);
  vm_.images = read_vm_images(tools.roots, vm_);
  vm_.detail_monotonic_ns = now_ns;
  detail_cost_ns_ = base::monotonic_ns() - start_ns;
  is_read_ = true;
  has_changed_ = false;
  return true;
}

bool VmHost::read_monitor(const VmTools& tools) {
  base::Result<base::Directory> directory =
      open_process(tools.roots, found_.id.pid);
  base::Result<model::Process> process = tools.reader.read(found_.id.pid);
  if (!directory || !process || !(process->id == found_.id)) return false;
  vm_.id = found_.id;
  vm_.kind = found_.kind;
  vm_.holds_kvm = found_.holds_kvm;
  vm_.uuid = found_.arguments.uuid;
  vm_.name = name_of(found_, *process);
  vm_.cgroup_path = process->cgroup_path;
  vm_.ram = {};
  VmProcess monitor = process_of(*process, VmRole::Monitor);
  FoundRam ram;
  if (process->mappings) {
    ram = model::find_guest_ram(*process->mappings, found_.arguments.ram);
  }
  split(
      *process,
      [&](size_t i) { return std::ranges::binary_search(ram.indices, i); },
      monitor);
  handles_.push_back({std::move(*directory), monitor.rss_bytes.value_or(0)});
  vm_.processes.push_back(std::move(monitor));
  blocks_.clear();
  areas_ = std::move(ram.areas);
  if (ram.means == model::RamMeans::None) {
    set_unknown_ram(vm_.ram, process->mappings
                                 ? "no mapping looks like guest RAM"
                                 : process->mappings.unknown_because);
    objects_.clear();
    return true;
  }
  const VmProcess& first = vm_.processes.front();
  measure_ram(ram, first.ram ? *first.ram : SmapsFields(), vm_.ram);
  objects_ = std::move(ram.objects);
  if (are_all_shared(*process->mappings, ram.indices)) {
    find_blocks(tools);
    measure_blocks();
  }
  return true;
}

// Only of memory that is a memfd: of a file on a disk blocks are the disk's.
void VmHost::find_blocks(const VmTools& tools) {
  if (!tools.roots.is_live || objects_.empty()) return;
  const base::Result<std::vector<NumberedDescriptor>> descriptors =
      list_descriptors(handles_.front().directory, /*follow_paths=*/true);
  if (!descriptors) return;
  std::vector<Block> found;
  for (const RamObject& object : objects_) {
    const auto entry = std::ranges::find_if(
        *descriptors, [&](const NumberedDescriptor& descriptor) {
          return is_that_file(descriptor, object);
        });
    const bool is_memfd =
        entry != descriptors->end() &&
        tools.file_systems.kind_of(object.device_major, object.device_minor,
                                   object.name) == model::ObjectKind::Memfd;
    if (!is_memfd) return;
    found.push_back({entry->number, object});
  }
  blocks_ = std::move(found);
}

// They count what is swapped out too. A monitor that has closed or replaced one
// is told by smaps alone from there on.
void VmHost::measure_blocks() {
  if (blocks_.empty()) return;
  base::Result<base::Directory> fds =
      base::open_directory_at(handles_.front().directory, "fd");
  if (!fds) return;
  uint64_t sum = 0;
  for (const Block& block : blocks_) {
    const std::vector<FoundDescriptor> found =
        read_descriptors(*fds, std::span(&block.number, 1), true);
    if (!is_that_file({block.number, found.front()}, block.object)) {
      blocks_.clear();
      has_changed_ = true;
      return;
    }
    sum += found.front().target->block_bytes;
  }
  const uint64_t swapped = vm_.ram.swapped_bytes.value.value_or(0);
  vm_.ram.resident_means = model::ResidentMeans::Blocks;
  vm_.ram.resident_bytes = model::known(sum - std::min(sum, swapped));
}

void VmHost::add_process(const VmTools& tools, int32_t pid, VmRole role) {
  base::Result<base::Directory> directory = open_process(tools.roots, pid);
  base::Result<model::Process> process = tools.reader.read(pid);
  if (!directory || !process || process->state == model::ProcessState::Gone ||
      process->state == model::ProcessState::Zombie) {
    return;
  }
  VmProcess found = process_of(*process, role);
  size_t shared_count = 0;
  const auto is_ram = [&](size_t i) {
    const bool is_shared = is_of_any((*process->mappings)[i], objects_);
    shared_count += is_shared ? 1 : 0;
    return is_shared;
  };
  split(*process, is_ram, found);
  // Its pid is another process's by now, or it has let go.
  const bool has_left =
      role == VmRole::Sharer && process->mappings && shared_count == 0;
  if (has_left) return;
  handles_.push_back({std::move(*directory), found.rss_bytes.value_or(0)});
  vm_.processes.push_back(std::move(found));
}

void VmHost::learn_ram(const VmTools& tools, const model::GuestAnswer& answer) {
  if (!answer.ram_blocks.empty()) learn_blocks(tools, answer.ram_blocks);
  if (answer.configured_bytes) learn_size(tools, *answer.configured_bytes);
}

// smaps is not read again for what was rightly guessed.
void VmHost::learn_blocks(const VmTools& tools,
                          const std::vector<model::RamBlock>& blocks) {
  if (blocks == found_.arguments.ram.blocks) return;
  found_.arguments.ram.blocks = blocks;
  const bool is_right = vm_.ram.means == model::RamMeans::Size &&
                        model::are_same_blocks(areas_, blocks);
  if (is_right) {
    vm_.ram.means = model::RamMeans::Block;
    return;
  }
  const bool is_named =
      vm_.ram.means == model::RamMeans::Name &&
      vm_.ram.configured_bytes.value == model::sum_bytes(blocks);
  if (!is_named) read_detail(tools, vm_.detail_monotonic_ns);
}

void VmHost::learn_size(const VmTools& tools, uint64_t bytes) {
  const bool is_sure = vm_.ram.means == model::RamMeans::Name ||
                       vm_.ram.means == model::RamMeans::Block;
  if (told_bytes_ == bytes || is_sure) return;
  told_bytes_ = bytes;
  const bool is_found = vm_.ram.means == model::RamMeans::Size;
  const uint64_t known = vm_.ram.configured_bytes.value.value_or(0);
  if (is_found && known >= bytes) return;
  model::RamHints& hints = found_.arguments.ram;
  const model::RamHints before = hints;
  // Firecracker leaves room for devices below 4 GiB and maps RAM in two parts.
  constexpr uint64_t kGapBytes = uint64_t{3} << 30;
  const uint64_t first = is_found ? known : kGapBytes;
  hints.total_bytes = bytes;
  hints.part_bytes.clear();
  if (bytes > first) hints.part_bytes = {first, bytes - first};
  const bool is_read = read_detail(tools, vm_.detail_monotonic_ns);
  // In other parts than these: what was found before is surer than a guess.
  const bool is_lost =
      is_read && is_found && vm_.ram.configured_bytes.value != bytes;
  if (!is_lost) return;
  hints = before;
  read_detail(tools, vm_.detail_monotonic_ns);
}

void VmHost::share_with(const VmTools& tools, const std::vector<int32_t>& pids,
                        bool is_all) {
  if (is_all) sharer_pids_.clear();
  for (int32_t pid : pids) {
    if (std::ranges::find(sharer_pids_, pid) == sharer_pids_.end()) {
      sharer_pids_.push_back(pid);
    }
    const bool is_read = std::ranges::any_of(
        vm_.processes,
        [&](const VmProcess& process) { return process.id.pid == pid; });
    if (!is_read) add_process(tools, pid, VmRole::Sharer);
  }
}

}  // namespace tidemark::source
