#include "analysis/ledger_cells.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/kernel_pool.h"
#include "analysis/ledger_labels.h"

namespace tidemark::analysis {
namespace {

using model::LedgerClass;

class CellMaker {
 public:
  CellMaker(const LedgerInput& input, base::TextArena& texts,
            const CellVisitor& visit)
      : input_(input), texts_(texts), visit_(visit) {}
  void make();

 private:
  uint64_t pages(uint64_t bytes) const { return bytes / input_.page_bytes; }
  // The owner lasts: it is a literal, or `texts_` keeps it.
  void add(LedgerClass ledger_class, std::string_view owner, uint64_t pages,
           uint64_t group = 0, SetId set = 0, std::string_view note = {});
  std::string_view file_name(uint64_t address) const;
  std::string_view cache_name(uint64_t address);
  std::string mapper_label(SetId set, std::string_view nobody) const;
  void add_cached(LedgerClass ledger_class, const TallyKey& key,
                  uint64_t count);
  bool add_of_programs(const TallyKey& key, uint64_t count);
  void add_counted(const TallyKey& key, uint64_t count);
  void add_slab();
  void add_page_tables();
  void add_boot();
  void add_free();
  void add_stacks();
  void add_percpu();
  void add_vmalloc();
  void add_rest();

  const LedgerInput& input_;
  base::TextArena& texts_;
  const CellVisitor& visit_;
  KernelPool pool_;
};

void CellMaker::add(LedgerClass ledger_class, std::string_view owner,
                    uint64_t pages, uint64_t group, SetId set,
                    std::string_view note) {
  if (pages == 0) return;
  visit_({ledger_class, owner, group, pages, set, note});
}

constexpr std::string_view kUnreadable = "(of processes that may not be read)";

// What has gone before it was asked for has no name.
std::string_view CellMaker::file_name(uint64_t address) const {
  const auto found =
      std::ranges::lower_bound(input_.files, address, {}, &FileName::address);
  const bool is_named = found != input_.files.end() &&
                        found->address == address && !found->path.empty();
  return is_named ? found->path : kOtherFiles;
}

std::string_view CellMaker::cache_name(uint64_t address) {
  const auto found = input_.caches.find(address);
  if (found == input_.caches.end() || found->second.empty()) {
    return "(gone meanwhile)";
  }
  return texts_.keep(found->second);
}

// A sample does not ask who maps a page.
std::string CellMaker::mapper_label(SetId set, std::string_view nobody) const {
  if (input_.sample) return {};
  return set == 0 ? std::string(nobody)
                  : set_label(*input_.sets, set, input_.processes);
}

void CellMaker::add_cached(LedgerClass ledger_class, const TallyKey& key,
                           uint64_t count) {
  if (input_.tally->has_structs() && !input_.tally->is_by_mapper()) {
    add(ledger_class, file_name(key.owner), count, key.group);
    return;
  }
  const auto set = static_cast<SetId>(key.owner);
  std::string owner = mapper_label(set, "(mapped by nobody)");
  if (set != 0) owner.insert(0, "mapped by ");
  add(ledger_class, texts_.keep(owner), count, key.group, set);
}

// True when it was a page that programs have.
bool CellMaker::add_of_programs(const TallyKey& key, uint64_t count) {
  const auto set = static_cast<SetId>(key.owner);
  switch (key.page_class) {
    case PageClass::Anon:
      add(set == 0 || input_.sets->is_private(set) ? LedgerClass::AnonPrivate
                                                   : LedgerClass::AnonShared,
          texts_.keep(mapper_label(set, kUnreadable)), count, key.group, set);
      return true;
    case PageClass::AnonShared:
      add(LedgerClass::AnonShared, "", count);
      return true;
    case PageClass::AnonUnmapped:
      add(LedgerClass::AnonUnmapped, "(swap cache)", count, key.group);
      return true;
    case PageClass::File:
      add_cached(LedgerClass::File, key, count);
      return true;
    case PageClass::Shmem:
      add_cached(LedgerClass::Shmem, key, count);
      return true;
    case PageClass::HugetlbUsed:
      add(LedgerClass::Hugetlb,
          texts_.keep(mapper_label(set, "(in no program)")), count, key.group,
          set);
      return true;
    case PageClass::HugetlbFree:
      add(LedgerClass::Hugetlb, "(free in the pool)", count);
      return true;
    case PageClass::KernelMapped:
      add(LedgerClass::KernelMapped,
          texts_.keep(mapper_label(set, kUnreadable)), count, key.group, set);
      return true;
    default:
      return false;
  }
}

void CellMaker::add_counted(const TallyKey& key, uint64_t count) {
  if (add_of_programs(key, count)) return;
  switch (key.page_class) {
    case PageClass::Slab:
      if (input_.tally->has_structs()) {
        add(LedgerClass::Slab, cache_name(key.owner), count, key.group);
      }
      break;  // else by the counters of the caches
    case PageClass::LargeKmalloc:
      add(LedgerClass::Slab, "(large kmalloc)", count, key.group);
      break;
    case PageClass::KernelStack:
      add(LedgerClass::KernelStacks,
          texts_.keep(process_label(input_.processes, key.owner)), count,
          key.group);
      break;
    case PageClass::Compressed:
      add(LedgerClass::Compressed, "(zsmalloc)", count, key.group);
      break;
    case PageClass::KernelCharged:
      pool_.add_charged(key.group, count);
      break;
    case PageClass::KernelOther:
      pool_.add(count);
      break;
    case PageClass::Balloon:
      add(LedgerClass::Balloon, "", count, key.group);
      break;
    case PageClass::Poisoned:
      add(LedgerClass::Poisoned, "", count);
      break;
    case PageClass::FreeBuddy:
      add(LedgerClass::Free, "(buddy lists)", count);
      break;
    case PageClass::Unstable:
      add(LedgerClass::Unstable, "", count, key.group);
      break;
    default:
      break;  // parted by counters: page tables, reserved, free on other lists
  }
}

// Without the structs: as the caches count themselves, as far as that goes.
void CellMaker::add_slab() {
  if (input_.tally->has_structs()) return;
  uint64_t left = input_.tally->count_of(PageClass::Slab);
  if (input_.sample) {
    add(LedgerClass::Slab, "", left);
    return;
  }
  if (input_.kernel.slab) {
    std::vector<std::pair<uint64_t, std::string>> caches;
    for (const model::SlabCache& cache : *input_.kernel.slab)
      caches.emplace_back(cache.slabs * cache.pages_per_slab, cache.name);
    std::ranges::sort(caches, std::greater());
    for (const auto& [count, name] : caches) {
      const uint64_t taken = std::min(count, left);
      add(LedgerClass::Slab, texts_.keep(name), taken);
      left -= taken;
    }
  }
  add(LedgerClass::Slab, "(not told apart)", left);
}

void CellMaker::add_page_tables() {
  uint64_t left = input_.tally->count_of(PageClass::PageTables);
  if (input_.sample) {
    add(LedgerClass::PageTables, "", left);
    return;
  }
  for (const LedgerProcess& process : input_.processes) {
    const uint64_t taken = std::min(left, pages(process.page_table_bytes));
    add(LedgerClass::PageTables, texts_.keep(process_label(process)), taken,
        process.group);
    left -= taken;
  }
  // Upper levels, tables of the kernel's own space, processes meanwhile gone.
  add(LedgerClass::PageTables, "(upper levels and the kernel's own)", left);
}

void CellMaker::add_boot() {
  const uint64_t reserved = input_.tally->count_of(PageClass::Reserved);
  const uint64_t never_given = never_given_pages(input_);
  uint64_t left =
      reserved +
      pool_.take(never_given > reserved ? never_given - reserved : 0);
  const auto part = [&](std::string_view owner, uint64_t count) {
    const uint64_t taken = std::min(left, count);
    add(LedgerClass::Boot, owner, taken);
    left -= taken;
  };
  if (input_.kernel.counters) {
    part("page structs", input_.kernel.counters->memmap_boot_pages.value_or(0));
  }
  if (input_.kernel.iomem) {
    uint64_t image_bytes = 0;
    for (const model::IoResource& resource : input_.kernel.iomem->resources) {
      if (resource.name.starts_with("Kernel ")) {
        image_bytes += resource.last - resource.first + 1;
      }
    }
    part("kernel image", pages(image_bytes));
  }
  part("(hash tables, firmware and other early use)", left);
}

void CellMaker::add_free() {
  const FreeElsewhere elsewhere = free_elsewhere(input_);
  uint64_t left = input_.tally->count_of(PageClass::FreeOther);
  if (!input_.tally->has_structs()) {
    left = pool_.take(elsewhere.per_cpu_pages + elsewhere.untouched_pages);
  }
  const uint64_t first = std::min(left, elsewhere.untouched_pages);
  add(LedgerClass::Free, "(not yet given to the allocator)", first);
  add(LedgerClass::Free, "(lists of each CPU)", left - first);
}

// Where structs are known the stacks of all tasks were counted by page.
void CellMaker::add_stacks() {
  if (input_.tally->count_of(PageClass::KernelStack) > 0) return;
  uint64_t left = pages(input_.meminfo.kernel_stack_bytes.value_or(0));
  if (input_.sample) {
    const uint64_t charged = pool_.take_charged(0, left);
    add(LedgerClass::KernelStacks, "", charged + pool_.take(left - charged));
    return;
  }
  const uint64_t each = stack_pages_each(input_);
  for (const LedgerProcess& process : input_.processes) {
    const uint64_t wanted = std::min(left, process.thread_count * each);
    const uint64_t charged = pool_.take_charged(process.group, wanted);
    const uint64_t rest = pool_.take(wanted - charged);
    const std::string_view owner = texts_.keep(process_label(process));
    add(LedgerClass::KernelStacks, owner, charged, process.group);
    add(LedgerClass::KernelStacks, owner, rest);
    left -= charged + rest;
  }
}

void CellMaker::add_percpu() {
  add(LedgerClass::Percpu, "", pool_.take(later_percpu_pages(input_)));
}

void CellMaker::add_vmalloc() {
  const VmallocUse use = vmalloc_use(input_);
  // Some of these programs map, and those stand with the programs. Others are
  // charged to groups, as the maps of BPF are, and stand there: nearly all that
  // is charged without a type is such. The file does not tell which; such maps
  // are large, so it is the largest that are short of them.
  const uint64_t elsewhere =
      input_.tally->count_of(PageClass::KernelMapped) + pool_.charged_pages();
  uint64_t left = use.caller_pages - std::min(use.caller_pages, elsewhere);
  for (auto caller = use.callers.rbegin(); caller != use.callers.rend();
       ++caller) {
    const uint64_t count = caller->first;
    const uint64_t taken = pool_.take(std::min(count, left));
    add(LedgerClass::Vmalloc, texts_.keep(caller->second), taken, 0, 0,
        elsewhere > 0 || taken < count
            ? "what programs map or groups are charged "
              "for stands there"
            : "");
    left -= taken;
  }
  // Stacks that wait for the next task.
  const uint64_t counted = input_.tally->count_of(PageClass::KernelStack);
  if (counted > 0 && use.stack_pages > counted) {
    add(LedgerClass::KernelStacks, "(kept for the next task)",
        pool_.take(use.stack_pages - counted));
  }
}

void CellMaker::add_rest() {
  for (const auto& [group, count] : pool_.charged())
    add(LedgerClass::Kernel, texts_.keep(group_label(input_, group)), count,
        group);
  add(LedgerClass::Unnamed, "", pool_.other());
}

void CellMaker::make() {
  input_.tally->counts().visit(
      [&](const TallyKey& key, uint64_t count) { add_counted(key, count); });
  add_slab();
  add_page_tables();
  add_boot();
  add_stacks();
  add_percpu();
  add_vmalloc();
  // After the others: lists of CPUs are counted at another moment than their
  // pages, and where the pool has too little for all it is they that have less.
  add_free();
  add_rest();
}

}  // namespace

void visit_cells(const LedgerInput& input, base::TextArena& texts,
                 const CellVisitor& visit) {
  CellMaker(input, texts, visit).make();
}

}  // namespace tidemark::analysis
