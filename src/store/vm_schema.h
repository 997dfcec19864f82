// The section of a recording for virtual machines. It is made with the first
// reading of them, so that recordings without one do not carry it.
#pragma once

#include <string>

#include "base/result.h"
#include "store/database.h"

namespace tidemark::store {

// A table of what changes: a row where it did, which holds until the next of
// the same thing; a row of nothing but its key is the thing's end.
struct VmChangeTable {
  const char* name;
  const char* thing;    // the column that tells which
  size_t column_count;  // behind tick and thing
};
// In the order of store::VmTable.
inline constexpr VmChangeTable kVmChangeTables[] = {
    {"vm_change", "vm", 16},
    {"vm_guest_change", "vm", 29},
    {"vm_process_change", "process", 4},
    {"vm_memory_change", "memory", 12},
    {"vm_image_change", "image", 2},
};

base::Status create_vm_section(Database& database);

// Whether there is one; Malformed where only a part of it is there.
base::Result<bool> has_vm_section(Database& database);

}  // namespace tidemark::store
