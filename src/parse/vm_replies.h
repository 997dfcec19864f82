// Parses what monitors answer about their guests: QEMU's QMP, crosvm's control
// socket, the HTTP of Firecracker and Cloud Hypervisor, virsh. Unknown members
// are skipped; a statistic that the guest does not send stays empty, whichever
// way its monitor writes that (null, absent, the largest number, -1). An answer
// of another shape is an error: it comes from a socket somebody else may have
// put there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/vm.h"

namespace tidemark::parse {

enum class QmpMessage : uint8_t { Greeting, Event, Return, Error };

struct QmpHead {
  QmpMessage message = QmpMessage::Event;
  std::string error_class;  // of Error: "DeviceNotActive"
  std::string description;
};
base::Result<QmpHead> parse_qmp_head(std::string_view line);

// {"return": {"actual": N}}: RAM minus balloon.
base::Result<uint64_t> parse_qmp_balloon(std::string_view line);

// Base and plugged memory together.
base::Result<uint64_t> parse_qmp_memory_size(std::string_view line);

// Names in the answer to qom-list whose type is a balloon's.
base::Result<std::vector<std::string>> parse_qmp_balloon_names(
    std::string_view line);

// Ids in the answer to query-memdev: what guest RAM is made of, the usual
// RAM too since QEMU 5.0.
base::Result<std::vector<std::string>> parse_qmp_memory_devices(
    std::string_view line);

// A row of `info ramblock`, a table for people: everything of QEMU's that a
// guest can address, firmware too.
struct QmpRamBlock {
  std::string name;
  model::RamBlock block;  // its address is told since QEMU 8
};
base::Result<std::vector<QmpRamBlock>> parse_qmp_ram_blocks(
    std::string_view line);

// "Host virtual address for 0x0 (pc.ram) is 0x7f…", which answers `gpa2hva 0`.
struct QmpHostAddress {
  std::string block_name;
  uint64_t address = 0;
};
base::Result<QmpHostAddress> parse_qmp_host_address(std::string_view line);

base::Result<bool> parse_qmp_flag(std::string_view line);
base::Result<uint64_t> parse_qmp_number(std::string_view line);

struct QmpGuestStats {
  model::GuestStats stats;
  uint64_t updated_realtime_s = 0;  // 0: never
};
base::Result<QmpGuestStats> parse_qmp_guest_stats(std::string_view line);

// The answer to {"BalloonCommand":"Stats"}. crosvm says {"Err":107} where the
// guest has no driver and {"Err":95} where the VM has no balloon.
struct CrosvmBalloon {
  std::optional<int64_t> error_number;
  std::string error_text;  // of {"ErrString": "…"}
  model::GuestStats stats;
  uint64_t balloon_bytes = 0;
  bool is_error() const { return error_number || !error_text.empty(); }
};
base::Result<CrosvmBalloon> parse_crosvm_balloon(std::string_view packet);

// Firecracker's GET /machine-config: mem_size_mib, in bytes.
base::Result<uint64_t> parse_firecracker_memory(std::string_view body);

// What a VM's balloon is set to. Firecracker's GET /balloon; of Cloud
// Hypervisor a part of /vm.info.
struct BalloonSettings {
  std::optional<bool> deflates_on_oom;
  std::optional<bool> reports_free_pages;
  std::optional<uint64_t> polling_interval_s;
};
base::Result<BalloonSettings> parse_firecracker_balloon(std::string_view body);

struct BalloonTelling {
  model::GuestStats stats;
  uint64_t balloon_bytes = 0;
};
// GET /balloon/statistics: figures at the top level, the balloon in pages of
// 4 KiB.
base::Result<BalloonTelling> parse_firecracker_stats(std::string_view body);
// GET /api/v1/vm.balloon-stats, figures at the top level or in "stats".
base::Result<BalloonTelling> parse_cloud_stats(std::string_view body);

// GET /api/v1/vm.info.
struct CloudVm {
  uint64_t configured_bytes = 0;
  bool has_balloon = false;
  BalloonSettings settings;
  // What the guest has now: configured - balloon + what was plugged in.
  std::optional<uint64_t> actual_bytes;
};
base::Result<CloudVm> parse_cloud_vm(std::string_view body);

// `virsh domstats --balloon` of one domain: "  balloon.unused=1234", in KiB.
// There "available" is the guest's total, "unused" what is free and "usable"
// what Linux calls available.
struct VirshBalloon {
  model::GuestStats stats;
  std::optional<uint64_t> maximum_bytes;
  std::optional<uint64_t> current_bytes;  // maximum - balloon
  std::optional<uint64_t> updated_realtime_s;
};
base::Result<VirshBalloon> parse_virsh_balloon(std::string_view text);

}  // namespace tidemark::parse
