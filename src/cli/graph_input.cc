#include "cli/graph_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "parse/graph_records.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;

constexpr size_t kPieceBytes = size_t{1} << 18;
constexpr size_t kMostBytes = size_t{512} << 20;

base::Error no_graph(const std::string& name, const std::string& what) {
  return base::fail(ErrorKind::Malformed, name + ": " + what,
                    "the JSON of `tidemark graph` or of memgraph is wanted");
}

// Whether it can still become a list.
bool begins_as_list(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || text[first] == '[';
}

base::Result<std::string> read_text(int fd, const std::string& name) {
  std::string text;
  std::vector<char> piece(kPieceBytes);
  while (true) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno(name, errno);
    if (got == 0) break;
    text.append(piece.data(), static_cast<size_t>(got));
    if (!begins_as_list(std::string_view(text).substr(0, kPieceBytes))) {
      return no_graph(name, "this is no list of records");
    }
    if (text.size() > kMostBytes) {
      return no_graph(name, "it is larger than 512 MiB");
    }
  }
  if (text.empty()) return no_graph(name, "it is empty");
  return text;
}

}  // namespace

base::Result<model::GraphRecords> read_graph_file(const std::string& path) {
  const bool is_stdin = path == "-";
  const std::string name = is_stdin ? "standard input" : path;
  base::Fd file;
  if (!is_stdin) {
    file = base::Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return base::fail_errno(name, errno);
  }
  base::Result<std::string> text =
      read_text(is_stdin ? STDIN_FILENO : file.get(), name);
  if (!text) return text.error();
  base::Result<model::GraphRecords> graph = parse::parse_graph_records(*text);
  if (!graph) {
    return base::fail(ErrorKind::Malformed, name + ": " + graph.error().what,
                      graph.error().hint);
  }
  return graph;
}

}  // namespace tidemark::cli
