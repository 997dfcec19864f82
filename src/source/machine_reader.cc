#include "source/machine_reader.h"

#include <unistd.h>

#include <utility>

#include "base/page_size.h"

namespace tidemark::source {
namespace {

// All devices together; empty when there is none.
std::optional<model::Zram> read_zram() {
  base::Result<base::Directory> blocks = base::open_directory("/sys/block");
  if (!blocks) return std::nullopt;
  base::Result<std::vector<std::string>> names = base::list_directory(*blocks);
  if (!names) return std::nullopt;
  std::optional<model::Zram> sum;
  for (const std::string& name : *names) {
    if (!name.starts_with("zram")) continue;
    base::Result<std::string> text =
        base::read_file_at(*blocks, name + "/mm_stat");
    if (!text) continue;
    base::Result<model::Zram> device = parse::parse_zram(*text);
    if (!device) continue;
    if (!sum) sum = model::Zram();
    sum->stored_bytes += device->stored_bytes;
    sum->memory_bytes += device->memory_bytes;
  }
  return sum;
}

}  // namespace

std::optional<model::ZoneInfo> read_zoneinfo(const Roots& roots) {
  base::Result<std::string> text = base::read_file_at(roots.proc, "zoneinfo");
  if (!text) return std::nullopt;
  base::Result<model::ZoneInfo> zones = parse::parse_zoneinfo(*text);
  if (!zones) return std::nullopt;
  return *zones;
}

base::Result<model::MemInfo> read_meminfo(const Roots& roots) {
  base::Result<std::string> text = base::read_file_at(roots.proc, "meminfo");
  if (!text) return text.error();
  base::Result<model::MemInfo> meminfo = parse::parse_meminfo(*text);
  if (!meminfo) return base::within(roots.proc.path, meminfo.error());
  return meminfo;
}

base::Result<model::Machine> read_machine(const Roots& roots,
                                          const CgroupHierarchy& cgroups) {
  base::Result<model::MemInfo> meminfo = read_meminfo(roots);
  if (!meminfo) return meminfo.error();
  model::Machine machine;
  machine.meminfo = *meminfo;
  machine.zoneinfo = read_zoneinfo(roots);
  // statm and zoneinfo count in pages of the kernel that wrote them. A copied
  // tree does not say their size; nearly all kernels that run Debian use 4 KiB.
  constexpr uint64_t kUsualPageBytes = 4096;
  machine.page_size_bytes =
      roots.is_live ? base::page_bytes() : kUsualPageBytes;
  machine.cgroup_version = cgroups.version();
  machine.cgroup_charges_hugetlb = cgroups.charges_hugetlb();
  machine.cgroup_note = cgroups.note();
  return machine;
}

void read_pressure(const Roots& roots, model::Machine& machine) {
  base::Result<std::string> text = base::read_file_at(roots.proc, "vmstat");
  if (text) {
    base::Result<model::VmStat> stat = parse::parse_vmstat(*text);
    if (stat) machine.vmstat = *stat;
  }
  text = base::read_file_at(roots.proc, "pressure/memory");
  if (text) {
    base::Result<model::Pressure> pressure = parse::parse_pressure(*text);
    if (pressure) machine.pressure = *pressure;
  }
  if (roots.is_live) machine.zram = read_zram();
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
