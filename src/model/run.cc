#include "model/run.h"

#include <algorithm>

namespace tidemark::model {

uint64_t kernel_bytes(const GroupStat& stat) {
  const uint64_t sockets = stat.socket_bytes.value_or(0);
  if (stat.kernel_bytes) return *stat.kernel_bytes + sockets;
  // v2 tells the sum since 5.18.
  uint64_t sum = sockets;
  for (const std::optional<uint64_t>& part :
       {stat.slab_bytes, stat.page_tables_bytes, stat.kernel_stack_bytes,
        stat.percpu_bytes, stat.vmalloc_bytes}) {
    sum += part.value_or(0);
  }
  return sum;
}

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
