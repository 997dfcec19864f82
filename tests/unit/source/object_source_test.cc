#include "source/object_source.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/fd.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using model::MemoryObject;
using model::ObjectKind;
using model::ObjectScan;
using test::TemporaryTree;

ObjectScan scan_of(const Roots& roots) {
  base::Result<ObjectScan> scan = scan_objects(roots, {});
  EXPECT_TRUE(scan);
  return scan ? *scan : ObjectScan();
}

const MemoryObject* find(const ObjectScan& scan, const std::string& id) {
  for (const MemoryObject& object : scan.objects) {
    if (model::object_id(object) == id) return &object;
  }
  return nullptr;
}

// The running kernel, as any user sees it.
Roots live() {
  return TemporaryTree::open("/proc", true);
}

TEST(ObjectSource, FindsAMemfdNobodyMapsWithItsSize) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  base::Fd fd(::memfd_create("a test's", MFD_CLOEXEC));
  ASSERT_TRUE(fd);
  const std::string bytes(7 * page, 'x');
  ASSERT_EQ(::write(fd.get(), bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  struct stat facts {};
  ASSERT_EQ(::fstat(fd.get(), &facts), 0);
  const ObjectScan scan = scan_of(live());
  const MemoryObject* found =
      find(scan, "memfd:" + std::to_string(facts.st_ino));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "memfd:a test's");
  EXPECT_EQ(found->alloc_bytes.value, 7 * page);
  ASSERT_EQ(found->references.size(), 1);
  EXPECT_EQ(found->references[0].descriptor_count, 1);
  EXPECT_EQ(found->references[0].mapping_count, 0);
  EXPECT_EQ(scan.processes[found->references[0].process_index].id.pid,
            ::getpid());
}

// Numbers are tried one after the other; a gap makes us list them.
TEST(ObjectSource, FindsDescriptorsBehindAGap) {
  base::Fd first(::memfd_create("before the gap", MFD_CLOEXEC));
  base::Fd gap(::memfd_create("the gap", MFD_CLOEXEC));
  base::Fd last(::memfd_create("behind the gap", MFD_CLOEXEC));
  ASSERT_TRUE(first && gap && last);
  gap = base::Fd();
  const ObjectScan scan = scan_of(live());
  for (const base::Fd* fd : {&first, &last}) {
    struct stat facts {};
    ASSERT_EQ(::fstat(fd->get(), &facts), 0);
    const MemoryObject* found =
        find(scan, "memfd:" + std::to_string(facts.st_ino));
    ASSERT_NE(found, nullptr);
    ASSERT_EQ(found->references.size(), 1);
    EXPECT_EQ(found->references[0].descriptor_count, 1);
  }
}

TEST(ObjectSource, CopiedTreesAreReadByTheirLinksAlone) {
  TemporaryTree tree;
  tree.add_process(10, 1, "server");
  tree.add("10/maps",
           "7000-8000 rw-s 00000000 00:01 25    /memfd:frame (deleted)\n"
           "8000-9000 r-xp 00000000 fe:00 7     /bin/server\n"
           "9000-a000 rw-p 00001000 fe:00 7     /bin/server\n");
  // Where it leads on this machine is not what it was.
  tree.link("10/fd/0", "/dev/null");
  tree.link("10/fd/3", "socket:[77]");
  tree.link("10/fd/4", "socket:[77]");
  const ObjectScan scan = scan_of(tree.roots());
  EXPECT_EQ(scan.objects.size(), 3);
  const MemoryObject* file = find(scan, "file:fe:00:7");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->child_count, 1);
  EXPECT_EQ(model::rights_letters(file->references.at(0).rights), "r-x");
  EXPECT_EQ(file->size_bytes.unknown_because, "a copied tree does not tell it");
  const MemoryObject* socket = find(scan, "socket:77");
  ASSERT_NE(socket, nullptr);
  EXPECT_EQ(socket->references.at(0).descriptor_count, 2);
}

TEST(ObjectSource, SegmentsOfTheTableJoinThoseThatAreMapped) {
  TemporaryTree tree;
  tree.add_process(10, 1, "server");
  tree.add("10/maps",
           "7000-8000 rw-s 00000000 00:01 0    /SYSV000000ff (deleted)\n");
  tree.add("sysvipc/shm",
           "key shmid size nattch rss swap\n"
           "255 0 8192 1 4096 4096\n"
           "0 1 4096 0 4096 0\n");
  const ObjectScan scan = scan_of(tree.roots());
  ASSERT_EQ(scan.objects.size(), 2);
  const MemoryObject* mapped = find(scan, "sysv:0:0");
  ASSERT_NE(mapped, nullptr) << "the first segment has the id 0";
  EXPECT_EQ(mapped->references.size(), 1);
  EXPECT_EQ(mapped->attach_count, 1);
  EXPECT_EQ(mapped->alloc_bytes.value, 4096);
  EXPECT_EQ(mapped->swap_bytes.value, 4096);
  const MemoryObject* detached = find(scan, "sysv:0:1");
  ASSERT_NE(detached, nullptr);
  EXPECT_TRUE(detached->references.empty());
}

TEST(ObjectSource, ADeniedProcessIsARowThatSaysSo) {
  TemporaryTree tree;
  tree.add_process(10, 1, "secret");
  tree.add("10/maps", "");
  tree.link("10/fd/0", "socket:[1]");
  tree.deny("10/maps");
  test::OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << "root may not become nobody here";
  const ObjectScan scan = scan_of(tree.roots());
  ASSERT_EQ(scan.processes.size(), 1);
  EXPECT_EQ(scan.processes[0].state, model::ProcessState::Denied);
  EXPECT_TRUE(scan.processes[0].unknown_because.starts_with("denied: "));
  EXPECT_TRUE(scan.processes[0].rss_bytes);
  EXPECT_NE(find(scan, "socket:1"), nullptr)
      << "what could be read is there all the same";
}

TEST(ObjectSource, KernelThreadsAndZombiesAreLeftOut) {
  TemporaryTree tree;
  tree.add("2/stat", TemporaryTree::stat(2, 0, "kthreadd", 'S', 1, 0x200040));
  tree.add("3/stat", TemporaryTree::stat(3, 1, "gone", 'Z', 1));
  EXPECT_TRUE(scan_of(tree.roots()).processes.empty());
}

TEST(ObjectSource, EveryValueIsKnownOrHasAReason) {
  const ObjectScan scan = scan_of(live());
  for (const MemoryObject& object : scan.objects) {
    for (const model::Reading<uint64_t>* reading :
         {&object.size_bytes, &object.alloc_bytes, &object.swap_bytes}) {
      EXPECT_TRUE(*reading || !reading->unknown_because.empty())
          << model::object_id(object) << " " << object.name;
    }
  }
}

}  // namespace
}  // namespace tidemark::source
