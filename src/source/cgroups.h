// Finds the cgroup hierarchy that accounts memory, and reads its groups.
//
// Three layouts exist in the field: v2 alone, v1 alone, and hybrid, where both
// are mounted and only one of them has the memory controller. The controller
// decides, not the version: it can be in only one hierarchy at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "model/machine.h"
#include "parse/process_files.h"
#include "source/roots.h"

namespace tidemark::source {

class CgroupHierarchy {
 public:
  // Never fails: without a hierarchy every look-up answers "unknown" with the
  // reason found here.
  static CgroupHierarchy find(const Roots& roots);

  model::CgroupVersion version() const { return version_; }
  const std::string& note() const { return note_; }
  // Whether hugetlb pages are in the charge of a group.
  bool charges_hugetlb() const { return charges_hugetlb_; }

  // The group of a process that owns its memory, out of /proc/PID/cgroup.
  // Empty when none of the lines is of this hierarchy.
  std::string_view path_of(
      const std::vector<parse::CgroupMembership>& memberships) const;

  // The same, reading it; empty when it cannot be read.
  std::string path_of(const Roots& roots, int32_t pid) const;
  // And of this process.
  std::string own_path(const Roots& roots) const;

  // Inode and path of every group there is, also of those without processes.
  // Empty in a copied tree, where inodes mean nothing.
  std::map<uint64_t, std::string> list() const;

  model::Cgroup read(const std::string& path) const;
  // And what it is charged for, by kind: one file more.
  model::Cgroup read_with_stat(const std::string& path) const;

  // What a group is charged, as a file that is read again and again.
  base::Result<base::Fd> open_charge(const std::string& path) const;

  // The directory of a group, named as /proc/PID/cgroup does.
  base::Result<base::Directory> open(const std::string& path) const;

 private:
  std::string path_in(const Roots& roots, const std::string& file) const;
  model::Reading<uint64_t> read_bytes(const base::Directory& group,
                                      bool is_root, const char* v1_name,
                                      const char* v2_name) const;

  model::CgroupVersion version_ = model::CgroupVersion::None;
  std::optional<base::Directory> root_;
  // What of the hierarchy is mounted: inside a container paths of
  // /proc/PID/cgroup may begin above it.
  std::string mounted_root_ = "/";
  // On a real cgroup file system the inode number is the group's id; in a
  // copied tree it means nothing.
  bool has_real_inodes_ = false;
  bool charges_hugetlb_ = false;
  std::string note_;
};

}  // namespace tidemark::source
