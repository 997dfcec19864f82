#include "view/text/peak.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "unit/view/examples.h"
#include "unit/view/recording_example.h"
#include "unit/view/text/lines.h"
#include "view/text/watcher.h"

namespace tidemark::view {
namespace {

TEST(PeakText, NamesAreEscaped) {
  const std::string text =
      peak_text(named_peak_report("a\x1b[2J\nb"), {}, TextStyle{});
  EXPECT_NE(text.find(R"(a\x1b[2J\nb)"), std::string::npos) << text;
  EXPECT_TRUE(is_harmless(text)) << text;
}

RC_GTEST_PROP(PeakTextProperty, HostileNamesCannotControlTheTerminal, ()) {
  const analysis::PeakReport report = named_peak_report(*hostile_name());
  RC_ASSERT(is_harmless(peak_text(report, {}, TextStyle{})));
  PeakTextOptions step;
  step.is_step = true;
  RC_ASSERT(is_harmless(peak_text(report, step, TextStyle{})));
}

RC_GTEST_PROP(WatcherTextProperty, HostileNamesCannotControlTheTerminal, ()) {
  const std::string name = *hostile_name();
  WatcherHead head;
  head.name = name;
  head.metric = "Pss";
  analysis::WatcherListing listing;
  listing.named = {{name, 4096}, {name, 1024}};
  listing.sum_bytes = 5120;
  RC_ASSERT(is_harmless(watcher_text(head, {}, 4096, listing, 1)));
  RC_ASSERT(is_harmless(watcher_text(head, {}, 4096, listing, 9)));
}

}  // namespace
}  // namespace tidemark::view
