#include "watch/graph_reader.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "source/kernel_files.h"
#include "source/machine_reader.h"
#include "source/object_source.h"
#include "source/process_source.h"
#include "watch/exact_source.h"
#include "watch/ledger_reader.h"

namespace tidemark::watch {
namespace {

source::CollectOptions collect_options(const GraphOptions& options) {
  source::CollectOptions collect;
  // Threads tell which mappings are stacks. With the mappings their sum is the
  // rollup, so that a process and its objects agree.
  collect.detail.mappings = options.objects;
  collect.detail.rollup = !options.objects;
  collect.detail.threads = options.threads || options.objects;
  collect.detail.descriptors = options.descriptors;
  collect.cgroups = true;
  collect.progress = options.progress;
  return collect;
}

// Why shares are not to the page goes to `why_not`; empty when they are.
base::Status read_processes(const source::Roots& roots,
                            const GraphOptions& options,
                            analysis::GraphInput& input, std::string& why_not) {
  source::ProcessSource source(roots, collect_options(options));
  base::Result<std::unique_ptr<ExactSource>> exact =
      ExactSource::open(roots, source);
  base::Status status =
      exact ? (*exact)->collect(input.sample) : base::Status(exact.error());
  if (status) return status;
  why_not = status.error().what;
  return source.collect(input.sample);
}

// Says why shares and kernel memory are not to the page, once if for one
// reason.
void note_depth(const std::string& no_shares, const std::string& no_ledger,
                std::vector<std::string>& notes) {
  const std::string shares = "shares are the kernel's own sums";
  const std::string kernel = "kernel memory is by its counters";
  const std::string but = ", not to the page: ";
  if (no_shares == no_ledger) {
    if (!no_shares.empty())
      notes.push_back(shares + " and " + kernel + but + no_shares);
    return;
  }
  if (!no_shares.empty()) notes.push_back(shares + but + no_shares);
  if (!no_ledger.empty()) notes.push_back(kernel + but + no_ledger);
}

void read_objects(const source::Roots& roots, analysis::GraphInput& input) {
  source::ObjectScanOptions options;
  options.search = false;  // what nobody refers to is in no process
  base::Result<model::ObjectScan> scan = source::scan_objects(roots, options);
  if (scan) {
    input.objects = std::move(*scan);
  } else {
    input.notes.push_back("what is only held open is not seen: " +
                          scan.error().what);
  }
}

}  // namespace

base::Result<analysis::GraphInput> read_graph(const source::Roots& roots,
                                              const GraphOptions& options) {
  analysis::GraphInput input;
  input.with_objects = options.objects;
  input.with_threads = options.threads;
  std::string why_not;
  base::Status status = read_processes(roots, options, input, why_not);
  if (!status) return status.error();
  if (options.objects) {
    constexpr int32_t kInit = 1;
    input.sample.memory_devices = source::read_memory_devices(roots, kInit);
    read_objects(roots, input);
  }
  LedgerOptions ledger;
  ledger.named_file_count = 1;  // classes are wanted here, not names
  base::Result<LedgerReading> reading = read_ledger(roots, ledger);
  // A ledger by counters would know no more than meminfo does.
  std::string no_ledger;
  if (!reading) {
    no_ledger = reading.error().what;
  } else if (reading->ledger.tier == model::LedgerTier::Counters) {
    no_ledger = reading->ledger.tier_note;
  } else {
    input.ledger = std::move(reading->ledger);
  }
  note_depth(why_not, no_ledger, input.notes);
  model::Reading<std::vector<model::SlabCache>> slab =
      source::read_slabinfo(roots);
  input.slab = std::move(slab.value);
  return input;
}

}  // namespace tidemark::watch
