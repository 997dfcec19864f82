// Real children, read again and again.
#include "source/tracked_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "source/page_scan.h"
#include "source/roots.h"
#include "unit/child.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::Mapping;
using model::ProcessState;
using model::SmapsField;
using test::Child;
using test::Line;

const size_t kPageBytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));

struct Tracked {
  explicit Tracked(int32_t pid)
      : roots(test::TemporaryTree::open("/proc", true)),
        cgroups(CgroupHierarchy::find(roots)),
        process(TrackedProcess::open(roots, pid)) {
    EXPECT_TRUE(process) << process.error().what;
    EXPECT_TRUE(process->read_counters(cgroups));
  }
  base::Status read() { return process->read_counters(cgroups); }

  Roots roots;
  CgroupHierarchy cgroups;
  base::Result<TrackedProcess> process;
};

// Says that it is ready and waits.
int rest(const Line& line) {
  line.say('r');
  line.rest();
  return 0;
}

TEST(TrackedProcess, RefusesAPidThatIsNotThere) {
  const Roots roots = test::TemporaryTree::open("/proc", true);
  base::Result<TrackedProcess> process = TrackedProcess::open(roots, 4194305);
  ASSERT_FALSE(process);
  EXPECT_TRUE(process.error().kind == ErrorKind::NotFound ||
              process.error().kind == ErrorKind::Gone);
}

TEST(TrackedProcess, ReadsCountersAndIdentity) {
  const Child child(rest);
  ASSERT_EQ(child.hear(), 'r');
  const Tracked tracked(child.pid());
  const model::Process& process = tracked.process->process();
  EXPECT_EQ(process.id.pid, child.pid());
  EXPECT_GT(process.id.start_ticks, 0U);
  EXPECT_EQ(process.stat.parent_pid, ::getpid());
  ASSERT_TRUE(process.statm);
  EXPECT_GT(process.statm->resident_pages, 0U);
  EXPECT_TRUE(process.status.peak_rss_bytes);
  EXPECT_TRUE(process.oom_score_adjustment);
  EXPECT_TRUE(process.executable);
  EXPECT_FALSE(process.command_line.empty());
}

TEST(TrackedProcess, NoticesAnExec) {
  const Child child([](const Line& line) {
    line.say('r');
    if (line.hear() != 'x') return 1;
    ::execlp("sleep", "sleep", "20", nullptr);
    return 1;
  });
  ASSERT_EQ(child.hear(), 'r');
  Tracked tracked(child.pid());
  SmapsReader reader;
  model::Process out;
  ASSERT_TRUE(tracked.process->read_full(reader, out));
  ASSERT_TRUE(tracked.read());
  EXPECT_FALSE(tracked.process->has_new_image());
  const uint64_t address = tracked.process->process().stat.argument_address;
  const model::ProcessId id = tracked.process->id();
  child.say('x');
  // Its name changes a moment before its memory does.
  EXPECT_TRUE(test::eventually([&] {
    return tracked.read() &&
           tracked.process->process().command_line.starts_with("sleep");
  }));
  EXPECT_TRUE(tracked.process->has_new_image());
  EXPECT_NE(tracked.process->process().stat.argument_address, address);
  EXPECT_EQ(tracked.process->id(), id) << "it is the same process";
  EXPECT_EQ(tracked.process->process().command_line.substr(0, 5), "sleep");
  ASSERT_TRUE(tracked.process->read_full(reader, out));
  EXPECT_TRUE(std::ranges::any_of(*out.mappings, [](const Mapping& mapping) {
    return mapping.name.ends_with("/sleep") ||
           mapping.name.find("coreutils") != std::string::npos ||
           mapping.name.find("busybox") != std::string::npos;
  })) << "mappings of the new image";
}

TEST(TrackedProcess, TellsAZombieFromAProcessAndFromNone) {
  Child child(rest);
  ASSERT_EQ(child.hear(), 'r');
  Tracked tracked(child.pid());
  EXPECT_EQ(tracked.process->process().state, ProcessState::Ok);
  child.hang_up();
  EXPECT_TRUE(test::eventually([&] {
    return tracked.read() &&
           tracked.process->process().state == ProcessState::Zombie;
  }));
  EXPECT_EQ(tracked.process->process().statm->resident_pages, 0U);
  SmapsReader reader;
  model::Process out;
  EXPECT_FALSE(tracked.process->read_full(reader, out));
  EXPECT_FALSE(out.mappings);
  child.wait();
  const base::Status gone = tracked.read();
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::Gone);
}

TEST(TrackedProcess, GoesFromThreadToThreadAsTheyEnd) {
  test::TemporaryTree tree;
  tree.add_process(42, 1, "server");
  const Roots roots = tree.roots();
  const CgroupHierarchy cgroups = CgroupHierarchy::find(roots);
  base::Result<TrackedProcess> process = TrackedProcess::open(roots, 42);
  ASSERT_TRUE(process) << process.error().what;
  const auto resident_pages = [&] {
    EXPECT_TRUE(process->read_counters(cgroups));
    const std::optional<model::Statm>& statm = process->process().statm;
    return statm ? statm->resident_pages : 0;
  };
  EXPECT_EQ(resident_pages(), 10U);
  tree.add_headless(42, 3);
  tree.add_thread(42, 43, 'S', 100);
  tree.add_thread(42, 44, 'S', 200);
  EXPECT_EQ(process->process().state, ProcessState::Ok);
  const uint64_t by_one = resident_pages();
  EXPECT_TRUE(by_one == 100 || by_one == 200) << "in the order of the folder";
  tree.remove(by_one == 100 ? "42/task/43" : "42/task/44");
  EXPECT_EQ(resident_pages(), 300 - by_one);
  EXPECT_EQ(process->process().state, ProcessState::Ok);
  EXPECT_EQ(process->process().stat.comm, "server");
  tree.add_headless(42, 1);
  tree.remove("42/task/43");
  tree.remove("42/task/44");
  EXPECT_TRUE(process->read_counters(cgroups));
  EXPECT_EQ(process->process().state, ProcessState::Zombie);
}

TEST(TrackedProcess, UsesTheMemoryOfOldMappingsAgain) {
  const Child child(rest);
  ASSERT_EQ(child.hear(), 'r');
  Tracked tracked(child.pid());
  SmapsReader reader;
  model::Process out;
  out.mappings = model::known(std::vector<Mapping>(5000));
  ASSERT_TRUE(tracked.process->read_full(reader, out));
  EXPECT_LT(out.mappings->size(), 5000U) << "what was there before is gone";
  EXPECT_EQ(out.tier, model::DetailTier::Full);
  EXPECT_GT(tracked.process->last_cpu_ns(), 0U);
}

TEST(TrackedProcess, SaysOfWhatItMayNotReadThatItIsDenied) {
  test::TemporaryTree tree;
  tree.add_process(42, 1, "secret");
  tree.add("42/smaps", "00400000-00401000 rw-p 00000000 00:00 0 \nRss: 4 kB\n");
  tree.deny("42/smaps");
  const Roots roots = tree.roots();
  const CgroupHierarchy cgroups = CgroupHierarchy::find(roots);
  const test::OrdinaryUser user;
  if (!user.is_bound()) GTEST_SKIP() << "root may not become another user";
  base::Result<TrackedProcess> process = TrackedProcess::open(roots, 42);
  ASSERT_TRUE(process) << process.error().what;
  ASSERT_TRUE(process->read_counters(cgroups));
  SmapsReader reader;
  model::Process out;
  EXPECT_FALSE(process->read_full(reader, out));
  EXPECT_EQ(process->process().state, ProcessState::Denied);
  EXPECT_FALSE(out.mappings.unknown_because.empty());
}

// ---- scans

// A child with every kind of memory a scan must tell right.
int many_kinds(const Line& line) {
  test::touch_pages(101);
  const auto map = [](size_t pages, int protection, int flags) {
    void* memory = ::mmap(nullptr, pages * kPageBytes, PROT_READ | PROT_WRITE,
                          flags | MAP_ANONYMOUS, -1, 0);
    ::madvise(memory, pages * kPageBytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages / 2; ++i)
      static_cast<volatile char*>(memory)[i * kPageBytes] = 1;
    ::mprotect(memory, pages * kPageBytes, protection);
    return memory;
  };
  map(211, PROT_READ | PROT_WRITE, MAP_SHARED);
  map(307, PROT_READ, MAP_PRIVATE);
  map(401, PROT_NONE, MAP_PRIVATE);  // filled first, then walled in
  // Only read: the page of zeros, which is nobody's.
  void* zeros = ::mmap(nullptr, 503 * kPageBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::madvise(zeros, 503 * kPageBytes, MADV_NOHUGEPAGE);
  char sum = 0;
  for (size_t i = 0; i < 503; ++i)
    sum = static_cast<char>(sum +
                            static_cast<volatile char*>(zeros)[i * kPageBytes]);
  // Large pages where the kernel has some.
  const size_t huge = size_t{4} << 20;
  void* large = ::mmap(nullptr, huge, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::madvise(large, huge, MADV_HUGEPAGE);
  std::fill_n(static_cast<char*>(large), huge, sum);
  return rest(line);
}

// It is still on its way to where it waits: code it runs there for the first
// time is mapped meanwhile. Reads until two readings in a row are the same.
model::Process read_at_rest(Tracked& tracked) {
  SmapsReader reader;
  model::Process before;
  EXPECT_TRUE(tracked.process->read_full(reader, before));
  for (int i = 0; i < 200; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    model::Process now;
    EXPECT_TRUE(tracked.process->read_full(reader, now));
    const bool is_same = std::ranges::equal(
        *before.mappings, *now.mappings, {},
        [](const Mapping& mapping) {
          return mapping.fields.get(SmapsField::Rss);
        },
        [](const Mapping& mapping) {
          return mapping.fields.get(SmapsField::Rss);
        });
    before = std::move(now);
    if (is_same) break;
  }
  return before;
}

TEST(ScanPages, CountsWhatSmapsCounts) {
  const Child child(many_kinds);
  ASSERT_EQ(child.hear(), 'r');
  Tracked tracked(child.pid());
  const model::Process full = read_at_rest(tracked);
  model::Process scan;
  const base::Status status = tracked.process->read_scan(scan);
  if (!status && status.error().kind == ErrorKind::Unsupported) {
    GTEST_SKIP() << "this kernel has no PAGEMAP_SCAN (6.7)";
  }
  ASSERT_TRUE(status) << status.error().what;
  EXPECT_EQ(scan.tier, model::DetailTier::Scan);
  ASSERT_EQ(scan.mappings->size(), full.mappings->size());
  for (size_t i = 0; i < full.mappings->size(); ++i) {
    const Mapping& mapping = (*full.mappings)[i];
    SCOPED_TRACE(mapping.name + " of " +
                 std::to_string(mapping.size_bytes() / kPageBytes) + " pages");
    const model::SmapsFields& found = (*scan.mappings)[i].fields;
    EXPECT_EQ((*scan.mappings)[i].start_address, mapping.start_address);
    EXPECT_EQ(found.get(SmapsField::Size), mapping.size_bytes());
    EXPECT_EQ(found.get(SmapsField::Rss), mapping.fields.get(SmapsField::Rss));
    EXPECT_EQ(found.get(SmapsField::Swap),
              mapping.fields.get(SmapsField::Swap));
    EXPECT_EQ(found.get(SmapsField::Anonymous),
              mapping.fields.get(SmapsField::Anonymous));
    EXPECT_FALSE(found.has(SmapsField::Pss)) << "a scan knows no shares";
  }
}

TEST(ScanPages, CountsTheSameInSmallSteps) {
  const Child child(many_kinds);
  ASSERT_EQ(child.hear(), 'r');
  Tracked tracked(child.pid());
  const model::Process full = read_at_rest(tracked);
  base::Result<base::Directory> directory =
      base::open_directory("/proc/" + std::to_string(child.pid()));
  ASSERT_TRUE(directory);
  const auto whole = scan_pages(*directory, *full.mappings, 0);
  if (!whole && whole.error().kind == ErrorKind::Unsupported) {
    GTEST_SKIP() << "this kernel has no PAGEMAP_SCAN (6.7)";
  }
  ASSERT_TRUE(whole) << whole.error().what;
  for (uint64_t step : {1U, 7U, 512U}) {
    const auto steps = scan_pages(*directory, *full.mappings, step);
    ASSERT_TRUE(steps);
    EXPECT_EQ(*steps, *whole) << step << " pages a call";
  }
}

// Sets the number of huge pages the machine keeps, and puts it back.
class HugePages {
 public:
  explicit HugePages(int wanted) {
    std::ifstream(kFile) >> before_;
    std::ofstream(kFile) << before_ + wanted;
    int now = 0;
    std::ifstream(kFile) >> now;
    has_them_ = now >= before_ + wanted;
  }
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
  ~HugePages() { std::ofstream(kFile) << before_; }
  bool has_them() const { return has_them_; }

 private:
  static constexpr const char* kFile = "/proc/sys/vm/nr_hugepages";
  int before_ = 0;
  bool has_them_ = false;
};

// Three areas of huge pages: one of its own of which half is touched, one that
// a child of it maps as well, and one that is a file with a name.
int use_huge_pages(const Line& line) {
  constexpr size_t kHuge = size_t{2} << 20;
  const auto map = [](size_t bytes, int flags, int fd) {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  flags | (fd < 0 ? MAP_ANONYMOUS | MAP_HUGETLB : 0), fd, 0);
  };
  void* own = map(2 * kHuge, MAP_PRIVATE, -1);
  void* shared = map(kHuge, MAP_SHARED, -1);
  const int file = ::memfd_create("huge", MFD_HUGETLB);
  void* named =
      ::ftruncate(file, kHuge) == 0 ? map(kHuge, MAP_SHARED, file) : MAP_FAILED;
  for (void* memory : {own, shared, named}) {
    if (memory == MAP_FAILED) return 1;
    static_cast<volatile char*>(memory)[0] = 1;
  }
  const Child child([&](const Line& other) {
    static_cast<volatile char*>(shared)[1] = 1;
    return rest(other);
  });
  if (child.hear() != 'r') return 1;
  return rest(line);
}

TEST(ScanPages, CountsHugePagesBesideRssAsSmapsDoes) {
  const HugePages pages(4);
  if (!pages.has_them()) {
    GTEST_SKIP() << "huge pages cannot be reserved here";
  }
  const Child child(use_huge_pages);
  ASSERT_EQ(child.hear(), 'r');
  Tracked tracked(child.pid());
  SmapsReader reader;
  model::Process full;
  ASSERT_TRUE(tracked.process->read_full(reader, full));
  model::Process scan;
  const base::Status status = tracked.process->read_scan(scan);
  if (!status && status.error().kind == ErrorKind::Unsupported) {
    GTEST_SKIP() << "this kernel has no PAGEMAP_SCAN (6.7)";
  }
  ASSERT_TRUE(status) << status.error().what;
  ASSERT_EQ(scan.mappings->size(), full.mappings->size());
  uint64_t huge_bytes = 0;
  for (size_t i = 0; i < full.mappings->size(); ++i) {
    const Mapping& mapping = (*full.mappings)[i];
    SCOPED_TRACE(mapping.name);
    const model::SmapsFields& found = (*scan.mappings)[i].fields;
    for (SmapsField field :
         {SmapsField::Rss, SmapsField::Anonymous, SmapsField::Swap,
          SmapsField::SharedHugetlb, SmapsField::PrivateHugetlb}) {
      EXPECT_EQ(found.get_or_zero(field), mapping.fields.get_or_zero(field))
          << model::kSmapsLabels[static_cast<size_t>(field)].kernel_label;
    }
    huge_bytes += model::hugetlb_bytes(found).value_or(0);
    if (model::hugetlb_bytes(mapping.fields).value_or(0) == 0) continue;
    EXPECT_EQ(found.get(SmapsField::KernelPageSize),
              mapping.fields.get(SmapsField::KernelPageSize));
    EXPECT_NE((*scan.mappings)[i].vm_flags & model::vm_flag_bit("ht"), 0U);
  }
  EXPECT_EQ(huge_bytes, uint64_t{6} << 20);
}

}  // namespace
}  // namespace tidemark::source
