// Parses what monitors answer about their guests: QEMU's QMP and crosvm's
// control socket. Unknown members are skipped; a statistic that the guest does
// not send stays empty, whichever way its monitor writes that (null, absent,
// the largest number, -1). An answer of another shape is an error: it comes
// from a socket somebody else may have put there.
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

}  // namespace tidemark::parse
