// The nested parts every netlink datagram is made of. Private to the parsers of
// what they carry.
#pragma once

#include <linux/netlink.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parse/bytes.h"

namespace tidemark::parse {

// A message or an attribute: both are a header with length and type, a body,
// and padding to four bytes that the last one may lack.
struct NetlinkPart {
  uint16_t type = 0;
  std::string_view body;
};

template <typename Header>
std::optional<NetlinkPart> take_netlink_part(std::string_view& rest,
                                             size_t length, uint16_t type) {
  if (length < sizeof(Header) || length > rest.size()) return std::nullopt;
  const std::string_view body =
      rest.substr(sizeof(Header), length - sizeof(Header));
  const size_t padded = (length + 3) / 4 * 4;
  rest.remove_prefix(std::min(padded, rest.size()));
  return NetlinkPart{type, body};
}

// Takes the next message from the front of a datagram. Empty when its header
// claims more bytes than there are, or fewer than itself.
inline std::optional<NetlinkPart> take_message(std::string_view& rest) {
  const std::optional<nlmsghdr> header = read_at<nlmsghdr>(rest, 0);
  if (!header) return std::nullopt;
  return take_netlink_part<nlmsghdr>(rest, header->nlmsg_len,
                                     header->nlmsg_type);
}

inline std::optional<NetlinkPart> take_attribute(std::string_view& rest) {
  const std::optional<nlattr> header = read_at<nlattr>(rest, 0);
  if (!header) return std::nullopt;
  // The upper bits are flags: nested, byte order.
  const auto type = static_cast<uint16_t>(header->nla_type & NLA_TYPE_MASK);
  return take_netlink_part<nlattr>(rest, header->nla_len, type);
}

// Names are padded with NUL; one without is as long as its field.
inline std::string text_at(std::string_view bytes, size_t offset, size_t size) {
  if (offset >= bytes.size()) return {};
  const std::string_view field = bytes.substr(offset, size);
  return std::string(field.substr(0, field.find('\0')));
}

}  // namespace tidemark::parse
