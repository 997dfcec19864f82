#include "watch/exact_source.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "analysis/page_sets.h"
#include "base/file.h"
#include "source/process_parts.h"

namespace tidemark::watch {
namespace {

using model::PageSharing;
using model::SharedPages;

// Counts the pages of a set that are mapped so often in all.
class Sharing {
 public:
  Sharing(const analysis::PageSets& sets, PageSharing& to)
      : sets_(sets), to_(to) {}

  void add(uint64_t frame, uint64_t flags, uint64_t map_count) {
    const analysis::SetId set = sets_.find(frame);
    if (set == 0) return;
    // Unmapped since, by somebody: those who had it share it.
    const uint64_t found = sets_.map_count(set);
    const uint64_t count = std::max<uint64_t>(map_count, found);
    if (flags & model::kPageHugetlb) return;  // told apart from RSS
    if (flags & model::kPageAnon) {
      ++pages(set, count).anon_pages;
    } else if (flags & model::kPageSwapBacked) {
      ++pages(set, count).shmem_pages;
    } else if (flags & (model::kPageLru | model::kPageUptodate)) {
      ++pages(set, count).file_pages;
    }
    // The rest is the kernel's own: rings, the vdso. RSS leaves it out.
  }

 private:
  SharedPages& pages(analysis::SetId set, uint64_t map_count) {
    auto [found, is_new] =
        places_.try_emplace({set, map_count}, to_.sets.size());
    if (is_new) {
      SharedPages& fresh = to_.sets.emplace_back();
      fresh.map_count = map_count;
      for (const analysis::SetMember& member : sets_.members(set))
        fresh.mappers.push_back({member.process, member.times});
    }
    return to_.sets[found->second];
  }

  const analysis::PageSets& sets_;
  PageSharing& to_;
  std::map<std::pair<analysis::SetId, uint64_t>, size_t> places_;
};

}  // namespace

base::Result<std::unique_ptr<ExactSource>> ExactSource::open(
    const source::Roots& roots, model::Source& inner) {
  base::Result<source::PageCensus> census =
      source::PageCensus::open(roots.proc);
  if (!census) return census.error();
  return std::unique_ptr<ExactSource>(
      new ExactSource(roots, inner, std::move(*census)));
}

base::Status ExactSource::collect(model::Sample& sample) {
  base::Status status = inner_.collect(sample);
  if (!status) return status;
  PageSharing sharing;
  sharing.is_unknown.resize(sample.processes.size());
  if (sample.machine) sharing.page_bytes = sample.machine->page_size_bytes;
  analysis::PageSets sets;
  for (uint32_t i = 0; i < sample.processes.size(); ++i) {
    const model::Process& process = sample.processes[i];
    if (process.state == model::ProcessState::KernelThread ||
        process.state == model::ProcessState::Zombie) {
      continue;
    }
    base::Result<base::Directory> directory =
        source::open_process(roots_, process.id.pid);
    sets.begin_process(i);
    status = directory ? walk_.walk(*directory,
                                    [&](std::span<const uint64_t> frames) {
                                      sets.add(frames);
                                    })
                       : base::Status(directory.error());
    sharing.is_unknown[i] = !status;
  }
  Sharing sum(sets, sharing);
  status =
      census_.walk_frames(sets.frames(), [&](const model::PageChunk& chunk) {
        for (size_t i = 0; i < chunk.flags.size(); ++i)
          sum.add(chunk.first_frame + i, chunk.flags[i], chunk.counts[i]);
      });
  if (!status) return status;
  sample.sharing = std::move(sharing);
  return base::Ok{};
}

}  // namespace tidemark::watch
