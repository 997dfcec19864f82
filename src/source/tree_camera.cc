#include "source/tree_camera.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/page_size.h"
#include "parse/smaps.h"
#include "source/page_scan.h"
#include "source/process_parts.h"

namespace tidemark::source {
namespace {

using model::Mapping;
using model::SmapsField;
using model::SmapsFields;

constexpr uint64_t kLargeBytes = uint64_t{64} << 20;

// One walk of the page tables: the sum of the mappings stands for the rollup.
ProcessDetail picture_detail() {
  ProcessDetail detail;
  detail.rollup = false;
  detail.mappings = true;
  detail.threads = true;
  detail.cgroup = false;
  return detail;
}

// The fields that are shares of the resident size, brought to a new size.
SmapsFields scaled(const SmapsFields& before, uint64_t resident_bytes) {
  constexpr SmapsField kShares[] = {
      SmapsField::Pss,          SmapsField::SharedClean,
      SmapsField::SharedDirty,  SmapsField::PrivateClean,
      SmapsField::PrivateDirty, SmapsField::Anonymous,
  };
  SmapsFields after = before;
  const uint64_t old = before.get_or_zero(SmapsField::Rss);
  after.set(SmapsField::Rss, resident_bytes);
  for (SmapsField field : kShares) {
    const double share = old == 0
                             ? 0
                             : static_cast<double>(before.get_or_zero(field)) /
                                   static_cast<double>(old);
    after.set(field, static_cast<uint64_t>(
                         share * static_cast<double>(resident_bytes)));
  }
  return after;
}

// Nobody else has seen it yet, as far as we know.
SmapsFields unshared(const Mapping& mapping, uint64_t resident_bytes) {
  SmapsFields fields;
  fields.set(SmapsField::Rss, resident_bytes);
  fields.set(SmapsField::Pss, resident_bytes);
  if (!mapping.is_file()) {
    fields.set(SmapsField::Anonymous, resident_bytes);
    fields.set(SmapsField::PrivateDirty, resident_bytes);
  }
  return fields;
}

// The mapping it was at the last full look: they grow and are cut, but rarely
// move.
const Mapping* find_old(const std::vector<Mapping>& old,
                        const Mapping& mapping) {
  auto at = std::ranges::lower_bound(old, mapping.end_address, {},
                                     &Mapping::start_address);
  if (at == old.begin()) return nullptr;
  --at;
  const bool is_same = at->end_address > mapping.start_address &&
                       at->inode_id == mapping.inode_id &&
                       at->permissions == mapping.permissions;
  return is_same ? &*at : nullptr;
}

bool is_hugetlb(const SmapsFields& fields) {
  return model::hugetlb_bytes(fields).value_or(0) > 0;
}

// The anonymous part of the PSS, which only a rollup tells by itself: a mapping
// of both kinds is divided as its RSS is.
double anonymous_pss(const model::Mapping& mapping) {
  const auto value = [&](model::SmapsField field) {
    return static_cast<double>(mapping.fields.get_or_zero(field));
  };
  const double rss = value(model::SmapsField::Rss);
  if (rss <= 0) return 0;
  return value(model::SmapsField::Pss) *
         std::min(1.0, value(model::SmapsField::Anonymous) / rss);
}

// Empty where a process may not be read: what it holds is then not known.
std::optional<uint64_t> anonymous_bytes(const model::Sample& sample) {
  double sum = 0;
  for (const model::Process& process : sample.processes) {
    if (process.state == model::ProcessState::Denied) return std::nullopt;
    if (!process.mappings) continue;
    for (const model::Mapping& mapping : *process.mappings)
      sum += anonymous_pss(mapping);
  }
  return static_cast<uint64_t>(sum);
}

std::optional<uint64_t> accounted_bytes(const model::Sample& sample,
                                        const model::GroupStat& stat) {
  if (!stat.anon_bytes || !stat.file_bytes) return std::nullopt;
  // The kernel charges in batches of 64 pages a CPU, and the parts are summed
  // up when as many changes have come together.
  constexpr uint64_t kAheadPages = uint64_t{2} * 64;
  static const auto kAheadBytes =
      static_cast<uint64_t>(::sysconf(_SC_NPROCESSORS_CONF)) * kAheadPages *
      base::page_bytes();
  const uint64_t anonymous =
      std::min(*stat.anon_bytes, anonymous_bytes(sample).value_or(UINT64_MAX));
  return anonymous + *stat.file_bytes + model::kernel_bytes(stat) + kAheadBytes;
}

}  // namespace

TreeCamera::TreeCamera(const Roots& roots)
    : roots_(roots), reader_(roots, no_cgroups_, picture_detail()) {}

base::Result<model::Process> TreeCamera::rescan(const Known& known) {
  const model::Process& before = known.process;
  base::Result<base::Directory> directory = open_process(roots_, before.id.pid);
  if (!directory) return directory.error();
  base::Result<std::string> text = base::read_file_at(*directory, "maps");
  if (!text) return text.error();
  base::Result<std::vector<Mapping>> mappings = parse::parse_maps(*text);
  if (!mappings) return mappings.error();
  base::Result<std::vector<PageCount>> pages =
      scan_pages(*directory, *mappings, 0);
  if (!pages) return pages.error();
  SmapsFields sum;
  for (size_t i = 0; i < mappings->size(); ++i) {
    Mapping& mapping = (*mappings)[i];
    const uint64_t resident = (*pages)[i].resident_bytes;
    const Mapping* old = find_old(*before.mappings, mapping);
    const bool has_shares =
        old != nullptr && old->fields.get_or_zero(SmapsField::Rss) > 0;
    if (old != nullptr && is_hugetlb(old->fields)) {
      mapping.fields = old->fields;
    } else if (has_shares) {
      mapping.fields = scaled(old->fields, resident);
    } else {
      mapping.fields = unshared(mapping, resident);
    }
    sum.add(mapping.fields);
  }
  model::Process process = before;
  process.mappings = model::known(std::move(*mappings));
  process.rollup = model::known(sum);
  return process;
}

void TreeCamera::remember(const model::Process& process) {
  const bool is_large = process.rollup && process.rollup->get_or_zero(
                                              SmapsField::Rss) >= kLargeBytes;
  if (!is_large) {
    known_.erase(process.id.pid);
    return;
  }
  has_large_ = true;
  known_[process.id.pid] = {process, true};
}

base::Result<model::Process> TreeCamera::read(const TreeMember& member,
                                              Exposure exposure,
                                              model::Capture& capture) {
  auto known = known_.find(member.pid);
  if (exposure == Exposure::Quick && has_scan_ && !member.shares_by_fork &&
      known != known_.end()) {
    base::Result<model::Process> process = rescan(known->second);
    if (process) {
      ++capture.rescanned_count;
      return process;
    }
    has_scan_ = process.error().kind != base::ErrorKind::Unsupported;
  }
  return reader_.read(member.pid);
}

model::Capture TreeCamera::take(const std::vector<TreeMember>& members,
                                const MemoryGroup* group, Exposure exposure) {
  model::Capture capture;
  model::Sample& sample = capture.sample;
  sample.started_realtime_ns = base::realtime_ns();
  sample.started_monotonic_ns = base::monotonic_ns();
  sample.reader_is_root = ::geteuid() == 0;
  if (group != nullptr) capture.charged_before_bytes = group->charged_bytes();
  for (const TreeMember& member : members) {
    base::Result<model::Process> process = read(member, exposure, capture);
    if (!process || process->state == model::ProcessState::Gone) continue;
    sample.processes.push_back(std::move(*process));
  }
  if (group != nullptr) {
    capture.charged_after_bytes = group->charged_bytes();
    capture.stat = group->stat();
    capture.accounted_bytes = accounted_bytes(sample, capture.stat);
  }
  sample.ended_monotonic_ns = base::monotonic_ns();
  if (exposure == Exposure::Full) {
    has_large_ = false;
    for (const model::Process& process : sample.processes)
      remember(process);
  }
  return capture;
}

}  // namespace tidemark::source
