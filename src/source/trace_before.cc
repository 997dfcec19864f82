#include "source/trace_before.h"

#include <utility>

#include "source/allocinfo_source.h"
#include "source/kernel_files.h"

namespace tidemark::source {

model::TraceBefore read_trace_before(const Roots& roots) {
  model::TraceBefore before;
  before.modules = read_modules(roots);
  before.vmalloc = read_vmallocinfo(roots);
  before.slab = read_slabinfo(roots);
  base::Result<model::AllocationReading> code = read_allocinfo(roots);
  before.code = code ? model::known(std::move(code->sites))
                     : model::unknown<std::vector<model::AllocationSite>>(
                           code.error().what);
  return before;
}

}  // namespace tidemark::source
