#include "model/run.h"

namespace tidemark::model {

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
