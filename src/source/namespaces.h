// Questions that the kernel answers for the namespace of whoever asks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace tidemark::source {

// The number in "ipc:[4026531839]", the target of /proc/PID/ns/ipc.
base::Result<uint64_t> read_namespace(const base::Directory& process,
                                      const std::string& type);

// Runs `work` on a thread of its own that has entered that namespace of the
// process, so that we stay where we are. Needs CAP_SYS_ADMIN. Only for types a
// single thread may change: ipc, net.
base::Status within_namespace(const base::Directory& process,
                              const std::string& type,
                              const std::function<void()>& work);

}  // namespace tidemark::source
