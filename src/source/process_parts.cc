#include "source/process_parts.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "base/text.h"
#include "parse/elf.h"
#include "parse/process_files.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::ProcessState;

// The name of a mapping's link in map_files.
std::string address_range(const model::Mapping& mapping) {
  std::array<char, 40> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%llx-%llx",
                    static_cast<unsigned long long>(mapping.start_address),
                    static_cast<unsigned long long>(mapping.end_address));
  return {text.data(), static_cast<size_t>(length)};
}

// The first page of a file: its program headers are there.
base::Result<std::string> read_head_at(const base::Directory& directory,
                                       const std::string& name) {
  base::Result<base::Fd> fd = base::open_file_at(directory, name);
  if (!fd) return fd.error();
  std::string head(4096, '\0');
  const ssize_t got = ::read(fd->get(), head.data(), head.size());
  if (got < 0) return base::fail_errno(directory.join(name), errno);
  head.resize(static_cast<size_t>(got));
  return head;
}

}  // namespace

std::string reason_of(const base::Error& error) {
  return error.kind == ErrorKind::Denied ? "denied: " + error.what : error.what;
}

ProcessState state_of(const base::Error& error) {
  if (error.kind == ErrorKind::Denied) return ProcessState::Denied;
  return error.kind == ErrorKind::Gone ? ProcessState::Gone
                                       : ProcessState::Failed;
}

bool has_no_memory(const model::ProcessStat& stat) {
  return stat.state == 'Z' || stat.state == 'X';
}

base::Result<std::vector<model::Thread>> read_threads(
    const base::Directory& directory, bool with_stack_pointers) {
  base::Result<base::Directory> tasks =
      base::open_directory_at(directory, "task");
  if (!tasks) return tasks.error();
  base::Result<std::vector<std::string>> names = base::list_directory(*tasks);
  if (!names) return names.error();
  std::vector<model::Thread> threads;
  std::string buffer;
  for (const std::string& name : *names) {
    std::optional<int32_t> id = base::parse_pid(name);
    if (!id) continue;
    model::Thread thread;
    thread.thread_id = *id;
    if (base::read_file_at(*tasks, name + "/stat", buffer)) {
      if (base::Result<model::ProcessStat> stat = parse::parse_stat(buffer)) {
        thread.comm = stat->comm;
        thread.state = stat->state;
      }
    }
    if (with_stack_pointers &&
        base::read_file_at(*tasks, name + "/syscall", buffer)) {
      base::Result<std::optional<uint64_t>> pointer =
          parse::parse_syscall_stack_pointer(buffer);
      if (pointer) thread.stack_pointer_address = *pointer;
    }
    threads.push_back(std::move(thread));
  }
  std::ranges::sort(threads, {}, &model::Thread::thread_id);
  return threads;
}

// The link of map_files is the very file, also a deleted one, but needs a
// capability; the path below the process's root is its stand-in.
std::vector<model::ImageSpan> read_images(
    const base::Directory& directory,
    const std::vector<model::Mapping>& mappings) {
  std::vector<model::ImageSpan> images;
  for (size_t i = 0; i + 1 < mappings.size(); ++i) {
    const model::Mapping& m = mappings[i];
    const model::Mapping& next = mappings[i + 1];
    // An image is mapped privately. What is shared is not opened: it may be the
    // index of our own recording, and closing a file gives up all locks that
    // SQLite, or anybody else in this process, has on it.
    if (!m.is_file() || m.permissions.shared || next.is_file() ||
        !next.permissions.write || next.start_address != m.end_address) {
      continue;
    }
    base::Result<std::string> head =
        read_head_at(directory, "map_files/" + address_range(m));
    if (!head) head = read_head_at(directory, "root" + m.name);
    if (!head) continue;
    base::Result<uint64_t> span = parse::parse_elf_span(*head);
    if (!span) continue;
    images.push_back({m.device_major, m.device_minor, m.inode_id, *span});
  }
  return images;
}

}  // namespace tidemark::source
