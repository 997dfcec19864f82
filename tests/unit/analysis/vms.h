// A VM as tests of several reports need it.
#pragma once

#include <cstdint>

#include "unit/quantities.h"

#include "model/vm.h"

namespace tidemark::analysis::vms {

inline constexpr uint64_t kNowSeconds = 1'700'000'000;

inline model::SmapsFields fields(uint64_t pss_bytes) {
  model::SmapsFields made;
  made.set(model::SmapsField::Rss, pss_bytes);
  made.set(model::SmapsField::Pss, pss_bytes);
  return made;
}

inline model::VmProcess process(int32_t pid, const char* name,
                                model::VmRole role, uint64_t own_bytes) {
  model::VmProcess made;
  made.id = {pid, 1};
  made.name = name;
  made.role = role;
  made.own = model::known(fields(own_bytes));
  made.ram = model::known(model::SmapsFields());
  made.rss_bytes = own_bytes;
  return made;
}

// 256 MiB of which 122 are resident, an idle guest that tells.
inline model::Vm idle_vm() {
  model::Vm vm;
  vm.id = {10, 1};
  vm.kind = model::VmKind::Qemu;
  vm.name = "idle";
  vm.ram.means = model::RamMeans::Size;
  vm.ram.configured_bytes = model::known(256 * test::kMiB);
  vm.ram.resident_bytes = model::known(122 * test::kMiB);
  for (model::Reading<uint64_t>* reading :
       {&vm.ram.swapped_bytes, &vm.ram.hugetlb_bytes, &vm.ram.thp_bytes,
        &vm.ram.ksm_bytes, &vm.ram.ksm_saved_bytes}) {
    *reading = model::known(uint64_t{0});
  }
  vm.processes = {
      process(10, "qemu-system-x86", model::VmRole::Monitor, 100 * test::kMiB)};
  vm.guest.state = model::GuestState::Told;
  vm.guest.source = "QMP";
  vm.guest.stats[model::GuestField::Total] = 217 * test::kMiB;
  vm.guest.stats[model::GuestField::Free] = 188 * test::kMiB;
  vm.guest.stats[model::GuestField::Caches] = 3 * test::kMiB;
  vm.guest.balloon_bytes = 0;
  vm.guest.updated_realtime_s = kNowSeconds;
  vm.guest.polling_interval_s = 1;
  return vm;
}

}  // namespace tidemark::analysis::vms
