#include "cli/page.h"

#include <gtest/gtest.h>

namespace tidemark::cli {
namespace {

CommonOptions asked_for(const std::string& format_word,
                        const std::string& output_path) {
  CommonOptions common;
  common.format_word = format_word;
  common.output_path = output_path;
  return common;
}

TEST(WantsPage, WhenItIsAskedForOrTheFileIsCalledSo) {
  EXPECT_TRUE(wants_page(asked_for("html", "")));
  EXPECT_TRUE(wants_page(asked_for("html", "out.txt")));
  EXPECT_TRUE(wants_page(asked_for("", "out.html")));
}

TEST(WantsPage, NotWhenAnotherFormWasAskedFor) {
  EXPECT_FALSE(wants_page(asked_for("", "")));
  EXPECT_FALSE(wants_page(asked_for("", "out.txt")));
  EXPECT_FALSE(wants_page(asked_for("text", "out.html")));
  CommonOptions json = asked_for("", "out.html");
  json.format = Format::Json;  // --json
  EXPECT_FALSE(wants_page(json));
}

TEST(CheckPageOutput, AFileIsAlwaysGood) {
  EXPECT_TRUE(check_page_output(asked_for("html", "out.html"), "example"));
}

}  // namespace
}  // namespace tidemark::cli
