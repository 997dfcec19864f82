// Netlink datagrams as the kernel builds them, part by part.
#pragma once

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tidemark::test {

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

inline std::string message(uint16_t type, std::string_view body) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<uint32_t>(sizeof header + body.size());
  header.nlmsg_type = type;
  return padded(bytes_of(header) + std::string(body));
}

inline std::string attribute(uint16_t type, std::string_view body) {
  nlattr header{};
  header.nla_len = static_cast<uint16_t>(sizeof header + body.size());
  header.nla_type = type;
  return padded(bytes_of(header) + std::string(body));
}

// A message of the proc connector. `what` is one of PROC_EVENT_*.
inline std::string process_event(uint32_t what, proc_event event,
                                 uint32_t ack = 0) {
  std::memcpy(&event.what, &what, sizeof what);
  const uint32_t index = CN_IDX_PROC;
  const uint32_t value = CN_VAL_PROC;
  const uint32_t sequence = 77;
  const uint16_t length = sizeof event;
  const uint16_t flags = 0;
  return message(NLMSG_DONE, bytes_of(index) + bytes_of(value) +
                                 bytes_of(sequence) + bytes_of(ack) +
                                 bytes_of(length) + bytes_of(flags) +
                                 bytes_of(event));
}

inline std::string generic_message(uint16_t family_id, uint8_t command,
                                   std::string_view attributes) {
  genlmsghdr head{};
  head.cmd = command;
  head.version = 1;
  return message(family_id, bytes_of(head) + std::string(attributes));
}

// A thread and its struct, which may be shorter or longer than ours.
inline std::string thread_record(uint32_t thread_id, std::string_view stats) {
  return attribute(TASKSTATS_TYPE_AGGR_PID | NLA_F_NESTED,
                   attribute(TASKSTATS_TYPE_PID, bytes_of(thread_id)) +
                       attribute(TASKSTATS_TYPE_STATS, stats));
}

inline std::string group_record(uint32_t pid, std::string_view stats) {
  return attribute(TASKSTATS_TYPE_AGGR_TGID,
                   attribute(TASKSTATS_TYPE_TGID, bytes_of(pid)) +
                       attribute(TASKSTATS_TYPE_STATS, stats));
}

}  // namespace tidemark::test
