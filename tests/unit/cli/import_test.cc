// `import`, through its entry in the command table.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/peak_report.h"
#include "store/recording.h"
#include "unit/cli/harness.h"

namespace tidemark::cli {
namespace {

using Words = std::vector<std::string>;

class Import : public testing::Test {
 protected:
  std::string out() const { return folder_.file("out.tdm"); }

  // Imports quietly to out().
  base::Result<ExitCode> import(Words words) const {
    words.insert(words.end(), {"-q", "-o", out()});
    return run("import", words);
  }
  void expect_imported(Words words) const {
    const base::Result<ExitCode> result = import(std::move(words));
    ASSERT_TRUE(result) << result.error().what;
  }
  // Refused, and nothing but what was there before is in the folder.
  base::Error refused(Words words, size_t files_before = 0) const {
    const base::Result<ExitCode> result = import(std::move(words));
    EXPECT_FALSE(result);
    EXPECT_EQ(files(), files_before) << "half-written output is left";
    return result ? base::Error() : result.error();
  }
  size_t files() const {
    const auto all = std::filesystem::directory_iterator(
        std::filesystem::path(out()).parent_path());
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }
  std::string put(const std::string& name, std::string_view text) const {
    const std::string path = folder_.file(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  store::Recording recording() const {
    base::Result<store::Recording> opened = store::Recording::open(out());
    EXPECT_TRUE(opened) << opened.error().what;
    return std::move(*opened);
  }

  const std::string watcher_ = fixture("memory-watcher/v0.1.db");
  const std::string smaps_ = fixture("debian-6.12/proc/151/smaps");
  const std::string rollup_ = fixture("debian-6.12/proc/151/smaps_rollup");
  TempFolder folder_;
};

TEST_F(Import, FindsThePeakTheToolItselfFinds) {
  expect_imported({watcher_, "--time-zone", "UTC"});
  const store::Recording made = recording();
  EXPECT_EQ(made.info().origin,
            "memory-watcher 0.1: v0.1.db (times taken as UTC)");
  base::Result<model::Timeline> timeline = made.timeline({});
  ASSERT_TRUE(timeline) << timeline.error().what;
  const std::optional<size_t> peak =
      analysis::find_peak(*timeline, analysis::PeakMetric::Pss);
  ASSERT_TRUE(peak);
  EXPECT_EQ(timeline->points[*peak].pss_bytes, uint64_t{14'362} * 1024);
  EXPECT_EQ(made.ticks()[*peak].realtime_ns, 1'794'729'947'943'000'000U);
  base::Result<model::Sample> sample =
      made.sample_at(made.ticks()[*peak].id, {});
  ASSERT_TRUE(sample);
  EXPECT_EQ(analysis::compose(*sample).total.pss, uint64_t{14'362} * 1024);
}

TEST_F(Import, SmapsTextIsOneSampleOfOneProcess) {
  expect_imported({smaps_, "--pid", "151", "--name", "memhog", "--at",
                   "2026-11-15T10:00:00Z"});
  const store::Recording made = recording();
  ASSERT_EQ(made.ticks().size(), 1U);
  EXPECT_EQ(made.ticks()[0].realtime_ns, 1'794'736'800'000'000'000U);
  ASSERT_EQ(made.processes().size(), 1U);
  EXPECT_EQ(made.processes()[0].process.pid, 151);
  EXPECT_EQ(made.processes()[0].images[0].comm, "memhog");
}

TEST_F(Import, TextWithoutATimeHasThatOfItsFile) {
  const std::string path = put("s.txt", contents(smaps_));
  const timespec times[2] = {{1'700'000'000, 5}, {1'700'000'000, 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  expect_imported({path});
  EXPECT_EQ(recording().ticks().at(0).realtime_ns, 1'700'000'000'000'000'005U);
  EXPECT_EQ(recording().processes().at(0).process.pid, 1);
  EXPECT_EQ(recording().processes()[0].images[0].comm, "s.txt");
}

TEST_F(Import, ARollupKeepsTheKernelsSplit) {
  expect_imported({rollup_});
  base::Result<model::Sample> sample = recording().sample_at(0, {});
  ASSERT_TRUE(sample);
  const analysis::Composition all = analysis::compose(*sample);
  EXPECT_GT(all.parts.size(), 1U);
  uint64_t sum = 0;
  for (const analysis::Part& part : all.parts)
    sum += part.bytes.pss;
  EXPECT_EQ(sum, all.total.pss);
}

TEST_F(Import, SeveralFilesAreSamplesInTheOrderGiven) {
  expect_imported({rollup_, smaps_, rollup_});
  EXPECT_EQ(recording().ticks().size(), 3U);
  EXPECT_EQ(recording().info().origin,
            "smaps_rollup text: smaps_rollup; smaps text: smaps; smaps_rollup "
            "text: smaps_rollup");
}

TEST_F(Import, MemstatsKeepsEverySecondAndWhatTheBalloonTold) {
  expect_imported({fixture("memstats/sample.json")});
  const store::Recording made = recording();
  ASSERT_EQ(made.ticks().size(), 2U);
  EXPECT_EQ(made.ticks()[1].realtime_ns - made.ticks()[0].realtime_ns,
            1'000'000'000U);
  EXPECT_EQ(made.processes().size(), 2U);
  base::Result<std::vector<model::VmScan>> scans = made.vm_scans();
  ASSERT_TRUE(scans) << scans.error().what;
  ASSERT_EQ(scans->size(), 2U);
  ASSERT_EQ(scans->front().vms.size(), 1U);
  const model::Vm& vm = scans->front().vms.front();
  EXPECT_EQ(vm.kind, model::VmKind::Crosvm);
  EXPECT_EQ(vm.processes.size(), 2U);
  EXPECT_EQ(vm.processes[0].role, model::VmRole::Monitor);
  EXPECT_EQ(vm.guest.state, model::GuestState::Told);
  EXPECT_EQ(vm.guest.balloon_bytes, 134217728U);
  EXPECT_EQ(vm.guest.stats[model::GuestField::SwapIn], 0U);
  EXPECT_EQ(vm.ram.means, model::RamMeans::Shared);
  EXPECT_FALSE(vm.ram.configured_bytes) << "memstats does not tell it";
}

TEST_F(Import, AnExistingFileIsKeptUnlessAsked) {
  put("out.tdm", "precious");
  const base::Error error = refused({smaps_}, 1);
  EXPECT_EQ(error.kind, base::ErrorKind::Misused);
  EXPECT_EQ(error.what, out() + ": it exists already");
  EXPECT_EQ(contents(out()), "precious");
  expect_imported({smaps_, "--overwrite"});
  EXPECT_EQ(recording().ticks().size(), 1U);
}

TEST_F(Import, WhatIsReadIsNotWrittenOver) {
  put("out.tdm", contents(smaps_));
  const base::Error error = refused({out(), "--overwrite"}, 1);
  EXPECT_EQ(error.what, out() + ": cannot write over what is read");
  EXPECT_EQ(contents(out()), contents(smaps_));
}

TEST_F(Import, FilesThatAreNothingOfTheSortAreRefused) {
  EXPECT_TRUE(refused({folder_.file("none")})
                  .what.ends_with("none: No such file or directory"));
  EXPECT_TRUE(refused({fixture("debian-6.12")})
                  .what.ends_with("debian-6.12: Is a directory"));
  const std::string empty = put("empty", "");
  EXPECT_EQ(refused({empty}, 1).what, empty + ": the file is empty");
  const std::string garbage = put("garbage", "\x01\x02 no\n");
  EXPECT_EQ(refused({garbage}, 2).what,
            garbage + ": nothing that can be imported");
  const std::string json = put("j.json", "[{\"timestamp\":");
  EXPECT_EQ(refused({json}, 3).what, json + ": memstats: not whole JSON");
}

TEST_F(Import, ADatabaseCutShortIsRefused) {
  const std::string cut = put("cut.db", contents(watcher_).substr(0, 20'000));
  EXPECT_EQ(refused({cut}, 1).what,
            cut + ": cut short: 20000 of " +
                std::to_string(contents(watcher_).size()) + " bytes");
}

TEST_F(Import, ARecordingIsNoDatabaseOfMemoryWatcher) {
  expect_imported({smaps_});
  const std::string mine = folder_.file("mine.tdm");
  std::filesystem::rename(out(), mine);
  EXPECT_EQ(refused({mine}, 1).what,
            mine + ": a recording of tidemark already");
}

TEST_F(Import, SmapsCutAnywhereIsRefusedOrEndsWithABlock) {
  const std::string whole = contents(smaps_);
  const std::string path = folder_.file("cut");
  for (size_t length = 1; length < whole.size(); length += 97) {
    put("cut", whole.substr(0, length));
    const base::Result<ExitCode> result = import({path, "--overwrite"});
    const size_t block = whole.find('\n', whole.rfind("VmFlags", length - 1));
    if (!result) continue;
    EXPECT_EQ(length, block + 1);
  }
}

TEST_F(Import, ARollupCutShortIsRefused) {
  const std::string whole = contents(rollup_);
  for (size_t length = 1; length < whole.size(); ++length) {
    const std::string path = put("cut", whole.substr(0, length));
    EXPECT_FALSE(import({path})) << length;
  }
}

TEST_F(Import, TheWrongFormatIsRefused) {
  EXPECT_FALSE(import({smaps_, "--from", "memstats"}));
  EXPECT_FALSE(import({smaps_, "--from", "memory-watcher"}));
  EXPECT_FALSE(import({watcher_, "--from", "smaps"}));
  EXPECT_EQ(files(), 0U);
  EXPECT_EQ(import({smaps_, "--from", "csv"}).error().kind,
            base::ErrorKind::Misused);
}

TEST_F(Import, NamesAndTimesForWhatHasItsOwnAreMisuse) {
  for (const Words& words :
       {Words{watcher_, "--pid", "3"}, Words{watcher_, "--name", "x"},
        Words{watcher_, "--at", "2026-11-15T10:00:00Z"},
        Words{fixture("memstats/sample.json"), "--pid", "3"},
        Words{smaps_, rollup_, "--at", "2026-11-15T10:00:00Z"},
        Words{smaps_, "--pid", "x"}, Words{smaps_, "--at", "noon"},
        Words{smaps_, "--time-zone", "Mars"}, Words{}}) {
    EXPECT_EQ(refused(words).kind, base::ErrorKind::Misused);
  }
}

TEST_F(Import, APlaceThatCannotBeWrittenFailsAtOnce) {
  const base::Result<ExitCode> result =
      run("import", {smaps_, "-o", "/nonexistent/out.tdm"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what,
            "cannot write /nonexistent/out.tdm: No such file or directory");
  const base::Result<ExitCode> nowhere = run("import", {smaps_});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, base::ErrorKind::Misused);
}

TEST_F(Import, TheSourceStaysAsItIs) {
  const std::string copy = put("copy.db", contents(watcher_));
  expect_imported({copy});
  EXPECT_TRUE(contents(copy) == contents(watcher_));
  EXPECT_EQ(files(), 2U) << "no log beside it either";
}

}  // namespace
}  // namespace tidemark::cli
