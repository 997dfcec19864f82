#include "parse/graph_records.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/fixture.h"

namespace tidemark::parse {
namespace {

using model::GraphRecordKind;
using model::GraphRecords;

std::string graph_refusal(std::string_view text) {
  base::Result<GraphRecords> graph = parse_graph_records(text);
  EXPECT_FALSE(graph) << text;
  if (graph) return "";
  EXPECT_EQ(graph.error().kind, base::ErrorKind::Malformed);
  EXPECT_FALSE(graph.error().hint.empty());
  return graph.error().what;
}

// A process with these members beside those that each must have.
std::string process_with(const std::string& members) {
  return R"([{"id":"p/2","type":"p","parent":"j/1","name":"a",)"
         R"("private_bytes":1,"pss_bytes":2,)" +
         members + "}]";
}

TEST(GraphRecords, ReadsAFileOfMemgraph) {
  base::Result<GraphRecords> graph =
      parse_graph_records(test::read_fixture("graph/memgraph.json"));
  ASSERT_TRUE(graph) << graph.error().what;
  ASSERT_EQ(graph->records.size(), 17U);
  EXPECT_EQ(graph->timestamp, "2026-11-15T08:09:03.501Z");
  EXPECT_EQ(graph->records[0].id, "kernel/physmem");
  EXPECT_EQ(graph->records[0].size_bytes, uint64_t{512} << 20);
  EXPECT_EQ(graph->records[9].kind, GraphRecordKind::Job);
  const model::GraphRecord& renderer = graph->records[14];
  EXPECT_EQ(renderer.pss_bytes, uint64_t{104} << 20);
  EXPECT_FALSE(renderer.swap_pss_bytes) << "absent must not read as zero";
  ASSERT_EQ(renderer.objects.size(), 4U) << "one comes twice";
  EXPECT_TRUE(renderer.objects[2].is_mapped);
  EXPECT_FALSE(renderer.objects[3].is_mapped) << "it is only held";
  EXPECT_EQ(graph->records[16].kind, GraphRecordKind::Thread);
}

TEST(GraphRecords, TakesMembersInAnyOrderAndSkipsOthers) {
  base::Result<GraphRecords> graph = parse_graph_records(
      R"([{"size_bytes":7,"later":{"name":[1,{"id":2}],"via":[[]]},"name":"x",)"
      R"("parent":"","id":"kernel/x","type":"kernel"},)"
      R"({"type":"__SOON","id":7,"size_bytes":"?"}])");
  ASSERT_TRUE(graph) << graph.error().what;
  ASSERT_EQ(graph->records.size(), 1U);
  EXPECT_EQ(graph->records[0].name, "x");
  EXPECT_EQ(graph->records[0].size_bytes, 7U);
}

TEST(GraphRecords, KnowsWhoCouldNotBeRead) {
  base::Result<GraphRecords> graph = parse_graph_records(process_with(
      R"("swap_pss_bytes":null,"unknown":{"pss_bytes":"denied"},"pid":42)"));
  ASSERT_TRUE(graph) << graph.error().what;
  EXPECT_TRUE(graph->records[0].is_unknown);
  EXPECT_EQ(graph->records[0].pid, 42);
  EXPECT_FALSE(graph->records[0].swap_pss_bytes);
}

TEST(GraphRecords, KnowsWhatAGroupIsCharged) {
  base::Result<GraphRecords> graph = parse_graph_records(
      R"([{"type":"j","id":"j/1","parent":"","name":"a","charged_bytes":7},)"
      R"({"type":"j","id":"j/2","parent":"j/1","name":"b"}])");
  ASSERT_TRUE(graph) << graph.error().what;
  EXPECT_EQ(graph->records[0].charged_bytes, 7U);
  EXPECT_FALSE(graph->records[1].charged_bytes) << "absent is not zero";
}

TEST(GraphRecords, KeepsNotesOfTheLastRecord) {
  base::Result<GraphRecords> graph = parse_graph_records(
      R"([{"type":"__META","timestamp":"t","notes":["a",7,"b"]}])");
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->notes, (std::vector<std::string>{"a", "b"}));
}

TEST(GraphRecords, WithoutReferencesThereAreNoObjects) {
  base::Result<GraphRecords> graph =
      parse_graph_records(process_with(R"("vmos":[{"koid":1}])"));
  ASSERT_TRUE(graph) << graph.error().what;
  EXPECT_TRUE(graph->records[0].objects.empty());
}

TEST(GraphRecords, NamesTheLineOfWhatItRefuses) {
  EXPECT_EQ(graph_refusal("[\n{\"type\":\"kernel\",\"id\":\"kernel/x\",\n"
                          "\"parent\":\"\",\"name\":\"x\",\"size_bytes\":-1}]"),
            "graph: line 3: kernel/x: 'size_bytes' is no whole number from "
            "zero on");
}

TEST(GraphRecords, RefusesWhatIsNoListOfRecords) {
  EXPECT_EQ(graph_refusal(""), "graph: line 1: this is not whole JSON");
  EXPECT_EQ(graph_refusal("{}"), "graph: line 1: a graph is a list of records");
  EXPECT_EQ(graph_refusal("7"), "graph: line 1: a graph is a list of records");
  EXPECT_EQ(graph_refusal("[7]"), "graph: line 1: a record is an object");
  EXPECT_EQ(graph_refusal("[[]]"),
            "graph: line 1: a record is an object, not a list");
  EXPECT_EQ(graph_refusal("[{}]"), "graph: line 1: a record has no 'type'");
  EXPECT_EQ(graph_refusal(R"([{"type":"x"}])"),
            "graph: line 1: no record is of type 'x'");
  EXPECT_EQ(graph_refusal("[] []"), "graph: line 1: this is not whole JSON");
}

TEST(GraphRecords, RefusesMembersOfAnotherType) {
  const auto wrong = [](const std::string& members) {
    const std::string head = "graph: line 1: p/2: ";
    const std::string what = graph_refusal(process_with(members));
    EXPECT_TRUE(what.starts_with(head)) << what;
    return what.substr(std::min(head.size(), what.size()));
  };
  EXPECT_EQ(wrong(R"("name":7)"), "'name' is no text");
  EXPECT_EQ(wrong(R"("parent":["j/1"])"), "'parent' is no text");
  EXPECT_EQ(wrong(R"("pss_bytes":2.5)"),
            "'pss_bytes' is no whole number from zero on");
  EXPECT_EQ(wrong(R"("pss_bytes":18446744073709551616)"),
            "'pss_bytes' is no whole number from zero on");
  EXPECT_EQ(wrong(R"("pss_bytes":null)"), "it has no 'pss_bytes'");
  EXPECT_EQ(wrong(R"("vmos":7)"), "'vmos' is no list");
  EXPECT_EQ(wrong(R"("vmo_refs":{})"), "'vmo_refs' is no list");
  EXPECT_EQ(wrong(R"("vmo_refs":[7])"), "'vmo_refs' is no list of objects");
  EXPECT_EQ(wrong(R"("vmos":[[]])"), "'vmos' is no list of objects");
  EXPECT_EQ(wrong(R"("vmo_refs":[{"via":"MAPPING"}])"),
            "'via' is no list of words");
}

TEST(GraphRecords, RefusesObjectsThatDoNotBelongToTheirReferences) {
  const auto of = [](const std::string& object, const std::string& reference) {
    const std::string what = graph_refusal(process_with(
        R"("vmos":[)" + object + R"(],"vmo_refs":[)" + reference + "]"));
    return what.substr(std::min<size_t>(20, what.size()));
  };
  const std::string whole =
      R"({"koid":3,"name":"x","committed_bytes":8,"share_count":1})";
  const std::string mapped = R"({"vmo_koid":3,"via":["MAPPING"]})";
  EXPECT_EQ(of(whole, R"({"via":["MAPPING"]})"),
            "a reference has no 'vmo_koid'");
  EXPECT_EQ(of(whole, R"({"vmo_koid":3,"via":[]})"),
            "the reference to object 3 is via nothing");
  EXPECT_EQ(of(whole, mapped + R"(,{"vmo_koid":4,"via":["HANDLE"]})"),
            "object 4 is not there");
  EXPECT_EQ(of(whole, R"({"vmo_koid":4,"via":["HANDLE"]})"),
            "there is no reference to object 3");
  EXPECT_EQ(of(R"({"koid":3,"name":"x","committed_bytes":8,"share_count":0})",
               mapped),
            "object 3 is mapped, and shared by nobody");
  EXPECT_EQ(of(R"({"koid":3,"name":"x","share_count":1})", mapped),
            "object 3 has no 'committed_bytes'");
}

TEST(GraphRecords, RefusesBytesThatAreNoText) {
  EXPECT_EQ(graph_refusal("[{\"type\":\"\xff\xfe\"}]"),
            "graph: line 1: this is not whole JSON");
}

TEST(GraphRecords, EndsEarlyInDeepNesting) {
  const std::string deep =
      R"([{"type":"kernel","x":)" + std::string(1 << 20, '[');
  EXPECT_EQ(graph_refusal(deep), "graph: line 1: it is nested too deep");
  EXPECT_EQ(graph_refusal(std::string(1 << 20, '[')),
            "graph: line 1: a record is an object, not a list");
}

TEST(GraphRecords, EveryBeginningOfAFileIsRefused) {
  const std::string text = test::read_fixture("graph/memgraph.json");
  const size_t end = text.rfind(']');
  for (size_t length = 0; length <= end; length += 7)
    EXPECT_NE(graph_refusal(text.substr(0, length)).find("not whole JSON"),
              std::string::npos)
        << length;
}

}  // namespace
}  // namespace tidemark::parse
