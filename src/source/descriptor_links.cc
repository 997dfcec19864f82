#include "source/descriptor_links.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "base/shares.h"
#include "parse/object_files.h"

namespace tidemark::source {
namespace {

// The link's own mode bits say how the descriptor was opened: one stat, where
// fdinfo would have to be opened, read and closed.
model::ObjectRights rights_of(const base::Directory& fds,
                              const std::string& number) {
  const base::Result<FileFacts> link = stat_at(fds, number, false);
  if (!link) return {};
  return {(link->mode & S_IRUSR) != 0, (link->mode & S_IWUSR) != 0, false};
}

FoundDescriptor read_one(const base::Directory& fds, uint32_t number,
                         bool follow_paths) {
  FoundDescriptor found;
  const std::string name = std::to_string(number);
  std::array<char, PATH_MAX> target;  // not cleared: 10 000 times 4 KiB
  const ssize_t length =
      ::readlinkat(fds.fd.get(), name.c_str(), target.data(), target.size());
  if (length < 0) return found;
  found.is_there = true;
  found.link.assign(target.data(), static_cast<size_t>(length));
  using Type = parse::DescriptorLink::Type;
  const Type type = parse::parse_descriptor_link(found.link).type;
  if (type == Type::Pipe) found.rights = rights_of(fds, name);
  if (type != Type::Path || !follow_paths) return found;
  const base::Result<FileFacts> facts = stat_at(fds, name, true);
  if (!facts) return found;
  found.target = *facts;
  if (S_ISREG(facts->mode) || S_ISFIFO(facts->mode)) {
    found.rights = rights_of(fds, name);
  }
  return found;
}

}  // namespace

std::vector<FoundDescriptor> read_descriptors(const base::Directory& fds,
                                              std::span<const uint32_t> numbers,
                                              bool follow_paths) {
  // A thread takes as long to start as some ten links to read.
  constexpr size_t kLeastEach = 256;
  std::vector<FoundDescriptor> found(numbers.size());
  base::in_shares(numbers.size(), kLeastEach, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      found[i] = read_one(fds, numbers[i], follow_paths);
  });
  return found;
}

}  // namespace tidemark::source
