#include "view/profile/memory_profile.h"

#include <gtest/gtest.h>

#include "unit/json_check.h"
#include "unit/parts.h"
#include "unit/view/export_example.h"

namespace tidemark::view {
namespace {

using test::has;

MemoryProfile of(const model::Sample& now, const model::Sample& peak) {
  return {&now, &peak, 1'794'729'947'943'000'000, 1'794'729'940'000'000'000};
}

TEST(MemoryProfile, IsAStackForEachObjectOfAProcess) {
  model::Sample sample = exported_sample();
  sample.processes[0].cgroup_path = "/system.slice/a.service";
  const std::string json = memory_speedscope(of(sample, sample));
  EXPECT_TRUE(test::JsonCheck(json).is_valid()) << json;
  EXPECT_TRUE(has(json, R"({"name":"machine"},)"
                        R"({"name":"/system.slice/a.service"},)"))
      << json;
  EXPECT_TRUE(has(json, R"("weights":[4096,8192])")) << json;
}

TEST(MemoryProfile, TellsTheMomentAndThePeakApart) {
  const model::Sample peak = exported_sample();
  model::Sample now = peak;
  now.processes[0].mappings.value->pop_back();
  now.processes[0].kinds.pop_back();
  const std::string json = memory_speedscope(of(now, peak));
  EXPECT_TRUE(has(json, R"("weights":[8192])")) << json;
  EXPECT_TRUE(has(json, R"("weights":[4096,8192])")) << json;
}

TEST(MemoryProfile, SaysWhoIsNotInIt) {
  const model::Sample sample = exported_sample();
  const std::string profile = memory_pprof(of(sample, sample));
  EXPECT_TRUE(has(profile, "1 of 2 processes are not in it"));
  EXPECT_TRUE(has(profile, "inuse_space"));
  EXPECT_TRUE(has(profile, "peak_space"));
  EXPECT_TRUE(has(profile, "group not known"));
}

TEST(MemoryProfile, IsWholeForARecordingOfNobody) {
  const model::Sample nobody;
  EXPECT_TRUE(
      test::JsonCheck(memory_speedscope(of(nobody, nobody))).is_valid());
}

}  // namespace
}  // namespace tidemark::view
