// All descriptors and file mappings of all processes, as the kernel's iterators
// list them (bpf/objects.bpf.c): what the links and stats of /proc would say,
// for a tenth of the price. Read once; everything else goes away at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/result.h"
#include "model/mapping.h"
#include "source/file_systems.h"

namespace tidemark::source {

// What the kernel notes of a file that is open or mapped.
struct KernelFile {
  std::string_view link;  // as /proc/PID/fd shows it
  FileFacts facts;
  // The facts are what stat would tell. Not on file systems that answer stat
  // themselves: btrfs and overlayfs make up device numbers, of which the kernel
  // elsewhere knows nothing. There the link has to be asked.
  bool is_as_stat = false;
  uint64_t cached_pages = 0;
  bool may_read = false;
  bool may_write = false;
  // Of a pipe that holds nothing. What others hold is asked where it is needed.
  std::optional<uint64_t> empty_pipe_pages;
};

struct KernelDescriptor {
  uint32_t number = 0;
  KernelFile file;
};

struct KernelMapping {
  uint64_t start_address = 0;
  uint64_t end_address = 0;
  model::Permissions permissions;
  // maps prints something else than the link: a name that the process gave it,
  // or the file of overlayfs that this one stands for.
  bool is_shown_otherwise = false;
  KernelFile file;
};

class ObjectLists {
 public:
  // Denied without the rights, Unsupported where the kernel or this build lacks
  // what it takes.
  static base::Result<ObjectLists> read();

  // Ascending. False when nothing is known of the process: it began later, has
  // none, or is our own, which changes while we look.
  bool descriptors_of(
      int32_t pid,
      const std::function<void(const KernelDescriptor&)>& visit) const;
  bool mappings_of(
      int32_t pid,
      const std::function<void(const KernelMapping&)>& visit) const;

  // The address spaces that any of them refers to, also of processes that /proc
  // would not show us: what PageStruct::owner tells of a page.
  std::unordered_set<uint64_t> page_owners() const;

  // Where the records of a process lie; those of one follow each other.
  struct Span {
    size_t begin = 0;
    size_t end = 0;
  };
  struct List {
    std::string bytes;
    std::unordered_map<int32_t, Span> processes;
  };

 private:
  List descriptors_;
  List mappings_;
};

}  // namespace tidemark::source
