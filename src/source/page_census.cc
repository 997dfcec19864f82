#include "source/page_census.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <random>
#include <span>
#include <utility>

#include "base/shares.h"

namespace tidemark::source {
namespace {

using model::PageStruct;

constexpr uint64_t kChunkFrames = uint64_t{1} << 14;
// What is skipped is skipped in steps of so many.
constexpr uint64_t kStepFrames = 512;
// A gap of so many frames is cheaper to read than another call.
constexpr uint64_t kNearFrames = 256;
// A call for one page takes the time of about so many in a long read (300 ns
// beside 45 were measured).
constexpr uint64_t kFramesPerCall = 6;
// A thread takes as long to start as some hundred pages to ask.
constexpr size_t kLeastEach = 2048;
// Pages of a sample are asked so many at a time: all wait for the last thread,
// which beside other work costs a turn of somebody else each time.
constexpr uint64_t kSampleBatch = uint64_t{1} << 16;

base::Status read_words(int fd, uint64_t first_frame, std::span<uint64_t> to,
                        uint64_t beyond) {
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t got =
        ::pread(fd, to.data() + done, (to.size() - done) * sizeof(uint64_t),
                static_cast<off_t>((first_frame + done) * sizeof(uint64_t)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno("/proc/kpage*", errno);
    // Half a word is none.
    if (static_cast<size_t>(got) < sizeof(uint64_t)) break;
    done += static_cast<size_t>(got) / sizeof(uint64_t);
  }
  std::ranges::fill(to.subspan(done), beyond);
  return base::Ok{};
}

// Neither mapped nor charged, whatever the other files would say.
bool is_settled(uint64_t flags, const PageStruct* page) {
  if (flags & (model::kPageBuddy | model::kPageAbsent)) return true;
  return flags == 0 && page && page->is_known && page->reference_count == 0;
}

// Calls `read` for parts of the ranges that end at round numbers, so that a
// large page is whole in its chunk.
template <typename Read>
base::Status for_each_chunk(const std::vector<model::FrameRange>& ranges,
                            const Read& read) {
  for (const model::FrameRange& range : ranges) {
    uint64_t first = range.first;
    while (first < range.last) {
      const uint64_t end =
          std::min(range.last, (first / kChunkFrames + 1) * kChunkFrames);
      base::Status status = read(first, end - first);
      if (!status) return status;
      first = end;
    }
  }
  return base::Ok{};
}

}  // namespace

std::vector<model::FrameRange> ram_frames(const model::IoMemory& iomem,
                                          uint64_t page_bytes) {
  std::vector<model::FrameRange> ranges;
  for (const model::IoResource& resource : iomem.resources) {
    if (!model::is_system_ram(resource)) continue;
    const model::FrameRange range = {
        (resource.first + page_bytes - 1) / page_bytes,
        (resource.last + 1) / page_bytes};
    if (range.first < range.last) ranges.push_back(range);
  }
  return ranges;
}

base::Result<PageCensus> PageCensus::open(const base::Directory& proc) {
  PageCensus census;
  base::Result<base::Fd> flags = base::open_file_at(proc, "kpageflags");
  if (!flags) return flags.error();
  base::Result<base::Fd> counts = base::open_file_at(proc, "kpagecount");
  if (!counts) return counts.error();
  base::Result<base::Fd> groups = base::open_file_at(proc, "kpagecgroup");
  census.flags_file_ = std::move(*flags);
  census.counts_file_ = std::move(*counts);
  if (groups) {
    census.groups_file_ = std::move(*groups);
  } else {
    census.group_note_ = groups.error().what;
  }
  return census;
}

// The counts and groups of the stretches in which any page can have them.
base::Status PageCensus::read_rest(uint64_t first_frame, uint64_t count,
                                   bool has_structs) {
  counts_.assign(count, 0);
  if (groups_file_) groups_.assign(count, 0);
  const auto is_all_settled = [&](uint64_t step) {
    const uint64_t end = std::min(count, step + kStepFrames);
    for (uint64_t i = step; i < end; ++i) {
      if (!is_settled(flags_[i], has_structs ? &structs_[i] : nullptr)) {
        return false;
      }
    }
    return true;
  };
  for (uint64_t begin = 0; begin < count;) {
    if (is_all_settled(begin)) {
      begin += kStepFrames;
      continue;
    }
    uint64_t end = begin + kStepFrames;
    while (end < count && !is_all_settled(end))
      end += kStepFrames;
    end = std::min(end, count);
    base::Status status =
        read_words(counts_file_.get(), first_frame + begin,
                   std::span(counts_).subspan(begin, end - begin), 0);
    if (status && groups_file_) {
      status = read_words(groups_file_.get(), first_frame + begin,
                          std::span(groups_).subspan(begin, end - begin), 0);
    }
    if (!status) return status;
    begin = end;
  }
  return base::Ok{};
}

base::Status PageCensus::read_owners(uint64_t first_frame, uint64_t count,
                                     PageStructs* structs) {
  flags_.resize(count);
  base::Status status =
      read_words(flags_file_.get(), first_frame, flags_, model::kPageAbsent);
  if (!status || !structs) return status;
  structs_.resize(count);
  return structs->read(first_frame, flags_, structs_);
}

base::Status PageCensus::read_chunk(uint64_t first_frame, uint64_t count,
                                    PageStructs* structs) {
  base::Status status = read_owners(first_frame, count, structs);
  if (!status) return status;
  return read_rest(first_frame, count, structs != nullptr);
}

void PageCensus::visit_chunk(uint64_t first_frame, bool has_structs,
                             const Visitor& visit) const {
  model::PageChunk chunk;
  chunk.first_frame = first_frame;
  chunk.flags = flags_;
  chunk.counts = counts_;
  if (groups_file_) chunk.groups = groups_;
  if (has_structs) chunk.structs = structs_;
  visit(chunk);
}

base::Status PageCensus::walk(const std::vector<model::FrameRange>& ranges,
                              PageStructs* structs, const Visitor& visit) {
  return for_each_chunk(
      ranges, [&](uint64_t first, uint64_t count) -> base::Status {
        base::Status status = read_chunk(first, count, structs);
        if (status) visit_chunk(first, structs != nullptr, visit);
        return status;
      });
}

base::Status PageCensus::walk_owners(
    const std::vector<model::FrameRange>& ranges, PageStructs& structs,
    const Visitor& visit) {
  return for_each_chunk(
      ranges, [&](uint64_t first, uint64_t count) -> base::Status {
        base::Status status = read_owners(first, count, &structs);
        if (!status) return status;
        model::PageChunk chunk;
        chunk.first_frame = first;
        chunk.flags = flags_;
        chunk.structs = structs_;
        visit(chunk);
        return base::Ok{};
      });
}

base::Status PageCensus::read_pages(std::span<const uint64_t> frames,
                                    size_t begin, size_t end,
                                    const Needs& needs) {
  for (size_t i = begin; i < end; ++i) {
    const auto read = [&](const base::Fd& file, std::vector<uint64_t>& words,
                          uint64_t beyond) {
      return read_words(file.get(), frames[i], std::span(words).subspan(i, 1),
                        beyond);
    };
    base::Status status = read(flags_file_, flags_, model::kPageAbsent);
    if (!status) return status;
    const model::PageNeeds needed = needs(flags_[i]);
    if (needed.count) status = read(counts_file_, counts_, 0);
    if (status && needed.group && groups_file_) {
      status = read(groups_file_, groups_, 0);
    }
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status PageCensus::visit_pages(std::span<const uint64_t> frames,
                                     const Needs& needs, const Visitor& visit) {
  flags_.resize(frames.size());
  counts_.assign(frames.size(), 0);
  if (groups_file_) groups_.assign(frames.size(), 0);
  std::mutex guard;
  base::Status status = base::Ok{};
  base::in_shares(frames.size(), kLeastEach, [&](size_t begin, size_t end) {
    base::Status one = read_pages(frames, begin, end, needs);
    if (one) return;
    const std::lock_guard lock(guard);
    status = one;
  });
  if (!status) return status;
  for (size_t i = 0; i < frames.size(); ++i) {
    model::PageChunk page;
    page.first_frame = frames[i];
    page.flags = std::span(flags_).subspan(i, 1);
    page.counts = std::span(counts_).subspan(i, 1);
    if (groups_file_) page.groups = std::span(groups_).subspan(i, 1);
    visit(page);
  }
  return base::Ok{};
}

base::Status PageCensus::walk_sample(
    const std::vector<model::FrameRange>& ranges, uint64_t page_count,
    const Needs& needs, const Visitor& visit) {
  uint64_t total = 0;
  for (const model::FrameRange& range : ranges)
    total += range.count();
  if (page_count >= total / kFramesPerCall) return walk(ranges, nullptr, visit);
  std::random_device seed;
  std::mt19937_64 random(seed());
  size_t at = 0;
  uint64_t before = 0;  // frames in the ranges before that one
  // Parts are of one size but for one frame, and the longer ones are spread
  // over all: were they the first, the last frames would count too much, which
  // was 0.7 % of 4 GiB that lay there.
  uint64_t part_first = 0;
  uint64_t owed = 0;  // of the frames that are left when all parts are as short
  std::vector<uint64_t> frames;
  frames.reserve(std::min(page_count, kSampleBatch));
  for (uint64_t part = 0; part < page_count; ++part) {
    owed += total % page_count;
    const uint64_t length = total / page_count + (owed >= page_count ? 1 : 0);
    if (owed >= page_count) owed -= page_count;
    const uint64_t place = part_first + random() % length;
    part_first += length;
    while (place >= before + ranges[at].count())
      before += ranges[at++].count();
    frames.push_back(ranges[at].first + (place - before));
    if (frames.size() < kSampleBatch && part + 1 < page_count) continue;
    base::Status status = visit_pages(frames, needs, visit);
    if (!status) return status;
    frames.clear();
  }
  return base::Ok{};
}

void PageCensus::forget_chunk() {
  for (std::vector<uint64_t>* words : {&flags_, &counts_, &groups_})
    std::vector<uint64_t>().swap(*words);
  std::vector<PageStruct>().swap(structs_);
}

base::Status PageCensus::walk_frames(const std::vector<uint64_t>& frames,
                                     const Visitor& visit) {
  for (size_t begin = 0; begin < frames.size();) {
    size_t end = begin + 1;
    while (end < frames.size() &&
           frames[end] - frames[end - 1] <= kNearFrames &&
           frames[end] - frames[begin] < kChunkFrames) {
      ++end;
    }
    const uint64_t count = frames[end - 1] - frames[begin] + 1;
    flags_.resize(count);
    counts_.resize(count);
    base::Status status = read_words(flags_file_.get(), frames[begin], flags_,
                                     model::kPageAbsent);
    if (status) {
      status = read_words(counts_file_.get(), frames[begin], counts_, 0);
    }
    if (!status) return status;
    model::PageChunk chunk;
    chunk.first_frame = frames[begin];
    chunk.flags = flags_;
    chunk.counts = counts_;
    visit(chunk);
    begin = end;
  }
  return base::Ok{};
}

}  // namespace tidemark::source
