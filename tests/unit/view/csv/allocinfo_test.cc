#include "view/csv/allocinfo.h"

#include <gtest/gtest.h>

#include "unit/view/allocinfo_example.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

TEST(AllocinfoCsv, HasALineForEachRow) {
  const std::string csv = allocinfo_csv_rows(allocinfo_example(true));
  const std::vector<std::string> lines = lines_of(csv);
  ASSERT_EQ(lines.size(), 2U) << csv;
  EXPECT_EQ(lines[0],
            "2025-11-15T08:11:08.123456789Z,22151168,5408,4096,1,,"
            "mm/readahead.c,263,page_cache_ra_unbounded,1,0");
  EXPECT_TRUE(is_harmless(csv));
  EXPECT_EQ(
      allocinfo_csv_head(),
      "time,bytes,call_count,grown_bytes,grown_call_count,module,file,line,"
      "function,site_count,inexact\n");
}

}  // namespace
}  // namespace tidemark::view
