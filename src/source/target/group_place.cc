#include "source/target/group_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "parse/machine_files.h"
#include "parse/process_files.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::CgroupVersion;

base::Status write_word(const std::string& path, const std::string& word) {
  base::Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return base::fail_errno(path, errno);
  // One write: the kernel takes each as a command.
  if (::write(fd.get(), word.data(), word.size()) < 0) {
    return base::fail_errno(path, errno);
  }
  return base::Ok{};
}

std::string read_text(const std::string& directory, const std::string& name) {
  base::Result<base::Directory> opened = base::open_directory(directory);
  if (!opened) return {};
  base::Result<std::string> text = base::read_file_at(*opened, name);
  return text ? *text : std::string();
}

std::vector<int32_t> pids_in(const std::string& directory) {
  std::vector<int32_t> pids;
  const std::string text = read_text(directory, "cgroup.procs");
  for (std::string_view line : base::split(text, '\n')) {
    std::optional<int32_t> pid = base::parse_pid(line);
    if (pid) pids.push_back(*pid);
  }
  return pids;
}

std::vector<std::string> groups_below(const std::string& directory) {
  std::vector<std::string> found;
  base::Result<base::Directory> opened = base::open_directory(directory);
  if (!opened) return found;
  base::Result<std::vector<std::string>> names = base::list_directory(*opened);
  if (!names) return found;
  for (const std::string& name : *names) {
    struct stat info {};
    if (::fstatat(opened->fd.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        S_ISDIR(info.st_mode)) {
      found.push_back(opened->join(name));
    }
  }
  return found;
}

void collect_members(const std::string& directory, std::vector<int32_t>& all) {
  const std::vector<int32_t> here = pids_in(directory);
  all.insert(all.end(), here.begin(), here.end());
  for (const std::string& below : groups_below(directory)) {
    collect_members(below, all);
  }
}

bool may_make_in(const std::string& directory) {
  return ::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

// v2 moves a process only for who may write to the member list of the group
// above both places, which is the group to be divided.
bool may_divide(const std::string& directory) {
  const std::string members = directory + "/cgroup.procs";
  return may_make_in(directory) &&
         ::faccessat(AT_FDCWD, members.c_str(), W_OK, AT_EACCESS) == 0;
}

bool has_memory(const std::string& directory) {
  return parse::lists_controller(read_text(directory, "cgroup.controllers"),
                                 "memory");
}

bool hands_memory_down(const std::string& directory) {
  return parse::lists_controller(read_text(directory, "cgroup.subtree_control"),
                                 "memory");
}

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

constexpr std::string_view kNamePrefix = "tidemark-";

bool is_ours(const std::string& directory) {
  return base::base_name(directory).starts_with(kNamePrefix);
}

// "tidemark-1234", with a number behind it when a dead namesake left one.
std::string free_name(const std::string& parent) {
  const std::string name =
      parent + "/" + std::string(kNamePrefix) + std::to_string(::getpid());
  std::string candidate = name;
  for (int i = 2; ::access(candidate.c_str(), F_OK) == 0 && i < 100; ++i) {
    candidate = name + "-" + std::to_string(i);
  }
  return candidate;
}

base::Result<GroupPlace> plan_v2(const std::string& home,
                                 const std::string& top) {
  GroupPlace place;
  place.version = CgroupVersion::V2;
  place.home_procs = home + "/cgroup.procs";
  // Under another run nothing may leave its group, whose account would miss it.
  bool is_under_another = false;
  for (std::string group = home;
       group.size() >= top.size() && !is_under_another;
       group = parent_of(group)) {
    if (hands_memory_down(group) && may_divide(group)) {
      place.directory = free_name(group);
      return place;
    }
    is_under_another = is_ours(group);
  }
  const std::vector<int32_t> members = pids_in(home);
  const bool is_alone = members.size() == 1 && members[0] == ::getpid();
  if (home != top && is_alone && has_memory(home) && may_divide(home)) {
    place.directory = free_name(home);
    place.tool_directory = place.directory + "-tool";
    place.enabled_in = home;
    return place;
  }
  // Only the root of all may hold processes and hand controllers down.
  const bool is_root = ::access((top + "/cgroup.type").c_str(), F_OK) != 0;
  if (is_root && may_divide(top) && !is_under_another) {
    place.directory = free_name(top);
    place.enabled_in = top;
    return place;
  }
  if (is_under_another) {
    return base::fail(ErrorKind::Unsupported,
                      home + " is the group of another run");
  }
  return base::fail(ErrorKind::Denied,
                    "no group at or above " + home + " may be divided",
                    "systemd-run --user --scope -p Delegate=yes tidemark run");
}

// A path of the hierarchy as seen from a mount that shows only what is below
// `root`, as in a container.
std::string path_below(const std::string& path, const std::string& root) {
  const bool is_inside = root != "/" && (path + "/").starts_with(root + "/");
  const std::string rest = is_inside ? path.substr(root.size()) : path;
  return rest == "/" ? "" : rest;
}

base::Status switch_memory(const std::string& group, const char* word) {
  return write_word(group + "/cgroup.subtree_control", word);
}

// Runs side by side share what the first has switched on. It stays on behind
// the last of them, who did not switch it: better than off under their feet.
void switch_memory_off(const std::string& group) {
  if (std::ranges::any_of(groups_below(group), is_ours)) return;
  static_cast<void>(switch_memory(group, "-memory"));
}

base::Status make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return base::Ok{};
  return base::fail_errno(path, errno);
}

// Members out, groups below first, then the group itself.
bool empty_and_remove(const std::string& directory,
                      const std::string& home_procs) {
  for (const std::string& below : groups_below(directory)) {
    empty_and_remove(below, home_procs);
  }
  for (int32_t pid : pids_in(directory)) {
    // One that has just ended cannot be moved, and need not be.
    static_cast<void>(write_word(home_procs, std::to_string(pid)));
  }
  return ::rmdir(directory.c_str()) == 0 || errno == ENOENT;
}

void sleep_ms(long milliseconds) {
  const timespec pause{0, milliseconds * 1'000'000};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

base::Result<GroupPlace> plan_memory_group(const Roots& roots,
                                           const CgroupHierarchy& hierarchy) {
  if (!roots.is_live || hierarchy.version() == CgroupVersion::None) {
    return base::fail(ErrorKind::Unsupported, hierarchy.note().empty()
                                                  ? "no live cgroup hierarchy"
                                                  : hierarchy.note());
  }
  base::Result<base::Directory> home =
      hierarchy.open(hierarchy.own_path(roots));
  if (!home) return home.error();
  base::Result<base::Directory> top = hierarchy.open("/");
  if (!top) return top.error();
  // open() names a root as "…/.", which is no prefix of anything.
  const auto clean = [](std::string path) {
    if (path.ends_with("/.")) path.resize(path.size() - 2);
    return path;
  };
  if (hierarchy.version() == CgroupVersion::V2) {
    return plan_v2(clean(home->path), clean(top->path));
  }
  if (!may_make_in(home->path)) return base::fail_errno(home->path, errno);
  GroupPlace place;
  place.version = CgroupVersion::V1;
  place.directory = free_name(clean(home->path));
  place.home_procs = home->join("cgroup.procs");
  return place;
}

base::Result<GroupPlace> plan_freezer_group(const Roots& roots) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, "self/mountinfo");
  if (!text) return text.error();
  base::Result<std::vector<parse::Mount>> mounts =
      parse::parse_mountinfo(*text);
  if (!mounts) return mounts.error();
  base::Result<std::string> groups =
      base::read_file_at(roots.proc, "self/cgroup");
  if (!groups) return groups.error();
  base::Result<std::vector<parse::CgroupMembership>> memberships =
      parse::parse_cgroup(*groups);
  if (!memberships) return memberships.error();
  for (const CgroupVersion version : {CgroupVersion::V2, CgroupVersion::V1}) {
    const std::string type =
        version == CgroupVersion::V2 ? "cgroup2" : "cgroup";
    const std::string controller =
        version == CgroupVersion::V2 ? "" : "freezer";
    for (const parse::Mount& mount : *mounts) {
      if (mount.type != type ||
          mount.super_options.find(controller) == std::string::npos) {
        continue;
      }
      auto own = std::ranges::find(*memberships, controller,
                                   &parse::CgroupMembership::controllers);
      if (own == memberships->end()) continue;
      const std::string home =
          mount.mount_point + path_below(own->path, mount.root);
      if (!may_make_in(home)) continue;
      return GroupPlace{
          version, free_name(home), home + "/cgroup.procs", {}, {}};
    }
  }
  return base::fail(ErrorKind::Unsupported,
                    "no cgroup hierarchy can freeze here",
                    "leave out --freeze");
}

base::Status make_group(const GroupPlace& place,
                        const std::vector<int32_t>& ours) {
  base::Status status = base::Ok{};
  if (!place.tool_directory.empty()) {
    status = make_directory(place.tool_directory);
    if (!status) return status;
    for (int32_t pid : ours) {
      if (!status) break;
      status = write_word(place.tool_directory + "/cgroup.procs",
                          std::to_string(pid));
    }
  }
  if (status && !place.enabled_in.empty()) {
    status = switch_memory(place.enabled_in, "+memory");
  }
  if (status) status = make_directory(place.directory);
  if (status) return status;
  // It came last: whatever has its name now is somebody else's.
  GroupPlace made = place;
  made.directory.clear();
  static_cast<void>(undo_group(made));
  return status;
}

base::Status add_to_group(const GroupPlace& place, int32_t pid) {
  return write_word(place.directory + "/cgroup.procs", std::to_string(pid));
}

std::vector<int32_t> group_members(const GroupPlace& place) {
  std::vector<int32_t> all;
  collect_members(place.directory, all);
  return all;
}

base::Status set_frozen(const GroupPlace& place, bool frozen) {
  if (place.version == CgroupVersion::V2) {
    return write_word(place.directory + "/cgroup.freeze", frozen ? "1" : "0");
  }
  return write_word(place.directory + "/freezer.state",
                    frozen ? "FROZEN" : "THAWED");
}

bool is_frozen(const GroupPlace& place) {
  if (place.version == CgroupVersion::V2) {
    return read_text(place.directory, "cgroup.events").find("frozen 1") !=
           std::string::npos;
  }
  return read_text(place.directory, "freezer.state").starts_with("FROZEN");
}

base::Status undo_group(const GroupPlace& place) {
  // Only one of the two exists in a v1 group, and only in the freezer's.
  const std::string state = place.directory + "/freezer.state";
  if (place.version == CgroupVersion::V2 ||
      ::access(state.c_str(), F_OK) == 0) {
    static_cast<void>(set_frozen(place, false));
  }
  constexpr int kTries = 200;
  bool is_gone = false;
  for (int i = 0; i < kTries && !is_gone; ++i) {
    if (i > 0) sleep_ms(5);
    // Before anybody can move back into it.
    if (!place.tool_directory.empty()) {
      static_cast<void>(switch_memory(place.enabled_in, "-memory"));
    }
    is_gone = empty_and_remove(place.directory, place.home_procs);
    if (!place.tool_directory.empty()) {
      is_gone =
          empty_and_remove(place.tool_directory, place.home_procs) && is_gone;
    }
  }
  if (place.tool_directory.empty() && !place.enabled_in.empty()) {
    switch_memory_off(place.enabled_in);
  }
  if (!is_gone) {
    return base::fail(ErrorKind::System,
                      "cannot remove " + place.directory + ": still in use");
  }
  return base::Ok{};
}

}  // namespace tidemark::source
