#include "source/target/guardian.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "unit/child.h"
#include "unit/source/target/groups.h"

namespace tidemark::source {
namespace {

using test::Child;
using test::eventually;
using test::is_alive;
using test::is_there;
using test::Line;
using test::lists;
using test::PlannedGroup;
using test::state_of;

constexpr uint64_t kSoonMs = 2000;

int rest(const Line& line) {
  line.say('!');
  line.rest();
  return 0;
}

Guardian started(const GuardedThings& things) {
  base::Result<Guardian> guardian = Guardian::start(things);
  EXPECT_TRUE(guardian) << guardian.error().what;
  return std::move(*guardian);
}

// A pid that a child tells its test.
class SharedPid {
 public:
  SharedPid()
      : at_(static_cast<volatile pid_t*>(
            ::mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  SharedPid(const SharedPid&) = delete;
  SharedPid& operator=(const SharedPid&) = delete;
  ~SharedPid() { ::munmap(const_cast<pid_t*>(at_), sizeof(pid_t)); }
  void set(pid_t pid) { *at_ = pid; }
  pid_t get() const { return *at_; }

 private:
  volatile pid_t* at_;
};

// A tool as `run` is one: guards a group, makes it, puts a process in, and is
// killed before it can undo anything.
class Tool {
 public:
  Tool(const GroupPlace& place, pid_t member, bool continues_stopped = false)
      : child_([&, continues_stopped](const Line& line) {
          const Guardian guardian = started({{place}, continues_stopped});
          guardian_.set(guardian.pid());
          if (!make_group(place, {::getpid()}) || !add_to_group(place, member))
            return 1;
          line.say('!');
          line.rest();
          // Without undoing anything, and not even by a dismissal.
          ::_exit(0);
        }) {
    EXPECT_EQ(child_.hear(), '!');
  }

  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;
  // The guardian must be through with a group before another test makes one of
  // the same name.
  ~Tool() {
    kill();
    EXPECT_TRUE(eventually([&] { return !is_alive(guardian()); }));
  }

  pid_t guardian() const { return guardian_.get(); }
  void kill() {
    if (std::exchange(is_killed_, true)) return;
    ::kill(child_.pid(), SIGKILL);
    child_.wait();
  }

 private:
  SharedPid guardian_;
  Child child_;
  bool is_killed_ = false;
};

TEST(Guardian, RemovesTheGroupOfAToolThatWasKilled) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  const Child member(rest);
  ASSERT_EQ(member.hear(), '!');
  Tool tool(*group, member.pid());
  ASSERT_TRUE(lists(group->directory + "/cgroup.procs", member.pid()));
  tool.kill();
  EXPECT_TRUE(eventually([&] { return !is_there(*group); }, kSoonMs));
  EXPECT_TRUE(is_alive(member.pid())) << "nobody is harmed";
  EXPECT_TRUE(lists(group->home_procs, member.pid()));
  EXPECT_TRUE(eventually([&] { return !is_alive(tool.guardian()); }, kSoonMs))
      << "and it is gone itself";
}

TEST(Guardian, IsDeafToWhatIsMeantForTheCommand) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  const Child member(rest);
  ASSERT_EQ(member.hear(), '!');
  Tool tool(*group, member.pid());
  ASSERT_TRUE(eventually([&] {  // once it has detached itself
    return ::getsid(tool.guardian()) == tool.guardian();
  }));
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP})
    ::kill(tool.guardian(), number);
  tool.kill();
  EXPECT_TRUE(eventually([&] { return !is_there(*group); }, kSoonMs));
}

TEST(Guardian, ThawsWhatAKilledToolHadFrozen) {
  const PlannedGroup group(PlannedGroup::freezer());
  if (!group) GTEST_SKIP() << group.reason();
  const Child member([](const Line& line) {
    line.say('!');
    line.hear();
    line.say('?');
    line.rest();
    return 0;
  });
  ASSERT_EQ(member.hear(), '!');
  Tool tool(*group, member.pid());
  ASSERT_TRUE(set_frozen(*group, true));
  ASSERT_TRUE(eventually([&] { return is_frozen(*group); }));
  member.say('g');
  tool.kill();
  EXPECT_EQ(member.hear(), '?');
  EXPECT_TRUE(eventually([&] { return !is_there(*group); }, kSoonMs));
}

TEST(Guardian, ContinuesWhatAKilledToolHadStopped) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  const Child member(rest);
  ASSERT_EQ(member.hear(), '!');
  Tool tool(*group, member.pid(), true);
  ::kill(member.pid(), SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state_of(member.pid()) == 'T'; }));
  tool.kill();
  EXPECT_TRUE(
      eventually([&] { return state_of(member.pid()) == 'S'; }, kSoonMs));
}

TEST(Guardian, LeavesStoppedWhatTheToolDoesNotStop) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  const Child member(rest);
  ASSERT_EQ(member.hear(), '!');
  Tool tool(*group, member.pid(), false);
  ::kill(member.pid(), SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state_of(member.pid()) == 'T'; }));
  tool.kill();
  EXPECT_TRUE(eventually([&] { return !is_there(*group); }, kSoonMs));
  EXPECT_EQ(state_of(member.pid()), 'T') << "the user may have stopped it";
}

TEST(Guardian, WaitsForTheToolToEnd) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  const Child member(rest);
  ASSERT_EQ(member.hear(), '!');
  const Tool tool(*group, member.pid());
  test::sleep_ms(30);
  EXPECT_TRUE(is_there(*group));
  EXPECT_TRUE(is_alive(tool.guardian()));
}

// ---- dismissed --------------------------------------------------------------

TEST(Guardian, ThatIsDismissedTouchesNothing) {
  const PlannedGroup group(PlannedGroup::memory());
  if (!group) GTEST_SKIP() << group.reason();
  pid_t pid = 0;
  {
    const Guardian guardian = started({{*group}, false});
    ASSERT_TRUE(make_group(*group, {::getpid()}));
    pid = guardian.pid();
  }
  EXPECT_TRUE(is_there(*group));
  EXPECT_NE(::kill(pid, 0), 0) << "and is waited for";
}

TEST(Guardian, ThatWasMovedIsDismissedOnce) {
  const test::TemporaryTree tree;
  GroupPlace place;
  place.directory = tree.path("group");
  Guardian guardian = started({{place}, false});
  const pid_t pid = guardian.pid();
  {
    const Guardian moved = std::move(guardian);
    EXPECT_EQ(moved.pid(), pid);
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

// ---- while the tool lives ---------------------------------------------------

TEST(Guardian, ThawsByItselfWhenAFreezeTakesTooLong) {
  const PlannedGroup group(PlannedGroup::freezer());
  if (!group) GTEST_SKIP() << group.reason();
  Guardian guardian = started({{*group}, false});
  ASSERT_TRUE(make_group(*group, {::getpid()}));
  const Child member(rest);
  ASSERT_EQ(member.hear(), '!');
  ASSERT_TRUE(add_to_group(*group, member.pid()));
  guardian.will_freeze();
  ASSERT_TRUE(set_frozen(*group, true));
  ASSERT_TRUE(eventually([&] { return is_frozen(*group); }));
  EXPECT_TRUE(eventually([&] { return !is_frozen(*group); }, kSoonMs));
  EXPECT_TRUE(is_there(*group)) << "it only thaws";
}

TEST(Guardian, LeavesAToolInPeaceThatHasThawedInTime) {
  const PlannedGroup group(PlannedGroup::freezer());
  if (!group) GTEST_SKIP() << group.reason();
  Guardian guardian = started({{*group}, false});
  ASSERT_TRUE(make_group(*group, {::getpid()}));
  const Child member(rest);
  ASSERT_EQ(member.hear(), '!');
  ASSERT_TRUE(add_to_group(*group, member.pid()));
  guardian.will_freeze();
  guardian.has_thawed();
  // Nobody announced this one.
  ASSERT_TRUE(set_frozen(*group, true));
  ASSERT_TRUE(eventually([&] { return is_frozen(*group); }));
  test::sleep_ms(300);
  EXPECT_TRUE(is_frozen(*group));
}

// A reader of the command's output waits for its last writer.
TEST(Guardian, HoldsNoDescriptorOpen) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  const base::Fd reader(ends[0]);
  const Guardian guardian = started({});
  ::close(ends[1]);
  pollfd waiting{reader.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, test::kPatienceMs), 1);
  EXPECT_TRUE(is_alive(guardian.pid()));
}

TEST(Guardian, IsOutOfOurSession) {
  const Guardian guardian = started({});
  EXPECT_TRUE(
      eventually([&] { return ::getsid(guardian.pid()) == guardian.pid(); }));
}

}  // namespace
}  // namespace tidemark::source
