// What a monitor, or whoever sits on its socket, answers: read or refused,
// never a throw. The first byte chooses who is spoken to.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parse/vm_arguments.h"
#include "parse/vm_replies.h"

namespace {

namespace parse = tidemark::parse;

template <typename T>
void check(const tidemark::base::Result<T>& result) {
  if (!result && result.error().what.empty()) std::abort();
}

void read_replies(const std::string& text) {
  check(parse::parse_qmp_head(text));
  check(parse::parse_qmp_balloon(text));
  check(parse::parse_qmp_memory_size(text));
  check(parse::parse_qmp_balloon_names(text));
  check(parse::parse_qmp_memory_devices(text));
  check(parse::parse_qmp_ram_blocks(text));
  check(parse::parse_qmp_host_address(text));
  check(parse::parse_qmp_flag(text));
  check(parse::parse_qmp_number(text));
  check(parse::parse_qmp_guest_stats(text));
  check(parse::parse_crosvm_balloon(text));
  check(parse::parse_firecracker_memory(text));
  check(parse::parse_firecracker_balloon(text));
  check(parse::parse_firecracker_stats(text));
  check(parse::parse_cloud_stats(text));
  check(parse::parse_cloud_vm(text));
  check(parse::parse_virsh_balloon(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(data + 1, data + size);
  constexpr uint8_t kKindCount = 5;
  const uint8_t kind = data[0] % (kKindCount + 1);
  if (kind == kKindCount) {
    read_replies(text);
  } else {
    parse::parse_vm_arguments(static_cast<tidemark::model::VmKind>(kind), text);
  }
  return 0;
}
