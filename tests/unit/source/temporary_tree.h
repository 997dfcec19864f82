// Small proc trees written by a test, gone with it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "source/roots.h"
#include "unit/fixture.h"

namespace tidemark::test {

// `tree.path()` stands in for /proc; what is added as "../cgroup/…" lies
// beside it and is removed too.
class TemporaryTree {
 public:
  // Others must be able to read the tree: tests of denied files become another
  // user, and mkdtemp makes a directory for its owner alone.
  TemporaryTree() : mask_before_(::umask(022)) {
    std::string name = testing::TempDir() + "tidemark_tree_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    parent_ = name;
    ::chmod(name.c_str(), 0755);
    std::filesystem::create_directory(path());
  }
  TemporaryTree(const TemporaryTree&) = delete;
  TemporaryTree& operator=(const TemporaryTree&) = delete;
  ~TemporaryTree() {
    for (const std::string& name : denied_)
      ::chmod(path(name).c_str(), 0700);
    std::error_code ignored;
    std::filesystem::remove_all(parent_, ignored);
    ::umask(mask_before_);
  }

  std::string path() const { return (parent_ / "proc").string(); }
  std::string path(const std::string& name) const {
    return path() + "/" + name;
  }

  void add(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.lexically_normal().parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  void remove(const std::string& name) const {
    std::filesystem::remove_all(path(name));
  }
  void link(const std::string& name, const std::string& target) const {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(target, file);
  }
  void deny(const std::string& name) {
    denied_.push_back(name);
    ASSERT_EQ(::chmod(path(name).c_str(), 0), 0);
  }

  // A sleeping process of one thread: what every living one has.
  void add_process(int32_t pid, int32_t parent, std::string_view comm,
                   uint64_t start_ticks = 100) const {
    const std::string id = std::to_string(pid);
    add(id + "/stat", stat(pid, parent, comm, 'S', start_ticks));
    add(id + "/statm", "50 10 3 1 0 20 0\n");
    add(id + "/smaps_rollup",
        "00400000-00401000 ---p 00000000 00:00 0    [rollup]\n"
        "Rss:                  40 kB\n"
        "Pss:                  30 kB\n");
  }

  // Its first thread has ended; others may be added.
  void add_headless(int32_t pid, int thread_count) const {
    const std::string id = std::to_string(pid);
    add(id + "/stat", stat(pid, 1, "server", 'Z', 100, 0x400000, thread_count));
    add(id + "/statm", "0 0 0 0 0 0 0\n");
    add(id + "/smaps_rollup", "");
    add_thread(pid, pid, 'Z', 0);
  }
  void add_thread(int32_t pid, int32_t thread, char state,
                  int resident_pages) const {
    const std::string name =
        std::to_string(pid) + "/task/" + std::to_string(thread);
    const std::string pages = std::to_string(resident_pages);
    add(name + "/stat", stat(thread, 1, "worker", state, 101, 0x400000, 3));
    add(name + "/statm", pages + " " + pages + " 0 0 0 0 0\n");
    add(name + "/smaps_rollup",
        "00400000-00401000 ---p 00000000 00:00 0    [rollup]\n"
        "Rss:                 400 kB\n"
        "Pss:                 400 kB\n");
  }

  // 0x400000 stands for ordinary user processes' flags, 0x200040 for those of
  // kernel threads.
  static std::string stat(int32_t pid, int32_t parent, std::string_view comm,
                          char state, uint64_t start_ticks,
                          uint64_t flags = 0x400000, int thread_count = 1) {
    return std::to_string(pid) + " (" + std::string(comm) + ") " + state + " " +
           std::to_string(parent) + " 1 1 0 -1 " + std::to_string(flags) +
           " 1 0 2 0 1 2 0 0 20 0 " + std::to_string(thread_count) + " 0 " +
           std::to_string(start_ticks) + " 4096 10\n";
  }

  source::Roots roots() const { return open(path(), false); }
  // As if it were the running kernel's: the cgroup mounts are then looked up
  // in self/mountinfo.
  source::Roots live_roots() const { return open(path(), true); }

  static source::Roots open(const std::string& path, bool is_live) {
    base::Result<base::Directory> directory = base::open_directory(path);
    EXPECT_TRUE(directory) << directory.error().what;
    return {std::move(*directory), is_live, is_live};
  }

 private:
  mode_t mask_before_;
  std::filesystem::path parent_;
  std::vector<std::string> denied_;
};

inline source::Roots fixture_roots(const std::string& name) {
  return TemporaryTree::open(fixture_path(name), false);
}

// File modes do not bind root, so a test of a denied file becomes nobody for
// its duration; any other user is bound as the owner of the file.
class OrdinaryUser {
 public:
  OrdinaryUser() : was_root_(::geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    if (was_root_) is_bound_ = ::seteuid(kNobody) == 0;
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  ~OrdinaryUser() {
    if (was_root_ && is_bound_ && ::seteuid(0) != 0) std::abort();
  }
  // False where root may not become somebody else.
  bool is_bound() const { return is_bound_; }

 private:
  bool was_root_;
  bool is_bound_ = true;
};

}  // namespace tidemark::test
