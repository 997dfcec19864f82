// The best value of memory that was not read in full at this moment. A full
// read of a process costs time, so a recording has the split of its memory
// (PSS, private, by kind and mapping) from an earlier moment, or not at all.
// The kernel's counters of resident pages cost next to nothing and are of every
// moment: they scale the last split, and bound what was never split.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/category.h"
#include "model/process.h"

namespace tidemark::model {

// The name of what was never divided by those that share it.
inline constexpr std::string_view kUnsplitName = "not read in full";

// Which counter says how much of some memory is resident now.
enum class CounterKind : uint8_t { Anon, File, Shmem, Huge, Swap, All };

// Of the pages of a kind of memory that are not anonymous: the anonymous ones
// of any mapping, bss or a page that was copied on write, follow Anon.
CounterKind counter_kind(Category category);
uint64_t counter_bytes(const ResidentCounters& counters, CounterKind kind);

// What has ended, and a thread of the kernel, has none, whatever is counted.
bool has_memory(ProcessState state);

// Of the process now. Empty where the kernel does not report them. Where only
// statm can be read, file and shared memory are one number: it is in file.
std::optional<ResidentCounters> resident_counters(
    const ProcessStatus& status, const std::optional<Statm>& statm,
    uint64_t page_size_bytes);
std::optional<ResidentCounters> resident_counters(const Process& process,
                                                  uint64_t page_size_bytes);

// How much of what was split `then` is there now. `split` is what was read: it
// may be more than the counters, which were read first, of a process that grew
// meanwhile. No estimate exceeds the counters of now.
class SplitScale {
 public:
  SplitScale(const ResidentCounters& then, const ResidentCounters& split,
             const ResidentCounters& now);

  bool is_same() const { return then_ == now_; }
  uint64_t scaled(CounterKind kind, uint64_t amount) const;
  // Resident now, of kinds that the split had nothing of.
  ResidentCounters unsplit() const;

 private:
  ResidentCounters then_;
  ResidentCounters now_;
};

// An amount of memory, in bytes or KiB.
struct BestShare {
  uint64_t rss = 0;
  uint64_t pss = 0;  // the best value
  uint64_t uss = 0;
  uint64_t swap = 0;
  uint64_t bounded = 0;    // of pss: resident pages that were never divided
  uint64_t estimated = 0;  // of pss: scaled since it was read

  void add(const BestShare& other);
  void subtract(const BestShare& other);  // of what was added before
  bool operator==(const BestShare&) const = default;
};

// The same parted by the counters that it follows.
struct SplitShare {
  BestShare anonymous;
  BestShare other;

  // `anonymous_rss`: how much of its resident pages is anonymous.
  static SplitShare of(const BestShare& whole, uint64_t anonymous_rss);
  void add(const SplitShare& more);
  void subtract(const SplitShare& less);
  BestShare whole() const;
  BestShare scaled(Category category, const SplitScale& scale) const;
};

// How much of the share follows each counter, in bytes.
ResidentCounters resident_of(Category category, const SplitShare& share,
                             uint64_t unit_bytes);

using SplitShares = std::array<SplitShare, kCategoryCount>;
using BestShares = std::array<BestShare, kCategoryCount>;

// What was never split, as the counters tell it apart, in such units.
BestShares bounded_shares(const ResidentCounters& unsplit, uint64_t unit_bytes);

// The shares of one process at each moment: its counters are set whenever they
// change, its split whenever it is read.
class BestProcess {
 public:
  explicit BestProcess(uint64_t unit_bytes) : unit_bytes_(unit_bytes) {}

  void set_counters(const std::optional<ResidentCounters>& now) { now_ = now; }
  const std::optional<ResidentCounters>& counters() const { return now_; }
  // To be changed by whoever reads it; marked as read with the counters of now.
  SplitShares& split() { return split_; }
  void mark_split() { then_ = now_; }
  // Its memory has gone.
  void clear();

  // The last split scaled to the counters of now, and what it had nothing of.
  BestShares shares() const;
  // PSS of its anonymous pages, whatever they are of: also those of images.
  uint64_t anonymous() const;
  // Empty where they are those that were read.
  std::optional<SplitScale> scale() const;

 private:
  uint64_t unit_bytes_;
  SplitShares split_{};
  // Nothing is split at first. Empty: counters were not known.
  std::optional<ResidentCounters> then_ = ResidentCounters();
  std::optional<ResidentCounters> now_;
};

// Brings mappings that were read `age_ns` ago, at those counters, to the
// counters of now. process.kinds are the kinds of the mappings.
void bring_to_now(const ResidentCounters& then, uint64_t age_ns,
                  uint64_t page_size_bytes, Process& process);

// Memory that processes share, each page counted once: their resident pages
// count it once per process.
struct SharedLimits {
  std::optional<uint64_t> file;   // page cache that is mapped
  std::optional<uint64_t> shmem;  // shared memory
  bool operator==(const SharedLimits&) const = default;
};

// Takes from sums over several processes what is more than there is, first from
// what is only bounded, then from estimates: what was measured stays. In the
// unit of the shares.
void count_shared_once(const SharedLimits& limits, BestShares& shares);

}  // namespace tidemark::model
