#include "parse/allocinfo.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/fixture.h"
#include "unit/parse/truncation.h"

namespace tidemark::parse {
namespace {

using model::AllocationSite;

constexpr const char* kHead =
    "allocinfo - version: 1.0\n"
    "#     <size>  <calls> <tag info>\n";

base::Result<std::vector<AllocationSite>> read(const std::string& lines) {
  return parse_allocinfo(kHead + lines);
}

TEST(Allocinfo, ReadsTheFileOf612) {
  const base::Result<std::vector<AllocationSite>> sites =
      parse_allocinfo(test::read_fixture("allocinfo/linux-6.12.txt"));
  ASSERT_TRUE(sites) << sites.error().what;
  EXPECT_EQ(sites->size(), 76U);
  int64_t bytes = 0;
  int64_t slab = 0;
  for (const AllocationSite& site : *sites) {
    bytes += site.bytes;
    if (site.is_slab_pages()) slab += site.bytes;
    EXPECT_FALSE(site.is_noise());
  }
  EXPECT_EQ(bytes, 64817856);
  EXPECT_EQ(slab, 5693440);
}

TEST(Allocinfo, TellsPlaceModuleAndFunction) {
  const base::Result<std::vector<AllocationSite>> sites = read(
      "      262656       65 drivers/block/zram/zram_drv.c:1345 [zram] "
      "func:zram_meta_alloc \n"
      "        4096        1 a dir/b:c.h:7 func:f \n");
  ASSERT_TRUE(sites) << sites.error().what;
  ASSERT_EQ(sites->size(), 2U);
  EXPECT_EQ(sites->at(0),
            (AllocationSite{"drivers/block/zram/zram_drv.c", 1345, "zram",
                            "zram_meta_alloc", 262656, 65, false}));
  EXPECT_EQ(sites->at(1),
            (AllocationSite{"a dir/b:c.h", 7, "", "f", 4096, 1, false}));
}

TEST(Allocinfo, KeepsNegativeBytesAndFlagsNoise) {
  const base::Result<std::vector<AllocationSite>> sites = read(
      "       -4096        3 mm/a.c:1 func:f \n"
      "     1310400        0 mm/compaction.c:2 func:compaction_alloc \n"
      "           0        0 mm/b.c:3 func:g \n");
  ASSERT_TRUE(sites) << sites.error().what;
  EXPECT_EQ(sites->at(0).bytes, -4096);
  EXPECT_FALSE(sites->at(0).is_noise());
  EXPECT_TRUE(sites->at(1).is_noise());
  EXPECT_FALSE(sites->at(2).is_noise());
}

TEST(Allocinfo, ReadsVersion2AndWhatItMarks) {
  const base::Result<std::vector<AllocationSite>> sites = parse_allocinfo(
      "allocinfo - version: 2.0\n"
      "           8        1 mm/a.c:1 func:f accurate:no \n"
      "           8        1 mm/a.c:1 func:f later:word \n");
  ASSERT_TRUE(sites) << sites.error().what;
  EXPECT_TRUE(sites->at(0).is_inexact);
  EXPECT_FALSE(sites->at(1).is_inexact);
}

TEST(Allocinfo, RefusesAnotherVersionWithASentence) {
  const base::Result<std::vector<AllocationSite>> sites =
      parse_allocinfo("allocinfo - version: 3.1\nwhatever\n");
  ASSERT_FALSE(sites);
  EXPECT_EQ(sites.error().kind, base::ErrorKind::Unsupported);
  EXPECT_EQ(sites.error().what,
            "allocinfo: version 3.1 is not known here, only 1 and 2 are");
}

TEST(Allocinfo, ALineThatCannotBeReadIsAnError) {
  for (const char* line :
       {"x 1 mm/a.c:1 func:f", "1 -1 mm/a.c:1 func:f", "1 1 mm/a.c func:f",
        "1 1 mm/a.c:x func:f", "1 1 mm/a.c:1 func:", "1 1 mm/a.c:1",
        "1 1 :1 func:f", "1 1 mm/a.c:99999999999 func:f",
        "99999999999999999999 1 mm/a.c:1 func:f",
        "9223372036854775807 1 mm/a.c:1 func:f",
        "-9223372036854775808 1 mm/a.c:1 func:f"}) {
    const base::Result<std::vector<AllocationSite>> sites =
        read(std::string(line) + "\n");
    ASSERT_FALSE(sites) << line;
    EXPECT_EQ(sites.error().kind, base::ErrorKind::Malformed);
    EXPECT_EQ(sites.error().what,
              "allocinfo: cannot read '" + std::string(line) + "'");
  }
}

TEST(Allocinfo, SurvivesTruncation) {
  test::expect_survives_truncation(
      std::string(kHead) +
          "      262656       65 drivers/block/zram.c:1345 [zram] func:meta \n"
          "       -4096        1 mm/a.c:7 func:f accurate:no \n",
      "allocinfo", parse_allocinfo);
}

}  // namespace
}  // namespace tidemark::parse
