#include "model/run.h"

#include <algorithm>

namespace tidemark::model {

std::optional<uint64_t> held_bytes(const Capture& capture) {
  if (!capture.charged_before_bytes || !capture.charged_after_bytes) {
    return std::nullopt;
  }
  return std::min({*capture.charged_before_bytes, *capture.charged_after_bytes,
                   capture.accounted_bytes.value_or(UINT64_MAX)});
}

std::string_view peak_source_token(PeakSource source) {
  switch (source) {
    case PeakSource::Counted:
      return "counted";
    case PeakSource::HighMark:
      return "taskstats";
    case PeakSource::MaxRss:
      return "wait4";
    case PeakSource::Sampled:
      break;
  }
  return "sampled";
}

std::string_view run_method_token(RunMethod method) {
  switch (method) {
    case RunMethod::ChargeGate:
      return "cgroup+bpf";
    case RunMethod::ChargePolled:
      return "cgroup";
    case RunMethod::RssGate:
      return "bpf";
    case RunMethod::Sampled:
      break;
  }
  return "sampling";
}

}  // namespace tidemark::model
