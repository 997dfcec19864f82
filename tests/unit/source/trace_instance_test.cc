#include "source/trace_instance.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "source/target/guardian.h"
#include "source/tracefs.h"
#include "unit/child.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using test::eventually;

class TraceInstanceTest : public testing::Test {
 protected:
  void SetUp() override {
    const Roots roots = test::TemporaryTree::open("/proc", true);
    base::Result<base::Directory> tracefs = open_tracefs(roots);
    if (!tracefs) GTEST_SKIP() << tracefs.error().what;
    tracefs_ = std::move(*tracefs);
    name_ = "tidemark-test-" + std::to_string(::getpid());
  }
  bool is_there() const {
    return base::exists_at(tracefs_, "instances/" + name_);
  }
  base::Directory tracefs_;
  std::string name_;
};

TEST_F(TraceInstanceTest, GoesWithItsOwner) {
  {
    base::Result<TraceInstance> made = TraceInstance::make(tracefs_, name_);
    ASSERT_TRUE(made) << made.error().what;
    EXPECT_TRUE(is_there());
    EXPECT_TRUE(made->write("tracing_on", "0"));
    EXPECT_FALSE(made->write("no such file", "0"));
    const TraceInstance moved = std::move(*made);
    EXPECT_TRUE(is_there());
  }
  EXPECT_FALSE(is_there());
}

TEST_F(TraceInstanceTest, OneThatWasLeftIsTakenOver) {
  ASSERT_EQ(::mkdirat(tracefs_.fd.get(), ("instances/" + name_).c_str(), 0700),
            0);
  { ASSERT_TRUE(TraceInstance::make(tracefs_, name_)); }
  EXPECT_FALSE(is_there());
}

TEST_F(TraceInstanceTest, IsRemovedByNameOnce) {
  base::Result<TraceInstance> made = TraceInstance::make(tracefs_, name_);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_TRUE(remove_trace_instance(name_));
  EXPECT_FALSE(is_there());
  EXPECT_TRUE(remove_trace_instance(name_)) << "there is nothing to do";
}

TEST_F(TraceInstanceTest, AGuardianRemovesThatOfAKilledOne) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    GuardedThings things;
    things.trace_instances.push_back(name_);
    base::Result<Guardian> guardian = Guardian::start(things);
    base::Result<TraceInstance> made = TraceInstance::make(tracefs_, name_);
    if (!guardian || !made) ::_exit(1);
    const base::Fd file(::openat(made->directory().fd.get(), "trace_pipe", 0));
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFSIGNALED(status));
  constexpr uint64_t kLatestMs = 5000;
  EXPECT_TRUE(eventually([&] { return !is_there(); }, kLatestMs));
}

}  // namespace
}  // namespace tidemark::source
