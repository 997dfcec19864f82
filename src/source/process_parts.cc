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

// /proc/TID is as complete as /proc/PID, if listed nowhere; task/TID lacks
// map_files, but it is all that a copied tree has. A thread that has ended
// since may have given its number to another process.
base::Result<base::Directory> open_thread(const base::Directory& process,
                                          int32_t pid,
                                          const std::string& thread) {
  base::Result<base::Directory> whole =
      base::open_directory_at(process, "../" + thread);
  if (whole && base::exists_at(*whole, "task/" + std::to_string(pid))) {
    return whole;
  }
  return base::open_directory_at(process, "task/" + thread);
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

std::optional<LivingThread> living_thread(const base::Directory& process,
                                          model::ProcessStat& stat) {
  // The first one counts as long as there are others.
  if (!has_no_memory(stat) || stat.thread_count < 2) return std::nullopt;
  base::Result<base::Directory> tasks =
      base::open_directory_at(process, "task");
  if (!tasks) return std::nullopt;
  base::Result<std::vector<std::string>> names = base::list_directory(*tasks);
  if (!names) return std::nullopt;
  std::string buffer;
  for (const std::string& name : *names) {
    if (!base::read_file_at(*tasks, name + "/statm", buffer)) continue;
    const base::Result<model::Statm> statm = parse::parse_statm(buffer);
    if (!statm || statm->size_pages == 0) continue;
    base::Result<base::Directory> thread = open_thread(process, stat.pid, name);
    if (!thread || !base::read_file_at(*thread, "stat", buffer)) continue;
    const base::Result<model::ProcessStat> own = parse::parse_stat(buffer);
    if (!own) continue;
    stat.state = own->state;
    stat.argument_address = own->argument_address;
    return LivingThread{own->pid, std::move(*thread)};
  }
  return std::nullopt;
}

base::Result<base::Directory> open_process(const Roots& roots, int32_t pid) {
  base::Result<base::Directory> process =
      base::open_directory_at(roots.proc, std::to_string(pid));
  if (!process) return process;
  const base::Result<std::string> text = base::read_file_at(*process, "stat");
  if (!text) return process;
  base::Result<model::ProcessStat> stat = parse::parse_stat(*text);
  if (!stat) return process;
  std::optional<LivingThread> living = living_thread(*process, *stat);
  if (living) return std::move(living->directory);
  return process;
}

std::string read_command_line(const Roots& roots, int32_t pid) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, std::to_string(pid) + "/cmdline");
  if (text && text->empty()) {
    const base::Result<base::Directory> process = open_process(roots, pid);
    if (process) text = base::read_file_at(*process, "cmdline");
  }
  if (!text) return {};
  std::string line(parse::parse_command_line(*text));
  std::ranges::replace(line, '\0', ' ');
  return line;
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
