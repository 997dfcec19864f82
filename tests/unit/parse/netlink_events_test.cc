#include "parse/netlink_events.h"

#include <gtest/gtest.h>
#include <linux/acct.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include "unit/parse/netlink_bytes.h"

namespace tidemark::parse {
namespace {

using test::attribute;
using test::bytes_of;
using test::generic_message;
using test::group_record;
using test::process_event;
using test::thread_record;

constexpr uint16_t kFamily = 23;
constexpr uint32_t kFork = 0x1;
constexpr uint32_t kExec = 0x2;
constexpr uint32_t kUid = 0x4;
constexpr uint32_t kComm = 0x200;
constexpr uint32_t kExit = 0x80000000;

std::string fork_bytes() {
  proc_event event{};
  event.timestamp_ns = 123'456'789'012;
  event.event_data.fork.parent_pid = 11;
  event.event_data.fork.parent_tgid = 10;
  event.event_data.fork.child_pid = 21;
  event.event_data.fork.child_tgid = 20;
  return process_event(kFork, event);
}

std::string exit_bytes() {
  proc_event event{};
  event.timestamp_ns = 5;
  event.event_data.exit.process_pid = 21;
  event.event_data.exit.process_tgid = 20;
  event.event_data.exit.exit_code = 0x8b;
  return process_event(kExit, event);
}

taskstats stats_of(uint32_t thread_id) {
  taskstats stats{};
  stats.version = 13;
  stats.ac_exitcode = 0x300;
  stats.ac_flag = AFORK | AGROUP;
  std::strcpy(stats.ac_comm, "worker");
  stats.ac_pid = thread_id;
  stats.ac_ppid = 7;
  stats.ac_btime = 1000;
  stats.ac_btime64 = 5'000'000'000;
  stats.ac_etime = 42;
  stats.hiwater_rss = 2048;
  stats.ac_tgid = 20;
  stats.ac_exe_dev = 0x801;
  stats.ac_exe_inode = 99;
  return stats;
}

std::string record_bytes(std::string_view stats) {
  return generic_message(kFamily, TASKSTATS_CMD_NEW, thread_record(21, stats));
}

// The one record of a datagram; fails the test when there is none.
ExitRecord only_record(const std::string& datagram) {
  base::Result<std::vector<ExitRecord>> records =
      parse_exit_records(datagram, kFamily);
  EXPECT_TRUE(records) << records.error().what;
  if (!records || records->size() != 1) {
    ADD_FAILURE() << "not one record";
    return {};
  }
  return records->front();
}

TEST(ProcessEvents, TellsAForkWithItsParentAndTime) {
  base::Result<std::vector<ProcessEvent>> events =
      parse_process_events(fork_bytes());
  ASSERT_TRUE(events) << events.error().what;
  ProcessEvent expected;
  expected.kind = ProcessEventKind::Fork;
  expected.time_ns = 123'456'789'012;
  expected.thread_id = 21;
  expected.pid = 20;
  expected.parent_pid = 10;
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front(), expected);
}

TEST(ProcessEvents, TellsHowAThreadEnded) {
  base::Result<std::vector<ProcessEvent>> events =
      parse_process_events(exit_bytes());
  ASSERT_TRUE(events) << events.error().what;
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().kind, ProcessEventKind::Exit);
  EXPECT_EQ(events->front().thread_id, 21);
  EXPECT_EQ(events->front().pid, 20);
  EXPECT_EQ(events->front().wait_status, 0x8b);
}

TEST(ProcessEvents, EndsACommWithoutNulAtItsField) {
  proc_event event{};
  event.event_data.comm.process_pid = 20;
  event.event_data.comm.process_tgid = 20;
  std::memset(event.event_data.comm.comm, 'x', 16);
  base::Result<std::vector<ProcessEvent>> events =
      parse_process_events(process_event(kComm, event));
  ASSERT_TRUE(events) << events.error().what;
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().comm, std::string(16, 'x'));
}

TEST(ProcessEvents, NamesTheRequestAnAnswerIsTo) {
  proc_event event{};
  event.event_data.ack.err = EPERM;
  base::Result<std::vector<ProcessEvent>> events =
      parse_process_events(process_event(0, event, 4712));
  ASSERT_TRUE(events) << events.error().what;
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().kind, ProcessEventKind::Answer);
  EXPECT_EQ(events->front().request_id, 4711U) << "the kernel adds one";
  EXPECT_EQ(events->front().error_number, EPERM);
}

TEST(ProcessEvents, SkipsOtherKindsAndReadsAllMessagesOfADatagram) {
  const std::string datagram = fork_bytes() + process_event(kUid, {}) +
                               process_event(0x40000000, {}) +
                               process_event(kExec, {}) + exit_bytes();
  base::Result<std::vector<ProcessEvent>> events =
      parse_process_events(datagram);
  ASSERT_TRUE(events) << events.error().what;
  ASSERT_EQ(events->size(), 3U);
  EXPECT_EQ((*events)[1].kind, ProcessEventKind::Exec);
  EXPECT_EQ((*events)[2].kind, ProcessEventKind::Exit);
}

TEST(ProcessEvents, SkipsOtherUsersOfTheConnector) {
  std::string datagram = fork_bytes();
  datagram[sizeof(nlmsghdr)] = CN_IDX_CIFS;
  base::Result<std::vector<ProcessEvent>> events =
      parse_process_events(datagram);
  ASSERT_TRUE(events) << events.error().what;
  EXPECT_TRUE(events->empty());
}

TEST(ProcessEvents, RefusesAnEventShorterThanItsKind) {
  // The connector's own length says so, though bytes follow.
  std::string datagram = exit_bytes();
  const uint16_t length = offsetof(proc_event, event_data.exit.exit_code);
  std::memcpy(&datagram[sizeof(nlmsghdr) + offsetof(cn_msg, len)], &length,
              sizeof length);
  EXPECT_FALSE(parse_process_events(datagram));
}

TEST(ProcessEvents, ReadsAnExitWithoutParentAsBefore418) {
  std::string datagram = exit_bytes();
  const uint16_t length = offsetof(proc_event, event_data.exit.parent_pid);
  std::memcpy(&datagram[sizeof(nlmsghdr) + offsetof(cn_msg, len)], &length,
              sizeof length);
  base::Result<std::vector<ProcessEvent>> events =
      parse_process_events(datagram);
  ASSERT_TRUE(events) << events.error().what;
  EXPECT_EQ(events->size(), 1U);
}

TEST(ProcessEvents, RefusesEveryTruncation) {
  const std::string whole = exit_bytes();
  for (size_t length = 1; length < whole.size(); ++length) {
    base::Result<std::vector<ProcessEvent>> events =
        parse_process_events(std::string(whole, 0, length));
    ASSERT_FALSE(events) << length;
    EXPECT_EQ(events.error().kind, base::ErrorKind::Malformed);
    EXPECT_TRUE(events.error().what.starts_with("process events: "));
  }
}

TEST(ExitRecord, HasTheFieldsOfItsThread) {
  const ExitRecord record = only_record(record_bytes(bytes_of(stats_of(21))));
  ExitRecord expected;
  expected.version = 13;
  expected.thread_id = 21;
  expected.pid = 20;
  expected.parent_pid = 7;
  expected.comm = "worker";
  expected.wait_status = 0x300;
  expected.started_realtime_s = 5'000'000'000;
  expected.elapsed_us = 42;
  expected.hiwater_rss_bytes = 2048 * 1024;
  expected.exe_device_id = 0x801;
  expected.exe_inode_id = 99;
  expected.is_last_thread = true;
  expected.has_not_execed = true;
  EXPECT_EQ(record, expected);
}

TEST(ExitRecord, LeavesFieldsBeyondAnOldVersionEmpty) {
  taskstats stats = stats_of(21);
  stats.version = 8;
  stats.ac_flag = 0;
  const std::string old(bytes_of(stats), 0,
                        offsetof(taskstats, thrashing_count));
  const ExitRecord record = only_record(record_bytes(old));
  EXPECT_EQ(record.hiwater_rss_bytes, 2048U * 1024);
  EXPECT_EQ(record.started_realtime_s, 1000U) << "the short one";
  EXPECT_FALSE(record.pid) << "absent must not read as process 0";
  EXPECT_FALSE(record.exe_inode_id);
  EXPECT_FALSE(record.is_last_thread);
}

TEST(ExitRecord, KnowsItsProcessFromTheSumOfTheThreads) {
  taskstats stats = stats_of(21);
  stats.ac_flag = 0;
  const std::string old(bytes_of(stats), 0, offsetof(taskstats, ac_tgid));
  const ExitRecord record = only_record(
      generic_message(kFamily, TASKSTATS_CMD_NEW,
                      thread_record(21, old) +
                          group_record(20, std::string(old.size(), '\0'))));
  EXPECT_EQ(record.pid, 20);
  EXPECT_TRUE(record.is_last_thread);
  EXPECT_EQ(record.hiwater_rss_bytes, 2048U * 1024) << "the thread's own";
}

// Two fields more behind each delay, as 6.14 had them.
TEST(ExitRecord, ReadsTheWidenedLayoutOfVersion15) {
  taskstats stats = stats_of(21);
  stats.version = 15;
  std::string wide = bytes_of(stats);
  constexpr std::array<size_t, 7> kDelays = {
      offsetof(taskstats, wpcopy_delay_total),
      offsetof(taskstats, compact_delay_total),
      offsetof(taskstats, thrashing_delay_total),
      offsetof(taskstats, freepages_delay_total),
      offsetof(taskstats, swapin_delay_total),
      offsetof(taskstats, blkio_delay_total),
      offsetof(taskstats, cpu_delay_total)};
  for (size_t field : kDelays)
    wide.insert(field + 8, std::string(16, '\x5a'));
  const ExitRecord record = only_record(record_bytes(wide));
  EXPECT_EQ(record.hiwater_rss_bytes, 2048U * 1024);
  EXPECT_EQ(record.comm, "worker");
  EXPECT_EQ(record.pid, 20);
  EXPECT_EQ(record.started_realtime_s, 5'000'000'000U);
  EXPECT_EQ(record.exe_inode_id, 99U);
}

TEST(ExitRecord, ReadsAStructLongerThanOurs) {
  taskstats stats = stats_of(21);
  stats.version = 17;
  const ExitRecord record =
      only_record(record_bytes(bytes_of(stats) + std::string(272, '\x5a')));
  EXPECT_EQ(record.hiwater_rss_bytes, 2048U * 1024);
  EXPECT_EQ(record.pid, 20);
}

TEST(ExitRecord, RefusesALayoutInWhichItIsAboutAnotherThread) {
  base::Result<std::vector<ExitRecord>> records =
      parse_exit_records(record_bytes(bytes_of(stats_of(22))), kFamily);
  ASSERT_FALSE(records);
  EXPECT_EQ(records.error().what, "taskstats: unknown layout of version 13");
}

TEST(ExitRecord, RefusesAHighMarkBeyondAnyMemory) {
  taskstats stats = stats_of(21);
  stats.hiwater_rss = UINT64_MAX / 1024 + 1;
  EXPECT_FALSE(parse_exit_records(record_bytes(bytes_of(stats)), kFamily));
}

TEST(ExitRecord, IsReadFromItsFamilyAlone) {
  base::Result<std::vector<ExitRecord>> records =
      parse_exit_records(record_bytes(bytes_of(stats_of(21))), kFamily + 1);
  ASSERT_TRUE(records) << records.error().what;
  EXPECT_TRUE(records->empty());
}

TEST(ExitRecord, RefusesAnAttributeLongerThanItsMessage) {
  std::string datagram = record_bytes(bytes_of(stats_of(21)));
  const uint16_t length = 0xffff;
  // The aggregate's own header, then that of the number inside it.
  for (size_t at : {20U, 24U}) {
    std::string hostile = datagram;
    std::memcpy(&hostile[at], &length, sizeof length);
    EXPECT_FALSE(parse_exit_records(hostile, kFamily)) << at;
  }
}

TEST(ExitRecord, RefusesAnAttributeShorterThanItsHeader) {
  std::string datagram = record_bytes(bytes_of(stats_of(21)));
  for (uint16_t length = 0; length < sizeof(nlattr); ++length) {
    std::memcpy(&datagram[20], &length, sizeof length);
    EXPECT_FALSE(parse_exit_records(datagram, kFamily)) << length;
  }
}

TEST(ExitRecord, RefusesEveryTruncation) {
  const std::string whole = record_bytes(bytes_of(stats_of(21)));
  for (size_t length = 1; length < whole.size(); ++length) {
    base::Result<std::vector<ExitRecord>> records =
        parse_exit_records(std::string(whole, 0, length), kFamily);
    ASSERT_FALSE(records) << length;
    EXPECT_EQ(records.error().kind, base::ErrorKind::Malformed);
    EXPECT_TRUE(records.error().what.starts_with("taskstats: "));
  }
}

std::string family_bytes() {
  return generic_message(
      GENL_ID_CTRL, CTRL_CMD_NEWFAMILY,
      attribute(CTRL_ATTR_FAMILY_NAME, std::string("TASKSTATS\0", 10)) +
          attribute(CTRL_ATTR_FAMILY_ID, bytes_of(kFamily)));
}

TEST(FamilyId, IsThatOfTheNamedFamily) {
  base::Result<std::optional<uint16_t>> id =
      parse_family_id(family_bytes(), "TASKSTATS");
  ASSERT_TRUE(id) << id.error().what;
  EXPECT_EQ(*id, kFamily);
}

TEST(FamilyId, IsEmptyForAnotherFamily) {
  base::Result<std::optional<uint16_t>> id =
      parse_family_id(family_bytes(), "TASKSTAT");
  ASSERT_TRUE(id) << id.error().what;
  EXPECT_FALSE(*id);
}

TEST(FamilyId, RefusesEveryTruncation) {
  const std::string whole = family_bytes();
  // The padding behind the last attribute may be missing.
  for (size_t length = 1; length + 2 < whole.size(); ++length) {
    EXPECT_FALSE(parse_family_id(std::string(whole, 0, length), "TASKSTATS"))
        << length;
  }
}

TEST(Acknowledgement, IsTheErrorNumberAndZeroWhenDone) {
  for (int code : {0, EPERM, ENOENT}) {
    nlmsgerr body{};
    body.error = -code;
    base::Result<std::optional<int>> word =
        parse_acknowledgement(test::message(NLMSG_ERROR, bytes_of(body)));
    ASSERT_TRUE(word) << word.error().what;
    EXPECT_EQ(*word, code);
  }
}

TEST(Acknowledgement, IsEmptyInOtherMessages) {
  base::Result<std::optional<int>> word = parse_acknowledgement(family_bytes());
  ASSERT_TRUE(word) << word.error().what;
  EXPECT_FALSE(*word);
}

TEST(Acknowledgement, RefusesNumbersThatAreNoErrors) {
  for (int32_t code : {1, INT32_MIN}) {
    EXPECT_FALSE(
        parse_acknowledgement(test::message(NLMSG_ERROR, bytes_of(code))));
  }
}

}  // namespace
}  // namespace tidemark::parse
