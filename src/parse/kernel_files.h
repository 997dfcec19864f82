// Parses the files in which the kernel tells of its own memory. All but the
// counters are for root: others are refused or see addresses of zero, which is
// said in the result and never taken for a place.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/kernel_memory.h"

namespace tidemark::parse {

// /proc/iomem. Two blanks of indentation are one level. Names are taken as
// they are: drivers choose them.
base::Result<model::IoMemory> parse_iomem(std::string_view text);

// /proc/vmallocinfo. Words that are not known are skipped, since releases add
// some; a range, size or page count that is not a number is an error.
base::Result<model::VmallocInfo> parse_vmallocinfo(std::string_view text);

// /proc/slabinfo of version 2.x; another version is refused, because its
// columns would be taken for others. Names may hold blanks.
base::Result<std::vector<model::SlabCache>> parse_slabinfo(
    std::string_view text);

// /proc/net/sockstat and sockstat6, one after the other or alone.
base::Result<model::SocketMemory> parse_sockstat(std::string_view text);

// /proc/modules.
base::Result<std::vector<model::KernelModule>> parse_modules(
    std::string_view text);

// /proc/kallsyms: only the symbols that bound the parts of the image, of
// a hundred thousand. Data symbols are missing without CONFIG_KALLSYMS_ALL.
base::Result<model::KernelSymbols> parse_section_symbols(std::string_view text);

// /proc/vmstat: the lines that count pages in kinds of their own.
base::Result<model::PageCounters> parse_page_counters(std::string_view text);

// /proc/meminfo: how large the kernel's address space is. Only some
// architectures tell the direct map.
base::Result<model::KernelSpace> parse_kernel_space(std::string_view text);

}  // namespace tidemark::parse
