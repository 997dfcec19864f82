#include "cli/import_input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "analysis/composition.h"
#include "base/text.h"
#include "unit/cli/harness.h"
#include "unit/quantities.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

using test::kSecondNs;

constexpr const char* kOneMapping =
    "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0   [heap]\n"
    "Size:                132 kB\n"
    "Rss:                  64 kB\n"
    "Pss:                  48 kB\n";

class ImportInputTest : public testing::Test {
 protected:
  std::string put(const std::string& name, std::string_view text) const {
    const std::string path = folder_.file(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static ImportInput opened(const std::string& path,
                            const ImportOptions& options = {}) {
    base::Result<ImportInput> input = open_import(path, options);
    EXPECT_TRUE(input) << input.error().what;
    return input ? std::move(*input) : ImportInput();
  }
  static base::Error refused(const std::string& path,
                             const ImportOptions& options = {}) {
    const base::Result<ImportInput> input = open_import(path, options);
    EXPECT_FALSE(input) << path;
    return input ? base::Error() : input.error();
  }

  TempFolder folder_;
};

uint64_t sum_of(std::string_view text, std::string_view label) {
  uint64_t sum = 0;
  while (!text.empty()) {
    std::string_view line = base::take_line(text);
    if (base::take_until(line, ':') != label) continue;
    sum += base::parse_kib(line).value_or(0);
  }
  return sum;
}

TEST_F(ImportInputTest, EachFormatIsToldByItsBeginning) {
  const std::pair<std::string, std::string> known[] = {
      {fixture("memory-watcher/v0.1.db"), "memory-watcher 0.1"},
      {fixture("debian-6.12/proc/151/smaps"), "smaps text"},
      {fixture("debian-6.12/proc/151/smaps_rollup"), "smaps_rollup text"},
      {fixture("memstats/sample.json"), "memstats"},
      {put("spaced.json", "\n\n  " + contents(fixture("memstats/sample.json"))),
       "memstats"},
  };
  for (const auto& [path, words] : known) {
    const ImportInput input = opened(path);
    EXPECT_EQ(input.words, words) << path;
    EXPECT_EQ(input.path, path);
    EXPECT_EQ(input.watcher.has_value(), input.samples.empty()) << path;
  }
}

TEST_F(ImportInputTest, NothingOfAFileIsLost) {
  for (const char* name : {"smaps", "smaps_rollup"}) {
    const std::string path = fixture("debian-6.12/proc/151/") + name;
    const ImportInput input = opened(path);
    ASSERT_EQ(input.samples.size(), 1U);
    const analysis::Composition all = analysis::compose(input.samples[0]);
    EXPECT_EQ(all.total.pss, sum_of(contents(path), "Pss")) << name;
    EXPECT_EQ(all.total.rss, sum_of(contents(path), "Rss")) << name;
    uint64_t parts = 0;
    for (const analysis::Part& part : all.parts)
      parts += part.bytes.pss;
    EXPECT_EQ(parts, all.total.pss) << name;
  }
}

TEST_F(ImportInputTest, TextIsOfTheProcessItIsSaidToBeOf) {
  ImportOptions options;
  options.pid = 151;
  options.name = "db\x1b[2J\n";
  options.realtime_ns = 7 * kSecondNs;
  const ImportInput input = opened(put("a.txt", kOneMapping), options);
  ASSERT_EQ(input.samples.size(), 1U);
  EXPECT_EQ(input.samples[0].started_realtime_ns, 7 * kSecondNs);
  ASSERT_EQ(input.samples[0].processes.size(), 1U);
  EXPECT_EQ(input.samples[0].processes[0].id.pid, 151);
  EXPECT_EQ(input.samples[0].processes[0].stat.comm, "db\x1b[2J\n")
      << "kept as it is; who shows it makes it harmless";
}

TEST_F(ImportInputTest, TextThatNobodyNamedHasTheNameAndTimeOfItsFile) {
  const std::string path = put("a.txt", kOneMapping);
  const timespec times[2] = {{1'700'000'000, 5}, {1'700'000'000, 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const ImportInput input = opened(path);
  EXPECT_EQ(input.samples.at(0).processes.at(0).stat.comm, "a.txt");
  EXPECT_EQ(input.samples[0].started_realtime_ns,
            1'700'000'000 * kSecondNs + 5);
}

TEST_F(ImportInputTest, AFileFromBeforeTheEpochIsOfTheEpoch) {
  const std::string path = put("a.txt", kOneMapping);
  const timespec times[2] = {{-5, 0}, {-5, 0}};
  if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) {
    GTEST_SKIP() << "this file system has no such times";
  }
  EXPECT_EQ(opened(path).samples.at(0).started_realtime_ns, 0U);
}

TEST_F(ImportInputTest, MemstatsEndsWhenItsFileWasWritten) {
  const std::string path =
      put("m.json", contents(fixture("memstats/sample.json")));
  const timespec times[2] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const ImportInput input = opened(path);
  ASSERT_EQ(input.samples.size(), 2U);
  EXPECT_EQ(input.samples[1].started_realtime_ns, 1'700'000'000 * kSecondNs);
  EXPECT_EQ(input.samples[0].started_realtime_ns, 1'699'999'999 * kSecondNs);
  ImportOptions options;
  options.realtime_ns = 7 * kSecondNs;
  const ImportInput told = opened(path, options);
  EXPECT_EQ(told.samples.at(0).started_realtime_ns, 7 * kSecondNs);
  EXPECT_EQ(told.samples.at(1).started_realtime_ns, 8 * kSecondNs);
}

TEST_F(ImportInputTest, OfCutMemstatsTheRestIsTaken) {
  const std::string whole = contents(fixture("memstats/sample.json"));
  const std::string path =
      put("m.json", whole.substr(0, whole.rfind("timestamp")));
  const ImportInput input = opened(path);
  EXPECT_EQ(input.samples.size(), 1U);
  EXPECT_TRUE(input.is_cut);
  EXPECT_FALSE(opened(fixture("memstats/sample.json")).is_cut);
}

TEST_F(ImportInputTest, WhatNamesItsProcessesIsNotRenamed) {
  ImportOptions named;
  named.name = "x";
  ImportOptions numbered;
  numbered.pid = 1;
  for (const std::string& path :
       {fixture("memory-watcher/v0.1.db"), fixture("memstats/sample.json")}) {
    for (const ImportOptions& options : {named, numbered}) {
      EXPECT_EQ(
          refused(path, options),
          base::fail(ErrorKind::Misused, path + " names its processes itself",
                     "leave out --pid and --name"));
    }
  }
}

TEST_F(ImportInputTest, ADatabaseHasItsOwnTimes) {
  ImportOptions options;
  options.realtime_ns = kSecondNs;
  const std::string path = fixture("memory-watcher/v0.1.db");
  const base::Error error = refused(path, options);
  EXPECT_EQ(error.kind, ErrorKind::Misused);
  EXPECT_EQ(error.what, path + " has times of its own");
}

TEST_F(ImportInputTest, TextThatEndsTooSoonIsCutShort) {
  const std::string whole = kOneMapping;
  const std::string second =
      "7f0000000000-7f0000001000 r--p 00000000 08:01 12   /data\n"
      "Size:                  4 kB\nRss:                   4 kB\n";
  const std::pair<std::string, std::string> known[] = {
      {whole.substr(0, whole.size() - 1), "its last line has no end"},
      {whole + second, "the last mapping has no Pss"},
      {whole + "VmFlags: rd wr\n" + second + "Pss:                   4 kB\n",
       "the last mapping has no VmFlags"},
  };
  for (const auto& [text, because] : known) {
    const std::string path = put("cut.txt", text);
    EXPECT_EQ(refused(path), base::fail(ErrorKind::Malformed,
                                        path + ": cut short: " + because));
  }
}

TEST_F(ImportInputTest, MapsAloneSayNothingOfMemory) {
  const std::string path =
      put("maps", "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0   [heap]\n");
  EXPECT_EQ(refused(path).what, path + ": no Rss and Pss in it");
}

TEST_F(ImportInputTest, WhatIsNoFileOfThoseIsRefused) {
  const std::pair<std::string, std::string> known[] = {
      {folder_.file("none"), ": No such file or directory"},
      {folder_.file(""), ": Is a directory"},
      {put("empty", ""), ": the file is empty"},
      {put("blank", " \n\n \n"), ": the file is empty"},
      {put("text", "hello\n"), ": nothing that can be imported"},
      {put("nul", std::string(64, '\0')), ": nothing that can be imported"},
  };
  for (const auto& [path, because] : known)
    EXPECT_EQ(refused(path).what, path + because);
}

TEST_F(ImportInputTest, AFormatThatWasAskedForIsNotGuessed) {
  ImportOptions options;
  options.format = ImportFormat::Memstats;
  EXPECT_EQ(refused(put("a.txt", kOneMapping), options).kind,
            ErrorKind::Malformed);
  options.format = ImportFormat::Smaps;
  EXPECT_EQ(refused(fixture("memstats/sample.json"), options).kind,
            ErrorKind::Malformed);
}

}  // namespace
}  // namespace tidemark::cli
