#include "source/tracefs.h"

#include <gtest/gtest.h>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using test::TemporaryTree;

TEST(Tracefs, IsOpenedWhereItIsMounted) {
  const TemporaryTree tree;
  tree.add("../tracefs/events/kmem/mm_page_alloc/format",
           "name: mm_page_alloc\nID: 7\n");
  const std::string place =
      std::filesystem::path(tree.path("../tracefs")).lexically_normal();
  tree.add("self/mountinfo",
           "40 20 0:12 / " + place + " rw - tracefs tracefs rw\n");
  base::Result<base::Directory> tracefs = open_tracefs(tree.roots());
  ASSERT_TRUE(tracefs) << tracefs.error().what;
  EXPECT_EQ(tracefs->path, place);
  base::Result<parse::TraceFormat> format =
      read_trace_format(*tracefs, "kmem/mm_page_alloc");
  ASSERT_TRUE(format) << format.error().what;
  EXPECT_EQ(format->id, 7U);
  EXPECT_FALSE(read_trace_format(*tracefs, "kmem/nothing"));
}

TEST(Tracefs, WithoutAMountAndTheRightToMakeOneItSaysSo) {
  const TemporaryTree tree;
  tree.add("self/mountinfo", "");
  const Roots roots = tree.roots();
  const test::OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << "root may not become somebody else";
  base::Result<base::Directory> tracefs = open_tracefs(roots);
  ASSERT_FALSE(tracefs);
  EXPECT_NE(tracefs.error().what.find("tracefs"), std::string::npos);
  EXPECT_FALSE(tracefs.error().hint.empty());
}

}  // namespace
}  // namespace tidemark::source
