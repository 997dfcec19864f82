#include "base/http_push.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/fd.h"
#include "base/http_client.h"
#include "base/text.h"
#include "base/unix_socket.h"

namespace tidemark::base {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> find_addresses(const PushTarget& target) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(),
                    &wanted, &found);
  if (code != 0) {
    return fail(ErrorKind::NotFound, target.host + ": " + gai_strerror(code));
  }
  return Addresses(found);
}

Result<Fd> connect_to(const addrinfo& address, const std::string& name,
                      uint64_t until_ns) {
  constexpr uint64_t kNsPerMs = 1'000'000;
  Fd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                 0));
  if (!fd) return fail_errno(name, errno);
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0) return fd;
  if (errno != EINPROGRESS) return fail_errno(name, errno);
  const uint64_t now = monotonic_ns();
  pollfd waited{fd.get(), POLLOUT, 0};
  const uint64_t left_ms = until_ns > now ? (until_ns - now) / kNsPerMs : 0;
  if (::poll(&waited, 1, static_cast<int>(left_ms)) <= 0) {
    return fail(ErrorKind::Gone, name + ": no connection in time");
  }
  int error = 0;
  socklen_t bytes = sizeof error;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) {
    return fail_errno(name, errno);
  }
  if (error != 0) return fail_errno(name, error);
  return fd;
}

Result<UnixSocket> connect_target(const PushTarget& target, uint64_t until_ns) {
  Result<Addresses> addresses = find_addresses(target);
  if (!addresses) return addresses.error();
  const std::string name = target.authority();
  Error last = fail(ErrorKind::NotFound, name + ": no address");
  for (const addrinfo* one = addresses->get(); one != nullptr;
       one = one->ai_next) {
    Result<Fd> fd = connect_to(*one, name, until_ns);
    if (fd) return UnixSocket::over(std::move(*fd), name);
    last = fd.error();
  }
  return last;
}

bool is_clean(std::string_view text) {
  for (char letter : text) {
    if (letter <= ' ' || letter == '\x7f') return false;
  }
  return true;
}

}  // namespace

std::string PushTarget::authority() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<PushTarget> parse_push_target(std::string_view url) {
  const auto refuse = [&](const char* hint) {
    return fail(ErrorKind::Misused,
                "'" + std::string(url) + "' is no URL to push to", hint);
  };
  constexpr const char* kExample = "http://127.0.0.1:8428/api/v1/write";
  if (url.starts_with("https://")) {
    return refuse("https is not spoken; push to an agent on this machine");
  }
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme) || !is_clean(url)) return refuse(kExample);
  std::string_view rest = url.substr(kScheme.size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  PushTarget target;
  if (slash < rest.size()) target.path = rest.substr(slash);
  const size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && !authority.ends_with(']')) {
    const std::optional<uint64_t> port = parse_u64(authority.substr(colon + 1));
    if (!port || *port == 0 || *port > 65'535) return refuse(kExample);
    target.port = static_cast<uint16_t>(*port);
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with('[') && authority.ends_with(']')) {
    authority = authority.substr(1, authority.size() - 2);
  }
  if (authority.empty() || authority.find('@') != std::string_view::npos) {
    return refuse(kExample);
  }
  target.host = authority;
  return target;
}

Result<HttpAnswer> http_post(
    const PushTarget& target,
    const std::vector<std::pair<std::string, std::string>>& headers,
    std::string_view body, uint64_t until_ns) {
  Result<UnixSocket> socket = connect_target(target, until_ns);
  if (!socket) return socket.error();
  std::string request = "POST " + target.path +
                        " HTTP/1.1\r\nHost: " + target.authority() +
                        "\r\nConnection: close\r\n";
  for (const auto& [name, value] : headers)
    request.append(name).append(": ").append(value).append("\r\n");
  request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  request += body;
  return http_exchange(*socket, request, until_ns);
}

}  // namespace tidemark::base
