#include "watch/ledger_reader.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/kernel_pool.h"
#include "analysis/ledger.h"
#include "analysis/page_sets.h"
#include "analysis/page_tally.h"
#include "analysis/sample_tally.h"
#include "analysis/system_report.h"
#include "base/clock.h"
#include "source/bpf/page_structs.h"
#include "source/file_names.h"
#include "source/frame_walk.h"
#include "source/kernel_files.h"
#include "source/machine_reader.h"
#include "source/object_source.h"
#include "source/page_census.h"
#include "source/process_parts.h"
#include "source/process_source.h"
#include "source/system_source.h"
#include "watch/cpu_lists.h"
#include "watch/ledger_names.h"

namespace tidemark::watch {
namespace {

using analysis::LedgerProcess;
using analysis::PageClass;
using model::LedgerTier;

constexpr int kLargeBytes = 128 << 10;

// What it takes to look at pages.
struct Pages {
  source::PageCensus census;
  model::IoMemory iomem;
};

base::Result<Pages> open_pages(const source::Roots& roots) {
  base::Result<source::PageCensus> census =
      source::PageCensus::open(roots.proc);
  if (!census) return census.error();
  model::Reading<model::IoMemory> iomem = source::read_iomem(roots);
  if (!iomem) return base::fail(base::ErrorKind::Denied, iomem.unknown_because);
  // Root of a container may open it and still not see the physical map.
  if (iomem->addresses == model::AddressForm::Hidden) {
    return base::fail(base::ErrorKind::Denied,
                      "/proc/iomem hides the addresses of RAM");
  }
  return Pages{std::move(*census), std::move(*iomem.value)};
}

class LedgerReader {
 public:
  LedgerReader(const source::Roots& roots, const LedgerOptions& options,
               Pages pages)
      : roots_(roots),
        options_(options),
        census_(std::move(pages.census)),
        cgroups_(source::CgroupHierarchy::find(roots)),
        reader_(roots, cgroups_, detail()) {
    input_.kernel.iomem = model::known(std::move(pages.iomem));
    input_.groups = cgroups_.list();
    for (const auto& [inode, path] : input_.groups)
      group_inodes_[path] = inode;
  }

  base::Result<LedgerReading> read();
  base::Result<LedgerReading> read_sample();

 private:
  static source::ProcessDetail detail() {
    source::ProcessDetail detail;
    detail.rollup = false;
    return detail;
  }
  using FrameVisitor =
      std::function<void(uint32_t process, std::span<const uint64_t> frames)>;
  base::Status read_processes();
  void walk_processes(const FrameVisitor& visit);
  void read_counters();
  std::vector<model::FrameRange> ram() const {
    return source::ram_frames(*input_.kernel.iomem, input_.page_bytes);
  }
  bool is_unwanted() const {
    return options_.is_unwanted != nullptr && *options_.is_unwanted;
  }
  base::Status take_census();
  void name_files(std::span<const analysis::PageOwner> owners);
  void name_owners();
  base::Status look_again();
  void open_structs();
  analysis::WhatIf imagine() const;

  const source::Roots& roots_;
  const LedgerOptions& options_;
  source::PageCensus census_;
  source::CgroupHierarchy cgroups_;
  source::ProcessReader reader_;
  analysis::LedgerInput input_;
  std::unordered_set<int32_t> known_pids_;
  std::map<std::string, uint64_t> group_inodes_;
  std::vector<std::string> group_paths_;     // of the processes
  base::TextArena texts_;                    // names of files
  std::vector<analysis::PageOwner> others_;  // files without a name
  analysis::PageSets sets_;
  std::optional<analysis::PageTally> tally_;
  std::optional<source::PageStructs> structs_;
  std::string tier_note_;
  uint64_t unread_count_ = 0;
  uint64_t unread_bytes_ = 0;
  uint64_t changed_pages_ = 0;
  uint64_t unreadable_pages_ = 0;
};

void LedgerReader::open_structs() {
  if (options_.most != LedgerTier::Structs || !roots_.is_live) return;
  base::Result<source::PageStructs> structs = source::PageStructs::open();
  if (structs) {
    structs_ = std::move(*structs);
  } else {
    tier_note_ = structs.error().what;
  }
}

// Those that are not known yet.
base::Status LedgerReader::read_processes() {
  base::Result<std::vector<int32_t>> pids = reader_.list_pids();
  if (!pids) return pids.error();
  // Ourselves last: what we hold grows while we look at the others.
  const auto self = static_cast<int32_t>(::getpid());
  std::stable_partition(pids->begin(), pids->end(),
                        [&](int32_t pid) { return pid != self; });
  for (int32_t pid : *pids) {
    if (known_pids_.contains(pid)) continue;
    base::Result<model::Process> process = reader_.read(pid);
    if (!process) continue;  // ended meanwhile
    known_pids_.insert(pid);
    LedgerProcess& one = input_.processes.emplace_back();
    one.pid = pid;
    one.name = process->stat.comm;
    one.thread_count = process->stat.thread_count;
    one.page_table_bytes = process->status.page_table_bytes.value_or(0);
    one.resident_bytes = process->status.rss_bytes.value_or(0);
    auto group = group_inodes_.find(process->cgroup_path);
    if (group != group_inodes_.end()) one.group = group->second;
    group_paths_.push_back(process->cgroup_path);
  }
  return base::Ok{};
}

void LedgerReader::walk_processes(const FrameVisitor& visit) {
  source::FrameWalk walk;
  unread_count_ = unread_bytes_ = 0;
  for (uint32_t i = 0; i < input_.processes.size(); ++i) {
    if (is_unwanted()) return;
    LedgerProcess& process = input_.processes[i];
    if (process.resident_bytes == 0) continue;
    base::Result<base::Directory> directory =
        source::open_process(roots_, process.pid);
    if (!directory) continue;
    base::Status status =
        walk.walk(*directory,
                  [&](std::span<const uint64_t> frames) { visit(i, frames); });
    process.is_read = static_cast<bool>(status);
    if (!status && status.error().kind == base::ErrorKind::Denied) {
      ++unread_count_;
      unread_bytes_ += process.resident_bytes;
    }
  }
}

void LedgerReader::read_counters() {
  base::Result<model::Machine> machine = source::read_machine(roots_, cgroups_);
  if (machine) {
    input_.meminfo = machine->meminfo;
    input_.zoneinfo = machine->zoneinfo.value_or(model::ZoneInfo());
    input_.page_bytes = machine->page_size_bytes;
  }
  input_.kernel.counters = source::read_page_counters(roots_);
  input_.kernel.vmalloc = source::read_vmallocinfo(roots_);
}

base::Status LedgerReader::take_census() {
  const bool by_mapper = options_.by == analysis::LedgerBy::Process ||
                         !options_.dying_pids.empty() ||
                         !options_.dying_groups.empty();
  tally_.emplace(
      sets_, by_mapper ? analysis::TallyBy::Mapper : analysis::TallyBy::Owner);
  if (structs_) {
    base::Result<std::vector<model::KernelStack>> stacks =
        structs_->kernel_stacks();
    if (stacks) tally_->set_stacks(*stacks);
  }
  if (structs_) {
    return census_.walk(ram(), &*structs_, [&](const model::PageChunk& chunk) {
      tally_->add(chunk);
    });
  }
  constexpr uint64_t kFramesPerLook = uint64_t{1} << 18;  // some 50 ms
  CpuLists lists(roots_);
  uint64_t next_look = 0;
  base::Status status =
      census_.walk(ram(), nullptr, [&](const model::PageChunk& chunk) {
        if (tally_->page_count() >= next_look) {
          lists.look();
          next_look += kFramesPerLook;
        }
        tally_->add(chunk);
      });
  lists.look();
  input_.zoneinfo.per_cpu_free_pages = lists.mean_pages();
  return status;
}

void LedgerReader::name_files(std::span<const analysis::PageOwner> owners) {
  // What was not told of has no name: it is one of the others.
  (void)visit_file_names(
      *structs_, source::FileNames(roots_), owners,
      [&](const NamedFile& file) -> base::Status {
        input_.files.push_back({file.address, texts_.keep(file.name)});
        return base::Ok{};
      });
}

void LedgerReader::name_owners() {
  if (!structs_) return;
  if (!tally_->is_by_mapper()) {
    const std::vector<analysis::PageOwner> shared =
        owners_of(*tally_, PageClass::Shmem);
    std::vector<analysis::PageOwner> cached =
        owners_of(*tally_, PageClass::File);
    const size_t named = std::min(cached.size(), options_.named_file_count);
    input_.files.reserve(shared.size() + named);
    name_files(shared);
    name_files(std::span(cached).first(named));
    std::ranges::sort(input_.files, {}, &analysis::FileName::address);
    input_.other_file_count = cached.size() - named;
    others_.assign(cached.begin() + static_cast<ptrdiff_t>(named),
                   cached.end());
  }
  std::vector<uint64_t> slabs;
  for (const analysis::PageOwner& owner : owners_of(*tally_, PageClass::Slab))
    slabs.push_back(owner.address);
  base::Result<std::vector<model::SlabCacheName>> caches =
      structs_->name_caches(slabs);
  if (caches) {
    for (model::SlabCacheName& cache : *caches)
      input_.caches[cache.address] = std::move(cache.name);
  }
}

// Pages that are mapped otherwise than we found: a second look at all processes
// tells those that changed meanwhile, and who maps them now.
base::Status LedgerReader::look_again() {
  const std::vector<analysis::PageTally::Page>& pages = tally_->disagreements();
  if (pages.empty()) return base::Ok{};
  base::Status status = read_processes();
  if (!status) return status;
  std::unordered_set<uint64_t> wanted;
  std::vector<uint64_t> frames;
  for (const analysis::PageTally::Page& page : pages) {
    wanted.insert(page.frame);
    frames.push_back(page.frame);
  }
  analysis::PageSets again;
  std::vector<uint64_t> found;
  walk_processes([&](uint32_t process, std::span<const uint64_t> all) {
    found.clear();
    std::ranges::copy_if(all, std::back_inserter(found), [&](uint64_t frame) {
      return wanted.contains(frame);
    });
    again.begin_process(process);
    again.add(found);
  });
  std::unordered_map<uint64_t, uint64_t> counts;
  status = census_.walk_frames(frames, [&](const model::PageChunk& chunk) {
    for (size_t i = 0; i < chunk.counts.size(); ++i) {
      const uint64_t frame = chunk.first_frame + i;
      if (wanted.contains(frame)) counts[frame] = chunk.counts[i];
    }
  });
  if (!status) return status;
  uint64_t unreadable_left = unread_bytes_ / input_.page_bytes;
  for (const analysis::PageTally::Page& page : pages) {
    const analysis::SetId now = again.find(page.frame);
    const bool is_same = counts[page.frame] == page.map_count;
    const bool is_found = again.map_count(now) == counts[page.frame];
    if (is_same && !is_found && now == 0 && unreadable_left > 0) {
      ++unreadable_pages_;
      --unreadable_left;
    } else if (!is_same || is_found) {
      ++changed_pages_;
    }
    if (is_same && is_found) {
      tally_->correct(page, sets_.find(page.frame),
                      sets_.set_of(again.members(now)));
    }
  }
  return base::Ok{};
}

analysis::WhatIf LedgerReader::imagine() const {
  std::vector<bool> dies(input_.processes.size());
  const auto is_within = [](const std::string& path, const std::string& group) {
    return path == group || path.starts_with(group == "/" ? "/" : group + "/");
  };
  for (size_t i = 0; i < dies.size(); ++i) {
    dies[i] =
        std::ranges::find(options_.dying_pids, input_.processes[i].pid) !=
            options_.dying_pids.end() ||
        std::ranges::any_of(options_.dying_groups, [&](const std::string& one) {
          return is_within(group_paths_[i], one);
        });
  }
  source::ObjectScanOptions objects;
  objects.search = false;  // what nobody refers to stays as it is
  const base::Result<model::ObjectScan> scan =
      source::scan_objects(roots_, objects);
  return what_if(input_, dies, scan ? &*scan : nullptr);
}

base::Result<LedgerReading> LedgerReader::read_sample() {
  const uint64_t started = base::monotonic_ns();
  read_counters();
  const std::vector<model::FrameRange> ranges = ram();
  uint64_t total = 0;
  for (const model::FrameRange& range : ranges)
    total += range.count();
  analysis::SampleTally sample(sets_);
  CpuLists lists(roots_);
  lists.look();
  base::Status status = census_.walk_sample(
      ranges, options_.sample_pages, analysis::PageTally::needs,
      [&](const model::PageChunk& pages) { sample.add(pages); });
  if (!status) return status.error();
  lists.look();
  input_.zoneinfo.per_cpu_free_pages = lists.mean_pages();
  input_.cpu_list_error_pages = lists.error_pages();
  const analysis::PageTally as_met = sample.estimate(total);
  input_.tally = &as_met;
  const analysis::PageTally tally =
      sample.estimate(total, counted_other_pages(input_));
  input_.tally = &tally;
  input_.sets = &sets_;
  input_.sample = &sample;
  LedgerReading reading;
  reading.ledger = make_ledger(input_);
  reading.ledger.elapsed_ns = base::monotonic_ns() - started;
  return reading;
}

base::Result<LedgerReading> LedgerReader::read() {
  const uint64_t started = base::monotonic_ns();
  open_structs();
  // Tables of megabytes follow one another here: what is freed must go back to
  // the system, and not be kept for the next of that size.
  ::mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  base::Status status = read_processes();
  if (!status) return status.error();
  read_counters();
  // Page structs tell whose each page of slab is.
  if (!structs_) input_.kernel.slab = source::read_slabinfo(roots_);
  walk_processes([&](uint32_t process, std::span<const uint64_t> frames) {
    sets_.begin_process(process);
    sets_.add(frames);
  });
  constexpr std::string_view kGivenUp = "it was no longer wanted";
  if (is_unwanted())
    return base::fail(base::ErrorKind::Gone, std::string(kGivenUp));
  status = take_census();
  if (is_unwanted())
    return base::fail(base::ErrorKind::Gone, std::string(kGivenUp));
  if (status) status = look_again();
  if (!status) return status.error();
  // The table of pages has done its work; names come where it was.
  const uint64_t own_bytes = sets_.memory_bytes();
  sets_.forget_pages();
  tally_->forget_disagreements();
  census_.forget_chunk();
  ::malloc_trim(0);  // it was in many small pieces
  name_owners();
  input_.tally = &*tally_;
  input_.sets = &sets_;
  input_.by = options_.by;
  LedgerReading reading;
  reading.ledger = make_ledger(input_, std::move(texts_));
  reading.ledger.changed_pages = changed_pages_;
  reading.ledger.unreadable_pages = unreadable_pages_;
  if (!options_.dying_pids.empty() || !options_.dying_groups.empty()) {
    reading.what_if = imagine();
  }
  if (!others_.empty()) {
    reading.other_files = name_later(std::move(*structs_), roots_,
                                     std::move(others_), input_.page_bytes);
    structs_.reset();
  }
  reading.ledger.tier_note = tier_note_;
  reading.ledger.own_bytes = own_bytes;
  if (!census_.group_note().empty()) {
    reading.ledger.notes.push_back("no groups: " + census_.group_note());
  }
  if (unread_count_ > 0) {
    reading.ledger.notes.push_back(
        std::to_string(unread_count_) +
        (unread_count_ == 1 ? " process may not be read; its resident "
                            : " processes may not be read; their resident ") +
        std::to_string(unread_bytes_ >> 10) + " KiB are in rows of nobody");
  }
  reading.ledger.elapsed_ns = base::monotonic_ns() - started;
  return reading;
}

base::Result<LedgerReading> read_counters_alone(const source::Roots& roots,
                                                const std::string& because) {
  model::Sample sample;
  base::Status status = source::SystemSource(roots).collect(sample);
  if (!status) return status.error();
  std::optional<analysis::SystemReport> report =
      analysis::make_system_report(sample);
  if (!report) {
    return base::fail(base::ErrorKind::Malformed,
                      "meminfo lacks MemTotal or MemFree");
  }
  LedgerReading reading;
  reading.ledger = make_counter_ledger(*report);
  reading.ledger.tier_note = because;
  return reading;
}

}  // namespace

base::Result<LedgerReading> read_ledger(const source::Roots& roots,
                                        const LedgerOptions& options) {
  const bool needs_pages =
      options.by != analysis::LedgerBy::Class || options.sample_pages > 0 ||
      !options.dying_pids.empty() || !options.dying_groups.empty();
  if (options.most == LedgerTier::Counters && !needs_pages) {
    return read_counters_alone(roots, "");
  }
  base::Result<Pages> pages = open_pages(roots);
  if (!pages && !needs_pages) {
    return read_counters_alone(roots, pages.error().what);
  }
  if (!pages) {
    base::Error error = pages.error();
    if (error.kind == base::ErrorKind::Denied) {
      error.hint =
          "only root may look at pages; `tidemark ledger` alone shows "
          "the kernel's counters";
    }
    return error;
  }
  LedgerReader reader(roots, options, std::move(*pages));
  return options.sample_pages > 0 ? reader.read_sample() : reader.read();
}

}  // namespace tidemark::watch
