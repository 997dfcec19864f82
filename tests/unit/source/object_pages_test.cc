#include "source/object_pages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using model::CachedFile;
using model::MemoryObject;
using model::ObjectKind;
using model::PageStruct;
using test::TemporaryTree;

constexpr uint64_t kFile = 0xffff888000001000;
constexpr uint64_t kKnown = 0xffff888000002000;

PageStruct page_of(uint64_t owner) {
  PageStruct page;
  page.owner = owner;
  page.reference_count = 1;
  page.is_known = true;
  return page;
}

PageOwners count(const std::vector<uint64_t>& flags,
                 const std::vector<PageStruct>& structs) {
  model::PageChunk chunk;
  chunk.flags = flags;
  chunk.structs = structs;
  PageOwners owners;
  count_owned_pages(chunk, {kKnown}, owners);
  return owners;
}

TEST(ObjectPages, CountsPagesByTheirFile) {
  const PageOwners owners =
      count({model::kPageLru, model::kPageLru | model::kPageSwapBacked, 0},
            {page_of(kFile), page_of(kFile), page_of(kFile)});
  ASSERT_EQ(owners.size(), 1);
  EXPECT_EQ(owners.at(kFile).page_count, 3);
  EXPECT_TRUE(owners.at(kFile).is_shmem);
  EXPECT_FALSE(owners.at(kFile).is_mapped);
}

TEST(ObjectPages, NoticesThatSomebodyMapsIt) {
  const PageOwners owners =
      count({model::kPageLru | model::kPageMapped, model::kPageLru},
            {page_of(kFile), page_of(kFile)});
  EXPECT_TRUE(owners.at(kFile).is_mapped);
}

TEST(ObjectPages, LeavesOutWhatIsOfNoFileAndWhatIsKnown) {
  PageStruct typed = page_of(kFile);
  typed.type = model::PageType::Zsmalloc;
  const PageOwners owners =
      count({model::kPageSlab, model::kPageAnon, model::kPageHugetlb, 0,
             model::kPageLru, model::kPageLru, model::kPageLru},
            {page_of(kFile), page_of(kFile), page_of(kFile), page_of(0), typed,
             page_of(kKnown), PageStruct()});
  EXPECT_TRUE(owners.empty());
}

CachedFile file_of(uint32_t major, uint32_t minor, uint64_t inode,
                   const std::string& path) {
  CachedFile file;
  file.address = kFile;
  file.inode_id = inode;
  file.device_major = major;
  file.device_minor = minor;
  file.link_count = 1;
  file.size_bytes = 5000;
  file.path = path;
  file.is_whole = true;
  return file;
}

class FoundByPages : public testing::Test {
 protected:
  const MemoryObject& only() {
    EXPECT_EQ(walk_.table().size(), 1);
    return walk_.table().object(0);
  }
  TemporaryTree tree_;
  Roots roots_ = tree_.roots();
  ObjectWalk walk_{roots_, nullptr};
};

TEST_F(FoundByPages, AFileGetsItsNameAndItsPages) {
  add_found_by_pages(file_of(0xfe, 0, 7, "/log"), {3, false, false}, "/var/log",
                     walk_);
  EXPECT_EQ(model::object_id(only()), "file:fe:00:7");
  EXPECT_EQ(only().name, "/var/log");
  EXPECT_EQ(only().size_bytes.value, 5000);
  EXPECT_EQ(only().alloc_bytes.value,
            3 * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_TRUE(only().is_found_by_pages);
  EXPECT_TRUE(only().references.empty());
}

TEST_F(FoundByPages, AMemfdIsToldByItsFileSystemAndName) {
  CachedFile file = file_of(0, 1, 9, "/memfd:frame");
  file.link_count = 0;
  add_found_by_pages(file, {1, false, true}, file.path, walk_);
  EXPECT_EQ(model::object_id(only()), "memfd:9");
  EXPECT_EQ(only().name, "memfd:frame");
  EXPECT_TRUE(only().is_shmem);
}

TEST_F(FoundByPages, SharedMemoryOfAnUnknownFileSystemIsTmpfs) {
  add_found_by_pages(file_of(0, 2, 3, "/init"), {1, true, true}, "/init on 0:2",
                     walk_);
  EXPECT_EQ(only().kind, ObjectKind::Tmpfs);
  EXPECT_EQ(only().attach_count, 1) << "somebody we could not read maps it";
}

TEST_F(FoundByPages, WhatIsInTheTableStaysAsItIs) {
  walk_.table().find_or_add({ObjectKind::File, 0xfe, 0, 7, 0});
  walk_.table().find_or_add({ObjectKind::Sysv, 0, 0, 4, 4026531839});
  add_found_by_pages(file_of(0xfe, 0, 7, "/log"), {3, false, false}, "/var/log",
                     walk_);
  add_found_by_pages(file_of(0, 1, 4, "/SYSV00000000"), {3, false, true},
                     "/SYSV00000000", walk_);
  EXPECT_EQ(walk_.table().size(), 2);
  EXPECT_FALSE(walk_.table().object(0).is_found_by_pages);
}

TEST_F(FoundByPages, AFileThatIsGoneIsNone) {
  add_found_by_pages(CachedFile(), {3, false, false}, "(gone)", walk_);
  EXPECT_EQ(walk_.table().size(), 0);
}

}  // namespace
}  // namespace tidemark::source
