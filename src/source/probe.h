// Finds out what this machine lets us measure by trying it: opens the file,
// does the ioctl, makes the system call. Never by kernel version, because
// distributions backport, and never by user id, because containers, lockdown
// and security modules take from root what its name promises.
//
// Nothing is changed and nothing stays behind: descriptors are closed at once,
// no event is enabled, no cgroup is made, nothing is mounted. Of a foreign
// process only the first line is read, since a whole smaps would stall it. When
// every process belongs to the caller, a child that lives for some milliseconds
// as another user is looked at instead, if the caller may change users.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/capability.h"
#include "source/roots.h"

namespace tidemark::source {

// In order of tier. On a copied tree only files of that tree are tried; what
// would ask the running kernel is NotTried.
std::vector<model::Capability> probe_capabilities(const Roots& roots);

model::DoctorFacts probe_facts(const Roots& roots);

// The file to grant rights to: where /proc/self/exe points.
base::Result<std::string> own_binary_path();

}  // namespace tidemark::source
