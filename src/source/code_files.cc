#include "source/code_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "parse/elf.h"

namespace tidemark::source {
namespace {

bool is_plain_file(const struct stat& info) {
  return S_ISREG(info.st_mode);
}

// The inode alone: a file system with many devices (btrfs, overlayfs) tells the
// kernel's lists another device than it tells stat().
bool is_still(int fd, const model::Mapping& mapping) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && is_plain_file(info) &&
         info.st_ino == mapping.inode_id;
}

base::Fd open_still(int folder, const std::string& path,
                    const model::Mapping& mapping) {
  // Asked before it is opened: opening what is no plain file may do things.
  struct stat info {};
  if (::fstatat(folder, path.c_str(), &info, 0) != 0 || !is_plain_file(info)) {
    return {};
  }
  base::Fd fd(::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || !is_still(fd.get(), mapping)) return {};
  return fd;
}

}  // namespace

bool is_same_file(const model::Mapping& a, const model::Mapping& b) {
  return a.inode_id == b.inode_id && a.device_major == b.device_major &&
         a.device_minor == b.device_minor;
}

std::vector<CodeFile> code_files(const std::vector<model::Mapping>& mappings) {
  std::vector<CodeFile> files;
  const model::Mapping* first = nullptr;
  for (const model::Mapping& mapping : mappings) {
    if (!mapping.is_file()) continue;
    if (first == nullptr || mapping.offset_bytes == 0 ||
        !is_same_file(*first, mapping)) {
      first = &mapping;
    }
    if (!mapping.permissions.execute) continue;
    const uint64_t base = first->offset_bytes == 0
                              ? first->start_address
                              : mapping.start_address - mapping.offset_bytes;
    if (files.empty() || files.back().base != base) {
      files.push_back({base, &mapping});
    }
  }
  return files;
}

base::Fd open_mapped(const Roots& roots, int32_t pid,
                     const model::Mapping& mapping) {
  std::array<char, 96> name{};
  std::snprintf(name.data(), name.size(), "%d/map_files/%llx-%llx", pid,
                static_cast<unsigned long long>(mapping.start_address),
                static_cast<unsigned long long>(mapping.end_address));
  struct stat info {};
  if (::fstatat(roots.proc.fd.get(), name.data(), &info, 0) != 0 ||
      !is_plain_file(info)) {
    return {};
  }
  return base::Fd(
      ::openat(roots.proc.fd.get(), name.data(), O_RDONLY | O_CLOEXEC));
}

base::Fd open_named(const Roots& roots, int32_t root_pid,
                    const model::Mapping& mapping) {
  if (!mapping.name.starts_with('/')) return {};
  const std::string root = std::to_string(root_pid) + "/root";
  base::Fd fd = open_still(roots.proc.fd.get(), root + mapping.name, mapping);
  if (fd) return fd;
  return open_still(AT_FDCWD, mapping.name, mapping);
}

std::optional<uint64_t> base_of_code(int fd, const model::Mapping& mapping) {
  constexpr size_t kHeadBytes = 4096;
  std::string head(kHeadBytes, '\0');
  const ssize_t got = ::pread(fd, head.data(), head.size(), 0);
  head.resize(got > 0 ? static_cast<size_t>(got) : 0);
  const base::Result<uint64_t> distance =
      parse::parse_elf_code_distance(head, mapping.offset_bytes);
  if (!distance) return std::nullopt;
  return mapping.start_address - *distance;
}

}  // namespace tidemark::source
