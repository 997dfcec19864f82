#include "base/http_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <cstring>
#include <deque>
#include <list>
#include <optional>

#include "base/fd.h"

namespace tidemark::base {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Protocol = asio::generic::stream_protocol;
using Stream = beast::basic_stream<Protocol, asio::io_context::executor_type>;
using Acceptor =
    asio::basic_socket_acceptor<Protocol, asio::io_context::executor_type>;
using boost::system::error_code;

// Without the port, which is another for each connection.
std::string peer_of(int fd) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);  // NOLINT
  if (::getpeername(fd, plain, &bytes) != 0) return {};
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return {};
  char host[NI_MAXHOST] = {};
  if (::getnameinfo(plain, bytes, host, sizeof host, nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    return {};
  }
  return host;
}

uint16_t port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in plain{};
    std::memcpy(&plain, &address, sizeof plain);
    return ntohs(plain.sin_port);
  }
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 plain{};
    std::memcpy(&plain, &address, sizeof plain);
    return ntohs(plain.sin6_port);
  }
  return 0;
}

}  // namespace

// What all connections share.
struct HttpServer::Shared {
  HttpLimits limits;
  HttpServer::Handler handler;
  std::list<std::weak_ptr<Session>> sessions;  // oldest first

  std::vector<std::shared_ptr<Session>> alive() {
    std::vector<std::shared_ptr<Session>> found;
    for (auto at = sessions.begin(); at != sessions.end();) {
      if (std::shared_ptr<Session> session = at->lock()) {
        found.push_back(std::move(session));
        ++at;
      } else {
        at = sessions.erase(at);
      }
    }
    return found;
  }
};

class HttpServer::Session
    : public std::enable_shared_from_this<HttpServer::Session> {
 public:
  Session(Stream::socket_type socket, std::shared_ptr<Shared> shared)
      : stream_(std::move(socket)),
        shared_(std::move(shared)),
        buffer_(shared_->limits.header_bytes + shared_->limits.body_bytes) {}

  // It waits for a request, or for the rest of one.
  bool is_reading() const { return state_ == State::Reading; }
  bool is_streaming() const { return state_ == State::Streaming; }

  void read() {
    state_ = State::Reading;
    parser_.emplace();
    parser_->header_limit(
        static_cast<std::uint32_t>(shared_->limits.header_bytes));
    parser_->body_limit(shared_->limits.body_bytes);
    stream_.expires_after(shared_->limits.request_time);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code error, size_t) {
                       self->have_read(error);
                     });
  }

  void close() {
    state_ = State::Closed;
    error_code ignored;
    stream_.socket().shutdown(Stream::socket_type::shutdown_both, ignored);
    stream_.close();
  }

  void queue(std::string text) {
    if (state_ != State::Streaming) return;
    queued_bytes_ += text.size();
    if (queued_bytes_ > shared_->limits.queued_bytes) return close();
    queue_.push_back(std::move(text));
    if (queue_.size() == 1) write_next();
  }

 private:
  enum class State { Reading, Answering, Writing, Streaming, Closed };

  void have_read(error_code error) {
    if (state_ == State::Closed) return;
    state_ = State::Answering;
    keeps_alive_ = false;
    const HttpFault fault = fault_of(error);
    if (error && fault == HttpFault::None) return close();
    const auto& message = parser_->get();
    HttpRequest request = request_of(message);
    request.fault = fault;
    request.peer = peer_of(stream_.socket().native_handle());
    keeps_alive_ = fault == HttpFault::None && message.keep_alive();
    is_head_ = message.method() == http::verb::head;
    shared_->handler(request, reply());
  }

  static HttpFault fault_of(error_code error) {
    if (error == http::error::header_limit ||
        error == http::error::buffer_overflow) {
      return HttpFault::TooLong;
    }
    if (error == http::error::body_limit) return HttpFault::HasBody;
    const bool is_nonsense =
        error.category() == make_error_code(http::error::bad_method).category();
    if (is_nonsense && error != http::error::end_of_stream &&
        error != http::error::partial_message) {
      return HttpFault::Nonsense;
    }
    return HttpFault::None;
  }

  static HttpRequest request_of(
      const http::request<http::string_body>& message) {
    HttpRequest request;
    request.method = text_of(message.method_string());
    request.target = text_of(message.target());
    request.host = text_of(message[http::field::host]);
    request.authorization = text_of(message[http::field::authorization]);
    request.cookie = text_of(message[http::field::cookie]);
    request.accept = text_of(message[http::field::accept]);
    return request;
  }

  HttpReply reply() {
    const uint64_t number = ++request_count_;
    HttpReply made;
    // Nothing else holds the connection while an answer is sought.
    made.send = [self = shared_from_this(), number](HttpAnswer answer) {
      asio::post(self->stream_.get_executor(),
                 [self, number, answer = std::move(answer)]() mutable {
                   if (self->waits_for(number)) self->write(std::move(answer));
                 });
    };
    made.stream = [self = shared_from_this(), number](const HttpAnswer& head) {
      if (self->waits_for(number)) self->begin_stream(head);
    };
    return made;
  }

  bool waits_for(uint64_t number) const {
    return state_ == State::Answering && number == request_count_;
  }

  void begin_stream(const HttpAnswer& head) {
    state_ = State::Streaming;
    std::string text = "HTTP/1.1 200 OK\r\nContent-Type: " + head.type +
                       "\r\nConnection: close\r\n";
    for (const auto& [name, value] : head.headers)
      text.append(name).append(": ").append(value).append("\r\n");
    queue(text + "\r\n");
    notice_end();
  }

  static std::string text_of(beast::string_view text) {
    return std::string(text.data(), text.size());
  }

  void write(HttpAnswer answer) {
    state_ = State::Writing;
    response_ = {};
    response_.version(11);
    response_.result(answer.status);
    for (const auto& [name, value] : answer.headers)
      response_.set(name, value);
    response_.set(http::field::content_type, answer.type);
    response_.keep_alive(keeps_alive_);
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    // HEAD tells the length of what it does not send.
    if (is_head_) response_.body().clear();
    stream_.expires_after(shared_->limits.write_time);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](error_code error, size_t) {
                        self->have_written(error);
                      });
  }

  void have_written(error_code error) {
    response_ = {};
    is_head_ = false;
    if (state_ == State::Closed) return;
    if (error) return close();
    if (!keeps_alive_) return linger();
    read();
  }

  // Closing with unread bytes resets the connection, and the client may lose
  // the answer with them. What it still sends is read for a moment.
  void linger() {
    state_ = State::Reading;  // goes first when there are too many
    error_code ignored;
    stream_.socket().shutdown(Stream::socket_type::shutdown_send, ignored);
    stream_.expires_after(shared_->limits.linger_time);
    drain();
  }

  void drain() {
    stream_.async_read_some(
        asio::buffer(ignored_),
        [self = shared_from_this()](error_code error, size_t bytes) {
          self->drained_bytes_ += bytes;
          const bool is_enough =
              self->drained_bytes_ > self->shared_->limits.drained_bytes;
          if (error || is_enough) return self->close();
          self->drain();
        });
  }

  // A stream is read only to notice that its client has gone.
  void notice_end() {
    stream_.expires_never();
    stream_.async_read_some(
        asio::buffer(ignored_),
        [self = shared_from_this()](error_code error, size_t) {
          if (error) {
            self->close();
          } else if (self->is_streaming()) {
            self->notice_end();
          }
        });
  }

  void write_next() {
    stream_.expires_after(shared_->limits.write_time);
    asio::async_write(stream_, asio::buffer(queue_.front()),
                      [self = shared_from_this()](error_code error, size_t) {
                        if (error) return self->close();
                        self->queued_bytes_ -= self->queue_.front().size();
                        self->queue_.pop_front();
                        if (!self->queue_.empty() && self->is_streaming()) {
                          self->write_next();
                        }
                      });
  }

  Stream stream_;
  std::shared_ptr<Shared> shared_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  State state_ = State::Reading;
  bool keeps_alive_ = false;
  bool is_head_ = false;
  uint64_t request_count_ = 0;
  std::deque<std::string> queue_;  // of a stream
  size_t queued_bytes_ = 0;
  char ignored_[4096] = {};
  size_t drained_bytes_ = 0;
};

class HttpServer::Impl {
 public:
  Impl(const HttpLimits& limits, Handler handler)
      : shared_(std::make_shared<Shared>()),
        acceptor_(context_),
        signals_(context_),
        heartbeat_(context_) {
    shared_->limits = limits;
    shared_->handler = std::move(handler);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (!socket_path_.empty()) {
      static_cast<void>(::unlink(socket_path_.c_str()));
    }
  }

  Status listen(const HttpAddress& address) {
    Result<Fd> fd = listening_socket(address);
    if (!fd) return fd.error();
    socket_path_ = address.socket_path;
    sockaddr_storage real{};
    socklen_t bytes = sizeof real;
    auto* plain = reinterpret_cast<sockaddr*>(&real);  // NOLINT
    if (::getsockname(fd->get(), plain, &bytes) != 0) {
      return fail_errno("getsockname", errno);
    }
    port_ = port_of(real);
    const int protocol = real.ss_family == AF_UNIX ? 0 : IPPROTO_TCP;
    acceptor_.assign(Protocol(real.ss_family, protocol), fd->release());
    return Ok{};
  }

  int run() {
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
      signals_.add(number);
    int caught = 0;
    signals_.async_wait([this, &caught](error_code error, int number) {
      if (error) return;
      caught = number;
      context_.stop();
    });
    accept();
    beat();
    context_.run();
    for (const std::shared_ptr<Session>& session : shared_->alive())
      session->close();
    return caught;
  }

  void stop() { context_.stop(); }

  void every(std::chrono::milliseconds period, std::function<void()> work) {
    auto timer = std::make_shared<asio::steady_timer>(context_);
    again(timer, period,
          std::make_shared<std::function<void()>>(std::move(work)));
  }

  void publish(const std::string& text) {
    for (const std::shared_ptr<Session>& session : shared_->alive()) {
      if (session->is_streaming()) session->queue(text);
    }
  }

  size_t stream_count() {
    size_t count = 0;
    for (const std::shared_ptr<Session>& session : shared_->alive())
      count += session->is_streaming() ? 1 : 0;
    return count;
  }

  uint16_t port() const { return port_; }

 private:
  using Work = std::shared_ptr<std::function<void()>>;
  void again(const std::shared_ptr<asio::steady_timer>& timer,
             std::chrono::milliseconds period, const Work& work) {
    timer->expires_after(period);
    timer->async_wait([this, timer, period, work](error_code error) {
      if (error) return;
      (*work)();
      again(timer, period, work);
    });
  }

  // Also what tells a stream that its client has gone without a word.
  void beat() {
    every(shared_->limits.heartbeat, [this] { publish(":\n\n"); });
  }

  void accept() {
    acceptor_.async_accept(
        [this](error_code error, Stream::socket_type socket) {
          if (!error) take(std::move(socket));
          // Out of descriptors: those we have must end first.
          if (error) return wait_and_accept();
          accept();
        });
  }

  void wait_and_accept() {
    heartbeat_.expires_after(std::chrono::milliseconds(100));
    heartbeat_.async_wait([this](error_code error) {
      if (!error) accept();
    });
  }

  // The one that has kept us waiting longest goes when there are too many: slow
  // clients cannot lock the others out.
  bool make_place() {
    std::vector<std::shared_ptr<Session>> all = shared_->alive();
    if (all.size() < shared_->limits.connection_count) return true;
    for (const std::shared_ptr<Session>& session : all) {
      if (!session->is_reading()) continue;
      session->close();
      return true;
    }
    return false;
  }

  void take(Stream::socket_type socket) {
    if (!make_place()) return;  // closes it
    const int one = 1;
    static_cast<void>(::setsockopt(socket.native_handle(), IPPROTO_TCP,
                                   TCP_NODELAY, &one, sizeof one));
    auto session = std::make_shared<Session>(std::move(socket), shared_);
    shared_->sessions.push_back(session);
    session->read();
  }

  asio::io_context context_{1};
  std::shared_ptr<Shared> shared_;
  Acceptor acceptor_;
  asio::signal_set signals_;
  asio::steady_timer heartbeat_;
  std::string socket_path_;
  uint16_t port_ = 0;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::listen(
    const HttpAddress& address, const HttpLimits& limits, Handler handler) {
  auto impl = std::make_unique<Impl>(limits, std::move(handler));
  Status status = impl->listen(address);
  if (!status) return status.error();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

uint16_t HttpServer::port() const {
  return impl_->port();
}
size_t HttpServer::stream_count() const {
  return impl_->stream_count();
}
int HttpServer::run() {
  return impl_->run();
}
void HttpServer::stop() {
  impl_->stop();
}
void HttpServer::every(std::chrono::milliseconds period,
                       std::function<void()> work) {
  impl_->every(period, std::move(work));
}
void HttpServer::publish(std::string_view event, std::string_view data) {
  std::string text = "event: ";
  text.append(event).append("\ndata: ").append(data).append("\n\n");
  impl_->publish(text);
}

}  // namespace tidemark::base
