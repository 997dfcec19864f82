#include "source/bpf/known_page.h"

#include <bpf/known_page.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace tidemark::source {
namespace {

// Of a page at that address of ours; 0 when it is hidden.
uint64_t frame_at(const void* address, size_t page_size) {
  const base::Fd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  const auto index = reinterpret_cast<uintptr_t>(address) / page_size;
  uint64_t entry = 0;
  if (::pread(pagemap.get(), &entry, sizeof entry,
              static_cast<off_t>(index * sizeof entry)) != sizeof entry) {
    return 0;
  }
  constexpr uint64_t kFrameMask = (uint64_t{1} << 55) - 1;
  return entry & kFrameMask;
}

}  // namespace

base::Error page_structs_are_strange() {
  return base::fail(base::ErrorKind::Unsupported,
                    "this kernel's page structs are not one array");
}

base::Result<KnownPage> KnownPage::make() {
  const auto page_size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  KnownPage page;
  page.file_ = base::Fd(::memfd_create("tidemark", MFD_CLOEXEC));
  if (!page.file_) return base::fail_errno("memfd_create", errno);
  if (::ftruncate(page.file_.get(), static_cast<off_t>(page_size)) != 0) {
    return base::fail_errno("ftruncate", errno);
  }
  void* at = ::mmap(nullptr, page_size, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_POPULATE, page.file_.get(), 0);
  if (at == MAP_FAILED) return base::fail_errno("mmap", errno);
  *static_cast<volatile char*>(at) = 1;
  page.frame_ = frame_at(at, page_size);
  ::munmap(at, page_size);
  if (page.frame_ != 0) return page;
  return base::fail(base::ErrorKind::Denied,
                    "/proc/self/pagemap hides the page's frame",
                    "it needs CAP_SYS_ADMIN");
}

base::Result<uint64_t> KnownPage::array_address(
    const tm_known_page& found) const {
  constexpr uint64_t kKernelHalf = uint64_t{1} << 63;
  // Low bits set: the entry of a tree that is not one page.
  if (found.address < kKernelHalf || found.address % 4 != 0 ||
      found.page_struct_bytes == 0) {
    return page_structs_are_strange();
  }
  return found.address - frame_ * found.page_struct_bytes;
}

}  // namespace tidemark::source
