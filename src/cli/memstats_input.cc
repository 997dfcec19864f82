#include "cli/memstats_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "parse/memstats.h"

namespace tidemark::cli {
namespace {

// Enough to tell what it is; a recording may be larger than memory.
base::Result<std::string> beginning_of(const std::string& path) {
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return base::fail_errno(path, errno);
  std::array<char, 512> bytes{};
  const ssize_t got = ::read(file.get(), bytes.data(), bytes.size());
  if (got < 0) return base::fail_errno(path, errno);
  return std::string(bytes.data(), static_cast<size_t>(got));
}

// Up to the last record that is whole, with the end that is missing; empty
// where it is not the end that is missing, or no record is whole. `vm watch`
// writes a record a line, the original all of them in one.
std::string mended(std::string_view text) {
  size_t depth = 0;
  size_t end = 0;
  bool is_in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      is_in_string = c != '"';
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (depth <= 1) return "";
      if (--depth == 1) end = i + 1;
    }
  }
  return end == 0 ? "" : std::string(text.substr(0, end)) + "]";
}

}  // namespace

base::Result<std::string> read_whole_file(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  base::Result<base::Directory> directory = base::open_directory(folder);
  if (!directory) return directory.error();
  return base::read_file_at(*directory, std::string(base::base_name(path)));
}

// Our clock begins in 1970; a file may claim to be older.
base::Result<uint64_t> modified_realtime_ns(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return base::fail_errno(path, errno);
  if (S_ISDIR(info.st_mode)) return base::fail_errno(path, EISDIR);
  if (info.st_mtim.tv_sec < 0) return uint64_t{0};
  return static_cast<uint64_t>(info.st_mtim.tv_sec) * base::kNsPerSecond +
         static_cast<uint64_t>(info.st_mtim.tv_nsec);
}

bool begins_as_memstats(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos &&
         (text[first] == '[' || text[first] == '{');
}

base::Result<MemstatsFile> memstats_in(const std::string& path,
                                       std::string_view text,
                                       uint64_t modified_ns,
                                       std::optional<uint64_t> begin_ns) {
  MemstatsFile file;
  base::Result<std::vector<model::MemstatsRecord>> records =
      parse::parse_memstats(text);
  if (!records) {
    base::Result<std::vector<model::MemstatsRecord>> rest =
        parse::parse_memstats(mended(text));
    if (!rest) return base::within(path, records.error());
    records = std::move(rest);
    file.is_cut = true;
  }
  if (records->empty()) {
    return base::fail(base::ErrorKind::Malformed, path + ": no records in it");
  }
  const uint64_t lasted =
      (records->back().elapsed_seconds - records->front().elapsed_seconds) *
      base::kNsPerSecond;
  file.begin_realtime_ns =
      begin_ns.value_or(modified_ns > lasted ? modified_ns - lasted : 0);
  file.records = std::move(*records);
  return file;
}

base::Result<std::optional<MemstatsFile>> read_memstats_file(
    const std::string& path) {
  base::Result<std::string> beginning = beginning_of(path);
  if (!beginning || !begins_as_memstats(*beginning)) {
    return std::optional<MemstatsFile>();
  }
  base::Result<uint64_t> modified_ns = modified_realtime_ns(path);
  if (!modified_ns) return modified_ns.error();
  base::Result<std::string> text = read_whole_file(path);
  if (!text) return text.error();
  base::Result<MemstatsFile> file =
      memstats_in(path, *text, *modified_ns, std::nullopt);
  if (!file) return file.error();
  return std::optional<MemstatsFile>(std::move(*file));
}

}  // namespace tidemark::cli
