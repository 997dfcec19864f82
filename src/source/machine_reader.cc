#include "source/machine_reader.h"

#include <unistd.h>

#include <utility>

namespace tidemark::source {

base::Result<model::Machine> read_machine(const Roots& roots,
                                          const CgroupHierarchy& cgroups) {
  base::Result<std::string> text = base::read_file_at(roots.proc, "meminfo");
  if (!text) return text.error();
  base::Result<model::MemInfo> meminfo = parse::parse_meminfo(*text);
  if (!meminfo) return base::within(roots.proc.path, meminfo.error());
  model::Machine machine;
  machine.meminfo = *meminfo;
  text = base::read_file_at(roots.proc, "zoneinfo");
  if (text) {
    base::Result<model::ZoneInfo> zones = parse::parse_zoneinfo(*text);
    if (zones) machine.zoneinfo = *zones;
  }
  // statm and zoneinfo count in pages of the kernel that wrote them. A copied
  // tree does not say their size; nearly all kernels that run Debian use 4 KiB.
  constexpr uint64_t kUsualPageBytes = 4096;
  machine.page_size_bytes = roots.is_live
                                ? static_cast<uint64_t>(::sysconf(_SC_PAGESIZE))
                                : kUsualPageBytes;
  machine.cgroup_version = cgroups.version();
  machine.cgroup_charges_hugetlb = cgroups.charges_hugetlb();
  machine.cgroup_note = cgroups.note();
  return machine;
}

std::vector<model::DeviceNumber> read_memory_devices(const Roots& roots,
                                                     int32_t pid) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, std::to_string(pid) + "/mountinfo");
  if (!text) text = base::read_file_at(roots.proc, "self/mountinfo");
  if (!text) return {};
  base::Result<std::vector<parse::Mount>> mounts =
      parse::parse_mountinfo(*text);
  if (!mounts) return {};
  std::vector<model::DeviceNumber> devices;
  for (const parse::Mount& mount : *mounts) {
    // rootfs is the unpacked initramfs: tmpfs or ramfs under another name.
    if (mount.type == "tmpfs" || mount.type == "ramfs" ||
        mount.type == "rootfs") {
      devices.push_back({mount.device_major, mount.device_minor});
    }
  }
  return devices;
}

std::vector<parse::UserName> read_user_names(const Roots& roots) {
  if (!roots.is_live) return {};
  base::Result<base::Directory> etc = base::open_directory("/etc");
  if (!etc) return {};
  base::Result<std::string> text = base::read_file_at(*etc, "passwd");
  if (!text) return {};
  return parse::parse_passwd(*text);
}

}  // namespace tidemark::source
