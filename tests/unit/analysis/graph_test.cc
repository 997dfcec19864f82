#include "analysis/graph.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "unit/analysis/graphs.h"

namespace tidemark::analysis {
namespace {

using test::in_cgroup;
using test::kKiB;
using test::mapping;
using test::process_named;
using test::process_with;

Graph graph_of(const GraphInput& input) {
  base::Result<Graph> graph = make_graph(input);
  EXPECT_TRUE(graph) << graph.error().what;
  return graph ? *graph : Graph();
}

const GraphObject* object_named(const Graph& graph, std::string_view name,
                                bool is_child = false) {
  for (const GraphObject& object : graph.objects) {
    if (object.name == name && (object.parent_koid != 0) == is_child) {
      return &object;
    }
  }
  return nullptr;
}

TEST(Graph, JobsAreTheGroupsOfProcessesAndAllAboveThem) {
  const Graph graph = graph_of(test::input_of(
      {in_cgroup(process_with(7, 1, "a", 4), "/system.slice/a.service"),
       in_cgroup(process_with(8, 1, "b", 4), "/"), process_with(9, 1, "c", 4),
       in_cgroup(process_with(10, 1, "d", 4), "odd")}));
  std::map<std::string, const GraphJob*> jobs;
  for (const GraphJob& job : graph.jobs)
    jobs[job.path] = &job;
  ASSERT_EQ(jobs.size(), 4U);
  EXPECT_EQ(jobs["/"]->parent_koid, 0U);
  EXPECT_EQ(jobs["/system.slice"]->parent_koid, jobs["/"]->koid);
  EXPECT_EQ(jobs["/system.slice/a.service"]->parent_koid,
            jobs["/system.slice"]->koid);
  EXPECT_EQ(jobs["odd"]->parent_koid, jobs["/"]->koid);
  EXPECT_EQ(graph.processes[2].job_koid, jobs["/"]->koid)
      << "without a group it is in the root's";
  EXPECT_EQ(graph.jobs[0].path, "/");
}

TEST(Graph, KoidsAreUnique) {
  GraphInput input = test::input_of(
      {mapping(process_named(7, 1, "a"), {{"/x", 5, 8, 4}, {"", 0, 4}}),
       mapping(process_named(8, 1, "b"), {{"/x", 5, 8}})});
  input.sample.processes[0].threads =
      model::known(std::vector<model::Thread>(3));
  input.with_threads = true;
  const Graph graph = graph_of(input);
  std::set<uint64_t> koids;
  size_t count = 0;
  const auto add = [&](uint64_t koid) {
    koids.insert(koid);
    ++count;
  };
  for (const GraphJob& job : graph.jobs)
    add(job.koid);
  for (const GraphProcess& process : graph.processes) {
    add(process.koid);
    for (const GraphThread& thread : process.threads)
      add(thread.koid);
  }
  for (const GraphObject& object : graph.objects)
    add(object.koid);
  EXPECT_EQ(koids.size(), count);
  EXPECT_EQ(graph.processes[0].threads.size(), 3U);
  EXPECT_FALSE(koids.contains(0));
}

TEST(Graph, AFileIsOneObjectOfAllWhoMapIt) {
  const Graph graph = graph_of(
      test::input_of({mapping(process_named(7, 1, "a"), {{"/lib/x.so", 5, 10}}),
                      mapping(process_named(8, 1, "b"),
                              {{"/lib/x.so", 5, 20}, {"/lib/x.so", 5, 3}})}));
  const GraphObject* file = object_named(graph, "/lib/x.so");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(graph.objects.size(), 1U);
  EXPECT_EQ(file->committed_bytes, 33 * kKiB);
  EXPECT_EQ(file->share_count, 2U);
  EXPECT_EQ(file->mapping_count, 3U);
  EXPECT_EQ(graph.processes[1].references.at(0).pss_bytes, 23 * kKiB);
}

TEST(Graph, FilesOfOneNumberAndTwoNamesAreTwo) {
  const Graph graph = graph_of(
      test::input_of({mapping(process_named(7, 1, "a"), {{"/x", 5, 10}}),
                      mapping(process_named(8, 1, "b"), {{"/y", 5, 10}})}));
  EXPECT_EQ(graph.objects.size(), 2U);
}

TEST(Graph, WhatWasWrittenPrivatelyIsAChildOfTheFile) {
  const Graph graph = graph_of(test::input_of(
      {mapping(process_named(7, 1, "a"), {{"/lib/x.so", 5, 10, 4}}),
       mapping(process_named(8, 1, "b"), {{"/lib/x.so", 5, 6, 1}})}));
  const GraphObject* file = object_named(graph, "/lib/x.so");
  const GraphObject* child = object_named(graph, "/lib/x.so", true);
  ASSERT_TRUE(file != nullptr && child != nullptr);
  EXPECT_EQ(file->committed_bytes, 11 * kKiB);
  EXPECT_EQ(file->child_count, 2U);
  EXPECT_EQ(child->parent_koid, file->koid);
  EXPECT_EQ(child->committed_bytes, 4 * kKiB);
  EXPECT_EQ(child->share_count, 1U);
}

TEST(Graph, AnonymousMemoryIsOneObjectOfItsProcess) {
  const Graph graph = graph_of(test::input_of(
      {mapping(process_named(7, 1, "a"), {{"", 0, 10}, {"", 0, 5}}),
       mapping(process_named(8, 1, "b"), {{"", 0, 7}})}));
  ASSERT_EQ(graph.objects.size(), 2U);
  EXPECT_EQ(graph.objects[0].committed_bytes, 15 * kKiB);
  EXPECT_EQ(graph.objects[0].mapping_count, 2U);
  EXPECT_EQ(graph.objects[1].share_count, 1U);
}

// The kernel tells each sharer of huge pages all of them.
TEST(Graph, SharedHugePagesCountOnce) {
  test::MappingOf huge = {"/dev/hugepages/x", 5};
  huge.is_shared = true;
  huge.shared_huge_kib = 2048;
  const Graph graph =
      graph_of(test::input_of({mapping(process_named(7, 1, "a"), {huge}),
                               mapping(process_named(8, 1, "b"), {huge})}));
  ASSERT_EQ(graph.objects.size(), 1U);
  EXPECT_EQ(graph.objects[0].committed_bytes, 2048 * kKiB);
  EXPECT_EQ(graph.processes[0].pss_bytes, 0U);
  EXPECT_EQ(graph.processes[0].shared_bytes, 2048 * kKiB);
}

TEST(Graph, ObjectsOfAllAddUpToTheSharesOfAll) {
  const Graph graph = graph_of(
      test::input_of({mapping(process_named(7, 1, "a"),
                              {{"/x", 5, 10, 4}, {"", 0, 9}, {"[heap]", 0, 3}}),
                      mapping(process_named(8, 1, "b"), {{"/x", 5, 6, 6}})}));
  uint64_t by_object = 0;
  for (const GraphObject& object : graph.objects)
    by_object += object.committed_bytes;
  uint64_t by_process = 0;
  for (const GraphProcess& process : graph.processes)
    by_process += process.pss_bytes;
  EXPECT_EQ(by_object, by_process);
}

TEST(Graph, ProcessesNeverExceedThePartTheyAreIn) {
  const Graph graph =
      graph_of(test::input_of({process_with(7, 1, "a", 700)}, 1000, 600));
  EXPECT_EQ(graph.kernel.vmo_bytes(), 700 * kKiB);
  EXPECT_EQ(graph.kernel.moved_bytes, 100 * kKiB);
  EXPECT_EQ(graph.kernel.other_bytes(), 300 * kKiB);
  EXPECT_EQ(graph.kernel.total_bytes, 1000 * kKiB);
  ASSERT_EQ(graph.notes.size(), 1U);
  EXPECT_NE(graph.notes[0].find("kernel/other"), std::string::npos);
}

TEST(Graph, AnonymousMemoryThatNobodyReadIsOfThoseWhoWereNotRead) {
  model::Process denied = test::denied_process(7, 1, "a");
  denied.statm.reset();
  const model::Process read =
      mapping(process_named(8, 1, "b"), {{"", 0, 30, 20}});
  constexpr uint64_t kAnonKib = 100;
  EXPECT_EQ(
      graph_of(test::input_of({denied, read}, 1 << 20, kAnonKib)).unread_bytes,
      80 * kKiB);
  EXPECT_FALSE(graph_of(test::input_of({read}, 1 << 20, kAnonKib)).unread_bytes)
      << "all were read";
  // Twelve pages are all it can have; the rest came between two readings.
  denied.statm.emplace();
  denied.statm->resident_pages = 15;
  denied.statm->shared_pages = 3;
  GraphInput input = test::input_of({denied, read}, 1 << 20, kAnonKib);
  input.sample.machine->page_size_bytes = 4 * kKiB;
  EXPECT_EQ(graph_of(input).unread_bytes, 48 * kKiB);
}

TEST(Graph, ADeniedProcessIsZeroAndSaysWhy) {
  const Graph graph =
      graph_of(test::input_of({test::denied_process(7, 1, "a")}));
  ASSERT_EQ(graph.processes.size(), 1U);
  EXPECT_EQ(graph.processes[0].pss_bytes, 0U);
  EXPECT_EQ(graph.processes[0].unknown.size(), 3U);
  EXPECT_EQ(graph.unknown_process_count, 1U);
  EXPECT_EQ(graph.failed_process_count, 0U);
}

TEST(Graph, KernelThreadsAreCountedAndNotShown) {
  const Graph graph = graph_of(test::input_of(
      {test::kernel_thread(2, "kthreadd"), process_with(7, 1, "a", 4)}));
  EXPECT_EQ(graph.processes.size(), 1U);
  EXPECT_EQ(graph.kernel_thread_count, 1U);
}

TEST(Graph, SharesToThePageTakeThePlaceOfTheKernelsSums) {
  GraphInput input = test::input_of(
      {process_with(7, 1, "a", 700), process_with(8, 1, "b", 700)});
  model::PageSharing& sharing = input.sample.sharing.emplace();
  sharing.is_unknown.resize(2);
  model::SharedPages pages;
  pages.mappers = {{0, 1}, {1, 1}};
  pages.map_count = 2;
  pages.anon_pages = 10;
  sharing.sets.push_back(pages);
  const Graph graph = graph_of(input);
  EXPECT_EQ(graph.processes[0].pss_bytes, 5U * 4096);
  EXPECT_EQ(graph.processes[0].private_bytes, 0U);
  EXPECT_TRUE(graph.processes[0].is_exact);
}

TEST(Graph, WithoutMeminfoThereIsNone) {
  GraphInput input = test::input_of({});
  input.sample.machine.reset();
  EXPECT_FALSE(make_graph(input));
}

}  // namespace
}  // namespace tidemark::analysis
