#include "analysis/graph_objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "unit/analysis/graphs.h"

namespace tidemark::analysis {
namespace {

using model::MemoryObject;
using model::ObjectKind;
using test::kKiB;
using test::mapping;

model::Process process(int32_t pid) {
  return test::process_named(pid, 1, "some");
}

// Two processes, and what a scan has found of them.
struct Seen {
  model::Sample sample;
  model::ObjectScan scan;

  explicit Seen(std::vector<model::Process> processes)
      : sample(test::sample_of(std::move(processes))) {
    for (const model::Process& one : sample.processes)
      scan.processes.emplace_back().id = one.id;
  }

  MemoryObject& add(ObjectKind kind, uint64_t inode, const std::string& name,
                    uint64_t alloc_kib) {
    MemoryObject& object = scan.objects.emplace_back();
    object.kind = object.key.kind = kind;
    object.key.inode_id = inode;
    object.name = name;
    object.size_bytes = object.alloc_bytes = model::known(alloc_kib * kKiB);
    return object;
  }

  GraphObjects find() const { return find_objects(sample, &scan); }
};

model::ObjectReference maps(size_t process) {
  model::ObjectReference one;
  one.process_index = process;
  one.mapping_count = 1;
  return one;
}

model::ObjectReference holds(size_t process) {
  model::ObjectReference one;
  one.process_index = process;
  one.descriptor_count = 1;
  one.rights.read = true;
  return one;
}

TEST(GraphObjects, AMemfdThatIsOnlyHeldIsAnObjectOfItsHolders) {
  Seen seen({mapping(process(10), {}), mapping(process(11), {})});
  seen.add(ObjectKind::Memfd, 7, "memfd:held", 40).references = {holds(0),
                                                                 holds(1)};
  const GraphObjects found = seen.find();
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_EQ(found.objects[0].name, "memfd:held");
  EXPECT_EQ(found.objects[0].kind, model::RegionKind::MemFd);
  EXPECT_EQ(found.objects[0].committed_bytes, 40 * kKiB);
  EXPECT_EQ(found.objects[0].mapping_count, 0U);
  EXPECT_EQ(found.objects[0].share_count, 1U)
      << "two have it, and the treemap divides by one more";
  ASSERT_EQ(found.references[1].size(), 1U);
  EXPECT_EQ(found.references[1][0].mapping_count, 0U);
  EXPECT_EQ(found.references[1][0].descriptor_count, 1U);
  EXPECT_TRUE(found.references[1][0].can_read);
}

TEST(GraphObjects, WhatIsMappedInPartHasAllItHasInRam) {
  Seen seen({mapping(process(10), {{.name = "/memfd:x (deleted)",
                                    .inode = 7,
                                    .pss_kib = 8,
                                    .is_shared = true}}),
             mapping(process(11), {})});
  seen.add(ObjectKind::Memfd, 7, "memfd:x", 40).references = {maps(0),
                                                              holds(1)};
  const GraphObjects found = seen.find();
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_EQ(found.objects[0].committed_bytes, 40 * kKiB);
  EXPECT_EQ(found.objects[0].share_count, 2U);
  EXPECT_EQ(found.references[0][0].descriptor_count, 0U);
}

// Two files of two subvolumes: one number in maps, one name in two namespaces.
TEST(GraphObjects, AScanTellsFilesApartThatMapsDoesNot) {
  const test::MappingOf file = {.name = "/data", .inode = 257, .pss_kib = 4};
  Seen seen({mapping(process(10), {file}), mapping(process(11), {file})});
  EXPECT_EQ(find_objects(seen.sample).objects.size(), 1U);
  MemoryObject& first = seen.add(ObjectKind::File, 257, "/data", 4);
  first.key.device_minor = 44;
  first.references = {maps(0)};
  MemoryObject& second = seen.add(ObjectKind::File, 257, "/data", 4);
  second.key.device_minor = 45;
  second.references = {maps(1)};
  const GraphObjects found = seen.find();
  ASSERT_EQ(found.objects.size(), 2U);
  EXPECT_EQ(found.objects[0].device_minor, 44U);
  EXPECT_EQ(found.objects[1].device_minor, 45U);
}

// overlayfs: maps has the inode of the lower file.
TEST(GraphObjects, ANameThatIsOneOfAProcessTellsItsFile) {
  Seen seen(
      {mapping(process(10), {{.name = "/lib", .inode = 5, .pss_kib = 4}}),
       mapping(process(11), {{.name = "/lib", .inode = 6, .pss_kib = 4}})});
  EXPECT_EQ(find_objects(seen.sample).objects.size(), 2U);
  seen.add(ObjectKind::File, 99, "/lib", 4).references = {maps(0), maps(1)};
  const GraphObjects found = seen.find();
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_EQ(found.objects[0].inode_id, 99U);
  EXPECT_EQ(found.objects[0].share_count, 2U);
}

TEST(GraphObjects, OfTheKernelsOwnTheNumberIsEnough) {
  Seen seen({mapping(
      process(10),
      {{.name = "/memfd:a\\012b (deleted)", .inode = 7, .pss_kib = 4}})});
  seen.add(ObjectKind::Memfd, 7, "memfd:a\nb", 4).references = {maps(0)};
  seen.scan.objects[0].references[0].descriptor_count = 1;
  const GraphObjects found = seen.find();
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_EQ(found.references[0][0].descriptor_count, 1U);
}

TEST(GraphObjects, ThePageCacheOfAnOpenFileIsNobodys) {
  Seen seen({mapping(process(10), {})});
  seen.add(ObjectKind::File, 7, "/var/log/huge", 4000).references = {holds(0)};
  seen.add(ObjectKind::Socket, 8, "socket", 40).references = {holds(0)};
  EXPECT_TRUE(seen.find().objects.empty());
}

TEST(GraphObjects, APidThatWasGivenAwayIsSomebodyElse) {
  Seen seen({mapping(process(10), {})});
  seen.add(ObjectKind::Memfd, 7, "memfd:held", 40).references = {holds(0)};
  seen.scan.processes[0].id.start_ticks += 1;
  EXPECT_TRUE(seen.find().objects.empty());
}

}  // namespace
}  // namespace tidemark::analysis
