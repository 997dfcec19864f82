#include "view/text/objects.h"

#include <gtest/gtest.h>

#include "unit/view/objects_example.h"

namespace tidemark::view {
namespace {

TEST(ObjectsText, HasEveryColumnAndTheHeadTwice) {
  TextStyle style;
  style.wide = true;
  const std::string text = objects_text(objects_example(), style);
  const std::string head = text.substr(0, text.find('\n'));
  for (const char* word : {"RIGHTS", "ID", "PARENT", "#CHLD", "#MAP", "#SHR",
                           "#FD", "SIZE", "ALLOC", "SWAP", "KIND", "NAME"}) {
    EXPECT_NE(head.find(word), std::string::npos) << word;
  }
  EXPECT_NE(text.find(head, 1), std::string::npos);
  EXPECT_NE(text.find("shmem: 79.3M = 63.9M named + 15.4M unreachable\n"),
            std::string::npos)
      << text;
}

TEST(ObjectsText, WhatPagesToldOfStandsBehindTheRest) {
  analysis::ObjectReport report = objects_example();
  report.selection = analysis::ObjectSelection::Hidden;
  TextStyle style;
  style.width = 200;
  EXPECT_NE(objects_text(report, style).find("named from /proc"),
            std::string::npos);
  report.pages_were_read = true;
  report.shmem->found_bytes = 4 * kMiB;
  const std::string text = objects_text(report, style);
  EXPECT_NE(text.find("+ 15.4M unreachable, 4.00M of it found by its pages\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("named from /proc"), std::string::npos);
}

TEST(ObjectsText, DeviceMemoryIsPhys) {
  TextStyle style;
  style.wide = true;
  const std::string text = objects_text(objects_example(), style);
  EXPECT_NE(text.find("phys"), std::string::npos);
}

TEST(ObjectsText, StrangersNamesDoNotAct) {
  for (const bool wide : {true, false}) {
    TextStyle style;
    style.wide = wide;
    const std::string text = objects_text(objects_example(), style);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("\\x1b"), std::string::npos);
  }
}

TEST(ObjectsText, SaysWhoCouldNotBeReadAndWhy) {
  const std::string text = objects_text(objects_example(), TextStyle());
  EXPECT_NE(text.find("1 of 3 processes could not be read (RSS 2.00M)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("? of 1 object: denied: map_files"), std::string::npos)
      << text;
}

TEST(ObjectsText, FitsItsWidth) {
  TextStyle style;
  style.utf8 = false;
  std::string text = objects_text(objects_example(), style);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    EXPECT_LE(end, 80) << text.substr(0, end);
    text.erase(0, end + 1);
  }
}

TEST(ObjectsText, OneObjectListsItsHolders) {
  analysis::ObjectReport report = objects_example();
  report.selection = analysis::ObjectSelection::One;
  report.rows.resize(1);
  const std::string text = objects_text(report, TextStyle());
  EXPECT_NE(text.find("    PID  RIGHTS  #MAP  #FD  NAME"), std::string::npos)
      << text;
  EXPECT_NE(text.find("     10  rw-        1    2  server"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace tidemark::view
