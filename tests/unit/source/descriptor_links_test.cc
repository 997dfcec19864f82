#include "source/descriptor_links.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/fd.h"

namespace tidemark::source {
namespace {

base::Directory own_fds() {
  base::Result<base::Directory> fds = base::open_directory("/proc/self/fd");
  EXPECT_TRUE(fds) << fds.error().what;
  return std::move(*fds);
}

// A number that is not too small to be in use by others in this process.
constexpr int kFirst = 600;

// Of a copied number: nothing else has it.
base::Fd at_number(base::Fd fd, int number) {
  EXPECT_EQ(::dup2(fd.get(), number), number);
  return base::Fd(number);
}

TEST(DescriptorLinks, TellsTheLinkTheTargetAndHowItWasOpened) {
  const base::Directory fds = own_fds();
  const base::Fd memory =
      at_number(base::Fd(::memfd_create("held", MFD_CLOEXEC)), kFirst);
  ASSERT_EQ(::ftruncate(memory.get(), 12345), 0);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::Fd source = at_number(base::Fd(ends[0]), kFirst + 1);
  const base::Fd sink = at_number(base::Fd(ends[1]), kFirst + 2);
  const base::Fd event =
      at_number(base::Fd(::eventfd(0, EFD_CLOEXEC)), kFirst + 4);
  const std::vector<uint32_t> numbers = {kFirst + 2, kFirst, kFirst + 3,
                                         kFirst + 1, kFirst + 4};
  const std::vector<FoundDescriptor> found =
      read_descriptors(fds, numbers, true);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_TRUE(found[0].link.starts_with("pipe:["));
  EXPECT_TRUE(found[0].rights.write);
  EXPECT_FALSE(found[0].rights.read);
  EXPECT_EQ(found[1].link, "/memfd:held (deleted)");
  ASSERT_TRUE(found[1].target);
  EXPECT_EQ(found[1].target->size_bytes, 12345U);
  EXPECT_TRUE(found[1].rights.read && found[1].rights.write);
  EXPECT_FALSE(found[2].is_there) << "a gap";
  EXPECT_EQ(found[3].link, found[0].link);
  EXPECT_TRUE(found[3].rights.read);
  EXPECT_FALSE(found[3].rights.write);
  EXPECT_EQ(found[4].link, "anon_inode:[eventfd]");
  EXPECT_FALSE(found[4].target) << "its link has said it all";
}

TEST(DescriptorLinks, PathsOfACopiedTreeAreNotFollowed) {
  const base::Directory fds = own_fds();
  const base::Fd file = at_number(
      base::Fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), kFirst);
  const std::vector<uint32_t> numbers = {kFirst};
  const std::vector<FoundDescriptor> found =
      read_descriptors(fds, numbers, false);
  ASSERT_TRUE(found.at(0).is_there);
  EXPECT_FALSE(found[0].target);
}

// Enough for several threads: each stands at its own place all the same.
TEST(DescriptorLinks, ManyComeInTheirOrder) {
  const base::Directory fds = own_fds();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::Fd source = at_number(base::Fd(ends[0]), kFirst);
  const base::Fd sink = at_number(base::Fd(ends[1]), kFirst + 1);
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < 3000; ++i)
    numbers.push_back(kFirst + i % 3);
  const std::vector<FoundDescriptor> found =
      read_descriptors(fds, numbers, true);
  ASSERT_EQ(found.size(), numbers.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].is_there, i % 3 != 2) << i;
    ASSERT_EQ(found[i].rights.read, i % 3 == 0) << i;
    ASSERT_EQ(found[i].rights.write, i % 3 == 1) << i;
  }
}

}  // namespace
}  // namespace tidemark::source
