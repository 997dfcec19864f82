// A client of a unix socket that never waits longer than it is told to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"

namespace tidemark::base {

enum class SocketType : uint8_t { Stream, Packets };

// Times are of monotonic_ns(). What is not done by then is Gone, an end of the
// other side is Closed.
class UnixSocket {
 public:
  // The path is opened below the directory and the socket reached through that
  // descriptor, so neither the 108 bytes of sun_path nor another mount
  // namespace are in the way. A path that begins with a slash is one as seen by
  // whoever has the directory for a root: its links do not lead out of it. A
  // full queue of the listener is Gone at once.
  static Result<UnixSocket> connect_at(const Directory& directory,
                                       const std::string& path,
                                       SocketType type);

  // A stream that is connected already and does not block, of whatever family:
  // what is said and heard on it is the same.
  static UnixSocket over(Fd stream, std::string name) {
    return {std::move(stream), std::move(name)};
  }

  Status send(std::string_view bytes, uint64_t until_ns);

  // Of a stream: up to the next newline, without it. Refuses lines longer than
  // a mebibyte.
  Result<std::string> receive_line(uint64_t until_ns);
  // Of a stream: what has come, at least a byte.
  Result<std::string> receive_some(uint64_t until_ns);
  // Of packets: the next one, up to 64 KiB.
  Result<std::string> receive_packet(uint64_t until_ns);

 private:
  UnixSocket(Fd fd, std::string name)
      : fd_(std::move(fd)), name_(std::move(name)) {}
  Status wait(short events, uint64_t until_ns) const;
  // At least one byte more in `pending_`.
  Status receive_more(uint64_t until_ns);

  Fd fd_;
  std::string name_;
  std::string pending_;
};

}  // namespace tidemark::base
