#include "base/own_code.h"

#include <link.h>
#include <sys/mman.h>

#include "base/page_size.h"

namespace tidemark::base {

// Of executable segments alone: nothing was ever written to them, while the
// loader has changed pages of data that are read-only since.
void release_own_code() {
  const auto release = [](dl_phdr_info* info, size_t, void*) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 ||
          (segment.p_flags & PF_W) != 0) {
        continue;
      }
      const uint64_t page = page_bytes();
      const uint64_t first = info->dlpi_addr + segment.p_vaddr;
      const uint64_t start = first / page * page;
      const uint64_t end = first + segment.p_memsz;
      // It is advice: a kernel that will not take it costs some memory.
      static_cast<void>(
          // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses of segments
          ::madvise(reinterpret_cast<void*>(start), end - start,
                    MADV_DONTNEED));
    }
    return 1;  // the program comes first, and is all we want
  };
  ::dl_iterate_phdr(release, nullptr);
}

}  // namespace tidemark::base
