#include "base/unix_socket.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/clock.h"

namespace tidemark::base {
namespace {

constexpr size_t kMostPacketBytes = 64 << 10;
constexpr size_t kMostLineBytes = 1 << 20;

int open_in_root(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  return static_cast<int>(
      ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

}  // namespace

Result<UnixSocket> UnixSocket::connect_at(const Directory& directory,
                                          const std::string& path,
                                          SocketType type) {
  const bool is_rooted = path.starts_with('/');
  const std::string name = is_rooted && directory.path == "/"
                               ? path
                               : directory.join(path.substr(is_rooted ? 1 : 0));
  const Fd target(is_rooted ? open_in_root(directory.fd.get(), path)
                            : ::openat(directory.fd.get(), path.c_str(),
                                       O_PATH | O_CLOEXEC));
  if (!target) return fail_errno(name, errno);
  const int kind = type == SocketType::Stream ? SOCK_STREAM : SOCK_SEQPACKET;
  Fd fd(::socket(AF_UNIX, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail_errno("socket", errno);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string link = "/proc/self/fd/" + std::to_string(target.get());
  std::copy(link.begin(), link.end(), address.sun_path);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address),
                sizeof address) != 0) {
    if (errno == EAGAIN) {
      return fail(ErrorKind::Gone, name + ": its queue of clients is full");
    }
    return fail_errno(name, errno);
  }
  return UnixSocket(std::move(fd), name);
}

Status UnixSocket::wait(short events, uint64_t until_ns) const {
  constexpr uint64_t kNsPerMs = 1'000'000;
  while (true) {
    const uint64_t now = monotonic_ns();
    const uint64_t left_ms =
        until_ns > now ? (until_ns - now + kNsPerMs - 1) / kNsPerMs : 0;
    pollfd waited{fd_.get(), events, 0};
    const int ready = ::poll(&waited, 1,
                             static_cast<int>(std::min<uint64_t>(
                                 left_ms, static_cast<uint64_t>(INT_MAX))));
    if (ready > 0) return Ok{};
    if (ready < 0 && errno != EINTR) return fail_errno(name_, errno);
    if (ready == 0 && monotonic_ns() >= until_ns) {
      return fail(ErrorKind::Gone, name_ + ": no answer in time");
    }
  }
}

Status UnixSocket::send(std::string_view bytes, uint64_t until_ns) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return fail_errno(name_, errno);
    Status ready = wait(POLLOUT, until_ns);
    if (!ready) return ready;
  }
  return Ok{};
}

Status UnixSocket::receive_more(uint64_t until_ns) {
  std::array<char, kMostPacketBytes> piece;  // not cleared
  while (true) {
    Status ready = wait(POLLIN, until_ns);
    if (!ready) return ready;
    const ssize_t got = ::recv(fd_.get(), piece.data(), piece.size(), 0);
    if (got > 0) {
      pending_.append(piece.data(), static_cast<size_t>(got));
      return Ok{};
    }
    if (got == 0) {
      return fail(ErrorKind::Closed, name_ + ": the other side hung up");
    }
    if (errno == ECONNRESET) {
      return fail(ErrorKind::Closed, name_ + ": the other side hung up");
    }
    if (errno != EAGAIN && errno != EINTR) return fail_errno(name_, errno);
  }
}

Result<std::string> UnixSocket::receive_line(uint64_t until_ns) {
  size_t searched = 0;
  while (true) {
    const size_t end = pending_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    searched = pending_.size();
    if (searched > kMostLineBytes) {
      return fail(ErrorKind::Malformed, name_ + ": a line without an end");
    }
    Status more = receive_more(until_ns);
    if (!more) return more.error();
  }
}

Result<std::string> UnixSocket::receive_some(uint64_t until_ns) {
  if (pending_.empty()) {
    Status more = receive_more(until_ns);
    if (!more) return more.error();
  }
  return std::exchange(pending_, {});
}

Result<std::string> UnixSocket::receive_packet(uint64_t until_ns) {
  pending_.clear();
  Status more = receive_more(until_ns);
  if (!more) return more.error();
  return std::exchange(pending_, {});
}

}  // namespace tidemark::base
