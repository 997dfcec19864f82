// Answers HTTP/1.1 on a loopback port or a unix socket: small requests, answers
// from memory, and streams of events that stay open. One thread does all of it;
// whoever asks too much, too slowly or too often loses the connection and
// nobody else does.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tidemark::base {

struct HttpRequest {
  std::string method;
  std::string target;  // path and query, as sent
  std::string host;
  std::string authorization;
  std::string cookie;
};

struct HttpAnswer {
  unsigned status = 200;
  std::string type;  // of the body: "application/json"
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

struct HttpLimits {
  size_t header_bytes = 16 << 10;
  size_t body_bytes = 1 << 10;  // of a request: nothing here reads one
  size_t connection_count = 64;
  size_t stream_count = 16;
  size_t queued_bytes = 256 << 10;  // of one stream, before it is given up
  std::chrono::milliseconds request_time{10'000};  // from first to last byte
  std::chrono::milliseconds write_time{120'000};   // for a whole answer
  std::chrono::milliseconds heartbeat{15'000};     // of a silent stream
};

// Where to listen: "127.0.0.1:8080", "[::1]:0" (any free port), "unix:/PATH".
struct HttpAddress {
  std::string host;  // empty for a unix socket
  uint16_t port = 0;
  std::string socket_path;

  bool is_loopback() const;
};
// Misused for what is neither.
Result<HttpAddress> parse_http_address(std::string_view text);

// To one request, once: later calls and those after the end of the connection
// do nothing. Whoever drops it unused closes the connection. Not to be used,
// nor kept, beyond the server.
struct HttpReply {
  std::function<void(HttpAnswer)> send;  // from any thread
  // Leaves the connection open for what publish() says from now on. Only on
  // the thread of run().
  std::function<void(HttpAnswer head)> stream;
};

class HttpServer {
 public:
  // Called on the thread of run(), and must not take long there.
  using Handler = std::function<void(const HttpRequest&, const HttpReply&)>;

  static Result<std::unique_ptr<HttpServer>> listen(const HttpAddress& address,
                                                    const HttpLimits& limits,
                                                    Handler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  uint16_t port() const;  // 0 for a unix socket
  size_t stream_count() const;

  // Until stop(), or SIGINT, SIGTERM, SIGHUP or SIGQUIT. The number of the
  // signal, or 0.
  int run();
  void stop();  // from any thread

  // From here on, while it runs.
  void every(std::chrono::milliseconds period, std::function<void()> work);
  // To every open stream; only on the thread of run(). Both without line ends.
  void publish(std::string_view event, std::string_view data);

 private:
  class Session;
  struct Shared;
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::base
