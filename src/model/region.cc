#include "model/region.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>

namespace tidemark::model {
namespace {

struct KindWords {
  std::string_view token;
  Category category;
};
constexpr std::array<KindWords, 19> kRegionKinds = {{
    {"image", Category::Code},     {"heap", Category::Heap},
    {"arena", Category::Heap},     {"named_heap", Category::Heap},
    {"stack", Category::Stack},    {"thread_stack", Category::Stack},
    {"anon", Category::Anon},      {"named_anon", Category::Anon},
    {"jit", Category::Anon},       {"reservation", Category::Anon},
    {"memfd", Category::Shm},      {"shared_anon", Category::Shm},
    {"sysv", Category::Shm},       {"tmpfs", Category::Shm},
    {"file", Category::File},      {"device", Category::File},
    {"hugetlb", Category::Huge},   {"vdso", Category::Code},
    {"rollup", Category::Unnamed},
}};

// HEAP_MAX_SIZE of glibc on 64-bit machines: arenas beyond the first are
// aligned to it and reserve it whole, so that an address tells its arena.
constexpr uint64_t kArenaBytes = uint64_t{64} << 20;
// pthread_attr_setguardsize defaults to one page; nobody uses more than a few.
constexpr uint64_t kMaxGuardBytes = uint64_t{1} << 20;

// The bss of nearly every library is smaller; that of libc is 52 KiB.
constexpr uint64_t kUnprovenBssBytes = uint64_t{256} << 10;

bool is_private_anonymous(const Mapping& m) {
  return !m.permissions.shared && m.inode_id == 0 &&
         (m.name.empty() || m.name.starts_with("[anon"));
}

bool is_plain_anonymous(const Mapping& m) {
  return is_private_anonymous(m) && m.name.empty();
}

bool is_writable_data(const Mapping& m) {
  return m.permissions.read && m.permissions.write && !m.permissions.execute;
}

using FileKey = std::tuple<uint32_t, uint32_t, uint64_t>;

FileKey file_key(const Mapping& m) {
  return {m.device_major, m.device_minor, m.inode_id};
}

bool same_file(const Mapping& a, const Mapping& b) {
  return a.inode_id != 0 && file_key(a) == file_key(b);
}

bool contains(const Mapping& m, uint64_t address) {
  return address >= m.start_address && address < m.end_address;
}

bool is_hugetlb(const Mapping& m) {
  static const uint64_t kHugeFlag = vm_flag_bit("ht");
  return (m.vm_flags & kHugeFlag) != 0 || m.name.starts_with("/anon_hugepage");
}

bool is_vdso(std::string_view name) {
  return name == "[vdso]" || name.starts_with("[vvar") ||
         name == "[vsyscall]" || name == "[uprobes]" || name == "[sigpage]" ||
         name == "[vectors]";
}

// "[anon:NAME]" and "[anon: NAME]"; empty for other names.
std::string_view anonymous_name(std::string_view name) {
  constexpr std::string_view kHead = "[anon:";
  if (!name.starts_with(kHead) || !name.ends_with(']')) return {};
  name = name.substr(kHead.size(), name.size() - kHead.size() - 1);
  while (name.starts_with(' '))
    name.remove_prefix(1);
  return name;
}

bool names_allocator(std::string_view name) {
  constexpr std::string_view kAllocators[] = {
      "malloc",   "scudo",           "jemalloc", "mimalloc",
      "tcmalloc", "partition_alloc", "heap",
  };
  return std::ranges::any_of(kAllocators, [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

bool names_stack(std::string_view name) {
  return name.find("pthread stack") != std::string_view::npos ||
         name.starts_with("stack_and_tls");
}

std::string file_base_name(std::string_view name) {
  const size_t slash = name.rfind('/');
  return std::string(slash == std::string_view::npos ? name
                                                     : name.substr(slash + 1));
}

class RegionFinder {
 public:
  RegionFinder(const std::vector<Mapping>& mappings, const RegionHints& hints)
      : mappings_(mappings), hints_(hints) {
    for (const Thread& thread : hints.threads) {
      // The main thread is in [stack], located or not.
      if (!thread.stack_pointer_address && thread.thread_id != hints.pid) {
        ++unlocated_threads_;
      }
    }
    for (const Mapping& m : mappings) {
      if (m.is_file() && m.permissions.execute) images_.insert(file_key(m));
    }
  }

  std::vector<Region> find() {
    std::vector<Region> regions;
    for (size_t i = 0; i < mappings_.size();) {
      Region region = region_at(i);
      i += region.mapping_count;
      regions.push_back(std::move(region));
    }
    return regions;
  }

 private:
  // Tried in this order: what the kernel names, what a stack pointer or an
  // alignment proves, then what is left.
  Region region_at(size_t i) {
    const Mapping& m = mappings_[i];
    if (is_hugetlb(m)) return single(RegionKind::HugeTlb, i, m.name);
    if (m.name == "[stack]") return single(RegionKind::MainStack, i, m.name);
    if (m.name == "[heap]") return single(RegionKind::BrkHeap, i, m.name);
    if (is_vdso(m.name)) return vdso_at(i);
    if (m.name == kRollupName) return single(RegionKind::Rollup, i, m.name);
    if (std::optional<Region> stack = thread_stack_at(i)) return *stack;
    if (std::optional<Region> arena = arena_at(i)) return *arena;
    if (std::optional<Region> shared = shared_memory_at(i)) return *shared;
    if (m.is_file()) return file_at(i);
    return anonymous_at(i);
  }

  static Region single(RegionKind kind, size_t i, std::string name) {
    return Region{kind, i, 1, std::move(name), 0};
  }

  Region vdso_at(size_t i) const {
    // [vsyscall] follows [vdso] on many kernels and lies in their half of the
    // addresses: only neighbours are one region.
    size_t count = 1;
    while (touches_next(i + count - 1) && is_vdso(mappings_[i + count].name)) {
      ++count;
    }
    return Region{RegionKind::Vdso, i, count, "[vdso]", 0};
  }

  bool touches_next(size_t i) const {
    return i + 1 < mappings_.size() &&
           mappings_[i].end_address == mappings_[i + 1].start_address;
  }

  const Thread* thread_in(const Mapping& m) const {
    for (const Thread& thread : hints_.threads) {
      if (thread.stack_pointer_address &&
          contains(m, *thread.stack_pointer_address)) {
        return &thread;
      }
    }
    return nullptr;
  }

  // A stack is told by a thread's stack pointer in it, or by the name its
  // library gave it; the guard lies directly below. For threads whose pointer
  // the kernel did not tell (they were running) the shape must do: a small
  // guard, and writable memory right above it.
  std::optional<Region> thread_stack_at(size_t i) {
    const Mapping& m = mappings_[i];
    const bool is_guard = is_private_anonymous(m) && m.is_inaccessible() &&
                          m.size_bytes() <= kMaxGuardBytes && touches_next(i);
    const size_t stack_index = is_guard ? i + 1 : i;
    const Mapping& stack = mappings_[stack_index];
    if (!is_private_anonymous(stack) || !stack.permissions.write) {
      return std::nullopt;
    }
    const size_t count = stack_index - i + 1;
    if (const Thread* thread = thread_in(stack)) {
      return Region{RegionKind::ThreadStack, i, count, thread->comm,
                    thread->thread_id};
    }
    if (names_stack(anonymous_name(stack.name))) {
      return Region{RegionKind::ThreadStack, i, count, stack.name, 0};
    }
    if (is_guard && unlocated_threads_ > 0 && is_plain_anonymous(stack) &&
        stack.size_bytes() > m.size_bytes() && !arena_at(stack_index)) {
      --unlocated_threads_;
      return Region{RegionKind::ThreadStack, i, count, "", 0};
    }
    return std::nullopt;
  }

  // The used part of an arena, then its reserve up to the next 64 MiB border.
  // The reserve may run on into a neighbour's guard, which the kernel merges.
  std::optional<Region> arena_at(size_t i) const {
    const Mapping& m = mappings_[i];
    if (!is_plain_anonymous(m) || !is_writable_data(m) ||
        m.start_address % kArenaBytes != 0) {
      return std::nullopt;
    }
    const uint64_t border = m.start_address + kArenaBytes;
    if (m.end_address == border) {
      return Region{RegionKind::Arena, i, 1, "malloc arena", 0};
    }
    if (!touches_next(i)) return std::nullopt;
    const Mapping& reserve = mappings_[i + 1];
    if (!is_plain_anonymous(reserve) || !reserve.is_inaccessible() ||
        reserve.end_address < border) {
      return std::nullopt;
    }
    return Region{RegionKind::Arena, i, 2, "malloc arena", 0};
  }

  std::optional<Region> shared_memory_at(size_t i) const {
    const Mapping& m = mappings_[i];
    if (m.name.starts_with("/memfd:")) {
      return single(RegionKind::MemFd, i, m.name);
    }
    if (m.name.starts_with("/SYSV")) {
      return single(RegionKind::SysV, i, m.name);
    }
    if (m.name == "/dev/zero (deleted)" || m.name.starts_with("[anon_shmem:")) {
      return single(RegionKind::SharedAnonymous, i, m.name);
    }
    const DeviceNumber device{m.device_major, m.device_minor};
    const bool in_memory = std::ranges::find(hints_.memory_devices, device) !=
                               hints_.memory_devices.end() ||
                           m.name.starts_with("/dev/shm/");
    // A program run from tmpfs is still a program.
    if (m.is_file() && in_memory && !is_image(m)) {
      return single(RegionKind::TmpFile, i, m.name);
    }
    return std::nullopt;
  }

  // The loader maps at least one segment of every program and library
  // executable; data files never are.
  bool is_image(const Mapping& file) const {
    return images_.contains(file_key(file));
  }

  // The loader maps the bss, writable and nameless, right behind the data. But
  // mmap places new memory next to old, and the kernel merges neighbours: what
  // lies behind a library may as well be a heap of any size. The program
  // headers tell how far the image reaches; a mapping that goes on behind that
  // cannot be parted, and belongs to what it has more of. Where they could not
  // be read, a small tail is taken for it.
  bool has_bss_behind(size_t first, size_t last) const {
    if (!touches_next(last)) return false;
    const Mapping& tail = mappings_[last + 1];
    if (!is_plain_anonymous(tail) || !is_writable_data(tail) ||
        thread_in(tail) || arena_at(last + 1)) {
      return false;
    }
    const FileKey file = file_key(mappings_[first]);
    for (const ImageSpan& image : hints_.images) {
      if (FileKey(image.device_major, image.device_minor, image.inode_id) !=
          file) {
        continue;
      }
      const uint64_t reach = std::min(
          mappings_[first].start_address + image.span_bytes, tail.end_address);
      return reach > tail.start_address &&
             reach - tail.start_address >= tail.size_bytes() / 2;
    }
    return tail.size_bytes() <= kUnprovenBssBytes;
  }

  Region file_at(size_t i) const {
    const Mapping& m = mappings_[i];
    if (m.name.starts_with("/dev/")) {
      return single(RegionKind::Device, i, m.name);
    }
    if (!is_image(m)) return single(RegionKind::File, i, m.name);
    size_t last = i;
    for (size_t next = i + 1; next < mappings_.size(); ++next) {
      const Mapping& candidate = mappings_[next];
      if (same_file(candidate, m)) {
        last = next;
      } else if (!is_plain_anonymous(candidate) ||
                 candidate.start_address != mappings_[next - 1].end_address) {
        break;
      }
    }
    if (has_bss_behind(i, last)) ++last;
    return Region{RegionKind::Image, i, last - i + 1, file_base_name(m.name),
                  0};
  }

  Region anonymous_at(size_t i) const {
    const Mapping& m = mappings_[i];
    const std::string_view name = anonymous_name(m.name);
    if (!name.empty()) {
      return single(names_allocator(name) ? RegionKind::NamedHeap
                                          : RegionKind::NamedAnonymous,
                    i, m.name);
    }
    if (m.permissions.execute) return single(RegionKind::Jit, i, m.name);
    if (m.is_inaccessible()) {
      return single(RegionKind::Reservation, i, m.name);
    }
    return single(RegionKind::Anonymous, i, m.name);
  }

  const std::vector<Mapping>& mappings_;
  const RegionHints& hints_;
  std::set<FileKey> images_;
  size_t unlocated_threads_ = 0;
};

}  // namespace

std::string_view region_kind_token(RegionKind kind) {
  return kRegionKinds[static_cast<size_t>(kind)].token;
}

std::optional<RegionKind> region_kind_from_token(std::string_view token) {
  for (size_t i = 0; i < std::size(kRegionKinds); ++i) {
    if (kRegionKinds[i].token == token) return static_cast<RegionKind>(i);
  }
  return std::nullopt;
}

Category region_category(RegionKind kind) {
  return kRegionKinds[static_cast<size_t>(kind)].category;
}

Mapping rollup_mapping(const SmapsFields& totals) {
  constexpr uint64_t kPageBytes = 4096;
  Mapping mapping;
  mapping.end_address = kPageBytes;
  mapping.name = kRollupName;
  mapping.fields = totals;
  return mapping;
}

std::string_view object_name(RegionKind kind, std::string_view name) {
  switch (kind) {
    case RegionKind::BrkHeap:
      return "[heap]";
    case RegionKind::Arena:
      return "malloc arenas";
    case RegionKind::MainStack:
      return "[stack]";
    case RegionKind::ThreadStack:
      return "thread stacks";
    case RegionKind::SharedAnonymous:
      return "shared anonymous";
    case RegionKind::Jit:
      return "executable anonymous";
    case RegionKind::Vdso:
      return "[vdso]";
    case RegionKind::Anonymous:
    case RegionKind::Reservation:
      return "anonymous";
    default:
      return name;
  }
}

std::vector<Region> find_regions(const std::vector<Mapping>& mappings,
                                 const RegionHints& hints) {
  return RegionFinder(mappings, hints).find();
}

}  // namespace tidemark::model
