#include "source/smaps_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "unit/fixture.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::Mapping;
using test::read_fixture;
using test::TemporaryTree;

constexpr size_t kBufferBytes = 16 * 1024;
constexpr std::string_view kHead =
    "00400000-00401000 rw-p 00000000 00:00 0 \n"
    "Rss:                   4 kB\n";

base::Result<std::vector<Mapping>> stream(const TemporaryTree& tree) {
  base::Result<base::Directory> process = base::open_directory(tree.path("42"));
  if (!process) return process.error();
  std::vector<Mapping> mappings;
  SmapsReader reader;
  base::Status status =
      reader.read(*process, [&](const Mapping& m) { mappings.push_back(m); });
  if (!status) return status.error();
  return mappings;
}

std::vector<Mapping> parsed(std::string_view smaps) {
  base::Result<std::vector<Mapping>> mappings = parse::parse_smaps(smaps);
  EXPECT_TRUE(mappings) << mappings.error().what;
  return *mappings;
}

// Lines of a label that no kernel has yet, `bytes` long altogether.
std::string unknown_lines(size_t bytes) {
  std::string text;
  while (text.size() + 110 < bytes)
    text += "Future: " + std::string(91, '1') + "\n";
  return text + "Future: " + std::string(bytes - text.size() - 9, '1') + "\n";
}

TEST(SmapsFile, LargerThanTheBufferIsReadWhole) {
  const std::string text = read_fixture("host-6.18/proc/3/smaps");
  ASSERT_GT(text.size(), kBufferBytes) << "the fixture must cross a border";
  TemporaryTree tree;
  tree.add("42/smaps", text);
  base::Result<std::vector<Mapping>> mappings = stream(tree);
  ASSERT_TRUE(mappings) << mappings.error().what;
  EXPECT_EQ(mappings->size(), 35U) << "lines of host-6.18/proc/3/maps";
  EXPECT_TRUE(*mappings == parsed(text));
}

RC_GTEST_PROP(SmapsFile, MayBeCutAnywhereByTheBuffer, ()) {
  const auto filling = *rc::gen::inRange<size_t>(10, 8 * 1024);
  const std::string text = std::string(kHead) + unknown_lines(filling) +
                           read_fixture("host-6.18/proc/3/smaps");
  TemporaryTree tree;
  tree.add("42/smaps", text);
  base::Result<std::vector<Mapping>> mappings = stream(tree);
  RC_ASSERT(static_cast<bool>(mappings));
  RC_ASSERT(*mappings == parsed(text));
}

TEST(SmapsFile, MayArriveInPieces) {
  const std::string text = read_fixture("hostile/proc/14/smaps");
  TemporaryTree tree;
  tree.add("42/stat", "");
  ASSERT_EQ(::mkfifo(tree.path("42/smaps").c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream fifo(tree.path("42/smaps"), std::ios::binary);
    for (size_t at = 0; at < text.size(); at += 97) {
      fifo << text.substr(at, 97) << std::flush;
    }
  });
  base::Result<std::vector<Mapping>> mappings = stream(tree);
  writer.join();
  ASSERT_TRUE(mappings) << mappings.error().what;
  EXPECT_TRUE(*mappings == parsed(text));
}

TEST(SmapsFile, OfAnEndedProcessHasNoMappings) {
  TemporaryTree tree;
  tree.add("42/smaps", "");
  base::Result<std::vector<Mapping>> mappings = stream(tree);
  ASSERT_TRUE(mappings) << mappings.error().what;
  EXPECT_TRUE(mappings->empty());
}

TEST(SmapsFile, WithABlockThatJustFitsIsRead) {
  TemporaryTree tree;
  tree.add("42/smaps", std::string(kHead) +
                           unknown_lines(kBufferBytes - kHead.size() - 100) +
                           std::string(kHead));
  base::Result<std::vector<Mapping>> mappings = stream(tree);
  ASSERT_TRUE(mappings) << mappings.error().what;
  EXPECT_EQ(mappings->size(), 2U);
}

TEST(SmapsFile, WithABlockLargerThanTheBufferIsRefused) {
  TemporaryTree tree;
  tree.add("42/smaps", std::string(kHead) + unknown_lines(2 * kBufferBytes));
  base::Result<std::vector<Mapping>> mappings = stream(tree);
  ASSERT_FALSE(mappings);
  EXPECT_EQ(mappings.error().kind, ErrorKind::Malformed);
  EXPECT_EQ(mappings.error().what,
            tree.path("42/smaps") + ": a block of over 16 KiB");
}

TEST(SmapsFile, ThatCannotBeParsedNamesTheProcess) {
  TemporaryTree tree;
  tree.add("42/smaps", "garbage\n");
  base::Result<std::vector<Mapping>> mappings = stream(tree);
  ASSERT_FALSE(mappings);
  EXPECT_EQ(mappings.error().kind, ErrorKind::Malformed);
  EXPECT_TRUE(mappings.error().what.starts_with(tree.path("42") + ": "))
      << mappings.error().what;
}

// One reader serves a whole walk.
TEST(SmapsFile, LeavesNothingBehindForTheNextFile) {
  const std::string whole = read_fixture("hostile/proc/14/smaps");
  SmapsReader reader;
  for (const std::string& text :
       {std::string(kHead), whole + "garbage\n", unknown_lines(20), whole}) {
    TemporaryTree tree;
    tree.add("42/smaps", text);
    base::Result<base::Directory> process =
        base::open_directory(tree.path("42"));
    ASSERT_TRUE(process) << process.error().what;
    std::vector<Mapping> mappings;
    base::Status status =
        reader.read(*process, [&](const Mapping& m) { mappings.push_back(m); });
    if (text != whole) continue;
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_TRUE(mappings == parsed(whole));
  }
}

TEST(SmapsFile, ThatIsNotThereIsNotFound) {
  TemporaryTree tree;
  tree.add("42/stat", "");
  base::Result<std::vector<Mapping>> mappings = stream(tree);
  ASSERT_FALSE(mappings);
  EXPECT_EQ(mappings.error().kind, ErrorKind::NotFound);
  EXPECT_EQ(mappings.error().what,
            tree.path("42/smaps") + ": No such file or directory");
}

}  // namespace
}  // namespace tidemark::source
