#include "watch/trace_means.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "analysis/trace_modules.h"
#include "base/clock.h"
#include "source/early_trace.h"
#include "source/page_owner_source.h"
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

// Sums by stack take some milliseconds. A kernel without them (before 6.9) has
// to be asked for each page, which is done where that takes a second or so.
model::Reading<std::vector<model::ModulePages>> read_pages_before(
    const source::Roots& roots) {
  constexpr uint64_t kFewPages = 1 << 18;  // 1 GiB
  base::Result<source::PageOwnerTrace> noted =
      source::read_page_owner_stacks(roots, {});
  if (!noted && source::has_page_owner(roots)) {
    if (static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) > kFewPages) {
      return model::unknown<std::vector<model::ModulePages>>(
          "page_owner of this kernel has no sums, and its notes on each page "
          "take long: trace --backend pageowner");
    }
    noted = source::read_page_owner(roots, {});
  }
  if (!noted) {
    return model::unknown<std::vector<model::ModulePages>>(noted.error().what);
  }
  return model::known(analysis::pages_by_module(noted->trace));
}

base::Result<model::Trace> read_pages(const ChosenTrace& chosen,
                                      const source::Roots& roots) {
  base::Result<model::Trace> trace = chosen.live->read(roots);
  if (!trace) return trace;
  trace->notes.insert(trace->notes.begin(), chosen.notes.begin(),
                      chosen.notes.end());
  return trace;
}

void add_slab(const ChosenTrace& chosen, const source::Roots& roots,
              model::Trace& trace) {
  const base::Result<source::SlabTracer>& slab = *chosen.slab;
  trace.slab = slab ? model::known(slab->read(roots))
                    : model::unknown<model::SlabTrace>(slab.error().what);
  if (!*trace.slab) return;
  trace.kernel_bytes += (*trace.slab)->kernel_bytes;
  std::vector<std::string>& notes = trace.slab->value->notes;
  notes.insert(notes.begin(), chosen.slab_notes.begin(),
               chosen.slab_notes.end());
}

// Objects have neither an order nor a frame, and which flags they were asked
// for with is not looked at.
std::vector<std::string> unheeded_by_slab(const source::TraceOptions& options) {
  const source::TraceFilter& filter = options.filter;
  const source::TraceFilter all;
  const std::pair<const char*, bool> asked[] = {
      {"--order", filter.least_order != all.least_order ||
                      filter.most_order != all.most_order},
      {"--gfp", filter.wanted_gfp_bits != 0 || filter.unwanted_gfp_bits != 0},
      {"--sample", options.sample_period != 1},
  };
  std::string names;
  for (const auto& [name, is_asked] : asked) {
    if (is_asked) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  if (names.empty()) return {};
  return {"slab objects are all followed, whatever " + names +
          " asks for: that is of pages"};
}

ChosenTrace with_slab(ChosenTrace chosen, const TraceMeansOptions& options,
                      std::unique_ptr<source::LiveTrace> live) {
  if (options.follows_slab) {
    chosen.slab = source::SlabTracer::prepare(options.trace.filter);
    chosen.slab_notes = unheeded_by_slab(options.trace);
  }
  chosen.live = std::move(live);
  return chosen;
}

}  // namespace

void ChosenTrace::go() {
  live->go();
  if (slab && *slab) (*slab)->go();
}

base::Result<model::Trace> ChosenTrace::read(const source::Roots& roots) {
  base::Result<model::Trace> trace = read_pages(*this, roots);
  if (!trace) return trace;
  if (!std::exchange(was_before_told, true)) trace->before = before;
  const uint64_t started_ns = base::monotonic_ns();
  if (!slab || started_ns < next_slab_ns) return trace;
  add_slab(*this, roots, *trace);
  if (*trace->slab) {
    // Entries that are just being made.
    std::erase_if(trace->slab->value->sites, [](const model::SlabSite& site) {
      return site.cache.empty() || site.caller.address == 0;
    });
  }
  constexpr uint64_t kPauses = 50;
  const uint64_t ended_ns = base::monotonic_ns();
  next_slab_ns = ended_ns + (ended_ns - started_ns) * kPauses;
  return trace;
}

base::Result<model::Trace> ChosenTrace::peek(const source::Roots& roots) const {
  return read_pages(*this, roots);
}

base::Result<model::Trace> ChosenTrace::read_last(const source::Roots& roots) {
  if (slab && *slab) (*slab)->freeze();
  live->freeze();
  base::Result<model::Trace> last = read_pages(*this, roots);
  if (!last) return last;
  last->before = std::move(before);
  if (slab) add_slab(*this, roots, *last);
  return last;
}

base::Result<ChosenTrace> choose_trace(const source::Roots& roots,
                                       const TraceMeansOptions& options) {
  ChosenTrace chosen;
  // Before there are tables of ours in it.
  if (options.tells_before) {
    chosen.before = source::read_trace_before(roots);
    chosen.before->pages = read_pages_before(roots);
  }
  if (options.trace.with_user_stacks) {
    source::LiveTraceResult trace =
        source::prepare_user_trace(roots, options.trace);
    if (!trace) return refusal(trace.error(), options.backend.has_value());
    chosen.live = std::move(*trace);
    return chosen;
  }
  if (options.starts_early && !options.backend) {
    source::LiveTraceResult trace =
        source::prepare_early_trace(roots, options.trace);
    if (trace) return with_slab(std::move(chosen), options, std::move(*trace));
    if (trace.error().kind == base::ErrorKind::Misused) return trace.error();
    chosen.notes.push_back("no early start: " + trace.error().what);
  }
  std::optional<base::Error> why;
  for (const Means& means : kMeans) {
    if (options.backend && *options.backend != means.backend) continue;
    source::LiveTraceResult trace = means.prepare(roots, options.trace);
    if (trace) return with_slab(std::move(chosen), options, std::move(*trace));
    if (!why) why = trace.error();
    chosen.notes.push_back(
        "not by " + std::string(model::trace_backend_token(means.backend)) +
        ": " + trace.error().what);
  }
  return refusal(why, options.backend.has_value());
}

}  // namespace tidemark::watch
