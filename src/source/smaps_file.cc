#include "source/smaps_file.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "source/reader_pause.h"

namespace tidemark::source {
namespace {

constexpr size_t kBufferBytes = size_t{16} << 10;

}  // namespace

base::Status SmapsReader::read(const base::Directory& process,
                               const parse::MappingVisitor& visit) {
  base::Result<base::Fd> fd = base::open_file_at(process, "smaps");
  if (!fd) return fd.error();
  parser_.restart();
  // A path of 4 KiB makes a block longer than a page; 16 KiB holds two.
  std::array<char, kBufferBytes> buffer;
  size_t filled = 0;
  ReaderPause pause;
  while (true) {
    if (filled == buffer.size()) {
      return base::fail(base::ErrorKind::Malformed,
                        process.join("smaps") + ": a block of over 16 KiB");
    }
    const ssize_t got =
        ::read(fd->get(), buffer.data() + filled, buffer.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno(process.join("smaps"), errno);
    filled += static_cast<size_t>(got);
    base::Result<size_t> taken =
        parser_.parse({buffer.data(), filled}, got == 0, visit);
    if (!taken) return base::within(process.path, taken.error());
    if (got == 0) return base::Ok{};
    pause.after_call();
    std::memmove(buffer.data(), buffer.data() + *taken, filled - *taken);
    filled -= *taken;
  }
}

}  // namespace tidemark::source
