#include "model/region.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <initializer_list>
#include <set>

#include "unit/quantities.h"

namespace tidemark::model {
namespace {

constexpr uint64_t kPage = 4096;
using test::kMiB;
constexpr uint64_t kArena = 64 * kMiB;
constexpr uint64_t kArenaBorder = 0x7f3618000000;  // a multiple of 64 MiB

// One line of maps without its smaps fields: "rw-p" at `start`, `size` long.
Mapping anonymous(uint64_t start, uint64_t size, std::string_view letters,
                  std::string_view name = {}) {
  Mapping m;
  m.start_address = start;
  m.end_address = start + size;
  m.permissions = {letters[0] == 'r', letters[1] == 'w', letters[2] == 'x',
                   letters[3] == 's'};
  m.name = name;
  return m;
}

Mapping file(uint64_t start, uint64_t size, std::string_view letters,
             uint64_t inode, std::string_view name,
             DeviceNumber device = {0xfe, 0}) {
  Mapping m = anonymous(start, size, letters, name);
  m.inode_id = inode;
  m.device_major = device.major;
  m.device_minor = device.minor;
  return m;
}

Mapping with_flag(Mapping m, std::string_view flag) {
  m.vm_flags |= vm_flag_bit(flag);
  return m;
}

Thread sleeping(int32_t thread_id, uint64_t stack_pointer,
                std::string_view comm = "worker") {
  return {thread_id, std::string(comm), 'S', stack_pointer};
}

Thread running(int32_t thread_id) {
  return {thread_id, "worker", 'R', std::nullopt};
}

// "image+3 heap" for a program of three mappings and its heap.
std::string told(const std::vector<Region>& regions) {
  std::string text;
  for (const Region& region : regions) {
    if (!text.empty()) text += ' ';
    text += region_kind_token(region.kind);
    if (region.mapping_count != 1) {
      text += "+" + std::to_string(region.mapping_count);
    }
  }
  return text;
}

std::string told(const std::vector<Mapping>& mappings,
                 const RegionHints& hints = {}) {
  return told(find_regions(mappings, hints));
}

// Threads of process 1.
RegionHints with_threads(std::vector<Thread> threads) {
  return {1, std::move(threads), {}, {}};
}

// ---- words

TEST(RegionKind, HasAWordOfItsOwn) {
  std::set<std::string_view> tokens;
  for (int kind = 0; kind <= static_cast<int>(RegionKind::Rollup); ++kind) {
    tokens.insert(region_kind_token(static_cast<RegionKind>(kind)));
  }
  EXPECT_EQ(tokens.size(), static_cast<size_t>(RegionKind::Rollup) + 1);
}

TEST(RegionKind, BelongsToTheCategoryOfTheContract) {
  const auto category = [](RegionKind kind) {
    return category_token(region_category(kind));
  };
  EXPECT_EQ(category(RegionKind::Image), "code");
  EXPECT_EQ(category(RegionKind::BrkHeap), "heap");
  EXPECT_EQ(category(RegionKind::Arena), "heap");
  EXPECT_EQ(category(RegionKind::NamedHeap), "heap");
  EXPECT_EQ(category(RegionKind::MainStack), "stack");
  EXPECT_EQ(category(RegionKind::ThreadStack), "stack");
  EXPECT_EQ(category(RegionKind::Anonymous), "anon");
  EXPECT_EQ(category(RegionKind::NamedAnonymous), "anon");
  EXPECT_EQ(category(RegionKind::Jit), "anon");
  EXPECT_EQ(category(RegionKind::Reservation), "anon");
  EXPECT_EQ(category(RegionKind::MemFd), "shm");
  EXPECT_EQ(category(RegionKind::SharedAnonymous), "shm");
  EXPECT_EQ(category(RegionKind::SysV), "shm");
  EXPECT_EQ(category(RegionKind::TmpFile), "shm");
  EXPECT_EQ(category(RegionKind::File), "file");
  EXPECT_EQ(category(RegionKind::Device), "file");
  EXPECT_EQ(category(RegionKind::HugeTlb), "huge");
  EXPECT_EQ(category(RegionKind::Vdso), "code");
}

// ---- programs and libraries

TEST(Image, TakesAllSegmentsOfItsFile) {
  const std::vector<Mapping> mappings = {
      file(0x400000, kPage, "r--p", 7, "/usr/bin/zoo"),
      file(0x401000, kPage, "r-xp", 7, "/usr/bin/zoo"),
      file(0x402000, kPage, "rw-p", 7, "/usr/bin/zoo"),
  };
  EXPECT_EQ(find_regions(mappings, {}),
            (std::vector<Region>{{RegionKind::Image, 0, 3, "zoo", 0}}));
}

TEST(Image, TakesTheBssBehindIt) {
  EXPECT_EQ(told({file(0x400000, kPage, "r-xp", 7, "/usr/bin/zoo"),
                  file(0x401000, kPage, "rw-p", 7, "/usr/bin/zoo"),
                  anonymous(0x402000, 3 * kPage, "rw-p")}),
            "image+3");
}

TEST(Image, LeavesAnonymousMemoryThatDoesNotTouchIt) {
  EXPECT_EQ(told({file(0x400000, kPage, "r-xp", 7, "/usr/bin/zoo"),
                  anonymous(0x402000, kPage, "rw-p")}),
            "image anon");
}

TEST(Image, LeavesAReadOnlyNeighbour) {
  EXPECT_EQ(told({file(0x400000, kPage, "r-xp", 7, "/usr/bin/zoo"),
                  anonymous(0x401000, kPage, "r--p")}),
            "image anon");
}

TEST(Image, TakesOneNeighbourOnlyAsItsBss) {
  EXPECT_EQ(told({file(0x400000, kPage, "r-xp", 7, "/usr/bin/zoo"),
                  anonymous(0x401000, kPage, "rw-p"),
                  anonymous(0x402000, kPage, "r--p")}),
            "image+2 anon");
}

TEST(Image, SpansAnAnonymousGapBetweenItsSegments) {
  EXPECT_EQ(told({file(0x400000, kPage, "r-xp", 7, "/usr/bin/zoo"),
                  anonymous(0x401000, kPage, "---p"),
                  file(0x402000, kPage, "rw-p", 7, "/usr/bin/zoo")}),
            "image+3");
}

TEST(Image, EndsWhereAnotherFileBegins) {
  EXPECT_EQ(told({file(0x400000, kPage, "r-xp", 7, "/usr/lib/a.so"),
                  file(0x401000, kPage, "r-xp", 8, "/usr/lib/b.so")}),
            "image image");
}

TEST(Image, IsToldFromAnotherFileOfTheSameInodeByTheDevice) {
  EXPECT_EQ(told({file(0x400000, kPage, "r-xp", 7, "/usr/lib/a.so", {8, 1}),
                  file(0x401000, kPage, "r--p", 7, "/srv/data", {8, 2})}),
            "image file");
}

TEST(Image, IsToldByAnExecutableSegmentAnywhere) {
  EXPECT_EQ(told({file(0x400000, kPage, "r--p", 7, "/usr/lib/a.so"),
                  file(0x500000, kPage, "r-xp", 7, "/usr/lib/a.so")}),
            "image+2");
}

TEST(Image, DoesNotTakeAThreadStackForItsBss) {
  EXPECT_EQ(told({file(0x400000, kPage, "r-xp", 7, "/usr/bin/zoo"),
                  anonymous(0x401000, 8 * kPage, "rw-p")},
                 with_threads({sleeping(9, 0x402000)})),
            "image thread_stack");
}

TEST(Image, DoesNotTakeAnArenaForItsBss) {
  EXPECT_EQ(told({file(kArenaBorder - kPage, kPage, "r-xp", 7, "/usr/lib/a.so"),
                  anonymous(kArenaBorder, kPage, "rw-p"),
                  anonymous(kArenaBorder + kPage, kArena - kPage, "---p")}),
            "image arena+2");
}

TEST(File, WithoutAnExecutableSegmentIsNoImage) {
  EXPECT_EQ(
      find_regions({file(0x400000, kPage, "r--p", 7, "/srv/data.bin")}, {}),
      (std::vector<Region>{{RegionKind::File, 0, 1, "/srv/data.bin", 0}}));
}

TEST(File, BelowDevIsADevice) {
  EXPECT_EQ(told({file(0x400000, kPage, "rw-s", 7, "/dev/dri/card0")}),
            "device");
}

// ---- heap and arenas

TEST(Heap, IsNamedByTheKernel) {
  EXPECT_EQ(told({anonymous(0x400000, kPage, "rw-p", "[heap]")}), "heap");
}

TEST(Arena, TakesItsReserve) {
  EXPECT_EQ(
      told({anonymous(kArenaBorder, 38 * kPage, "rw-p"),
            anonymous(kArenaBorder + 38 * kPage, kArena - 38 * kPage, "---p")}),
      "arena+2");
}

TEST(Arena, TakesAReserveThatTheKernelMergedWithTheGuardBehind) {
  EXPECT_EQ(told({anonymous(kArenaBorder, kPage, "rw-p"),
                  anonymous(kArenaBorder + kPage, kArena, "---p"),
                  anonymous(kArenaBorder + kPage + kArena, 8 * kMiB, "rw-p")},
                 with_threads({sleeping(9, kArenaBorder + kArena + kMiB)})),
            "arena+2 thread_stack");
}

TEST(Arena, MayBeUsedToItsEnd) {
  EXPECT_EQ(told({anonymous(kArenaBorder, kArena, "rw-p")}), "arena");
}

TEST(Arena, IsNotWhatBeginsBetweenTheBorders) {
  EXPECT_EQ(told({anonymous(kArenaBorder + kPage, kPage, "rw-p"),
                  anonymous(kArenaBorder + 2 * kPage, kArena, "---p")}),
            "anon reservation");
}

TEST(Arena, IsNotWhatLacksItsReserve) {
  EXPECT_EQ(told({anonymous(kArenaBorder, 38 * kPage, "rw-p")}), "anon");
}

TEST(Arena, IsNotWhatHasAReserveThatEndsBeforeTheBorder) {
  EXPECT_EQ(told({anonymous(kArenaBorder, 2 * kMiB, "rw-p"),
                  anonymous(kArenaBorder + 2 * kMiB, 2 * kMiB, "---p")}),
            "anon reservation");
}

TEST(Arena, IsNotWhatGoesOnBeyondTheBorder) {
  EXPECT_EQ(told({anonymous(kArenaBorder, 2 * kArena, "rw-p")}), "anon");
}

TEST(Arena, IsNeverExecutable) {
  EXPECT_EQ(told({anonymous(kArenaBorder, kArena, "rwxp")}), "jit");
}

// ---- stacks

TEST(MainStack, IsNamedByTheKernel) {
  EXPECT_EQ(told({anonymous(0x7ffc00000000, 33 * kPage, "rw-p", "[stack]")},
                 with_threads({sleeping(1, 0x7ffc00001000)})),
            "stack");
}

TEST(ThreadStack, IsToldByThePointerInItAndTakesItsGuard) {
  const std::vector<Mapping> mappings = {
      anonymous(0x7f0000000000, kPage, "---p"),
      anonymous(0x7f0000001000, 8 * kMiB, "rw-p"),
  };
  EXPECT_EQ(
      find_regions(mappings,
                   with_threads({sleeping(7, 0x7f0000400000, "reader")})),
      (std::vector<Region>{{RegionKind::ThreadStack, 0, 2, "reader", 7}}));
}

TEST(ThreadStack, NeedsNoGuard) {
  EXPECT_EQ(told({anonymous(0x7f0000001000, 8 * kMiB, "rw-p")},
                 with_threads({sleeping(7, 0x7f0000400000)})),
            "thread_stack");
}

TEST(ThreadStack, LeavesAGuardThatDoesNotTouchIt) {
  EXPECT_EQ(told({anonymous(0x7f0000000000, kPage, "---p"),
                  anonymous(0x7f0000002000, 8 * kMiB, "rw-p")},
                 with_threads({sleeping(7, 0x7f0000400000)})),
            "reservation thread_stack");
}

TEST(ThreadStack, LeavesAReservationTooLargeForAGuard) {
  EXPECT_EQ(told({anonymous(0x7f0000000000, 4 * kMiB, "---p"),
                  anonymous(0x7f0000400000, 8 * kMiB, "rw-p")},
                 with_threads({sleeping(7, 0x7f0000500000)})),
            "reservation thread_stack");
}

TEST(ThreadStack, ThePointerAtItsTopIsAlreadyOutside) {
  EXPECT_EQ(told({anonymous(0x7f0000000000, kMiB, "rw-p")},
                 with_threads({sleeping(7, 0x7f0000000000 + kMiB)})),
            "anon");
}

TEST(ThreadStack, ThePointerAtItsBottomIsInside) {
  EXPECT_EQ(told({anonymous(0x7f0000000000, kMiB, "rw-p")},
                 with_threads({sleeping(7, 0x7f0000000000)})),
            "thread_stack");
}

TEST(ThreadStack, IsToldByTheNameItsLibraryGaveIt) {
  for (const char* name :
       {"[anon: glibc: pthread stack: 1234]", "[anon:stack_and_tls:77]"}) {
    EXPECT_EQ(told({anonymous(0x7f0000000000, kPage, "---p", name),
                    anonymous(0x7f0000001000, kMiB, "rw-p", name)}),
              "thread_stack+2")
        << name;
  }
}

TEST(ThreadStack, IsNotToldByShapeWhileAllThreadsAreLocated) {
  EXPECT_EQ(told({anonymous(0x7f0000000000, kPage, "---p"),
                  anonymous(0x7f0000001000, 8 * kMiB, "rw-p")},
                 with_threads({sleeping(1, 0x7ffc00001000)})),
            "reservation anon");
}

TEST(ThreadStack, IsToldByShapeWhenAThreadWasRunning) {
  const std::vector<Mapping> mappings = {
      anonymous(0x7f0000000000, kPage, "---p"),
      anonymous(0x7f0000001000, 8 * kMiB, "rw-p"),
  };
  EXPECT_EQ(find_regions(mappings, with_threads({sleeping(1, 0x7ffc00001000),
                                                 running(2)})),
            (std::vector<Region>{{RegionKind::ThreadStack, 0, 2, "", 0}}));
}

TEST(ThreadStack, IsNotToldByShapeForTheMainThread) {
  EXPECT_EQ(told({anonymous(0x7f0000000000, kPage, "---p"),
                  anonymous(0x7f0000001000, 8 * kMiB, "rw-p")},
                 with_threads({running(1)})),
            "reservation anon");
}

TEST(ThreadStack, IsToldByShapeForAThreadWithANumberBelowThePid) {
  // Numbers wrap around: the main thread need not be the lowest.
  RegionHints hints = with_threads({running(3), running(7)});
  hints.pid = 7;
  EXPECT_EQ(told({anonymous(0x7f0000000000, 0x1000, "---p"),
                  anonymous(0x7f0000001000, 0x800000, "rw-p"),
                  anonymous(0x7f1000000000, 0x1000, "---p"),
                  anonymous(0x7f1000001000, 0x800000, "rw-p")},
                 hints),
            "thread_stack+2 reservation anon");
}

TEST(ThreadStack, ShapesAreNeverMoreThanRunningThreads) {
  EXPECT_EQ(told({anonymous(0x7f0000000000, kPage, "---p"),
                  anonymous(0x7f0000001000, 8 * kMiB, "rw-p"),
                  anonymous(0x7f0010000000, kPage, "---p"),
                  anonymous(0x7f0010001000, 8 * kMiB, "rw-p"),
                  anonymous(0x7f0020000000, kPage, "---p"),
                  anonymous(0x7f0020001000, 8 * kMiB, "rw-p")},
                 with_threads({running(1), running(2), running(3)})),
            "thread_stack+2 thread_stack+2 reservation anon");
}

TEST(ThreadStack, ShapeNeedsMoreRoomThanItsGuard) {
  EXPECT_EQ(told({anonymous(0x7f0000000000, kMiB, "---p"),
                  anonymous(0x7f0000100000, kMiB, "rw-p")},
                 with_threads({running(1), running(2)})),
            "reservation anon");
}

TEST(ThreadStack, ShapeIsNotAnArena) {
  EXPECT_EQ(
      told({anonymous(kArenaBorder - kPage, kPage, "---p"),
            anonymous(kArenaBorder, 2 * kMiB, "rw-p"),
            anonymous(kArenaBorder + 2 * kMiB, kArena - 2 * kMiB, "---p")},
           with_threads({running(1), running(2)})),
      "reservation arena+2");
}

TEST(ThreadStack, IsNeverAFile) {
  EXPECT_EQ(told({file(0x7f0000001000, kMiB, "rw-p", 7, "/srv/data.bin")},
                 with_threads({sleeping(7, 0x7f0000002000)})),
            "file");
}

// ---- shared memory

TEST(SharedMemory, IsToldByTheNamesTheKernelGives) {
  EXPECT_EQ(
      told({file(0x100000, kPage, "rw-s", 25, "/memfd:frame cache (deleted)",
                 {0, 1}),
            file(0x200000, kPage, "rw-s", 1, "/SYSV00000000 (deleted)", {0, 1}),
            file(0x300000, kPage, "rw-s", 24, "/dev/zero (deleted)", {0, 1}),
            file(0x400000, kPage, "rw-s", 26, "[anon_shmem:ring]", {0, 1})}),
      "memfd sysv shared_anon shared_anon");
}

TEST(SharedMemory, IsAFileOnATmpfs) {
  RegionHints hints;
  hints.memory_devices = {{0, 0x17}};
  EXPECT_EQ(told({file(0x100000, kPage, "rw-s", 3, "/run/lock", {0, 0x17}),
                  file(0x200000, kPage, "rw-s", 3, "/srv/lock", {0, 0x18})},
                 hints),
            "tmpfs file");
}

TEST(SharedMemory, IsAFileBelowDevShm) {
  EXPECT_EQ(told({file(0x100000, kPage, "rw-s", 3, "/dev/shm/ring")}), "tmpfs");
}

TEST(SharedMemory, IsNotAProgramOnATmpfs) {
  RegionHints hints;
  hints.memory_devices = {{0, 2}};
  EXPECT_EQ(told({file(0x100000, kPage, "r-xp", 6, "/bin/busybox", {0, 2}),
                  file(0x101000, kPage, "rw-p", 6, "/bin/busybox", {0, 2})},
                 hints),
            "image+2");
}

TEST(SharedMemory, IsNotThePrivateZeroDevice) {
  EXPECT_EQ(told({file(0x100000, kPage, "rw-p", 5, "/dev/zero")}), "device");
}

// ---- huge pages

TEST(HugeTlb, IsToldByItsFlag) {
  EXPECT_EQ(
      told({with_flag(
          file(0x40000000, 2 * kMiB, "rw-s", 5, "/dev/hugepages/pool"), "ht")}),
      "hugetlb");
}

TEST(HugeTlb, IsToldByItsNameWhereMapsHasNoFlags) {
  EXPECT_EQ(told({file(0x40000000, 2 * kMiB, "rw-p", 85,
                       "/anon_hugepage (deleted)", {0, 0x0e})}),
            "hugetlb");
}

// ---- the rest of anonymous memory

TEST(Anonymous, WithoutASignIsJustThat) {
  EXPECT_EQ(told({anonymous(0x100000, kPage, "rw-p")}), "anon");
}

TEST(Anonymous, ExecutableIsGeneratedCode) {
  EXPECT_EQ(told({anonymous(0x100000, kPage, "r-xp"),
                  anonymous(0x200000, kPage, "rwxp")}),
            "jit jit");
}

TEST(Anonymous, InaccessibleIsAReservation) {
  EXPECT_EQ(told({anonymous(0x100000, 1024 * kMiB, "---p")}), "reservation");
}

TEST(Anonymous, KeepsTheNameTheProgramGaveIt) {
  EXPECT_EQ(find_regions(
                {anonymous(0x100000, kPage, "rw-p", "[anon:image tiles]")}, {}),
            (std::vector<Region>{
                {RegionKind::NamedAnonymous, 0, 1, "[anon:image tiles]", 0}}));
}

TEST(Anonymous, NamedByAnAllocatorIsHeap) {
  for (const char* name : {"[anon: glibc: malloc]", "[anon:scudo:primary]",
                           "[anon:jemalloc]", "[anon:partition_alloc]"}) {
    EXPECT_EQ(told({anonymous(0x100000, kPage, "rw-p", name)}), "named_heap")
        << name;
  }
}

TEST(Vdso, TakesThePagesThatLieTogether) {
  EXPECT_EQ(told({anonymous(0x7fff00000000, 4 * kPage, "r--p", "[vvar]"),
                  anonymous(0x7fff00004000, 2 * kPage, "r--p", "[vvar_vclock]"),
                  anonymous(0x7fff00006000, 2 * kPage, "r-xp", "[vdso]")}),
            "vdso+3");
}

TEST(Vdso, LeavesTheVsyscallPageInTheKernelsHalfToItself) {
  EXPECT_EQ(told({anonymous(0x7fff00006000, 2 * kPage, "r-xp", "[vdso]"),
                  anonymous(0xffffffffff600000, kPage, "--xp", "[vsyscall]")}),
            "vdso vdso")
      << "one region of both would span half of all addresses";
}

// ---- any list of mappings

std::vector<Mapping> any_address_space() {
  std::vector<Mapping> mappings;
  uint64_t at = *rc::gen::element(uint64_t{0x400000}, kArenaBorder);
  const auto count = *rc::gen::inRange<size_t>(0, 12);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t size = *rc::gen::element(kPage, 3 * kPage, kMiB, 8 * kMiB,
                                            kArena - kPage, kArena);
    const auto* letters =
        *rc::gen::element("rw-p", "---p", "r-xp", "r--p", "rw-s", "rwxp");
    const uint64_t inode =
        *rc::gen::element(uint64_t{0}, uint64_t{7}, uint64_t{8});
    const std::string name = *rc::gen::element<std::string>(
        "", "", "/usr/lib/a.so", "[heap]", "[stack]", "[vdso]", "[anon:x]",
        "[anon: glibc: pthread stack: 9]", "/dev/shm/x", "/memfd:x (deleted)");
    mappings.push_back(file(at, size, letters, inode, name, {0, 1}));
    at += size + *rc::gen::element(uint64_t{0}, kPage, kArena);
  }
  return mappings;
}

RegionHints any_hints(const std::vector<Mapping>& mappings) {
  RegionHints hints;
  const auto count = *rc::gen::inRange<int32_t>(0, 4);
  for (int32_t id = 1; id <= count; ++id) {
    Thread thread = running(id);
    if (!mappings.empty() && *rc::gen::arbitrary<bool>()) {
      const auto at = *rc::gen::inRange<size_t>(0, mappings.size());
      thread.stack_pointer_address = mappings[at].start_address;
    }
    hints.threads.push_back(std::move(thread));
  }
  if (*rc::gen::arbitrary<bool>()) hints.memory_devices = {{0, 1}};
  return hints;
}

RC_GTEST_PROP(Regions, CoverEveryMappingOnceInOrder, ()) {
  const std::vector<Mapping> mappings = any_address_space();
  size_t next = 0;
  for (const Region& region : find_regions(mappings, any_hints(mappings))) {
    RC_ASSERT(region.first_index == next);
    RC_ASSERT(region.mapping_count > 0U);
    next += region.mapping_count;
  }
  RC_ASSERT(next == mappings.size());
}

// ---- totals

TEST(Rollup, IsOneMappingOfItsOwnKind) {
  SmapsFields totals;
  totals.set(SmapsField::Pss, 7 * kPage);
  const Mapping mapping = rollup_mapping(totals);
  EXPECT_EQ(told(std::vector<Mapping>{mapping}), "rollup");
  EXPECT_EQ(region_category(RegionKind::Rollup), Category::Unnamed);
  EXPECT_EQ(mapping.fields, totals);
  EXPECT_GT(mapping.size_bytes(), 0U) << "no size is the mark of an end";
}

// ---- bss

std::vector<Mapping> image_with_tail(uint64_t tail_bytes) {
  return {file(0x7f0000000000, 0x2000, "r-xp", 7, "/lib/libx.so"),
          file(0x7f0000002000, 0x1000, "rw-p", 7, "/lib/libx.so"),
          anonymous(0x7f0000003000, tail_bytes, "rw-p")};
}

TEST(Bss, IsWhatTheProgramHeadersReachTo) {
  RegionHints hints;
  hints.images = {{0xfe, 0, 7, 0x5000}};
  EXPECT_EQ(told(image_with_tail(0x2000), hints), "image+3");
}

TEST(Bss, IsNotTheHeapThatHappensToLieBehindALibrary) {
  // The kernel has merged the bss with 300 MiB of somebody's heap.
  RegionHints hints;
  hints.images = {{0xfe, 0, 7, 0x5000}};
  EXPECT_EQ(told(image_with_tail(300 * kMiB), hints), "image+2 anon");
}

// The kernel joins a bss with what mmap puts right behind it, as the loader's
// own memory behind that of libc: 0x2000 are bss here.
TEST(Bss, JoinedWithLessIsOfTheLibraryAllTheSame) {
  RegionHints hints;
  hints.images = {{0xfe, 0, 7, 0x5000}};
  EXPECT_EQ(told(image_with_tail(0x3000), hints), "image+3");
  EXPECT_EQ(told(image_with_tail(0x4000), hints), "image+3");
  EXPECT_EQ(told(image_with_tail(0x5000), hints), "image+2 anon");
}

TEST(Bss, IsNoneWhereTheHeadersEndBeforeIt) {
  RegionHints hints;
  hints.images = {{0xfe, 0, 7, 0x3000}};
  EXPECT_EQ(told(image_with_tail(0x1000), hints), "image+2 anon");
}

TEST(Bss, WithoutProgramHeadersIsOnlyASmallTail) {
  EXPECT_EQ(told(image_with_tail(0xd000)), "image+3");
  EXPECT_EQ(told(image_with_tail(kMiB)), "image+2 anon");
}

}  // namespace
}  // namespace tidemark::model
