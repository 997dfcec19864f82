#include "view/html/page.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace tidemark::view {
namespace {

std::string page_of(std::string_view json) {
  base::Result<std::string> page = page_html(
      embedded_page(), std::array<PageReport, 1>{{{"timeline", json}}});
  EXPECT_TRUE(page) << page.error().what;
  return page ? *page : "";
}

class PageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (embedded_page().empty())
      GTEST_SKIP() << "built without the browser front end";
  }
};

TEST_F(PageTest, HoldsTheReportAsData) {
  const std::string page = page_of("{\"a\": 1}");
  EXPECT_NE(page.find("<script type=\"application/json\" id=\"data-timeline\">"
                      "{\"a\": 1}</script>"),
            std::string::npos);
  EXPECT_EQ(page.find("tidemark:data"), std::string::npos);
}

TEST_F(PageTest, NoNameInItCanEndItsElement) {
  const std::string page =
      page_of("{\"name\": \"</script><img src=x onerror=alert(1)><!--\"}");
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>\\u003cimg src=x"), std::string::npos);
}

TEST_F(PageTest, PacksWhatIsLong) {
  std::string json = "{\"a\":[0";
  for (int i = 1; i < 100'000; ++i)
    json += "," + std::to_string(i * 1024);
  json += "]}";
  const std::string page = page_of(json);
  EXPECT_NE(
      page.find("<script type=\"application/gzip\" id=\"data-timeline\">H4sI"),
      std::string::npos);
  EXPECT_LT(page.size(), embedded_page().size() + json.size() / 20);
}

TEST_F(PageTest, LoadsNothing) {
  const std::string page = embedded_page();
  for (std::string_view word : {"src=\"", "href=\"", "@import", "url(http"})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_LE(page.size(), 250'000u);
}

TEST(PageWithoutFrontEnd, SaysSo) {
  const base::Result<std::string> page = page_html("", {});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().kind, base::ErrorKind::Unsupported);
}

}  // namespace
}  // namespace tidemark::view
