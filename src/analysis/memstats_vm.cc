#include "analysis/memstats_vm.h"

#include <algorithm>
#include <string>

#include "base/arithmetic.h"
#include "base/clock.h"
#include "model/smaps_fields.h"

namespace tidemark::analysis {
namespace {

using model::MemstatsProcess;
using model::MemstatsRecord;
using model::SmapsField;
using model::SmapsFields;

constexpr const char* kNotInFile = "not in a file of memstats";

bool tells_shared_memory(const MemstatsRecord& record) {
  return std::ranges::all_of(record.processes,
                             [](const MemstatsProcess& process) {
                               return process.totals.has(SmapsField::PssShmem);
                             });
}

SmapsFields ram_part(const SmapsFields& totals) {
  SmapsFields ram;
  const uint64_t pss = std::min(totals.get_or_zero(SmapsField::PssShmem),
                                totals.get_or_zero(SmapsField::Pss));
  ram.set(SmapsField::Pss, pss);
  for (SmapsField field :
       {SmapsField::PrivateHugetlb, SmapsField::SharedHugetlb}) {
    if (totals.has(field)) ram.set(field, *totals.get(field));
  }
  return ram;
}

// RSS and private pages are not parted in the file.
SmapsFields unshared_part(const SmapsFields& totals, const SmapsFields& ram) {
  SmapsFields own;
  own.set(SmapsField::Pss, totals.get_or_zero(SmapsField::Pss) -
                               ram.get_or_zero(SmapsField::Pss));
  return own;
}

model::VmProcess process_of(const MemstatsProcess& recorded, bool is_first,
                            bool is_parted) {
  model::VmProcess process;
  process.id.pid = recorded.pid;
  process.name = recorded.name;
  process.role = is_first ? model::VmRole::Monitor : model::VmRole::Child;
  process.rss_bytes = recorded.totals.get(SmapsField::Rss);
  if (!is_parted) {
    process.own = model::known(recorded.totals);
    process.ram = model::unknown<SmapsFields>("there is no Pss_Shmem");
    return process;
  }
  const SmapsFields ram = ram_part(recorded.totals);
  process.own = model::known(unshared_part(recorded.totals, ram));
  process.ram = model::known(ram);
  return process;
}

// The pages of each share of it, once.
model::Reading<uint64_t> resident_of(const model::Vm& vm) {
  uint64_t sum = 0;
  for (const model::VmProcess& process : vm.processes) {
    sum = base::saturating_sum(sum, process.ram->get_or_zero(SmapsField::Pss));
  }
  const uint64_t huge =
      model::hugetlb_bytes(*vm.processes.front().ram).value_or(0);
  return model::known(base::saturating_sum(sum, huge));
}

model::Reading<uint64_t> swapped_of(const MemstatsRecord& record) {
  const bool is_none =
      std::ranges::all_of(record.processes, [](const MemstatsProcess& process) {
        return process.totals.get(SmapsField::Swap) == uint64_t{0};
      });
  if (is_none) return model::known(uint64_t{0});
  return model::unknown<uint64_t>(
      "a file of memstats does not tell guest RAM in swap from the rest");
}

void set_ram(const MemstatsRecord& record, bool is_parted, model::Vm& vm) {
  model::GuestRam& ram = vm.ram;
  for (model::Reading<uint64_t>* reading :
       {&ram.configured_bytes, &ram.thp_bytes, &ram.ksm_bytes,
        &ram.ksm_saved_bytes, &ram.hugetlb_bytes}) {
    *reading = model::unknown<uint64_t>(kNotInFile);
  }
  ram.swapped_bytes = swapped_of(record);
  if (!is_parted) {
    ram.resident_bytes = model::unknown<uint64_t>(
        "there is no Pss_Shmem, which would tell guest RAM from the rest");
    return;
  }
  ram.means = model::RamMeans::Shared;
  ram.backing = "shared memory";
  ram.resident_bytes = resident_of(vm);
  const SmapsFields& first = *vm.processes.front().ram;
  ram.hugetlb_bytes = model::known(model::hugetlb_bytes(first).value_or(0));
}

model::GuestAnswer answer_of(const MemstatsRecord& record) {
  model::GuestAnswer guest;
  guest.source = "memstats";
  if (!record.balloon) {
    guest.state = model::GuestState::Failed;
    guest.because = "the collector had no answer of the guest";
    return guest;
  }
  guest.state = model::GuestState::Told;
  guest.balloon_bytes = record.balloon->balloon_bytes;
  guest.deflates_on_oom = true;
  for (size_t i = 0; i < model::kBalloonFields.size(); ++i)
    guest.stats[model::kBalloonFields[i]] = record.balloon->values[i];
  return guest;
}

model::Vm vm_of(const MemstatsRecord& record) {
  const bool is_parted = tells_shared_memory(record);
  model::Vm vm;
  vm.id.pid = record.processes.front().pid;
  vm.name = record.processes.front().name;
  vm.kind = model::vm_kind_of_program(vm.name);
  for (const MemstatsProcess& process : record.processes)
    vm.processes.push_back(
        process_of(process, vm.processes.empty(), is_parted));
  set_ram(record, is_parted, vm);
  vm.guest = answer_of(record);
  return vm;
}

}  // namespace

std::vector<model::VmScan> memstats_scans(
    std::span<const MemstatsRecord> records, uint64_t begin_realtime_ns) {
  std::vector<model::VmScan> scans;
  for (const MemstatsRecord& record : records) {
    const uint64_t elapsed_ns =
        (record.elapsed_seconds - records.front().elapsed_seconds) *
        base::kNsPerSecond;
    model::VmScan& scan = scans.emplace_back();
    scan.started_realtime_ns = begin_realtime_ns + elapsed_ns;
    scan.started_monotonic_ns = elapsed_ns;
    scan.ended_monotonic_ns = elapsed_ns;
    // A VM that has ended leaves records without processes.
    if (!record.processes.empty()) scan.vms.push_back(vm_of(record));
  }
  return scans;
}

}  // namespace tidemark::analysis
