// Reads what the kernel tells about the whole machine.
#pragma once

#include <optional>

#include "base/result.h"
#include "model/machine.h"
#include "model/region.h"
#include "parse/machine_files.h"
#include "source/cgroups.h"
#include "source/roots.h"

namespace tidemark::source {

// meminfo must be readable; zoneinfo costs its column when it is not.
base::Result<model::Machine> read_machine(const Roots& roots,
                                          const CgroupHierarchy& cgroups);

base::Result<model::MemInfo> read_meminfo(const Roots& roots);

// Empty when it cannot be read.
std::optional<model::ZoneInfo> read_zoneinfo(const Roots& roots);

// Adds what tells of pressure: vmstat, PSI, zram. Each costs its own fields
// when it cannot be read.
void read_pressure(const Roots& roots, model::Machine& machine);

// Devices whose files live in memory (tmpfs, ramfs), as the mount namespace of
// the process lists them, or our own where that is denied; mappings of such
// files are shared memory. Empty when neither can be read.
std::vector<model::DeviceNumber> read_memory_devices(const Roots& roots,
                                                     int32_t pid);

// Login names of this machine. Empty for a tree that was copied elsewhere:
// its numbers are not our users.
std::vector<parse::UserName> read_user_names(const Roots& roots);

}  // namespace tidemark::source
