#include "source/roots.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "unit/fixture.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using test::TemporaryTree;

// The variable PROCFS as the test wants it, put back afterwards.
class ProcfsVariable {
 public:
  explicit ProcfsVariable(const char* value) {
    if (const char* before = std::getenv("PROCFS")) before_ = before;
    ::setenv("PROCFS", value, 1);
  }
  ProcfsVariable(const ProcfsVariable&) = delete;
  ProcfsVariable& operator=(const ProcfsVariable&) = delete;
  ~ProcfsVariable() {
    if (before_) {
      ::setenv("PROCFS", before_->c_str(), 1);
    } else {
      ::unsetenv("PROCFS");
    }
  }

 private:
  std::optional<std::string> before_;
};

TEST(Roots, OpensACapturedTree) {
  const std::string path = test::fixture_path("debian-6.1/proc");
  base::Result<Roots> roots = open_roots(path);
  ASSERT_TRUE(roots) << roots.error().what;
  EXPECT_EQ(roots->proc.path, path);
  EXPECT_FALSE(roots->is_live);
  EXPECT_FALSE(roots->is_local);
}

TEST(Roots, KnowsTheRunningKernelsOwn) {
  base::Result<Roots> roots = open_roots("/proc");
  ASSERT_TRUE(roots) << roots.error().what;
  EXPECT_TRUE(roots->is_live);
  EXPECT_TRUE(roots->is_local);
}

TEST(Roots, OpensATreeOfMeminfoAlone) {
  TemporaryTree tree;
  tree.add("meminfo", "");
  base::Result<Roots> roots = open_roots(tree.path());
  EXPECT_TRUE(roots) << roots.error().what;
}

TEST(Roots, OpensATreeOfOneProcessAlone) {
  TemporaryTree tree;
  tree.add("42/stat", "");
  base::Result<Roots> roots = open_roots(tree.path());
  EXPECT_TRUE(roots) << roots.error().what;
}

TEST(Roots, RefusesADirectoryThatIsNoProcTree) {
  TemporaryTree tree;
  tree.add("0/stat", "");
  tree.add("-1/stat", "");
  tree.add("99999999999/stat", "");
  tree.add("self/stat", "");
  base::Result<Roots> roots = open_roots(tree.path());
  ASSERT_FALSE(roots);
  EXPECT_EQ(roots.error().kind, ErrorKind::NotFound);
  EXPECT_EQ(roots.error().what,
            tree.path() + " is no proc tree: no process and no meminfo in it");
  EXPECT_EQ(roots.error().hint,
            "--proc and PROCFS name a directory like /proc");
}

TEST(Roots, RefusesADirectoryThatIsNotThere) {
  base::Result<Roots> roots = open_roots("/no/such/proc");
  ASSERT_FALSE(roots);
  EXPECT_EQ(roots.error().kind, ErrorKind::NotFound);
  EXPECT_EQ(roots.error().what,
            "cannot open the proc tree: /no/such/proc: No such file or "
            "directory");
}

TEST(Roots, RefusesAFile) {
  TemporaryTree tree;
  tree.add("meminfo", "");
  base::Result<Roots> roots = open_roots(tree.path("meminfo"));
  ASSERT_FALSE(roots);
  EXPECT_EQ(roots.error().what, "cannot open the proc tree: " +
                                    tree.path("meminfo") + ": Not a directory");
}

TEST(Roots, TakesTheVariableWhereNoPathIsGiven) {
  TemporaryTree tree;
  tree.add("meminfo", "");
  ProcfsVariable variable(tree.path().c_str());
  base::Result<Roots> roots = open_roots("");
  ASSERT_TRUE(roots) << roots.error().what;
  EXPECT_EQ(roots->proc.path, tree.path());
}

TEST(Roots, PrefersAGivenPathToTheVariable) {
  TemporaryTree tree;
  tree.add("meminfo", "");
  ProcfsVariable variable("/no/such/proc");
  base::Result<Roots> roots = open_roots(tree.path());
  ASSERT_TRUE(roots) << roots.error().what;
  EXPECT_EQ(roots->proc.path, tree.path());
}

TEST(Roots, TakesTheRunningKernelWhereTheVariableIsEmpty) {
  ProcfsVariable variable("");
  base::Result<Roots> roots = open_roots("");
  ASSERT_TRUE(roots) << roots.error().what;
  EXPECT_EQ(roots->proc.path, "/proc");
}

}  // namespace
}  // namespace tidemark::source
