#include "analysis/process_filter.h"

#include <gtest/gtest.h>

#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using test::kMiB;

model::Process writer() {
  model::Process process;
  process.id = {41902, 1};
  process.stat.comm = "postgres";
  process.command_line = "postgres: writer";
  process.cgroup_path = "/system.slice/db.service";
  process.status.user_id = 112;
  return process;
}

bool is_met(std::string_view text) {
  base::Result<ProcessFilter> filter = ProcessFilter::parse(text);
  EXPECT_TRUE(filter) << text;
  if (!filter) return false;
  Use use;
  use.pss = model::amount_of(474 * kMiB);
  use.hugetlb = model::amount_of(0);
  use.swap_pss = model::amount_of(std::nullopt);
  return filter->matches(writer(), use, {{112, "postgres"}});
}

TEST(ProcessFilter, FindsAWordInNameUserAndGroup) {
  EXPECT_TRUE(is_met("WRITER"));
  EXPECT_TRUE(is_met("db.service"));
  EXPECT_FALSE(is_met("firefox"));
}

TEST(ProcessFilter, ComparesSizes) {
  EXPECT_TRUE(is_met("pss>100M"));
  EXPECT_FALSE(is_met("pss>1G"));
  EXPECT_TRUE(is_met("pss>=474M"));
  EXPECT_TRUE(is_met("pid=41902"));
}

TEST(ProcessFilter, MeetsNoConditionOnWhatIsUnknown) {
  EXPECT_FALSE(is_met("swap>0"));
  EXPECT_FALSE(is_met("swap<1G"));
}

TEST(ProcessFilter, JoinsConditions) {
  EXPECT_TRUE(is_met("pss>100M and user=postgres"));
  EXPECT_FALSE(is_met("pss>100M and user=ann"));
  EXPECT_TRUE(is_met("pss>1G or user=postgres"));
  EXPECT_TRUE(is_met("pss>1G and user=ann or writer"));
  EXPECT_FALSE(is_met("not writer"));
  EXPECT_TRUE(is_met("not firefox group~slice"));
}

TEST(ProcessFilter, RefusesWhatItDoesNotKnow) {
  for (std::string_view text : {"", "and", "pss>", "pss>many", "colour=red",
                                "name>a", "pss~1", "x or", "not", "pss!5"}) {
    EXPECT_FALSE(ProcessFilter::parse(text)) << text;
  }
}

}  // namespace
}  // namespace tidemark::analysis
