// Has QEMU ask its guests while we read, and undoes that at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "source/roots.h"
#include "source/vm/guest_question.h"
#include "source/vm/vm_source.h"
#include "watch/stop_signals.h"

namespace tidemark::cli {

class VmPolling {
 public:
  // Changes nothing without `poll_ns`. VMs whose monitor cannot be spoken to
  // are told in notes(). What was set is undone with the last owner, a kill
  // that cannot be caught excepted.
  static base::Result<VmPolling> start(const source::Roots& roots,
                                       source::VmSource& source,
                                       const source::QuestionOptions& question,
                                       std::optional<uint64_t> poll_ns);
  VmPolling(VmPolling&& other) noexcept = default;
  VmPolling& operator=(VmPolling&&) = delete;
  VmPolling(const VmPolling&) = delete;
  VmPolling& operator=(const VmPolling&) = delete;
  ~VmPolling();

  const std::vector<std::string>& notes() const { return notes_; }

  // Until guests had the time to answer once. False: a signal came first.
  bool wait_for_first(watch::StopSignals& signals) const;

  // What could not be undone, in words.
  std::vector<std::string> stop();

 private:
  struct Changed {
    source::FoundVm vm;
    uint64_t before_s = 0;
  };
  VmPolling(const source::Roots& roots, source::QuestionOptions question)
      : roots_(&roots), question_(std::move(question)) {}

  const source::Roots* roots_;
  source::QuestionOptions question_;
  uint64_t interval_s_ = 0;
  std::vector<Changed> changed_;
  std::vector<std::string> notes_;
};

}  // namespace tidemark::cli
