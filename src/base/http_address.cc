#include "base/http_address.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/text.h"

namespace tidemark::base {
namespace {

namespace ip = boost::asio::ip;
using boost::system::error_code;

Result<Fd> bound(int family, const sockaddr* address, socklen_t bytes,
                 const std::string& name) {
  Fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno(name, errno);
  const int one = 1;
  if (family != AF_UNIX) {
    static_cast<void>(
        ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one));
  }
  if (::bind(fd.get(), address, bytes) != 0 || ::listen(fd.get(), 128) != 0) {
    return fail_errno("cannot listen on " + name, errno);
  }
  return fd;
}

Result<Fd> bound_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(ErrorKind::Misused, "the path of a socket may have 107 bytes",
                path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto* plain = reinterpret_cast<const sockaddr*>(&address);  // NOLINT
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) {
    Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (probe && ::connect(probe.get(), plain, sizeof address) == 0) {
      return fail(ErrorKind::Misused, path + ": another server answers there");
    }
    static_cast<void>(::unlink(path.c_str()));
  }
  // Others may not even connect, whatever the umask is.
  const mode_t mask = ::umask(0177);
  Result<Fd> fd = bound(AF_UNIX, plain, sizeof address, path);
  ::umask(mask);
  return fd;
}

}  // namespace

bool HttpAddress::is_loopback() const {
  if (host.empty()) return true;
  error_code error;
  const ip::address address = ip::make_address(host, error);
  return !error && address.is_loopback();
}

Result<HttpAddress> parse_http_address(std::string_view text) {
  const auto refuse = [&] {
    return fail(ErrorKind::Misused,
                "'" + std::string(text) + "' is no address to listen on",
                "127.0.0.1:8080, [::1]:8080, or unix:/run/tidemark.sock");
  };
  HttpAddress address;
  if (text.starts_with("unix:")) {
    address.socket_path = text.substr(5);
    if (address.socket_path.empty()) return refuse();
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse();
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return refuse();
  }
  if (host == "localhost") host = "127.0.0.1";
  const std::optional<uint64_t> port = parse_u64(text.substr(colon + 1));
  error_code error;
  address.host = host;
  ip::make_address(address.host, error);
  if (error || !port || *port > 65'535) return refuse();
  address.port = static_cast<uint16_t>(*port);
  return address;
}

Result<Fd> listening_socket(const HttpAddress& address) {
  if (address.host.empty()) return bound_unix(address.socket_path);
  error_code error;
  const ip::tcp::endpoint endpoint(ip::make_address(address.host, error),
                                   address.port);
  if (error) return fail(ErrorKind::Misused, address.host + ": no address");
  return bound(endpoint.protocol().family(), endpoint.data(),
               static_cast<socklen_t>(endpoint.size()),
               address.host + ":" + std::to_string(address.port));
}

}  // namespace tidemark::base
