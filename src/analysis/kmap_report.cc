#include "analysis/kmap_report.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tidemark::analysis {
namespace {

using model::AddressForm;
using model::IoResource;
using model::KernelModule;
using model::Reading;
using model::VmallocArea;
using model::VmallocKind;

constexpr char kNotTold[] = "no segment of kcore looks like it";

// "kernel_clone+0x94/0x3e0" to "kernel_clone", and
// "load+0x1/0x2 [xfs 0123abcd]" to "load [xfs]": one function asks from many
// places, and one line for each would hide how much it is.
std::string function_of(const std::string& caller) {
  const size_t plus = caller.find('+');
  const size_t bracket = caller.find(" [");
  std::string name = caller.substr(0, std::min(plus, bracket));
  if (bracket == std::string::npos) return name;
  const size_t end = caller.find_first_of(" ]", bracket + 2);
  return name + caller.substr(bracket, end - bracket) + "]";
}

std::vector<KmapGroup> group_areas(const std::vector<VmallocArea>& areas,
                                   uint64_t page_bytes) {
  std::map<std::pair<std::string, VmallocKind>, KmapGroup> by_caller;
  for (const VmallocArea& area : areas) {
    const std::string caller = function_of(area.caller);
    KmapGroup& group = by_caller[{caller, area.kind}];
    group.caller = caller;
    group.kind = area.kind;
    ++group.count;
    group.size_bytes += area.size_bytes;
    if (area.pages) {
      group.memory_bytes =
          group.memory_bytes.value_or(0) + *area.pages * page_bytes;
    }
  }
  std::vector<KmapGroup> groups;
  groups.reserve(by_caller.size());
  for (auto& [key, group] : by_caller)
    groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, std::greater(), [](const KmapGroup& group) {
    return std::tuple(group.memory_bytes.value_or(0), group.size_bytes);
  });
  return groups;
}

// Where a part of the image begins and ends, in kallsyms and in iomem.
struct Section {
  std::string_view name;
  std::string_view first;
  std::string_view end;
  std::string_view resource;
};
constexpr Section kSections[] = {
    {"text", "_text", "_etext", "Kernel code"},
    {"rodata", "__start_rodata", "__end_rodata", "Kernel rodata"},
    {"data", "_sdata", "_edata", "Kernel data"},
    {"bss", "__bss_start", "__bss_stop", "Kernel bss"},
};

class Maker {
 public:
  explicit Maker(KmapInput input) : input_(std::move(input)) {}

  KmapReport make() {
    report_.realtime_ns = input_.realtime_ns;
    report_.read_ns = input_.read_ns;
    report_.page_size_bytes = input_.page_size_bytes;
    if (input_.iomem) {
      report_.ram_bytes =
          model::system_ram_bytes(*input_.iomem, input_.page_size_bytes);
    }
    find_places();
    add_direct_map();
    add_vmalloc();
    add_page_structs();
    add_image();
    add_modules();
    note_physical();
    report_.physical = std::move(input_.iomem);
    std::ranges::stable_sort(report_.regions, {}, [](const KmapRegion& region) {
      return region.range ? region.range->start : 0;
    });
    return std::move(report_);
  }

 private:
  KmapRegion& add(std::string_view token, std::string_view name) {
    KmapRegion region;
    region.token = token;
    region.name = name;
    report_.regions.push_back(std::move(region));
    return report_.regions.back();
  }
  template <typename T, typename Field>
  static Reading<uint64_t> field(const Reading<T>& from, Field T::*member,
                                 const char* name) {
    if (!from) return model::unknown<uint64_t>(from.unknown_because);
    const std::optional<uint64_t>& value = (*from).*member;
    if (value) return model::known(*value);
    return model::unknown<uint64_t>("this kernel tells no " +
                                    std::string(name));
  }

  // Where the regions begin is drawn at boot (KASLR), and the headers of kcore
  // alone give it away.
  void find_places() {
    if (input_.segments) {
      layout_ = find_layout(
          *input_.segments,
          input_.space ? input_.space->vmalloc_total_bytes : std::nullopt,
          input_.page_size_bytes);
      no_place_ = kNotTold;
      return;
    }
    no_place_ = input_.segments.unknown_because.empty()
                    ? "it was not read"
                    : input_.segments.unknown_because;
    report_.notes.push_back(
        "where the direct map, vmalloc and the page structs begin is drawn at "
        "boot, and /proc/kcore tells it: " +
        no_place_ +
        "; it takes CAP_SYS_RAWIO, and a kernel built with PROC_KCORE that is "
        "not locked down");
  }

  // All of RAM at one address after the other.
  void add_direct_map() {
    KmapRegion& region = add("direct_map", "direct map of all RAM");
    region.range = layout_.direct_map;
    region.range_unknown_because = no_place_;
    region.size_bytes =
        field(input_.space, &model::KernelSpace::direct_map_bytes, "DirectMap");
    region.is_view = true;
    region.memory_bytes = model::known<uint64_t>(0);
  }

  void add_vmalloc() {
    KmapRegion& region = add("vmalloc", "vmalloc");
    region.range = layout_.vmalloc;
    region.size_bytes = field(
        input_.space, &model::KernelSpace::vmalloc_total_bytes, "VmallocTotal");
    region.memory_bytes =
        input_.meminfo.vmalloc_used_bytes
            ? model::known(*input_.meminfo.vmalloc_used_bytes)
            : model::unknown<uint64_t>("this kernel tells no VmallocUsed");
    if (!input_.vmalloc) {
      region.range_unknown_because = input_.vmalloc.unknown_because;
      report_.notes.push_back("the areas of vmalloc are unknown: " +
                              input_.vmalloc.unknown_because);
      return;
    }
    model::VmallocInfo& info = *input_.vmalloc.value;
    report_.groups = group_areas(info.areas, input_.page_size_bytes);
    report_.area_addresses = info.addresses;
    region.range_unknown_because =
        "the region's own bounds are told nowhere; its areas are below";
    if (info.addresses != AddressForm::Real) {
      region.range_unknown_because =
          info.addresses == AddressForm::Hashed
              ? "the addresses of its areas are hashed"
              : "the addresses of its areas are hidden";
      report_.notes.push_back(
          std::string(info.addresses == AddressForm::Hashed
                          ? "the addresses in vmallocinfo are hashed"
                          : "the addresses in vmallocinfo are hidden") +
          "; with kernel.kptr_restrict=1 and CAP_SYSLOG they are real");
    }
    if (input_.meminfo.vmalloc_used_bytes) {
      uint64_t pages = 0;
      for (const VmallocArea& area : info.areas) {
        if (area.kind == VmallocKind::Vmalloc) {
          pages += area.pages.value_or(0);
        }
      }
      report_.vmalloc_residue_bytes = static_cast<int64_t>(
          *input_.meminfo.vmalloc_used_bytes - pages * input_.page_size_bytes);
    }
    report_.areas = std::move(info.areas);
  }

  void add_page_structs() {
    KmapRegion& region = add("vmemmap", "page structs (vmemmap)");
    region.range = layout_.page_structs;
    region.range_unknown_because = no_place_;
    region.size_bytes = region.range ? model::known(layout_.page_struct_bytes)
                                     : model::unknown<uint64_t>(no_place_);
    region.memory_bytes =
        field(input_.counters, &model::PageCounters::memmap_boot_pages,
              "nr_memmap_boot_pages");
    if (!region.memory_bytes) return;
    // Those of memory that was plugged in later are counted apart.
    const uint64_t later = input_.counters->memmap_pages.value_or(0);
    *region.memory_bytes.value += later;
    *region.memory_bytes.value *= input_.page_size_bytes;
  }

  std::optional<uint64_t> symbol(std::string_view name) const {
    if (!input_.symbols || input_.symbols->addresses == AddressForm::Hidden) {
      return std::nullopt;
    }
    return model::find_symbol(*input_.symbols, name);
  }
  const IoResource* resource(std::string_view name) const {
    if (!input_.iomem || input_.iomem->addresses == AddressForm::Hidden) {
      return nullptr;
    }
    for (const IoResource& candidate : input_.iomem->resources) {
      if (candidate.name == name) return &candidate;
    }
    return nullptr;
  }

  // Symbols first. Kernels that keep no data symbols still list the parts in
  // iomem, and the image is mapped in one piece: the distance from the code is
  // the same in both.
  std::optional<KmapPart> section(const Section& section) const {
    const std::optional<uint64_t> first = symbol(section.first);
    const std::optional<uint64_t> end = symbol(section.end);
    KmapPart part;
    part.name = section.name;
    if (first && end && *end > *first) {
      part.range = AddressRange{*first, *end};
      part.size_bytes = *end - *first;
      return part;
    }
    const IoResource* own = resource(section.resource);
    if (own == nullptr || own->last == UINT64_MAX) return std::nullopt;
    part.size_bytes = own->last + 1 - own->first;
    const IoResource* code = resource("Kernel code");
    const std::optional<uint64_t> text = symbol("_text");
    if (code != nullptr && text && own->first >= code->first) {
      const uint64_t start = *text + (own->first - code->first);
      part.range = AddressRange{start, start + part.size_bytes};
    }
    return part;
  }

  void add_image() {
    KmapRegion& region = add("image", "kernel image");
    uint64_t sum = 0;
    for (const Section& known : kSections) {
      std::optional<KmapPart> part = section(known);
      if (!part) continue;
      sum += part->size_bytes;
      if (part->range) {
        if (!region.range) region.range = part->range;
        region.range->start = std::min(region.range->start, part->range->start);
        region.range->end = std::max(region.range->end, part->range->end);
      }
      region.parts.push_back(std::move(*part));
    }
    const std::string hidden = input_.symbols
                                   ? "denied: kallsyms hides its addresses"
                                   : input_.symbols.unknown_because;
    if (region.parts.empty()) {
      region.size_bytes = model::unknown<uint64_t>(hidden);
      region.memory_bytes = model::unknown<uint64_t>(hidden);
    } else {
      region.size_bytes = model::known(
          region.range ? region.range->end - region.range->start : sum);
      region.memory_bytes = model::known(sum);
    }
    if (region.range) return;
    region.range_unknown_because = hidden;
    report_.notes.push_back(
        "where the kernel image lies is unknown: " + hidden +
        (input_.symbols ? "; CAP_SYSLOG shows them unless kernel.kptr_restrict "
                          "is 2"
                        : ""));
  }

  void add_modules() {
    KmapRegion& region = add("modules", "modules");
    if (!input_.modules) {
      region.range_unknown_because = input_.modules.unknown_because;
      report_.notes.push_back(
          "modules are unknown: " + input_.modules.unknown_because +
          "; a kernel built without them has no such file");
      region.size_bytes =
          model::unknown<uint64_t>(region.range_unknown_because);
      region.memory_bytes =
          model::unknown<uint64_t>(region.range_unknown_because);
      return;
    }
    uint64_t sum = 0;
    for (const KernelModule& module : *input_.modules) {
      KmapPart part{module.name, {}, module.size_bytes};
      sum += module.size_bytes;
      if (module.address && *module.address <= UINT64_MAX - part.size_bytes) {
        part.range =
            AddressRange{*module.address, *module.address + part.size_bytes};
        if (!region.range) region.range = part.range;
        region.range->start = std::min(region.range->start, part.range->start);
        region.range->end = std::max(region.range->end, part.range->end);
      }
      region.parts.push_back(std::move(part));
    }
    std::ranges::stable_sort(region.parts, std::greater(),
                             &KmapPart::size_bytes);
    region.size_bytes = model::known(
        region.range ? region.range->end - region.range->start : sum);
    // Their memory is vmalloc'ed and counted there.
    region.is_view = true;
    region.memory_bytes = model::known<uint64_t>(0);
    if (!region.range) {
      region.range_unknown_because = region.parts.empty()
                                         ? "no module is loaded"
                                         : "modules hides its addresses";
    }
  }

  void note_physical() {
    if (!input_.iomem) {
      report_.notes.push_back("the physical map is unknown: " +
                              input_.iomem.unknown_because);
    } else if (input_.iomem->addresses == AddressForm::Hidden) {
      report_.notes.emplace_back(
          "iomem hides its addresses: CAP_SYS_ADMIN shows them");
    }
  }

  KmapInput input_;
  KernelLayout layout_;
  std::string no_place_;  // why the layout lacks something
  KmapReport report_;
};

}  // namespace

std::string_view vmalloc_kind_token(VmallocKind kind) {
  switch (kind) {
    case VmallocKind::Vmalloc:
      return "vmalloc";
    case VmallocKind::Vmap:
      return "vmap";
    case VmallocKind::Ioremap:
      return "ioremap";
    case VmallocKind::VmMapRam:
      return "vm_map_ram";
    case VmallocKind::DmaCoherent:
      return "dma_coherent";
    case VmallocKind::Sparse:
      return "sparse";
    case VmallocKind::Unpurged:
      return "unpurged";
    case VmallocKind::Other:
      break;
  }
  return "other";
}

KmapReport make_kmap_report(KmapInput input) {
  return Maker(std::move(input)).make();
}

}  // namespace tidemark::analysis
