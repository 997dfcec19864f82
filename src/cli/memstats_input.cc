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

// Up to the last line that is whole, with the end that is missing.
std::string mended(std::string_view text) {
  const size_t last = text.find_last_of('\n');
  if (last == std::string_view::npos) return "";
  const size_t end = text.find_last_not_of(", \n", last);
  if (end == std::string_view::npos) return "";
  return std::string(text.substr(0, end + 1)) + "]";
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
  base::Result<std::vector<model::MemstatsRecord>> records =
      parse::parse_memstats(text);
  if (!records) return base::within(path, records.error());
  if (records->empty()) {
    return base::fail(base::ErrorKind::Malformed, path + ": no records in it");
  }
  const uint64_t lasted =
      (records->back().elapsed_seconds - records->front().elapsed_seconds) *
      base::kNsPerSecond;
  MemstatsFile file;
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
  if (file) return std::optional<MemstatsFile>(std::move(*file));
  const std::string_view whole = base::trim(*text);
  if (whole.ends_with(']')) return file.error();
  base::Result<MemstatsFile> rest = memstats_in(
      path, mended(std::string(whole) + "\n"), *modified_ns, std::nullopt);
  if (!rest) {
    rest = memstats_in(path, mended(whole), *modified_ns, std::nullopt);
  }
  if (!rest) return file.error();
  rest->is_cut = true;
  return std::optional<MemstatsFile>(std::move(*rest));
}

}  // namespace tidemark::cli
