#include "analysis/object_report.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace tidemark::analysis {
namespace {

using model::MemoryObject;
using model::ObjectKind;
using model::ObjectScan;

MemoryObject object_of(ObjectKind kind, uint64_t inode, uint64_t alloc_bytes) {
  MemoryObject object;
  object.key = {kind, 0, 0, inode, 0};
  object.kind = kind;
  object.is_shmem = kind == ObjectKind::Memfd || kind == ObjectKind::Tmpfs ||
                    kind == ObjectKind::Sysv;
  object.size_bytes = model::known(alloc_bytes);
  object.alloc_bytes = model::known(alloc_bytes);
  object.swap_bytes = model::known<uint64_t>(0);
  return object;
}

ObjectScan scan_of(std::vector<MemoryObject> objects) {
  ObjectScan scan;
  scan.meminfo = model::MemInfo();
  scan.meminfo->shmem_bytes = 100000;
  scan.meminfo->cached_bytes = 400000;
  scan.meminfo->buffers_bytes = 5000;
  scan.objects = std::move(objects);
  scan.processes.resize(2);
  scan.processes[0].id.pid = 10;
  scan.processes[1].id.pid = 11;
  return scan;
}

ObjectOptions chosen(ObjectSelection selection, int32_t pid = 0,
                     std::string id = "") {
  return {selection, pid, std::move(id), std::nullopt, std::nullopt};
}

ObjectReport report_of(const ObjectScan& scan, ObjectOptions options = {}) {
  base::Result<ObjectReport> report = make_object_report(scan, options);
  EXPECT_TRUE(report);
  return report ? *report : ObjectReport();
}

TEST(ObjectReport, ShmemIsWhatIsNamedAndWhatIsNot) {
  const ObjectReport report =
      report_of(scan_of({object_of(ObjectKind::Memfd, 1, 60000),
                         object_of(ObjectKind::Sysv, 2, 3000),
                         object_of(ObjectKind::File, 3, 70000)}));
  ASSERT_TRUE(report.shmem);
  EXPECT_EQ(report.shmem->named.bytes, 63000);
  EXPECT_EQ(report.shmem->rest_bytes, 37000);
  // Cached counts shmem too, which is not the cache of files.
  ASSERT_TRUE(report.file_cache);
  EXPECT_EQ(report.file_cache->total_bytes, 305000);
  EXPECT_EQ(report.file_cache->rest_bytes, 235000);
}

TEST(ObjectReport, AccountsSumExactlyWhateverIsFound) {
  EXPECT_TRUE(rc::check("total = named + rest", [] {
    const auto sizes = *rc::gen::container<std::vector<uint32_t>>(
        rc::gen::arbitrary<uint32_t>());
    std::vector<MemoryObject> objects;
    for (size_t i = 0; i < sizes.size(); ++i) {
      objects.push_back(object_of(
          i % 2 == 0 ? ObjectKind::Memfd : ObjectKind::File, i, sizes[i]));
    }
    const ObjectReport report = report_of(scan_of(std::move(objects)));
    for (const auto& account : {*report.shmem, *report.file_cache}) {
      RC_ASSERT(static_cast<int64_t>(account.total_bytes) ==
                static_cast<int64_t>(account.named.bytes) + account.rest_bytes);
    }
  }));
}

TEST(ObjectReport, AnUnknownPartMakesTheNamedALowerBound) {
  MemoryObject unknown = object_of(ObjectKind::Memfd, 1, 0);
  unknown.alloc_bytes = model::unknown<uint64_t>("denied: x");
  const ObjectReport report = report_of(scan_of({unknown}));
  EXPECT_TRUE(report.shmem->named.is_lower_bound());
}

TEST(ObjectReport, HiddenIsWhatNobodyMapsAndHasMemory) {
  MemoryObject mapped = object_of(ObjectKind::Memfd, 1, 4096);
  mapped.references = {{0, 1, 0, {}}};
  MemoryObject held = object_of(ObjectKind::Memfd, 2, 4096);
  held.references = {{0, 0, 1, {}}};
  const ObjectReport report =
      report_of(scan_of({mapped, held, object_of(ObjectKind::Sysv, 3, 8192),
                         object_of(ObjectKind::Tmpfs, 4, 0),
                         object_of(ObjectKind::Handle, 5, 1)}),
                chosen(ObjectSelection::Hidden));
  ASSERT_EQ(report.rows.size(), 2);
  EXPECT_EQ(report.rows[0].id, "sysv:0:3");
  EXPECT_EQ(report.rows[1].id, "memfd:2");
}

TEST(ObjectReport, ASegmentAttachedByAProcessNobodyMayReadIsNotHidden) {
  MemoryObject segment = object_of(ObjectKind::Sysv, 3, 8192);
  segment.attach_count = 2;
  const ObjectScan scan = scan_of({segment});
  EXPECT_TRUE(report_of(scan, chosen(ObjectSelection::Hidden)).rows.empty());
  const ObjectReport report = report_of(scan);
  ASSERT_EQ(report.rows.size(), 1);
  EXPECT_EQ(report.rows[0].map_count, 2);
  EXPECT_EQ(report.rows[0].process_count, 0);
}

TEST(ObjectReport, CountsOverAllProcessesAndRightsOfTheChosen) {
  MemoryObject shared = object_of(ObjectKind::Memfd, 1, 4096);
  shared.references = {{0, 2, 0, {true, false, false}},
                       {1, 1, 3, {true, true, false}}};
  MemoryObject other = object_of(ObjectKind::Memfd, 2, 4096);
  other.references = {{1, 1, 0, {true, false, false}}};
  const ObjectReport report =
      report_of(scan_of({shared, other}), chosen(ObjectSelection::Process, 10));
  ASSERT_EQ(report.rows.size(), 1);
  EXPECT_EQ(report.rows[0].map_count, 3);
  EXPECT_EQ(report.rows[0].process_count, 2);
  EXPECT_EQ(report.rows[0].fd_count, 3);
  EXPECT_EQ(report.rows[0].rights, (model::ObjectRights{true, false, false}));
  EXPECT_EQ(report.rows[0].holders.size(), 2);
  EXPECT_FALSE(report.shmem) << "one process says nothing of the machine";
}

TEST(ObjectReport, AnUnknownIdIsNotFound) {
  base::Result<ObjectReport> report = make_object_report(
      scan_of({}), chosen(ObjectSelection::One, 0, "memfd:9"));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, base::ErrorKind::NotFound);
}

TEST(ObjectReport, FoldsWhatIsBeyondTheTop) {
  ObjectOptions options;
  options.top = 1;
  const ObjectReport report =
      report_of(scan_of({object_of(ObjectKind::Memfd, 1, 10),
                         object_of(ObjectKind::Memfd, 2, 30),
                         object_of(ObjectKind::Memfd, 3, 20)}),
                options);
  ASSERT_EQ(report.rows.size(), 1);
  EXPECT_EQ(report.rows[0].id, "memfd:2");
  EXPECT_EQ(report.folded_count, 2);
  EXPECT_EQ(report.folded_alloc.bytes, 30);
  EXPECT_EQ(report.shmem->named.bytes, 60) << "folding hides no memory";
}

MemoryObject found_by_pages(ObjectKind kind, uint64_t inode, uint64_t bytes) {
  MemoryObject object = object_of(kind, inode, bytes);
  object.is_found_by_pages = true;
  return object;
}

TEST(ObjectReport, WhatPagesToldOfIsPartOfTheRest) {
  ObjectScan scan = scan_of({object_of(ObjectKind::Memfd, 1, 100),
                             found_by_pages(ObjectKind::Memfd, 2, 30)});
  scan.meminfo->shmem_bytes = 150;
  scan.pages_were_read = true;
  const ObjectReport report = report_of(scan, chosen(ObjectSelection::Hidden));
  ASSERT_TRUE(report.shmem);
  EXPECT_EQ(report.shmem->named.bytes, 100);
  EXPECT_EQ(report.shmem->rest_bytes, 50);
  EXPECT_EQ(report.shmem->found_bytes, 30);
  EXPECT_EQ(report.rows.size(), 2);
}

TEST(ObjectReport, PagesThatWereNotAskedFoundNothing) {
  const ObjectReport report = report_of(scan_of({}));
  EXPECT_FALSE(report.shmem->found_bytes) << "nothing is not the same as zero";
}

TEST(ObjectReport, FoldsTheSmallestOfThoseThatOnlyPagesToldOf) {
  ObjectOptions options = chosen(ObjectSelection::Hidden);
  options.top_by_pages = 1;
  const ObjectReport report =
      report_of(scan_of({found_by_pages(ObjectKind::File, 1, 10),
                         found_by_pages(ObjectKind::File, 2, 30),
                         found_by_pages(ObjectKind::File, 3, 20),
                         object_of(ObjectKind::Memfd, 4, 1)}),
                options);
  ASSERT_EQ(report.rows.size(), 2);
  EXPECT_EQ(report.rows[0].id, "file:2");
  EXPECT_EQ(report.rows[1].id, "memfd:4") << "others are all shown";
  EXPECT_EQ(report.folded_count, 2);
  EXPECT_EQ(report.folded_alloc.bytes, 30);
}

TEST(ObjectReport, WhatAnUnreadProcessMapsIsNotHidden) {
  MemoryObject mapped = found_by_pages(ObjectKind::Memfd, 1, 10);
  mapped.attach_count = 1;
  EXPECT_TRUE(report_of(scan_of({mapped}), chosen(ObjectSelection::Hidden))
                  .rows.empty());
}

TEST(ObjectReport, KeepsThoseThatCouldNotBeReadApart) {
  ObjectScan scan = scan_of({});
  scan.processes[1].state = model::ProcessState::Denied;
  scan.processes[1].unknown_because = "denied: x";
  const ObjectReport report = report_of(scan);
  EXPECT_EQ(report.process_count, 1);
  ASSERT_EQ(report.unreadable.size(), 1);
  EXPECT_EQ(report.unreadable[0].id.pid, 11);
  EXPECT_TRUE(report.shmem->named.is_lower_bound())
      << "what it holds may have a name after all";
}

}  // namespace
}  // namespace tidemark::analysis
