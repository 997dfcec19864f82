#include "store/push_queue.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

namespace tidemark::store {
namespace {

class PushQueueTest : public testing::Test {
 protected:
  PushQueueTest() {
    std::string name = testing::TempDir() + "queueXXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ + "/q";
  }
  ~PushQueueTest() override { std::filesystem::remove_all(folder_); }

  PushQueue open(uint64_t most_bytes = 1000) {
    base::Result<PushQueue> queue = PushQueue::open(path_, most_bytes);
    if (!queue) ADD_FAILURE() << queue.error().what;
    return std::move(*queue);
  }

  std::string folder_;
  std::string path_;
};

TEST_F(PushQueueTest, GivesBatchesInOrderAndAsTheyWere) {
  const std::string odd("\0\xff\n batch", 9);
  PushQueue queue = open();
  ASSERT_TRUE(queue.append(odd));
  ASSERT_TRUE(queue.append("second"));
  base::Result<std::optional<QueuedBatch>> first = queue.front();
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->bytes, odd);
  ASSERT_TRUE(queue.remove((*first)->id));
  EXPECT_EQ((*queue.front())->bytes, "second");
  EXPECT_EQ(queue.bytes(), 6);
}

TEST_F(PushQueueTest, HasWhatItTookAfterAKill) {
  const pid_t child = ::fork();
  if (child == 0) {
    base::Result<PushQueue> queue = PushQueue::open(path_, 1000);
    if (!queue || !queue->append("one") || !queue->append("two")) ::_exit(1);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  PushQueue queue = open();
  EXPECT_EQ(queue.batch_count(), 2);
  EXPECT_EQ(queue.bytes(), 6);
  EXPECT_EQ((*queue.front())->bytes, "one");
}

TEST_F(PushQueueTest, RefusesWhatDoesNotFitAndKeepsTheRest) {
  PushQueue queue = open(10);
  ASSERT_TRUE(queue.append("12345678"));
  base::Status status = queue.append("123");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, base::ErrorKind::NoSpace);
  EXPECT_EQ(queue.batch_count(), 1);
  ASSERT_TRUE(queue.remove((*queue.front())->id));
  EXPECT_TRUE(queue.append("123"));
}

TEST_F(PushQueueTest, LetsNoSecondSenderIn) {
  PushQueue queue = open();
  ASSERT_TRUE(queue.append("x"));
  EXPECT_FALSE(PushQueue::open(path_, 1000));
}

TEST_F(PushQueueTest, RefusesAFileThatIsNone) {
  {
    base::Result<Database> other = Database::open(path_, OpenMode::Create);
    ASSERT_TRUE(other) << other.error().what;
    ASSERT_TRUE(other->execute("CREATE TABLE t(x INT) STRICT"));
  }
  base::Result<PushQueue> queue = PushQueue::open(path_, 1000);
  ASSERT_FALSE(queue);
  EXPECT_EQ(queue.error().kind, base::ErrorKind::Malformed);
}

TEST_F(PushQueueTest, RemovesTheFirstAlone) {
  PushQueue queue = open();
  ASSERT_TRUE(queue.append("x"));
  EXPECT_FALSE(queue.remove(99));
  EXPECT_EQ(queue.batch_count(), 1);
}

}  // namespace
}  // namespace tidemark::store
