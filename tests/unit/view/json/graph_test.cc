#include "view/json/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "unit/json_check.h"
#include "unit/parts.h"

namespace tidemark::view {
namespace {

using analysis::Graph;
using analysis::GraphProcess;

Graph example() {
  Graph graph;
  graph.realtime_ns = 1763194268123456789;
  graph.kernel.total_bytes = 100;
  graph.kernel.free_bytes = 30;
  graph.kernel.anon_bytes = 40;
  graph.kernel.slab_bytes = 20;
  graph.kernel.slab_used_bytes = 15;
  graph.kernel.others = {{"vmalloc", 4}, {"unnamed", 6}};
  graph.jobs.push_back({1, 0, "root", "/", {}, {}});
  graph.jobs.push_back({2, 1, "a.service", "/a.service", 77, {}});
  GraphProcess& process = graph.processes.emplace_back();
  process.koid = 3;
  process.job_koid = 2;
  process.name = "a";
  process.id = {1234, 99};
  process.private_bytes = 10;
  process.shared_bytes = 30;
  process.pss_bytes = 25;
  process.references.push_back(
      {.object = 0, .mapping_count = 2, .pss_bytes = 25, .can_read = true});
  process.threads.push_back({4, {1234, "worker", 'S', {}}});
  process.descriptors = {{"socket", 5, 0}};
  analysis::GraphObject& object = graph.objects.emplace_back();
  object.koid = 5;
  object.name = "/lib/x.so";
  object.committed_bytes = 25;
  object.share_count = 1;
  return graph;
}

using test::has;

TEST(GraphJson, IsOneRecordALine) {
  const std::string text = graph_json(example());
  EXPECT_TRUE(test::JsonCheck(text).is_valid()) << text;
  // Nine parts of RAM and two of the rest, two jobs, a process, a thread, the
  // end; and two lines for the brackets.
  EXPECT_EQ(std::ranges::count(text, '\n'), 11 + 2 + 1 + 1 + 1 + 2);
}

TEST(GraphJson, HasTheMembersOfMemgraph) {
  const std::string text = graph_json(example());
  EXPECT_TRUE(has(text, R"({"id":"kernel/physmem","type":"kernel","parent":"",)"
                        R"("name":"physmem","size_bytes":100})"))
      << text;
  EXPECT_TRUE(has(text, R"("id":"kernel/heap/free","type":"kernel",)"
                        R"("parent":"kernel/heap","name":"heap/free",)"
                        R"("size_bytes":5)"));
  EXPECT_TRUE(has(text, R"({"id":"j/1","type":"j","parent":"kernel/vmo",)"));
  EXPECT_TRUE(has(text, R"({"id":"j/2","type":"j","parent":"j/1",)"));
  EXPECT_TRUE(has(text, R"({"id":"p/3","type":"p","parent":"j/2","name":"a",)"
                        R"("koid":3,"private_bytes":10,"shared_bytes":30,)"
                        R"("pss_bytes":25,"pid":1234,)"));
  EXPECT_TRUE(has(text, R"({"id":"t/4","type":"t","parent":"p/3",)"
                        R"("name":"worker","koid":4,"state":"BLOCKED",)"));
  EXPECT_TRUE(has(text, R"("vmo_refs":[{"vmo_koid":5,"via":["MAPPING"],)"));
  EXPECT_TRUE(has(text, R"("handle_stats":{"socket":5})"));
  EXPECT_TRUE(has(text, R"({"type":"__META","timestamp":)"
                        R"("2025-11-15T08:11:08.123456789Z",)"));
}

TEST(GraphJson, LeavesOutWhatWasNotAskedFor) {
  Graph graph = example();
  graph.processes[0].references.clear();
  graph.processes[0].threads.clear();
  graph.processes[0].descriptors.reset();
  const std::string text = graph_json(graph);
  for (const char* member : {"vmos", "vmo_refs", "handle_stats", "\"t/"})
    EXPECT_FALSE(has(text, member)) << member;
}

TEST(GraphJson, EscapesEveryNameOfAStranger) {
  const std::string evil = "a\"\n\\\x1b</script>\xff\xc3";
  Graph graph = example();
  graph.jobs[1].name = graph.jobs[1].path = evil;
  GraphProcess& process = graph.processes[0];
  process.name = process.comm = process.command = process.cgroup_path = evil;
  process.threads[0].thread.comm = evil;
  process.descriptors->front().kind = evil;
  process.unknown = {{"pss_bytes", evil}};
  graph.objects[0].name = evil;
  graph.notes = {evil};
  const std::string text = graph_json(graph);
  EXPECT_TRUE(test::JsonCheck(text).is_valid()) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'),
            std::ranges::count(graph_json(example()), '\n'));
  EXPECT_FALSE(has(text, "\x1b"));
}

}  // namespace
}  // namespace tidemark::view
