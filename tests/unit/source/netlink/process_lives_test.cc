#include "source/netlink/process_lives.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/quantities.h"

namespace tidemark::source {
namespace {

using model::ProcessLife;
using parse::ExitRecord;
using parse::ProcessEvent;
using parse::ProcessEventKind;

using test::kMiB;
constexpr int32_t kRoot = 100;
constexpr int32_t kOutside = 7;  // whoever has started the root

// What the kernel would send, in the order of the calls; time is their count.
class Told {
 public:
  Told() { lives.add_running(root(), 1, 0); }

  void fork(int32_t parent, int32_t child) {
    ProcessEvent event = made(ProcessEventKind::Fork, child, child);
    event.parent_pid = parent;
    lives.apply(event);
  }
  void thread(int32_t pid, int32_t thread_id) {
    lives.apply(made(ProcessEventKind::Fork, pid, thread_id));
  }
  void exec(int32_t pid, const std::string& path) {
    lives.apply(made(ProcessEventKind::Exec, pid, pid), path);
  }
  void comm(int32_t pid, int32_t thread_id, const std::string& name) {
    ProcessEvent event = made(ProcessEventKind::Comm, pid, thread_id);
    event.comm = name;
    lives.apply(event);
  }
  void exit(int32_t pid, int32_t thread_id, int32_t status = 0) {
    ProcessEvent event = made(ProcessEventKind::Exit, pid, thread_id);
    event.wait_status = status;
    lives.apply(event);
  }
  void record(int32_t pid, int32_t thread_id, uint64_t mib,
              const std::string& name = "made") {
    ExitRecord record;
    record.pid = pid;
    record.thread_id = thread_id;
    record.comm = name;
    record.hiwater_rss_bytes = mib * kMiB;
    record.exe_device_id = 1;
    record.exe_inode_id = 2;
    lives.shelve(record);
  }
  // A process of one thread, from its record to its end.
  void end(int32_t pid, uint64_t mib = 1) {
    record(pid, pid, mib);
    exit(pid, pid);
  }

  std::vector<ProcessLife> ended() {
    std::vector<ProcessLife> all;
    lives.take_ended([&](ProcessLife life) { all.push_back(std::move(life)); });
    return all;
  }
  // The only one that has ended; fails the test when it is not one.
  ProcessLife only() {
    std::vector<ProcessLife> all = ended();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? ProcessLife() : all.front();
  }
  std::vector<int32_t> ended_pids() {
    std::vector<int32_t> pids;
    for (const ProcessLife& life : ended())
      pids.push_back(life.pid);
    return pids;
  }

  static ProcessLife root() {
    ProcessLife life;
    life.pid = kRoot;
    life.parent_pid = kOutside;
    life.comm = "shell";
    life.path = "/bin/shell";
    return life;
  }
  ProcessEvent made(ProcessEventKind kind, int32_t pid, int32_t thread_id) {
    ProcessEvent event;
    event.kind = kind;
    event.time_ns = ++now_ns;
    event.pid = pid;
    event.thread_id = thread_id;
    return event;
  }

  ProcessLives lives;
  uint64_t now_ns = 0;
};

using Pids = std::vector<int32_t>;

TEST(ProcessLives, TellsEachOfTheTreeOnceInTheOrderOfTheirEnd) {
  Told told;
  told.fork(kRoot, 200);
  told.fork(200, 300);
  told.end(300);
  told.end(200);
  EXPECT_EQ(told.ended_pids(), (Pids{300, 200}));
  EXPECT_EQ(told.lives.living(), Pids{kRoot});
  EXPECT_TRUE(told.ended().empty());
}

TEST(ProcessLives, LeavesOutWhatTheTreeDidNotFork) {
  Told told;
  told.fork(kOutside, 200);
  told.fork(200, 300);
  told.end(300);
  told.end(200);
  EXPECT_TRUE(told.ended().empty());
}

TEST(ProcessLives, FollowsTheChildrenOfAnOrphan) {
  Told told;
  told.fork(kRoot, 200);
  told.fork(200, 300);
  told.end(200);
  told.fork(300, 400);
  told.end(400);
  EXPECT_EQ(told.ended_pids(), (Pids{200, 400}));
  EXPECT_EQ(told.lives.living(), (Pids{kRoot, 300}));
}

TEST(ProcessLives, HasNameAndPathOfTheParentUntilItExecs) {
  Told told;
  told.fork(kRoot, 200);
  const ProcessLife forked = told.lives.living_lives().back();
  EXPECT_EQ(forked.comm, "shell");
  EXPECT_EQ(forked.path, "/bin/shell");
  EXPECT_FALSE(forked.has_execed);
  told.exec(200, "/usr/bin/some-program-with-a-name");
  const ProcessLife execed = told.lives.living_lives().back();
  EXPECT_EQ(execed.comm, "some-program-wi") << "cut as the kernel does";
  EXPECT_TRUE(execed.has_execed);
  EXPECT_EQ(execed.ended_ns, std::nullopt);
}

TEST(ProcessLives, TakesTheNameFromTheRecord) {
  Told told;
  told.exec(kRoot, "/usr/bin/dash");
  told.record(kRoot, kRoot, 1, "script.sh");
  told.exit(kRoot, kRoot);
  const ProcessLife life = told.only();
  EXPECT_EQ(life.comm, "script.sh");
  EXPECT_EQ(life.path, "/usr/bin/dash");
}

TEST(ProcessLives, IsRenamedByItsFirstThreadAlone) {
  Told told;
  told.thread(kRoot, 101);
  told.comm(kRoot, 101, "pool-1");
  told.comm(kRoot, kRoot, "renamed");
  EXPECT_EQ(told.lives.living_lives().front().comm, "renamed");
}

TEST(ProcessLives, EndsWithItsLastThreadNotItsFirst) {
  Told told;
  told.thread(kRoot, 101);
  told.record(kRoot, kRoot, 5);
  told.exit(kRoot, kRoot);
  EXPECT_TRUE(told.ended().empty());
  EXPECT_EQ(told.lives.living(), Pids{kRoot});
  told.record(kRoot, 101, 40);
  told.exit(kRoot, 101);
  const ProcessLife life = told.only();
  EXPECT_EQ(life.peak_rss_bytes, 40 * kMiB);
  EXPECT_EQ(life.ended_ns, told.now_ns);
}

TEST(ProcessLives, HasTheStatusOfExitGroupThoughAJoinedThreadEndsLater) {
  Told told;
  told.thread(kRoot, 101);
  told.record(kRoot, 101, 1);
  told.record(kRoot, kRoot, 1);
  told.exit(kRoot, kRoot, 0x200);
  told.exit(kRoot, 101, 0);
  EXPECT_EQ(told.only().wait_status, 0x200);
}

TEST(ProcessLives, HasTheStatusOfAThreadThatOutlivedTheFirst) {
  Told told;
  told.thread(kRoot, 101);
  told.record(kRoot, kRoot, 1);
  told.exit(kRoot, kRoot, 0);
  told.record(kRoot, 101, 1);
  told.exit(kRoot, 101, 0x700);
  EXPECT_EQ(told.only().wait_status, 0x700);
}

TEST(ProcessLives, HasDumpedCoreWhenOneOfItsThreadsDid) {
  Told told;
  told.thread(kRoot, 101);
  told.record(kRoot, 101, 1);
  told.record(kRoot, kRoot, 1);
  told.exit(kRoot, 101, 11 | 0x80);
  told.exit(kRoot, kRoot, 11);
  EXPECT_EQ(told.only().wait_status, 11 | 0x80);
}

// The first thread ends for it, the caller goes on under its number.
TEST(ProcessLives, GoesOnWhenAnotherThreadExecs) {
  Told told;
  told.thread(kRoot, 101);
  told.record(kRoot, kRoot, 60);
  told.exit(kRoot, kRoot, 9);
  told.exec(kRoot, "/bin/dd");
  told.record(kRoot, kRoot, 10, "dd");
  told.exit(kRoot, kRoot, 0);
  const ProcessLife life = told.only();
  EXPECT_EQ(life.peak_rss_bytes, 10 * kMiB);
  EXPECT_EQ(life.earlier_peak_rss_bytes, 60 * kMiB);
  EXPECT_EQ(life.wait_status, 0);
  EXPECT_EQ(life.comm, "dd");
}

// As above, when the first thread's exit is told late: it then has the caller's
// number, while its record has its own.
TEST(ProcessLives, GoesOnWhenTheFirstThreadEndsUnderTheCallersNumber) {
  Told told;
  told.thread(kRoot, 101);
  told.record(kRoot, kRoot, 60);
  told.exec(kRoot, "/bin/dd");
  told.exit(kRoot, 101, 9);
  EXPECT_EQ(told.lives.living(), Pids{kRoot});
  told.record(kRoot, kRoot, 10, "dd");
  told.exit(kRoot, kRoot, 0);
  const ProcessLife life = told.only();
  EXPECT_EQ(life.peak_rss_bytes, 10 * kMiB);
  EXPECT_EQ(life.earlier_peak_rss_bytes, 60 * kMiB);
  EXPECT_EQ(life.wait_status, 0);
}

TEST(ProcessLives, FindsTheProcessOfAThreadThatOldRecordsDoNotName) {
  Told told;
  told.thread(kRoot, 101);
  ExitRecord old;
  old.thread_id = 101;
  old.hiwater_rss_bytes = 30 * kMiB;
  told.lives.shelve(old);
  told.exit(kRoot, 101);
  old.thread_id = kRoot;
  old.hiwater_rss_bytes = 20 * kMiB;
  told.lives.shelve(old);
  told.exit(kRoot, kRoot);
  EXPECT_EQ(told.only().peak_rss_bytes, 30 * kMiB);
}

TEST(ProcessLives, KeepsARecordUntilItsForkIsTold) {
  Told told;
  told.record(200, 200, 3);
  told.fork(kRoot, 200);
  told.exit(200, 200);
  EXPECT_EQ(told.only().peak_rss_bytes, 3 * kMiB);
}

TEST(ProcessLives, IsReadyForAnExitWhoseRecordIsThere) {
  Told told;
  const ProcessEvent exit = told.made(ProcessEventKind::Exit, kRoot, kRoot);
  EXPECT_FALSE(told.lives.is_ready_for(exit));
  told.record(kRoot, kRoot, 3);
  EXPECT_TRUE(told.lives.is_ready_for(exit));
}

TEST(ProcessLives, GivesEachProcessOfAReusedPidItsOwnRecord) {
  Told told;
  told.record(200, 200, 3);  // an outsider's
  told.record(200, 200, 5);
  told.record(200, 200, 8);
  told.fork(kOutside, 200);
  told.exit(200, 200);
  told.fork(kRoot, 200);
  told.exit(200, 200);
  told.fork(kRoot, 200);
  told.exit(200, 200);
  const std::vector<ProcessLife> lives = told.ended();
  ASSERT_EQ(lives.size(), 2U);
  EXPECT_EQ(lives[0].peak_rss_bytes, 5 * kMiB);
  EXPECT_EQ(lives[1].peak_rss_bytes, 8 * kMiB);
}

TEST(ProcessLives, EndsWhatHadAPidThatIsUsedAgain) {
  Told told;
  told.fork(kRoot, 200);
  told.fork(kOutside, 200);
  const ProcessLife life = told.only();
  EXPECT_EQ(life.pid, 200);
  EXPECT_FALSE(life.wait_status) << "nobody has told it";
  EXPECT_FALSE(told.lives.is_living(200));
}

TEST(ProcessLives, WaitsForALostRecordUntilAllAreTaken) {
  Told told;
  told.exit(kRoot, kRoot, 0x100);
  EXPECT_TRUE(told.ended().empty());
  EXPECT_TRUE(told.lives.living().empty());
  std::vector<ProcessLife> all;
  told.lives.take_all_ended([&](ProcessLife life) { all.push_back(life); });
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all.front().peak_rss_bytes) << "absent must not read as zero";
  EXPECT_EQ(all.front().wait_status, 0x100);
}

TEST(ProcessLives, ClearsTheShelfOfStrangersAlone) {
  Told told;
  told.record(kRoot, kRoot, 3);
  told.record(200, 200, 9);
  told.lives.clear_shelf();
  told.fork(kRoot, 200);
  told.exit(kRoot, kRoot);
  told.exit(200, 200);
  EXPECT_EQ(told.only().pid, kRoot);
}

TEST(ProcessLives, TakesAForkThatIsToldAfterItWasFollowed) {
  Told told;
  told.now_ns = 50;
  told.lives.add_running(Told::root(), 1, 60);
  told.fork(9, kRoot);      // 51
  told.thread(kRoot, 101);  // older than 60 as well, and yet counts
  told.record(kRoot, 101, 1);
  told.exit(kRoot, 101);
  told.end(kRoot);
  const ProcessLife life = told.only();
  EXPECT_EQ(life.started_ns, 51U);
  EXPECT_EQ(life.parent_pid, 9);
}

TEST(ProcessLives, SkipsEventsOlderThanTheCountOfItsThreads) {
  Told told;
  told.now_ns = 50;
  told.lives.add_running(Told::root(), 2, 60);
  told.thread(kRoot, 101);  // is in the count of two
  told.now_ns = 70;
  told.record(kRoot, 101, 1);
  told.exit(kRoot, 101);
  EXPECT_EQ(told.lives.living(), Pids{kRoot});
  told.end(kRoot);
  EXPECT_EQ(told.ended_pids(), Pids{kRoot});
}

TEST(ProcessLives, EndsOneThatIsGoneUnseenWithWhatItsRecordSays) {
  Told told;
  ExitRecord record;
  record.pid = kRoot;
  record.thread_id = kRoot;
  record.hiwater_rss_bytes = 6 * kMiB;
  record.wait_status = 0x300;
  told.lives.shelve(record);
  told.lives.end_unseen(kRoot, 99);
  const ProcessLife life = told.only();
  EXPECT_EQ(life.peak_rss_bytes, 6 * kMiB);
  EXPECT_EQ(life.wait_status, 0x300);
  EXPECT_EQ(life.ended_ns, 99U);
}

TEST(ProcessLives, KnowsThePathOfAProgramThatRanBefore) {
  Told told;
  for (int32_t pid : {200, 300}) {
    told.fork(kRoot, pid);
    told.exec(pid, pid == 200 ? "/usr/bin/true" : "");
    told.end(pid);
  }
  EXPECT_EQ(told.ended().back().path, "/usr/bin/true");
}

TEST(ProcessLives, DoesNotNameAFileByAnotherProgramsPath) {
  Told told;
  told.fork(kRoot, 200);
  told.exec(200, "/tmp/first");
  told.record(200, 200, 1, "first");
  told.exit(200, 200);
  told.fork(kRoot, 300);
  told.exec(300, "");
  told.record(300, 300, 1, "second");
  told.exit(300, 300);
  EXPECT_EQ(told.ended().back().path, "");
}

}  // namespace
}  // namespace tidemark::source
