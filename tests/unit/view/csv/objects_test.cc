#include "view/csv/objects.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/view/objects_example.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

TEST(ObjectsCsv, HasALineForEachObject) {
  const std::vector<std::string> lines =
      lines_of(objects_csv(objects_example()));
  ASSERT_EQ(lines.size(), 4);
  EXPECT_TRUE(lines[0].starts_with("time,id,kind,rights,")) << lines[0];
  EXPECT_NE(lines[1].find(",memfd:1054,memfd,rw-,,0,1,1,2,67108864,66060288,"
                          "1048576,0,0,"),
            std::string::npos)
      << lines[1];
}

TEST(ObjectsCsv, AnUnknownIsAnEmptyField) {
  const std::string csv = objects_csv(objects_example());
  EXPECT_NE(csv.find(",shared:7,shared_anon,---,,0,0,0,0,,,,0,0,"),
            std::string::npos)
      << csv;
}

TEST(ObjectsCsv, StrangersNamesKeepToTheirField) {
  analysis::ObjectReport report = objects_example();
  report.rows.resize(1);
  report.rows[0].name = "/tmp/a,\"b\"\nc";
  const std::vector<std::string> lines = lines_of(objects_csv(report));
  ASSERT_EQ(lines.size(), 2);
  EXPECT_TRUE(lines[1].ends_with(",\"/tmp/a,\"\"b\"\"\\nc\"")) << lines[1];
}

}  // namespace
}  // namespace tidemark::view
