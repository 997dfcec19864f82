#include "analysis/ledger.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace tidemark::analysis {
namespace {

using model::Ledger;
using model::LedgerClass;
using model::LedgerRow;

// Some pages with one class, one owner and one group.
struct Cell {
  LedgerClass ledger_class = LedgerClass::Unnamed;
  std::string owner;
  uint64_t group = 0;
  uint64_t pages = 0;
  SetId set = 0;
  std::string note;
};

// What has a class only with the help of counters.
struct Pool {
  uint64_t other = 0;                    // KernelOther
  std::map<uint64_t, uint64_t> charged;  // KernelCharged, by group
  uint64_t take(uint64_t pages) {
    const uint64_t taken = std::min(pages, other);
    other -= taken;
    return taken;
  }
  uint64_t take_charged(uint64_t group, uint64_t pages) {
    auto found = charged.find(group);
    if (found == charged.end()) return 0;
    const uint64_t taken = std::min(pages, found->second);
    found->second -= taken;
    return taken;
  }
};

class Builder {
 public:
  explicit Builder(const LedgerInput& input) : input_(input) {}
  Ledger build();

 private:
  uint64_t pages(uint64_t bytes) const { return bytes / input_.page_bytes; }
  uint64_t pages(const std::optional<uint64_t>& bytes) const {
    return bytes.value_or(0) / input_.page_bytes;
  }
  std::string group_label(uint64_t group) const;
  std::string owner_label(const TallyKey& key) const;
  std::string process_label(uint64_t pid) const;

  void add(LedgerClass ledger_class, std::string owner, uint64_t pages,
           uint64_t group = 0, SetId set = 0, std::string note = {});
  static std::string named(const std::map<uint64_t, std::string>& names,
                           uint64_t address, std::string_view otherwise);
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
  bool is_of_stack(const model::VmallocArea& area) const;
  uint64_t error_pages(LedgerClass ledger_class) const;
  void make_rows();
  void make_row(const Cell& cell);

  const LedgerInput& input_;
  Ledger ledger_;
  Pool pool_;
  std::vector<Cell> cells_;
  // Rows by (parent, class, owner): the map keeps them whole until sorted.
  struct RowKey {
    std::string parent;
    LedgerClass ledger_class;
    std::string owner;
    auto operator<=>(const RowKey&) const = default;
  };
  std::map<RowKey, LedgerRow> rows_;
};

std::string Builder::group_label(uint64_t group) const {
  if (group == 0) return "(charged to no group)";
  auto found = input_.groups.find(group);
  if (found != input_.groups.end()) return found->second;
  return "(group " + std::to_string(group) + ", removed)";
}

std::string Builder::process_label(uint64_t pid) const {
  for (const LedgerProcess& process : input_.processes) {
    if (process.pid == static_cast<int32_t>(pid)) {
      return process.name + " (" + std::to_string(pid) + ")";
    }
  }
  return "(" + std::to_string(pid) + ", ended)";
}

void Builder::add(LedgerClass ledger_class, std::string owner, uint64_t pages,
                  uint64_t group, SetId set, std::string note) {
  if (pages == 0) return;
  cells_.push_back(
      {ledger_class, std::move(owner), group, pages, set, std::move(note)});
}

constexpr std::string_view kOthers = "(other files)";
constexpr std::string_view kUnreadable = "(of processes that may not be read)";

std::string Builder::named(const std::map<uint64_t, std::string>& names,
                           uint64_t address, std::string_view otherwise) {
  auto found = names.find(address);
  // What has gone before it was asked for has no name.
  return found == names.end() || found->second.empty() ? std::string(otherwise)
                                                       : found->second;
}

// A sample does not ask who maps a page.
std::string Builder::mapper_label(SetId set, std::string_view nobody) const {
  if (input_.sample) return {};
  return set == 0 ? std::string(nobody)
                  : set_label(*input_.sets, set, input_.processes);
}

void Builder::add_cached(LedgerClass ledger_class, const TallyKey& key,
                         uint64_t count) {
  if (input_.tally->has_structs() && !input_.tally->is_by_mapper()) {
    add(ledger_class, named(input_.files, key.owner, kOthers), count,
        key.group);
    return;
  }
  const auto set = static_cast<SetId>(key.owner);
  std::string owner = mapper_label(set, "(mapped by nobody)");
  if (set != 0) owner.insert(0, "mapped by ");
  add(ledger_class, std::move(owner), count, key.group, set);
}

// True when it was a page that programs have.
bool Builder::add_of_programs(const TallyKey& key, uint64_t count) {
  const auto set = static_cast<SetId>(key.owner);
  switch (key.page_class) {
    case PageClass::Anon:
      add(set == 0 || input_.sets->is_private(set) ? LedgerClass::AnonPrivate
                                                   : LedgerClass::AnonShared,
          mapper_label(set, kUnreadable), count, key.group, set);
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
      add(LedgerClass::Hugetlb, mapper_label(set, "(in no program)"), count,
          key.group, set);
      return true;
    case PageClass::HugetlbFree:
      add(LedgerClass::Hugetlb, "(free in the pool)", count);
      return true;
    case PageClass::KernelMapped:
      add(LedgerClass::KernelMapped, mapper_label(set, kUnreadable), count,
          key.group, set);
      return true;
    default:
      return false;
  }
}

void Builder::add_counted(const TallyKey& key, uint64_t count) {
  if (add_of_programs(key, count)) return;
  switch (key.page_class) {
    case PageClass::Slab:
      if (input_.tally->has_structs()) {
        add(LedgerClass::Slab,
            named(input_.caches, key.owner, "(gone meanwhile)"), count,
            key.group);
      }
      break;  // else by the counters of the caches
    case PageClass::LargeKmalloc:
      add(LedgerClass::Slab, "(large kmalloc)", count, key.group);
      break;
    case PageClass::KernelStack:
      add(LedgerClass::KernelStacks, process_label(key.owner), count,
          key.group);
      break;
    case PageClass::Compressed:
      add(LedgerClass::Compressed, "(zsmalloc)", count, key.group);
      break;
    case PageClass::KernelCharged:
      pool_.charged[key.group] += count;
      break;
    case PageClass::KernelOther:
      pool_.other += count;
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

// How far off the estimate of a class may be.
uint64_t Builder::error_pages(LedgerClass ledger_class) const {
  const auto of = [&](PageClass page_class) {
    return input_.sample->error_pages(page_class, input_.tally->page_count());
  };
  switch (ledger_class) {
    case LedgerClass::AnonPrivate:
      return of(PageClass::Anon);
    case LedgerClass::AnonShared:
      return of(PageClass::AnonShared);
    case LedgerClass::AnonUnmapped:
      return of(PageClass::AnonUnmapped);
    case LedgerClass::File:
      return of(PageClass::File);
    case LedgerClass::Shmem:
      return of(PageClass::Shmem);
    case LedgerClass::Hugetlb:
      return of(PageClass::HugetlbUsed);
    case LedgerClass::Slab:
      return of(PageClass::Slab);
    case LedgerClass::PageTables:
      return of(PageClass::PageTables);
    case LedgerClass::KernelMapped:
      return of(PageClass::KernelMapped);
    case LedgerClass::Kernel:
      return of(PageClass::KernelCharged);
    case LedgerClass::Boot:
      return of(PageClass::Reserved);
    case LedgerClass::Balloon:
      return of(PageClass::Balloon);
    case LedgerClass::Poisoned:
      return of(PageClass::Poisoned);
    case LedgerClass::Free:
      return of(PageClass::FreeBuddy);
    case LedgerClass::Unstable:
      return of(PageClass::Unstable);
    case LedgerClass::Unnamed:
      return of(PageClass::KernelOther);
    case LedgerClass::Compressed:
    case LedgerClass::KernelStacks:
    case LedgerClass::Vmalloc:
    case LedgerClass::Percpu:
      return 0;  // as the kernel counts them
  }
  return 0;
}

// Without the structs: as the caches count themselves, as far as that goes.
void Builder::add_slab() {
  if (input_.tally->has_structs()) return;
  uint64_t left = input_.tally->count_of(PageClass::Slab);
  if (input_.kernel.slab) {
    std::vector<std::pair<uint64_t, std::string>> caches;
    for (const model::SlabCache& cache : *input_.kernel.slab)
      caches.emplace_back(cache.slabs * cache.pages_per_slab, cache.name);
    std::ranges::sort(caches, std::greater());
    for (const auto& [count, name] : caches) {
      const uint64_t taken = std::min(count, left);
      add(LedgerClass::Slab, name, taken);
      left -= taken;
    }
  }
  add(LedgerClass::Slab, "(not told apart)", left);
}

void Builder::add_page_tables() {
  uint64_t left = input_.tally->count_of(PageClass::PageTables);
  for (const LedgerProcess& process : input_.processes) {
    const uint64_t taken = std::min(left, pages(process.page_table_bytes));
    add(LedgerClass::PageTables,
        process.name + " (" + std::to_string(process.pid) + ")", taken,
        process.group);
    left -= taken;
  }
  // Upper levels, tables of the kernel's own space, processes meanwhile gone.
  add(LedgerClass::PageTables, "(upper levels and the kernel's own)", left);
}

void Builder::add_boot() {
  const uint64_t reserved = input_.tally->count_of(PageClass::Reserved);
  const uint64_t total = input_.tally->page_count();
  const uint64_t given = pages(input_.meminfo.total_bytes);
  const uint64_t never_given = total > given ? total - given : 0;
  uint64_t left =
      reserved +
      pool_.take(never_given > reserved ? never_given - reserved : 0);
  const auto part = [&](const std::string& owner, uint64_t count) {
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

void Builder::add_free() {
  const uint64_t managed = input_.zoneinfo.managed_pages;
  const uint64_t given = pages(input_.meminfo.total_bytes);
  const uint64_t untouched =
      managed != 0 && given > managed ? given - managed : 0;
  const uint64_t on_lists = input_.zoneinfo.per_cpu_free_pages;
  uint64_t left = input_.tally->count_of(PageClass::FreeOther);
  if (!input_.tally->has_structs()) left = pool_.take(on_lists + untouched);
  const uint64_t first = std::min(left, untouched);
  add(LedgerClass::Free, "(not yet given to the allocator)", first);
  add(LedgerClass::Free, "(lists of each CPU)", left - first);
}

// Where structs are known the stacks of all tasks were counted by page.
void Builder::add_stacks() {
  if (input_.tally->count_of(PageClass::KernelStack) > 0) return;
  uint64_t threads = 0;
  for (const LedgerProcess& process : input_.processes)
    threads += process.thread_count;
  uint64_t left = pages(input_.meminfo.kernel_stack_bytes);
  if (threads == 0 || left == 0) return;
  // A power of two, the same for every thread.
  uint64_t each = 1;
  while (each <= left / threads / 2)
    each *= 2;
  for (const LedgerProcess& process : input_.processes) {
    const uint64_t wanted = std::min(left, process.thread_count * each);
    uint64_t taken = pool_.take_charged(process.group, wanted);
    add(LedgerClass::KernelStacks,
        process_label(static_cast<uint64_t>(process.pid)), taken,
        process.group);
    const uint64_t rest = pool_.take(wanted - taken);
    add(LedgerClass::KernelStacks,
        process_label(static_cast<uint64_t>(process.pid)), rest);
    left -= taken + rest;
  }
}

// The first chunk was taken at boot and stands there already.
void Builder::add_percpu() {
  if (!input_.kernel.vmalloc) return;
  const bool has_later_chunks = std::ranges::any_of(
      input_.kernel.vmalloc->areas, [](const model::VmallocArea& area) {
        return area.caller.starts_with("pcpu_get_vm_areas");
      });
  if (!has_later_chunks) return;
  add(LedgerClass::Percpu, "", pool_.take(pages(input_.meminfo.percpu_bytes)));
}

bool Builder::is_of_stack(const model::VmallocArea& area) const {
  constexpr std::string_view kCallers[] = {
      "kernel_clone", "fork_idle",          "dup_task_struct",
      "copy_process", "alloc_thread_stack", "create_io_thread",
      "vhost_task"};
  return std::ranges::any_of(kCallers, [&](std::string_view caller) {
    return area.caller.starts_with(caller);
  });
}

void Builder::add_vmalloc() {
  if (!input_.kernel.vmalloc) return;
  std::map<std::string, uint64_t> callers;
  uint64_t stack_pages = 0;
  for (const model::VmallocArea& area : input_.kernel.vmalloc->areas) {
    if (area.kind != model::VmallocKind::Vmalloc) continue;
    if (is_of_stack(area)) {
      stack_pages += area.pages.value_or(0);
      continue;
    }
    callers[area.caller.substr(0, area.caller.find('+'))] +=
        area.pages.value_or(0);
  }
  // Some of these programs map, and those stand with the programs.
  uint64_t mapped = input_.tally->count_of(PageClass::KernelMapped);
  std::vector<std::pair<uint64_t, std::string>> sorted;
  sorted.reserve(callers.size());
  for (const auto& [caller, count] : callers)
    sorted.emplace_back(count, caller);
  std::ranges::sort(sorted, std::greater());
  uint64_t total = 0;
  for (const auto& [count, caller] : sorted)
    total += count;
  uint64_t left = total - std::min(total, mapped);
  for (const auto& [count, caller] : sorted) {
    const uint64_t taken = pool_.take(std::min(count, left));
    add(LedgerClass::Vmalloc, caller, taken, 0, 0,
        mapped > 0 || taken < count ? "what programs map or groups are charged "
                                      "for stands there"
                                    : "");
    left -= taken;
  }
  // Stacks that wait for the next task.
  const uint64_t counted = input_.tally->count_of(PageClass::KernelStack);
  if (counted > 0 && stack_pages > counted) {
    add(LedgerClass::KernelStacks, "(kept for the next task)",
        pool_.take(stack_pages - counted));
  }
}

void Builder::add_rest() {
  for (const auto& [group, count] : pool_.charged)
    add(LedgerClass::Kernel, group_label(group), count, group);
  add(LedgerClass::Unnamed, "", pool_.other);
}

void Builder::make_row(const Cell& cell) {
  const uint64_t bytes = cell.pages * input_.page_bytes;
  LedgerRow top;
  top.ledger_class = cell.ledger_class;
  std::string child = cell.owner;
  switch (input_.by) {
    case LedgerBy::Class:
      break;
    case LedgerBy::Cgroup: {
      const bool has_group = cell.group != 0;
      if (has_group) {
        top.owner = group_label(cell.group);
        child = std::string(ledger_class_token(cell.ledger_class));
      }
      break;
    }
    case LedgerBy::Process:
      if (cell.set != 0) {
        top.owner = set_label(*input_.sets, cell.set, input_.processes);
        child = std::string(ledger_class_token(cell.ledger_class));
      }
      break;
    case LedgerBy::File:
      if (cell.ledger_class == LedgerClass::File ||
          cell.ledger_class == LedgerClass::Shmem) {
        top.owner = cell.owner;
        if (child == kOthers) top.owner_count = input_.other_file_count;
        child.clear();
      }
      break;
  }
  const bool is_own_group =
      input_.by == LedgerBy::Cgroup || input_.by == LedgerBy::Process;
  // A group's row is of no class; its parts are.
  RowKey key = {"", cell.ledger_class, top.owner};
  if (is_own_group && !top.owner.empty()) {
    key.ledger_class = LedgerClass::Unnamed;
  }
  LedgerRow& row = rows_[key];
  row.ledger_class = key.ledger_class;
  row.owner = top.owner;
  row.owner_count = top.owner_count;
  row.bytes += bytes;
  if (child.empty()) {
    if (row.note.empty()) row.note = cell.note;
    return;
  }
  const std::string parent =
      top.owner.empty() ? std::string(ledger_class_token(cell.ledger_class))
                        : top.owner;
  LedgerRow& part = rows_[{parent, cell.ledger_class, child}];
  part.ledger_class = cell.ledger_class;
  part.owner = child;
  part.bytes += bytes;
  part.parent = parent;
  part.note = cell.note;
  if (child == kOthers) part.owner_count = input_.other_file_count;
}

void Builder::make_rows() {
  for (const Cell& cell : cells_)
    make_row(cell);
  std::vector<LedgerRow> tops;
  std::map<std::string, std::vector<LedgerRow>> parts;
  for (auto& [key, row] : rows_) {
    if (row.parent.empty()) {
      tops.push_back(std::move(row));
    } else {
      parts[row.parent].push_back(std::move(row));
    }
  }
  // What stands for many comes last.
  const auto larger = [](const LedgerRow& a, const LedgerRow& b) {
    const bool a_is_many = a.owner == kOthers;
    const bool b_is_many = b.owner == kOthers;
    return std::tie(a_is_many, b.bytes, a.owner) <
           std::tie(b_is_many, a.bytes, b.owner);
  };
  // Classes in their own order, which goes from programs to what is free;
  // groups and processes by size.
  const bool by_class = input_.by == LedgerBy::Class;
  std::ranges::sort(tops, [&](const LedgerRow& a, const LedgerRow& b) {
    if (by_class) return a.ledger_class < b.ledger_class;
    if (a.owner.empty() != b.owner.empty()) return b.owner.empty();
    if (a.owner.empty()) return a.ledger_class < b.ledger_class;
    return larger(a, b);
  });
  for (LedgerRow& top : tops) {
    const std::string name =
        top.owner.empty() ? std::string(ledger_class_token(top.ledger_class))
                          : top.owner;
    if (input_.sample) {
      top.error_bytes = error_pages(top.ledger_class) * input_.page_bytes;
    }
    ledger_.rows.push_back(std::move(top));
    auto found = parts.find(name);
    if (found == parts.end()) continue;
    std::ranges::sort(found->second, larger);
    std::ranges::move(found->second, std::back_inserter(ledger_.rows));
  }
}

Ledger Builder::build() {
  const PageTally& tally = *input_.tally;
  ledger_.tier = tally.has_structs() ? model::LedgerTier::Structs
                                     : model::LedgerTier::Pages;
  ledger_.total_bytes = tally.page_count() * input_.page_bytes;
  if (input_.sample) ledger_.sampled_pages = input_.sample->sampled_pages();
  ledger_.mapped_pages = tally.mapped_count();
  ledger_.agreeing_pages = tally.agreeing_count();
  for (const auto& [key, count] : tally.counts())
    add_counted(key, count);
  add_slab();
  add_page_tables();
  add_boot();
  add_free();
  add_stacks();
  add_percpu();
  add_vmalloc();
  add_rest();
  make_rows();
  return std::move(ledger_);
}

}  // namespace

Ledger make_ledger(const LedgerInput& input) {
  return Builder(input).build();
}

std::string set_label(const PageSets& sets, SetId set,
                      const std::vector<LedgerProcess>& processes) {
  const std::vector<SetMember> members = sets.members(set);
  const auto one = [&](const SetMember& member) {
    const LedgerProcess& process = processes[member.process];
    return process.name + " (" + std::to_string(process.pid) + ")";
  };
  if (members.size() == 1) return one(members[0]);
  std::map<std::string, size_t> names;
  for (const SetMember& member : members)
    ++names[processes[member.process].name];
  if (names.size() == 1) {
    return names.begin()->first + " × " + std::to_string(members.size());
  }
  constexpr size_t kFew = 3;
  if (members.size() <= kFew) {
    std::string label = one(members[0]);
    for (size_t i = 1; i < members.size(); ++i)
      label += " + " + one(members[i]);
    return label;
  }
  return std::to_string(members.size()) + " processes, first " +
         one(members[0]);
}

std::vector<uint64_t> owners_of(const PageTally& tally, PageClass page_class) {
  std::map<uint64_t, uint64_t> counts;
  for (const auto& [key, count] : tally.counts()) {
    if (key.page_class == page_class && key.owner != 0) {
      counts[key.owner] += count;
    }
  }
  std::vector<uint64_t> owners;
  owners.reserve(counts.size());
  for (const auto& [owner, count] : counts)
    owners.push_back(owner);
  std::ranges::stable_sort(owners, std::greater(),
                           [&](uint64_t owner) { return counts[owner]; });
  return owners;
}

WhatIf what_if(const LedgerInput& input, const std::vector<bool>& dies) {
  WhatIf result;
  const PageSets& sets = *input.sets;
  std::vector<bool> all_die(sets.set_count());
  std::vector<bool> one_dies(sets.set_count());
  for (SetId set = 1; set < sets.set_count(); ++set) {
    const std::vector<SetMember> members = sets.members(set);
    all_die[set] = std::ranges::all_of(
        members, [&](const SetMember& one) { return dies[one.process]; });
    one_dies[set] = all_die[set] && members.size() == 1;
  }
  for (const auto& [key, count] : input.tally->counts()) {
    const bool is_of_set = key.page_class == PageClass::Anon ||
                           key.page_class == PageClass::File ||
                           key.page_class == PageClass::Shmem;
    if (!is_of_set || key.owner >= all_die.size() ||
        !all_die[static_cast<size_t>(key.owner)]) {
      continue;
    }
    const uint64_t bytes = count * input.page_bytes;
    if (key.page_class == PageClass::Anon) result.anon_bytes += bytes;
    if (key.page_class == PageClass::File) result.file_bytes += bytes;
    if (key.page_class == PageClass::Shmem) result.shmem_bytes += bytes;
    if (key.page_class == PageClass::Anon &&
        one_dies[static_cast<size_t>(key.owner)]) {
      result.private_sum_bytes += bytes;
    }
  }
  uint64_t threads = 0;
  uint64_t all_threads = 0;
  for (size_t i = 0; i < input.processes.size(); ++i) {
    all_threads += input.processes[i].thread_count;
    if (!dies[i]) continue;
    ++result.process_count;
    threads += input.processes[i].thread_count;
    result.page_table_bytes += input.processes[i].page_table_bytes;
  }
  // The same for every thread, a power of two of pages.
  uint64_t each = input.page_bytes;
  while (all_threads > 0 &&
         each <= input.meminfo.kernel_stack_bytes.value_or(0) / all_threads / 2)
    each *= 2;
  result.kernel_stack_bytes = threads * each;
  result.freed_bytes =
      result.anon_bytes + result.page_table_bytes + result.kernel_stack_bytes;
  return result;
}

}  // namespace tidemark::analysis
