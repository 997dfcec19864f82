// Asks over HTTP/1.1 on a socket that is connected already.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/http_server.h"
#include "base/result.h"
#include "base/unix_socket.h"

namespace tidemark::base {

// The whole answer, whatever its status; of its head only that and the type.
// Refuses what is no HTTP and a body of more than a mebibyte. Gone when the
// time is over. The connection stays open for the next question, unless the
// other side closes it.
Result<HttpAnswer> http_get(UnixSocket& socket, const std::string& target,
                            uint64_t until_ns);

// The same for a request of any kind, as it goes over the wire.
Result<HttpAnswer> http_exchange(UnixSocket& socket, std::string_view request,
                                 uint64_t until_ns);

}  // namespace tidemark::base
