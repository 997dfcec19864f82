#include "parse/perf_records.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstring>
#include <string>

namespace tidemark::parse {
namespace {

class Bytes {
 public:
  Bytes(uint32_t type, uint16_t misc) {
    perf_event_header header{};
    header.type = type;
    header.misc = misc;
    text_.append(reinterpret_cast<const char*>(&header), sizeof header);
  }
  template <typename T>
  Bytes& add(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& add_text(std::string_view text) {
    text_ += text;
    return *this;
  }
  std::string take() {
    const auto size = static_cast<uint16_t>(text_.size());
    std::memcpy(text_.data() + offsetof(perf_event_header, size), &size,
                sizeof size);
    return text_;
  }

 private:
  std::string text_;
};

std::string sample(bool has_call_chain) {
  Bytes bytes(PERF_RECORD_SAMPLE, 1);
  bytes.add<uint64_t>(77).add<int32_t>(10).add<int32_t>(11).add<uint64_t>(5000);
  if (has_call_chain) {
    bytes.add<uint64_t>(2).add<uint64_t>(0xaa).add<uint64_t>(0xbb);
  }
  return bytes.add<uint32_t>(4).add_text("fieldpad").take();
}

std::optional<PerfRecord> parsed(const std::string& bytes, bool chain = false) {
  return parse_perf_record(bytes, [=](uint64_t) { return chain; });
}

TEST(PerfRecords, ASampleHasWhoWhenAndItsFields) {
  const std::string bytes = sample(true);
  const std::optional<PerfRecord> record = parsed(bytes, true);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, PerfRecordKind::Sample);
  EXPECT_EQ(record->event_id, 77U);
  EXPECT_EQ(record->pid, 10);
  EXPECT_EQ(record->thread_id, 11);
  EXPECT_EQ(record->time_ns, 5000U);
  EXPECT_EQ(record->call_chain.size(), 16U);
  EXPECT_EQ(record->raw, "fiel");
  const std::string without = sample(false);
  EXPECT_EQ(parsed(without)->raw, "fiel");
}

TEST(PerfRecords, NamesAndTheTimeBehindThem) {
  Bytes bytes(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
  bytes.add<int32_t>(4).add<int32_t>(5).add_text({"sh\0\0\0\0\0\0", 8});
  bytes.add<int32_t>(4).add<int32_t>(5).add<uint64_t>(99).add<uint64_t>(1);
  const std::string text = bytes.take();
  const std::optional<PerfRecord> record = parsed(text);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, PerfRecordKind::Comm);
  EXPECT_TRUE(record->is_exec);
  EXPECT_EQ(record->name, "sh");
  EXPECT_EQ(record->pid, 4);
  EXPECT_EQ(record->thread_id, 5);
  EXPECT_EQ(record->time_ns, 99U);
}

TEST(PerfRecords, ForksExitsAndLosses) {
  Bytes fork(PERF_RECORD_FORK, 0);
  fork.add<int32_t>(8).add<int32_t>(7).add<int32_t>(9).add<int32_t>(6);
  const std::string text = fork.add<uint64_t>(55).take();
  std::optional<PerfRecord> record = parsed(text);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, PerfRecordKind::Fork);
  EXPECT_EQ(record->pid, 8);
  EXPECT_EQ(record->parent_pid, 7);
  EXPECT_EQ(record->thread_id, 9);
  EXPECT_EQ(record->time_ns, 55U);
  record = parsed(
      Bytes(PERF_RECORD_LOST, 0).add<uint64_t>(1).add<uint64_t>(321).take());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, PerfRecordKind::Lost);
  EXPECT_EQ(record->lost_count, 321U);
  record = parsed(Bytes(PERF_RECORD_THROTTLE, 0).take());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, PerfRecordKind::Other);
}

TEST(PerfRecords, RefusesLengthsThatLie) {
  const std::string whole = sample(true);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parsed(whole.substr(0, size), true)) << size;
  Bytes many(PERF_RECORD_SAMPLE, 0);
  many.add<uint64_t>(1).add<uint64_t>(1).add<uint64_t>(1);
  many.add<uint64_t>(~uint64_t{0});
  EXPECT_FALSE(parsed(many.take(), true));
  Bytes large(PERF_RECORD_SAMPLE, 0);
  large.add<uint64_t>(1).add<uint64_t>(1).add<uint64_t>(1);
  large.add<uint32_t>(5).add_text("four");
  EXPECT_FALSE(parsed(large.take()));
  EXPECT_FALSE(parsed(Bytes(PERF_RECORD_COMM, 0).add<uint64_t>(1).take()));
  EXPECT_FALSE(parsed(Bytes(PERF_RECORD_FORK, 0).add<uint64_t>(1).take()));
  EXPECT_FALSE(parsed(Bytes(PERF_RECORD_LOST, 0).add<uint64_t>(1).take()));
}

}  // namespace
}  // namespace tidemark::parse
