#include "source/target/memory_group.h"

#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "parse/machine_files.h"

namespace tidemark::source {
namespace {

using model::CgroupVersion;

std::optional<uint64_t> number_in(std::string_view text) {
  base::Result<std::optional<uint64_t>> number =
      parse::parse_cgroup_number(text);
  return number ? *number : std::nullopt;
}

std::optional<uint64_t> read_number(const base::Directory& directory,
                                    const char* name) {
  base::Result<std::string> text = base::read_file_at(directory, name);
  return text ? number_in(*text) : std::nullopt;
}

}  // namespace

base::Result<MemoryGroup> MemoryGroup::open(const GroupPlace& place) {
  MemoryGroup group;
  group.place_ = place;
  base::Result<base::Directory> directory =
      base::open_directory(place.directory);
  if (!directory) return directory.error();
  group.directory_ = std::move(*directory);
  base::Result<base::Fd> charged =
      base::open_file_at(group.directory_, place.version == CgroupVersion::V1
                                               ? "memory.usage_in_bytes"
                                               : "memory.current");
  if (!charged) return charged.error();
  group.charged_ = std::move(*charged);
  return group;
}

std::optional<uint64_t> MemoryGroup::charged_bytes() const {
  std::array<char, 32> text{};
  const ssize_t got = ::pread(charged_.get(), text.data(), text.size(), 0);
  if (got <= 0) return std::nullopt;
  return number_in({text.data(), static_cast<size_t>(got)});
}

std::string MemoryGroup::peak_name() const {
  return place_.version == CgroupVersion::V1 ? "memory.max_usage_in_bytes"
                                             : "memory.peak";
}

std::optional<uint64_t> MemoryGroup::peak_bytes() const {
  return read_number(directory_, peak_name().c_str());
}

std::optional<uint64_t> MemoryGroup::swap_peak_bytes() const {
  // v1 keeps a mark of memory and swap together only, which does not tell.
  if (place_.version == CgroupVersion::V1) return std::nullopt;
  return read_number(directory_, "memory.swap.peak");
}

model::GroupStat MemoryGroup::stat() const {
  base::Result<std::string> text =
      base::read_file_at(directory_, "memory.stat");
  if (!text) return {};
  base::Result<model::GroupStat> stat =
      parse::parse_group_stat(*text, place_.version);
  if (!stat) return {};
  if (place_.version == CgroupVersion::V1) {
    stat->kernel_bytes = read_number(directory_, "memory.kmem.usage_in_bytes");
  } else {
    stat->swap_bytes = read_number(directory_, "memory.swap.current");
  }
  return *stat;
}

}  // namespace tidemark::source
