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

TEST(VmReplies, TellWhereGuestRamLies) {
  // Of QEMU 7.2, and with the address that newer ones tell.
  base::Result<std::vector<QmpRamBlock>> blocks = parse_qmp_ram_blocks(
      R"({"return": "  Block Name    PSize   Offset   Used   Total\r\n)"
      R"(     pc.ram    4 KiB  0x05000000 0x0000000010000000 0x10000000\r\n)"
      R"(  /objects/d1  2 MiB  0x0 0x2000000 0x3000000 0x00007f03bc600000 rw)"
      R"(\r\n"})");
  ASSERT_TRUE(blocks) << blocks.error().what;
  ASSERT_EQ(blocks->size(), 2U);
  EXPECT_EQ((*blocks)[0].name, "pc.ram");
  EXPECT_EQ((*blocks)[0].block, (model::RamBlock{0x10000000, std::nullopt}));
  EXPECT_EQ((*blocks)[1].name, "d1");
  EXPECT_EQ((*blocks)[1].block, (model::RamBlock{0x2000000, 0x7f03bc600000}));
  EXPECT_FALSE(parse_qmp_ram_blocks(R"({"return": "no such command\r\n"})"));
  EXPECT_FALSE(parse_qmp_ram_blocks(R"({"return": {}})"));
}

TEST(VmReplies, TellWhereAGuestBegins) {
  base::Result<QmpHostAddress> address = parse_qmp_host_address(
      R"({"return": "Host virtual address for 0x0 (pc.ram) is )"
      R"(0x7f039fe00000\r\n"})");
  ASSERT_TRUE(address) << address.error().what;
  EXPECT_EQ(address->block_name, "pc.ram");
  EXPECT_EQ(address->address, 0x7f039fe00000U);
  for (const char* line :
       {R"({"return": "No memory is mapped at address 0x0\r\n"})",
        R"({"return": ") is 0x1 ("})", R"({"return": "(a) is nowhere"})",
        R"({"return": 7})", R"({"error": {}})"}) {
    EXPECT_FALSE(parse_qmp_host_address(line)) << line;
  }
}

TEST(VmReplies, NameWhatRamIsMadeOf) {
  base::Result<std::vector<std::string>> names = parse_qmp_memory_devices(
      R"({"return": [{"size": 50331648, "id": "d2"}, {"size": 1}]})");
  ASSERT_TRUE(names) << names.error().what;
  EXPECT_EQ(*names, std::vector<std::string>{"d2"});
  EXPECT_FALSE(parse_qmp_memory_devices(R"({"return": {}})"));
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

TEST(VmReplies, OfFirecrackerHaveTheirFiguresAtTheTop) {
  EXPECT_EQ(*parse_firecracker_memory(R"({"mem_size_mib": 3})"), 3U << 20);
  EXPECT_FALSE(parse_firecracker_memory(R"({"fault_message": "no"})"));
  base::Result<BalloonTelling> told = parse_firecracker_stats(
      R"({"actual_pages": 2, "actual_mib": 0, "free_memory": 7, "oom_kill": 1})");
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->balloon_bytes, 8192U);
  EXPECT_EQ(told->stats[GuestField::Free], 7U);
  EXPECT_EQ(told->stats[GuestField::OomKills], 1U);
  EXPECT_FALSE(parse_firecracker_stats(R"({"stats": {}})"));
  EXPECT_EQ(
      parse_firecracker_balloon(R"({"amount_mib": 1, "deflate_on_oom": true})")
          ->deflates_on_oom,
      true);
}

TEST(VmReplies, OfCloudHypervisorTellWhatTheGuestHasLeft) {
  base::Result<CloudVm> vm = parse_cloud_vm(
      R"({"config": {"memory": {"size": 100}, "balloon": {"size": 30,)"
      R"( "free_page_reporting": true}}, "memory_actual_size": 70})");
  ASSERT_TRUE(vm) << vm.error().what;
  EXPECT_TRUE(vm->has_balloon);
  EXPECT_EQ(vm->actual_bytes, 70U);
  EXPECT_EQ(vm->settings.reports_free_pages, true);
  EXPECT_FALSE(vm->settings.deflates_on_oom);
  EXPECT_FALSE(parse_cloud_vm(R"({"config": {"memory": null}})"));
  EXPECT_FALSE(parse_cloud_vm("{}"));
}

TEST(VmReplies, OfVirshHaveOtherNamesForTheSame) {
  base::Result<VirshBalloon> told = parse_virsh_balloon(
      "Domain: 'a'\n  balloon.current=96\n  balloon.maximum=128\n"
      "  balloon.unused=10\n  balloon.available=90\n  balloon.usable=40\n"
      "  balloon.minor_fault=5\n  balloon.last-update=17\n"
      "  balloon.new=word\n");
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->stats[GuestField::Total], 90U * 1024);
  EXPECT_EQ(told->stats[GuestField::Free], 10U * 1024);
  EXPECT_EQ(told->stats[GuestField::Available], 40U * 1024);
  EXPECT_EQ(told->stats[GuestField::MinorFaults], 5U);
  EXPECT_EQ(told->maximum_bytes, 128U * 1024);
  EXPECT_EQ(told->updated_realtime_s, 17U);
  EXPECT_FALSE(parse_virsh_balloon("Domain: 'a'\n"));
  EXPECT_FALSE(parse_virsh_balloon("  balloon.unused=x\n"));
}

}  // namespace
}  // namespace tidemark::parse
