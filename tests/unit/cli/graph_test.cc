// `graph`, `treemap` and `buckets`, through their entries in the command table.
#include "cli/graph_capture.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "cli/graph_input.h"
#include "unit/cli/harness.h"
#include "unit/json_check.h"
#include "unit/parts.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using Words = std::vector<std::string>;

const std::string kCapture = "graph/memgraph.json";

using test::has;

base::Error refused(std::string_view name, const Words& words) {
  const base::Result<ExitCode> result = run(name, words);
  EXPECT_FALSE(result) << name;
  return result ? base::Error() : result.error();
}

// ---- notes of a capture

std::string notes_of(const analysis::Graph& graph, bool is_quiet = false) {
  CommonOptions common;
  common.quiet = is_quiet;
  return written_to(STDERR_FILENO, [&] { print_graph_notes(common, graph); });
}

TEST(GraphCapture, NotesAreEscapedAndCountWhoIsNotThere) {
  analysis::Graph graph;
  EXPECT_EQ(notes_of(graph), "");
  graph.notes = {"a\x1b[1m note"};
  graph.unknown_process_count = 1;
  graph.failed_process_count = 2;
  EXPECT_EQ(notes_of(graph),
            "tidemark: a\\x1b[1m note\n"
            "tidemark: 1 process may not be read and counts as zero; run as "
            "root to see them\n"
            "tidemark: 2 processes could not be read and count as zero\n");
  EXPECT_EQ(notes_of(graph, true), "");
}

TEST(GraphCapture, RootIsNotToldToBecomeRoot) {
  analysis::Graph graph;
  graph.unknown_process_count = 1;
  graph.reader_is_root = true;
  EXPECT_FALSE(has(notes_of(graph), "run as root"));
}

TEST(GraphCapture, AFolderThatIsNoProcIsRefused) {
  const TempFolder folder;
  CommonOptions common;
  common.quiet = true;
  common.proc_path = folder.file("none");
  EXPECT_FALSE(capture_graph(common, {}));
}

// ---- graph

TEST(GraphCommand, PrintsRecordsOrTheirSchema) {
  const std::string records = file_output_of(
      "graph", {"-q", "-v", "--json", "--proc", fixture("debian-6.12/proc")});
  EXPECT_TRUE(test::JsonCheck(records).is_valid());
  EXPECT_TRUE(has(records, R"({"id":"kernel/physmem","type":"kernel")"));
  EXPECT_TRUE(has(records, R"("vmo_refs":[)"));
  EXPECT_TRUE(test::JsonCheck(file_output_of("graph", {"-S"})).is_valid());
}

TEST(GraphCommand, AProcessThatFailedIsToldByTheStatus) {
  std::string text;
  written_to(STDERR_FILENO, [&] {
    text = written_to(STDOUT_FILENO, [] {
      const base::Result<ExitCode> result =
          run("graph", {"--proc", fixture("hostile/proc")});
      ASSERT_TRUE(result) << result.error().what;
      EXPECT_EQ(*result, ExitCode::Failed);
    });
  });
  EXPECT_TRUE(test::JsonCheck(text).is_valid()) << "the rest is printed";
}

// ---- treemap

TEST(TreemapCommand, ReadsAFileOrStandardInput) {
  const Words words = {"--format", "jsonl"};
  const auto drawn = [&](const std::string& path) {
    Words all = words;
    all.push_back(path);
    return output_of("treemap", all);
  };
  const std::string of_file = drawn(fixture(kCapture));
  EXPECT_TRUE(has(of_file, R"("total_bytes":536870912)")) << of_file;
  const base::Fd input(::open(fixture(kCapture).c_str(), O_RDONLY));
  const Redirect redirect(STDIN_FILENO, input.get());
  EXPECT_EQ(drawn("-"), of_file);
}

TEST(TreemapCommand, ZoomsAndFolds) {
  const std::string json =
      output_of("treemap", {"--format", "jsonl", "--zoom", "j/3300", "--top",
                            "1", "--depth", "1", fixture(kCapture)});
  EXPECT_TRUE(has(json, R"("total_bytes":154140672)")) << json;
  EXPECT_TRUE(has(json, R"({"name":"other","kind":"other","bytes":41943040,)"))
      << json;
  EXPECT_EQ(refused("treemap", {"--zoom", "nobody", fixture(kCapture)}).kind,
            ErrorKind::NotFound);
}

TEST(TreemapCommand, RefusesWhatCannotBeDrawn) {
  const Words wrongs[] = {{"--width", "39"},
                          {"--width", "1001"},
                          {"--height", "4"},
                          {"--height", "0"},
                          {"--by", "size"},
                          {"--proc", "somewhere"},
                          {"--top", "9999999999999999999"}};
  for (Words words : wrongs) {
    words.push_back(fixture(kCapture));
    EXPECT_EQ(refused("treemap", words).kind, ErrorKind::Misused) << words[0];
  }
  EXPECT_EQ(refused("treemap", {"--by", "swap", fixture(kCapture)}).kind,
            ErrorKind::Unsupported);
}

TEST(GraphInput, RefusesWhatIsNoGraphBeforeItsEnd) {
  EXPECT_EQ(read_graph_file("/dev/zero").error().what,
            "/dev/zero: this is no list of records");
  EXPECT_EQ(read_graph_file("/dev/null").error().what,
            "/dev/null: it is empty");
  EXPECT_EQ(read_graph_file("/nonexistent/x").error().kind,
            ErrorKind::NotFound);
  EXPECT_FALSE(read_graph_file("/"));
}

TEST(GraphInput, NamesTheFileAndTheLine) {
  const TempFolder folder;
  const std::string path = folder.file("cut.json");
  std::ofstream(path) << "[\n{\"type\":\n";
  const base::Result<model::GraphRecords> graph = read_graph_file(path);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().what,
            path + ": graph: line 3: this is not whole JSON");
  EXPECT_FALSE(graph.error().hint.empty());
}

// ---- buckets

TEST(BucketsCommand, RulesOfAFileAreNamedWithIt) {
  const base::Error bad =
      refused("buckets", {"-q", "--rules", fixture("buckets/bad_regex.json"),
                          "--proc", fixture("debian-6.12/proc")});
  EXPECT_EQ(bad.kind, ErrorKind::Malformed);
  EXPECT_TRUE(bad.what.starts_with(fixture("buckets/bad_regex.json") + ": "))
      << bad.what;
  EXPECT_EQ(refused("buckets", {"--rules", "/nonexistent"}).kind,
            ErrorKind::NotFound);
}

TEST(BucketsCommand, PrintsItsRulesAndTakesThemBack) {
  const TempFolder folder;
  const std::string path = folder.file("rules.json");
  EXPECT_EQ(output_of("buckets", {"--print-rules", "-o", path}), "");
  const Words words = {"-q", "--csv", "--proc", fixture("debian-6.12/proc")};
  Words with_rules = words;
  with_rules.insert(with_rules.end(), {"--rules", path});
  EXPECT_EQ(lines_of(file_output_of("buckets", with_rules)).size(),
            lines_of(file_output_of("buckets", words)).size());
}

TEST(BucketsCommand, EachFormatHasTheUndigested) {
  const Words common = {"-q",      "--undigested",
                        "--rules", fixture("buckets/own.json"),
                        "--proc",  fixture("debian-6.12/proc")};
  const auto with = [&](const std::string& format) {
    Words words = common;
    words.insert(words.end(), {"--format", format});
    return file_output_of("buckets", words);
  };
  EXPECT_TRUE(has(with("json"), "\"undigested\": ["));
  EXPECT_TRUE(has(with("text"), "undigested objects"));
  EXPECT_FALSE(has(with("csv"), ",Free,")) << "the objects, not the lines";
}

}  // namespace
}  // namespace tidemark::cli
