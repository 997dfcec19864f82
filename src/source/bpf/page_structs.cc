#include "source/bpf/page_structs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
// The order matters: the shared header needs the kernel's integer names.
#include <bpf/known_page.h>
#include <bpf/pages.h>
#include <bpf/pages.skel.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/fd.h"
#include "source/bpf/known_page.h"
#include "source/bpf/loading.h"

namespace tidemark::source {
namespace {

using model::PageStruct;
using model::PageType;

struct Destroy {
  void operator()(pages_bpf* skeleton) const { pages_bpf__destroy(skeleton); }
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

template <typename T>
T load_as(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Pages that are free or not there have nothing to say.
bool is_silent(uint64_t flags) {
  return (flags & (model::kPageBuddy | model::kPageAbsent)) != 0;
}

std::string path_of(const tm_file_name& name) {
  std::string path;
  const uint32_t depth = std::min<uint32_t>(name.depth, TM_PATH_DEPTH);
  // The root of a file system is called "/".
  for (uint32_t i = depth; i-- > 0;) {
    const std::string part = text_of(name.directories[i]);
    if (part != "/") path += "/" + part;
  }
  return path + "/" + text_of(name.leaf);
}

}  // namespace

struct PageStructs::State {
  std::unique_ptr<pages_bpf, Destroy> skeleton;
  unsigned char* block = nullptr;
  tm_file_names* file_names = nullptr;
  tm_cache_names* cache_names = nullptr;
  uint64_t array_address = 0;  // of the struct of frame 0

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  base::Status load();
  base::Status map_buffers();
  base::Status find_array();
  base::Status run(const bpf_program* program) const;
  base::Status copy(uint64_t first_frame, uint64_t count) const;
  PageStruct decode(uint64_t first_frame, uint64_t count, uint64_t index,
                    uint64_t flags) const;
};

PageStructs::State::~State() {
  if (block) ::munmap(block, sizeof(tm_block));
  if (file_names) ::munmap(file_names, sizeof(tm_file_names));
  if (cache_names) ::munmap(cache_names, sizeof(tm_cache_names));
}

base::Status PageStructs::State::load() {
  skeleton.reset(pages_bpf__open());
  if (!skeleton) return bpf_error("cannot open the BPF programs", errno);
  const int result = pages_bpf__load(skeleton.get());
  if (result != 0) return bpf_error("cannot load the BPF programs", -result);
  return base::Ok{};
}

base::Status PageStructs::State::map_buffers() {
  const auto map_of = [](const bpf_map* map, size_t size) -> void* {
    void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                      bpf_map__fd(map), 0);
    return at == MAP_FAILED ? nullptr : at;
  };
  block = static_cast<unsigned char*>(
      map_of(skeleton->maps.block, sizeof(tm_block)));
  file_names = static_cast<tm_file_names*>(
      map_of(skeleton->maps.file_names, sizeof(tm_file_names)));
  cache_names = static_cast<tm_cache_names*>(
      map_of(skeleton->maps.cache_names, sizeof(tm_cache_names)));
  if (!block || !file_names || !cache_names) {
    return bpf_error("cannot map the BPF buffers", errno);
  }
  return base::Ok{};
}

base::Status PageStructs::State::run(const bpf_program* program) const {
  bpf_test_run_opts options{};
  options.sz = sizeof options;
  const int result = bpf_prog_test_run_opts(bpf_program__fd(program), &options);
  if (result != 0) return bpf_error("cannot run a BPF program", errno);
  if (options.retval != 0) {
    return base::fail(base::ErrorKind::Unsupported,
                      "this kernel's memory is not laid out as expected");
  }
  return base::Ok{};
}

base::Status PageStructs::State::find_array() {
  base::Result<KnownPage> page = KnownPage::make();
  if (!page) return page.error();
  skeleton->bss->known.fd = page->fd();
  base::Status status = run(skeleton->progs.look_around);
  if (!status) return status;
  base::Result<uint64_t> array = page->array_address(skeleton->bss->known);
  if (!array) return array.error();
  array_address = *array;
  // Seen through the array, our page must have an owner and be held.
  status = copy(page->frame(), 1);
  if (!status) return status;
  const PageStruct mine = decode(page->frame(), 1, 0, 0);
  if (!mine.is_known || mine.owner == 0 || mine.reference_count == 0 ||
      skeleton->bss->layout.page_bytes > TM_COPY_BYTES) {
    return page_structs_are_strange();
  }
  return base::Ok{};
}

base::Status PageStructs::State::copy(uint64_t first_frame,
                                      uint64_t count) const {
  const uint64_t bytes = count * skeleton->bss->layout.page_bytes;
  skeleton->bss->copy_from =
      array_address + first_frame * skeleton->bss->layout.page_bytes;
  skeleton->bss->copy_count =
      static_cast<uint32_t>((bytes + TM_COPY_BYTES - 1) / TM_COPY_BYTES);
  return run(skeleton->progs.copy_pages);
}

// Of page `index` of the block that was copied last.
PageStruct PageStructs::State::decode(uint64_t first_frame, uint64_t count,
                                      uint64_t index, uint64_t flags) const {
  const tm_page_layout& layout = skeleton->bss->layout;
  PageStruct result;
  const uint64_t offset = index * layout.page_bytes;
  if ((skeleton->bss->copied >> (offset / TM_COPY_BYTES) & 1) == 0) {
    return result;
  }
  const unsigned char* at = block + offset;
  const auto compound = load_as<uint64_t>(at + layout.compound_head);
  if (compound & 1) {
    const uint64_t head = (compound - 1 - array_address) / layout.page_bytes;
    // The head of a larger page may lie in a block before this one.
    if (head >= first_frame && head < first_frame + count) {
      const uint64_t head_offset = (head - first_frame) * layout.page_bytes;
      if (skeleton->bss->copied >> (head_offset / TM_COPY_BYTES) & 1) {
        at = block + head_offset;
      }
    }
  }
  result.is_known = true;
  result.reference_count = load_as<uint32_t>(at + layout.refcount);
  const auto type = load_as<uint32_t>(at + layout.page_type) >> 24;
  if (type == 0) {
  } else if (type == layout.type_large_kmalloc) {
    result.type = PageType::LargeKmalloc;
  } else if (type == layout.type_zsmalloc) {
    result.type = PageType::Zsmalloc;
  } else if (type == layout.type_offline) {
    result.type = PageType::Offline;
  } else if (type == layout.type_table) {
    result.type = PageType::Table;
  }
  const uint32_t field =
      flags & model::kPageSlab ? layout.slab_cache : layout.mapping;
  const auto owner = load_as<uint64_t>(at + field);
  constexpr uint64_t kKernelHalf = uint64_t{1} << 63;
  // Low bits mark anonymous and movable pages, whose owner is no file.
  if (owner >= kKernelHalf && owner % 8 == 0 && result.type == PageType::None) {
    result.owner = owner;
  }
  return result;
}

base::Result<PageStructs> PageStructs::open() {
  const BpfLoading loading;
  auto state = std::make_unique<State>();
  base::Status status = state->load();
  if (status) status = state->map_buffers();
  if (status) status = state->find_array();
  if (!status) return status.error();
  return PageStructs(std::move(state));
}

PageStructs::PageStructs(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
PageStructs::PageStructs(PageStructs&&) noexcept = default;
PageStructs& PageStructs::operator=(PageStructs&&) noexcept = default;
PageStructs::~PageStructs() = default;

base::Status PageStructs::copy(uint64_t first_frame, uint64_t count) {
  const uint64_t most =
      TM_BLOCK_BYTES / state_->skeleton->bss->layout.page_bytes;
  while (count > 0) {
    const uint64_t part = std::min(count, most);
    base::Status status = state_->copy(first_frame, part);
    if (!status) return status;
    first_frame += part;
    count -= part;
  }
  return base::Ok{};
}

base::Status PageStructs::read(uint64_t first_frame,
                               std::span<const uint64_t> flags,
                               std::span<PageStruct> structs) {
  const uint64_t page_bytes = state_->skeleton->bss->layout.page_bytes;
  const uint64_t most = TM_BLOCK_BYTES / page_bytes;
  const uint64_t in_copy = TM_COPY_BYTES / page_bytes;
  for (uint64_t begin = 0; begin < flags.size();) {
    // Blocks begin at round frames: a huge page then lies whole in one, and no
    // copy crosses the edge of a section.
    const uint64_t before = (first_frame + begin) % in_copy;
    const uint64_t start = first_frame + begin - before;
    const uint64_t count =
        std::min<uint64_t>(most - before, flags.size() - begin);
    const auto part = flags.subspan(begin, count);
    const auto out = structs.subspan(begin, count);
    std::ranges::fill(out, PageStruct());
    if (!std::ranges::all_of(part, is_silent)) {
      base::Status status = state_->copy(start, before + count);
      if (!status) return status;
      for (uint64_t i = 0; i < count; ++i) {
        if (is_silent(part[i])) continue;
        out[i] = state_->decode(start, before + count, before + i, part[i]);
      }
    }
    begin += count;
  }
  return base::Ok{};
}

base::Result<std::vector<model::CachedFile>> PageStructs::name_files(
    std::span<const uint64_t> addresses) {
  std::vector<model::CachedFile> files;
  files.reserve(addresses.size());
  constexpr uint32_t kMinorBits = 20;
  for (size_t begin = 0; begin < addresses.size(); begin += TM_NAME_BATCH) {
    const size_t count =
        std::min<size_t>(TM_NAME_BATCH, addresses.size() - begin);
    for (size_t i = 0; i < count; ++i)
      state_->file_names->files[i].mapping = addresses[begin + i];
    state_->skeleton->bss->name_count = static_cast<uint32_t>(count);
    base::Status status = state_->run(state_->skeleton->progs.name_files);
    if (!status) return status.error();
    for (size_t i = 0; i < count; ++i) {
      const tm_file_name& name = state_->file_names->files[i];
      model::CachedFile& file = files.emplace_back();
      file.address = addresses[begin + i];
      file.inode_id = name.inode;
      if (name.inode == 0) continue;
      file.device_major = name.device >> kMinorBits;
      file.device_minor = name.device & ((1U << kMinorBits) - 1);
      file.link_count = name.link_count;
      file.size_bytes = name.size;
      if (name.leaf[0] == '\0') continue;
      file.path = path_of(name);
      file.is_whole = name.is_whole != 0;
    }
  }
  return files;
}

base::Result<std::vector<model::SlabCacheName>> PageStructs::name_caches(
    const std::vector<uint64_t>& addresses) {
  std::vector<model::SlabCacheName> caches;
  for (size_t begin = 0; begin < addresses.size(); begin += TM_NAME_BATCH) {
    const size_t count =
        std::min<size_t>(TM_NAME_BATCH, addresses.size() - begin);
    for (size_t i = 0; i < count; ++i)
      state_->cache_names->caches[i].cache = addresses[begin + i];
    state_->skeleton->bss->name_count = static_cast<uint32_t>(count);
    base::Status status = state_->run(state_->skeleton->progs.name_caches);
    if (!status) return status.error();
    for (size_t i = 0; i < count; ++i) {
      caches.push_back(
          {addresses[begin + i], text_of(state_->cache_names->caches[i].name)});
    }
  }
  return caches;
}

base::Result<std::vector<model::KernelStack>> PageStructs::kernel_stacks() {
  const std::unique_ptr<bpf_link, Destroy> link(
      bpf_program__attach_iter(state_->skeleton->progs.list_stacks, nullptr));
  if (!link) return bpf_error("cannot list the tasks", errno);
  const base::Fd out(bpf_iter_create(bpf_link__fd(link.get())));
  if (!out) return bpf_error("cannot list the tasks", errno);
  std::vector<model::KernelStack> stacks;
  const uint64_t page_bytes = state_->skeleton->bss->layout.page_bytes;
  std::string text;
  constexpr size_t kBuffer = size_t{64} << 10;
  while (true) {
    const size_t old = text.size();
    text.resize(old + kBuffer);
    const ssize_t got = ::read(out.get(), text.data() + old, kBuffer);
    text.resize(old + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return bpf_error("cannot list the tasks", errno);
    if (got == 0) break;
  }
  for (size_t at = 0; at + sizeof(tm_stack) <= text.size();
       at += sizeof(tm_stack)) {
    tm_stack record{};
    std::memcpy(&record, text.data() + at, sizeof record);
    model::KernelStack& stack = stacks.emplace_back();
    stack.pid = static_cast<int32_t>(record.pid);
    stack.thread = static_cast<int32_t>(record.thread);
    stack.comm = text_of(record.comm);
    const uint32_t count =
        std::min<uint32_t>(record.page_count, TM_STACK_PAGES);
    for (uint32_t i = 0; i < count; ++i) {
      if (record.pages[i] < state_->array_address) continue;
      stack.frames.push_back((record.pages[i] - state_->array_address) /
                             page_bytes);
    }
  }
  return stacks;
}

}  // namespace tidemark::source
