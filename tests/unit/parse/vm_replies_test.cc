#include "parse/vm_replies.h"

#include <gtest/gtest.h>

namespace tidemark::parse {
namespace {

using model::GuestField;

TEST(VmReplies, OfQmpAreToldApart) {
  const auto message = [](std::string_view line) {
    base::Result<QmpHead> head = parse_qmp_head(line);
    EXPECT_TRUE(head) << head.error().what;
    return head->message;
  };
  EXPECT_EQ(message(R"({"QMP": {"version": {}}})"), QmpMessage::Greeting);
  EXPECT_EQ(message(R"({"event": "STOP", "data": {}})"), QmpMessage::Event);
  EXPECT_EQ(message(R"({"return": {}})"), QmpMessage::Return);
  EXPECT_FALSE(parse_qmp_head("HTTP/1.1 400"));
  EXPECT_FALSE(parse_qmp_head("[]"));
  base::Result<QmpHead> error = parse_qmp_head(
      R"({"error": {"class": "DeviceNotActive", "desc": "No balloon"}})");
  ASSERT_TRUE(error) << error.error().what;
  EXPECT_EQ(error->error_class, "DeviceNotActive");
}

TEST(VmReplies, LeaveWhatTheGuestDoesNotTellEmpty) {
  base::Result<QmpGuestStats> told = parse_qmp_guest_stats(
      R"({"return": {"stats": {"stat-free-memory": 197, "stat-swap-in": 0,)"
      R"( "stat-disk-caches": 18446744073709551615, "stat-total-memory": -1,)"
      R"( "stat-of-tomorrow": 4}, "last-update": 1700000000}})");
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->stats[GuestField::Free], 197U);
  EXPECT_EQ(told->stats[GuestField::SwapIn], 0U);
  EXPECT_FALSE(told->stats[GuestField::Caches]);
  EXPECT_FALSE(told->stats[GuestField::Total]);
  EXPECT_EQ(told->updated_realtime_s, 1700000000U);
}

TEST(VmReplies, OfSizesMustBeSizes) {
  EXPECT_EQ(*parse_qmp_balloon(R"({"return": {"actual": 268435456}})"),
            268435456U);
  EXPECT_FALSE(parse_qmp_balloon(R"({"return": {"actual": -4}})"));
  EXPECT_FALSE(parse_qmp_balloon(R"({"return": []})"));
  EXPECT_EQ(*parse_qmp_memory_size(
                R"({"return": {"base-memory": 4, "plugged-memory": 3}})"),
            7U);
  EXPECT_FALSE(parse_qmp_memory_size(
      R"({"return": {"base-memory": 18446744073709551615,)"
      R"( "plugged-memory": 3}})"));
}

TEST(VmReplies, NameBalloonsByTheirType) {
  base::Result<std::vector<std::string>> names = parse_qmp_balloon_names(
      R"({"return": [{"name": "type", "type": "string"},)"
      R"( {"name": "b0", "type": "child<virtio-balloon-pci>"},)"
      R"( {"name": "net", "type": "child<virtio-net-pci>"}]})");
  ASSERT_TRUE(names) << names.error().what;
  EXPECT_EQ(*names, std::vector<std::string>{"b0"});
}

TEST(VmReplies, OfCrosvmAreStatisticsOrAnError) {
  base::Result<CrosvmBalloon> told = parse_crosvm_balloon(
      R"({"BalloonStats":{"stats":{"free_memory":5,"total_memory":9,)"
      R"("shared_memory":null},"balloon_actual":2}})");
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->stats[GuestField::Total], 9U);
  EXPECT_FALSE(told->stats[GuestField::Shared]);
  EXPECT_EQ(told->balloon_bytes, 2U);
  EXPECT_EQ(parse_crosvm_balloon(R"({"Err":107})")->error_number, 107);
  EXPECT_EQ(parse_crosvm_balloon(R"({"ErrString":"no"})")->error_text, "no");
  EXPECT_FALSE(parse_crosvm_balloon(R"({"Ok":null})"));
  EXPECT_FALSE(parse_crosvm_balloon(R"({"Err":"x"})"));
}

}  // namespace
}  // namespace tidemark::parse
