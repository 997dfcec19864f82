#include "watch/trace_means.h"

#include <utility>

#include "source/trace_before.h"

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

// Why there is none. Where rights are missing, the first thing that was refused
// says little to whoever asked for none in particular.
base::Error refusal(const std::optional<base::Error>& why, bool was_asked_for) {
  if (!why) {
    return base::fail(base::ErrorKind::Unsupported,
                      "this is no means to follow allocations as they happen");
  }
  if (was_asked_for || why->kind != base::ErrorKind::Denied) return *why;
  return base::fail(
      base::ErrorKind::Denied,
      "following allocations needs root (" + why->what + ")",
      "run as root, or grant CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN; see "
      "`tidemark doctor`");
}

}  // namespace

base::Result<model::Trace> ChosenTrace::read(const source::Roots& roots) const {
  base::Result<model::Trace> trace = live->read(roots);
  if (!trace) return trace;
  trace->notes.insert(trace->notes.begin(), notes.begin(), notes.end());
  return trace;
}

void ChosenTrace::go() {
  live->go();
  if (slab && *slab) (*slab)->go();
}

base::Result<model::Trace> ChosenTrace::read_last(const source::Roots& roots) {
  if (slab && *slab) (*slab)->freeze();
  live->freeze();
  base::Result<model::Trace> last = read(roots);
  if (!last) return last;
  last->before = std::move(before);
  if (!slab) return last;
  last->slab = *slab ? model::known((*slab)->read(roots))
                     : model::unknown<model::SlabTrace>(slab->error().what);
  if (*last->slab) last->kernel_bytes += (*last->slab)->kernel_bytes;
  return last;
}

base::Result<ChosenTrace> choose_trace(const source::Roots& roots,
                                       const TraceMeansOptions& options) {
  ChosenTrace chosen;
  // Before there are tables of ours in it.
  if (options.tells_before) chosen.before = source::read_trace_before(roots);
  std::optional<base::Error> why;
  for (const Means& means : kMeans) {
    if (options.backend && *options.backend != means.backend) continue;
    source::LiveTraceResult trace = means.prepare(roots, options.trace);
    if (trace) {
      if (options.follows_slab) {
        chosen.slab = source::SlabTracer::prepare(options.trace.filter);
      }
      chosen.live = std::move(*trace);
      return chosen;
    }
    if (!why) why = trace.error();
    chosen.notes.push_back(
        "not by " + std::string(model::trace_backend_token(means.backend)) +
        ": " + trace.error().what);
  }
  return refusal(why, options.backend.has_value());
}

}  // namespace tidemark::watch
