// The kernel's notes on pages of our own, of which all is known.
#include "source/bpf/page_structs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace tidemark::source {
namespace {

size_t page_bytes() {
  return static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

uint64_t frame_of(const void* at) {
  constexpr uint64_t kFrameMask = (uint64_t{1} << 55) - 1;
  const base::Fd file(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  uint64_t entry = 0;
  const auto page = reinterpret_cast<uintptr_t>(at) / page_bytes();
  const ssize_t got = ::pread(file.get(), &entry, sizeof entry,
                              static_cast<off_t>(page * sizeof entry));
  return got == sizeof entry ? entry & kFrameMask : 0;
}

uint64_t flags_of(uint64_t frame) {
  const base::Fd file(::open("/proc/kpageflags", O_RDONLY | O_CLOEXEC));
  uint64_t flags = model::kPageAbsent;
  const ssize_t got = ::pread(file.get(), &flags, sizeof flags,
                              static_cast<off_t>(frame * sizeof flags));
  return got == sizeof flags ? flags : model::kPageAbsent;
}

class PageStructsLive : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "without root BPF may not look";
    base::Result<PageStructs> opened = PageStructs::open();
    if (!opened) GTEST_SKIP() << opened.error().what;
    structs_ = std::move(*opened);
  }

  model::PageStruct read(uint64_t frame) {
    const std::vector<uint64_t> flags = {flags_of(frame)};
    std::vector<model::PageStruct> structs(1);
    const base::Status status = structs_->read(frame, flags, structs);
    EXPECT_TRUE(status) << status.error().what;
    return structs[0];
  }
  model::CachedFile name(uint64_t address) {
    const base::Result<std::vector<model::CachedFile>> files =
        structs_->name_files(std::span(&address, 1));
    EXPECT_TRUE(files) << files.error().what;
    return files ? files->at(0) : model::CachedFile();
  }

  std::optional<PageStructs> structs_;
};

// A file's first pages in memory, written to.
class Mapped {
 public:
  Mapped(int fd, size_t pages) : bytes_(pages * page_bytes()) {
    EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(bytes_)), 0);
    // At a round address: the kernel makes no huge page elsewhere.
    constexpr uintptr_t kRound = uintptr_t{2} << 20;
    void* room = ::mmap(nullptr, bytes_ + kRound, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const auto first = reinterpret_cast<uintptr_t>(room);
    at_ = ::mmap(reinterpret_cast<void*>((first + kRound - 1) & ~(kRound - 1)),
                 bytes_, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0);
    EXPECT_NE(at_, MAP_FAILED);
    for (size_t i = 0; i < pages; ++i)
      static_cast<volatile char*>(at_)[i * page_bytes()] = 1;
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { ::munmap(at_, bytes_); }
  char* page(size_t index) const {
    return static_cast<char*>(at_) + index * page_bytes();
  }

 private:
  size_t bytes_;
  void* at_ = nullptr;
};

TEST_F(PageStructsLive, APageOfAMemfdNamesIt) {
  const base::Fd file(::memfd_create("of-the-test", MFD_CLOEXEC));
  const Mapped memory(file.get(), 5);
  struct stat status {};
  ASSERT_EQ(::fstat(file.get(), &status), 0);
  const model::PageStruct first = read(frame_of(memory.page(0)));
  ASSERT_TRUE(first.is_known);
  EXPECT_GT(first.reference_count, 0U);
  ASSERT_NE(first.owner, 0U);
  for (size_t i = 1; i < 5; ++i)
    EXPECT_EQ(read(frame_of(memory.page(i))).owner, first.owner);
  const model::CachedFile named = name(first.owner);
  EXPECT_EQ(named.path, "/memfd:of-the-test");
  EXPECT_EQ(named.inode_id, status.st_ino);
  EXPECT_EQ(named.device_major, ::major(status.st_dev));
  EXPECT_EQ(named.device_minor, ::minor(status.st_dev));
  EXPECT_EQ(named.link_count, 0U);
  EXPECT_EQ(named.size_bytes, 5 * page_bytes());
}

TEST_F(PageStructsLive, APageOfAFileNamesItByItsPath) {
  const std::string folder =
      testing::TempDir() + "tidemark_structs_" + std::to_string(::getpid());
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  const std::string path = folder + "/a file of the test";
  {
    const base::Fd file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    const Mapped memory(file.get(), 2);
    const model::PageStruct page = read(frame_of(memory.page(1)));
    ASSERT_NE(page.owner, 0U);
    const model::CachedFile named = name(page.owner);
    // From the root of its own file system, wherever that is mounted.
    EXPECT_TRUE(path.ends_with(named.path)) << named.path;
    EXPECT_TRUE(named.path.ends_with("/a file of the test")) << named.path;
    EXPECT_TRUE(named.is_whole);
    EXPECT_EQ(named.link_count, 1U);
  }
  ::unlink(path.c_str());
  ::rmdir(folder.c_str());
}

// Pages of a larger one know their owner through its first, which may lie
// before the frame that is asked for.
TEST_F(PageStructsLive, AnyPageOfALargerOneKnowsItsOwner) {
  const base::Fd file(::memfd_create("large", MFD_CLOEXEC));
  constexpr size_t kPages = 2048;
  const Mapped memory(file.get(), kPages);
  // MADV_COLLAPSE, since 6.1: shared memory seldom has them by itself.
  constexpr int kCollapse = 25;
  if (::madvise(memory.page(0), kPages * page_bytes(), kCollapse) != 0) {
    GTEST_SKIP() << "the kernel makes no huge page of shared memory here";
  }
  const uint64_t owner = read(frame_of(memory.page(0))).owner;
  ASSERT_NE(owner, 0U);
  size_t pages = 0;
  for (size_t i = 0; i < kPages; i += 61) {
    [[maybe_unused]] const volatile char touched = *memory.page(i);
    const uint64_t frame = frame_of(memory.page(i));
    if (frame == 0) continue;
    ++pages;
    EXPECT_EQ(read(frame).owner, owner) << "page " << i;
  }
  EXPECT_GT(pages, 10U);
}

TEST_F(PageStructsLive, OwnersOfAnonymousPagesAreNoFiles) {
  void* at = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  *static_cast<volatile char*>(at) = 1;
  const model::PageStruct page = read(frame_of(at));
  ::munmap(at, page_bytes());
  EXPECT_TRUE(page.is_known);
  EXPECT_EQ(page.owner, 0U);
}

TEST_F(PageStructsLive, AddressesOfNothingHaveNoName) {
  for (uint64_t address : {uint64_t{0}, uint64_t{4096}, ~uint64_t{7}})
    EXPECT_EQ(name(address).inode_id, 0U) << address;
  const base::Result<std::vector<model::SlabCacheName>> caches =
      structs_->name_caches({0, 4096, ~uint64_t{7}});
  ASSERT_TRUE(caches) << caches.error().what;
  for (const model::SlabCacheName& cache : *caches)
    EXPECT_EQ(cache.name, "");
}

TEST_F(PageStructsLive, ListsOurOwnStack) {
  const base::Result<std::vector<model::KernelStack>> stacks =
      structs_->kernel_stacks();
  ASSERT_TRUE(stacks) << stacks.error().what;
  if (stacks->empty()) GTEST_SKIP() << "stacks of this kernel are no areas";
  const auto ours =
      std::ranges::find(*stacks, ::getpid(), &model::KernelStack::thread);
  ASSERT_NE(ours, stacks->end());
  EXPECT_EQ(ours->pid, ::getpid());
  EXPECT_GE(ours->frames.size(), 2U);
  for (uint64_t frame : ours->frames) {
    const uint64_t flags = flags_of(frame);
    EXPECT_EQ(flags & (model::kPageLru | model::kPageBuddy), 0U) << frame;
    EXPECT_GT(read(frame).reference_count, 0U) << frame;
  }
}

}  // namespace
}  // namespace tidemark::source
