#include "source/smaps_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/clock.h"

namespace tidemark::source {
namespace {

constexpr size_t kBufferBytes = size_t{16} << 10;

void note_call(uint64_t called_ns, uint64_t started_ns, ReadCost& cost) {
  const uint64_t now = base::monotonic_ns();
  cost.longest_call_ns = std::max(cost.longest_call_ns, now - called_ns);
  cost.total_ns = now - started_ns;
}

}  // namespace

base::Status SmapsReader::read(const base::Directory& process,
                               const parse::MappingVisitor& visit,
                               ReadCost* cost) {
  base::Result<base::Fd> fd = base::open_file_at(process, "smaps");
  if (!fd) return fd.error();
  parser_.restart();
  // A path of 4 KiB makes a block longer than a page; 16 KiB holds two.
  std::array<char, kBufferBytes> buffer;
  size_t filled = 0;
  const uint64_t started_ns = cost != nullptr ? base::monotonic_ns() : 0;
  while (true) {
    if (filled == buffer.size()) {
      return base::fail(base::ErrorKind::Malformed,
                        process.join("smaps") + ": a block of over 16 KiB");
    }
    const uint64_t called_ns = cost != nullptr ? base::monotonic_ns() : 0;
    const ssize_t got =
        ::read(fd->get(), buffer.data() + filled, buffer.size() - filled);
    if (cost != nullptr) note_call(called_ns, started_ns, *cost);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno(process.join("smaps"), errno);
    filled += static_cast<size_t>(got);
    base::Result<size_t> taken =
        parser_.parse({buffer.data(), filled}, got == 0, visit);
    if (!taken) return base::within(process.path, taken.error());
    if (got == 0) return base::Ok{};
    std::memmove(buffer.data(), buffer.data() + *taken, filled - *taken);
    filled -= *taken;
  }
}

}  // namespace tidemark::source
