// Finds the objects that processes refer to, through the links of their
// descriptors and mappings.
//
// A link is read before anything is asked about its target: "socket:[7]" says
// all there is to know, and of 10 000 descriptors most are like that. Only
// paths cost a stat. Mappings are asked once for each file, not once each: a
// machine of 120 processes maps libc some 600 times.
//
// A link costs about 4 microseconds, nearly all of it the kernel's (measured on
// 6.18, two busy cores). BPF's iterators tell the same for less than one; what
// they leave out is read here all the same, by several threads where it is
// much.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "model/object.h"
#include "parse/object_files.h"
#include "source/bpf/object_lists.h"
#include "source/descriptor_links.h"
#include "source/file_systems.h"
#include "source/object_table.h"
#include "source/roots.h"

namespace tidemark::source {

class ObjectWalk {
 public:
  // `lists` may be null.
  ObjectWalk(const Roots& roots, const ObjectLists* lists);

  // Adds the process and all it refers to. One that has ended meanwhile is
  // counted; one that may not be read becomes a process that says so.
  void read_process(int32_t pid);

  // What the private mappings of a process that has been read hold of their
  // own, each as a child of its file. Reads smaps, which stops the process from
  // changing its mappings meanwhile.
  void read_copies(int32_t pid);

  ObjectTable& table() { return table_; }
  FileSystems& file_systems() { return file_systems_; }
  std::vector<model::ObjectProcess>& processes() { return processes_; }
  uint64_t ended_count() const { return ended_count_; }
  bool links_are_live() const { return links_are_live_; }

  // A process in each namespace that was met, by the namespace's number.
  using Members = std::map<uint64_t, int32_t>;
  const Members& mount_namespaces() const { return mount_namespaces_; }
  const Members& ipc_namespaces() const { return ipc_namespaces_; }
  const Members& net_namespaces() const { return net_namespaces_; }

 private:
  // The process being read.
  struct Reader {
    int32_t pid = 0;
    int32_t thread_id = 0;  // through which it is read: mostly its first
    size_t index = 0;
    uint64_t mount_namespace = 0;
    uint64_t ipc_namespace = 0;
    base::Directory directory;
  };

  // A descriptor of its: found by its link, or told by the kernel's lists.
  struct Descriptor {
    const base::Directory& directory;  // that `path` is below
    std::string number;
    std::string path;
    std::string_view link;
    const KernelFile* told = nullptr;
    const FoundDescriptor* read = nullptr;  // where they do not tell

    model::ObjectRights rights() const;
  };

  void enter_namespaces(Reader& reader);
  // False where the lists do not tell all of it.
  bool take_descriptors(const Reader& reader);
  bool take_mappings(const Reader& reader);

  base::Status read_descriptors(const Reader& reader);
  uint64_t count_of_descriptors(const base::Directory& fds) const;
  // The first number that was not asked for.
  uint32_t read_row_of_descriptors(const Reader& reader,
                                   const base::Directory& fds, uint64_t count);
  // How many of them there are.
  uint64_t read_numbers(const Reader& reader, const base::Directory& fds,
                        std::span<const uint32_t> numbers);
  void add_found(const Reader& reader, const Descriptor& found);
  void add_pipe(const Reader& reader, const Descriptor& found,
                const model::ObjectKey& key, std::string_view name);
  void add_path(const Reader& reader, const Descriptor& found);
  void add_anon_inode(const Reader& reader, const Descriptor& found,
                      std::string_view type);
  size_t object_of_bpf(const parse::ObjectFdInfo& info);
  size_t object_of_ring(const FileFacts& facts,
                        const base::Result<parse::ObjectFdInfo>& info);
  void add_descriptor(const Reader& reader, size_t index,
                      const std::string& number, model::ObjectRights rights);
  base::Status read_mappings(const Reader& reader);
  void add_mapping(const Reader& reader, const model::Mapping& mapping,
                   const KernelFile* told);

  static constexpr size_t kNone = SIZE_MAX;
  size_t object_of_mapping(const Reader& reader, const model::Mapping& mapping,
                           const KernelFile* told);
  size_t resolve_mapping(const Reader& reader, const model::Mapping& mapping,
                         const KernelFile* told);
  size_t object_of_special(const model::Mapping& mapping);
  size_t object_of_file(const Reader& reader, const FileFacts& facts,
                        std::string_view name, const KernelFile* told);
  size_t object_of_unseen(const Reader& reader, const model::Mapping& mapping,
                          const std::string& because);
  size_t object_of_handle(std::string_view type);
  void ask_unknown_device(const base::Directory& directory,
                          const std::string& name, const FileFacts& facts);
  void note_unreadable(const Reader& reader, const base::Error& error);

  const Roots& roots_;
  const ObjectLists* lists_ = nullptr;
  // Whether links lead to what they stand for: not in a copied tree.
  bool links_are_live_ = false;
  FileSystems file_systems_;
  ObjectTable table_;
  std::vector<model::ObjectProcess> processes_;
  Members mount_namespaces_;
  Members ipc_namespaces_;
  Members net_namespaces_;
  std::unordered_map<std::string, size_t> mapped_files_;
  std::vector<std::string> handle_types_;
  uint64_t ended_count_ = 0;
  std::string buffer_;
  std::string cache_key_;
};

// The type of anonymous inode that has memory of its own.
inline constexpr std::string_view kIoUring = "io_uring";

// A shared object's name without what its kind says already.
std::string object_name(model::ObjectKind kind, std::string_view link);

// The name of a mapping's link in map_files.
std::string map_files_name(const model::Mapping& mapping);

}  // namespace tidemark::source
