#include "analysis/graph_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/analysis/graphs.h"

namespace tidemark::analysis {
namespace {

using model::MemoryObject;
using model::ObjectKind;
using model::RegionKind;

// One process that maps the objects it is told to.
struct SeenScan {
  model::Sample sample;
  model::ObjectScan scan;

  SeenScan() : sample(test::sample_of({test::process_named(10, 1, "some")})) {
    scan.processes.emplace_back().id = sample.processes[0].id;
  }
  void map(ObjectKind kind, uint64_t inode, const std::string& name) {
    MemoryObject& object = scan.objects.emplace_back();
    object.kind = object.key.kind = kind;
    object.key.inode_id = inode;
    object.name = name;
    model::ObjectReference one;
    one.mapping_count = 1;
    object.references = {one};
  }
  std::optional<size_t> find(const std::string& name, uint64_t inode) const {
    model::Mapping mapping;
    mapping.name = name;
    mapping.inode_id = inode;
    return GraphScan(sample, scan).object_of(0, mapping);
  }
};

TEST(GraphScan, MemoryThatLastsByBeingHeld) {
  for (ObjectKind kind :
       {ObjectKind::Memfd, ObjectKind::Tmpfs, ObjectKind::Sysv,
        ObjectKind::SharedAnon, ObjectKind::DeletedFile, ObjectKind::Hugetlb})
    EXPECT_TRUE(is_held_memory(kind));
  EXPECT_FALSE(is_held_memory(ObjectKind::File))
      << "its page cache is nobody's";
  EXPECT_FALSE(is_held_memory(ObjectKind::Device));
}

TEST(GraphScan, KindsOfRegionsAreThoseOfTheirObjects) {
  EXPECT_EQ(region_kind_of(ObjectKind::Tmpfs), RegionKind::TmpFile);
  EXPECT_EQ(region_kind_of(ObjectKind::Memfd), RegionKind::MemFd);
  EXPECT_EQ(region_kind_of(ObjectKind::DmaBuf), RegionKind::Device);
  EXPECT_EQ(region_kind_of(ObjectKind::DeletedFile), RegionKind::File);
}

TEST(GraphScan, AFileIsFoundByNameAndNumber) {
  SeenScan seen;
  seen.map(ObjectKind::File, 7, "/a");
  seen.map(ObjectKind::File, 8, "/b");
  EXPECT_EQ(seen.find("/b", 8), 1U);
  EXPECT_EQ(seen.find("/b (deleted)", 8), 1U);
  EXPECT_EQ(seen.find("/c", 9), std::nullopt);
}

TEST(GraphScan, ANumberAloneIsNotEnough) {
  SeenScan seen;
  seen.map(ObjectKind::File, 7, "/a");
  EXPECT_EQ(seen.find("/other", 7), std::nullopt)
      << "two file systems may have the same number";
}

TEST(GraphScan, ANameAloneIsEnoughWhenItIsOfOne) {
  SeenScan seen;
  seen.map(ObjectKind::File, 7, "/a");
  EXPECT_EQ(seen.find("/a", 257), 0U) << "overlayfs shows another number";
  seen.map(ObjectKind::File, 8, "/a");
  EXPECT_EQ(seen.find("/a", 257), std::nullopt) << "it could be either";
  EXPECT_EQ(seen.find("/a", 8), 1U);
}

// Their names are escaped in maps and not in links.
TEST(GraphScan, OfTheKernelsOwnTmpfsTheNumberDecides) {
  SeenScan seen;
  seen.map(ObjectKind::Memfd, 7, "memfd:a\nb");
  seen.map(ObjectKind::Sysv, 8, "SYSV00000001");
  seen.map(ObjectKind::SharedAnon, 9, "shared anonymous");
  EXPECT_EQ(seen.find("/memfd:a\\012b (deleted)", 7), 0U);
  EXPECT_EQ(seen.find("/SYSV00000000 (deleted)", 8), 1U);
  EXPECT_EQ(seen.find("/dev/zero (deleted)", 9), 2U);
  EXPECT_EQ(seen.find("/memfd:x (deleted)", 8), std::nullopt)
      << "a segment is no memfd";
}

TEST(GraphScan, WhatIsOnlyHeldIsNotMapped) {
  SeenScan seen;
  seen.map(ObjectKind::File, 7, "/a");
  seen.scan.objects[0].references[0].mapping_count = 0;
  seen.scan.objects[0].references[0].descriptor_count = 1;
  EXPECT_EQ(seen.find("/a", 7), std::nullopt);
}

TEST(GraphScan, AProcessThatCameInThePlaceOfAnotherIsLeftOut) {
  SeenScan seen;
  seen.map(ObjectKind::File, 7, "/a");
  EXPECT_EQ(GraphScan(seen.sample, seen.scan)
                .process_of(seen.scan.objects[0].references[0]),
            0U);
  seen.scan.processes[0].id.start_ticks += 1;
  EXPECT_EQ(GraphScan(seen.sample, seen.scan)
                .process_of(seen.scan.objects[0].references[0]),
            std::nullopt);
  EXPECT_EQ(seen.find("/a", 7), std::nullopt);
}

}  // namespace
}  // namespace tidemark::analysis
