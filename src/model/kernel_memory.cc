#include "model/kernel_memory.h"

#include <algorithm>

namespace tidemark::model {

bool is_system_ram(const IoResource& resource) {
  return resource.name == "System RAM" ||
         resource.name.starts_with("System RAM (");
}

std::optional<uint64_t> system_ram_bytes(const IoMemory& iomem,
                                         uint64_t page_size_bytes) {
  if (iomem.addresses != AddressForm::Real) return std::nullopt;
  uint64_t pages = 0;
  // Below which a line of RAM is a part of RAM already counted.
  constexpr uint32_t kOutside = UINT32_MAX;
  uint32_t inside = kOutside;
  for (const IoResource& resource : iomem.resources) {
    if (resource.depth <= inside) inside = kOutside;
    if (inside != kOutside || !is_system_ram(resource)) continue;
    inside = resource.depth;
    const uint64_t first =
        resource.first / page_size_bytes +
        static_cast<uint64_t>(resource.first % page_size_bytes != 0);
    // One past the last, said without a sum that could overflow.
    const uint64_t end =
        resource.last / page_size_bytes +
        static_cast<uint64_t>(resource.last % page_size_bytes ==
                              page_size_bytes - 1);
    if (end > first) pages += end - first;
  }
  if (pages == 0) return std::nullopt;
  return pages * page_size_bytes;
}

std::optional<uint64_t> find_symbol(const KernelSymbols& symbols,
                                    std::string_view name) {
  const auto found = std::find_if(
      symbols.sections.begin(), symbols.sections.end(),
      [&](const KernelSymbol& symbol) { return symbol.name == name; });
  if (found == symbols.sections.end()) return std::nullopt;
  return found->address;
}

}  // namespace tidemark::model
