// Probes on tables of the kernel that a plain read does not settle.
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "source/mount_points.h"
#include "source/probe_parts.h"

namespace tidemark::source {
namespace {

using model::Capability;

std::optional<uint64_t> leading_address(std::string_view line) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  return base::parse_hex(line.substr(0, line.find_first_of(" -")));
}

}  // namespace

// Three answers look alike at first sight: real addresses, zeros for readers
// without cap_syslog, and hashes that stand in no order, which the kernel
// gives to everyone while kptr_restrict is 0.
Capability probe_vmalloc_addresses(const ProbeContext& context,
                                   const Question& question) {
  base::Result<std::string> start =
      read_start_at(context.roots.proc, "vmallocinfo");
  if (!start) return failed(question, start.error());
  const std::optional<uint64_t> address = leading_address(*start);
  if (!address) return not_tried(question, "vmallocinfo is empty");
  // Kernel addresses are in the upper half; a hash has 32 bits.
  constexpr uint64_t kUpperHalf = uint64_t{1} << 63;
  if (*address >= kUpperHalf) return works(question, "real addresses");
  if (*address == 0) return denied(question, "addresses read as 0");
  Capability row = denied(question, "addresses are hashed: kptr_restrict is 0");
  row.grant = "sudo sysctl kernel.kptr_restrict=1";
  return row;
}

// Readable for everyone; who may not know the addresses gets zeros.
Capability probe_kernel_symbols(const ProbeContext& context,
                                const Question& question) {
  // Per-CPU symbols at the start may be 0 in truth, but not a page of them.
  base::Result<std::string> start =
      read_start_at(context.roots.proc, "kallsyms", 4096);
  if (!start) return failed(question, start.error());
  std::string_view rest = *start;
  while (!rest.empty()) {
    if (leading_address(base::take_line(rest)).value_or(0) != 0) {
      return works(question, context.roots.proc.join("kallsyms"));
    }
  }
  return denied(question, "kallsyms opens, addresses read as 0");
}

Capability probe_page_owner(const ProbeContext& context,
                            const Question& question) {
  const std::optional<std::string> place =
      mount_point_of(context.roots, "debugfs");
  if (!place) {
    Capability row = not_tried(question, "debugfs is not mounted");
    row.grant = "sudo mount -t debugfs debugfs /sys/kernel/debug";
    return row;
  }
  base::Result<base::Directory> debugfs = base::open_directory(*place);
  if (!debugfs) return failed(question, debugfs.error());
  base::Result<base::Fd> file = base::open_file_at(*debugfs, "page_owner");
  if (!file) return failed(question, file.error());
  return works(question, debugfs->join("page_owner"));
}

// Joins the group and leaves. Asking for events is not tried: kernels before
// 6.6 keep counting a listener that closes its socket.
Capability probe_process_events(const ProbeContext&, const Question& question) {
  const std::string what = "bind to the process events connector";
  base::Fd socket(
      ::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR));
  if (!socket) return failed_errno(question, what, errno);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = CN_IDX_PROC;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address),
             sizeof(address)) != 0) {
    return failed_errno(question, what, errno);
  }
  return works(question, what);
}

}  // namespace tidemark::source
