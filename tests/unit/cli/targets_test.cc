#include "cli/targets.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using Ids = std::vector<model::ProcessId>;

base::Result<Ids> find(const std::string& tree,
                       const std::vector<std::string>& names) {
  base::Result<source::Roots> roots =
      source::open_roots(fixture(tree + "/proc"));
  if (!roots) return roots.error();
  return find_targets(*roots, names);
}

std::vector<int32_t> pids(const base::Result<Ids>& found) {
  EXPECT_TRUE(found) << found.error().what;
  std::vector<int32_t> list;
  if (!found) return list;
  for (const model::ProcessId& id : *found)
    list.push_back(id.pid);
  return list;
}

ErrorKind failure(const base::Result<Ids>& found) {
  EXPECT_FALSE(found);
  return found ? ErrorKind::Closed : found.error().kind;
}

TEST(FindTargets, NoneNamedIsMisuse) {
  EXPECT_EQ(failure(find("debian-6.12", {})), ErrorKind::Misused);
}

TEST(FindTargets, APidComesWithItsStart) {
  base::Result<Ids> found = find("debian-6.12", {"151"});
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(*found, (Ids{{151, 463}}));
}

TEST(FindTargets, ANameIsResolved) {
  EXPECT_EQ(pids(find("debian-6.12", {"memhog"})), std::vector<int32_t>{151});
}

TEST(FindTargets, TheOrderIsThatOfTheUser) {
  EXPECT_EQ(pids(find("debian-6.12", {"151", "1"})),
            (std::vector<int32_t>{151, 1}));
}

TEST(FindTargets, AProcessNamedTwiceIsOneTarget) {
  EXPECT_EQ(pids(find("debian-6.12", {"151", "memhog", "151"})),
            std::vector<int32_t>{151});
}

TEST(FindTargets, OneWrongNameAmongRightOnesFails) {
  EXPECT_EQ(failure(find("debian-6.12", {"151", "nginx"})),
            ErrorKind::NotFound);
}

TEST(FindTargets, AKernelThreadIsRefused) {
  EXPECT_EQ(failure(find("debian-6.12", {"2"})), ErrorKind::Unsupported);
}

TEST(FindTargets, ANameIsNotMatchedInPart) {
  EXPECT_EQ(failure(find("debian-6.12", {"memho"})), ErrorKind::NotFound);
}

TEST(FindTargets, AnEmptyNameFindsNothing) {
  EXPECT_FALSE(find("debian-6.12", {""}));
}

}  // namespace
}  // namespace tidemark::cli
