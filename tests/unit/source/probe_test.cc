#include "source/probe.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <vector>

namespace tidemark::source {
namespace {

using model::Capability;
using model::CapabilityState;

// A proc tree of a few files, gone with the test.
class CopiedTree {
 public:
  CopiedTree() {
    std::string name =
        (std::filesystem::temp_directory_path() / "tidemark-probe-XXXXXX")
            .string();
    if (::mkdtemp(name.data())) path_ = name;
  }
  CopiedTree(const CopiedTree&) = delete;
  CopiedTree& operator=(const CopiedTree&) = delete;
  ~CopiedTree() { std::filesystem::remove_all(path_); }

  void add(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

const Capability* find(const std::vector<Capability>& rows,
                       const std::string& name) {
  auto found = std::ranges::find(rows, name, &Capability::name);
  return found == rows.end() ? nullptr : &*found;
}

CapabilityState state_of(const std::vector<Capability>& rows,
                         const std::string& name) {
  const Capability* row = find(rows, name);
  if (!row) ADD_FAILURE() << "no row " << name;
  return row ? row->state : CapabilityState::NotTried;
}

size_t open_descriptor_count() {
  size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/fd")) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

TEST(Probe, LooksOnlyAtFilesOfACopiedTree) {
  CopiedTree tree;
  tree.add("meminfo", "MemTotal: 1024 kB\n");
  tree.add("slabinfo", "slabinfo - version: 2.1\n");
  tree.add("1/status", "Name:\tinit\nUid:\t0\t0\t0\t0\nVmRSS:\t4 kB\n");
  base::Result<Roots> roots = open_roots(tree.path());
  ASSERT_TRUE(roots) << roots.error().what;
  const std::vector<Capability> rows = probe_capabilities(*roots);
  EXPECT_EQ(state_of(rows, "meminfo"), CapabilityState::Works);
  EXPECT_EQ(state_of(rows, "slabinfo"), CapabilityState::Works);
  EXPECT_EQ(state_of(rows, "kpageflags"), CapabilityState::NotTried)
      << "absent from a copy is not absent from the kernel";
  EXPECT_EQ(state_of(rows, "bpf_program"), CapabilityState::NotTried);
  EXPECT_EQ(state_of(rows, "smaps_of_others"), CapabilityState::NotTried);
  EXPECT_EQ(find(rows, "cachestat")->detail,
            "only the running kernel can answer");
}

TEST(Probe, FactsOfACopiedTreeAreItsOwn) {
  CopiedTree tree;
  tree.add("meminfo", "MemTotal: 1024 kB\nSwapTotal: 2048 kB\n");
  tree.add("sys/kernel/osrelease", "5.10.0-old\n");
  tree.add("sys/kernel/kptr_restrict", "2\n");
  base::Result<Roots> roots = open_roots(tree.path());
  ASSERT_TRUE(roots) << roots.error().what;
  const model::DoctorFacts facts = probe_facts(*roots);
  EXPECT_EQ(facts.kernel_release, "5.10.0-old");
  EXPECT_FALSE(facts.is_live);
  EXPECT_TRUE(facts.effective.empty());
  const model::KernelFact kptr = {"kptr_restrict", "2",
                                  "kernel addresses are for nobody"};
  EXPECT_EQ(std::ranges::count(facts.kernel, kptr), 1);
  EXPECT_EQ(std::ranges::count(facts.kernel, "perf_event_paranoid",
                               &model::KernelFact::name),
            0)
      << "not in the tree, so nothing is known";
  const model::KernelFact swap = {"swap", "2.00 MiB", ""};
  EXPECT_EQ(std::ranges::count(facts.kernel, swap), 1);
}

TEST(Probe, EveryRowHasItsOwnNameAndWords) {
  CopiedTree tree;
  tree.add("meminfo", "");
  base::Result<Roots> roots = open_roots(tree.path());
  ASSERT_TRUE(roots) << roots.error().what;
  std::set<std::string> names;
  for (const Capability& row : probe_capabilities(*roots)) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
    EXPECT_LE(row.name.size(), 24u) << row.name << " breaks the table";
    EXPECT_FALSE(row.gives.empty()) << row.name;
    EXPECT_LE(row.gives.size(), 41u) << row.name << " breaks the table";
    EXPECT_FALSE(row.detail.empty()) << row.name;
  }
}

TEST(Probe, TheRunningMachineAnswersAndKeepsNothing) {
  base::Result<Roots> roots = open_roots("/proc");
  if (!roots || !roots->is_live) {
    GTEST_SKIP() << "/proc is not the running kernel's";
  }
  const size_t before = open_descriptor_count();
  const std::vector<Capability> rows = probe_capabilities(*roots);
  EXPECT_EQ(open_descriptor_count(), before) << "a descriptor stayed open";
  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child stayed";
  EXPECT_EQ(errno, ECHILD);
  EXPECT_EQ(state_of(rows, "meminfo"), CapabilityState::Works);
  for (const Capability& row : rows) {
    EXPECT_FALSE(row.detail.empty()) << row.name;
    if (row.state == CapabilityState::Works) continue;
    std::cout << row.name << " " << model::capability_state_name(row.state)
              << ": " << row.detail << "\n";
  }
}

TEST(Probe, FactsNameTheRunningKernel) {
  base::Result<Roots> roots = open_roots("/proc");
  if (!roots || !roots->is_live) {
    GTEST_SKIP() << "/proc is not the running kernel's";
  }
  const model::DoctorFacts facts = probe_facts(*roots);
  EXPECT_FALSE(facts.kernel_release.empty());
  EXPECT_FALSE(facts.machine.empty());
  EXPECT_EQ(facts.user_id, ::geteuid());
}

TEST(Probe, FindsItsOwnBinary) {
  base::Result<std::string> path = own_binary_path();
  ASSERT_TRUE(path) << path.error().what;
  EXPECT_EQ(path->front(), '/');
}

}  // namespace
}  // namespace tidemark::source
