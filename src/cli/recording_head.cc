#include "cli/recording_head.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/text.h"
#include "cli/build_info.h"

namespace tidemark::cli {
namespace {

uint64_t size_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size)
                                          : 0;
}

std::string line_of(const source::Roots& roots, const char* name) {
  base::Result<std::string> text = base::read_file_at(roots.proc, name);
  return text ? std::string(base::trim(*text)) : std::string();
}

}  // namespace

model::RecordingInfo recording_head(const source::Roots& roots,
                                    std::string targets, uint64_t period_ns) {
  model::RecordingInfo info;
  info.tool = "tidemark " + std::string(kVersion);
  info.targets = std::move(targets);
  info.host = line_of(roots, "sys/kernel/hostname");
  info.kernel = line_of(roots, "sys/kernel/osrelease");
  info.boot_id = line_of(roots, "sys/kernel/random/boot_id");
  if (roots.is_live) {
    info.page_size_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    info.ticks_per_second = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  }
  info.period_ns = period_ns;
  return info;
}

uint64_t recording_bytes(const std::string& path) {
  return size_of(path) + size_of(path + "-wal");
}

bool has_log(const std::string& path) {
  return size_of(path + "-wal") > 0;
}

}  // namespace tidemark::cli
