// Opening, reading and listing below a directory descriptor, so that a captured
// tree stands in for the running kernel. Messages carry the path as a person
// would type it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace tidemark::base {

// A directory and the name it goes by in messages.
struct Directory {
  Fd fd;
  std::string path;

  std::string join(std::string_view name) const;
};

Result<Directory> open_directory(const std::string& path);
Result<Directory> open_directory_at(const Directory& parent,
                                    const std::string& name);

Result<Fd> open_file_at(const Directory& directory, const std::string& name);

// Replaces `buffer` by the whole contents. The buffer keeps its capacity from
// call to call: reading a thousand small files allocates once. Files of /proc
// report no size, so it is read until the end.
Status read_file_at(const Directory& directory, const std::string& name,
                    std::string& buffer);
Result<std::string> read_file_at(const Directory& directory,
                                 const std::string& name);

Result<std::string> read_link_at(const Directory& directory,
                                 const std::string& name);

// Names in a directory but "." and "..", in the order the kernel gives them.
Result<std::vector<std::string>> list_directory(const Directory& directory);

// Only directories, in a file system of the kernel's own (cgroup, proc).
Result<std::vector<std::string>> list_directories(const Directory& directory);

// Puts a file in the place of the one of that name, whole at every moment: who
// reads meanwhile has either. For files that are written again and again.
Status replace_file(const std::string& path, std::string_view bytes);

bool exists_at(const Directory& directory, const std::string& name);

}  // namespace tidemark::base
