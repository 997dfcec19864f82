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

#include "base/http_address.h"
#include "base/result.h"

namespace tidemark::base {

// What keeps a request from being one. It is answered all the same, so that all
// refusals have one form; then the connection ends.
enum class HttpFault : uint8_t {
  None,
  TooLong,   // only a part of it was read
  HasBody,   // longer than `body_bytes`, and unread
  Nonsense,  // no HTTP
};

struct HttpRequest {
  HttpFault fault = HttpFault::None;
  std::string method;
  std::string target;  // path and query, as sent
  std::string host;
  std::string authorization;
  std::string cookie;
  std::string accept;
  std::string peer;  // the address of who asks; empty on a unix socket
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
  std::chrono::milliseconds linger_time{1'000};    // after a last answer
  size_t drained_bytes = 1 << 20;                  // and what is read in it
  std::chrono::milliseconds heartbeat{15'000};     // of a silent stream
};

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
