// On the running kernel, and on our own memory: nothing else is known as well.
#include "source/frame_walk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "unit/child.h"

namespace tidemark::source {
namespace {

size_t page_bytes() {
  return static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

// A mapping of our own, gone with the test.
class Memory {
 public:
  Memory(size_t pages, int protection, int flags, int fd = -1)
      : bytes_(pages * page_bytes()),
        at_(::mmap(nullptr, bytes_, protection, flags, fd, 0)) {
    EXPECT_NE(at_, MAP_FAILED);
    // A huge page would be present where nothing was touched.
    ::madvise(at_, bytes_, MADV_NOHUGEPAGE);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { ::munmap(at_, bytes_); }

  void touch(size_t page) const {
    static_cast<volatile char*>(at_)[page * page_bytes()] = 1;
  }
  char look_at(size_t page) const {
    return static_cast<volatile char*>(at_)[page * page_bytes()];
  }
  // The frame of each page, 0 for none, as the file itself says.
  std::vector<uint64_t> frames() const {
    constexpr uint64_t kPresent = uint64_t{1} << 63;
    constexpr uint64_t kFrameMask = (uint64_t{1} << 55) - 1;
    std::vector<uint64_t> entries(bytes_ / page_bytes());
    const base::Fd file(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    const size_t wanted = entries.size() * sizeof(uint64_t);
    const auto first = reinterpret_cast<uintptr_t>(at_) / page_bytes();
    EXPECT_EQ(::pread(file.get(), entries.data(), wanted,
                      static_cast<off_t>(first * sizeof(uint64_t))),
              static_cast<ssize_t>(wanted));
    for (uint64_t& entry : entries)
      entry = entry & kPresent ? entry & kFrameMask : 0;
    return entries;
  }

 private:
  size_t bytes_;
  void* at_;
};

using Times = std::map<uint64_t, uint64_t>;

class FrameWalkLive : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "without root the kernel hides the frames";
    }
  }
  // How often each frame is met in a process.
  static Times walk(const std::string& pid) {
    Times times;
    const base::Result<base::Directory> process =
        base::open_directory("/proc/" + pid);
    EXPECT_TRUE(process) << process.error().what;
    if (!process) return times;
    FrameWalk walk;
    const base::Status status =
        walk.walk(*process, [&](std::span<const uint64_t> frames) {
          for (uint64_t frame : frames)
            ++times[frame];
        });
    EXPECT_TRUE(status) << status.error().what;
    return times;
  }
};

TEST_F(FrameWalkLive, FindsWhatThePagemapOfAMappingShows) {
  constexpr size_t kPages = 4001;
  const Memory memory(kPages, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS);
  // Runs, single pages, holes shorter and longer than are read over.
  for (size_t page = 0; page < kPages; ++page) {
    if (page < 500 || page % 3 == 0 || (page > 2000 && page < 2100)) {
      memory.touch(page);
    }
  }
  for (size_t page = 2500; page < 3500; ++page)
    memory.touch(page);
  const std::vector<uint64_t> frames = memory.frames();
  const Times found = walk("self");
  size_t present = 0;
  for (uint64_t frame : frames) {
    if (frame == 0) continue;
    ++present;
    const auto one = found.find(frame);
    ASSERT_NE(one, found.end()) << "frame " << frame;
    EXPECT_EQ(one->second, 1U) << "frame " << frame;
  }
  EXPECT_GT(present, 2000U);
}

TEST_F(FrameWalkLive, MeetsAPageMappedTwiceTwice) {
  constexpr size_t kPages = 37;
  const base::Fd file(::memfd_create("twice", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(kPages * page_bytes())),
            0);
  const Memory one(kPages, PROT_READ | PROT_WRITE, MAP_SHARED, file.get());
  const Memory two(kPages, PROT_READ | PROT_WRITE, MAP_SHARED, file.get());
  for (size_t page = 0; page < kPages; ++page) {
    one.touch(page);
    two.look_at(page);
  }
  const Times found = walk("self");
  for (uint64_t frame : one.frames()) {
    ASSERT_NE(frame, 0U);
    EXPECT_EQ(found.at(frame), 2U);
  }
}

// Pages that were only read are all the page of zeros, which the walk leaves
// out where they are many; a few among others it may meet.
TEST_F(FrameWalkLive, SparesItselfThePageOfZeros) {
  constexpr size_t kPages = 5003;
  const Memory memory(kPages, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS);
  for (size_t page = 0; page < kPages; ++page)
    memory.look_at(page);
  const uint64_t zeros = memory.frames()[kPages / 2];
  ASSERT_NE(zeros, 0U);
  const Times found = walk("self");
  const auto one = found.find(zeros);
  EXPECT_LT(one == found.end() ? 0 : one->second, kPages / 10);
}

TEST_F(FrameWalkLive, SeesTheMemoryOfAChild) {
  constexpr size_t kPages = 701;
  const Memory memory(kPages, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS);
  for (size_t page = 0; page < kPages; ++page)
    memory.touch(page);
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const Times found = walk(std::to_string(child));
  size_t shared = 0;
  for (uint64_t frame : memory.frames())
    shared += found.contains(frame);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(shared, kPages);
}

TEST_F(FrameWalkLive, AKernelThreadHasNone) {
  const base::Result<base::Directory> process = base::open_directory("/proc/2");
  ASSERT_TRUE(process);
  FrameWalk walk;
  size_t frames = 0;
  const base::Status status = walk.walk(
      *process, [&](std::span<const uint64_t> some) { frames += some.size(); });
  EXPECT_EQ(frames, 0U);
}

}  // namespace
}  // namespace tidemark::source
