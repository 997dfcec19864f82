#include "source/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <optional>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"

namespace tidemark::source {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;

// The pid by which it knows itself, which names its file.
int32_t own_pid(const Roots& roots, int32_t pid) {
  base::Result<std::string> status =
      base::read_file_at(roots.proc, std::to_string(pid) + "/status");
  if (!status) return pid;
  std::string_view rest = *status;
  constexpr std::string_view kLabel = "NSpid:";
  while (!rest.empty()) {
    std::string_view line = base::take_line(rest);
    if (!line.starts_with(kLabel)) continue;
    const std::string_view last = line.substr(line.rfind('\t') + 1);
    return base::parse_pid(last).value_or(pid);
  }
  return pid;
}

std::string read_some(const base::Fd& file) {
  std::string text;
  constexpr size_t kBlock = size_t{1} << 16;
  while (text.size() < kMostBytes) {
    const size_t had = text.size();
    text.resize(had + kBlock);
    const ssize_t got = ::read(file.get(), text.data() + had, kBlock);
    text.resize(had + static_cast<size_t>(got > 0 ? got : 0));
    if (got <= 0) break;
  }
  return text;
}

}  // namespace

PerfMap::PerfMap(std::vector<parse::PerfMapLine> lines) {
  for (parse::PerfMapLine& line : lines)
    by_start_.insert_or_assign(line.start, std::move(line));
}

std::string PerfMap::name_of(uint64_t address) const {
  auto behind = by_start_.upper_bound(address);
  if (behind == by_start_.begin()) return {};
  const parse::PerfMapLine& line = std::prev(behind)->second;
  return address - line.start < line.size_bytes ? line.name : std::string();
}

PerfMap read_perf_map(const Roots& roots, int32_t pid) {
  const std::string process = std::to_string(pid);
  struct stat owner {};
  if (::fstatat(roots.proc.fd.get(), process.c_str(), &owner, 0) != 0) {
    return {};
  }
  // Step by step: what stands in the process's folders may be links that lead
  // out of its root.
  const base::Fd root(::openat(roots.proc.fd.get(), (process + "/root").c_str(),
                               O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return {};
  const base::Fd folder(::openat(
      root.get(), "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return {};
  const std::string name =
      "perf-" + std::to_string(own_pid(roots, pid)) + ".map";
  // Opening a pipe would wait for whoever writes it.
  const base::Fd file(::openat(folder.get(), name.c_str(),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      (info.st_uid != owner.st_uid && info.st_uid != 0)) {
    return {};
  }
  return PerfMap(parse::parse_perf_map(read_some(file)));
}

}  // namespace tidemark::source
