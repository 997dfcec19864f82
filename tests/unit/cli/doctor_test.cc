// `doctor`, through its entry in the command table.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/cli/harness.h"
#include "unit/json_check.h"

namespace tidemark::cli {
namespace {

std::string doctor(std::vector<std::string> words) {
  words.insert(words.end(), {"--proc", fixture("debian-6.12/proc")});
  return file_output_of("doctor", std::move(words));
}

TEST(Doctor, OfACopiedTreeNamesTheTree) {
  EXPECT_TRUE(doctor({}).starts_with(fixture("debian-6.12/proc")))
      << doctor({});
}

TEST(Doctor, JsonIsOneObjectWithItsSchema) {
  const std::string json = doctor({"--json"});
  EXPECT_TRUE(test::JsonCheck(json).is_valid()) << json;
  EXPECT_NE(json.find(R"("schema": "tidemark.doctor/1")"), std::string::npos);
}

TEST(Doctor, HasNoCsv) {
  base::Result<ExitCode> result = run("doctor", {"--format", "csv"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), base::fail(base::ErrorKind::Misused,
                                       "'csv' is not a value of --format",
                                       "one of text, json"));
}

TEST(Doctor, AWrongTreeIsAnError) {
  EXPECT_FALSE(run("doctor", {"--proc", "/nonexistent"}));
}

}  // namespace
}  // namespace tidemark::cli
