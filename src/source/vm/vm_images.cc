#include "source/vm/vm_images.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/page_size.h"
#include "source/object_sizes.h"
#include "source/process_parts.h"
#include "source/vm/vm_descriptors.h"

namespace tidemark::source {
namespace {

using FileNumber = std::tuple<uint32_t, uint32_t, uint64_t>;

constexpr uint64_t kLeastImageBytes = uint64_t{16} << 20;

// memfds are guest RAM or buffers, not disks.
bool could_be_image(const FoundDescriptor& found) {
  return found.target && S_ISREG(found.target->mode) &&
         found.target->size_bytes >= kLeastImageBytes &&
         !found.link.starts_with("/memfd:");
}

base::Result<uint64_t> cached_bytes(const base::Fd& lender, uint32_t number) {
  if (!lender) return base::fail_errno("pidfd_open", errno);
  const base::Fd fd(static_cast<int>(
      ::syscall(SYS_pidfd_getfd, lender.get(), static_cast<int>(number), 0)));
  if (!fd) return base::fail_errno("pidfd_getfd", errno);
  base::Result<CacheStat> stat = cachestat(fd.get());
  if (!stat) return stat.error();
  return stat->cached_pages * base::page_bytes();
}

void add_images(const Roots& roots, int32_t pid, std::set<FileNumber>& seen,
                std::vector<model::VmImage>& images) {
  base::Result<base::Directory> process = open_process(roots, pid);
  if (!process) return;
  base::Result<std::vector<NumberedDescriptor>> descriptors =
      list_descriptors(*process, /*follow_paths=*/true);
  if (!descriptors) return;
  const base::Fd lender(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  for (const NumberedDescriptor& entry : *descriptors) {
    if (!could_be_image(entry.found)) continue;
    const FileFacts& facts = *entry.found.target;
    const FileNumber number = {facts.device_major, facts.device_minor,
                               facts.inode_id};
    if (!seen.insert(number).second) continue;
    images.push_back({entry.found.link, facts.size_bytes,
                      reading_of(cached_bytes(lender, entry.number))});
  }
}

}  // namespace

std::vector<model::VmImage> read_vm_images(const Roots& roots,
                                           const model::Vm& vm) {
  std::vector<model::VmImage> images;
  if (!roots.is_live) return images;
  std::set<FileNumber> seen;
  for (const model::VmProcess& process : vm.processes)
    add_images(roots, process.id.pid, seen, images);
  std::ranges::stable_sort(images, std::greater<>(),
                           [](const model::VmImage& image) {
                             return image.cached_bytes.value.value_or(0);
                           });
  return images;
}

}  // namespace tidemark::source
