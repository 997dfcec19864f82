#include "source/page_account.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace tidemark::source {
namespace {

// Numbers of nodes are counted from 1, so that 0 says nobody is known.
constexpr uint32_t kMoved = 0xffffffff;
constexpr uint32_t kMostWeight = 31;
// Above any kernel's; only there to bound a loop over what an event claims.
constexpr uint32_t kMostOrder = 20;
constexpr uint64_t kFirstStretchNs = 500'000'000;

}  // namespace

FrameTable::~FrameTable() {
  clear();
}

void FrameTable::clear() {
  if (entries_) ::munmap(entries_, frame_count_ * sizeof *entries_);
  entries_ = nullptr;
  frame_count_ = 0;
}

bool FrameTable::grow(uint64_t frame) {
  constexpr uint64_t kFewest = uint64_t{1} << 20;
  if (frame >= most_frames_) return false;
  const uint64_t count = std::max(kFewest, std::bit_ceil(frame + 1));
  const uint64_t bytes = count * sizeof *entries_;
  void* at = entries_
                 ? ::mremap(entries_, frame_count_ * sizeof *entries_, bytes,
                            MREMAP_MAYMOVE)
                 : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  entries_ = static_cast<uint32_t*>(at);
  frame_count_ = count;
  return true;
}

class PageAccount::Release {
 public:
  explicit Release(PageAccount& account) : account_(account) {}
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
  ~Release() { end_run(); }

  void add(uint32_t entry) {
    const uint32_t owner = number_of(entry);
    if (owner != owner_) {
      end_run();
      owner_ = owner;
    }
    pages_ += weight_of(entry);
  }

 private:
  void end_run() {
    if (pages_ > 0) account_.book(owner_, -pages_, 0);
    pages_ = 0;
  }
  PageAccount& account_;
  uint32_t owner_ = 0;
  int64_t pages_ = 0;
};

PageAccount::PageAccount(uint64_t sample_period, const Bounds& bounds)
    : sample_(sample_period),
      bounds_(bounds),
      frames_(bounds.frames),
      lows_(kFirstStretchNs) {}

uint64_t PageAccount::scaled(int64_t pages) const {
  return pages > 0 ? static_cast<uint64_t>(pages) * sample_.period() : 0;
}

uint32_t PageAccount::find_node(PageOwner owner) {
  const uint64_t key = uint64_t{owner.stack} << 32 | owner.task;
  const auto known = node_of_.find(key);
  if (known != node_of_.end()) return known->second;
  if (nodes_.size() >= bounds_.nodes) return 0;
  nodes_.emplace_back().owner = owner;
  const auto number = static_cast<uint32_t>(nodes_.size());
  node_of_.emplace(key, number);
  if (tasks_.size() <= owner.task) tasks_.resize(owner.task + 1);
  return number;
}

void PageAccount::book_machine(Node& node, int64_t change, uint64_t time_ns) {
  machine_.pages += change;
  if (change > 0 && machine_.pages > machine_.peak_pages) {
    machine_.peak_pages = machine_.pages;
    peak_ns_ = time_ns;
    if (has_changed_since_peak_) {
      has_changed_since_peak_ = false;
      ++epoch_;
    }
  } else if (node.epoch != epoch_) {
    node.saved_pages = node.pages;
    node.epoch = epoch_;
    has_changed_since_peak_ = true;
  }
}

void PageAccount::book(uint32_t number, int64_t change, uint64_t time_ns,
                       uint64_t allocation_count) {
  Node& node = nodes_[number - 1];
  book_machine(node, change, time_ns);
  node.pages += change;
  Sum& task = tasks_[node.owner.task];
  task.pages += change;
  if (change < 0) return;
  node.peak_pages = std::max(node.peak_pages, node.pages);
  node.allocation_count += allocation_count;
  if (node.pages == change) node.held_since_ns = time_ns;
  task.peak_pages = std::max(task.peak_pages, task.pages);
}

void PageAccount::alloc(PageBlock block, PageOwner owner, uint64_t time_ns,
                        uint32_t weight_shift) {
  if (block.order > kMostOrder || !is_followed(block)) return;
  weight_shift = std::min(weight_shift, kMostWeight);
  const uint32_t number = find_node(owner);
  if (number == 0) {
    ++faults_.table_full;
    return;
  }
  const uint32_t mine = number | weight_shift << kNumberBits;
  int64_t taken = 0;
  {
    Release release(*this);
    for (uint64_t i = 0; i < uint64_t{1} << block.order; ++i) {
      if (!sample_.has(block.frame + i)) continue;
      uint32_t* entry = frames_.entry(block.frame + i);
      if (!entry) {
        ++faults_.out_of_range;
        continue;
      }
      const uint32_t before = std::exchange(*entry, mine);
      taken += weight_of(mine);
      if (before == 0 || before == kMoved) continue;
      ++faults_.overwritten;  // its free was missed
      release.add(before);
    }
  }
  if (taken > 0) book(number, taken, time_ns, uint64_t{1} << weight_shift);
}

void PageAccount::free_frame(uint64_t frame, Release& release) {
  if (!sample_.has(frame)) return;
  uint32_t* entry = frames_.entry(frame);
  if (!entry) return;
  const uint32_t before = *entry;
  if (before == 0) {
    ++faults_.untracked_freed;
    return;
  }
  *entry = 0;
  if (before != kMoved) release.add(before);
}

void PageAccount::free(PageBlock block) {
  if (block.order > kMostOrder) return;
  Release release(*this);
  for (uint64_t i = 0; i < uint64_t{1} << block.order; ++i)
    free_frame(block.frame + i, release);
}

void PageAccount::free_each(uint64_t first_frame, uint64_t bits) {
  Release release(*this);
  for (; bits != 0; bits &= bits - 1) {
    free_frame(first_frame + static_cast<uint64_t>(std::countr_zero(bits)),
               release);
  }
}

void PageAccount::move(uint64_t from, uint64_t to) {
  if (from == to) return;
  // Both, since asking for one may move the other.
  if (!frames_.entry(from) || !frames_.entry(to)) return;
  uint32_t* old_entry = frames_.entry(from);
  uint32_t* new_entry = frames_.entry(to);
  // Mapped more than once: the first mapping has moved the owner already.
  if (*old_entry == kMoved) return;
  const uint32_t target_owner = *new_entry;
  const bool is_followed_on = sample_.has(to);
  const uint32_t owner = std::exchange(*old_entry, kMoved);
  *new_entry = is_followed_on ? owner : 0;
  const auto drop = [this](uint32_t entry) {
    book(number_of(entry), -weight_of(entry), 0);
  };
  if (owner != 0 && !is_followed_on) drop(owner);
  if (target_owner != 0 && target_owner != kMoved) drop(target_owner);
}

void PageAccount::keep_peak() {
  for (Node& node : nodes_) {
    node.saved_pages = pages_at_machine_peak(node);
    node.epoch = epoch_;
  }
}

void PageAccount::restate(uint32_t number, int64_t pages,
                          std::optional<int64_t> machine_peak_pages) {
  Node& node = nodes_[number - 1];
  const int64_t change = pages - node.pages;
  node.pages = pages;
  tasks_[node.owner.task].pages += change;
  machine_.pages += change;
  if (machine_peak_pages) node.saved_pages = *machine_peak_pages;
}

void PageAccount::look(uint64_t elapsed_ns) {
  std::vector<LowHistory::Holding> holdings;
  holdings.reserve(nodes_.size());
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const int64_t pages = nodes_[i].pages;
    holdings.push_back({i, pages > 0 ? static_cast<uint64_t>(pages) : 0});
  }
  lows_.look(elapsed_ns, holdings);
}

void PageAccount::build(const Names& names, uint64_t now_ns,
                        model::TraceBuilder& builder) const {
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    model::TraceLeaf& leaf = builder.leaf(names.stack_of[node.owner.stack],
                                          names.task_of[node.owner.task]);
    leaf.pages += scaled(node.pages);
    leaf.peak_pages += scaled(node.peak_pages);
    leaf.machine_peak_pages += scaled(pages_at_machine_peak(node));
    leaf.allocation_count += node.allocation_count * sample_.period();
    const std::vector<uint64_t> node_lows = lows_.lows_of(i);
    leaf.lows.resize(std::max(leaf.lows.size(), node_lows.size()));
    for (size_t at = 0; at < node_lows.size(); ++at)
      leaf.lows[at] += node_lows[at] * sample_.period();
    if (node.pages > 0 && now_ns > node.held_since_ns) {
      leaf.held_ns = std::max(leaf.held_ns, now_ns - node.held_since_ns);
    }
  }
  for (uint32_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].peak_pages == 0) continue;  // it may have no name
    model::TraceTask& task = builder.task_at(names.task_of[i]);
    task.pages += scaled(tasks_[i].pages);
    task.peak_pages += scaled(tasks_[i].peak_pages);
  }
  model::Trace& head = builder.head();
  head.sample_period = sample_.period();
  head.pages = scaled(machine_.pages);
  head.peak_pages = scaled(machine_.peak_pages);
  head.low_stretch_ns = lows_.stretch_ns();
  head.faults.untracked_freed += faults_.untracked_freed * head.sample_period;
  head.faults.overwritten += faults_.overwritten * head.sample_period;
  head.faults.out_of_range += faults_.out_of_range;
  head.faults.table_full += faults_.table_full;
}

}  // namespace tidemark::source
