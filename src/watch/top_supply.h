// Where `top` has its snapshots from: the running system or a recording. Each
// works in a thread of its own; what is asked for is answered by a later
// snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analysis/top_snapshot.h"
#include "base/fd.h"
#include "base/result.h"
#include "model/process.h"

namespace tidemark::watch {

class TopSupply {
 public:
  // shared_ptr: the drawing thread may still show one while the next is made.
  using Snapshot = std::shared_ptr<const analysis::TopSnapshot>;

  TopSupply() = default;
  TopSupply(const TopSupply&) = delete;
  TopSupply& operator=(const TopSupply&) = delete;
  virtual ~TopSupply() = default;

  // Readable when there is a newer snapshot than was taken.
  virtual int fd() const = 0;
  // Null until the first is there.
  virtual Snapshot take() = 0;
  // The address space of one process, until it is no longer wanted.
  virtual void want_maps(std::optional<model::ProcessId> process) = 0;
  // What is read on slower clocks, as long as it is wanted. Who has nothing of
  // it does nothing.
  virtual void want(const analysis::TopNeeds& /*needs*/) {}
  // Whether what it is of has come to its end, and nobody needs to look on.
  virtual bool is_over() { return false; }
  // Begins to follow page allocations, or ends that; where it can.
  virtual void start_or_stop_trace() {}
  // Looks for names of code that has none yet.
  virtual void name_code() {}
};

// A descriptor that one thread makes readable for another.
class WakeUp {
 public:
  static base::Result<WakeUp> make();
  int fd() const { return fd_.get(); }
  void raise() const;
  void clear() const;

 private:
  explicit WakeUp(base::Fd fd) : fd_(std::move(fd)) {}
  base::Fd fd_;
};

// While it lives a thread that is started has all signals blocked. They belong
// to the thread that draws: what the terminal's own handlers do must not happen
// in the middle of a reading.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked();
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked();

 private:
  struct Mask;
  std::unique_ptr<Mask> before_;
};

}  // namespace tidemark::watch
