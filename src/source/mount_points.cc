#include "source/mount_points.h"

#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "parse/machine_files.h"

namespace tidemark::source {

std::optional<std::string> mount_point_of(const Roots& roots,
                                          std::string_view type) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, "self/mountinfo");
  if (!text) return std::nullopt;
  base::Result<std::vector<parse::Mount>> mounts =
      parse::parse_mountinfo(*text);
  if (!mounts) return std::nullopt;
  for (const parse::Mount& mount : *mounts) {
    if (mount.type == type) return mount.mount_point;
  }
  return std::nullopt;
}

}  // namespace tidemark::source
