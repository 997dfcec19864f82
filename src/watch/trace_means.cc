#include "watch/trace_means.h"

#include <utility>

namespace tidemark::watch {
namespace {

struct Means {
  model::TraceBackend backend;
  source::LiveTraceResult (*prepare)(const source::Roots&,
                                     const source::TraceOptions&);
};
// The best first.
constexpr Means kMeans[] = {
    {model::TraceBackend::Bpf, source::prepare_bpf_trace},
    {model::TraceBackend::Perf, source::prepare_perf_trace},
    {model::TraceBackend::Ftrace, source::prepare_ftrace_trace},
};

}  // namespace

base::Result<model::Trace> ChosenTrace::read(const source::Roots& roots) const {
  base::Result<model::Trace> trace = live->read(roots);
  if (!trace) return trace;
  trace->notes.insert(trace->notes.begin(), notes.begin(), notes.end());
  return trace;
}

base::Result<ChosenTrace> choose_trace(
    const source::Roots& roots, std::optional<model::TraceBackend> backend,
    const source::TraceOptions& options) {
  ChosenTrace chosen;
  std::optional<base::Error> why;
  for (const Means& means : kMeans) {
    if (backend && *backend != means.backend) continue;
    source::LiveTraceResult trace = means.prepare(roots, options);
    if (trace) {
      chosen.live = std::move(*trace);
      return chosen;
    }
    if (!why) why = trace.error();
    chosen.notes.push_back(
        "not by " + std::string(model::trace_backend_token(means.backend)) +
        ": " + trace.error().what);
  }
  if (why) return *why;
  return base::fail(base::ErrorKind::Unsupported,
                    "this is no means to follow allocations as they happen");
}

}  // namespace tidemark::watch
