// Datagrams of the kernel: every parser reads every one. Nothing but a crash is
// wrong, save that names end at their NUL and high marks are whole KiB.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "parse/netlink_events.h"

namespace {

bool is_name(const std::string& comm) {
  return comm.size() <= 32 && comm.find('\0') == std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace)
  // A copy of that size, so that a byte too far is seen.
  const std::string datagram(data, data + size);
  base::Result<std::vector<parse::ProcessEvent>> events =
      parse::parse_process_events(datagram);
  if (events) {
    for (const parse::ProcessEvent& event : *events) {
      if (!is_name(event.comm)) std::abort();
    }
  }
  // The type of the first message, as if its family had that number.
  uint16_t family_id = 0;
  if (size >= 6) std::memcpy(&family_id, data + 4, sizeof family_id);
  base::Result<std::vector<parse::ExitRecord>> records =
      parse::parse_exit_records(datagram, family_id);
  if (records) {
    for (const parse::ExitRecord& record : *records) {
      if (!is_name(record.comm)) std::abort();
      if (record.hiwater_rss_bytes.value_or(0) % 1024 != 0) std::abort();
    }
  }
  (void)parse::parse_family_id(datagram, "TASKSTATS");
  (void)parse::parse_acknowledgement(datagram);
  return 0;
}
