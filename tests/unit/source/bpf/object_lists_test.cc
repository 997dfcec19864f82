// What the kernel's iterators list of a child of ours, of which all is known.
#include "source/bpf/object_lists.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace tidemark::source {
namespace {

// Has what we have when it is made, and does nothing.
class ListedChild {
 public:
  ListedChild() : pid_(::fork()) {
    while (pid_ == 0)
      ::pause();
  }
  ListedChild(const ListedChild&) = delete;
  ListedChild& operator=(const ListedChild&) = delete;
  ~ListedChild() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  int32_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

struct stat stat_of(const base::Fd& fd) {
  struct stat facts {};
  EXPECT_EQ(::fstat(fd.get(), &facts), 0);
  return facts;
}

class ObjectListsLive : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "without root BPF may not look";
    base::Result<ObjectLists> lists = ObjectLists::read();
    if (!lists) GTEST_SKIP() << lists.error().what;
  }
  // `check` gets the descriptor of that number; the lists live meanwhile.
  template <typename Check>
  void with_descriptor(int32_t pid, const base::Fd& fd, const Check& check) {
    base::Result<ObjectLists> lists = ObjectLists::read();
    ASSERT_TRUE(lists);
    int met = 0;
    lists->descriptors_of(pid, [&](const KernelDescriptor& one) {
      if (one.number != static_cast<uint32_t>(fd.get())) return;
      ++met;
      check(one.file);
    });
    EXPECT_EQ(met, 1);
  }
};

TEST_F(ObjectListsLive, TellsOfAMemfdWhatStatTells) {
  const base::Fd fd(::memfd_create("listed", MFD_CLOEXEC));
  const std::string bytes(12345, 'x');
  ASSERT_EQ(::write(fd.get(), bytes.data(), bytes.size()), 12345);
  const ListedChild child;
  const struct stat facts = stat_of(fd);
  with_descriptor(child.pid(), fd, [&](const KernelFile& file) {
    EXPECT_TRUE(file.is_as_stat);
    EXPECT_EQ(file.link, "/memfd:listed (deleted)");
    EXPECT_EQ(file.facts.inode_id, facts.st_ino);
    EXPECT_EQ(file.facts.device_major, major(facts.st_dev));
    EXPECT_EQ(file.facts.device_minor, minor(facts.st_dev));
    EXPECT_EQ(file.facts.mode, facts.st_mode);
    EXPECT_EQ(file.facts.link_count, 0);
    EXPECT_EQ(file.facts.size_bytes, 12345);
    EXPECT_EQ(file.facts.block_bytes,
              static_cast<uint64_t>(facts.st_blocks) * 512);
    EXPECT_TRUE(file.may_read);
    EXPECT_TRUE(file.may_write);
  });
}

TEST_F(ObjectListsLive, TellsTheSizeOfPipesThatHoldNothing) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::Fd out(ends[0]);
  const base::Fd in(ends[1]);
  const ListedChild child;
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto capacity = static_cast<uint64_t>(::fcntl(out.get(), F_GETPIPE_SZ));
  with_descriptor(child.pid(), out, [&](const KernelFile& file) {
    EXPECT_EQ(file.link, "pipe:[" + std::to_string(stat_of(out).st_ino) + "]");
    EXPECT_EQ(file.empty_pipe_pages, capacity / page);
    EXPECT_FALSE(file.may_write);
  });
  ASSERT_EQ(::write(in.get(), "x", 1), 1);
  with_descriptor(child.pid(), in, [&](const KernelFile& file) {
    EXPECT_FALSE(file.empty_pipe_pages);
    EXPECT_FALSE(file.may_read);
  });
}

TEST_F(ObjectListsLive, ListsMappingsWithTheirRights) {
  const base::Fd fd(::memfd_create("mapped", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(fd.get(), 8192), 0);
  void* at = ::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(at, MAP_FAILED);
  const ListedChild child;
  base::Result<ObjectLists> lists = ObjectLists::read();
  ASSERT_TRUE(lists);
  std::vector<KernelMapping> found;
  EXPECT_TRUE(lists->mappings_of(child.pid(), [&](const KernelMapping& one) {
    if (one.file.link == "/memfd:mapped (deleted)") found.push_back(one);
  }));
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].start_address, reinterpret_cast<uintptr_t>(at));
  EXPECT_EQ(found[0].end_address - found[0].start_address, 8192);
  EXPECT_EQ(found[0].permissions,
            (model::Permissions{true, false, false, true}));
  EXPECT_FALSE(found[0].is_shown_otherwise);
  ::munmap(at, 8192);
}

TEST_F(ObjectListsLive, SaysNothingOfOurselvesOrOfNobody) {
  base::Result<ObjectLists> lists = ObjectLists::read();
  ASSERT_TRUE(lists);
  const auto never = [](const KernelDescriptor&) { FAIL(); };
  EXPECT_FALSE(lists->descriptors_of(::getpid(), never))
      << "what we hold changes while we look";
  EXPECT_FALSE(lists->descriptors_of(-1, never));
}

}  // namespace
}  // namespace tidemark::source
