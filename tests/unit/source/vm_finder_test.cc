#include "source/vm/vm_finder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using model::VmKind;
using test::TemporaryTree;

void add_program(const TemporaryTree& tree, int32_t pid, int32_t parent,
                 const std::string& program, const std::string& arguments = "",
                 bool holds_kvm = false) {
  const std::string id = std::to_string(pid);
  tree.add_process(pid, parent, program.substr(0, 15));
  tree.link(id + "/exe", "/usr/bin/" + program);
  std::string line = program + arguments;
  std::ranges::replace(line, ' ', '\0');
  tree.add(id + "/cmdline", line);
  tree.link(id + "/fd/0", "/dev/null");
  if (holds_kvm) tree.link(id + "/fd/9", "anon_inode:kvm-vm");
}

VmSearch found_in(const TemporaryTree& tree) {
  const Roots roots = tree.roots();
  base::Result<VmSearch> search = find_vms(roots);
  EXPECT_TRUE(search) << search.error().what;
  return std::move(*search);
}

TEST(VmFinder, KnowsAVmByItsDescriptorOrItsProgram) {
  const TemporaryTree tree;
  add_program(tree, 5, 1, "strange-vmm", "", true);
  add_program(tree, 6, 1, "qemu-system-x86_64", " -m 256 -name a");
  add_program(tree, 7, 1, "bash");
  const VmSearch search = found_in(tree);
  ASSERT_EQ(search.vms.size(), 2U);
  EXPECT_EQ(search.vms[0].kind, VmKind::Other);
  EXPECT_TRUE(search.vms[0].holds_kvm);
  EXPECT_EQ(search.vms[1].kind, VmKind::Qemu);
  EXPECT_FALSE(search.vms[1].holds_kvm);
  EXPECT_EQ(search.vms[1].arguments.name, "a");
  EXPECT_EQ(search.other_pids, std::vector<int32_t>{7});
}

TEST(VmFinder, TakesTheWholeTreeBelowAndNoPartOfItForAnother) {
  const TemporaryTree tree;
  add_program(tree, 5, 1, "crosvm", " run --mem 64", true);
  add_program(tree, 6, 5, "crosvm", " run --mem 64", true);
  add_program(tree, 7, 6, "minijail");
  const VmSearch search = found_in(tree);
  ASSERT_EQ(search.vms.size(), 1U);
  EXPECT_EQ(search.vms[0].id.pid, 5);
  EXPECT_EQ(search.vms[0].descendant_pids, (std::vector<int32_t>{6, 7}));
}

TEST(VmFinder, LeavesOutRunsThatStartNoVm) {
  const TemporaryTree tree;
  add_program(tree, 5, 1, "crosvm", " device block");
  add_program(tree, 6, 1, "crosvm", " stop /run/vm");
  EXPECT_TRUE(found_in(tree).vms.empty());
}

TEST(VmFinder, IsNotCaughtInARingOfParents) {
  const TemporaryTree tree;
  add_program(tree, 5, 6, "bash");
  add_program(tree, 6, 5, "bash");
  add_program(tree, 7, 6, "crosvm", " run");
  const VmSearch search = found_in(tree);
  ASSERT_EQ(search.vms.size(), 1U);
  EXPECT_EQ(search.vms[0].id.pid, 7);
}

TEST(VmFinder, KnowsAProgramByItsArgumentsWhereItsFileIsHidden) {
  const TemporaryTree tree;
  tree.add_process(5, 1, "qemu-system-x86");
  std::string line = "/usr/bin/qemu-system-x86_64 -m 64";
  std::ranges::replace(line, ' ', '\0');
  tree.add("5/cmdline", line);
  const VmSearch search = found_in(tree);
  ASSERT_EQ(search.vms.size(), 1U);
  EXPECT_EQ(search.vms[0].arguments.ram.total_bytes, uint64_t{64} << 20);
}

TEST(VmFinder, SurvivesZombiesAndThreadsOfTheKernel) {
  const TemporaryTree tree;
  tree.add("5/stat", TemporaryTree::stat(5, 1, "crosvm", 'Z', 100));
  tree.add("6/stat",
           TemporaryTree::stat(6, 2, "kvm-nx-lpage", 'S', 100, 0x200040));
  EXPECT_TRUE(found_in(tree).vms.empty());
}

}  // namespace
}  // namespace tidemark::source
