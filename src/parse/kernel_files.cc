#include "parse/kernel_files.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "parse/malformed.h"

namespace tidemark::parse {
namespace {

using base::parse_hex;
using base::parse_u64;
using base::take_word;
using model::AddressForm;
using model::PageCounters;
using model::SlabCache;
using model::VmallocArea;
using model::VmallocKind;

// "0x00000000a68ef3b4", and "0x(____ptrval____)" while the kernel has too
// little entropy to hash: no address, and not an error either.
bool take_address(std::string_view word, std::optional<uint64_t>& address) {
  if (!word.starts_with("0x")) return false;
  word.remove_prefix(2);
  if (word == "(____ptrval____)" || word == "(ptrval)") return true;
  address = parse_hex(word);
  return address.has_value();
}

struct KindWord {
  std::string_view word;
  VmallocKind kind;
};
constexpr KindWord kKindWords[] = {
    {"ioremap", VmallocKind::Ioremap},
    {"sparse", VmallocKind::Sparse},
    {"vmalloc", VmallocKind::Vmalloc},
    {"vmap", VmallocKind::Vmap},
    {"vm_map_ram", VmallocKind::VmMapRam},
    // Only where nothing else tells the kind: it stands beside vmap.
    {"dma-coherent", VmallocKind::DmaCoherent},
};

// False: not one of the words the kernel adds after the caller.
bool take_kind(std::string_view word, VmallocArea& area) {
  if (word == "user") return area.is_user = true;
  if (word == "vpages") return area.has_vpages = true;
  for (const KindWord& known : kKindWords) {
    if (known.word != word) continue;
    if (area.kind == VmallocKind::Other) area.kind = known.kind;
    return true;
  }
  return false;
}

base::Result<VmallocArea> parse_area(std::string_view line) {
  const auto refuse = [&] { return malformed("vmallocinfo", line); };
  std::string_view rest = line;
  VmallocArea area;
  std::string_view range = take_word(rest);
  if (!take_address(base::take_until(range, '-'), area.start) ||
      !take_address(range, area.end)) {
    return refuse();
  }
  std::optional<uint64_t> size = parse_u64(take_word(rest));
  if (!size) return refuse();
  area.size_bytes = *size;
  if (base::trim(rest) == "unpurged vm_area") {
    area.kind = VmallocKind::Unpurged;
    return area;
  }
  bool may_be_caller = true;  // a caller stands first or not at all
  for (std::string_view word = take_word(rest); !word.empty();
       word = take_word(rest)) {
    if (word.starts_with("pages=")) {
      area.pages = parse_u64(word.substr(6));
      if (!area.pages) return refuse();
    } else if (word.starts_with("phys=")) {
      // Older kernels leave out the 0x.
      std::string_view digits = word.substr(5);
      if (digits.starts_with("0x")) digits.remove_prefix(2);
      area.phys = parse_hex(digits);
      if (!area.phys) return refuse();
    } else if (!take_kind(word, area)) {
      // "[module]" and a build id belong to the caller before them.
      if (may_be_caller) {
        area.caller += (area.caller.empty() ? "" : " ") + std::string(word);
        continue;
      }
    }
    may_be_caller = false;
  }
  return area;
}

AddressForm form_of(const std::vector<VmallocArea>& areas) {
  bool all_zero = !areas.empty();
  for (const VmallocArea& area : areas) {
    if (!area.start || !area.end) return AddressForm::Hashed;
    all_zero = all_zero && *area.start == 0 && *area.end == 0;
  }
  if (all_zero) return AddressForm::Hidden;
  // A hash keeps no distances; a real range is as long as it says.
  const bool fits =
      std::all_of(areas.begin(), areas.end(), [](const VmallocArea& area) {
        return *area.end > *area.start &&
               *area.end - *area.start == area.size_bytes;
      });
  return fits ? AddressForm::Real : AddressForm::Hashed;
}

std::string_view take_last_word(std::string_view& rest) {
  rest = base::trim(rest);
  const size_t at = rest.find_last_of(" \t");
  const size_t begin = at == std::string_view::npos ? 0 : at + 1;
  const std::string_view word = rest.substr(begin);
  rest = rest.substr(0, begin);
  return word;
}

// "name active objects size per_slab pages : tunables … : slabdata active
// slabs shared". The name is what is left when the numbers are taken from the
// end.
base::Result<SlabCache> parse_cache(std::string_view line) {
  const auto refuse = [&] { return malformed("slabinfo", line); };
  constexpr std::string_view kTunables = " : tunables ";
  constexpr std::string_view kSlabData = " : slabdata ";
  const size_t tunables = line.rfind(kTunables);
  const size_t slab_data = line.rfind(kSlabData);
  if (tunables == std::string_view::npos ||
      slab_data == std::string_view::npos || slab_data < tunables) {
    return refuse();
  }
  SlabCache cache;
  const auto take = [](std::string_view word, uint64_t& target) {
    std::optional<uint64_t> number = parse_u64(word);
    if (number) target = *number;
    return number.has_value();
  };
  std::string_view rest = line.substr(slab_data + kSlabData.size());
  if (!take(take_word(rest), cache.active_slabs) ||
      !take(take_word(rest), cache.slabs)) {
    return refuse();
  }
  rest = line.substr(0, tunables);
  if (!take(take_last_word(rest), cache.pages_per_slab) ||
      !take(take_last_word(rest), cache.objects_per_slab) ||
      !take(take_last_word(rest), cache.object_bytes) ||
      !take(take_last_word(rest), cache.objects) ||
      !take(take_last_word(rest), cache.active_objects)) {
    return refuse();
  }
  cache.name = base::trim(rest);
  if (cache.name.empty()) return refuse();
  return cache;
}

base::Result<model::KernelModule> parse_module(std::string_view line) {
  std::string_view rest = line;
  model::KernelModule module;
  module.name = take_word(rest);
  std::optional<uint64_t> size = parse_u64(take_word(rest));
  take_word(rest);  // users
  take_word(rest);  // their names
  take_word(rest);  // Live, Loading, Unloading
  const std::string_view address = take_word(rest);
  if (module.name.empty() || !size || !take_address(address, module.address)) {
    return malformed("modules", line);
  }
  if (module.address == 0U) module.address.reset();
  module.size_bytes = *size;
  return module;
}

constexpr std::string_view kSectionSymbols[] = {
    "_text",           "_stext",        "_etext",      "__start_rodata",
    "_sdata",          "__end_rodata",  "_edata",      "__init_begin",
    "__init_end",      "_sinittext",    "_einittext",  "__bss_start",
    "__bss_stop",      "__brk_base",    "__brk_limit", "_end",
    "__per_cpu_start", "__per_cpu_end",
};

struct CounterLine {
  std::string_view label;
  std::optional<uint64_t> PageCounters::*target;
};
constexpr CounterLine kCounterLines[] = {
    {"nr_inactive_anon", &PageCounters::inactive_anon_pages},
    {"nr_active_anon", &PageCounters::active_anon_pages},
    {"nr_inactive_file", &PageCounters::inactive_file_pages},
    {"nr_active_file", &PageCounters::active_file_pages},
    {"nr_unevictable", &PageCounters::unevictable_pages},
    {"nr_isolated_anon", &PageCounters::isolated_anon_pages},
    {"nr_isolated_file", &PageCounters::isolated_file_pages},
    {"nr_zspages", &PageCounters::zsmalloc_pages},
    {"nr_balloon_pages", &PageCounters::balloon_pages},
    {"nr_memmap_boot_pages", &PageCounters::memmap_boot_pages},
    {"nr_memmap_pages", &PageCounters::memmap_pages},
};

}  // namespace

base::Result<model::IoMemory> parse_iomem(std::string_view text) {
  model::IoMemory iomem;
  bool all_zero = true;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view rest = line;
    model::IoResource resource;
    for (; rest.starts_with("  "); rest.remove_prefix(2))
      ++resource.depth;
    const size_t colon = rest.find(" : ");
    if (colon == std::string_view::npos) return malformed("iomem", line);
    std::string_view range = rest.substr(0, colon);
    std::optional<uint64_t> first = parse_hex(base::take_until(range, '-'));
    std::optional<uint64_t> last = parse_hex(range);
    if (!first || !last || *last < *first) return malformed("iomem", line);
    resource.first = *first;
    resource.last = *last;
    resource.name = rest.substr(colon + 3);
    all_zero = all_zero && *first == 0 && *last == 0;
    iomem.resources.push_back(std::move(resource));
  }
  if (all_zero) iomem.addresses = AddressForm::Hidden;
  return iomem;
}

base::Result<model::VmallocInfo> parse_vmallocinfo(std::string_view text) {
  model::VmallocInfo info;
  while (!text.empty()) {
    base::Result<VmallocArea> area = parse_area(base::take_line(text));
    if (!area) return area.error();
    info.areas.push_back(std::move(*area));
  }
  info.addresses = form_of(info.areas);
  return info;
}

base::Result<std::vector<SlabCache>> parse_slabinfo(std::string_view text) {
  const std::string_view head = base::take_line(text);
  if (!head.starts_with("slabinfo - version: 2.")) {
    return malformed("slabinfo", head);
  }
  std::vector<SlabCache> caches;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    if (line.starts_with('#')) continue;
    base::Result<SlabCache> cache = parse_cache(line);
    if (!cache) return cache.error();
    caches.push_back(std::move(*cache));
  }
  return caches;
}

base::Result<model::SocketMemory> parse_sockstat(std::string_view text) {
  model::SocketMemory memory;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view rest = line;
    const std::string_view protocol = base::take_until(rest, ':');
    const bool is_fragments = protocol == "FRAG" || protocol == "FRAG6";
    std::optional<uint64_t>* target = is_fragments ? &memory.fragment_bytes
                                      : protocol == "TCP" ? &memory.tcp_pages
                                      : protocol == "UDP" ? &memory.udp_pages
                                                          : nullptr;
    if (target == nullptr) continue;
    const std::string_view label = is_fragments ? "memory" : "mem";
    for (std::string_view word = take_word(rest); !word.empty();
         word = take_word(rest)) {
      const std::string_view value = take_word(rest);
      if (word != label) continue;
      std::optional<uint64_t> number = parse_u64(value);
      const uint64_t sum = target->value_or(0) + number.value_or(0);
      if (!number || sum < *number) return malformed("sockstat", line);
      *target = sum;
    }
  }
  return memory;
}

base::Result<std::vector<model::KernelModule>> parse_modules(
    std::string_view text) {
  std::vector<model::KernelModule> modules;
  while (!text.empty()) {
    base::Result<model::KernelModule> module =
        parse_module(base::take_line(text));
    if (!module) return module.error();
    modules.push_back(std::move(*module));
  }
  return modules;
}

base::Result<model::KernelSymbols> parse_section_symbols(
    std::string_view text) {
  model::KernelSymbols symbols;
  bool all_zero = true;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view rest = line;
    const std::string_view address = take_word(rest);
    take_word(rest);  // type
    // Those of modules and BPF programs have a tab and a bracket behind them.
    const std::string_view name = rest.empty() ? rest : base::trim(rest);
    if (std::find(std::begin(kSectionSymbols), std::end(kSectionSymbols),
                  name) == std::end(kSectionSymbols)) {
      continue;
    }
    std::optional<uint64_t> number = parse_hex(address);
    if (!number) return malformed("kallsyms", line);
    all_zero = all_zero && *number == 0;
    symbols.sections.push_back({std::string(name), *number});
  }
  if (all_zero) symbols.addresses = AddressForm::Hidden;
  return symbols;
}

base::Result<PageCounters> parse_page_counters(std::string_view text) {
  PageCounters counters;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view rest = line;
    const std::string_view label = take_word(rest);
    for (const CounterLine& known : kCounterLines) {
      if (label != known.label) continue;
      std::optional<uint64_t> pages = parse_u64(base::trim(rest));
      if (!pages) return malformed("vmstat", line);
      counters.*known.target = pages;
    }
  }
  return counters;
}

base::Result<model::KernelSpace> parse_kernel_space(std::string_view text) {
  model::KernelSpace space;
  while (!text.empty()) {
    const std::string_view line = base::take_line(text);
    std::string_view rest = line;
    const std::string_view label = base::take_until(rest, ':');
    std::optional<uint64_t>* target =
        label == "VmallocTotal"          ? &space.vmalloc_total_bytes
        : label.starts_with("DirectMap") ? &space.direct_map_bytes
                                         : nullptr;
    if (target == nullptr) continue;
    std::optional<uint64_t> bytes = base::parse_kib(rest);
    const uint64_t sum = target->value_or(0) + bytes.value_or(0);
    if (!bytes || sum < *bytes) return malformed("meminfo", line);
    *target = sum;
  }
  return space;
}

}  // namespace tidemark::parse
