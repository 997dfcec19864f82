// Recordings from strangers: whatever the bytes, a file opens and answers or is
// refused with a sentence that names it.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/fd.h"
#include "store/recording.h"

namespace {

using namespace tidemark;  // NOLINT(google-build-using-namespace)

// One file, written again for each input and gone with the process.
class Scratch {
 public:
  Scratch()
      : path_((::access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : "/tmp/") +
              std::string("tidemark_fuzz_") + std::to_string(::getpid())),
        file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
                     0600)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::unlink(path_.c_str()); }

  const std::string& put(const uint8_t* data, size_t size) {
    const auto length = static_cast<off_t>(size);
    if (::ftruncate(file_.get(), length) != 0 ||
        ::pwrite(file_.get(), data, size, 0) != static_cast<ssize_t>(size)) {
      std::abort();
    }
    return path_;
  }

 private:
  std::string path_;
  base::Fd file_;
};

void expect_named(const base::Error& error, const std::string& path) {
  if (error.what.find(path) == std::string::npos) std::abort();
}

void ask(const store::Recording& recording, const std::string& path) {
  for (const model::RecordedTick& tick : recording.ticks()) {
    base::Result<model::Sample> sample = recording.sample_at(tick.id, {});
    if (!sample) {
      expect_named(sample.error(), path);
      break;
    }
  }
  for (const model::RecordedTick& tick : recording.ticks()) {
    base::Result<model::Trace> trace = recording.trace_at(tick.id);
    if (!trace) {
      expect_named(trace.error(), path);
      break;
    }
    for (const model::TraceLeaf& leaf : trace->leaves) {
      if (leaf.stack >= trace->stacks.size() ||
          leaf.task >= trace->tasks.size()) {
        std::abort();
      }
    }
  }
  (void)recording.trace();
  base::Result<std::vector<model::VmScan>> scans = recording.vm_scans();
  if (!scans) expect_named(scans.error(), path);
  base::Result<model::Timeline> timeline = recording.timeline({});
  if (timeline && timeline->points.size() != recording.ticks().size()) {
    std::abort();
  }
  (void)recording.timeline({1});
  (void)recording.gaps();
  (void)recording.notes();
  (void)recording.maxima();
  for (const model::RecordedProcess& process : recording.processes())
    (void)recording.detail_tick(process.id, process.first_tick);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Scratch scratch;
  const std::string& path = scratch.put(data, size);
  base::Result<store::Recording> recording = store::Recording::open(path);
  if (recording) {
    ask(*recording, path);
  } else {
    expect_named(recording.error(), path);
  }
  return 0;
}
