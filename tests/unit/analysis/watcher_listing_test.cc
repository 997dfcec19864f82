#include "analysis/watcher_listing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace tidemark::analysis {
namespace {

using model::Mapping;
using model::SmapsField;

// Of one page, all of it resident and a third of it ours.
Mapping mapping_of(uint64_t page, const char* letters, std::string name,
                   uint64_t rss = 300) {
  Mapping mapping;
  mapping.start_address = page * 0x1000;
  mapping.end_address = (page + 1) * 0x1000;
  mapping.permissions = model::permissions_from_letters(letters);
  mapping.name = std::move(name);
  mapping.fields.set(SmapsField::Rss, rss);
  mapping.fields.set(SmapsField::Pss, rss / 3);
  return mapping;
}

using Named = std::vector<std::pair<std::string, uint64_t>>;

TEST(WatcherListing, PutsEachMappingInOnePlace) {
  const WatcherListing listing = watcher_listing(
      {mapping_of(1, "rw-p", "[heap]", 30), mapping_of(5, "rw-p", "", 60),
       mapping_of(8, "r--p", "/data", 90),
       mapping_of(9, "rw-p", "[stack]", 120)},
      SmapsField::Rss);
  EXPECT_EQ(listing.heap_bytes, 30U);
  EXPECT_EQ(listing.anonymous_bytes, 60U);
  EXPECT_EQ(listing.named, (Named{{"/data", 90}}));
  EXPECT_EQ(listing.stack_bytes, 120U);
  EXPECT_EQ(listing.sum_bytes, 300U);
}

RC_GTEST_PROP(WatcherListing, ItsLinesAddUpToTheSumOfTheMappings, ()) {
  std::vector<Mapping> mappings;
  uint64_t sum = 0;
  uint64_t page = 1;
  const auto count = *rc::gen::inRange<uint64_t>(0, 20);
  for (uint64_t i = 0; i < count; ++i) {
    page += *rc::gen::inRange<uint64_t>(1, 3);
    mappings.push_back(mapping_of(
        page, *rc::gen::element("r-xp", "r--p", "rw-p", "rw-s", "---p"),
        *rc::gen::element<std::string>("", "[heap]", "[stack]", "[stack:7]",
                                       "[vdso]", "/lib/a", "/lib/b"),
        *rc::gen::inRange<uint64_t>(0, 99)));
    sum += mappings.back().fields.get_or_zero(SmapsField::Pss);
  }
  const WatcherListing listing = watcher_listing(mappings, SmapsField::Pss);
  uint64_t lines =
      listing.stack_bytes + listing.heap_bytes + listing.anonymous_bytes;
  for (const auto& [name, bytes] : listing.named)
    lines += bytes;
  RC_ASSERT(lines == sum);
  RC_ASSERT(listing.sum_bytes == sum);
}

TEST(WatcherListing, WhatHasNoNameRightBehindALibraryIsItsBss) {
  const std::vector<Mapping> mappings = {mapping_of(1, "r-xp", "/lib/a"),
                                         mapping_of(2, "rw-p", "/lib/a"),
                                         mapping_of(3, "rw-p", "")};
  const WatcherListing listing = watcher_listing(mappings, SmapsField::Rss);
  EXPECT_EQ(listing.named, (Named{{"/lib/a", 900}}));
  EXPECT_EQ(listing.anonymous_bytes, 0U);
}

TEST(WatcherListing, OnlyWritablePrivateMemoryRightBehindItIs) {
  for (const Mapping& other :
       {mapping_of(3, "rw-p", ""), mapping_of(2, "rw-s", ""),
        mapping_of(2, "r--p", ""), mapping_of(2, "rwxp", "")}) {
    const WatcherListing listing = watcher_listing(
        {mapping_of(1, "r-xp", "/lib/a"), other}, SmapsField::Rss);
    EXPECT_EQ(listing.anonymous_bytes, 300U)
        << std::hex << other.start_address << " " << other.permissions.write
        << other.permissions.execute << other.permissions.shared;
  }
}

TEST(WatcherListing, AFileThatIsNoLibraryHasNoBss) {
  const WatcherListing listing = watcher_listing(
      {mapping_of(1, "r-xp", "/lib/a"), mapping_of(2, "rw-p", "/data"),
       mapping_of(3, "rw-p", "")},
      SmapsField::Rss);
  EXPECT_EQ(listing.anonymous_bytes, 300U);
}

TEST(WatcherListing, StacksOfOldKernelsThreadsAreStacks) {
  const WatcherListing listing = watcher_listing(
      {mapping_of(1, "rw-p", "[stack:1234]"), mapping_of(2, "rw-p", "[stack]")},
      SmapsField::Rss);
  EXPECT_EQ(listing.stack_bytes, 600U);
  EXPECT_TRUE(listing.named.empty());
}

TEST(WatcherListing, NamesAreOnceAndTheLargestFirst) {
  const WatcherListing listing = watcher_listing(
      {mapping_of(1, "r--p", "/small", 3), mapping_of(3, "r--p", "/twice", 6),
       mapping_of(5, "r--p", "/large", 9), mapping_of(7, "r--p", "/twice", 6)},
      SmapsField::Rss);
  EXPECT_EQ(listing.named,
            (Named{{"/twice", 12}, {"/large", 9}, {"/small", 3}}));
}

TEST(WatcherListing, ANameOfBytesThatActOnATerminalStaysOneName) {
  const std::string name = "/tmp/\x1b[2J\n[heap]";
  const WatcherListing listing =
      watcher_listing({mapping_of(1, "r--p", name)}, SmapsField::Rss);
  EXPECT_EQ(listing.named, (Named{{name, 300}}));
  EXPECT_EQ(listing.heap_bytes, 0U);
}

TEST(WatcherListing, WhatIsNotKnownCountsNothing) {
  Mapping scanned = mapping_of(1, "rw-p", "");
  scanned.fields = {};
  scanned.fields.set(SmapsField::Rss, 300);
  EXPECT_EQ(watcher_listing({scanned}, SmapsField::Pss).sum_bytes, 0U);
  EXPECT_EQ(watcher_listing({}, SmapsField::Rss).sum_bytes, 0U);
}

}  // namespace
}  // namespace tidemark::analysis
