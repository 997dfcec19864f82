// Files that a command makes: recordings and what is made of them. Unlike a
// report they are never written over unasked, and appear whole or not at all.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/signal_sweep.h"

namespace tidemark::cli {

// Refuses, as misuse, no name, what is not a regular file, and an existing file
// that is not empty unless `overwrites`. `example` is how it is done right.
base::Status check_room(const std::string& path, bool overwrites,
                        const std::string& example);

// The same, and removes what is there, with the log beside it.
base::Status make_room(const std::string& path, bool overwrites,
                       const std::string& example);

// Refuses to write where one reads.
base::Status check_apart(const std::string& input, const std::string& output);

// A file under a name of its own, PATH.PID.part, until it is finished. Ending
// without keep() leaves nothing behind, nor does a signal to stop; what a kill
// that nobody can catch has left, the next one for the same path takes away.
class PendingFile {
 public:
  // Fails at once where nothing can be written.
  static base::Result<PendingFile> reserve(const std::string& path);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&&) = delete;
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();

  // Where to write to; nothing is there yet.
  const std::string& temporary_path() const { return temporary_path_; }
  // Gives it its name, in the place of what may have had it.
  base::Status keep();

 private:
  PendingFile(std::string path, std::string temporary_path,
              std::unique_ptr<SignalSweep> sweep);
  std::string path_;
  std::string temporary_path_;
  bool is_pending_ = true;
  std::unique_ptr<SignalSweep> sweep_;
};

}  // namespace tidemark::cli
