#include "analysis/system_report.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "base/units.h"

namespace tidemark::analysis {
namespace {

using model::Reading;
using model::VmallocArea;
using model::VmallocKind;
using std::string_view;

constexpr string_view kMemInfo = "meminfo";
constexpr string_view kZoneInfo = "zoneinfo";
constexpr string_view kVmStat = "vmstat";

constexpr SystemColumnName kNames[kSystemColumnCount] = {
    {"free", "FREE", "free, in the page allocator"},
    {"free_per_cpu", "PCP", "free, on the lists of the processors"},
    {"free_uninitialised", "LAZY", "free, not yet initialised"},
    {"anon", "ANON", "anonymous: heaps, stacks, …"},
    {"file", "FILE", "page cache of files and devices"},
    {"shmem", "SHMEM", "tmpfs, memfd, shared anonymous"},
    {"slab", "SLAB", "kernel objects in use"},
    {"slab_slack", "SLACK", "slab pages without an object"},
    {"page_tables", "PTAB", "page tables"},
    {"kernel_stacks", "STACK", "kernel stacks of tasks"},
    {"vmalloc", "VMALLOC", "kernel memory mapped page by page"},
    {"percpu", "PERCPU", "per-CPU data, not of the boot"},
    {"sockets", "NET", "buffers of sockets"},
    {"hugetlb", "HUGE", "pool of huge pages"},
    {"compressed", "ZRAM", "zram and zswap"},
    {"balloon", "BALLOON", "given back to the host"},
    {"wired", "WIRED", "taken at boot: image, page structs"},
};

// Sums of figures from outside may run over; modulo 2^64 they still cancel out
// against `other`, and a signed overflow would be undefined.
int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
int64_t minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}
int64_t as_signed(uint64_t bytes) {
  return static_cast<int64_t>(bytes);
}

// The functions that make kernel stacks: which of them is named depends on what
// the compiler inlined.
constexpr string_view kStackMakers[] = {
    "kernel_clone",    "fork_idle",        "copy_process",
    "dup_task_struct", "_do_fork",         "alloc_thread_stack_node",
    "kernel_thread",   "create_io_thread", "user_mode_thread",
};

string_view function_of(string_view caller) {
  return caller.substr(0, caller.find_first_of("+. "));
}

bool is_stack(const VmallocArea& area) {
  return area.kind == VmallocKind::Vmalloc &&
         std::find(std::begin(kStackMakers), std::end(kStackMakers),
                   function_of(area.caller)) != std::end(kStackMakers);
}

const model::KernelReadings& nothing_read() {
  static const model::KernelReadings kNothing = {{{}, "not read"},
                                                 {{}, "not read"},
                                                 {{}, "not read"},
                                                 {{}, "not read"},
                                                 {{}, "not read"}};
  return kNothing;
}

class Account {
 public:
  explicit Account(const model::Sample& sample)
      : machine_(*sample.machine),
        info_(sample.machine->meminfo),
        page_bytes_(sample.machine->page_size_bytes),
        kernel_(sample.kernel ? *sample.kernel : nothing_read()) {
    report_.realtime_ns = sample.started_realtime_ns;
    report_.read_ns = sample.ended_monotonic_ns - sample.started_monotonic_ns;
  }

  SystemReport make() {
    report_.mem_total_bytes = *info_.total_bytes;
    account_free();
    account_user();
    account_slab();
    account_kernel();
    account_pools();
    account_total();
    return std::move(report_);
  }

 private:
  SystemValue& at(SystemColumn column) {
    return report_.columns[static_cast<size_t>(column)];
  }

  void add(SystemColumn column, string_view what, string_view file,
           int64_t bytes) {
    SystemValue& value = at(column);
    value.terms.push_back({what, file, bytes});
    value.bytes = model::known(plus(value.bytes.value.value_or(0), bytes));
  }
  void drop(SystemColumn column, std::string because) {
    SystemValue& value = at(column);
    value.bytes = model::unknown<int64_t>(std::move(because));
    value.terms.clear();
  }
  // False, and the column is unknown, where the kernel does not tell it.
  bool add_required(SystemColumn column, string_view what,
                    std::optional<uint64_t> bytes) {
    if (bytes) {
      add(column, what, kMemInfo, as_signed(*bytes));
    } else {
      drop(column, "meminfo has no " + std::string(what));
    }
    return bytes.has_value();
  }
  void add_if_told(SystemColumn column, string_view what,
                   std::optional<uint64_t> bytes) {
    if (bytes) add(column, what, kMemInfo, as_signed(*bytes));
  }
  uint64_t pages(uint64_t count) const { return count * page_bytes_; }

  // MemTotal is the sum of what the zones manage, but for a kernel that
  // initialises page structs when they are first needed: there the rest is in
  // MemTotal and MemFree, and in no zone. Where MemFree does not hold it, it is
  // not free.
  void account_free() {
    using enum SystemColumn;
    add(Free, "MemFree", kMemInfo, as_signed(*info_.free_bytes));
    if (!machine_.zoneinfo) {
      drop(FreePerCpu, "zoneinfo could not be read; they are in other");
      drop(FreeUninitialised, "zoneinfo could not be read; they are in free");
      return;
    }
    const model::ZoneInfo& zones = *machine_.zoneinfo;
    add(FreePerCpu, "count", kZoneInfo,
        as_signed(pages(zones.per_cpu_free_pages)));
    const uint64_t managed = pages(zones.managed_pages);
    const uint64_t zone_free = pages(zones.free_pages);
    const uint64_t beyond =
        *info_.total_bytes > managed ? *info_.total_bytes - managed : 0;
    const bool is_in_free = *info_.free_bytes > zone_free &&
                            *info_.free_bytes - zone_free >= beyond / 2;
    const uint64_t lazy = is_in_free ? std::min(beyond, *info_.free_bytes) : 0;
    if (lazy == 0) {
      add(FreeUninitialised, "MemTotal - managed", kZoneInfo, 0);
      return;
    }
    add(Free, "- in no zone", kZoneInfo, minus(0, as_signed(lazy)));
    add(FreeUninitialised, "MemTotal - managed", kZoneInfo, as_signed(lazy));
  }

  // Identities:
  // - AnonPages counts what is mapped. A page of the swap cache is in it too
  //   while a process maps it, so SwapCached cannot be added as a whole.
  // - Cached = all of the page cache - SwapCached - Buffers, shmem included.
  // - The LRU lists hold each page of all of these once, so what of the swap
  //   cache nobody maps is what they hold beyond AnonPages, Cached and Buffers.
  //   Pages on their way to a list make that a little too small.
  void account_user() {
    using enum SystemColumn;
    if (add_required(Anon, "AnonPages", info_.anon_pages_bytes)) {
      add_unmapped_swap_cache();
    }
    if (add_required(File, "Cached", info_.cached_bytes)) {
      if (info_.shmem_bytes) {
        add(File, "- Shmem", kMemInfo, minus(0, as_signed(*info_.shmem_bytes)));
      }
      add_if_told(File, "Buffers", info_.buffers_bytes);
    }
    add_required(Shmem, "Shmem", info_.shmem_bytes);
  }

  void add_unmapped_swap_cache() {
    using enum SystemColumn;
    const uint64_t cached = info_.swap_cached_bytes.value_or(0);
    if (cached == 0) return;
    if (std::optional<uint64_t> lists = lru_bytes()) {
      const uint64_t elsewhere = *info_.anon_pages_bytes +
                                 info_.cached_bytes.value_or(0) +
                                 info_.buffers_bytes.value_or(0);
      const uint64_t beyond = *lists > elsewhere ? *lists - elsewhere : 0;
      add(Anon, "SwapCached, not mapped", kVmStat,
          as_signed(std::min(beyond, cached)));
    } else {
      add(Anon, "SwapCached", kMemInfo, as_signed(cached));
      at(Anon).remark =
          "pages of the swap cache that are mapped again are counted twice";
    }
  }

  std::optional<uint64_t> lru_bytes() const {
    if (!kernel_.counters) return std::nullopt;
    const model::PageCounters& c = *kernel_.counters;
    uint64_t sum = 0;
    for (const std::optional<uint64_t>& list :
         {c.active_anon_pages, c.inactive_anon_pages, c.active_file_pages,
          c.inactive_file_pages, c.unevictable_pages}) {
      if (!list) return std::nullopt;
      sum += *list;
    }
    sum += c.isolated_anon_pages.value_or(0);
    sum += c.isolated_file_pages.value_or(0);
    return pages(sum);
  }

  // meminfo has the pages of all slabs and of large kmalloc, which belongs to
  // no cache. What of them is slack only slabinfo tells.
  void account_slab() {
    using enum SystemColumn;
    if (!add_required(SlabUsed, "SReclaimable", info_.slab_reclaimable_bytes) ||
        !add_required(SlabUsed, "SUnreclaim", info_.slab_unreclaimable_bytes)) {
      drop(SlabSlack, "the slab is unknown");
      return;
    }
    if (!kernel_.slab) {
      drop(SlabSlack, kernel_.slab.unknown_because + "; it is in slab");
      return;
    }
    uint64_t slack = 0;
    for (const model::SlabCache& cache : *kernel_.slab) {
      const uint64_t whole = pages(cache.slabs * cache.pages_per_slab);
      const uint64_t used = cache.active_objects * cache.object_bytes;
      if (whole > used) slack += whole - used;
    }
    // Read a moment apart, so bounded: a slack beyond the slab is none.
    slack = std::min(slack, static_cast<uint64_t>(std::max<int64_t>(
                                0, *at(SlabUsed).bytes.value)));
    add(SlabUsed, "- slack", "slabinfo", minus(0, as_signed(slack)));
    add(SlabSlack, "slabs - objects", "slabinfo", as_signed(slack));
    at(SlabSlack).remark =
        "at least: objects that a processor keeps at hand count as used";
  }

  void account_kernel() {
    using enum SystemColumn;
    if (add_required(PageTables, "PageTables", info_.page_tables_bytes)) {
      add_if_told(PageTables, "SecPageTables",
                  info_.secondary_page_tables_bytes);
    }
    add_required(Stacks, "KernelStack", info_.kernel_stack_bytes);
    account_vmalloc();
    account_percpu();
  }

  // Stacks that are vmapped are in VmallocUsed. Those kept for the next task
  // are in no other line and stay in this column.
  void account_vmalloc() {
    using enum SystemColumn;
    if (!add_required(Vmalloc, "VmallocUsed", info_.vmalloc_used_bytes)) {
      return;
    }
    const uint64_t stacks = info_.kernel_stack_bytes.value_or(0);
    bool are_vmapped = *info_.vmalloc_used_bytes >= stacks;
    if (kernel_.vmalloc) {
      are_vmapped =
          are_vmapped && std::any_of(kernel_.vmalloc->areas.begin(),
                                     kernel_.vmalloc->areas.end(), is_stack);
    } else if (are_vmapped) {
      at(Vmalloc).remark =
          "stacks are taken to be vmapped, as they are nearly everywhere";
    }
    if (are_vmapped) {
      add(Vmalloc, "- KernelStack", kMemInfo, minus(0, as_signed(stacks)));
    }
  }

  // The first chunk was made before MemTotal was counted and is in wired. The
  // later ones lie in areas of their own, so they are at most as large as
  // these.
  void account_percpu() {
    using enum SystemColumn;
    if (!add_required(PerCpu, "Percpu", info_.percpu_bytes)) return;
    if (!kernel_.vmalloc) {
      at(PerCpu).remark = "the part made at boot is counted here and in wired";
      return;
    }
    uint64_t areas = 0;
    for (const VmallocArea& area : kernel_.vmalloc->areas) {
      if (function_of(area.caller) == "pcpu_get_vm_areas") {
        areas += area.size_bytes;
      }
    }
    const uint64_t all = *info_.percpu_bytes;
    if (areas < all) {
      add(PerCpu, "- made at boot", "vmallocinfo",
          minus(0, as_signed(all - areas)));
    } else {
      at(PerCpu).remark = "with a part made at boot, which is in wired too";
    }
  }

  void account_pools() {
    using enum SystemColumn;
    if (kernel_.sockets) {
      const model::SocketMemory& s = *kernel_.sockets;
      if (s.tcp_pages || s.udp_pages) {
        if (s.tcp_pages) {
          add(Sockets, "TCP mem", "net/sockstat",
              as_signed(pages(*s.tcp_pages)));
        }
        if (s.udp_pages) {
          add(Sockets, "UDP mem", "net/sockstat",
              as_signed(pages(*s.udp_pages)));
        }
        if (s.fragment_bytes) {
          add(Sockets, "FRAG memory", "net/sockstat",
              as_signed(*s.fragment_bytes));
        }
        at(Sockets).remark =
            "as charged; small buffers lie in slab. Pipes are in other";
      } else {
        drop(Sockets, "net/sockstat tells no memory");
      }
    } else {
      drop(Sockets, kernel_.sockets.unknown_because);
    }
    add_required(HugeTlb, "Hugetlb", info_.hugetlb_bytes);
    account_compressed();
  }

  // zsmalloc serves both; older zswap may use another allocator, which only its
  // own line counts. So the larger of the two views holds all.
  void account_compressed() {
    using enum SystemColumn;
    std::optional<uint64_t> by_pages;
    if (kernel_.counters && kernel_.counters->zsmalloc_pages) {
      by_pages = pages(*kernel_.counters->zsmalloc_pages);
    }
    const uint64_t zram = machine_.zram ? machine_.zram->memory_bytes : 0;
    if (!by_pages && !info_.zswap_bytes && !machine_.zram) {
      drop(Compressed, "neither vmstat nor meminfo counts it");
      return;
    }
    const uint64_t by_users = zram + info_.zswap_bytes.value_or(0);
    if (by_pages && *by_pages >= by_users) {
      add(Compressed, "nr_zspages", kVmStat, as_signed(*by_pages));
      return;
    }
    if (machine_.zram) {
      add(Compressed, "mm_stat of zram", "sys/block", as_signed(zram));
    }
    add_if_told(Compressed, "Zswap", info_.zswap_bytes);
    if (!by_pages && !machine_.zram) {
      at(Compressed).remark = "zram, where there is any, is in other";
    }
  }

  Reading<uint64_t> ram() const {
    if (!kernel_.iomem) {
      return model::unknown<uint64_t>(kernel_.iomem.unknown_because);
    }
    if (kernel_.iomem->addresses == model::AddressForm::Hidden) {
      return model::unknown<uint64_t>(
          "denied: the addresses in iomem are hidden without CAP_SYS_ADMIN");
    }
    const uint64_t bytes =
        model::system_ram_bytes(*kernel_.iomem, page_bytes_).value_or(0);
    if (bytes < *info_.total_bytes) {
      return model::unknown<uint64_t>("iomem lists less RAM than MemTotal");
    }
    return model::known(bytes);
  }

  void account_total() {
    using enum SystemColumn;
    const uint64_t mem_total = *info_.total_bytes;
    const Reading<uint64_t> all = ram();
    const bool is_known = all.value.has_value();
    const uint64_t total = all.value.value_or(mem_total);
    const uint64_t ballooned = account_balloon(total - mem_total, is_known);
    report_.total_bytes = total;
    report_.total_source =
        is_known ? "System RAM in iomem" : "MemTotal in meminfo";
    if (is_known) {
      add(Wired, "System RAM", "iomem", as_signed(total));
      add(Wired, "- MemTotal", kMemInfo, minus(0, as_signed(mem_total)));
      if (ballooned > 0) {
        add(Wired, "- balloon", kVmStat, minus(0, as_signed(ballooned)));
      }
      note_page_structs();
    } else {
      drop(Wired, all.unknown_because + "; it is outside the total");
    }
    report_.other_bytes = minus(as_signed(total), sum_of_columns());
    // By construction, and for whoever changes it.
    assert(plus(sum_of_columns(), report_.other_bytes) == as_signed(total));
  }

  // What the host has taken back is taken out of MemTotal too, unless the
  // balloon gives way when memory is short. Only then is there room for it
  // among what the other columns leave of MemTotal.
  // Returns what of it lies outside MemTotal.
  uint64_t account_balloon(uint64_t outside, bool knows_outside) {
    using enum SystemColumn;
    if (!kernel_.counters || !kernel_.counters->balloon_pages) {
      drop(Balloon, kernel_.counters
                        ? "this kernel does not count it; it is in wired "
                          "or other"
                        : kernel_.counters.unknown_because);
      return 0;
    }
    const uint64_t bytes = pages(*kernel_.counters->balloon_pages);
    const int64_t left = minus(as_signed(*info_.total_bytes), sum_of_columns());
    const bool is_inside = left >= 0 && static_cast<uint64_t>(left) >= bytes;
    if (bytes > 0 && !is_inside && !knows_outside) {
      drop(Balloon, "taken out of MemTotal; it is outside the total");
      return 0;
    }
    add(Balloon, "nr_balloon_pages", kVmStat, as_signed(bytes));
    return is_inside ? 0 : std::min(bytes, outside);
  }

  void note_page_structs() {
    if (!kernel_.counters || !kernel_.counters->memmap_boot_pages) return;
    const uint64_t bytes = pages(*kernel_.counters->memmap_boot_pages);
    at(SystemColumn::Wired).remark =
        "page structs alone: " + base::short_size(bytes) +
        " (nr_memmap_boot_pages in vmstat)";
  }

  int64_t sum_of_columns() const {
    int64_t sum = 0;
    for (const SystemValue& value : report_.columns) {
      sum = plus(sum, value.bytes.value.value_or(0));
    }
    return sum;
  }

  const model::Machine& machine_;
  const model::MemInfo& info_;
  uint64_t page_bytes_;
  const model::KernelReadings& kernel_;
  SystemReport report_;
};

}  // namespace

const SystemColumnName& system_column_name(SystemColumn column) {
  return kNames[static_cast<size_t>(column)];
}

model::Category system_column_category(SystemColumn column) {
  using enum SystemColumn;
  using model::Category;
  switch (column) {
    case Free:
    case FreePerCpu:
    case FreeUninitialised:
      return Category::Free;
    case Anon:
      return Category::Anon;
    case File:
      return Category::File;
    case Shmem:
      return Category::Shm;
    case SlabUsed:
    case SlabSlack:
      return Category::Slab;
    case PageTables:
      return Category::Ptab;
    case Stacks:
    case Vmalloc:
    case PerCpu:
    case Sockets:
      return Category::Kern;
    case HugeTlb:
      return Category::Huge;
    case Compressed:
      return Category::Swap;
    case Balloon:
    case Wired:
      break;
  }
  return Category::Wired;
}

std::optional<SystemReport> make_system_report(const model::Sample& sample) {
  if (!sample.machine || !sample.machine->meminfo.total_bytes ||
      !sample.machine->meminfo.free_bytes) {
    return std::nullopt;
  }
  return Account(sample).make();
}

std::vector<std::pair<std::string, std::string>> unknown_columns(
    const SystemReport& report) {
  std::vector<std::pair<std::string, std::string>> unknown;
  for (size_t i = 0; i < kSystemColumnCount; ++i) {
    if (report.columns[i].bytes) continue;
    unknown.emplace_back(kNames[i].token,
                         report.columns[i].bytes.unknown_because);
  }
  return unknown;
}

}  // namespace tidemark::analysis
