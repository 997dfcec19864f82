#include "analysis/run_parts.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <string>

#include "unit/analysis/runs.h"

namespace tidemark::analysis {
namespace {

using model::Capture;
using model::Category;
using model::GroupStat;
using model::Mapping;
using test::anonymous_of;
using test::charged;
using test::denied_process;
using test::file_of;
using test::heap_of;
using test::kKiB;
using test::library_of;
using test::memfd_of;
using test::picture_of;
using test::pictured;

constexpr auto kSignedKiB = static_cast<int64_t>(kKiB);

RunComposition of_charge(const Capture& capture) {
  return compose(capture, {}, RunMeasure::Charge);
}

RunComposition of_rss(const Capture& capture) {
  return compose(capture, {}, RunMeasure::Rss);
}

int64_t sum_of(const RunComposition& made) {
  return std::accumulate(
      made.parts.begin(), made.parts.end(), int64_t{0},
      [](int64_t sum, const RunPart& part) { return sum + part.bytes; });
}

// In KiB; 0 when there is no such line.
int64_t kib_of(const RunComposition& made, std::string_view label) {
  for (const RunPart& part : made.parts) {
    if (part.label == label) return part.bytes / kSignedKiB;
  }
  return 0;
}

std::string mostly_of(const RunComposition& made, std::string_view label) {
  for (const RunPart& part : made.parts) {
    if (part.label == label) return part.mostly;
  }
  return "no such line";
}

const RunMapping* mapping_named(const RunComposition& made,
                                std::string_view name) {
  for (const RunMapping& mapping : made.mappings) {
    if (mapping.name == name) return &mapping;
  }
  ADD_FAILURE() << "no mapping " << name;
  return nullptr;
}

// ---- the account of a charge ------------------------------------------------

// 100 KiB of heap, 40 KiB of PSS in a file, 10 KiB of it written to.
Capture small_picture() {
  return charged(
      picture_of({pictured(
          10, "cc1", {heap_of(100), file_of("/srv/data", {40, 60, 10})})}),
      200, 210);
}

TEST(RunParts, WhatWasChargedAllTheTimeIsCaptured) {
  EXPECT_EQ(of_charge(small_picture()).captured_bytes, 200 * kKiB);
  EXPECT_EQ(of_charge(charged(small_picture(), 210, 190)).captured_bytes,
            190 * kKiB);
}

TEST(RunParts, MappedMemoryIsItsPss) {
  const RunComposition made = of_charge(small_picture());
  EXPECT_EQ(kib_of(made, "heap"), 100);
  EXPECT_EQ(kib_of(made, "files"), 40);
}

TEST(RunParts, WhatNothingExplainsIsTheRest) {
  EXPECT_EQ(of_charge(small_picture()).not_explained_bytes, 60 * kSignedKiB);
}

TEST(RunParts, TheRestIsNegativeWhenThePartsAreMore) {
  EXPECT_EQ(of_charge(charged(small_picture(), 100, 100)).not_explained_bytes,
            -40 * kSignedKiB);
}

// 30 KiB of the file are cache and mapped: of 80 KiB of cache 50 are not.
TEST(RunParts, CacheThatNobodyMapsIsALineOfItsOwn) {
  Capture capture = small_picture();
  capture.stat.file_bytes = 80 * kKiB;
  const RunComposition made = of_charge(capture);
  EXPECT_EQ(kib_of(made, "page cache, not mapped"), 50);
  EXPECT_EQ(mostly_of(made, "page cache, not mapped"), "charged to the cgroup");
}

TEST(RunParts, SharedMemoryThatNobodyMapsIsALineOfItsOwn) {
  Capture capture =
      charged(picture_of({pictured(10, "db", {memfd_of("pool", {20, 20, 0})})}),
              90, 90);
  capture.stat.file_bytes = 70 * kKiB;
  capture.stat.shmem_bytes = 70 * kKiB;
  const RunComposition made = of_charge(capture);
  EXPECT_EQ(kib_of(made, "shared memory"), 20);
  EXPECT_EQ(kib_of(made, "shared memory, not mapped"), 50);
  EXPECT_EQ(kib_of(made, "page cache, not mapped"), 0);
}

// libc was read by somebody else first, whose group is charged for it.
TEST(RunParts, WhatOtherGroupsAreChargedForIsTakenOff) {
  Capture capture = charged(
      picture_of(
          {pictured(10, "sh", {library_of("/lib/libc.so.6", {500, 900, 0})})}),
      100, 100);
  capture.stat.file_bytes = 20 * kKiB;
  capture.stat.shmem_bytes = 0;
  const RunComposition made = of_charge(capture);
  EXPECT_EQ(kib_of(made, "program and libraries"), 500);
  EXPECT_EQ(kib_of(made, "charged elsewhere"), -480);
  EXPECT_EQ(made.not_explained_bytes, 80 * kSignedKiB);
}

TEST(RunParts, PartsAreListedLargestFirst) {
  Capture capture = charged(
      picture_of({pictured(10, "sh",
                           {heap_of(30), anonymous_of(90),
                            library_of("/lib/libc.so.6", {500, 900, 0})})}),
      700, 700);
  capture.stat.file_bytes = 20 * kKiB;
  const RunComposition made = of_charge(capture);
  ASSERT_EQ(made.parts.size(), 4U);
  EXPECT_EQ(made.parts[0].label, "program and libraries");
  EXPECT_EQ(made.parts[1].label, "anonymous");
  EXPECT_EQ(made.parts[2].label, "heap");
  EXPECT_EQ(made.parts[3].label, "charged elsewhere");
}

TEST(RunParts, ALineOfNothingIsLeftOut) {
  const RunComposition made = of_charge(charged(picture_of({}), 0, 0));
  EXPECT_TRUE(made.parts.empty());
  EXPECT_EQ(made.not_explained_bytes, 0);
}

// ---- kernel memory ----------------------------------------------------------

GroupStat kernel_stat_v2() {
  GroupStat stat;
  stat.kernel_bytes = 100 * kKiB;
  stat.slab_bytes = 40 * kKiB;
  stat.page_tables_bytes = 25 * kKiB;
  stat.kernel_stack_bytes = 16 * kKiB;
  return stat;
}

TEST(RunParts, KernelMemoryIsSlabPageTablesAndTheRest) {
  Capture capture = charged(picture_of({}), 100, 100);
  capture.stat = kernel_stat_v2();
  const RunComposition made = of_charge(capture);
  EXPECT_EQ(kib_of(made, "slab"), 40);
  EXPECT_EQ(kib_of(made, "page tables"), 25);
  EXPECT_EQ(kib_of(made, "other kernel"), 35);
  EXPECT_EQ(made.not_explained_bytes, 0);
}

// "kernel" came in 5.18; before it the kinds must do.
TEST(RunParts, KernelMemoryWithoutASumIsTheSumOfItsKinds) {
  Capture capture = charged(picture_of({}), 100, 100);
  capture.stat = kernel_stat_v2();
  capture.stat.kernel_bytes.reset();
  capture.stat.socket_bytes = 2 * kKiB;
  const RunComposition made = of_charge(capture);
  EXPECT_EQ(kib_of(made, "other kernel"), 18);
  EXPECT_EQ(made.not_explained_bytes, 17 * kSignedKiB);
}

// v1: memory.kmem.usage_in_bytes alone; page tables are told by the processes.
TEST(RunParts, OfV1OnlyTheSumIsKnownAndThePageTablesOfTheProcesses) {
  model::Process process = pictured(10, "cc1", {heap_of(100)});
  process.status.page_table_bytes = 12 * kKiB;
  Capture capture = charged(picture_of({process}), 150, 150);
  capture.stat.kernel_bytes = 50 * kKiB;
  const RunComposition made = of_charge(capture);
  EXPECT_EQ(kib_of(made, "slab"), 0);
  EXPECT_EQ(kib_of(made, "page tables"), 12);
  EXPECT_EQ(kib_of(made, "other kernel"), 38);
  EXPECT_EQ(mostly_of(made, "other kernel"), "slab, stacks, sockets, pipes")
      << "slab has no line of its own there";
  EXPECT_EQ(mostly_of(made, "page tables"), "1 process");
}

TEST(RunParts, PageTablesAreNeverMoreThanTheKernelsWhole) {
  model::Process process = pictured(10, "cc1", {});
  process.status.page_table_bytes = 90 * kKiB;
  Capture capture = charged(picture_of({process}), 50, 50);
  capture.stat.kernel_bytes = 50 * kKiB;
  const RunComposition made = of_charge(capture);
  EXPECT_EQ(kib_of(made, "page tables"), 50);
  EXPECT_EQ(kib_of(made, "other kernel"), 0);
}

TEST(RunParts, AnEmptyStatExplainsNothing) {
  const RunComposition made = of_charge(charged(picture_of({}), 70, 70));
  EXPECT_TRUE(made.parts.empty());
  EXPECT_EQ(made.not_explained_bytes, 70 * kSignedKiB);
}

// ---- without a group --------------------------------------------------------

TEST(RunParts, WithoutAGroupThePartsAreRssAndNothingIsLeft) {
  const RunComposition made = of_rss(small_picture());
  EXPECT_EQ(kib_of(made, "heap"), 100);
  EXPECT_EQ(kib_of(made, "files"), 60);
  EXPECT_EQ(made.captured_bytes, 160 * kKiB);
  EXPECT_EQ(made.not_explained_bytes, 0);
}

TEST(RunParts, WithoutAGroupSharedPagesCountForEachProcess) {
  const Mapping libc = library_of("/lib/libc.so.6", {30, 60, 0});
  const RunComposition made = of_rss(
      picture_of({pictured(10, "a", {libc}), pictured(11, "b", {libc})}));
  EXPECT_EQ(made.captured_bytes, 120 * kKiB);
}

TEST(RunParts, AGroupThatCouldNotBeReadLeavesTheSumOfThePss) {
  Capture capture = small_picture();
  capture.charged_after_bytes.reset();
  const RunComposition made = of_charge(capture);
  EXPECT_EQ(made.captured_bytes, 140 * kKiB);
  EXPECT_EQ(made.not_explained_bytes, 0);
}

// ---- who and what -----------------------------------------------------------

TEST(RunParts, NamesTheProcessesThatHoldIt) {
  const RunComposition made = of_rss(picture_of({
      pictured(10, "as", {heap_of(10)}),
      pictured(11, "cc1", {heap_of(30)}),
      pictured(12, "cc1", {heap_of(30)}),
  }));
  EXPECT_EQ(mostly_of(made, "heap"), "cc1 x2, as");
}

TEST(RunParts, CountsThoseThatFollow) {
  std::vector<model::Process> processes;
  for (int32_t i = 0; i < 5; ++i) {
    processes.push_back(pictured(10 + i,
                                 std::string(1, static_cast<char>('a' + i)),
                                 {heap_of(100 - static_cast<uint64_t>(i))}));
  }
  EXPECT_EQ(mostly_of(of_rss(picture_of(processes)), "heap"), "a, b, 3 others");
  processes.resize(3);
  EXPECT_EQ(mostly_of(of_rss(picture_of(processes)), "heap"), "a, b, 1 other");
}

TEST(RunParts, AProcessWithManyRegionsCountsOnce) {
  Mapping other = anonymous_of(5);
  other.start_address += 0x8000000;
  other.end_address += 0x8000000;
  const RunComposition made =
      of_rss(picture_of({pictured(10, "cc1", {anonymous_of(5), other})}));
  EXPECT_EQ(mostly_of(made, "anonymous"), "cc1");
}

TEST(RunParts, NamesTheObjectWhereItSaysMoreThanTheProcess) {
  const RunComposition made = of_rss(picture_of({
      pictured(10, "cc1", {library_of("/usr/lib/libbfd.so", {9, 9, 0})}),
      pictured(11, "cc1", {library_of("/usr/lib/libbfd.so", {9, 9, 0})}),
  }));
  EXPECT_EQ(mostly_of(made, "program and libraries"), "libbfd.so")
      << "how many map it stands beside the mapping";
}

TEST(RunParts, AMappingIsOneLineOverAllProcesses) {
  const RunComposition made = of_charge(picture_of({
      pictured(10, "a", {heap_of(7), library_of("/lib/libc.so.6", {3, 9, 0})}),
      pictured(11, "b", {library_of("/lib/libc.so.6", {3, 9, 0})}),
  }));
  ASSERT_EQ(made.mappings.size(), 2U);
  EXPECT_EQ(made.mappings[0].name, "[heap]") << "largest first";
  const RunMapping* libc = mapping_named(made, "libc.so.6");
  ASSERT_NE(libc, nullptr);
  EXPECT_EQ(*libc,
            (RunMapping{"libc.so.6", Category::Code, 6 * kKiB, 18 * kKiB, 2}));
}

TEST(RunParts, AReservationNobodyTouchedIsNoLine) {
  Mapping reserve = anonymous_of(0);
  reserve.permissions = {};
  EXPECT_TRUE(
      of_rss(picture_of({pictured(10, "jvm", {reserve})})).mappings.empty());
}

// ---- who could not be read --------------------------------------------------

TEST(RunParts, CountsProcessesThatCouldNotBeRead) {
  const RunComposition made = of_charge(charged(
      picture_of({denied_process(10, 1, "su"), denied_process(11, 1, "su"),
                  pictured(12, "cc1", {heap_of(5)})}),
      100, 100));
  EXPECT_EQ(made.unreadable_count, 2U);
  EXPECT_EQ(made.not_explained_bytes, 95 * kSignedKiB)
      << "what they hold is not lost";
}

TEST(RunParts, AZombieIsNotUnreadable) {
  EXPECT_EQ(of_charge(picture_of({test::zombie(10, 1, "sh")})).unreadable_count,
            0U);
}

// ---- properties -------------------------------------------------------------

std::optional<uint64_t> some_bytes() {
  if (*rc::gen::inRange(0, 4) == 0) return std::nullopt;
  return *rc::gen::inRange<uint64_t>(0, 1 << 22) * kKiB;
}

test::Filled some_filling() {
  const auto kib = [] { return *rc::gen::inRange<uint64_t>(0, 1 << 20); };
  return {kib(), kib(), kib()};
}

model::Process some_process(int32_t pid) {
  const std::string name = *rc::gen::element<std::string>("sh", "cc1", "a b");
  if (*rc::gen::inRange(0, 5) == 0) return denied_process(pid, 1, name);
  model::Process process = pictured(
      pid, name,
      {heap_of(some_filling().pss_kib), anonymous_of(some_filling().pss_kib),
       file_of("/srv/data", some_filling()),
       library_of("/lib/libc.so.6", some_filling()),
       memfd_of("pool", some_filling())});
  process.status.page_table_bytes = some_bytes();
  return process;
}

GroupStat some_stat() {
  GroupStat stat;
  for (std::optional<uint64_t> GroupStat::*field :
       {&GroupStat::anon_bytes, &GroupStat::file_bytes, &GroupStat::shmem_bytes,
        &GroupStat::kernel_bytes, &GroupStat::slab_bytes,
        &GroupStat::page_tables_bytes, &GroupStat::kernel_stack_bytes,
        &GroupStat::percpu_bytes, &GroupStat::socket_bytes,
        &GroupStat::vmalloc_bytes}) {
    stat.*field = some_bytes();
  }
  return stat;
}

Capture some_capture() {
  std::vector<model::Process> processes;
  const int32_t count = *rc::gen::inRange(0, 6);
  for (int32_t i = 0; i < count; ++i)
    processes.push_back(some_process(10 + i));
  Capture capture = picture_of(std::move(processes));
  capture.charged_before_bytes = some_bytes();
  capture.charged_after_bytes = some_bytes();
  capture.stat = some_stat();
  return capture;
}

RunMeasure some_measure() {
  return *rc::gen::element(RunMeasure::Charge, RunMeasure::Pss,
                           RunMeasure::Rss);
}

RC_GTEST_PROP(RunPartsProperty, PartsAndTheRestAreWhatWasCaptured, ()) {
  const RunComposition made = compose(some_capture(), {}, some_measure());
  RC_ASSERT(sum_of(made) + made.not_explained_bytes ==
            static_cast<int64_t>(made.captured_bytes));
}

RC_GTEST_PROP(RunPartsProperty, MappingsAreTheMappedParts, ()) {
  const Capture capture = some_capture();
  const RunMeasure measure = some_measure();
  const RunComposition made = compose(capture, {}, measure);
  uint64_t mapped = 0;
  for (const RunMapping& mapping : made.mappings)
    mapped += mapping.bytes;
  uint64_t read = 0;
  for (const model::Process& process : capture.sample.processes) {
    if (!process.rollup) continue;
    read += process.rollup->get_or_zero(measure == RunMeasure::Rss
                                            ? model::SmapsField::Rss
                                            : model::SmapsField::Pss);
  }
  RC_ASSERT(mapped == read);
}

RC_GTEST_PROP(RunPartsProperty, OnlyWhatIsChargedElsewhereIsNegative, ()) {
  for (const RunPart& part : of_charge(some_capture()).parts) {
    RC_ASSERT(part.bytes > 0 || part.label == "charged elsewhere");
  }
}

}  // namespace
}  // namespace tidemark::analysis
