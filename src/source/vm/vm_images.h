// The disks of a VM, and what of them the host's page cache holds.
#pragma once

#include <vector>

#include "model/vm.h"
#include "source/roots.h"

namespace tidemark::source {

// Regular files of 16 MiB and more that the VM's processes hold open, each
// once. Their cache is asked through a borrowed descriptor, so that no file is
// opened, which could wait for a server.
std::vector<model::VmImage> read_vm_images(const Roots& roots,
                                           const model::Vm& vm);

}  // namespace tidemark::source
