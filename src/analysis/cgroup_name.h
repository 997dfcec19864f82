// Reads unit, container, pod and session names off a cgroup path.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::analysis {

// The name people know the group by, from its last component:
// "/system.slice/docker-3f2a….scope" is "docker 3f2a1b4c5d6e",
// "user-1000.slice" and "nginx.service" stay as they are, systemd's \x2d is
// undone. "/" for the root.
std::string cgroup_name(std::string_view path);

// The container or pod a path lies in, with its runtime: "docker 3f2a…",
// "pod 1b2c…", "lxc web". Empty when it lies in none.
std::string container_name(std::string_view path);

}  // namespace tidemark::analysis
