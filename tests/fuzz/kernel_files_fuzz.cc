// The files of the kernel's own memory: every parser reads every text.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parse/kernel_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace)
  const std::string text(data, data + size);
  base::Result<model::IoMemory> iomem = parse::parse_iomem(text);
  if (iomem) {
    for (const model::IoResource& resource : iomem->resources) {
      if (resource.last < resource.first) std::abort();
    }
    (void)model::system_ram_bytes(*iomem, 4096);
  }
  base::Result<model::VmallocInfo> vmalloc = parse::parse_vmallocinfo(text);
  if (vmalloc && vmalloc->addresses == model::AddressForm::Real) {
    for (const model::VmallocArea& area : vmalloc->areas) {
      if (*area.end - *area.start != area.size_bytes) std::abort();
    }
  }
  base::Result<std::vector<model::SlabCache>> caches =
      parse::parse_slabinfo(text);
  if (caches) {
    for (const model::SlabCache& cache : *caches) {
      if (cache.name.empty()) std::abort();
    }
  }
  (void)parse::parse_sockstat(text);
  (void)parse::parse_modules(text);
  (void)parse::parse_section_symbols(text);
  (void)parse::parse_page_counters(text);
  (void)parse::parse_kernel_space(text);
  return 0;
}
