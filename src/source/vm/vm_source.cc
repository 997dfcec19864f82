#include "source/vm/vm_source.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/shares.h"
#include "base/text.h"
#include "parse/smaps.h"
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

ProcessDetail vm_detail() {
  ProcessDetail detail;
  // Two files read one after the other contradict each other while a guest
  // frees memory, so the sums are made of the mappings.
  detail.rollup = false;
  detail.mappings = true;
  return detail;
}

// As other tools show it; huge pages are in no kernel's RSS.
std::optional<uint64_t> rss_of(const model::Process& process) {
  return process.status.rss_bytes;
}

VmProcess process_of(const model::Process& process, VmRole role) {
  VmProcess found;
  found.id = process.id;
  found.name = process.stat.comm;
  found.role = role;
  found.rss_bytes = rss_of(process);
  found.page_table_bytes = process.status.page_table_bytes;
  return found;
}

bool is_of_any(const model::Mapping& mapping,
               const std::vector<RamObject>& objects) {
  return std::ranges::any_of(objects, [&](const RamObject& object) {
    return model::is_of_object(mapping, object);
  });
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

model::GuestAnswer not_asked() {
  model::GuestAnswer answer;
  answer.because = "the guest was not asked";
  return answer;
}

bool is_target(const FoundVm& vm, const std::string& comm,
               const std::string& word) {
  return base::parse_pid(word) == vm.id.pid || vm.arguments.name == word ||
         vm.arguments.uuid == word || comm == word;
}

}  // namespace

VmSource::VmSource(const Roots& roots, VmScanOptions options)
    : roots_(roots),
      options_(std::move(options)),
      cgroups_(CgroupHierarchy::find(roots)),
      reader_(roots_, cgroups_, vm_detail()),
      file_systems_(roots.is_live) {}

base::Result<VmSearch> VmSource::search() {
  base::Result<VmSearch> search = find_vms(roots_);
  if (!search || options_.targets.empty()) return search;
  std::vector<FoundVm> chosen;
  for (const std::string& word : options_.targets) {
    bool is_found = false;
    for (const FoundVm& vm : search->vms) {
      base::Result<model::ProcessStat> stat = reader_.read_stat(vm.id.pid);
      if (!is_target(vm, stat ? stat->comm : "", word)) continue;
      is_found = true;
      chosen.push_back(vm);
    }
    if (!is_found) {
      return base::fail(base::ErrorKind::NotFound,
                        "no VM is called '" + base::visible(word) + "'",
                        "`tidemark vm` lists them, by name and pid");
    }
  }
  search->vms = std::move(chosen);
  return search;
}

base::Result<std::vector<FoundVm>> VmSource::choose() {
  base::Result<VmSearch> found = search();
  if (!found) return found.error();
  return std::move(found->vms);
}

// Only of memory that is a memfd: of a file on a disk blocks are the disk's.
std::optional<uint64_t> VmSource::block_bytes(
    int32_t pid, const std::vector<RamObject>& objects) const {
  if (!roots_.is_live || objects.empty()) return std::nullopt;
  base::Result<base::Directory> process =
      base::open_directory_at(roots_.proc, std::to_string(pid));
  if (!process) return std::nullopt;
  const base::Result<std::vector<NumberedDescriptor>> descriptors =
      list_descriptors(*process, /*follow_paths=*/true);
  if (!descriptors) return std::nullopt;
  uint64_t sum = 0;
  for (const RamObject& object : objects) {
    const auto found = std::ranges::find_if(
        *descriptors, [&](const NumberedDescriptor& entry) {
          const std::optional<FileFacts>& facts = entry.found.target;
          return facts && facts->inode_id == object.inode_id &&
                 facts->device_major == object.device_major &&
                 facts->device_minor == object.device_minor;
        });
    if (found == descriptors->end()) return std::nullopt;
    const model::ObjectKind kind = file_systems_.kind_of(
        object.device_major, object.device_minor, object.name);
    if (kind != model::ObjectKind::Memfd) return std::nullopt;
    sum += found->found.target->block_bytes;
  }
  return sum;
}

void VmSource::read_monitor(const FoundVm& found, Vm& vm,
                            std::vector<RamObject>& objects) {
  base::Result<model::Process> process = reader_.read(found.id.pid);
  if (!process || !(process->id == found.id)) {
    vm.id.pid = 0;
    return;
  }
  vm.id = found.id;
  vm.kind = found.kind;
  vm.holds_kvm = found.holds_kvm;
  vm.uuid = found.arguments.uuid;
  vm.name = name_of(found, *process);
  vm.cgroup_path = process->cgroup_path;
  VmProcess monitor = process_of(*process, VmRole::Monitor);
  FoundRam ram;
  if (process->mappings) {
    ram = model::find_guest_ram(*process->mappings, found.arguments.ram);
  }
  split(
      *process,
      [&](size_t i) { return std::ranges::binary_search(ram.indices, i); },
      monitor);
  const SmapsFields fields = monitor.ram ? *monitor.ram : SmapsFields();
  if (ram.means != model::RamMeans::None) {
    measure_ram(ram, fields, vm.ram);
    if (are_all_shared(*process->mappings, ram.indices)) {
      // Blocks count what is swapped out too.
      if (const auto blocks = block_bytes(found.id.pid, ram.objects)) {
        const uint64_t swapped = fields.get_or_zero(SmapsField::Swap);
        vm.ram.resident_means = model::ResidentMeans::Blocks;
        vm.ram.resident_bytes =
            model::known(*blocks - std::min(*blocks, swapped));
      }
    }
  } else {
    set_unknown_ram(vm.ram, process->mappings
                                ? "no mapping looks like guest RAM"
                                : process->mappings.unknown_because);
  }
  vm.processes.push_back(std::move(monitor));
  objects = std::move(ram.objects);
}

bool VmSource::add_process(int32_t pid, VmRole role,
                           const std::vector<RamObject>& objects, Vm& vm) {
  base::Result<model::Process> process = reader_.read(pid);
  if (!process || process->state == model::ProcessState::Gone ||
      process->state == model::ProcessState::Zombie) {
    return false;
  }
  VmProcess found = process_of(*process, role);
  split(
      *process,
      [&](size_t i) { return is_of_any((*process->mappings)[i], objects); },
      found);
  vm.processes.push_back(std::move(found));
  return true;
}

void VmSource::find_ram_again(const FoundVm& found, Vm& vm) {
  const bool is_found = vm.ram.means == model::RamMeans::Name ||
                        vm.ram.means == model::RamMeans::Size;
  const std::optional<uint64_t>& size = vm.guest.configured_bytes;
  if (is_found || !size || vm.processes.empty()) return;
  FoundVm sized = found;
  sized.arguments.ram.total_bytes = size;
  // Firecracker leaves room for devices below 4 GiB and maps RAM in two parts.
  constexpr uint64_t kGapBytes = uint64_t{3} << 30;
  if (*size > kGapBytes) {
    sized.arguments.ram.part_bytes = {kGapBytes, *size - kGapBytes};
  }
  Vm again;
  std::vector<RamObject> objects;
  read_monitor(sized, again, objects);
  if (again.id.pid == 0) return;
  vm.ram = std::move(again.ram);
  vm.processes.front() = std::move(again.processes.front());
}

void VmSource::read_children(const FoundVm& found, Vm& vm,
                             const std::vector<RamObject>& objects) {
  for (int32_t pid : found.descendant_pids)
    add_process(pid, VmRole::Child, objects, vm);
}

void VmSource::read_sharers(const std::vector<int32_t>& pids,
                            const std::vector<Sharing>& sharings,
                            std::vector<Vm>& vms) {
  if (sharings.empty()) return;
  std::string text;
  for (int32_t pid : pids) {
    if (!base::read_file_at(roots_.proc, std::to_string(pid) + "/maps", text)) {
      continue;
    }
    const base::Result<std::vector<model::Mapping>> mappings =
        parse::parse_maps(text);
    if (!mappings) continue;
    for (const Sharing& sharing : sharings) {
      const bool shares =
          std::ranges::any_of(*mappings, [&](const model::Mapping& mapping) {
            return is_of_any(mapping, sharing.objects);
          });
      if (!shares) continue;
      add_process(pid, VmRole::Sharer, sharing.objects, vms[sharing.vm_index]);
    }
  }
}

base::Result<model::VmScan> VmSource::scan() {
  model::VmScan scan;
  scan.started_realtime_ns = base::realtime_ns();
  scan.started_monotonic_ns = base::monotonic_ns();
  base::Result<VmSearch> found = search();
  if (!found) return found.error();
  scan.unseen_count = found->unseen_count;
  const std::vector<FoundVm>& vms = found->vms;
  scan.vms.resize(vms.size());
  std::vector<model::GuestAnswer> answers(vms.size(), not_asked());

  const auto read_host = [&] {
    std::vector<Sharing> sharings;
    for (size_t i = 0; i < vms.size(); ++i) {
      Sharing sharing{i, {}};
      read_monitor(vms[i], scan.vms[i], sharing.objects);
      if (scan.vms[i].id.pid == 0) continue;
      read_children(vms[i], scan.vms[i], sharing.objects);
      if (!sharing.objects.empty()) sharings.push_back(std::move(sharing));
    }
    read_sharers(found->other_pids, sharings, scan.vms);
    for (Vm& vm : scan.vms)
      vm.images = read_vm_images(roots_, vm);
  };
  // The first reads the host, each of the others waits for one guest.
  const size_t asked = options_.asks_guests ? vms.size() : 0;
  base::in_threads(asked + 1, [&](size_t index) {
    if (index == 0) return read_host();
    answers[index - 1] = ask_guest(roots_, vms[index - 1], options_.question);
  });

  for (size_t i = 0; i < vms.size(); ++i) {
    scan.vms[i].guest = std::move(answers[i]);
    find_ram_again(vms[i], scan.vms[i]);
  }
  std::erase_if(scan.vms, [](const Vm& vm) { return vm.id.pid == 0; });
  scan.ended_monotonic_ns = base::monotonic_ns();
  return scan;
}

}  // namespace tidemark::source
