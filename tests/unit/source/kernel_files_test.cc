#include "source/kernel_files.h"

#include <gtest/gtest.h>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using test::fixture_roots;
using test::OrdinaryUser;
using test::TemporaryTree;

TEST(KernelFiles, AreReadFromACapturedTree) {
  const Roots roots = fixture_roots("kernel-6.18/proc");
  EXPECT_TRUE(read_iomem(roots));
  EXPECT_TRUE(read_vmallocinfo(roots));
  EXPECT_TRUE(read_slabinfo(roots));
  EXPECT_TRUE(read_sockstat(roots));
  EXPECT_TRUE(read_section_symbols(roots));
  EXPECT_TRUE(read_page_counters(roots));
  EXPECT_EQ(read_modules(roots).unknown_because,
            roots.proc.path + "/modules: No such file or directory");
}

TEST(KernelFiles, TheHeadersOfKcoreTellSegments) {
  const model::Reading<std::vector<model::KernelSegment>> segments =
      read_kernel_segments(fixture_roots("guest-6.12/proc"));
  ASSERT_TRUE(segments) << segments.unknown_because;
  ASSERT_EQ(segments->size(), 7U);
  EXPECT_EQ(segments->at(3).physical, 0x1000U);
  EXPECT_FALSE(segments->at(1).physical);
}

TEST(KernelFiles, SumFragmentsOverBothSockstats) {
  TemporaryTree tree;
  tree.add("net/sockstat", "TCP: inuse 1 mem 3\nFRAG: inuse 1 memory 40\n");
  tree.add("net/sockstat6", "FRAG6: inuse 1 memory 2\n");
  const model::Reading<model::SocketMemory> memory =
      read_sockstat(tree.roots());
  ASSERT_TRUE(memory) << memory.unknown_because;
  EXPECT_EQ(memory->tcp_pages, 3U);
  EXPECT_EQ(memory->fragment_bytes, 42U);
}

TEST(KernelFiles, SayWhoseTextCannotBeRead) {
  TemporaryTree tree;
  tree.add("slabinfo", "slabinfo - version: 9.9\n");
  EXPECT_EQ(read_slabinfo(tree.roots()).unknown_because,
            tree.path() + ": slabinfo: cannot read 'slabinfo - version: 9.9'");
}

TEST(KernelFiles, SayThatTheyAreDenied) {
  TemporaryTree tree;
  tree.add("vmallocinfo", "");
  tree.deny("vmallocinfo");
  const Roots roots = tree.roots();
  const OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_EQ(read_vmallocinfo(roots).unknown_because,
            "denied: " + tree.path("vmallocinfo") + ": Permission denied");
}

}  // namespace
}  // namespace tidemark::source
