#include "analysis/page_tally.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "unit/analysis/tally_counts.h"

namespace tidemark::analysis {
namespace {

using model::PageStruct;
using model::PageType;

constexpr uint64_t kFirst = 1000;
constexpr uint64_t kAddress = 0xffff888000001000;

// Pages with successive frames, as a census shows them.
struct Pages {
  std::vector<uint64_t> flags;
  std::vector<uint64_t> counts;
  std::vector<uint64_t> groups;
  std::vector<PageStruct> structs;

  void add(uint64_t page_flags, uint64_t count = 0, uint64_t group = 0,
           PageStruct info = {}) {
    flags.push_back(page_flags);
    counts.push_back(count);
    groups.push_back(group);
    structs.push_back(info);
  }
  model::PageChunk chunk(bool has_structs = true) const {
    model::PageChunk chunk;
    chunk.first_frame = kFirst;
    chunk.flags = flags;
    chunk.counts = counts;
    chunk.groups = groups;
    if (has_structs) chunk.structs = structs;
    return chunk;
  }
};

PageStruct known(uint64_t owner = 0, uint32_t references = 1,
                 PageType type = PageType::None) {
  return {owner, references, type, true};
}

uint64_t sum_of_counts(const PageTally& tally) {
  uint64_t sum = 0;
  for (const auto& [key, count] : counts_of(tally.counts()))
    sum += count;
  return sum;
}

uint64_t sum_of_classes(const PageTally& tally) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kPageClassCount; ++i)
    sum += tally.count_of(static_cast<PageClass>(i));
  return sum;
}

// The class of a page that nobody was found to map.
PageClass class_of(uint64_t flags, uint64_t count, uint64_t group,
                   const PageStruct& info) {
  const PageSets sets;
  PageTally tally(sets);
  Pages pages;
  pages.add(flags, count, group, info);
  tally.add(pages.chunk(info.is_known));
  EXPECT_EQ(tally.counts().size(), 1U);
  return counts_of(tally.counts()).begin()->first.page_class;
}

PageClass bare_class_of(uint64_t flags, uint64_t count = 0,
                        uint64_t group = 0) {
  return class_of(flags, count, group, {});
}

constexpr uint64_t kFlags[] = {
    model::kPageLocked,   model::kPageUptodate,  model::kPageLru,
    model::kPageSlab,     model::kPageBuddy,     model::kPageMapped,
    model::kPageAnon,     model::kPageSwapCache, model::kPageSwapBacked,
    model::kPageHugetlb,  model::kPagePoisoned,  model::kPageAbsent,
    model::kPageOffline,  model::kPageZero,      model::kPageTable,
    model::kPageReserved,
};

TEST(PageTally, EveryCombinationOfFlagsFallsInOneClass) {
  std::vector<PageStruct> infos = {{}};
  for (uint64_t owner : {uint64_t{0}, kAddress}) {
    for (uint32_t references : {0U, 2U}) {
      for (PageType type : {PageType::None, PageType::Offline, PageType::Table,
                            PageType::Zsmalloc, PageType::LargeKmalloc})
        infos.push_back(known(owner, references, type));
    }
  }
  PageSets sets;
  PageTally tally(sets);
  uint64_t pages_given = 0;
  for (const PageStruct& info : infos) {
    Pages pages;
    for (uint64_t bits = 0; bits < uint64_t{1} << std::size(kFlags); ++bits) {
      uint64_t flags = 0;
      for (size_t i = 0; i < std::size(kFlags); ++i) {
        if (bits >> i & 1) flags |= kFlags[i];
      }
      pages.add(flags, bits % 3, bits % 2, info);
    }
    tally.add(pages.chunk(info.is_known));
    pages_given += pages.flags.size();
    ASSERT_EQ(tally.page_count(), pages_given);
    ASSERT_EQ(sum_of_counts(tally), pages_given);
    ASSERT_EQ(sum_of_classes(tally), pages_given);
  }
  for (const auto& [key, count] : counts_of(tally.counts()))
    ASSERT_LT(static_cast<size_t>(key.page_class), kPageClassCount);
}

TEST(PageTally, FlagsAloneTellMostClasses) {
  EXPECT_EQ(bare_class_of(model::kPageBuddy), PageClass::FreeBuddy);
  EXPECT_EQ(bare_class_of(model::kPagePoisoned | model::kPageAnon, 1),
            PageClass::Poisoned);
  EXPECT_EQ(bare_class_of(model::kPageOffline), PageClass::Balloon);
  EXPECT_EQ(bare_class_of(model::kPageReserved), PageClass::Reserved);
  EXPECT_EQ(bare_class_of(model::kPageAbsent), PageClass::Reserved);
  EXPECT_EQ(bare_class_of(model::kPageZero | model::kPageMapped, 900),
            PageClass::Reserved);
  EXPECT_EQ(bare_class_of(model::kPageSlab, 0, 5), PageClass::Slab);
  EXPECT_EQ(bare_class_of(model::kPageTable), PageClass::PageTables);
  EXPECT_EQ(bare_class_of(model::kPageHugetlb), PageClass::HugetlbUsed);
  EXPECT_EQ(bare_class_of(model::kPageAnon | model::kPageSwapBacked, 1),
            PageClass::Anon);
  EXPECT_EQ(bare_class_of(model::kPageAnon | model::kPageSwapCache),
            PageClass::AnonUnmapped);
  EXPECT_EQ(bare_class_of(model::kPageAnon), PageClass::Unstable);
  EXPECT_EQ(bare_class_of(model::kPageLru), PageClass::File);
  EXPECT_EQ(bare_class_of(model::kPageUptodate), PageClass::File);
  EXPECT_EQ(bare_class_of(model::kPageLru | model::kPageSwapBacked),
            PageClass::Shmem);
  EXPECT_EQ(bare_class_of(model::kPageMapped, 1), PageClass::KernelMapped);
  EXPECT_EQ(bare_class_of(0, 1), PageClass::Unstable)
      << "mapped since its flags were read";
  EXPECT_EQ(bare_class_of(0, 0, 7), PageClass::KernelCharged);
  EXPECT_EQ(bare_class_of(0), PageClass::KernelOther);
}

TEST(PageTally, StructsTellTheRest) {
  EXPECT_EQ(class_of(0, 0, 0, known(0, 0)), PageClass::FreeOther);
  EXPECT_EQ(class_of(0, 0, 0, known(0, 1)), PageClass::KernelOther);
  EXPECT_EQ(class_of(0, 0, 0, known(0, 1, PageType::LargeKmalloc)),
            PageClass::LargeKmalloc);
  EXPECT_EQ(class_of(0, 0, 0, known(0, 1, PageType::Zsmalloc)),
            PageClass::Compressed);
  EXPECT_EQ(class_of(0, 0, 0, known(0, 1, PageType::Offline)),
            PageClass::Balloon);
  EXPECT_EQ(class_of(0, 0, 0, known(0, 1, PageType::Table)),
            PageClass::PageTables);
  EXPECT_EQ(class_of(model::kPageHugetlb, 0, 0, known(0, 0)),
            PageClass::HugetlbFree);
  EXPECT_EQ(class_of(model::kPageHugetlb, 1, 0, known(0, 1)),
            PageClass::HugetlbUsed);
  EXPECT_EQ(class_of(model::kPageLru, 0, 0, known(kAddress)), PageClass::File);
  EXPECT_EQ(class_of(0, 0, 0, known(kAddress)), PageClass::File)
      << "not yet on a list, and a file's already";
  EXPECT_EQ(class_of(model::kPageLru, 0, 0, known(0)), PageClass::Unstable)
      << "taken from its file between two looks";
}

TEST(PageTally, FilesGoByAddressOrByMapper) {
  PageSets sets;
  sets.begin_process(0);
  sets.add(std::vector<uint64_t>{kFirst});
  Pages pages;
  pages.add(model::kPageLru | model::kPageMapped, 1, 9, known(kAddress));
  PageTally by_file(sets);
  by_file.add(pages.chunk());
  EXPECT_EQ(counts_of(by_file.counts()).begin()->first,
            (TallyKey{PageClass::File, kAddress, 9}));
  PageTally by_mapper(sets, TallyBy::Mapper);
  by_mapper.add(pages.chunk());
  EXPECT_EQ(counts_of(by_mapper.counts()).begin()->first,
            (TallyKey{PageClass::File, sets.find(kFirst), 9}));
}

TEST(PageTally, StacksAreOfTheirProcess) {
  const PageSets sets;
  PageTally tally(sets);
  tally.set_stacks({{42, 43, "worker", {kFirst + 1, kFirst + 2}}});
  Pages pages;
  for (int i = 0; i < 4; ++i)
    pages.add(0, 0, 3, known());
  tally.add(pages.chunk());
  EXPECT_EQ(tally.count_of(PageClass::KernelStack), 2U);
  EXPECT_EQ(counts_of(tally.counts()).at({PageClass::KernelStack, 42, 3}), 2U);
  EXPECT_EQ(tally.count_of(PageClass::KernelCharged), 2U);
}

TEST(PageTally, PagesWithoutGroupsAreOfNone) {
  const PageSets sets;
  PageTally tally(sets);
  Pages pages;
  pages.add(model::kPageSlab, 0, 5);
  model::PageChunk chunk = pages.chunk(false);
  chunk.groups = {};
  tally.add(chunk);
  EXPECT_EQ(counts_of(tally.counts()).at({PageClass::Slab, 0, 0}), 1U);
  EXPECT_FALSE(tally.has_structs());
}

// ---- runs -------------------------------------------------------------------

// Few kinds, so that runs are long and come again.
Pages some_pages() {
  Pages pages;
  const auto kinds = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 7), rc::gen::inRange(1, 6)));
  for (const auto& [kind, length] : kinds) {
    for (int i = 0; i < length; ++i) {
      switch (kind) {
        case 0:
          pages.add(model::kPageBuddy);
          break;
        case 1:
          pages.add(model::kPageAnon | model::kPageMapped, 1, 5, known());
          break;
        case 2:
          pages.add(model::kPageLru, 0, 5, known(kAddress));
          break;
        case 3:
          pages.add(model::kPageLru | model::kPageMapped, 2, 6,
                    known(kAddress + 8));
          break;
        case 4:
          pages.add(model::kPageSlab, 0, 0, known(kAddress + 16));
          break;
        case 5:
          pages.add(0, 0, 0, known(0, 0));
          break;
        default:
          pages.add(model::kPageMapped, 1, 0, known());
      }
    }
  }
  return pages;
}

// Each page for itself.
Counts one_by_one(const Pages& pages, const PageSets& sets) {
  Counts counts;
  for (size_t i = 0; i < pages.flags.size(); ++i) {
    PageTally tally(sets);
    model::PageChunk chunk;
    chunk.first_frame = kFirst + i;
    chunk.flags = std::span(pages.flags).subspan(i, 1);
    chunk.counts = std::span(pages.counts).subspan(i, 1);
    chunk.groups = std::span(pages.groups).subspan(i, 1);
    chunk.structs = std::span(pages.structs).subspan(i, 1);
    tally.add(chunk);
    for (const auto& [key, count] : counts_of(tally.counts()))
      counts[key] += count;
  }
  return counts;
}

PageSets some_sets(const Pages& pages) {
  PageSets sets;
  for (uint32_t process = 0; process < 3; ++process) {
    sets.begin_process(process);
    std::vector<uint64_t> frames;
    for (size_t i = 0; i < pages.flags.size(); ++i) {
      if (*rc::gen::inRange(0, 3) == 0) frames.push_back(kFirst + i);
    }
    sets.add(frames);
  }
  return sets;
}

RC_GTEST_PROP(PageTally, RunsCountLikeSinglePages, ()) {
  const Pages pages = some_pages();
  const PageSets sets = some_sets(pages);
  PageTally tally(sets);
  tally.add(pages.chunk());
  RC_ASSERT(counts_of(tally.counts()) == one_by_one(pages, sets));
  RC_ASSERT(sum_of_classes(tally) == pages.flags.size());
}

// ---- mappers ----------------------------------------------------------------

RC_GTEST_PROP(PageTally, MappedPagesAgreeOrAreAskedAbout, ()) {
  const Pages pages = some_pages();
  const PageSets sets = some_sets(pages);
  PageTally tally(sets);
  tally.add(pages.chunk());
  uint64_t mapped = 0;
  uint64_t agreeing = 0;
  for (size_t i = 0; i < pages.counts.size(); ++i) {
    if (pages.counts[i] == 0) continue;
    ++mapped;
    agreeing += sets.map_count(sets.find(kFirst + i)) == pages.counts[i];
  }
  RC_ASSERT(tally.mapped_count() == mapped);
  RC_ASSERT(tally.agreeing_count() == agreeing);
  RC_ASSERT(tally.disagreements().size() == mapped - agreeing);
}

RC_GTEST_PROP(PageTally, CorrectingKeepsTheSums, ()) {
  const Pages pages = some_pages();
  PageSets sets = some_sets(pages);
  PageTally tally(sets);
  tally.add(pages.chunk());
  const std::vector<PageTally::Page> disagreeing = tally.disagreements();
  for (const PageTally::Page& page : disagreeing) {
    const auto process = *rc::gen::inRange<uint32_t>(0, 5);
    const SetId from = sets.find(page.frame);
    const SetId to = sets.set_of({{process, 1}});
    tally.correct(page, from, to);
    sets.move(page.frame, to);
  }
  RC_ASSERT(sum_of_counts(tally) == pages.flags.size());
  RC_ASSERT(sum_of_classes(tally) == pages.flags.size());
  // Now as if they had been found so at once; empty rows may stay.
  const Counts fresh = one_by_one(pages, sets);
  for (const auto& [key, count] : counts_of(tally.counts())) {
    const auto found = fresh.find(key);
    RC_ASSERT(count == (found == fresh.end() ? 0 : found->second));
  }
}

}  // namespace
}  // namespace tidemark::analysis
