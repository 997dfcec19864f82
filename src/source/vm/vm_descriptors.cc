#include "source/vm/vm_descriptors.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"

namespace tidemark::source {

base::Result<std::vector<NumberedDescriptor>> list_descriptors(
    const base::Directory& process, bool follow_paths) {
  base::Result<base::Directory> fds = base::open_directory_at(process, "fd");
  if (!fds) return fds.error();
  base::Result<std::vector<std::string>> names = base::list_directory(*fds);
  if (!names) return names.error();
  std::vector<uint32_t> numbers;
  for (const std::string& name : *names) {
    const std::optional<uint64_t> number = base::parse_u64(name);
    if (number && *number <= std::numeric_limits<uint32_t>::max()) {
      numbers.push_back(static_cast<uint32_t>(*number));
    }
  }
  std::vector<FoundDescriptor> found =
      read_descriptors(*fds, numbers, follow_paths);
  std::vector<NumberedDescriptor> all;
  all.reserve(found.size());
  for (size_t i = 0; i < found.size(); ++i)
    all.push_back({numbers[i], std::move(found[i])});
  return all;
}

}  // namespace tidemark::source
