// Reads the files in which the kernel tells of its own memory, below a given
// proc tree. None of them is needed by everybody and most are for root, so each
// answers for itself: what it told, or why it did not.
#pragma once

#include <vector>

#include "model/kernel_memory.h"
#include "model/reading.h"
#include "source/roots.h"

namespace tidemark::source {

// The physical map. Everybody may open it; without CAP_SYS_ADMIN its addresses
// are zero (AddressForm::Hidden).
model::Reading<model::IoMemory> read_iomem(const Roots& roots);

// Root only, and the addresses are hashed unless kptr_restrict is 1 and we hold
// CAP_SYSLOG. We read what we get and never turn that switch.
model::Reading<model::VmallocInfo> read_vmallocinfo(const Roots& roots);

// Root only.
model::Reading<std::vector<model::SlabCache>> read_slabinfo(const Roots& roots);

// IPv4 and IPv6; a kernel without the latter has no sockstat6.
model::Reading<model::SocketMemory> read_sockstat(const Roots& roots);

// Missing on a kernel that was built without modules.
model::Reading<std::vector<model::KernelModule>> read_modules(
    const Roots& roots);

// Hundred thousand lines, some 50 ms.
model::Reading<model::KernelSymbols> read_section_symbols(const Roots& roots);

model::Reading<model::PageCounters> read_page_counters(const Roots& roots);

model::Reading<model::KernelSpace> read_kernel_space(const Roots& roots);

// The headers of /proc/kcore and nothing of the memory behind them. For
// CAP_SYS_RAWIO alone; many kernels are built without it.
model::Reading<std::vector<model::KernelSegment>> read_kernel_segments(
    const Roots& roots);

}  // namespace tidemark::source
