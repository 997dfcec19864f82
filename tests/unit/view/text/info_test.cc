#include "view/text/info.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "unit/view/examples.h"
#include "unit/view/recording_example.h"
#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

TEST(InfoText, NamesAreEscaped) {
  const std::string text =
      info_text(named_info_report("a\x1b[2J\nb"), true, TextStyle{});
  EXPECT_NE(text.find(R"(a\x1b[2J\nb)"), std::string::npos) << text;
  EXPECT_TRUE(is_harmless(text)) << text;
}

// A recording is a file from anywhere: the names of its tables are a stranger's
// as well.
RC_GTEST_PROP(InfoTextProperty, HostileNamesCannotControlTheTerminal, ()) {
  const analysis::InfoReport report = named_info_report(*hostile_name());
  RC_ASSERT(is_harmless(info_text(report, false, TextStyle{})));
  RC_ASSERT(is_harmless(info_text(report, true, TextStyle{})));
}

}  // namespace
}  // namespace tidemark::view
