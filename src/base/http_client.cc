#include "base/http_client.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string_view>

namespace tidemark::base {
namespace {

namespace http = boost::beast::http;
using Parser = http::response_parser<http::string_body>;

Error no_http(const boost::system::error_code& error) {
  return fail(ErrorKind::Malformed, "no HTTP answer: " + error.message());
}

// How much of the text it took: a head is taken when it is whole.
Result<size_t> feed(Parser& parser, std::string_view text) {
  boost::system::error_code error;
  const size_t taken =
      parser.put(boost::asio::buffer(text.data(), text.size()), error);
  if (error && error != http::error::need_more) return no_http(error);
  return taken;
}

// A body without a length ends with the connection.
Status feed_end(Parser& parser) {
  boost::system::error_code error;
  parser.put_eof(error);
  if (error) return no_http(error);
  return Ok{};
}

Status read_answer(UnixSocket& socket, Parser& parser, uint64_t until_ns) {
  std::string rest;
  while (!parser.is_done()) {
    Result<std::string> piece = socket.receive_some(until_ns);
    if (!piece) {
      const bool has_ended = piece.error().kind == ErrorKind::Closed;
      if (!has_ended || !parser.got_some()) return piece.error();
      return feed_end(parser);
    }
    rest += *piece;
    while (!rest.empty() && !parser.is_done()) {
      Result<size_t> taken = feed(parser, rest);
      if (!taken) return taken.error();
      if (*taken == 0) break;
      rest.erase(0, *taken);
    }
  }
  return Ok{};
}

}  // namespace

Result<HttpAnswer> http_get(UnixSocket& socket, const std::string& target,
                            uint64_t until_ns) {
  return http_exchange(socket,
                       "GET " + target +
                           " HTTP/1.1\r\nHost: localhost\r\n"
                           "Accept: application/json\r\n\r\n",
                       until_ns);
}

Result<HttpAnswer> http_exchange(UnixSocket& socket, std::string_view request,
                                 uint64_t until_ns) {
  Status sent = socket.send(request, until_ns);
  if (!sent) return sent.error();
  constexpr uint64_t kMostBodyBytes = 1 << 20;
  constexpr uint32_t kMostHeadBytes = 16 << 10;
  Parser parser;
  parser.eager(true);
  parser.body_limit(kMostBodyBytes);
  parser.header_limit(kMostHeadBytes);
  Status read = read_answer(socket, parser, until_ns);
  if (!read) return read.error();
  HttpAnswer answer;
  answer.status = parser.get().result_int();
  answer.type = std::string(parser.get()[http::field::content_type]);
  answer.body = std::move(parser.get().body());
  return answer;
}

}  // namespace tidemark::base
